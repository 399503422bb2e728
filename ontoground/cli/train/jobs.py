"""What the verbs ``ontoground train ...`` do: choose the engine and the folders, say what is ahead, train, sum up."""

from __future__ import annotations

import json
import math
import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ground.errors import UsageError
from ontoground.cli.runs import require_packages, run_folder, run_settings, short_name
from ontoground.cli.train.losses import loss_parts

if TYPE_CHECKING:
    from evaluation.quadrants.dataset import MedievalDataset
    from training.encoder.settings import EncoderSettings
    from training.runs.settings import ClassifierSettings, CorfuSettings

__all__ = ["Job", "train_corfu_job", "train_quadrants_job", "train_text_job"]

PACKAGES = ("torch", "transformers", "peft", "accelerate", "safetensors")
RECORD = "training.json"

Say = Callable[[str], None]
Run = tuple[Path, dict[str, Any], str]
"""A run's folder, its record, and ``done`` or, where it was whole already, ``current``."""


@dataclass(frozen=True)
class Job:
    """What a user asked for, before any setting is read."""

    workspace: Path
    dataset: Path
    model: str
    out: Path | None
    config: Path | None
    overrides: tuple[str, ...]
    resume: bool
    say: Say


def train_quadrants_job(
    job: Job, engine: Literal["auto", "shared", "plain", "encoder"], seeds: Sequence[int], freeze_backbone: bool
) -> dict[str, Any]:
    """Train a quadrant classifier, or one for each seed; returns what ``--json`` prints."""
    require_packages(*PACKAGES)
    from evaluation.quadrants.dataset import MedievalDataset

    dataset = MedievalDataset.open(job.dataset)
    chosen = _engine_for(job.model, engine)
    if chosen == "encoder":
        if freeze_backbone:
            raise UsageError(
                "--freeze-backbone is for decoders",
                found=f"{job.model} is an encoder",
                expected="--set frozen_layers=N, which freezes an encoder's lowest layers",
            )
        return _train_encoders(job, dataset, seeds)
    return _train_classifiers(job, dataset, chosen, seeds, freeze_backbone)


def _engine_for(model: str, wanted: str) -> Literal["shared", "plain", "encoder"]:
    """Return the engine; encoders (models of masked words) have one of their own."""
    from training.encoder.pretrained import PACKAGED, resolve_model
    from training.runs.models import load_config

    if model in PACKAGED and not Path(model).is_dir():
        resolve_model(model)
        is_encoder, kind = True, "bert"
    else:
        from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

        config = load_config(model)
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


def _folders(job: Job, seeds: Sequence[int], *name: str) -> tuple[Path, dict[int, Path]]:
    """Return the folder that was asked for (or the default one), and the run folder of each seed."""
    if len(seeds) == 1:
        out = job.out or run_folder(job.workspace, *name, f"seed{seeds[0]}")
        return out, {seeds[0]: out}
    out = job.out or run_folder(job.workspace, *name, f"seeds{'-'.join(map(str, seeds))}")
    return out, {seed: out / f"seed-{seed}" for seed in seeds}


def _steps(rows: int, batch_size: int, epochs: float) -> int:
    """Return optimizer steps; the last step of an epoch may be short (training.packing.plan)."""
    each = math.ceil(rows / batch_size)
    whole = int(epochs)
    part = max(1, round(each * (epochs - whole))) if epochs > whole else 0
    return each * whole + part


def _announce(
    job: Job, what: str, dataset: MedievalDataset, column: Literal["split", "fact_split"], batch: int, epochs: float
) -> None:
    rows = dataset.split_rows("train", column)
    job.say(
        f"{what}: {rows.height:,} rows of {rows['hadm_id'].n_unique():,} admissions (train, by {column}),"
        f" {_steps(rows.height, batch, epochs):,} steps of {batch} statements"
    )


def _state(folder: Path) -> str:
    return "current" if (folder / RECORD).is_file() else "done"


def _train_classifiers(
    job: Job, dataset: MedievalDataset, engine: Literal["shared", "plain"], seeds: Sequence[int], freeze: bool
) -> dict[str, Any]:
    from training.classifier.train import train_classifier
    from training.runs.folder import is_main
    from training.runs.settings import ClassifierSettings

    settings: ClassifierSettings = run_settings(ClassifierSettings, job.config, job.overrides)
    chosen = list(dict.fromkeys(seeds)) or [settings.seed]
    out, folders = _folders(job, chosen, "classifier", short_name(job.model), "frozen" if freeze else "")
    runs: list[Run] = []
    for seed, folder in folders.items():
        state = _state(folder)
        if is_main() and state == "done":
            what = f"classifier on {job.model}, engine {engine}, seed {seed}"
            _announce(job, what, dataset, settings.split_column, settings.batch_size, settings.epochs)
        record = train_classifier(
            dataset,
            job.model,
            folder,
            settings.model_copy(update={"seed": seed}),
            engine=engine,
            freeze_backbone=freeze,
            resume=job.resume,
            say=job.say,
        )
        runs.append((folder, record, state))
    return _payload(job, "classifier", engine, out, runs, [_evaluate_command(job, out)])


def _train_encoders(job: Job, dataset: MedievalDataset, seeds: Sequence[int]) -> dict[str, Any]:
    from training.encoder.settings import EncoderSettings

    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise UsageError("encoders are trained by one process", do="start it without torchrun or accelerate")
    settings: EncoderSettings = run_settings(EncoderSettings, job.config, job.overrides)
    chosen = list(dict.fromkeys(seeds)) or [settings.seed]
    out, folders = _folders(job, chosen, "encoder", short_name(job.model), settings.engine)
    runs = []
    for seed, folder in folders.items():
        state = _state(folder)
        if state == "done":
            what = f"encoder {job.model}, {settings.engine} engine, seed {seed}"
            _announce(job, what, dataset, settings.split_column, settings.batch_size, settings.epochs)
        runs.append((folder, _train_encoder(job, dataset, folder, settings.model_copy(update={"seed": seed})), state))
    return _payload(job, "classifier", "encoder", out, runs, [_evaluate_command(job, out)])


def _train_encoder(job: Job, dataset: MedievalDataset, folder: Path, settings: EncoderSettings) -> dict[str, Any]:
    from ground.progress import progress
    from training.encoder.train import train_encoder
    from training.runs.quiet import quiet

    if (folder / RECORD).is_file():
        return _whole_encoder(job, dataset, folder, settings)
    total = _steps(dataset.split_rows("train", settings.split_column).height, settings.batch_size, settings.epochs)
    with quiet(), progress(f"training {folder.name}", total) as advance:
        return train_encoder(dataset, job.model, folder, settings, progress=lambda _n, _total, _loss: advance(1))


def _whole_encoder(job: Job, dataset: MedievalDataset, folder: Path, settings: EncoderSettings) -> dict[str, Any]:
    """Return the record of a run that is whole and the same; encoders keep no checkpoints."""
    if not job.resume:
        raise UsageError("this folder already holds a run", file=folder, do="choose another folder with --out")
    record: dict[str, Any] = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    asked = {"manifest_sha256": dataset.manifest_sha256, "settings": settings.model_dump(mode="json")}
    changed = [name for name, value in asked.items() if record.get(name) != value]
    if changed:
        raise UsageError(
            "the run in this folder was started otherwise",
            file=folder,
            found=f"another {', '.join(changed)}",
            do="choose another folder with --out",
        )
    return record


def train_corfu_job(job: Job, engine: Literal["shared", "trl"], lambdas: Sequence[float]) -> dict[str, Any]:
    """Train CoRFu with one lambda, or sweep over several; returns what ``--json`` prints."""
    require_packages(*PACKAGES, *(["trl"] if engine == "trl" else []))
    from evaluation.quadrants.dataset import MedievalDataset
    from training.corfu.run import sweep_lambda, train_corfu
    from training.encoder.pretrained import PACKAGED
    from training.runs.folder import is_main, read_run
    from training.runs.settings import CorfuSettings

    if job.model in PACKAGED and not Path(job.model).is_dir():
        raise UsageError(
            "CoRFu needs a decoder", found=f"{job.model} is an encoder", do="choose a decoder with --model"
        )
    dataset = MedievalDataset.open(job.dataset)
    settings: CorfuSettings = run_settings(CorfuSettings, job.config, job.overrides)
    if len(lambdas) == 1:
        settings = run_settings(CorfuSettings, job.config, [*job.overrides, f"lambda={lambdas[0]}"])
    sweep = list(dict.fromkeys(lambdas)) if len(set(lambdas)) > 1 else []
    weight = "sweep" if sweep else f"lambda{settings.lambda_:g}"
    seed = f"seed{settings.seed}"
    out = job.out or run_folder(job.workspace, "corfu", short_name(job.model), settings.regime, weight, seed)
    if is_main():
        _announce_corfu(job, dataset, settings, engine, sweep)
    if sweep:
        folders = [out / f"lambda-{value:g}" for value in sweep]
        states = [_state(folder) for folder in folders]
        sweep_lambda(dataset, job.model, out, settings, sweep, engine=engine, resume=job.resume, say=job.say)
        runs = [(folder, read_run(folder, "corfu"), state) for folder, state in zip(folders, states, strict=True)]
    else:
        state = _state(out)
        record = train_corfu(dataset, job.model, out, settings, engine=engine, resume=job.resume, say=job.say)
        runs = [(out, record, state)]
    head = f"ontoground train classifier --model {_quoted(runs[0][0])} --freeze-backbone {_where(job)}"
    return _payload(job, "corfu", engine, out, runs, [_evaluate_command(job, out), head])


def _announce_corfu(
    job: Job, dataset: MedievalDataset, settings: CorfuSettings, engine: str, sweep: Sequence[float]
) -> None:
    from training.corfu.pairs import REGIMES, stage_pairs

    rows = dataset.split_rows("train", settings.split_column)
    parts = []
    for stage in REGIMES[settings.regime]:
        pairs = stage_pairs(rows, stage, pairs_per_winner=settings.pairs_per_winner, seed=settings.seed).table.height
        steps = _steps(pairs, settings.batch_size, settings.epochs)
        parts.append(f"{stage.name}: {pairs:,} pairs, {steps:,} steps of {settings.batch_size}")
    weights = ", ".join(f"{value:g}" for value in sweep) or f"{settings.lambda_:g}"
    job.say(f"CoRFu on {job.model}, engine {engine}, seed {settings.seed}, lambda {weights}; " + "; ".join(parts))


def train_text_job(job: Job, kind: Literal["medhal", "medval"]) -> dict[str, Any]:
    """Fine-tune a detector (MedHal) or a validator (MedVAL); returns what ``--json`` prints."""
    require_packages(*PACKAGES, "trl", "datasets")
    from evaluation.text.dataset import TextDataset
    from training.runs.folder import is_main
    from training.runs.settings import MedhalSettings, MedvalSettings
    from training.sft.train import train_medhal, train_medval

    dataset = TextDataset.open(job.dataset, kind)
    settings: MedhalSettings | MedvalSettings
    if kind == "medhal":
        settings = run_settings(MedhalSettings, job.config, job.overrides)
    else:
        settings = run_settings(MedvalSettings, job.config, job.overrides)
    out = job.out or run_folder(job.workspace, kind, short_name(job.model), f"seed{settings.seed}")
    state = _state(out)
    if is_main() and state == "done":
        of_tasks = f" of the tasks {', '.join(settings.tasks)} (too long ones are left out)" if settings.tasks else ""
        job.say(
            f"{kind} on {job.model}, engine trl: {dataset.count('train', settings.tasks or None):,} rows{of_tasks},"
            f" batches of {settings.batch_size}, {settings.epochs:g} epochs, seed {settings.seed}"
        )
    if isinstance(settings, MedhalSettings):
        record = train_medhal(job.dataset, job.model, out, settings, resume=job.resume)
    else:
        record = train_medval(job.dataset, job.model, out, settings, resume=job.resume)
    for note in record["machine"]["notes"] if is_main() else ():
        job.say(note)
    return _payload(job, kind, "trl", out, [(out, record, state)], [])


def _quoted(path: Path) -> str:
    from ontoground.cli.render import relative

    return shlex.quote(relative(path))


def _where(job: Job) -> str:
    return f"--dataset {_quoted(job.dataset)} --workspace {_quoted(job.workspace)}"


def _evaluate_command(job: Job, out: Path) -> str:
    return f"ontoground evaluate quadrants --model {_quoted(out)} --baselines {_where(job)}"


def _payload(
    job: Job, kind: str, engine: str, out: Path, runs: Sequence[Run], next_commands: list[str]
) -> dict[str, Any]:
    return {
        "verb": f"train {kind}",
        "workspace": str(job.workspace),
        "dataset": str(job.dataset),
        "model": job.model,
        "engine": engine,
        "folder": str(out),
        "runs": [_summary(*run) for run in runs],
        "next": next_commands,
    }


def _summary(folder: Path, record: dict[str, Any], state: str) -> dict[str, Any]:
    cut = record.get("truncation")
    return {
        "folder": str(folder),
        "state": state,
        "seed": record["settings"]["seed"],
        "lambda": record["settings"].get("lambda"),
        "steps": record["steps"],
        "contexts": None if cut is None else {name: cut[name] for name in ("contexts", "truncated", "tokens_cut")},
        "losses": loss_parts(record),
    }
