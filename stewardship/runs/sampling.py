"""A stratified sample of a larger split (paper 2.4: 5,183 of 10,053 training rows, by calculator)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from ground.errors import UsageError
from ground.stable import stable_hash

__all__ = ["allot", "stratified_sample"]


def allot(sizes: Mapping[str, int], rows: int) -> dict[str, int]:
    """Return how many rows each stratum gives: in proportion to its size, by largest remainder, one at least.

    Where there are fewer rows than strata, the largest strata give one each. Ties go by name.

    Args:
        sizes: rows of each stratum, 1 at least.
        rows: to be drawn; all where there are no more.
    """
    total = sum(sizes.values())
    rows = min(rows, total)
    first = sorted(sizes, key=lambda name: (-sizes[name], name))[:rows]
    given = Counter(dict.fromkeys(first, 1))
    for _ in range(rows - len(first)):
        # The stratum that lacks most of its share; whole shares go before remainders of shares.
        open_ones = [name for name in first if given[name] < sizes[name]]
        given[min(open_ones, key=lambda name: (given[name] - rows * sizes[name] / total, name))] += 1
    return {name: given[name] for name in sizes}


def stratified_sample(strata: Mapping[str, str], rows: int, *, seed: int) -> frozenset[str]:
    """Draw rows by stratum; the same rows whatever the order of the table, by stable hash of seed and uid.

    Args:
        strata: uid to stratum.
        rows: to be drawn.
        seed: of the draw.

    Raises:
        UsageError: fewer than one row.
    """
    if rows < 1:
        raise UsageError("a sample needs rows", found=str(rows), expected="1 or more")
    members: defaultdict[str, list[str]] = defaultdict(list)
    for uid, stratum in strata.items():
        members[stratum].append(uid)
    given = allot({name: len(uids) for name, uids in members.items()}, rows)
    return frozenset(
        uid
        for name, uids in members.items()
        for uid in sorted(uids, key=lambda uid: (stable_hash(seed, "steward", "sample", uid), uid))[: given[name]]
    )
