"""Pairs of an input and an output from elsewhere, to be judged: plain files of pairs, and published evaluation sets.

Layouts: ``pairs`` (CSV, JSON lines or Parquet with input, output; where they are known id, task, risk_level), ``medec``
(MEDEC: the corrected text is the input), ``medval_bench`` (MedVAL-Bench: physicians' levels) and ``verifact_bhc``
(VeriFact-BHC: statements on a stay, beside the patient's other notes).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

import polars as pl
from polars import selectors

from ground.contracts.rows_text import RISK_LEVELS, MedvalTask, RiskLevel
from ground.errors import InputError
from ground.storage.foreign import READERS, read_foreign

__all__ = ["LAYOUTS", "TextPair", "read_pairs"]

TASK: MedvalTask = "dialogue2note"
"""What a pair is that names no task: a note made of what its input says."""
TASKS = get_args(MedvalTask)
NO_ERROR = {"0": False, "1": True}
VERDICTS = {"supported": False, "not supported": True, "not addressed": True}
CORRECTION = "corrected text"


@dataclass(frozen=True, slots=True)
class TextPair:
    """An input and an output; ``level`` and ``unsafe`` are what people say of the output, None where they do not."""

    name: str
    task: MedvalTask
    input: str
    output: str
    level: RiskLevel | None = None
    unsafe: bool | None = None


def _pairs(path: Path) -> Iterator[TextPair]:
    return _leveled(path, "risk_level", required=False)


def _medval_bench(path: Path) -> Iterator[TextPair]:
    return _leveled(_one_file(path), "physician_risk_grade", required=True)


def _leveled(path: Path, column: str, *, required: bool) -> Iterator[TextPair]:
    frame = _table(path, ("input", "output", *((column,) if required else ())))
    for number, row in enumerate(_rows(frame), 1):
        # Physicians wrote "4" and "Level 4".
        digits = re.findall(r"\d", row.get(column, ""))
        if row.get(column) and (len(digits) != 1 or int(digits[0]) not in RISK_LEVELS):
            raise InputError("a risk level is not valid", file=path, found=f"in row {number}", expected="1, 2, 3 or 4")
        level = cast(RiskLevel, int(digits[0])) if digits else None
        task = row.get("task") or TASK
        if task not in TASKS:
            raise InputError("a task is not known", file=path, found=f"in row {number}", expected=", ".join(TASKS))
        unsafe = None if level is None else level >= 3
        name = row.get("#") or row.get("id") or str(number)
        yield TextPair(name, cast(MedvalTask, task), row["input"], row["output"], level, unsafe)


def _medec(path: Path) -> Iterator[TextPair]:
    frame = _table(_one_file(path), ("text id", "text", "error flag", CORRECTION))
    for number, row in enumerate(_rows(frame), 1):
        if not row["text"]:
            continue
        unsafe = NO_ERROR.get(row["error flag"])
        if unsafe is None:
            raise InputError("an error flag is not valid", file=path, found=f"in row {number}", expected="0 or 1")
        yield TextPair(row["text id"], TASK, row[CORRECTION] if unsafe else row["text"], row["text"], None, unsafe)


def _verifact_bhc(folder: Path) -> Iterator[TextPair]:
    statements = _table(folder / "propositions" / "propositions.csv.gz", ("proposition_id", "text", "subject_id"))
    truth = _table(folder / "propositions" / "human_verdicts.csv.gz", ("proposition_id", "human_gt"))
    notes = _table(folder / "reference_ehr" / "ehr_noteevents.csv.gz", ("subject_id", "text"))
    records = notes.group_by("subject_id", maintain_order=True).agg(record=pl.col("text").str.join("\n\n"))
    joined = statements.join(truth.select("proposition_id", "human_gt"), on="proposition_id").join(
        records, on="subject_id"
    )
    if joined.height < statements.height:
        missing = statements.height - joined.height
        raise InputError(
            "statements without a verdict or a record", file=folder, found=f"{missing} of {statements.height}"
        )
    for row in _rows(joined.sort("subject_id", maintain_order=True)):
        unsafe = VERDICTS.get(row["human_gt"].lower().replace("_", " "))
        yield TextPair(row["proposition_id"], TASK, row["record"], row["text"], None, unsafe)


LAYOUTS: Mapping[str, Callable[[Path], Iterator[TextPair]]] = {
    "pairs": _pairs,
    "medec": _medec,
    "medval_bench": _medval_bench,
    "verifact_bhc": _verifact_bhc,
}


def read_pairs(path: Path, layout: str) -> Iterator[TextPair]:
    """Yield the pairs of a file or folder of a layout.

    Raises:
        InputError: there is none, or it is not of the layout.
    """
    if not path.exists():
        raise InputError("there are no such texts", file=path, do="name an existing file or folder")
    return LAYOUTS[layout](path)


def _one_file(path: Path) -> Path:
    if path.is_file():
        return path
    files = [file for file in sorted(path.rglob("*")) if file.suffix in READERS]
    if len(files) != 1:
        raise InputError("one file of pairs is wanted", file=path, found=f"{len(files)} in the folder", do="name it")
    return files[0]


def _table(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    """Read a table as text; names of columns in lower case."""
    frame = read_foreign(path, "a file of pairs", columns, any_case=True)
    return frame.select((~selectors.nested()).cast(pl.String).fill_null(""))


def _rows(frame: pl.DataFrame) -> Iterator[dict[str, str]]:
    for row in frame.iter_rows(named=True):
        yield {name: value.strip() for name, value in row.items()}
