"""What a row's own text tells of its label, without the text that it has to be compared with.

Three readers of the text alone are cross-validated by document: of its words and pairs of words, of its letters in runs
of two to five, and of its form (length, digits, capitals, marks). Who made the rows
used neither these nor the seed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from builders.cards import left_table
from builders.medieval.baselines import scored_auc
from ground.json_record import JsonRecord
from ground.stable import stable_hash

__all__ = ["LIMIT", "LabelledText", "Shortcut", "shortcut_table", "shortcuts_of"]

Reader = Literal["words", "letters", "form"]
READERS: tuple[Reader, ...] = get_args(Reader)
FOLDS = 5
LIMIT = 0.55
FEWEST = 500
"""Rows a side from which on an area can be told from a half."""
MOST = 1_500
"""Documents of a group that are read, those of the lowest hashes."""
FOLD_SEED = 20_407
WIDER = math.sqrt(2)
"""Each document is scored by models of the other documents, so that areas under labels by chance spread so much further
than resampled documents show."""
_MARKS = re.compile(r"[^\w\s]")


@dataclass(frozen=True)
class LabelledText:
    """A row: the group that it is measured in, its document, its text, and whether it is wrong."""

    group: str
    document: str
    text: str
    wrong: bool


@dataclass(frozen=True)
class Shortcut(JsonRecord):
    """How well a reader of the text alone tells wrong rows from right ones: area under the ROC curve, 95% interval.

    ``verdict``: ``held`` where the interval includes a half and ends below `LIMIT`, ``told`` where it does not, ``too
    few`` where there are not `FEWEST` rows on either side. Below a half, what a row says stands in other documents with
    the other label: whoever turns the reader round has the label.
    """

    group: str
    reader: Reader
    right: int
    wrong: int
    auc: float
    low: float
    high: float
    verdict: Literal["held", "told", "too few"]


def shortcuts_of(rows: Iterable[LabelledText]) -> list[Shortcut]:
    """Return what each reader tells of each group that has both labels in five documents or more."""
    groups: dict[str, dict[str, list[LabelledText]]] = {}
    for row in rows:
        documents = groups.setdefault(row.group, {})
        documents.setdefault(row.document, []).append(row)
        if len(documents) > 2 * MOST:
            groups[row.group] = _lowest(documents)
    return [shortcut for name in sorted(groups) for shortcut in _measured(name, _lowest(groups[name]))]


def _lowest(documents: dict[str, list[LabelledText]]) -> dict[str, list[LabelledText]]:
    names = sorted(documents, key=lambda name: stable_hash(FOLD_SEED, "fold", name))
    return {name: documents[name] for name in names[:MOST]}


def _measured(group: str, documents: dict[str, list[LabelledText]]) -> list[Shortcut]:
    number = {name: place for place, name in enumerate(documents)}
    rows = [row for of_document in documents.values() for row in of_document]
    wrong = np.array([row.wrong for row in rows])
    if len(number) < FOLDS or wrong.all() or not wrong.any():
        return []
    of_row = np.array([number[row.document] for row in rows])
    shortcuts = []
    for reader in READERS:
        scores = _cross_validated(_features(reader, [row.text for row in rows]), wrong, of_row % FOLDS)
        auc = scored_auc(scores, wrong, of_row, "statement", "is_supported", "", FOLD_SEED)
        low, high = (0.0, 1.0) if auc.low is None or auc.high is None else (auc.low, auc.high)
        low, high = (min(1.0, max(0.0, auc.auc + WIDER * (end - auc.auc))) for end in (low, high))
        n = int(wrong.sum())
        few = min(n, len(rows) - n) < FEWEST
        held = low <= 0.5 <= high < LIMIT
        verdict: Literal["held", "told", "too few"] = "too few" if few else "held" if held else "told"
        area = (round(auc.auc, 3), round(low, 3), round(high, 3))
        shortcuts.append(Shortcut(group, reader, len(rows) - n, n, *area, verdict))
    return shortcuts


def _features(reader: Reader, texts: Sequence[str]) -> Any:
    """Return what a reader sees of texts. Shape: (texts, features)"""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
    from sklearn.preprocessing import StandardScaler

    if reader == "form":
        counts = [
            (len(text), len(text.split()), sum(map(str.isdigit, text)), sum(map(str.isupper, text)),
             len(_MARKS.findall(text)), text.count("\n"))
            for text in texts
        ]  # fmt: skip
        return StandardScaler().fit_transform(np.log1p(np.array(counts, dtype=np.float64)))
    if reader == "words":
        return TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)).fit_transform(texts)
    # Runs of letters do not cross blanks: those of each word are counted once, however often it stands.
    words = CountVectorizer(token_pattern=r"\S+")
    counts = words.fit_transform(texts)
    runs = CountVectorizer(analyzer="char_wb", ngram_range=(2, 5)).fit_transform(words.get_feature_names_out())
    return TfidfTransformer(sublinear_tf=True).fit_transform(counts @ runs)


def _cross_validated(
    features: Any, wrong: npt.NDArray[np.bool_], folds: npt.NDArray[np.intp]
) -> npt.NDArray[np.float64]:
    from threadpoolctl import threadpool_limits

    scores = np.zeros(len(wrong))
    # Threads of so small models wait for one another most of the time.
    with threadpool_limits(1, "blas"):
        for fold in range(FOLDS):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            if len(test) and len(np.unique(wrong[train])) == 2:
                scores[test] = _fitted(features[train], wrong[train], features[test])
    return scores


def _fitted(train: Any, wrong: npt.NDArray[np.bool_], test: Any) -> npt.NDArray[np.float64]:
    """Return scores of a fold, centred: folds have models of their own and are pooled."""
    from sklearn.linear_model import LogisticRegression

    scores: npt.NDArray[np.float64] = LogisticRegression(max_iter=1000).fit(train, wrong).decision_function(test)
    return scores - np.median(scores)


def shortcut_table(shortcuts: Sequence[Shortcut]) -> str:
    """Return what was found as a section of a card, with a warning for each group that is told."""
    rows = [
        (
            each.group,
            each.reader,
            each.right,
            each.wrong,
            f"{each.auc:.3f}",
            f"{each.low:.3f} to {each.high:.3f}",
            each.verdict,
        )
        for each in shortcuts
    ]
    told_groups = sorted({shortcut.group for shortcut in shortcuts if shortcut.verdict == "told"})
    warning = f"**Warning: the text alone tells the label in {', '.join(told_groups)}.**\n\n" if told_groups else ""
    note = (
        "Readers that see the text alone guess the label, cross-validated by document: by its words, its runs of"
        " letters, or its form (length, digits, capitals, marks). The area is that under the ROC curve; 0.5 is chance."
        f"\n\n`held`: the text alone does not tell the label (the 95% interval includes 0.5 and ends below {LIMIT});"
        f" `told`: it does; `too few`: fewer than {FEWEST} rows a side, too few to say.\n\n"
    )
    columns = ("group", "reader", "right", "wrong", "area", "95% interval", "verdict")
    return warning + note + (left_table(columns, rows) if rows else "No group has both labels in five documents.")
