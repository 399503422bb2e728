"""Other people's test sets as statements to judge (MedHal, section 4.4): NLI-shaped and summary-shaped files.

A row that cannot be used is dropped and counted by reason; a label that is in no list is an error.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, Literal

import polars as pl

from evaluation.numbers import metrics_of_rows
from evaluation.predictions import label_codes, write_predictions
from ground.errors import InputError
from ground.storage.foreign import Check, read_foreign, refuse_rows
from training.runs.settings import GenerationSettings
from training.sft.generate import Generator

__all__ = ["Layout", "Rows", "evaluate_downstream", "read_nli", "read_summaries", "used_rows"]

Layout = Literal["nli", "summary"]
Rows = tuple[list[dict[str, Any]], Counter[str]]
"""Rows as `medhal_prompt` takes them, and what was dropped by reason."""

# MedNLI's labels; "-" is SNLI's for pairs without a majority.
NLI_LABELS = {"entailment": True, "contradiction": False}
NLI_DROPPED = {"neutral": "neutral", "-": "no_gold_label"}
# MIMIC hallucination sets (Hegselmann et al.) call the document `text`.
DOCUMENT = ("document", "text")


def used_rows(frame: pl.DataFrame, task: str) -> Rows:
    """Return the rows whose ``why`` (the reason for which a row is dropped) is null, and count the others by it.

    ``frame`` has an ``id`` and what a row has of its own; what it lacks of a statement without a partner is added.
    """
    known = {"pair_id": pl.col("id"), "context": None, "explanation": None, "task": pl.lit(task), "subject_id": None}
    added = {name: value for name, value in known.items() if name not in frame.columns}
    kept = frame.filter(pl.col("why").is_null()).drop("why").with_columns(**added)
    return kept.to_dicts(), Counter(frame["why"].drop_nulls())


def _records(path: Path, *names: str) -> pl.DataFrame:
    """Read JSON lines; fields that no record has are null, ``id`` numbers the records from 1."""
    frame = read_foreign(path, "the file of JSON lines", (), expected="one object a line")
    lacking = {name: None for name in names if name not in frame.columns}
    number = pl.int_range(1, pl.len() + 1)
    return frame.with_columns(**lacking, id=pl.format("{}-{}", pl.lit(path.stem), number))


def _texts(frame: pl.DataFrame, path: Path, **fields: tuple[str, ...]) -> pl.DataFrame:
    """Add texts, each the first of its fields that is there.

    Raises:
        InputError: a row that is used has none, or it is no text, or empty.
    """
    of_kind = {name: [field for field in own if frame[field].dtype == pl.String] for name, own in fields.items()}
    frame = frame.with_columns(**{name: pl.coalesce(own or pl.lit(None, pl.String)) for name, own in of_kind.items()})
    for name, own in fields.items():
        bad = pl.col("why").is_null() & (pl.col(name).fill_null("").str.strip_chars() == "")
        refuse_rows(frame, path, Check(bad, "a field is missing or empty", f"a text in {' or '.join(own)}"))
    return frame.select("id", "why", "label", *fields)


def read_nli(path: Path) -> Rows:
    """Read JSON lines in MedNLI's layout: ``sentence1``, ``sentence2``, ``gold_label``.

    Entailment is factual, contradiction is not; neutral pairs are dropped (section 4.4.1).

    Raises:
        InputError: unreadable, a field is missing, or an unknown label.
    """
    label, known = pl.col("gold_label").cast(pl.String, strict=False), [*NLI_LABELS, *NLI_DROPPED]
    frame = _records(path, "sentence1", "sentence2", "gold_label")
    bad = label.is_in(known).not_().fill_null(True)
    refuse_rows(frame, path, Check(bad, "an unknown label", f"gold_label: {', '.join(known)}"))
    frame = frame.with_columns(
        label=label.replace_strict(NLI_LABELS, default=None, return_dtype=pl.Boolean),
        why=label.replace_strict(NLI_DROPPED, default=None, return_dtype=pl.String),
    )
    return used_rows(_texts(frame, path, context=("sentence1",), statement=("sentence2",)), "nli")


def read_summaries(path: Path) -> Rows:
    """Read JSON lines with a document (``document`` or ``text``), its ``summary``, and what is known of it.

    ``label`` (true: factual) says it directly; ``labels`` is a list of marked errors, and a summary with any is not
    factual (section 4.4.2). With neither, the summary is judged and counts in no metric. Nothing is dropped.

    Raises:
        InputError: unreadable, a field is missing, or a label of another type.
    """
    frame = _records(path, *DOCUMENT, "summary", "label", "labels")
    if not isinstance(marks := frame["labels"].dtype, pl.List | pl.Null):
        raise InputError("`labels` is not a list", file=path, found=str(marks), expected="a list of marked errors")
    unmarked = pl.col("labels").cast(pl.List(pl.Null), strict=False) if marks == pl.Null else pl.col("labels")
    factual = label_codes(frame["label"], "medhal", path) == 0
    frame = frame.with_columns(label=pl.coalesce(factual, unmarked.list.len() == 0), why=pl.lit(None, pl.String))
    return used_rows(_texts(frame, path, context=DOCUMENT, statement=("summary",)), "summarization")


def evaluate_downstream(
    path: Path, layout: Layout, model: str, out_dir: Path, settings: GenerationSettings
) -> dict[str, Any]:
    """Judge the statements of a file with a detector, and compare where the file has labels.

    Args:
        path: the file.
        layout: ``nli`` or ``summary``.
        model: a run folder, or folder or hub name of a causal model.
        out_dir: takes ``predictions-{stem of path}.parquet``.
        settings: of the generation.

    Returns:
        ``dropped``, ``without_label``, ``answers`` (outcomes), and ``metrics`` (None without labels).
    """
    rows, dropped = read_nli(path) if layout == "nli" else read_summaries(path)
    if not rows:
        raise InputError("there is no row to answer", found=path.name)
    generator = Generator.load(model, "medhal", settings)
    predictions = list(generator.predictions(rows))
    answers = write_predictions(out_dir / f"predictions-{path.stem}.parquet", predictions, "medhal")
    labelled = [pair for pair in zip(rows, predictions, strict=True) if pair[0]["label"] is not None]
    return {
        "file": path.name,
        "layout": layout,
        "model": generator.name,
        "dropped": dict(sorted(dropped.items())),
        "without_label": len(rows) - len(labelled),
        "answers": answers,
        "metrics": metrics_of_rows("medhal", *zip(*labelled, strict=True)) if labelled else None,
    }
