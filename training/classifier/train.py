"""Quadrant classifiers: a decoder with LoRA and a four-way head that reads each statement's last token.

MediEval, section 4 and appendix D. Two engines give the same model to rounding: ``shared`` encodes an admission's
context once for all its statements of a step, ``plain`` (transformers' Trainer) once for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl
import torch

from evaluation.quadrants.dataset import MedievalDataset, Split
from ground.contracts.rows import QUADRANTS
from ground.errors import InputError
from ground.progress import progress
from ground.settings import parse_settings
from training.classifier.heads import load_classifier, train_in_float32
from training.classifier.items import QuadrantData, QuadrantLoss, class_weights, quadrant_data
from training.classifier.plain import evaluate_plain, largest_batch, train_plain
from training.packing.attention import attention_of, attention_of_texts, joins_contexts
from training.packing.collate import collate_row
from training.packing.decoders import base_of, check_decoder, check_sharing, implementation_of
from training.packing.plan import RowPlan, Step, plan_epochs, plan_rows
from training.packing.shared import SharedClassifier
from training.packing.tokens import Truncation
from training.packing.trainer import StepRecord, evaluate_rows, train_packed
from training.runs.card import write_card
from training.runs.folder import (
    base_record,
    dataset_identity,
    drop_if_refused,
    finish_run,
    is_main,
    join_processes,
    machine_record,
    read_run,
    run_plan,
    start_run,
)
from training.runs.memory import Estimate, estimate_memory, tell_memory
from training.runs.models import (
    device_of,
    dropout_note,
    load_config,
    load_model,
    load_tokenizer,
    lora_of,
    save_model,
    trained_weights,
    usable_length,
)
from training.runs.quiet import quiet
from training.runs.resuming import Measured, memory_errors
from training.runs.settings import ClassifierSettings, HardwareSettings

__all__ = ["Engine", "engine_attention", "predict_classifier", "train_classifier"]

Engine = Literal["shared", "plain"]
KIND = "classifier"


def engine_attention(hardware: HardwareSettings, engine: Engine) -> str | None:
    """Return transformers' attention implementation, None for its default; rows of one statement need no other."""
    if engine == "shared":
        return attention_of(hardware)
    return None if hardware.attention == "auto" else attention_of_texts(hardware)


@dataclass(frozen=True)
class _Prepared:
    """What a run trains: model, encoded rows, planned steps; and what it is thought to need."""

    model: Any
    tokenizer: Any
    rows: QuadrantData
    plan: list[Step]
    autocast: bool
    memory: Estimate


def _planned(
    dataset: MedievalDataset, model: str | Path, tokenizer: Any, settings: ClassifierSettings
) -> tuple[QuadrantData, list[Step]]:
    packing = settings.packing
    rows = quadrant_data(
        dataset,
        dataset.split_rows("train", settings.split_column),
        tokenizer,
        max_length=usable_length(load_config(model), packing.max_length),
        chat=packing.chat_template,
    )
    rows = rows.weighted(class_weights(rows.labels, settings.class_weights))
    plan = plan_epochs(
        rows.data.items,
        rows.data.contexts.lengths,
        rows.data.statements.lengths,
        batch_size=settings.batch_size,
        max_per_context=packing.max_per_context,
        tokens_per_row=packing.tokens_per_row,
        epochs=settings.epochs,
        seed=settings.seed,
        join_contexts=joins_contexts(attention_of(settings.hardware)),
    )
    return rows, plan


def _prepare(
    dataset: MedievalDataset,
    model: str | Path,
    settings: ClassifierSettings,
    engine: Engine,
    freeze: bool,
    say: Callable[[str], None] | None,
) -> _Prepared:
    tokenizer = load_tokenizer(model)
    if engine == "shared":
        check_decoder(load_config(model))
    rows, plan = _planned(dataset, model, tokenizer, settings)
    hardware, autocast = trained_weights(settings.hardware, whole=settings.lora.r == 0 and not freeze)
    attention = engine_attention(hardware, engine)
    largest, sizes = _largest_pass(rows, plan, engine)
    memory = estimate_memory(
        str(model),
        "quadrants",
        largest,
        settings.lora,
        hardware,
        attention=attention,
        autocast=autocast,
        freeze_backbone=freeze,
        sizes=(engine, sizes),
    )
    tell_memory(memory, settings.hardware, say)
    with memory_errors("set hardware.quantize = 'nf4', or choose a smaller base model"):
        loaded = load_classifier(
            model, hardware, settings.lora, seed=settings.seed, freeze_backbone=freeze, attention=attention
        )
    if say is not None and is_main() and (note := dropout_note(loaded, settings.lora)):
        say(note)
    train_in_float32(loaded)
    if engine == "shared":
        check_sharing(loaded)
    return _Prepared(loaded, tokenizer, rows, plan, autocast, memory)


def _largest_pass(
    rows: QuadrantData, plan: Sequence[Step], engine: Engine
) -> tuple[Callable[[Any], torch.Tensor], Hashable]:
    """Return the forward pass of the plan that needs most memory, as `estimate_memory` takes it, and its sizes."""
    if engine == "plain":
        batch = largest_batch(rows, plan)
        return lambda model: model(**batch).logits.sum(), batch["input_ids"].shape

    def tokens(row: RowPlan) -> int:
        return sum(
            int(rows.data.contexts.lengths[block.context])
            + sum(int(rows.data.statements.lengths[rows.data.items[i].statements[0]]) for i in block.items)
            for block in row.blocks
        )

    largest = max((row for step in plan for row in step.rows), key=tokens)
    packed, _, _ = collate_row(largest, rows.data.items, rows.data.contexts, rows.data.statements)
    return lambda model: SharedClassifier(model)(packed).sum(), packed.sizes


def _train(
    run: _Prepared, out: Path, settings: ClassifierSettings, engine: Engine, resume: bool, title: str
) -> tuple[list[StepRecord], Measured]:
    options: dict[str, Any] = {
        "optimizer": settings.optimizer,
        "hardware": settings.hardware,
        "seed": settings.seed,
        "autocast": run.autocast,
        "resume": resume,
    }
    with progress(title, len(run.plan)) as advance:
        if engine == "plain":
            return train_plain(run.model, run.tokenizer, run.rows, run.plan, out, advance=advance, **options)
        return train_packed(
            SharedClassifier(run.model),
            run.tokenizer,
            run.rows.data,
            run.plan,
            QuadrantLoss(run.rows.labels),
            out,
            advance=advance,
            **options,
        )


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
        out: the run folder.
        settings: the paper's where left out.
        engine: ``shared``, or ``plain`` for decoders that cannot share contexts.
        freeze_backbone: train the head alone.
        resume: go on from the last checkpoint in ``out``; a run that is whole is returned as it is.
        say: takes the memory estimate and other messages.

    Returns:
        What ``training.json`` holds.

    Raises:
        UsageError: settings that do not fit the model or this machine, or a folder that holds another run.
        InputError: the model cannot be loaded, or the training split is empty.
        TrainingError: the loss is no number, training diverges, or memory is short.
    """
    join_processes(device_of(settings.hardware))
    settings = settings.model_copy(update={"lora": lora_of(model, settings.lora)})
    plan = run_plan(KIND, model, dataset_identity(dataset), settings, engine=engine, freeze_backbone=freeze_backbone)
    if (whole := start_run(out, plan, resume=resume)) is not None:
        return whole
    with drop_if_refused(out), quiet():
        run = _prepare(dataset, model, settings, engine, freeze_backbone, say)
        records, measured = _train(run, out, settings, engine, resume, f"training {out.name}")
        record = plan | _findings(run, dataset, settings, records, measured)

        def write(folder: Path) -> None:
            save_model(run.model, run.tokenizer, folder)
            write_card(folder, record)

        return finish_run(out, record, write)


def _findings(
    run: _Prepared,
    dataset: MedievalDataset,
    settings: ClassifierSettings,
    records: Sequence[StepRecord],
    measured: Measured,
) -> dict[str, Any]:
    parameters = list(run.model.parameters())
    counts = {quadrant: int((run.rows.labels == at).sum()) for at, quadrant in enumerate(QUADRANTS)}
    weights = class_weights(run.rows.labels, settings.class_weights)
    return {
        "licence_tier": dataset.licence_tier,
        **base_record(run.model),
        "seed": settings.seed,
        "rows": {"train": len(run.rows.ids), **counts},
        "class_weights": dict(zip(QUADRANTS, weights.tolist(), strict=True)),
        "truncation": run.rows.truncation.as_dict(),
        "context_tokens": usable_length(base_of(run.model).config, settings.packing.max_length),
        "parameters": {
            "all": sum(p.numel() for p in parameters),
            "trained": sum(p.numel() for p in parameters if p.requires_grad),
        },
        "machine": machine_record(run.model, settings.hardware, autocast=run.autocast),
        "memory": run.memory.as_dict(),
        "measured": measured.as_dict(),
        "steps": len(run.plan),
        "losses": [{"step": record.step, **record.values} for record in records],
    }


def predict_classifier(
    run: Path,
    dataset: MedievalDataset,
    split: Split,
    *,
    engine: Engine | None = None,
    hardware: HardwareSettings | None = None,
    name: str | None = None,
    told: Callable[[Truncation], object] | None = None,
) -> pl.DataFrame:
    """Predict the quadrants of a split with a classifier's run.

    All statements of an admission share one encoding of its context, as far as a row's budget of tokens goes.

    Args:
        run: the run folder.
        dataset: what is predicted.
        split: which rows.
        engine: the one that it was trained with where left out.
        hardware: this machine's; the run's where left out.
        name: of the model in the predictions, the folder's where left out.
        told: is told what cutting the contexts cost.

    Returns:
        ``id``, ``label``, ``scores`` (probabilities of Q1 to Q4), ``model``, ``seed``, ordered by id.

    Raises:
        InputError: no whole run of a classifier is there, or the split is empty.
        UsageError: the model cannot share contexts; see ``engine``.
    """
    record = read_run(run, KIND)
    settings = parse_settings(ClassifierSettings, record["settings"], str(run))
    hardware = hardware or settings.hardware
    engine = engine or ("plain" if record["engine"] == "plain" else "shared")
    rows = dataset.split_rows(split, settings.split_column)
    with quiet():
        tokenizer = load_tokenizer(run)
        model = load_model(run, "quadrants", hardware, seed=settings.seed, attention=engine_attention(hardware, engine))
        train_in_float32(model)
        model.eval()
        length, chat = int(record["context_tokens"]), settings.packing.chat_template
        encoded = quadrant_data(dataset, rows, tokenizer, max_length=length, chat=chat)
        if told is not None:
            told(encoded.truncation)
        logits = quadrant_logits(model, encoded, engine=engine, tokens_per_row=settings.packing.tokens_per_row)
    if not torch.isfinite(logits).all():
        raise InputError(
            "the model gives logits that are no numbers",
            file=run,
            do="evaluate with hardware.precision = 'float32'; if they stay, the weights are broken: train again",
        )
    scores = logits.softmax(-1)
    return pl.DataFrame(
        {
            "id": encoded.ids,
            "label": [QUADRANTS[at] for at in scores.argmax(-1).tolist()],
            "scores": scores.tolist(),
            "model": [name or run.resolve().name] * len(encoded.ids),
            "seed": [settings.seed] * len(encoded.ids),
        },
        schema_overrides={"seed": pl.Int64, "scores": pl.List(pl.Float64)},
    )


def quadrant_logits(model: Any, rows: QuadrantData, *, engine: Engine, tokens_per_row: int) -> torch.Tensor:
    """Return logits in the order of the rows. *Shape:* (n_rows, 4), float64 on the CPU."""
    with progress("predicting", len(rows.ids)) as advance:
        if engine == "plain":
            return evaluate_plain(model, rows, advance=advance)
        check_decoder(base_of(model).config)
        check_sharing(model)
        data = rows.data
        plan = plan_rows(
            range(len(data.items)),
            data.items,
            data.contexts.lengths,
            data.statements.lengths,
            tokens_per_row,
            join_contexts=joins_contexts(implementation_of(model)),
        )
        values = evaluate_rows(SharedClassifier(model), data, plan, advance)
        return torch.cat(values)
