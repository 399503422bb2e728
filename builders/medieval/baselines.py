"""What the labels can be guessed from without reading both texts: baselines that see one side only.

A supported statement must not be told by its words, and no label by the context alone (docs/definitions.md#baseline).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import duckdb
import numpy as np
import numpy.typing as npt

from ground.json_record import JsonRecord
from ground.resampling import draws, percentile_interval
from ground.stable import stable_hash

__all__ = [
    "Auc",
    "TextFeatures",
    "auc_table",
    "cross_validated_auc",
    "cross_validated_point",
    "fitted_auc",
    "measured_patients",
    "scored_auc",
    "split_auc",
]

FOLDS = 5
CUTS = 3
RESAMPLES = 1000
DRAWS_AT_ONCE = 50
MEASURED_PATIENTS = 1_000
"""Patients whose rows baselines look at, at most: enough for intervals much narrower than their limits."""

Indices = npt.NDArray[np.intp]
View = Literal["statement", "context", "overlap"]


@dataclass(frozen=True)
class Auc(JsonRecord):
    """Area under the ROC curve with a 95% percentile interval over resampled patients, None for too few patients."""

    view: View
    label: Literal["is_true", "is_supported"]
    how: str
    n: int
    auc: float
    low: float | None
    high: float | None


def measured_patients(connection: duckdb.DuckDBPyConnection, seed: int) -> list[int]:
    """Return the patients of ``statement`` that baselines look at, those of the lowest hashes, sorted."""
    query = "select distinct subject_id from statement"
    patients = [row[0] for row in connection.execute(query).fetchall()]
    return sorted(sorted(patients, key=lambda patient: stable_hash(seed, "measured", patient))[:MEASURED_PATIENTS])


class TextFeatures:
    """TF-IDF of words and pairs of words; each distinct text is read once, whatever is fitted on which rows.

    Args:
        texts: one for each row. Shape: (n,)
        merged: fit rows of one text and label as one row of their weight: the same model, sooner, where many rows
            share few long texts.
    """

    def __init__(self, texts: list[str], *, merged: bool = False) -> None:
        from sklearn.feature_extraction.text import CountVectorizer

        distinct, self._code = np.unique(np.array(texts, dtype=object), return_inverse=True)
        self._merged = merged
        self._counts = CountVectorizer(ngram_range=(1, 2)).fit_transform(distinct)

    def __len__(self) -> int:
        return int(self._code.size)

    def scores(self, train: Indices, labels: npt.NDArray[np.bool_], test: Indices) -> npt.NDArray[np.float64]:
        """Fit on the training rows and score the test rows. Shape: (test rows,)"""
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.linear_model import LogisticRegression
        from threadpoolctl import threadpool_limits

        code, wanted, weight = self._code[train], labels[train], None
        seen = self._counts[np.unique(code)]
        words = np.unique(seen.indices)
        features = TfidfTransformer(sublinear_tf=True).fit(seen[:, words]).transform(self._counts[:, words])
        if self._merged:
            key, weight = np.unique(2 * code + wanted, return_counts=True)
            code, wanted = key // 2, key % 2 == 1
        # OpenBLAS adds up vectors of more than 10,000 words on all cores: ten times the work, in an order that hangs on
        # their number.
        with threadpool_limits(1, "blas"):
            model = LogisticRegression(max_iter=1000).fit(features[code], wanted, weight)
        scores = np.asarray(model.decision_function(features), dtype=np.float64)[self._code[test]]
        return np.asarray(scores, dtype=np.float64)


def _areas(
    labels: npt.NDArray[np.bool_],
    scores: npt.NDArray[np.float64],
    patient: Indices,
    drawn: npt.NDArray[np.int64],
) -> npt.NDArray[np.float64]:
    """Return the area under the ROC curve for each way of drawing patients; NaN where a label was not drawn.

    The Mann-Whitney statistic, ties counted half. scikit-learn says the same, and would take most of a build.

    Args:
        labels, scores: of the rows. Shape: (n,)
        patient: number of the patient of each row. Shape: (n,)
        drawn: how often each patient is drawn. Shape: (draws, patients)
    """
    from scipy.sparse import csr_array

    # Scores that differ in the last bits only are ties.
    rank = np.unique(np.round(scores, 9), return_inverse=True)[1]
    shape = drawn.shape[1], int(rank.max()) + 1
    rows = [
        csr_array((np.ones(kept.size, np.int64), (patient[kept], rank[kept])), shape=shape)
        for kept in (np.flatnonzero(labels), np.flatnonzero(~labels))
    ]
    areas = []
    for some in np.array_split(drawn, max(1, len(drawn) // DRAWS_AT_ONCE)):
        positive, negative = (some @ of_label for of_label in rows)
        pairs = positive.sum(axis=1) * negative.sum(axis=1)
        below = np.cumsum(negative, axis=1) - negative
        # Twice the area, in whole numbers.
        area = (positive * (2 * below + negative)).sum(axis=1)
        areas.append(np.where(pairs > 0, area / 2 / np.maximum(pairs, 1), np.nan))
    return np.concatenate(areas)


def _area(labels: npt.NDArray[np.bool_], scores: npt.NDArray[np.float64]) -> float:
    """Return the area under the ROC curve; 0.5 where all labels are the same."""
    n = len(labels)
    area = float(_areas(labels, scores, np.arange(n), np.ones((1, n), np.int64))[0]) if n else np.nan
    return 0.5 if np.isnan(area) else area


def _interval(
    labels: npt.NDArray[np.bool_], scores: npt.NDArray[np.float64], patients: npt.NDArray[np.int64], seed: int
) -> tuple[float, float | None, float | None]:
    """Return AUC, lower and upper end; patients are resampled, since rows of one patient are not independent."""
    ids, index = np.unique(patients, return_inverse=True)
    if len(np.unique(labels)) < 2:
        return 0.5, None, None
    drawn = _areas(labels, scores, index, _drawn(len(ids), seed))
    return _area(labels, scores), *(percentile_interval(drawn, len(ids)) or (None, None))


@lru_cache(maxsize=1)
def _drawn(patients: int, seed: int) -> npt.NDArray[np.int64]:
    """Return how often each patient is drawn, the same for all readers of the same rows. Shape: (draws, patients)"""
    return np.concatenate(list(draws(np.ones(patients), RESAMPLES, seed))).astype(np.int64)


def _cross_validated(
    texts: TextFeatures, labels: npt.NDArray[np.bool_], patients: npt.NDArray[np.int64], seed: int, cuts: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the mean scores of rows over several cuts into folds by patient, and which rows have a score."""
    ids, index = np.unique(patients, return_inverse=True)
    total = np.zeros(len(texts))
    times = np.zeros(len(texts), dtype=np.intp)
    for cut in range(cuts):
        # Folds of equal size, in the order of a hash.
        order = np.argsort([stable_hash(seed, "fold", cut, int(patient)) for patient in ids], kind="stable")
        folds = (np.argsort(order) % FOLDS)[index]
        for fold in range(FOLDS):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            if len(test) and len(np.unique(labels[train])) == 2:
                fitted = texts.scores(train, labels, test)
                # Folds have models of their own: centre their scores before pooling.
                total[test] += fitted - np.median(fitted)
                times[test] += 1
    return total / np.maximum(times, 1), times > 0


def cross_validated_point(
    texts: list[str], labels: npt.NDArray[np.bool_], patients: npt.NDArray[np.int64], seed: int
) -> float:
    """Return the cross-validated AUC without its interval; 0.5 where there is too little to tell."""
    if len(np.unique(labels)) < 2:
        return 0.5
    scores, scored = _cross_validated(TextFeatures(texts), labels, patients, seed, CUTS)
    return _area(labels[scored], scores[scored])


def cross_validated_auc(
    texts: TextFeatures,
    labels: npt.NDArray[np.bool_],
    patients: npt.NDArray[np.int64],
    view: View,
    label: Literal["is_true", "is_supported"],
    seed: int,
) -> Auc:
    """Score TF-IDF with logistic regression by cross-validation over patients.

    Args:
        texts: what the baseline sees. Shape: (n,)
        labels: shape (n,).
        patients: shape (n,), patient of each row; folds never share one.
        view: what ``texts`` are.
        label: what ``labels`` are.
        seed: of the folds and of the resampling.
    """
    # A context says the same of all rows of its patient: more cuts tell nothing more, and it is long to read.
    cuts = CUTS if view == "statement" else 1
    scores, scored = _cross_validated(texts, labels, patients, seed, cuts)
    auc, low, high = _interval(labels[scored], scores[scored], patients[scored], seed)
    return Auc(view, label, f"{FOLDS}-fold by patient, cuts: {cuts}", int(scored.sum()), auc, low, high)


def split_auc(
    texts: TextFeatures,
    labels: npt.NDArray[np.bool_],
    patients: npt.NDArray[np.int64],
    splits: list[str | None],
    how: str,
    seed: int,
) -> Auc | None:
    """Fit on the training rows of a split and score its test rows; None where either lacks one of the labels."""
    split = np.array([value or "" for value in splits])
    train, test = np.flatnonzero(split == "train"), np.flatnonzero(split == "test")
    if min(len(np.unique(labels[train])), len(np.unique(labels[test]))) < 2:
        return None
    scores = texts.scores(train, labels, test)
    auc, low, high = _interval(labels[test], scores, patients[test], seed)
    return Auc("statement", "is_true", how, len(test), auc, low, high)


def fitted_auc(
    texts: list[str],
    labels: npt.NDArray[np.bool_],
    patients: npt.NDArray[np.int64],
    view: View,
    label: Literal["is_true", "is_supported"],
    seed: int,
) -> Auc:
    """Fit on all rows and score the same rows: no model of the texts can tell more of these labels.

    For rows that are balanced text by text. There, folds would tell the reverse: what is left out of the training rows
    is the other side of what is in them.
    """
    every = np.arange(len(texts))
    scores = TextFeatures(texts, merged=True).scores(every, labels, every)
    return scored_auc(scores, labels, patients, view, label, "fitted on the same rows", seed)


def scored_auc(
    scores: npt.NDArray[np.float64],
    labels: npt.NDArray[np.bool_],
    patients: npt.NDArray[np.int64],
    view: View,
    label: Literal["is_true", "is_supported"],
    how: str,
    seed: int,
) -> Auc:
    """Return the area of given scores. Shapes: (n,)"""
    auc, low, high = _interval(labels, scores, patients, seed)
    return Auc(view, label, how, len(labels), auc, low, high)


def auc_table(aucs: Sequence[Auc]) -> str:
    """Return the areas as a table in Markdown."""
    lines = ["| sees | label | how | rows | AUC | 95% interval |", "| --- | --- | --- | --- | --- | --- |"]
    for a in aucs:
        interval = "too few patients" if a.low is None or a.high is None else f"{a.low:.3f} to {a.high:.3f}"
        lines.append(f"| {a.view} | {a.label} | {a.how} | {a.n} | {a.auc:.3f} | {interval} |")
    return "\n".join(lines)
