"""Prediction files: read, checked, written, and joined with the gold rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from ground.contracts.rows import QUADRANTS
from ground.errors import InputError, UsageError
from ground.storage.files import atomic_path

__all__ = [
    "PREDICTION_SCHEMA",
    "UNPARSEABLE",
    "Missing",
    "Run",
    "Unknown",
    "common_rows",
    "join_predictions",
    "label_codes",
    "malformed_line",
    "read_predictions",
    "write_predictions",
]

PREDICTION_SCHEMA: Mapping[str, pl.DataType] = {
    "id": pl.String(),
    "label": pl.String(),
    "scores": pl.List(pl.Float64()),
    "score": pl.Float64(),
    "explanation": pl.String(),
    "model": pl.String(),
    "seed": pl.Int64(),
}
UNPARSEABLE = len(QUADRANTS)
# Probabilities that went through bfloat16 or a CSV file with few digits do not sum to 1 exactly.
SUM_TOLERANCE = 1e-2

Missing = Literal["refuse", "wrong", "leave_out"]
Unknown = Literal["refuse", "leave_out"]
KINDS = (".parquet", ".csv", ".jsonl")
CONTRACT = "id, label (Q1 to Q4 or empty), scores (four probabilities, optional), explanation (optional), model, seed"


@dataclass(frozen=True)
class Run:
    """The answers of one model with one seed, in the order of the gold rows.

    Attributes:
        model: its name.
        seed: None where the file names none.
        labels: shape (n,), 0 to 3 for Q1 to Q4, 4 for no readable answer.
        confidence: shape (n,), the probability that the model gives its own label; NaN where it is not known.
        missing: rows without a prediction.
        unknown: predictions whose id is no gold row; they are left out.
        unparseable: predictions that name none of the four quadrants (missing rows are not among them).
        not_the_best: predictions whose label is not the quadrant with the highest score.
    """

    model: str
    seed: int | None
    labels: npt.NDArray[np.int64]
    confidence: npt.NDArray[np.float64]
    missing: int
    unknown: int
    unparseable: int
    not_the_best: int

    def keep(self, mask: npt.NDArray[np.bool_]) -> Run:
        """Return the run on some of its rows; the counts stay those of the file. ``mask`` has *shape* (n,)."""
        return replace(self, labels=self.labels[mask], confidence=self.confidence[mask])


def malformed_line(path: Path) -> int | None:
    """Return the number of the first line that is no JSON object."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            try:
                if line.strip() and not isinstance(json.loads(line), dict):
                    return number
            except ValueError:
                return number
    return None


def _load(path: Path) -> pl.DataFrame:
    if path.suffix not in KINDS:
        raise UsageError(
            "a prediction file is of a kind that is not read", file=path, found=path.suffix, expected=", ".join(KINDS)
        )
    if not path.is_file():
        raise InputError("a prediction file is not there", file=path, do="ontoground evaluate quadrants --model DIR")
    try:
        if path.suffix == ".parquet":
            return pl.read_parquet(path)
        if path.suffix == ".csv":
            return pl.read_csv(path, infer_schema=False)
        return pl.read_ndjson(path, infer_schema_length=None)
    except (pl.exceptions.PolarsError, OSError):
        # polars quotes values, which may be text of a note: its message is not passed on.
        line = malformed_line(path) if path.suffix == ".jsonl" else None
        raise InputError(
            "a prediction file cannot be read",
            file=path,
            line=line,
            found="an empty file"
            if not path.stat().st_size
            else "text that is not of this kind, or values of two types",
            expected=f"{path.suffix[1:]} with {CONTRACT}",
        ) from None


def _cast(frame: pl.DataFrame, path: Path, name: str, kind: pl.DataType) -> pl.Series:
    column = frame[name]
    try:
        if name == "scores" and column.dtype == pl.String:
            return column.str.json_decode(kind)
        return column.cast(kind)
    except pl.exceptions.PolarsError:
        raise InputError(
            f"the column {name} holds values of another type",
            file=path,
            found=str(column.dtype),
            expected="a JSON list of four numbers" if name == "scores" else str(kind),
        ) from None


def _refuse(frame: pl.DataFrame, bad: pl.Expr, what: str, path: Path, expected: str, do: str | None = None) -> None:
    """Raise where rows are bad; rows are named by their number, since an id names an admission."""
    numbers = frame.with_row_index("row", offset=1).filter(bad)["row"]
    if len(numbers):
        found = f"{len(numbers)} of {frame.height} rows, the first is row {numbers[0]}"
        raise InputError(what, file=path, found=found, expected=expected, do=do)


def read_predictions(path: Path) -> pl.DataFrame:
    """Read one prediction file (Parquet, CSV or JSONL) with every column of `PREDICTION_SCHEMA`.

    A file without ``model`` is called after its own name. In a CSV file ``scores`` is a JSON list.

    Raises:
        UsageError: another kind of file.
        InputError: the file is not there or damaged, ``id`` or ``label`` is missing, an id is empty or comes twice for
            one model and seed, most labels of a model are none of the classes, or scores are not four finite
            probabilities that sum to 1.
    """
    raw = _load(path)
    lacking = [name for name in ("id", "label") if name not in raw.columns]
    if lacking or raw.is_empty():
        found = f"no column {' and no column '.join(lacking)}" if lacking else "no row"
        raise InputError("a prediction file lacks what evaluation needs", file=path, found=found, expected=CONTRACT)
    columns = [
        _cast(raw, path, name, kind) if name in raw.columns else pl.Series(name, [None] * raw.height, dtype=kind)
        for name, kind in PREDICTION_SCHEMA.items()
    ]
    frame = pl.DataFrame(columns).with_columns(pl.col("model").fill_null(path.stem))
    _refuse(frame, pl.col("id").is_null(), "a prediction has no id", path, "the id of a dataset row")
    given = pl.col("label").fill_null("") != ""
    outside = given & ~pl.col("label").is_in(list(QUADRANTS))
    # Some answers are always none; where most are, it is how the labels are written.
    _refuse(
        frame,
        outside & (2 * outside.sum().over("model") > given.sum().over("model")),
        "most labels of a model are none of the classes",
        path,
        f"{', '.join(QUADRANTS)} as they are written here, or nothing where the model gave no readable answer",
    )
    key = pl.struct("model", "seed", "id")
    _refuse(
        frame,
        key.is_duplicated(),
        "a row is predicted more than once by one model and seed",
        path,
        "one prediction for each id, model and seed",
        "give each run a model or a seed of its own",
    )
    _check_scores(frame, path)
    return frame


def _check_scores(frame: pl.DataFrame, path: Path) -> None:
    scores = pl.col("scores")
    in_range = pl.element().is_not_null() & pl.element().is_finite() & pl.element().is_between(0, 1)
    good = (
        (scores.list.len() == len(QUADRANTS))
        & scores.list.eval(in_range).list.all()
        & ((scores.list.sum() - 1).abs() <= SUM_TOLERANCE)
    )
    expected = "four finite probabilities, of Q1, Q2, Q3 and Q4, that sum to 1"
    do = "apply a softmax to logits, or leave scores out"
    _refuse(frame, scores.is_not_null() & ~good.fill_null(False), "scores are no probabilities", path, expected, do)
    score = pl.col("score")
    bad = score.is_not_null() & ~(score.is_finite() & score.is_between(0, 1)).fill_null(False)
    _refuse(frame, bad, "a score is no probability", path, "the probability of the label, from 0 to 1")


def write_predictions(path: Path, frame: pl.DataFrame) -> None:
    """Write predictions, whole or not at all; the file's kind follows its suffix.

    Columns that `PREDICTION_SCHEMA` does not have are refused; those that are missing are left out of the file.

    Raises:
        UsageError: another kind of file, or a column that the contract does not have.
    """
    unknown = [name for name in frame.columns if name not in PREDICTION_SCHEMA]
    if unknown or path.suffix not in KINDS:
        raise UsageError(
            "predictions cannot be written like this",
            file=path,
            found=", ".join(unknown) or path.suffix,
            expected=CONTRACT if unknown else ", ".join(KINDS),
        )
    named = frame.select(pl.col(name).cast(kind) for name, kind in PREDICTION_SCHEMA.items() if name in frame.columns)
    with atomic_path(path) as temporary:
        if path.suffix == ".parquet":
            named.write_parquet(temporary)
        elif path.suffix == ".jsonl":
            named.write_ndjson(temporary)
        else:
            _flat(named).write_csv(temporary)


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Turn lists into JSON text, which a CSV file can hold."""
    if "scores" not in frame.columns:
        return frame
    inner = pl.col("scores").list.eval(pl.element().cast(pl.String)).list.join(", ")
    return frame.with_columns(
        pl.when(pl.col("scores").is_null()).then(None).otherwise(pl.format("[{}]", inner)).alias("scores")
    )


def label_codes(labels: pl.Series) -> npt.NDArray[np.int64]:
    """Return 0 to 3 for Q1 to Q4 and 4 for everything else, null included. *Shape:* (n,)."""
    codes = labels.replace_strict(list(QUADRANTS), range(UNPARSEABLE), default=UNPARSEABLE, return_dtype=pl.Int64)
    return codes.to_numpy()


def join_predictions(
    gold: pl.DataFrame,
    predictions: pl.DataFrame,
    *,
    source: Path | str,
    missing: Missing = "refuse",
    unknown: Unknown = "refuse",
) -> list[Run]:
    """Bring the predictions of each model and seed into the order of the gold rows.

    Args:
        gold: rows with ``id``, unique.
        predictions: as `read_predictions` gives them, or with fewer of the optional columns.
        source: the file, for messages.
        missing: what a gold row without a prediction is: an error, a wrong answer, or (``leave_out``) marked with a
            label of -1 for the caller to leave out of all models alike.
        unknown: what a prediction for no gold row is: an error, or left out.

    Returns:
        One `Run` for each model and seed, ordered by both.

    Raises:
        InputError: rows are missing or unknown, and that is not allowed.
    """
    predictions = predictions.with_columns(
        pl.lit(None, dtype=kind).alias(name)
        for name, kind in PREDICTION_SCHEMA.items()
        if name not in predictions.columns
    )
    order = predictions.select("model", "seed").unique().sort("model", "seed", nulls_last=False)
    runs = []
    for model, seed in order.iter_rows():
        own = predictions.filter(pl.col("model").eq_missing(model), pl.col("seed").eq_missing(pl.lit(seed, pl.Int64)))
        extra = own.join(gold, on="id", how="anti").height
        lost = gold.join(own, on="id", how="anti").height
        _refuse_ids(extra, lost, own.height, gold.height, (model, source), missing, unknown)
        runs.append(_run(gold, own, model, seed, lost, extra, missing))
    return runs


def _refuse_ids(
    extra: int,
    lost: int,
    n_predictions: int,
    n_gold: int,
    who: tuple[str, Path | str],
    missing: Missing,
    unknown: Unknown,
) -> None:
    model, source = who
    if extra and unknown == "refuse":
        raise InputError(
            f"predictions of {model} are for rows that are not evaluated",
            file=source,
            found=f"{extra} of {n_predictions} ids are not among the {n_gold} rows of the split",
            expected="ids of this dataset and split",
            do="name the dataset and the split that were predicted, or allow unknown ids",
        )
    if lost and missing == "refuse":
        raise InputError(
            f"predictions of {model} are missing",
            file=source,
            found=f"{lost} of {n_gold} rows have none",
            expected="a prediction for every row of the split",
            do="predict the rest, or say whether missing rows count as wrong or are left out",
        )


def _run(
    gold: pl.DataFrame, own: pl.DataFrame, model: str, seed: int | None, lost: int, extra: int, missing: Missing
) -> Run:
    answered = own.with_columns(pl.lit(True).alias("answered"))
    joined = gold.select("id").join(answered, on="id", how="left", maintain_order="left")
    labels = label_codes(joined["label"])
    present = joined["answered"].fill_null(False).to_numpy()
    confidence = joined["score"].fill_null(float("nan")).to_numpy().copy()
    scored = np.flatnonzero(joined["scores"].is_not_null().to_numpy() & (labels < UNPARSEABLE))
    scores = np.array(joined["scores"].gather(scored).to_list(), dtype=np.float64).reshape(len(scored), UNPARSEABLE)
    confidence[scored] = scores[np.arange(len(scored)), labels[scored]]
    confidence[labels == UNPARSEABLE] = np.nan
    unparseable = int((present & (labels == UNPARSEABLE)).sum())
    if missing == "leave_out":
        labels = np.where(present, labels, -1)
    return Run(
        model=model,
        seed=seed,
        labels=labels,
        confidence=confidence,
        missing=lost,
        unknown=extra,
        unparseable=unparseable,
        not_the_best=int((confidence[scored] < scores.max(axis=1, initial=0.0)).sum()),
    )


def common_rows(runs: Sequence[Run]) -> npt.NDArray[np.bool_]:
    """Return which gold rows every run has a prediction for. *Shape:* (n,)."""
    kept: npt.NDArray[np.bool_] = np.all([run.labels >= 0 for run in runs], axis=0)
    return kept
