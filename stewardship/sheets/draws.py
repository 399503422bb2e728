"""Which rows of a benchmark may stand on a sheet, best first, by what the sheet is for (paper 2.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from ground.errors import InputError
from ground.settings import StewardSettings
from stewardship.benchmark.folder import Benchmark
from stewardship.history.log import Role
from stewardship.runs.votes import LIKELY_ERROR
from stewardship.sheets.batch import Batch, BatchKind
from stewardship.sheets.ratings import OPEN
from stewardship.sheets.sampling import Pick, balanced, candidates

__all__ = ["EXPECTED_ROWS", "Draw", "draw_rows"]

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
        drawn: how.
        rows: how many to give at most; all where None.
        left_out: rows that may not, by reason.
        barred: by row the raters who must not have it.
    """

    order: list[str]
    drawn: str
    rows: int | None
    left_out: Mapping[str, int] = field(default_factory=dict)
    barred: Mapping[str, set[str]] = field(default_factory=dict)


def draw_rows(
    benchmark: Benchmark,
    batches: Sequence[Batch],
    settings: StewardSettings,
    *,
    kind: BatchKind,
    pick: Pick,
    rows: int | None,
) -> Draw:
    """Return the rows that sheets of a kind may be given.

    Args:
        benchmark: whose rows.
        batches: sheets written before: no row is given twice, and none for adjudication to who has seen it.
        settings: seed, and rows where ``rows`` is left out.
        kind: what the sheets are for.
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


def _blind(benchmark: Benchmark, batches: Sequence[Batch], pick: Pick, rows: int, seed: int) -> Draw:
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
    labels = benchmark.history.labels("original", categories=benchmark.categories)
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
