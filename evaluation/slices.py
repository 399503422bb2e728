"""Parts of the evaluated rows: by length; of quadrants also by predicate, hops, and how far the note supports them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from evaluation.report import SMALL_CLUSTERS, SMALL_ROWS
from ground.contracts.rows import SUPPORT_LEVELS

__all__ = ["Slice", "context_lengths", "length_parts", "slices", "words_of"]

MANY_HOPS = 3
LENGTH_PARTS = 3
NO_CONTEXT = "no context"

Codes = npt.NDArray[np.int64]


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


def words_of(column: str) -> pl.Expr:
    """Count the words (parts between white space) of a text."""
    return pl.col(column).fill_null("").str.count_matches(r"\S+").cast(pl.Int64)


def length_parts(words: Codes, parts: int, of: Codes | None = None) -> tuple[Codes, list[str]]:
    """Cut rows into parts by their words: fewer where edges fall together, and no words are a part of their own.

    Args:
        words: *shape* (n,).
        parts: how many.
        of: the lengths that are parted evenly, such as those of the admissions; the rows' own where left out.

    Returns:
        The part of each row, *shape* (n,), and the names of the parts, the shortest first.
    """
    there = words if of is None else of
    there = there[there > 0]
    shares = np.arange(1, parts) / parts
    edges = np.unique(np.quantile(there, shares, method="inverted_cdf")) if len(there) else there
    found, index = np.unique(np.where(words > 0, 1 + np.searchsorted(edges, words), 0), return_inverse=True)
    ends = [(int(words[index == at].min()), int(words[index == at].max())) for at in range(len(found))]
    names = [f"{low:,} to {high:,} words" if low < high else f"{low:,} words" for low, high in ends]
    return index, [name if part else NO_CONTEXT for part, name in zip(found, names, strict=True)]


def context_lengths(rows: pl.DataFrame, contexts: pl.DataFrame) -> Codes:
    """Return the words of each row's context. *Shape:* (n,)."""
    words = contexts.select("hadm_id", words=words_of("context"))
    joined = rows.select("hadm_id").join(words, on="hadm_id", how="left", maintain_order="left")
    return joined["words"].to_numpy()


def slices(rows: pl.DataFrame, contexts: pl.DataFrame) -> list[Slice]:
    """Cut the evaluated rows of quadrants in every way.

    Args:
        rows: the evaluated rows (`MedievalDataset.rows`).
        contexts: ``hadm_id`` and ``context``, one row an admission.
    """
    lengths = context_lengths(rows, contexts)
    of_admissions = lengths[np.unique(rows["hadm_id"].to_numpy(), return_index=True)[1]]
    index, names = length_parts(lengths, LENGTH_PARTS, of_admissions)
    many = pl.col("hops") >= MANY_HOPS
    cuts = rows.select(
        "predicate",
        pl.when(many).then(pl.lit(f"{MANY_HOPS} or more")).otherwise(pl.col("hops").cast(pl.String)).alias("hops"),
        pl.Series("context length", names).gather(pl.Series(index)),
        pl.col("support_level").alias("support level"),
    )
    counts = cuts["predicate"].value_counts(sort=False).sort(["count", "predicate"], descending=[True, False])
    support = set(cuts["support level"])
    orders = {
        "predicate": counts["predicate"].to_list(),
        "hops": sorted(cuts["hops"].unique()),
        "context length": names,
        "support level": [level for level in SUPPORT_LEVELS if level in support],
    }
    found, patients = [], rows["subject_id"].to_numpy()
    for by, order in orders.items():
        for value in order:
            mask = (cuts[by] == value).to_numpy()
            found.append(Slice(by, value, mask, int(mask.sum()), len(np.unique(patients[mask]))))
    return found
