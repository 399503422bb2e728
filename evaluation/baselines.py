"""Baselines that take shortcuts: what a model must beat before it can be said to read a record.

Each is fitted on the training rows of the same split and predicts the evaluated rows. The entity overlap sees both
texts but no meaning: it looks for the two names in the context.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from evaluation.datasets import MedievalDataset
from evaluation.predictions import label_codes
from evaluation.rates import SUPPORTED, TRUE
from ground.contracts.rows import QUADRANTS
from ground.contracts.splits import FOLDS, Split
from ground.errors import InputError

__all__ = ["BASELINES", "baseline_predictions", "named_in_context"]

# Pairs of a name and a context that are searched at once: the contexts are views, the results are not.
PAIRS_AT_ONCE = 200_000
N = len(QUADRANTS)

Floats = npt.NDArray[np.float64]
Baseline = Callable[[pl.DataFrame, pl.DataFrame, pl.DataFrame], Floats]
"""From rows to train on, rows to predict, and contexts (``hadm_id``, ``context``) to probabilities. *Shape:* (n, 4)."""


def named_in_context(rows: pl.DataFrame, contexts: pl.DataFrame) -> npt.NDArray[np.bool_]:
    """Say whether head and tail name stand in the row's context, whatever the case, bounded by non-word characters.

    Every distinct pair of a context and a name is searched once for each end.

    Args:
        rows: with ``hadm_id``, ``head_name``, ``tail_name``.
        contexts: ``hadm_id`` and ``context``, one row an admission.

    Returns:
        *Shape* (n, 2): head, tail.
    """
    texts = contexts.select("hadm_id", text=_tokens("context"))
    # A name without a letter or digit is found nowhere.
    named = pl.col("text").str.contains(pl.col("words"), literal=True) & (pl.col("words") != "  ")
    columns = []
    for column in ("head_name", "tail_name"):
        pairs = rows.select("hadm_id", column, words=_tokens(column)).unique()
        searched = pl.concat(
            part.join(texts, on="hadm_id", how="left").select("hadm_id", column, found=named)
            for part in pairs.iter_slices(PAIRS_AT_ONCE)
        )
        columns.append(rows.join(searched, on=["hadm_id", column], how="left", maintain_order="left")["found"])
    both: npt.NDArray[np.bool_] = np.stack(columns, axis=1).astype(np.bool_)
    return both


def _tokens(column: str) -> pl.Expr:
    """Write a text as lower-case words between single spaces, one space at each end."""
    words = pl.col(column).str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", " ").str.strip_chars(" ")
    return pl.format(" {} ", words)


def _text_model(texts: list[str], labels: npt.NDArray[Any], test_texts: list[str], n_labels: int) -> Floats:
    """Fit TF-IDF with logistic regression and return probabilities. *Shape:* (n_test, n_labels).

    Equal texts with equal labels are one weighted row: the same fit, and a context of many rows is read once.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    distinct, code = np.unique(np.array(texts, dtype=object), return_inverse=True)
    test_distinct, test_code = np.unique(np.array(test_texts, dtype=object), return_inverse=True)
    cells, weights = np.unique(code * n_labels + labels, return_counts=True)
    present = np.unique(labels)
    if len(present) == 1:
        certain: Floats = np.tile(np.eye(n_labels)[present[0]], (len(test_texts), 1))
        return certain
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True).fit(distinct)
    model = LogisticRegression(max_iter=1000)
    model.fit(vectorizer.transform(distinct)[cells // n_labels], cells % n_labels, sample_weight=weights)
    probabilities = np.zeros((len(test_distinct), n_labels))
    probabilities[:, model.classes_] = model.predict_proba(vectorizer.transform(test_distinct))
    return probabilities[test_code]


def _codes(rows: pl.DataFrame) -> npt.NDArray[np.int64]:
    return label_codes(rows["quadrant"], "quadrants").to_numpy()


def _majority(train: pl.DataFrame, test: pl.DataFrame, contexts: pl.DataFrame) -> Floats:
    """The most frequent quadrant of the training rows, the first of equals."""
    counts = np.bincount(_codes(train), minlength=N)
    return np.tile(counts / counts.sum(), (test.height, 1))


def _words_only(column: str) -> Baseline:
    """The words of the statement, or those of the context."""

    def baseline(train: pl.DataFrame, test: pl.DataFrame, contexts: pl.DataFrame) -> Floats:
        texts, test_texts = (
            rows.join(contexts, on="hadm_id", how="left", maintain_order="left")[column].to_list()
            for rows in (train, test)
        )
        return _text_model(texts, _codes(train), test_texts, N)

    return baseline


def _overlap(train: pl.DataFrame, test: pl.DataFrame, contexts: pl.DataFrame) -> Floats:
    """Both names in the context: supported; then true where most such training rows are (true where as many)."""
    of_train, of_test = (named_in_context(rows, contexts).all(axis=1) for rows in (train, test))
    truth = train["is_true"].to_numpy()
    share = np.array([truth[of_train == state].mean() if (of_train == state).any() else 0.5 for state in (False, True)])
    return _product(share[of_test.astype(np.int64)], of_test.astype(np.float64))


def _overlap_and_statement(train: pl.DataFrame, test: pl.DataFrame, contexts: pl.DataFrame) -> Floats:
    """Truth from the statement's words; support from which of the two names stand in the context."""
    labels = train["is_true"].to_numpy().astype(np.int64)
    truth = _text_model(train["statement"].to_list(), labels, test["statement"].to_list(), 2)[:, 1]
    of_train, of_test = (named_in_context(rows, contexts) @ np.array([1, 2]) for rows in (train, test))
    supported = np.bincount(of_train, weights=train["is_supported"].to_numpy(), minlength=4)
    # One pseudo-count of each label, for a state that the training rows do not have.
    share = (supported + 1) / (np.bincount(of_train, minlength=4) + 2)
    return _product(truth, share[of_test])


def _product(true: Floats, supported: Floats) -> Floats:
    """Return the four probabilities of two independent labels. *Shapes:* (n,), (n,) to (n, 4)."""
    truth = np.where(TRUE, true[:, None], 1 - true[:, None])
    support = np.where(SUPPORTED, supported[:, None], 1 - supported[:, None])
    product: Floats = truth * support
    return product


BASELINES: dict[str, Baseline] = {
    "majority": _majority,
    "statement-only": _words_only("statement"),
    "context-only": _words_only("context"),
    "entity overlap": _overlap,
    "overlap+statement": _overlap_and_statement,
}


def baseline_predictions(dataset: MedievalDataset, split: Split = "test", split_column: str = "split") -> pl.DataFrame:
    """Fit every baseline on the training rows and predict one split; of all folds, fit it anew for each.

    Returns:
        ``id``, ``label``, ``scores`` and ``model``, the baselines one below the other; none has a seed.

    Raises:
        InputError: the training split or the evaluated one is empty, or they are the same.
    """
    if split_column == FOLDS:
        return pl.concat([baseline_predictions(dataset, split, f"fold_{fold}") for fold in dataset.folds])
    if split == "train":
        raise InputError(
            "baselines cannot be tested on the rows that they are fitted on",
            file=dataset.folder,
            found="the train split",
            expected="the validation or the test split",
            do="evaluate another split, or switch the baselines off",
        )
    train, test = dataset.split_rows("train", split_column), dataset.split_rows(split, split_column)
    tables = []
    for name, baseline in BASELINES.items():
        scores = baseline(train, test, dataset.contexts)
        # Ties within rounding go to the first quadrant, on every machine.
        best = np.round(scores, 9).argmax(axis=1)
        labels = np.array(QUADRANTS, dtype=object)[best]
        tables.append(
            pl.DataFrame({"id": test["id"], "label": labels.tolist(), "scores": scores.tolist(), "model": name})
        )
    return pl.concat(tables)
