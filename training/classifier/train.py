"""Quadrant classifiers: a decoder with LoRA and a four-way head that reads each statement's last token.

MediEval, section 4 and appendix D. Two engines give the same model to rounding: ``shared`` encodes an admission's
context once for all its statements of a step, ``plain`` once for each of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

import polars as pl
import torch

from evaluation.datasets import MedievalDataset
from ground.contracts.rows import QUADRANTS
from ground.contracts.splits import Split
from ground.errors import InputError
from ground.progress import progress
from ground.settings import parse_settings
from training.classifier.heads import freeze, keep_head_wide, ready_to_train
from training.classifier.items import QuadrantLoss, class_weights, predicted, quadrant_data
from training.packing.attention import attention_of
from training.packing.decoders import check_decoder, check_sharing
from training.packing.packed_rows import item_values, largest_row, plan_steps, row_values
from training.packing.plan import Step, apart
from training.packing.shared import SharedClassifier
from training.packing.tokens import Truncation
from training.packing.trainer import SHORT_OF_MEMORY, train_packed
from training.runs.folder import open_run, read_run
from training.runs.models import base_of, load_config, load_model, load_tokenizer, quiet, save_model, usable_length
from training.runs.settings import ClassifierSettings, HardwareSettings
from training.runs.text_runs import texts_attention

__all__ = ["Engine", "predict_classifier", "train_classifier"]

Engine = Literal["shared", "plain"]
KIND = "classifier"


def train_classifier(
    dataset: MedievalDataset,
    model: str | Path,
    out: Path,
    settings: ClassifierSettings,
    *,
    engine: Engine = "shared",
    freeze_backbone: bool = False,
    resume: bool = False,
    say: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Train a quadrant classifier into a run folder.

    A step's loss is the weighted mean of its statements' cross entropies, the sum of w_i l_i by the sum of w_i,
    whatever the rows, accumulated batches and processes that they are dealt to.

    Args:
        dataset: rows of its training split are trained on.
        model: hub name, local path, or a run folder; a CoRFu run keeps its adapter and gets a head (``fit-head``).
        out: the run folder; ``settings``, ``resume``, ``say``, result and errors as of `open_run`.
        engine: ``shared``, or ``plain`` for decoders that cannot share contexts.
        freeze_backbone: train the head alone.
    """
    own: dict[str, Any] = {"engine": engine, "freeze_backbone": freeze_backbone}
    with open_run(KIND, model, out, dataset.identity, settings, resume=resume, say=say, **own) as run:
        if run.whole is not None:
            return run.whole
        tokenizer, config = load_tokenizer(model), load_config(model)
        if engine == "shared":
            check_decoder(config)
        length, chat = usable_length(config, settings.packing.max_length), settings.packing.chat_template
        split = dataset.split_rows("train", settings.split_column)
        rows = quadrant_data(dataset, split, tokenizer, max_length=length, chat=chat)
        weights = class_weights(rows.labels, settings.class_weights)
        rows = rows.weighted(weights)
        attention = _attention(run.weights[0], engine)
        plan = plan_steps(rows.data, settings, attention)
        if engine == "plain":
            plan = [Step(apart(step.items, rows.data.items)) for step in plan]
        row = largest_row(rows.data, plan, attention)
        run.estimate(
            "quadrants",
            lambda model: SharedClassifier(model)(row.to(model.device)).sum(),
            SHORT_OF_MEMORY,
            choose_later=True,
            attention=attention,
            prepare=freeze if freeze_backbone else None,
        )
        loaded = run.load("quadrants", attention=attention, lora=run.settings.lora)
        ready_to_train(loaded, freeze_backbone=freeze_backbone)
        if engine == "shared":
            check_sharing(loaded)
            run.compile(loaded)
        run.rehearse(loaded)
        loss, own = QuadrantLoss(rows.labels), {"autocast": run.weights[1], "resume": resume}
        with progress(f"training {out.name}", len(plan)) as advance:
            records, measured = train_packed(
                SharedClassifier(loaded), tokenizer, rows.data, plan, loss, out, run.settings, advance=advance, **own
            )
        results = {
            "rows": {"train": len(rows.ids), **rows.counts()},
            "class_weights": dict(zip(QUADRANTS, weights.tolist(), strict=True)),
            "truncation": rows.truncation.as_dict(),
            "context_tokens": length,
            "measured": measured,
            "steps": len(plan),
            "losses": records,
        }
        return run.finish(loaded, results, partial(save_model, loaded, tokenizer))


def _attention(hardware: HardwareSettings, engine: Engine) -> str | None:
    """Return transformers' attention implementation, None for its default; rows of one statement need no other."""
    if engine == "shared":
        return attention_of(hardware)
    return None if hardware.attention == "auto" else texts_attention(hardware)[0]


def predict_classifier(
    run: Path,
    dataset: MedievalDataset,
    split: Split,
    *,
    hardware: HardwareSettings | None = None,
    name: str | None = None,
    on_truncation: Callable[[Truncation], object] = lambda _: None,
) -> pl.DataFrame:
    """Predict the quadrants of a split with a classifier's run.

    Args:
        run: the run folder.
        dataset: what is predicted.
        split: which rows.
        hardware: this machine's; the run's where left out.
        name: of the model in the predictions, the folder's where left out.
        on_truncation: is told what cutting the contexts cost.

    Returns:
        ``id``, ``label``, ``scores`` (probabilities of Q1 to Q4), ``model``, ``seed``, ordered by id.

    Raises:
        InputError: no whole run of a classifier is there, or the split is empty.
        UsageError: the model cannot share contexts.
    """
    record = read_run(run, KIND)
    settings = parse_settings(ClassifierSettings, record["settings"], str(run))
    hardware = hardware or settings.hardware
    engine = record["engine"]
    rows = dataset.split_rows(split, settings.split_column)
    with quiet():
        tokenizer = load_tokenizer(run)
        model = load_model(run, "quadrants", hardware, seed=settings.seed, attention=_attention(hardware, engine))
        keep_head_wide(model)
        model.eval()
        length, chat = int(record["context_tokens"]), settings.packing.chat_template
        encoded = quadrant_data(dataset, rows, tokenizer, max_length=length, chat=chat)
        on_truncation(encoded.truncation)
        if engine == "shared":
            check_decoder(base_of(model).config)
            check_sharing(model)
        with progress("predicting", len(encoded.ids)) as advance:
            if engine == "plain":
                single_rows = apart(range(len(encoded.ids)), encoded.data.items)
                logits = row_values(SharedClassifier(model), encoded.data, single_rows, advance=advance)
            else:
                budget = settings.packing.tokens_per_row
                logits = item_values(SharedClassifier(model), encoded.data, budget, advance=advance)
    if not torch.isfinite(logits).all():
        raise InputError(
            "the model returns logits that are not numbers",
            file=run,
            do="evaluate with hardware.precision = 'float32'; if they stay, the weights are broken: train again",
        )
    return predicted(encoded.ids, logits.flatten(0, 1).softmax(-1), name or run.resolve().name, settings.seed)
