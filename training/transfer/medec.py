"""Transfer to error detection in clinical notes: files in the layout of MEDEC (Ben Abacha et al. 2024).

A CSV file with one note a row: ``Text ID``, ``Text``, ``Sentences``, ``Error Flag`` (1: one of its sentences is wrong),
``Error Type``, ``Error Sentence ID``, ``Error Sentence``, ``Corrected Sentence``, ``Corrected Text``. A detector is
asked whether the note, as a statement without context, is factual; a validator, which compares a text with its input,
is told that there is none. Both read the prompts that they were trained on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from evaluation.datasets import Kind
from evaluation.numbers import metrics_of_rows
from ground.errors import InputError
from ground.lm.settings import LmSettings
from ground.storage.foreign import Check, read_foreign, refuse_rows
from training.asking.detectors import AskedSettings, question_of
from training.asking.engine import AskedReport, ask
from training.transfer.downstream import Rows, used_rows

__all__ = ["ANY_RISK", "UNSAFE_FROM", "ask_medec", "medec_metrics", "read_medec"]

TASK = "medec"
NEEDED = ("text id", "text")
ERROR_COLUMNS = ("error flag", "error type", "corrected sentence")
FLAGS = {"0": False, "1": True}
NOTHING = ("", "na", "nan")
INSTRUCTION = "Write a clinical note whose every sentence is medically correct and agrees with the others."
NO_INPUT = "(There is no input. Judge the output by medical knowledge, and by whether it agrees with itself.)"
NO_TYPE = ""
UNSAFE_FROM = 3
"""A validator's level from which on a note counts as one with an error: unsafe, as in the paper's binary task."""
ANY_RISK = 2
"""The same, where any risk counts."""


def read_medec(path: Path) -> Rows:
    """Read notes as rows that a detector's and a validator's prompt both take.

    A file without ``Error Flag`` (the shared task's test set) gives rows without a label.

    Returns:
        Rows (``has_error``: bool or None; ``error_type``), and what was dropped by reason (``no_text``;
        ``empty_record``: commas only, as the released MEDEC-MS test file ends with).

    Raises:
        InputError: unreadable, a column is missing, an identifier stands twice, or a flag that is neither 0 nor 1.
    """
    frame = read_foreign(path, "the file of notes", NEEDED, any_case=True, expected="Text ID, Text")
    frame = frame.select(pl.all().str.strip_chars().fill_null(""))
    frame = frame.with_columns(pl.lit("").alias(name) for name in ERROR_COLUMNS if name not in frame.columns)
    name, text, flag, kind, corrected = map(pl.col, (*NEEDED, *ERROR_COLUMNS))
    # A flag that went through a table with gaps is a decimal.
    flag, empty = flag.str.strip_suffix(".0"), pl.all_horizontal(pl.all() == "")
    has_error = flag.replace_strict(FLAGS, default=None, return_dtype=pl.Boolean)
    no_flag = has_error.is_null() & ~flag.str.to_lowercase().is_in(NOTHING)
    refuse_rows(
        frame,
        path,
        Check(~empty & ((name == "") | name.is_duplicated()), "a note without an identifier of its own", "each once"),
        Check(no_flag, "a flag that is neither 0 nor 1", "Error Flag: 0 or 1"),
    )

    def of_errors(value: pl.Expr) -> pl.Expr:
        return pl.when(has_error & ~value.str.to_lowercase().is_in([*NOTHING, "none"])).then(value)

    notes = frame.select(
        why=pl.when(empty).then(pl.lit("empty_record")).when(text == "").then(pl.lit("no_text")),
        id=name,
        triple_id=name,
        statement=text,
        output=text,
        instruction=pl.lit(INSTRUCTION),
        input=pl.lit(NO_INPUT),
        label=~has_error,
        has_error=has_error,
        error_type=of_errors(kind).str.to_lowercase(),
        explanation=of_errors(corrected),
    )
    return used_rows(notes, TASK)


def ask_medec(
    path: Path,
    kind: Kind,
    model_settings: LmSettings,
    settings: AskedSettings,
    workspace: Path,
    out: Path,
    *,
    licence_tier: str = "credentialed",
) -> tuple[AskedReport, list[dict[str, Any]]]:
    """Ask a language model about the notes of a file, zero-shot; files and errors are those of `ask`.

    ``licence_tier`` is ``open`` for MEDEC-MS, whose notes are public; MEDEC-UW's are under an agreement.

    Returns:
        The report, and the rows (for `medec_metrics`).
    """
    rows, dropped = read_medec(path)
    if not rows:
        raise InputError("the file holds no note", file=path)
    asked = ask(
        question_of(kind), rows, model_settings, settings.model_copy(update={"shots": 0}), workspace, out,
        licence_tier=licence_tier, name=path.stem,
        about={"file": path.name, "dropped": dict(dropped), "examples": {}},
    )  # fmt: skip
    return asked, rows


def medec_metrics(
    rows: Sequence[Mapping[str, Any]],
    predictions: Iterable[Mapping[str, Any]],
    kind: Kind,
    *,
    error_from: int = UNSAFE_FROM,
) -> dict[str, Any]:
    """Compare error flags with predictions; notes without an answer, or without a prediction, count as wrong.

    Args:
        rows: as `read_medec` returns them; those without a flag are left out.
        predictions: ``id`` and ``label``: false (MedHal), or a risk level (MedVAL), or None.
        kind: which of the two.
        error_from: the risk level from which on a validator says that there is an error.

    Returns:
        ``n``, ``answered``, ``accuracy``, ``precision``, ``recall`` and ``f1`` of the notes with an error, each with
        its interval, and ``found_by_type``: the share of errors found, by their type. Without flags ``n`` alone.
    """
    label_of = {prediction["id"]: _factual(prediction["label"], kind, error_from) for prediction in predictions}
    known = [{**row, "task": row["error_type"] or NO_TYPE} for row in rows if row["has_error"] is not None]
    if not known:
        return {"n": 0}
    metrics = metrics_of_rows("medhal", known, [{"id": row["id"], "label": label_of.get(row["id"])} for row in known])
    overall, by_type = metrics["overall"], metrics["by_task"]
    by_type.pop(NO_TYPE, None)
    return {
        "n": overall["rows"],
        "answered": overall["answered"],
        **{name: overall[f"non_factual_{name}"] for name in ("precision", "recall", "f1")},
        "accuracy": overall["accuracy"],
        "found_by_type": {name: {"n": part["rows"], **part["non_factual_recall"]} for name, part in by_type.items()},
    }


def _factual(label: Any, kind: Kind, error_from: int) -> bool | None:
    return None if label is None else bool(label) if kind == "medhal" else label < error_from
