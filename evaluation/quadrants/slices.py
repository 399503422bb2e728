"""Parts of the evaluated rows: by predicate, hops, length of the context, and how far the note supports the fact."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from evaluation.report import SMALL_CLUSTERS, SMALL_ROWS
from ground.contracts.rows import SUPPORT_LEVELS

__all__ = ["Slice", "context_lengths", "slices"]

MANY_HOPS = 3
LENGTH_BINS = 3


@dataclass(frozen=True)
class Slice:
    """Some of the evaluated rows.

    Attributes:
        by: what the rows are cut by.
        value: the part, as it is written in tables.
        mask: *shape* (n,).
        n_rows: of the part.
        n_patients: with a row in the part.
    """

    by: str
    value: str
    mask: npt.NDArray[np.bool_]
    n_rows: int
    n_patients: int

    @property
    def small(self) -> bool:
        """Whether the part is too small to be compared."""
        return self.n_rows < SMALL_ROWS or self.n_patients < SMALL_CLUSTERS


def context_lengths(rows: pl.DataFrame, contexts: pl.DataFrame) -> npt.NDArray[np.int64]:
    """Return the words (parts between white space) of each row's context. *Shape:* (n,)."""
    words = contexts.select("hadm_id", words=pl.col("context").str.count_matches(r"\S+").cast(pl.Int64))
    joined = rows.select("hadm_id").join(words, on="hadm_id", how="left", maintain_order="left")
    return joined["words"].to_numpy()


def _length_values(lengths: npt.NDArray[np.int64], hadm_ids: npt.NDArray[np.int64]) -> list[str]:
    """Name each row's third of the admissions, ordered by length; fewer parts where the thirds fall together."""
    of_admissions = lengths[np.unique(hadm_ids, return_index=True)[1]]
    shares = [part / LENGTH_BINS for part in range(1, LENGTH_BINS)]
    edges = np.unique(np.quantile(of_admissions, shares, method="inverted_cdf"))
    index = np.searchsorted(edges, lengths)
    names = {
        int(at): f"{lengths[index == at].min():,} to {lengths[index == at].max():,} words" for at in np.unique(index)
    }
    return [names[int(at)] for at in index]


def _columns(rows: pl.DataFrame, contexts: pl.DataFrame) -> Iterator[tuple[str, pl.Series, list[str]]]:
    """Yield what to slice by, each row's part, and the order of the parts."""
    predicate = rows["predicate"]
    counts = predicate.value_counts(sort=False).sort(["count", "predicate"], descending=[True, False])
    yield "predicate", predicate, counts["predicate"].to_list()
    hops = rows.select(
        pl.when(pl.col("hops") >= MANY_HOPS)
        .then(pl.lit(f"{MANY_HOPS} or more"))
        .otherwise(pl.col("hops").cast(pl.String))
    ).to_series()
    yield "hops", hops, sorted(hops.unique())
    lengths = context_lengths(rows, contexts)
    named = pl.Series(_length_values(lengths, rows["hadm_id"].to_numpy()))
    yield "context length", named, list(dict.fromkeys(named.gather(pl.Series(np.argsort(lengths, kind="stable")))))
    support = rows["support_level"]
    yield "support level", support, [level for level in SUPPORT_LEVELS if (support == level).any()]


def slices(rows: pl.DataFrame, contexts: pl.DataFrame) -> list[Slice]:
    """Cut the evaluated rows in every way.

    Args:
        rows: the evaluated rows (`MedievalDataset.rows`).
        contexts: ``hadm_id`` and ``context``, one row an admission.
    """
    subjects = rows["subject_id"].to_numpy()
    found = []
    for by, values, order in _columns(rows, contexts):
        for value in order:
            mask = (values == value).to_numpy()
            found.append(Slice(by, value, mask, int(mask.sum()), len(np.unique(subjects[mask]))))
    return found
