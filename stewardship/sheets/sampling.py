"""Which rows go on whose sheet: from the ranked list by expertise, balanced over labels, or flagged by the audit."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from ground.errors import InputError
from ground.names import names_found
from ground.stable import stable_hash
from stewardship.adjudication.discrepancy import FLAGGED
from stewardship.sheets.experts import Experts

__all__ = ["Assigned", "Pick", "assign", "balanced", "candidates"]

Pick = Literal["sampled", "top", "any"]
"""``sampled``: flagged rows by stable hash (an unbiased sample of them); ``top``: the worst disagreements first;
``any``: all rows by stable hash."""

Place = tuple[int, int, str, str]
"""How often a row's context was used, the row's hash, its key, its context."""


@dataclass(frozen=True)
class Assigned:
    """Rows on raters' sheets.

    Attributes:
        pairs: (uid, rater), in the order of the draw.
        passed_over: rows that came up and were not taken, by reason: ``too_few_experts`` (fewer know it than are to
            label it, or they have all that they take), ``stratum_full``.
    """

    pairs: tuple[tuple[str, str], ...]
    passed_over: Mapping[str, int]

    @property
    def uids(self) -> list[str]:
        """The rows, once each."""
        return list(dict.fromkeys(uid for uid, _ in self.pairs))


def candidates(ranked: pl.DataFrame, *, pick: Pick, seed: int, without: Collection[str] = ()) -> list[str]:
    """Return the rows that may be drawn, best first.

    Args:
        ranked: *shape* (n, 2 or 3): ``uid``, ``flag`` (abstained, differs, unflagged or null where there is nothing to
            compare), and ``rank``; not needed for ``any``. A column ``unit`` that is ``days`` puts dates behind the
            others, whose distance is of another unit.
        pick: how.
        seed: of the stable hash.
        without: rows that are reviewed already, or on another sheet.

    Raises:
        InputError: the list has not the columns that ``pick`` needs.
    """
    needed = {"uid"} if pick == "any" else {"uid", "flag", "rank"}
    if lacking := needed - set(ranked.columns):
        raise InputError(
            "the ranked list lacks columns",
            found=names_found(ranked.columns),
            expected=", ".join(sorted(lacking)),
            do="make it anew with `ontoground steward triage`",
        )
    left = ranked.filter(~pl.col("uid").is_in(list(without)))
    if pick != "any":
        left = left.filter(pl.col("flag").is_in([flag.value for flag in FLAGGED]))
    if pick == "top":
        dates = pl.col("unit").eq_missing("days") if "unit" in left.columns else pl.lit(value=False)
        return left.sort(dates, "rank", "uid", nulls_last=True)["uid"].to_list()
    return sorted(left["uid"], key=lambda uid: (stable_hash(seed, "sheet row", uid), uid))


def assign(
    order: Iterable[str],
    items: pl.DataFrame,
    experts: Experts,
    *,
    rows: int | None,
    raters_per_row: int = 1,
    per_stratum: int | None = None,
    barred: Mapping[str, Collection[str]] | None = None,
    seed: int,
) -> Assigned:
    """Give rows to raters who know them, each to those who have fewest so far.

    Args:
        order: rows, best first.
        items: the benchmark's rows.
        experts: who knows what.
        rows: how many rows to give; all that someone knows where None.
        raters_per_row: how many raters label the same row, each on his own sheet.
        per_stratum: rows of a stratum (a calculator, a relation) at most.
        barred: by row the raters who must not have it: who has rated it does not decide about it.
        seed: breaks ties between raters.
    """
    columns = [name for name in ("uid", "stratum", "stratum_id", "category") if name in items.columns]
    known: dict[str, dict[str, Any]] = {row["uid"]: row for row in items.select(columns).to_dicts()}
    load: Counter[str] = Counter()
    strata: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    pairs: list[tuple[str, str]] = []
    taken = 0
    for uid in order:
        if rows is not None and taken >= rows:
            break
        row = known[uid]
        stratum = row.get("stratum") or ""
        no_longer = (barred or {}).get(uid, ())
        free = [
            one for one in experts.of(row) if one not in no_longer and load[one] < experts.most.get(one, len(known))
        ]
        if len(free) < raters_per_row:
            passed["too_few_experts"] += 1
        elif per_stratum is not None and strata[stratum] >= per_stratum:
            passed["stratum_full"] += 1
        else:
            chosen = sorted(free, key=lambda one: (load[one], stable_hash(seed, "sheet rater", uid, one)))
            pairs += [(uid, rater) for rater in chosen[:raters_per_row]]
            load.update(chosen[:raters_per_row])
            strata[stratum] += 1
            taken += 1
    return Assigned(tuple(pairs), dict(passed))


def balanced(rows: pl.DataFrame, *, most: int, seed: int) -> list[str]:
    """Draw as many rows of each group, spread over the strata of a group, from different contexts where there are any.

    MediEval (appendix C) reviewed 200 balanced samples: 50 of each quadrant. Of rows about one context one is drawn,
    since they tell on each other; a context comes up again only where no other is left.

    Args:
        rows: *shape* (n, 4): ``uid``, ``group`` (a label, or what else is balanced over), ``stratum``, ``context``.
        most: rows in all; what does not divide evenly goes to the first groups.
        seed: of the stable hash.

    Returns:
        Keys of rows in the order of the draw. A group that has too few rows stays short.
    """
    names = rows["group"].drop_nulls().unique().sort().to_list()
    shares = {name: most // len(names) + (at < most % len(names)) for at, name in enumerate(names)} if names else {}
    piles: dict[str, dict[str, list[tuple[int, str, str]]]] = defaultdict(lambda: defaultdict(list))
    for uid, group, stratum, context in rows.select("uid", "group", "stratum", "context").iter_rows():
        place = (stable_hash(seed, "sample row", uid), uid, context or "")
        piles[group][stratum or ""].append(place)
    used: Counter[str] = Counter()
    return [uid for name in names for uid in _in_turn(piles[name], shares[name], used, seed)]


def _in_turn(strata: Mapping[str, list[tuple[int, str, str]]], share: int, used: Counter[str], seed: int) -> list[str]:
    """Take rows from the strata in turn, those of the contexts first that were used least, then by hash."""
    order = sorted(strata, key=lambda name: (stable_hash(seed, "sample stratum", name), name))
    heaps: dict[str, list[Place]] = {
        name: [(used[context], number, uid, context) for number, uid, context in strata[name]] for name in order
    }
    for heap in heaps.values():
        heapq.heapify(heap)
    taken: list[str] = []
    while (heaps := {name: heap for name, heap in heaps.items() if heap}) and len(taken) < share:
        least = min(_freshest(heap, used) for heap in heaps.values())
        for heap in heaps.values():
            if len(taken) < share and heap and _freshest(heap, used) == least:
                *_, uid, context = heapq.heappop(heap)
                used[context] += 1
                taken.append(uid)
    return taken


def _freshest(heap: list[Place], used: Counter[str]) -> int:
    """Return how often the least used context of a heap was used; a use counts in the heap when it comes up."""
    while heap[0][0] < used[heap[0][3]]:
        _, number, uid, context = heap[0]
        heapq.heapreplace(heap, (used[context], number, uid, context))
    return heap[0][0]
