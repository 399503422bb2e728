"""Prediction files of all kinds: read strictly, written, told apart by model and seed, joined with the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from evaluation.classes import CLASSES, Classes, Kind
from ground.errors import InputError, UsageError
from ground.storage.files import atomic_path, private_directory
from ground.storage.foreign import Check, read_foreign, refuse_rows

__all__ = [
    "ANSWER_SCHEMA",
    "PREDICTION_SCHEMA",
    "Answers",
    "Missing",
    "join_predictions",
    "label_codes",
    "read_predictions",
    "read_runs",
    "write_predictions",
]

PREDICTION_SCHEMA: dict[str, pl.DataType] = {
    "id": pl.String(),
    "label": pl.String(),
    "scores": pl.List(pl.Float64()),
    "score": pl.Float64(),
    "explanation": pl.String(),
    "outcome": pl.String(),
    "model": pl.String(),
    "seed": pl.Int64(),
}
ANSWER_SCHEMA: dict[str, pl.DataType] = {
    "errors": pl.List(pl.Struct({"category": pl.String(), "text": pl.String()})),
    "cut": pl.Boolean(),
}
"""What the answers of a language model have beside: errors that it named, and whether it was cut before its end."""
LABELS: Mapping[Kind, pl.DataType] = {"quadrants": pl.String(), "medhal": pl.Boolean(), "medval": pl.Int8()}
CONTRACT = "id, label ({}); where they are known scores (a probability of each class), explanation, model, seed"
# Probabilities that went through bfloat16 or a CSV file with few digits do not sum to 1 exactly.
SUM_TOLERANCE = 1e-2
MISSING = "missing"
"""Outcome of a row that no prediction is about."""

Missing = Literal["refuse", "wrong", "leave_out"]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Answers:
    """The answers of one model with one seed, in the order of the rows.

    Attributes:
        model: its name.
        seed: None where the file names none.
        codes: *shape* (n,), the last code where there is no readable answer.
        there: *shape* (n,), whether there is a prediction at all.
        outcomes: how many rows had each outcome.
        explanations: of each row, None where there is none.
        confidence: *shape* (n,), the probability that the model gives its own label; NaN where it is not known.
        categories: of each row, those of the errors that were named.
        not_the_best: predictions whose label is not the one with the highest score.
        kind: ``model``, ``baseline`` or ``ensemble``.
    """

    model: str
    seed: int | None
    codes: npt.NDArray[np.int64]
    there: Mask
    outcomes: Mapping[str, int]
    explanations: tuple[str | None, ...]
    confidence: npt.NDArray[np.float64]
    categories: tuple[list[str], ...] = ()
    not_the_best: int = 0
    kind: Literal["model", "baseline", "ensemble"] = "model"

    def keep(self, mask: Mask) -> Answers:
        """Return the run on some of its rows; the counts stay those of the file. ``mask`` has *shape* (n,)."""
        kept = {name: getattr(self, name)[mask] for name in ("codes", "there", "confidence")}
        texts: dict[str, Any] = {
            name: tuple(compress(getattr(self, name), mask)) for name in ("explanations", "categories")
        }
        return replace(self, **kept, **texts)


def _no_probability(scores: pl.Expr) -> pl.Expr:
    return ~(scores.is_finite() & scores.is_between(0, 1)).fill_null(False)


TWICE = Check(
    pl.struct("model", "seed", "id").is_duplicated(),
    "a row is predicted more than once by one model and seed",
    "one prediction for each id, model and seed",
    "give each run a model or a seed of its own",
)


def _checks(classes: Classes) -> Iterator[Check]:
    scores = pl.col("scores")
    yield Check(pl.col("id").is_null(), "a prediction has no id", "the id of a dataset row")
    yield TWICE
    yield Check(
        (scores.list.len() != classes.silent)
        | scores.list.eval(_no_probability(pl.element())).list.any()
        | ((scores.list.sum() - 1).abs() > SUM_TOLERANCE),
        "scores are no probabilities",
        f"{classes.silent} finite probabilities, of {', '.join(classes.names)}, that sum to 1",
        "apply a softmax to logits, or leave scores out",
    )
    yield Check(
        pl.col("score").is_not_null() & _no_probability(pl.col("score")),
        "a score is no probability",
        "the probability of the label, from 0 to 1",
    )


def _column(frame: pl.DataFrame, path: Path, name: str, kind: pl.DataType) -> pl.Series:
    if name not in frame.columns or frame[name].dtype == pl.Null:
        return pl.Series(name, [None] * frame.height, dtype=kind)
    column = frame[name]
    try:
        decoded = name == "scores" and column.dtype == pl.String
        return column.str.json_decode(kind) if decoded else column.cast(kind)
    except pl.exceptions.PolarsError:
        expected = "a JSON list of numbers" if name == "scores" else str(kind)
        what = f"the column {name} holds values of another type"
        raise InputError(what, file=path, found=str(column.dtype), expected=expected) from None


def read_predictions(path: Path, kind: Kind = "quadrants") -> pl.DataFrame:
    """Read one prediction file (Parquet, CSV or JSONL): the columns of `PREDICTION_SCHEMA`, and ``code``.

    A file without ``model`` is called after its own name; one of another tool needs no ``outcome``. In a CSV file
    ``scores`` is a JSON list.

    Raises:
        UsageError: another kind of file.
        InputError: the file is not there or damaged, ``id`` or ``label`` is missing, an id is empty or comes twice for
            one model and seed, a label is outside the classes, or scores are not a finite probability of each class
            that sum to 1.
    """
    contract = CONTRACT.format(CLASSES[kind].expected)
    raw = read_foreign(path, "a prediction file", ("id", "label"), expected=contract)
    if raw.is_empty():
        raise InputError("a prediction file has no row", file=path, expected=contract)
    codes = label_codes(raw["label"], kind, path)
    columns = [_column(raw, path, name, dtype) for name, dtype in PREDICTION_SCHEMA.items()]
    if isinstance(raw.schema.get("errors"), pl.List):
        named = raw["errors"].list.eval(pl.element().struct.field("category"))
        columns.append(named.cast(pl.List(pl.String)).alias("categories"))
    frame = pl.DataFrame([*columns, codes.alias("code")]).with_columns(pl.col("model").fill_null(path.stem))
    refuse_rows(frame, path, *_checks(CLASSES[kind]))
    return frame


def label_codes(labels: pl.Series, kind: Kind, file: Path | str = "predictions") -> pl.Series:
    """Return the codes of labels, null for an empty one: an answer that could not be read.

    Blanks around a label are nothing. A quadrant is Q1 to Q4 as written here. For MedHal and MedVAL booleans and
    integers are read as such, and text (CSV) without regard to case. 1 and 0 are no factuality: which of the two is
    which would be a guess. Where it is true or false, a risk level is not valid.

    Raises:
        InputError: a label outside the classes.
    """
    classes, dtype = CLASSES[kind], labels.dtype
    other = {"quadrants": False, "medhal": dtype == pl.Boolean, "medval": dtype.is_numeric()}[kind]
    if not (other or dtype in (pl.Null, pl.String)):
        raise InputError("a label outside the classes", file=file, found=str(dtype), expected=classes.expected)
    text = labels.cast(pl.String).str.strip_chars()
    if kind != "quadrants":
        text = text.str.to_lowercase()
    codes = text.replace_strict(classes.words, default=None, return_dtype=pl.Int64)
    wrong = (codes.is_null() & (text.fill_null("") != "")).arg_true()
    if len(wrong):
        found = f"{len(wrong):,} of {len(labels):,} labels, the first in row {wrong[0] + 1}"
        raise InputError("a label outside the classes", file=file, found=found, expected=classes.expected)
    return codes


def write_predictions(
    path: Path, predictions: pl.DataFrame | Sequence[Mapping[str, Any]], kind: Kind = "quadrants"
) -> dict[str, Any]:
    """Write a predictions file (Parquet), whole or not at all, in a folder that is made private.

    Args:
        path: the file.
        predictions: with any of the columns of `PREDICTION_SCHEMA` and `ANSWER_SCHEMA`; of a row in memory what
            stands beside them is left out.
        kind: of the rows; labels of MedHal and MedVAL are written as booleans and whole numbers.

    Returns:
        ``rows``, ``outcomes`` (how many had each), and ``cut``, where these are known.

    Raises:
        UsageError: a table with a column that the contract does not have.
    """
    types = {**PREDICTION_SCHEMA, **ANSWER_SCHEMA, "label": LABELS[kind]}
    if isinstance(predictions, pl.DataFrame):
        if unknown := [name for name in predictions.columns if name not in types]:
            expected = CONTRACT.format(CLASSES[kind].expected)
            what = "predictions cannot be written like this"
            raise UsageError(what, file=path, found=", ".join(unknown), expected=expected)
        frame = predictions.select(pl.col(name).cast(types[name]) for name in types if name in predictions.columns)
    else:
        frame = pl.DataFrame(predictions, schema={name: types[name] for name in types if name in predictions[0]})
    private_directory(path.parent)
    with atomic_path(path) as temporary:
        frame.write_parquet(temporary)
    counts: dict[str, Any] = {"rows": frame.height}
    if "outcome" in frame.columns:
        counts["outcomes"] = dict(sorted(frame["outcome"].value_counts().iter_rows()))
    return counts | ({"cut": int(frame["cut"].sum())} if "cut" in frame.columns else {})


def join_predictions(
    gold: pl.DataFrame,
    predictions: pl.DataFrame,
    kind: Kind = "quadrants",
    *,
    source: Path | str = "predictions",
    missing: Missing = "refuse",
) -> list[Answers]:
    """Bring the predictions of each model and seed into the order of the rows.

    Args:
        gold: rows with ``id``, unique.
        predictions: as `read_predictions` gives them, or with fewer of the columns beside ``id`` and ``label``.
        kind: of the rows.
        source: the file, for messages.
        missing: what a row without a prediction is: an error, a wrong answer, or (``leave_out``) one for the caller to
            leave out of all models alike.

    Returns:
        One run for each model and seed, ordered by both.

    Raises:
        InputError: rows are missing and that is not allowed, a prediction is for no row, or a row has two.
    """
    if "code" not in predictions.columns:
        predictions = predictions.with_columns(code=label_codes(predictions["label"], kind, source))
    predictions = predictions.with_columns(
        pl.lit(None, dtype=dtype).alias(name)
        for name, dtype in PREDICTION_SCHEMA.items()
        if name not in predictions.columns
    )
    refuse_rows(predictions, source, TWICE)
    groups = predictions.sort("model", "seed", maintain_order=True).partition_by("model", "seed", as_dict=True)
    runs = []
    for (model, seed), own in (groups or {(Path(source).stem, None): predictions}).items():
        extra = own.join(gold, on="id", how="anti").height
        lost = gold.join(own, on="id", how="anti").height
        if extra:
            raise InputError(
                f"predictions of {model} are for rows that are not evaluated",
                file=source,
                found=f"{extra} of {own.height} ids are not among the {gold.height} rows of the split",
                expected="ids of this dataset and split",
                do="name the dataset and the split that were predicted",
            )
        if lost and missing == "refuse":
            raise InputError(
                f"predictions of {model} are missing",
                file=source,
                found=f"{lost} of {gold.height} rows have none",
                expected="a prediction for every row of the split",
                do="predict the rest, or choose --missing wrong or --missing leave_out",
            )
        runs.append(_answers(gold, own, model, seed, CLASSES[kind].silent))
    return runs


def _answers(gold: pl.DataFrame, own: pl.DataFrame, model: str, seed: int | None, silent: int) -> Answers:
    answered = own.with_columns(there=pl.lit(True))
    joined = gold.select("id").join(answered, on="id", how="left", maintain_order="left")
    there = joined["there"].fill_null(False)
    codes = joined["code"].fill_null(silent).to_numpy()
    confidence = joined["score"].fill_null(float("nan")).to_numpy().copy()
    scored = np.flatnonzero(joined["scores"].is_not_null().to_numpy() & (codes < silent))
    scores = np.array(joined["scores"].gather(scored).to_list(), dtype=np.float64).reshape(len(scored), silent)
    confidence[scored] = scores[np.arange(len(scored)), codes[scored]]
    confidence[codes == silent] = np.nan
    read = pl.when(pl.col("code").is_null()).then(pl.lit("no_label")).otherwise(pl.lit("parsed"))
    outcome = pl.when(there).then(pl.col("outcome").fill_null(read)).otherwise(pl.lit(MISSING))
    return Answers(
        model=model,
        seed=seed,
        codes=codes,
        there=there.to_numpy(),
        outcomes=dict(sorted(Counter(joined.select(outcome).to_series()).items())),
        explanations=tuple(joined["explanation"]),
        confidence=confidence,
        categories=tuple(joined["categories"].fill_null([]).to_list()) if "categories" in joined.columns else (),
        not_the_best=int((confidence[scored] < scores.max(axis=1, initial=0.0)).sum()),
    )


def read_runs(gold: pl.DataFrame, paths: Sequence[Path], kind: Kind, missing: Missing) -> list[tuple[str, Answers]]:
    """Read and join all files, each run with its file's name; the order of the files changes nothing.

    Raises:
        UsageError, InputError: as `read_predictions` and `join_predictions`, or two files hold one model and seed.
    """
    runs = [
        (path.name, run)
        for path in paths
        for run in join_predictions(gold, read_predictions(path, kind), kind, source=path, missing=missing)
    ]
    runs.sort(key=lambda entry: (entry[1].model, entry[1].seed is not None, entry[1].seed or 0))
    for (file, run), (other, same) in pairwise(runs):
        if (run.model, run.seed) == (same.model, same.seed):
            found = f"{run.model}, seed {run.seed}, also in {file}"
            what = "two prediction files hold the same model and seed"
            raise InputError(what, file=other, found=found, expected="each model and seed once")
    return runs
