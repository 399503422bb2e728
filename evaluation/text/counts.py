"""Answers of several runs counted together, and the same counts in resamples of patients or pairs.

Rows that agree in everything that is counted are one type; clusters with the same rows are one kind. Resamples draw
kinds, so a hundred thousand rows cost as little as a few thousand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.sparse import csr_array

from evaluation.intervals import DIGITS, percentile_interval

__all__ = ["RESAMPLES", "Counted", "estimate_of"]

RESAMPLES = 1000
# Resamples that are drawn at once: bounds the memory where every cluster is of its own kind.
AT_ONCE = 100

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Counted:
    """How many rows there are of each type, as observed and in B resamples of the clusters.

    Attributes:
        classes: k.
        task: *shape* (R,), code of each type's task.
        part: *shape* (R,), code of another cut, such as the context's length.
        gold: *shape* (R,), 0 to k - 1.
        answers: *shape* (M, R), 0 to k - 1 and k for no answer, of each run.
        observed: *shape* (R,).
        drawn: *shape* (B, R).
        kinds: *shape* (K, R), rows of each type in a cluster of each kind.
        sizes: *shape* (K,), clusters of each kind.
    """

    classes: int
    task: Codes
    part: Codes
    gold: Codes
    answers: Codes
    observed: Floats
    drawn: Floats
    kinds: Any
    sizes: Codes

    @classmethod
    def of(
        cls,
        gold: Codes,
        answers: Sequence[Codes],
        clusters: Codes,
        *,
        classes: int,
        tasks: Codes | None = None,
        parts: Codes | None = None,
        resamples: int = RESAMPLES,
        seed: int = 42,
    ) -> Counted:
        """Count rows and draw the resamples; arrays have *shape* (n,). The order of the rows does not matter."""
        zeros = np.zeros(len(gold), dtype=np.int64)
        columns = {"task": zeros if tasks is None else tasks, "part": zeros if parts is None else parts, "gold": gold}
        columns |= {f"answer {at}": codes for at, codes in enumerate(answers)}
        frame = pl.DataFrame(columns)
        types = frame.unique().sort(frame.columns)
        number = frame.join(types.with_row_index("type"), on=frame.columns, how="left", maintain_order="left")["type"]
        kinds, sizes = _kinds(number, clusters, types.height)
        observed = np.bincount(number.to_numpy(), minlength=types.height).astype(np.float64)
        return cls(
            classes=classes,
            task=types["task"].to_numpy(),
            part=types["part"].to_numpy(),
            gold=types["gold"].to_numpy(),
            answers=np.stack([types[f"answer {at}"].to_numpy() for at in range(len(answers))])
            if answers
            else np.zeros((0, types.height), np.int64),
            observed=observed,
            drawn=_drawn(kinds, sizes, resamples, seed),
            kinds=kinds,
            sizes=sizes,
        )

    def tables(self, run: int, mask: npt.NDArray[np.bool_] | None = None) -> tuple[Floats, Floats]:
        """Return confusion tables of one run: rows are the labels, columns the answers, the last one no answer.

        Args:
            run: its number.
            mask: *shape* (R,), the types that count; all where left out.

        Returns:
            As observed, *shape* (1, k, k + 1), and resampled, *shape* (B, k, k + 1).
        """
        width = self.classes + 1
        cell = self.gold * width + self.answers[run]
        chosen = np.arange(len(cell)) if mask is None else np.flatnonzero(mask)
        cells = csr_array((np.ones(len(chosen)), (chosen, cell[chosen])), shape=(len(cell), self.classes * width))
        shape = (-1, self.classes, width)
        return (self.observed[None] @ cells).reshape(shape), (self.drawn @ cells).reshape(shape)

    def clusters(self, mask: npt.NDArray[np.bool_] | None = None) -> int:
        """Return how many clusters have a row of these types."""
        if mask is None:
            return int(self.sizes.sum())
        return int(self.sizes[np.asarray((self.kinds @ mask.astype(np.float64)) > 0)].sum())


def _kinds(types: pl.Series, clusters: Codes, n_types: int) -> tuple[Any, Codes]:
    """Return the kinds of clusters as rows of types, *shape* (K, R), and how many clusters there are of each."""
    rows = pl.DataFrame({"cluster": clusters, "type": types})
    contents = rows.group_by("cluster").agg(pl.col("type").sort().cast(pl.String).str.join(","))
    kinds = contents.group_by("type").len().sort("type")
    lists = kinds["type"].str.split(",").cast(pl.List(pl.Int64))
    at = np.repeat(np.arange(kinds.height), lists.list.len().to_numpy())
    entries = lists.explode().to_numpy() if kinds.height else np.zeros(0, np.int64)
    matrix = csr_array((np.ones(len(at)), (at, entries)), shape=(kinds.height, n_types))
    matrix.sum_duplicates()
    return matrix, kinds["len"].cast(pl.Int64).to_numpy()


def _drawn(kinds: Any, sizes: Codes, resamples: int, seed: int) -> Floats:
    if not len(sizes):
        return np.zeros((resamples, kinds.shape[1]))
    generator = np.random.default_rng(seed)
    n = int(sizes.sum())
    blocks = []
    for begin in range(0, resamples, AT_ONCE):
        draws = generator.multinomial(n, sizes / n, size=min(AT_ONCE, resamples - begin))
        blocks.append(np.asarray(draws.astype(np.float64) @ kinds))
    return np.concatenate(blocks)


def estimate_of(value: float, draws: Floats, n_clusters: int) -> dict[str, float | None]:
    """Return a value with its 95% percentile interval, rounded; None where it, or the interval, is not defined.

    Args:
        value: NaN where it is not defined.
        draws: *shape* (B,), NaN where not defined.
        n_clusters: what the value rests on; fewer than five give no interval.
    """
    if not np.isfinite(value):
        return dict.fromkeys(("value", "low", "high"))
    low, high = percentile_interval(draws, n_clusters) or (None, None)
    found = {"value": float(value), "low": low, "high": high}
    return {name: None if part is None else round(part, DIGITS) + 0.0 for name, part in found.items()}
