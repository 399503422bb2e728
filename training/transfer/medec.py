"""Transfer to error detection in clinical notes: files in the layout of MEDEC (Ben Abacha et al. 2024).

A CSV file with one note a row: ``Text ID``, ``Text``, ``Sentences``, ``Error Flag`` (1: one of its sentences is wrong),
``Error Type``, ``Error Sentence ID``, ``Error Sentence``, ``Corrected Sentence``, ``Corrected Text``. A detector is
asked whether the note, as a statement without context, is factual; a validator, which compares a text with its input,
is told that there is none. Both read the prompts that they were trained on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from evaluation.datasets import Kind
from evaluation.numbers import metrics_of_rows
from ground.errors import InputError
from ground.lm.settings import LmSettings
from ground.storage.foreign import read_foreign
from training.asking.engine import Advance, AskedReport, ask
from training.asking.texts import AskedSettings, question_of
from training.transfer.downstream import Line, Rows, read_rows

__all__ = ["ANY_RISK", "UNSAFE_FROM", "ask_medec", "medec_metrics", "read_medec"]

TASK = "medec"
NEEDED = ("text id", "text")
FLAGS = {"0": False, "1": True}
NO_FLAG = ("", "na", "nan")
NO_ERROR = ("", "na", "nan", "none")
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
    seen: set[str] = set()

    def note(line: Line) -> dict[str, Any] | str:
        if not any(line.values.values()):
            return "empty_record"
        name = line.values["text id"]
        if not name or name in seen:
            raise line.wrong("a note without an identifier of its own", "Text ID: each once")
        seen.add(name)
        return _note(line) if line.values["text"] else "no_text"

    return read_rows(_lines(path), TASK, note)


def _lines(path: Path) -> Iterator[Line]:
    """Yield each record, its text stripped; names of columns in lower case."""
    frame = read_foreign(path, "the file of notes", "Text ID, Text").rename(lambda name: name.strip().lower())
    if not set(NEEDED) <= set(frame.columns):
        raise InputError("a column is missing", file=path, found=", ".join(frame.columns), expected="Text ID, Text")
    rows = frame.select(pl.all().str.strip_chars().fill_null("")).iter_rows(named=True)
    return (Line(path, number, row) for number, row in enumerate(rows, 1))


def _note(line: Line) -> dict[str, Any]:
    name, text, corrected, kind = (
        line.values.get(column, "") for column in ("text id", "text", "corrected sentence", "error type")
    )
    # A flag that went through a table with gaps is a decimal.
    flag = line.values.get("error flag", "").removesuffix(".0")
    if flag not in FLAGS and flag.lower() not in NO_FLAG:
        raise line.wrong("a flag that is neither 0 nor 1", "Error Flag: 0 or 1")
    has_error = FLAGS.get(flag)
    return {
        **dict.fromkeys(("id", "pair_id", "triple_id"), name),
        **dict.fromkeys(("statement", "output"), text),
        "instruction": INSTRUCTION,
        "input": NO_INPUT,
        "label": None if has_error is None else not has_error,
        "has_error": has_error,
        "error_type": kind.lower() if has_error and kind.lower() not in NO_ERROR else None,
        "explanation": corrected if has_error and corrected.lower() not in NO_ERROR else None,
    }


def ask_medec(
    path: Path,
    kind: Kind,
    model_settings: LmSettings,
    settings: AskedSettings,
    workspace: Path,
    out: Path,
    *,
    licence_tier: str = "credentialed",
    advance: Advance = lambda _: None,
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
        licence_tier=licence_tier, name=path.stem, advance=advance,
        about={"file": path.name, "dropped": dict(dropped), "examples": {}},
    )  # fmt: skip
    return asked, rows


def medec_metrics(
    rows: Sequence[Mapping[str, Any]],
    predictions: Iterable[Mapping[str, Any]],
    kind: Kind,
    *,
    error_from: int = UNSAFE_FROM,
    seed: int = 42,
) -> dict[str, Any]:
    """Compare error flags with predictions; notes without an answer, or without a prediction, count as wrong.

    Args:
        rows: as `read_medec` returns them; those without a flag are left out.
        predictions: ``id`` and ``label``: false (MedHal), or a risk level (MedVAL), or None.
        kind: which of the two.
        error_from: the risk level from which on a validator says that there is an error.
        seed: of the bootstrap over notes.

    Returns:
        ``n``, ``answered``, ``accuracy``, ``precision``, ``recall`` and ``f1`` of the notes with an error, each with
        its interval, and ``found_by_type``: the share of errors found, by their type. Without flags ``n`` alone.
    """
    said = {one["id"]: _factual(one["label"], kind, error_from) for one in predictions}
    known = [{**row, "task": row["error_type"] or NO_TYPE} for row in rows if row["has_error"] is not None]
    if not known:
        return {"n": 0}
    found = metrics_of_rows("medhal", known, [{"id": row["id"], "label": said.get(row["id"])} for row in known], seed)
    overall, of_type = found["overall"], {name: one for name, one in found["by_task"].items() if name != NO_TYPE}
    return {
        "n": overall["rows"],
        "answered": overall["answered"],
        **{name: overall[f"non_factual_{name}"] for name in ("precision", "recall", "f1")},
        "accuracy": overall["accuracy"],
        "found_by_type": {name: {"n": one["rows"], **one["non_factual_recall"]} for name, one in of_type.items()},
    }


def _factual(label: Any, kind: Kind, error_from: int) -> bool | None:
    return None if label is None else bool(label) if kind == "medhal" else label < error_from
