"""The one bootstrap of all reports: answers of several runs counted together, and again in resamples of clusters.

Rows of one patient, or made from one another, are not independent: such clusters are drawn, not rows. All runs see the
same resamples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.sparse import csr_array, eye_array

from ground.resampling import draws, percentile_interval, resampled, share

__all__ = ["DIGITS", "RESAMPLES", "SEED", "Counted", "Estimate", "estimate_of"]

RESAMPLES = 1000
SEED = 42
DIGITS = 6

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Estimate = dict[str, float | None]
"""A value with its 95% percentile interval: ``value``, ``low``, ``high``; None is undefined."""


@dataclass(frozen=True)
class Counted:
    """How many rows there are of each type, as observed and in B resamples of the clusters.

    Attributes:
        classes: k.
        cuts: by name, the part of the rows that each type is in. *Shape:* (R,).
        gold: *shape* (R,), 0 to k - 1.
        answers: *shape* (M, R), 0 to k - 1 and k for no answer, of each run.
        observed: *shape* (R,).
        kinds: *shape* (K, R), rows of each type in a cluster of each kind.
        sizes: *shape* (K,), clusters of each kind.
        drawn: *shape* (B, D), how often each row of ``basis`` is in a resample.
        basis: *shape* (D, R).
    """

    classes: int
    cuts: Mapping[str, Codes]
    gold: Codes
    answers: Codes
    observed: Floats
    kinds: Any
    sizes: Codes
    drawn: Floats
    basis: Any

    @classmethod
    def of(
        cls,
        gold: Codes,
        answers: Sequence[Codes],
        clusters: Codes,
        *,
        classes: int,
        cuts: Mapping[str, Codes] | None = None,
        resamples: int = RESAMPLES,
        seed: int = SEED,
        by_row: bool = False,
    ) -> Counted:
        """Count rows and draw the resamples; arrays have *shape* (n,). The order of the rows does not matter.

        Rows that agree in everything that is counted are one type; clusters with the same rows are one kind. Kinds are
        drawn, so a hundred thousand rows cost as little as a few thousand. For what differs from row to row, such as a
        confidence, each row is a type (``by_row``) and each cluster a kind, in the order of their numbers.
        """
        columns = {f"cut {name}": codes for name, codes in (cuts or {}).items()} | {"gold": gold}
        frame = pl.DataFrame(columns | {f"answer {at}": codes for at, codes in enumerate(answers)})
        if by_row:
            types, number = frame, pl.Series(np.arange(frame.height))
            ids, index = np.unique(clusters, return_inverse=True)
            kinds = csr_array((np.ones(len(index)), (index, number)), shape=(len(ids), frame.height))
            sizes = np.ones(len(ids), dtype=np.int64)
            drawn, basis = np.concatenate(list(draws(sizes, resamples, seed))), kinds
        else:
            types = frame.unique().sort(frame.columns)
            numbered = types.with_row_index("type")
            number = frame.join(numbered, on=frame.columns, how="left", maintain_order="left")["type"]
            kinds, sizes = _kinds(number, clusters, types.height)
            drawn, basis = resampled(kinds, sizes, resamples, seed), eye_array(types.height, format="csr")
        codes = types.select(f"answer {at}" for at in range(len(answers))).to_numpy().T
        return cls(
            classes=classes,
            cuts={name: types[f"cut {name}"].to_numpy() for name in cuts or {}},
            gold=types["gold"].to_numpy(),
            answers=codes.reshape(len(answers), types.height),
            observed=np.bincount(number.to_numpy(), minlength=types.height).astype(np.float64),
            kinds=kinds,
            sizes=sizes,
            drawn=drawn,
            basis=basis,
        )

    def sums(self, values: Any) -> tuple[Floats, Floats]:
        """Sum values of the types over all rows, *shape* (1, c), and over each resample, *shape* (B, c).

        *Shape:* ``values`` (R, c), an array or a sparse one.
        """
        return np.asarray(self.observed[None] @ values), np.asarray(self.drawn @ (self.basis @ values))

    def tables(self, run: int, mask: Mask | None = None) -> tuple[Floats, Floats]:
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
        observed, drawn = self.sums(cells)
        return observed.reshape(-1, self.classes, width), drawn.reshape(-1, self.classes, width)

    def share(self, part: Mask, whole: Mask | None = None) -> Estimate:
        """Return the share of the rows of a mask among all rows, or among those of another mask."""
        both = np.stack([part, np.ones_like(part) if whole is None else whole], axis=1).astype(np.float64)
        observed, drawn = self.sums(both)
        value = share(observed[:, 0], observed[:, 1])[0]
        return estimate_of(value, share(drawn[:, 0], drawn[:, 1]), self.clusters())

    def clusters(self, mask: Mask | None = None) -> int:
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


def estimate_of(value: float, draws: Floats, n_clusters: int) -> Estimate:
    """Return a value with its interval, rounded to be the same on every machine; None where one is not defined.

    Args:
        value: NaN where it is not defined.
        draws: *shape* (B,), NaN where not defined.
        n_clusters: what the value rests on; fewer than five give no interval.
    """
    if not np.isfinite(value):
        return dict.fromkeys(("value", "low", "high"))
    low, high = percentile_interval(draws, n_clusters) or (None, None)
    numbers = {"value": float(value), "low": low, "high": high}
    return {name: None if part is None else round(part, DIGITS) + 0.0 for name, part in numbers.items()}
