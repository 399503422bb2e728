"""Which rows of a benchmark may stand on a sheet, best first, by what the sheet is for (paper 2.5)."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

from ground.errors import InputError
from ground.names import names_found
from ground.settings import StewardSettings
from ground.stable import stable_hash
from stewardship.adjudication.discrepancy import FLAGGED
from stewardship.benchmark.folder import Benchmark
from stewardship.history.log import Role
from stewardship.runs.votes import LIKELY_ERROR
from stewardship.sheets.batch import BatchKind, SheetBatch
from stewardship.sheets.experts import Experts
from stewardship.sheets.ratings import OPEN

__all__ = ["EXPECTED_ROWS", "Assigned", "Draw", "Pick", "assign", "balanced", "candidates", "draw_rows"]

SPOT_CHECKED = 7
"""Rows of a spot check, as many as the paper's clinician took."""
RANKED = "triage.parquet"
"""The list that `ontoground steward triage` writes."""
EXPECTED_ROWS: dict[BatchKind, str] = {
    "blind": "flagged rows that nobody has reviewed or been given; all rows with --pick any",
    "sample": "rows with a published label",
    "adjudication": "rows that their raters disagree on",
    "spot_check": "rows that the audit flagged: run `ontoground steward audit` first",
}


@dataclass(frozen=True)
class Draw:
    """Rows that may be drawn.

    Attributes:
        order: best first.
        rows: how many to give at most; all where None.
        barred: by row the raters who must not have it.
    """

    order: list[str]
    drawn: str
    rows: int | None
    left_out: Mapping[str, int] = field(default_factory=dict)
    barred: Mapping[str, set[str]] = field(default_factory=dict)


def draw_rows(
    benchmark: Benchmark,
    batches: Sequence[SheetBatch],
    settings: StewardSettings,
    *,
    kind: BatchKind,
    pick: Pick,
    rows: int | None,
) -> Draw:
    """Return the rows that sheets of a kind may be given.

    Args:
        batches: sheets written before: no row is given twice, and none for adjudication to who has seen it.
        settings: seed, and rows where ``rows`` is left out.
        pick: of blind sheets: how flagged rows, or all, are drawn.
        rows: at most.

    Raises:
        InputError: blind sheets of flagged rows, and there is no ranked list yet.
    """
    history, seed = benchmark.history, settings.seed
    if kind == "sample":
        return Draw(balanced(_groups(benchmark), most=rows or settings.review_rows, seed=seed), "balanced", None)
    if kind == "blind":
        return _blind(benchmark, batches, pick, rows or settings.review_rows, seed)
    given = {item.uid for batch in batches if batch.kind == kind for item in batch.items}
    if kind == "adjudication":
        roles: tuple[Role, ...] = ("physician", "reading")
        disputed = {uid for role in roles for uid, event in history.latest(role).items() if event.status == OPEN}
        barred: dict[str, set[str]] = {}
        for batch in batches:
            for item in batch.items:
                barred.setdefault(item.uid, set()).add(item.rater)
        return _among(disputed, given, Draw([], "open", rows, barred=barred), seed)
    flagged = {uid for uid, event in history.latest("audit").items() if event.status == LIKELY_ERROR}
    return _among(flagged, given, Draw([], "audit", rows or SPOT_CHECKED), seed)


def _among(uids: set[str], given: set[str], draw: Draw, seed: int) -> Draw:
    """Draw by hash from rows that something was said of, without those on other sheets of the same kind."""
    listed = pl.DataFrame({"uid": sorted(uids)}, schema={"uid": pl.String})
    order = candidates(listed, pick="any", seed=seed, without=given & uids)
    return Draw(order, draw.drawn, draw.rows, {"on other sheets": len(given & uids)}, draw.barred)


def _blind(benchmark: Benchmark, batches: Sequence[SheetBatch], pick: Pick, rows: int, seed: int) -> Draw:
    reviewed = set(benchmark.history.latest("physician"))
    given = {item.uid for batch in batches if batch.kind == "blind" for item in batch.items} - reviewed
    ranked = benchmark.items.select("uid") if pick == "any" else _ranked(benchmark)
    every = candidates(ranked, pick=pick, seed=seed)
    order = [uid for uid in every if uid not in reviewed and uid not in given]
    left_out = {"reviewed": len(reviewed.intersection(every)), "on other sheets": len(given.intersection(every))}
    return Draw(order, pick, rows, left_out)


def _ranked(benchmark: Benchmark) -> pl.DataFrame:
    file = benchmark.folder / RANKED
    if not file.is_file():
        raise InputError(
            "there is no ranked list yet",
            file=file,
            do="run `ontoground steward triage`; or draw from all rows with --pick any",
        )
    return pl.read_parquet(file, glob=False)


def _groups(benchmark: Benchmark) -> pl.DataFrame:
    """Return the rows of a balanced sample with what they are balanced over: their labels, or else their strata."""
    labels = benchmark.history.labels("original")
    rows = benchmark.items.select(
        "uid",
        *(
            pl.col(name) if name in benchmark.items.columns else pl.lit(None, dtype=pl.String).alias(name)
            for name in ("stratum", "context")
        ),
    )
    if benchmark.categories:
        named = {uid: label.text() for uid, label in labels.items() if label.value is not None}
        return rows.filter(pl.col("uid").is_in(list(named))).with_columns(
            group=pl.col("uid").replace_strict(named, return_dtype=pl.String)
        )
    return rows.with_columns(group=pl.col("stratum").fill_null("all"))


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
        rows: how many rows to give; all that someone knows where None.
        raters_per_row: how many raters label the same row, each on his own sheet.
        per_stratum: rows of a stratum (a calculator, a relation) at most.
        barred: by row the raters who must not have it: who has rated it does not decide about it.
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
            item
            for item in experts.of(row)
            if item not in no_longer and load[item] < experts.most.get(item, len(known))
        ]
        if len(free) < raters_per_row:
            passed["too_few_experts"] += 1
        elif per_stratum is not None and strata[stratum] >= per_stratum:
            passed["stratum_full"] += 1
        else:
            chosen = sorted(free, key=lambda item: (load[item], stable_hash(seed, "sheet rater", uid, item)))
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
