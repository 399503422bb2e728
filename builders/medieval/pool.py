"""Candidates of kept groups, on disk by shard of admissions, and the statements that are drawn from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ground.flow.executor import Executor, nothing

__all__ = ["Candidates", "Pool"]


class Candidates(NamedTuple):
    """Candidates of the kept groups of one shard.

    Attributes:
        group_begin: where the groups of an admission begin. Shape: (admissions + 1,)
        kept: the kept end of a group. Shape: (groups,)
        original: the end of it that is replaced. Shape: (groups,)
        precedence: hash of a group. Shape: (groups,)
        begin: where the candidates of a group for Q2, Q3 and Q4 begin. Shape: (3 * groups + 1,)
        code: candidates. Shape: (n,)
        preference: how often the chance of each is doubled, as it is like what it replaces. Shape: (n,)
        draw: exponential draw of each. Shape: (n,)
    """

    group_begin: npt.NDArray[np.int64]
    kept: npt.NDArray[np.int32]
    original: npt.NDArray[np.int32]
    precedence: npt.NDArray[np.float64]
    begin: npt.NDArray[np.int64]
    code: npt.NDArray[np.int32]
    preference: npt.NDArray[np.uint8]
    draw: npt.NDArray[np.float64]


@dataclass
class Pool:
    """The candidates of a cohort, in files of which a part is mapped into memory only while it is looked at.

    Attributes:
        executor: works on several shards at a time.
        folder: takes a file for each attribute of the ``Candidates`` of each shard.
        name_no: a number for the name of a concept. Shape: (concepts,)
        floor: weight of a concept that no supported statement has.
        choice: chosen concepts of all groups for Q2, Q3 and Q4, -1 for none. Shape: (groups, 3)
        begin: where the groups of each shard begin, and where those of the last one end.
    """

    executor: Executor
    folder: Path
    name_no: npt.NDArray[np.int32]
    floor: float
    choice: npt.NDArray[np.int32]
    begin: list[int] = field(default_factory=lambda: [0])

    @property
    def _shards(self) -> range:
        return range(len(self.begin) - 1)

    def add(self, candidates: Candidates) -> None:
        """Write one more shard; its groups follow those of the shard before."""
        shard = len(self._shards)
        for name, values in candidates._asdict().items():
            np.save(self.folder / f"{shard}-{name}.npy", values)
        self.begin.append(self.begin[-1] + candidates.kept.size)

    def _arrays(self, shard: int, *names: str) -> list[npt.NDArray[Any]]:
        """Return arrays of a shard. They are let go with the last use, so that no pass holds the files in memory."""
        # Plain arrays: those of the class memmap are slow to index.
        return [np.asarray(np.load(self.folder / f"{shard}-{name}.npy", mmap_mode="r")) for name in names]

    def replaced(self) -> npt.NDArray[np.float64]:
        """Return how often groups replace each concept, NaN for those that none does. Shape: (concepts,)"""
        n = np.zeros(self.name_no.size)
        for shard in self._shards:
            (original,) = self._arrays(shard, "original")
            n += np.bincount(original, minlength=n.size)
        return np.where(n > 0, n, np.nan)

    def expected(self, weight: npt.NDArray[np.float64], quadrant: int) -> npt.NDArray[np.float64]:
        """Return how often each concept is expected to be drawn for a quadrant (0 to 2 for Q2 to Q4).

        Shape: (concepts,)
        """
        from builders.medieval.kernels import add_chances

        def chances(_: None, shard: int) -> npt.NDArray[np.float64]:
            own = np.zeros(self.name_no.size)
            begin, code, preference = self._arrays(shard, "begin", "code", "preference")
            add_chances(begin, code, preference, weight, quadrant, own)
            return own

        expected = np.zeros(self.name_no.size)
        # Added up in the order of the shards: the last bits of a sum hang on it.
        for own in self.executor.in_order(nothing, chances, self._shards):
            expected += own
        return expected

    def draw(self, weight: npt.NDArray[np.float64], quadrant: int) -> None:
        """Draw the statements of a quadrant (0 to 2 for Q2 to Q4) that no group has yet."""
        from builders.medieval.kernels import choose

        def draw(_: None, shard: int) -> None:
            candidates = Candidates(*self._arrays(shard, *Candidates._fields))
            chosen = self.choice[self.begin[shard] : self.begin[shard + 1]]
            choose(candidates, weight, self.name_no, quadrant, chosen)

        for _ in self.executor.in_order(nothing, draw, self._shards):
            pass

    def drawn(self, quadrant: int) -> npt.NDArray[np.intp]:
        """Return how often each concept is drawn for a quadrant (0 to 2 for Q2 to Q4). Shape: (concepts,)"""
        chosen = self.choice[:, quadrant]
        return np.bincount(chosen[chosen >= 0], minlength=self.name_no.size)

    def complete(self) -> npt.NDArray[np.intp]:
        """Return the numbers of the groups that have a statement of every quadrant."""
        return np.flatnonzero((self.choice >= 0).all(axis=1))
