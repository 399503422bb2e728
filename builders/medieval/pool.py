"""Candidates of kept groups, on disk by shard of admissions, and the statements that are drawn from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ground.flow.executor import Executor, nothing

__all__ = ["Candidates", "Part", "Pool"]


class Candidates(NamedTuple):
    """Candidates of the kept groups of one shard.

    Attributes:
        group_begin: where the groups of an admission begin. Shape: (admissions + 1,)
        kept: the kept end of a group. Shape: (groups,)
        original: the end of it that is replaced. Shape: (groups,)
        turn: hash of a group. Shape: (groups,)
        begin: where the candidates of a group for Q2, Q3 and Q4 begin. Shape: (3 * groups + 1,)
        code: candidates. Shape: (n,)
        ease: how often the chance of each is doubled, as it is like what it replaces. Shape: (n,)
        draw: exponential draw of each. Shape: (n,)
    """

    group_begin: npt.NDArray[np.int64]
    kept: npt.NDArray[np.int32]
    original: npt.NDArray[np.int32]
    turn: npt.NDArray[np.float64]
    begin: npt.NDArray[np.int64]
    code: npt.NDArray[np.int32]
    ease: npt.NDArray[np.uint8]
    draw: npt.NDArray[np.float64]


KINDS: dict[str, npt.DTypeLike] = {
    "group_begin": np.int64,
    "kept": np.int32,
    "original": np.int32,
    "turn": np.float64,
    "begin": np.int64,
    "code": np.int32,
    "ease": np.uint8,
    "draw": np.float64,
}
"""How the arrays of ``Candidates`` lie in their files."""


class Part(NamedTuple):
    """One shard: its groups are the numbers from ``first`` on."""

    first: int
    candidates: Candidates


@dataclass
class Pool:
    """The candidates of a cohort, in files that are mapped into memory once all of them are there.

    Attributes:
        executor: works on several shards at a time.
        folder: takes the files: one for each attribute of ``Candidates``, all shards one after another.
        called: a number for the name of a concept. Shape: (concepts,)
        floor: weight of a concept that no supported statement has.
        choice: chosen concepts of all groups for Q2, Q3 and Q4, -1 for none. Shape: (groups, 3)
        sizes: how long the arrays of each shard are.
    """

    executor: Executor
    folder: Path
    called: npt.NDArray[np.int32]
    floor: float
    choice: npt.NDArray[np.int32]
    sizes: list[tuple[int, ...]] = field(default_factory=list)

    def add(self, candidates: Candidates) -> None:
        """Write one more shard; its groups follow those of the shard before."""
        for name, values in candidates._asdict().items():
            with (self.folder / name).open("ab") as file:
                values.tofile(file)
        self.sizes.append(tuple(values.size for values in candidates))

    @cached_property
    def parts(self) -> list[Part]:
        """All shards; none is added from now on."""
        from ground.compiled import read_only

        columns = []
        for name, sizes in zip(Candidates._fields, zip(*self.sizes, strict=True), strict=False):
            kind = KINDS[name]
            # A file without bytes cannot be mapped. A plain array: those of the class memmap are slow to index.
            whole = np.asarray(np.memmap(self.folder / name, kind, "r")) if any(sizes) else np.empty(0, kind)
            columns.append(np.split(read_only(whole), np.cumsum(sizes)[:-1]))
        shards = [Candidates(*column) for column in zip(*columns, strict=True)]
        firsts = np.cumsum([0, *(shard.kept.size for shard in shards)]).tolist()
        return [Part(first, shard) for first, shard in zip(firsts, shards, strict=False)]

    def replaced(self) -> npt.NDArray[np.float64]:
        """Return how often groups replace each concept, NaN for those that none does. Shape: (concepts,)"""
        n = np.zeros(self.called.size)
        for part in self.parts:
            n += np.bincount(part.candidates.original, minlength=n.size)
        return np.where(n > 0, n, np.nan)

    def expected(self, weight: npt.NDArray[np.float64], quadrant: int) -> npt.NDArray[np.float64]:
        """Return how often each concept is expected to be drawn for a quadrant (0 to 2 for Q2 to Q4).

        Shape: (concepts,)
        """
        from builders.medieval.kernels import add_chances

        def chances(_: None, part: Part) -> npt.NDArray[np.float64]:
            own = np.zeros(self.called.size)
            add_chances(part.candidates.begin, part.candidates.code, part.candidates.ease, weight, quadrant, own)
            return own

        expected = np.zeros(self.called.size)
        # Added up in the order of the shards: the last bits of a sum hang on it.
        for own in self.executor.in_order(nothing, chances, self.parts):
            expected += own
        return expected

    def draw(self, weight: npt.NDArray[np.float64], quadrant: int) -> None:
        """Draw the statements of a quadrant (0 to 2 for Q2 to Q4) that no group has yet."""
        from builders.medieval.kernels import choose

        def draw(_: None, part: Part) -> None:
            chosen = self.choice[part.first : part.first + part.candidates.kept.size]
            choose(*part.candidates, weight, self.called, quadrant, chosen)

        for _ in self.executor.in_order(nothing, draw, self.parts):
            pass

    def drawn(self, quadrant: int) -> npt.NDArray[np.intp]:
        """Return how often each concept is drawn for a quadrant (0 to 2 for Q2 to Q4). Shape: (concepts,)"""
        chosen = self.choice[:, quadrant]
        return np.bincount(chosen[chosen >= 0], minlength=self.called.size)

    def complete(self) -> npt.NDArray[np.intp]:
        """Return the numbers of the groups that have a statement of every quadrant."""
        return np.flatnonzero((self.choice >= 0).all(axis=1))
