"""Prediction files of detectors and validators: read strictly, told apart by model and seed, joined with their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from evaluation.quadrants.predictions import malformed_line
from evaluation.text.classes import CLASSES, Classes
from evaluation.text.dataset import Kind
from evaluation.text.reference import Reference
from ground.errors import InputError

__all__ = ["MISSING", "Answers", "Missing", "common_rows", "join_answers", "label_codes", "read_answers"]

READERS: Mapping[str, Callable[[Path], pl.DataFrame]] = {
    ".parquet": pl.read_parquet,
    ".csv": lambda path: pl.read_csv(path, infer_schema=False),
    ".jsonl": lambda path: pl.read_ndjson(path, infer_schema_length=None),
}
FORMS = {
    ".parquet": "a Parquet file",
    ".csv": "comma-separated values in UTF-8, with a header",
    ".jsonl": "one JSON object a line, in UTF-8",
}
MISSING = "missing"
"""Outcome of a row that no prediction is about."""

Missing = Literal["refuse", "wrong", "leave_out"]
WORDS: Mapping[Kind, Mapping[str, int]] = {
    "medhal": {"true": 0, "false": 1},
    "medval": {str(level): code for code, level in enumerate(CLASSES["medval"].labels)}
    | {f"{level}.0": code for code, level in enumerate(CLASSES["medval"].labels)},
}
EXPECTED: Mapping[Kind, str] = {
    "medhal": "true, false, or null where no answer could be read",
    "medval": "1, 2, 3, 4, or null where no answer could be read",
}


@dataclass(frozen=True)
class Answers:
    """The answers of one run, in the order of the rows.

    Attributes:
        model: its name.
        seed: None where the file names none.
        codes: *shape* (n,), the last code where there is no readable answer.
        outcomes: how many rows had each outcome.
        explanations: of each row, None where there is none.
        there: *shape* (n,), whether there is a prediction at all.
        kind: ``model``, ``ensemble`` or ``expert``.
    """

    model: str
    seed: int | None
    codes: npt.NDArray[np.int64]
    outcomes: dict[str, int]
    explanations: tuple[str | None, ...]
    there: npt.NDArray[np.bool_]
    kind: Literal["model", "ensemble", "expert"] = "model"

    def keep(self, mask: npt.NDArray[np.bool_]) -> Answers:
        """Return the run on some of its rows; the counts of outcomes stay those of the file."""
        kept = tuple(words for words, keep in zip(self.explanations, mask, strict=True) if keep)
        return replace(self, codes=self.codes[mask], explanations=kept, there=self.there[mask])


def label_codes(labels: pl.Series, classes: Classes, file: Path | str) -> pl.Series:
    """Return the codes of labels, null for null.

    Booleans and integers are read as such; text (CSV) is read without regard to case. 1 and 0 are no factuality: which
    of the two is which would be a guess.

    Raises:
        InputError: a label outside the classes.
    """
    if labels.dtype == pl.Null:
        return labels.cast(pl.Int64)
    numeric = labels.dtype.is_numeric() and classes.kind == "medval"
    # Where it is true or false, a risk level is none.
    boolean = labels.dtype == pl.Boolean and classes.kind == "medhal"
    text = labels.cast(pl.String).str.strip_chars().str.to_lowercase() if labels.dtype != pl.List else labels
    if not (numeric or boolean or labels.dtype == pl.String):
        raise _outside(classes, file, str(labels.dtype))
    text = pl.select(pl.when(text == "").then(None).otherwise(text)).to_series()
    codes = text.replace_strict(WORDS[classes.kind], default=None, return_dtype=pl.Int64)
    wrong = int((codes.is_null() & text.is_not_null()).sum())
    if wrong:
        raise _outside(classes, file, f"{wrong:,} of {len(labels):,} labels")
    return codes


def _outside(classes: Classes, file: Path | str, found: str) -> InputError:
    return InputError("a label outside the classes", file=file, found=found, expected=EXPECTED[classes.kind])


def read_answers(file: Path, kind: Kind) -> pl.DataFrame:
    """Read a predictions file: ``id`` and ``label``; ``explanation``, ``outcome``, ``model``, ``seed`` where they are.

    A model without a name is called by the file's. A file of another tool needs no ``outcome``.

    Returns:
        ``id``, ``code`` (null: no readable answer), ``explanation``, ``outcome``, ``model``, ``seed``.

    Raises:
        InputError: another kind of file, a column is missing, or a label outside the classes.
    """
    if file.suffix not in READERS or not file.is_file():
        raise InputError("no predictions file", file=file, expected=f"a file that ends in {', '.join(READERS)}")
    try:
        table = READERS[file.suffix](file)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(
            "the predictions cannot be read",
            file=file,
            line=malformed_line(file) if file.suffix == ".jsonl" and file.is_file() else None,
            found="an empty file" if file.is_file() and not file.stat().st_size else type(error).__name__,
            expected=FORMS[file.suffix],
        ) from error
    lacking = sorted({"id", "label"} - set(table.columns))
    if lacking:
        raise InputError("a column is missing", file=file, found=f"no {', '.join(lacking)}", expected="id, label")
    columns = {
        name: table[name] if name in table.columns else None for name in ("explanation", "outcome", "model", "seed")
    }
    codes = label_codes(table["label"], CLASSES[kind], file)
    try:
        return pl.select(
            id=table["id"].cast(pl.String),
            code=codes,
            explanation=_text(columns["explanation"], table.height),
            outcome=_text(columns["outcome"], table.height).fill_null(
                pl.when(codes.is_null()).then(pl.lit("no_label")).otherwise(pl.lit("parsed"))
            ),
            model=_text(columns["model"], table.height).fill_null(file.stem),
            seed=pl.lit(None, pl.Int64) if columns["seed"] is None else columns["seed"].cast(pl.Int64),
        )
    except pl.exceptions.InvalidOperationError as error:
        raise InputError("a seed is no whole number", file=file, expected="the column seed: whole numbers") from error


def _text(column: pl.Series | None, height: int) -> pl.Series:
    return pl.Series([None] * height, dtype=pl.String) if column is None else column.cast(pl.String)


def join_answers(
    reference: Reference, table: pl.DataFrame, missing: Missing = "refuse", file: Path | str = "predictions"
) -> list[Answers]:
    """Bring predictions into the order of the rows, one run for each model and seed.

    Args:
        reference: the rows.
        table: as `read_answers` returns it.
        missing: what a row without a prediction is: an error, an answer that cannot be read, or to be left out.
        file: named in errors.

    Raises:
        InputError: predictions of unknown rows, two for one row, or rows without one (``refuse``).
    """
    parts = table.partition_by("model", "seed", maintain_order=True) if table.height else [table]
    return [_answers(reference, part, missing, file) for part in parts]


def _answers(reference: Reference, table: pl.DataFrame, missing: Missing, file: Path | str) -> Answers:
    if not table["id"].is_unique().all():
        raise InputError(
            "two predictions of one row",
            file=file,
            found=f"{table.height:,} predictions of {table['id'].n_unique():,} rows",
            expected="one prediction of a row, by model and seed",
            do="tell runs apart by the columns model and seed",
        )
    unknown = table.join(reference.frame.select("id"), on="id", how="anti").height
    if unknown:
        raise InputError(
            "a prediction of a row that is not in the split",
            file=file,
            found=f"{unknown:,} of {table.height:,} predictions",
            do="choose the split it was made for",
        )
    joined = reference.frame.select("id").join(
        table.with_columns(there=pl.lit(True)), on="id", how="left", maintain_order="left"
    )
    there = joined["there"].fill_null(False)
    if missing == "refuse" and not there.all():
        raise InputError(
            "rows without a prediction",
            file=file,
            found=f"{int((~there).sum()):,} of {len(there):,} rows",
            expected="a prediction of every row of the split",
            do="--missing wrong counts them as wrong, --missing leave_out leaves them out for all models",
        )
    outcomes = Counter(joined["outcome"].fill_null(MISSING).to_list())
    return Answers(
        model=table["model"][0] if table.height else Path(file).stem,
        seed=table["seed"][0] if table.height else None,
        codes=joined["code"].fill_null(reference.classes.silent).to_numpy(),
        outcomes=dict(sorted(outcomes.items())),
        explanations=tuple(joined["explanation"].to_list()),
        there=there.to_numpy(),
    )


def common_rows(runs: Sequence[Answers], missing: Missing, n: int) -> npt.NDArray[np.bool_]:
    """Say which rows count: all, or under ``leave_out`` those that every run predicted. *Shape:* (n,)."""
    kept = np.ones(n, dtype=np.bool_)
    if missing == "leave_out":
        for run in runs:
            kept &= run.there
    return kept
