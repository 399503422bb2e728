"""Which labels are likely wrong, worst first (docs/stewardship.md#triage)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from ground.contracts.labels import LabelValue
from ground.json_record import JsonRecord
from stewardship.adjudication.discrepancy import FLAGGED, Flag, discrepancies

__all__ = ["COLUMNS", "TriageSummary", "summarise", "triage"]

COLUMNS = (
    "list",
    "rank",
    "uid",
    "stratum",
    "type",
    "original",
    "recomputed",
    "distance",
    "unit",
    "flag",
)
"""Columns of the table that `triage` returns."""

LISTS = ("main", "dates")


def triage(
    original: Mapping[str, LabelValue],
    recomputed: Mapping[str, LabelValue],
    *,
    strata: Mapping[str, str] | None = None,
    types: Mapping[str, str] | None = None,
    limit: float = 0.05,
) -> pl.DataFrame:
    """Rank the rows that have both labels.

    The ``main`` list has the abstained rows first, then those whose labels are of two kinds, then the others by
    distance from the largest down; ties by uid, numbers in it as numbers (assumed). Dates make a list of their own
    (``dates``): their distance is in days. Rows that are not flagged follow with the same order.

    Args:
        original: uid to the label published.
        recomputed: uid to the label recomputed with high confidence.
        strata: uid to stratum (a calculator).
        types: uid to the type of output that the benchmark names; the kind of the original label where left out.
        limit: above it two labels differ (`discrepancies`).

    Returns:
        *shape* (n, `COLUMNS`): ``rank`` counts from 1 in each list.
    """
    uids = [uid for uid in original if uid in recomputed]
    ours, theirs = [original[uid] for uid in uids], [recomputed[uid] for uid in uids]
    named = types or {}
    frame = pl.DataFrame(
        {
            "uid": uids,
            "stratum": [(strata or {}).get(uid) for uid in uids],
            "type": [named.get(uid, label.kind.value) for uid, label in zip(uids, ours, strict=True)],
            "original": [label.text() for label in ours],
            "recomputed": [label.text() for label in theirs],
        },
        schema_overrides=dict.fromkeys(("uid", "stratum", "type", "original", "recomputed"), pl.String),
    ).hstack(discrepancies(ours, theirs, limit=limit))
    order = {uid: at for at, uid in enumerate(sorted(uids, key=_natural))}
    dates = pl.col("unit").eq_missing("days")
    ranked = (
        frame.with_columns(
            pl.when(dates).then(pl.lit(LISTS[1])).otherwise(pl.lit(LISTS[0])).alias("list"),
            # A row without a distance stands before every row that has one.
            pl.col("distance").fill_null(float("inf")).alias("apart"),
            (pl.col("flag") != Flag.ABSTAINED.value).alias("later"),
            pl.col("uid").replace_strict(order, return_dtype=pl.Int64).alias("place")
            if uids
            else pl.lit(0, dtype=pl.Int64).alias("place"),
        )
        .sort(pl.col("list") == LISTS[1], "later", "apart", "place", descending=[False, False, True, False])
        .with_columns(pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("list").alias("rank"))
    )
    return ranked.select(COLUMNS)


def _natural(uid: str) -> list[tuple[int, int, str]]:
    """Order uids so that 9 stands before 10 and row9 before row10."""
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", uid) if part]


@dataclass(frozen=True)
class TriageSummary(JsonRecord):
    """Triage over a benchmark (paper 3.2: 887, 220, 66, 286, 24.8%, 7.4%, 27.3%, 85%).

    Attributes:
        of: rows that were to be recomputed, N.
        n: rows compared: those with a high-confidence label.
        abstained, differ, unflagged: rows by flag.
        differ_rate, abstained_rate: of n.
        flagged_rate: of N; the paper's lower bound of mislabelled rows.
        by_type: type of output to rows, differ, abstained.
        by_stratum: stratum to the same, most flags first.
    """

    of: int
    n: int
    deferred: int
    abstained: int
    differ: int
    unflagged: int
    flagged: int
    strata: int
    strata_flagged: int
    high_confidence_rate: float | None
    differ_rate: float | None
    abstained_rate: float | None
    flagged_rate: float | None
    by_type: dict[str, dict[str, int]]
    by_stratum: dict[str, dict[str, int]]


def summarise(table: pl.DataFrame, of: int) -> TriageSummary:
    """Sum up a table of `triage`.

    Args:
        table: as `triage` returns it.
        of: N, the rows that were to be recomputed; never fewer than the table's.
    """
    flags = {flag: table.filter(pl.col("flag") == flag.value).height for flag in Flag}
    flagged = table.filter(pl.col("flag").is_in([flag.value for flag in FLAGGED]))
    n = table.height
    return TriageSummary(
        of=of,
        n=n,
        deferred=of - n,
        abstained=flags[Flag.ABSTAINED],
        differ=flags[Flag.DIFFERS],
        unflagged=flags[Flag.UNFLAGGED],
        flagged=flagged.height,
        strata=table["stratum"].drop_nulls().n_unique(),
        strata_flagged=flagged["stratum"].drop_nulls().n_unique(),
        high_confidence_rate=_share(n, of),
        differ_rate=_share(flags[Flag.DIFFERS], n),
        abstained_rate=_share(flags[Flag.ABSTAINED], n),
        flagged_rate=_share(flagged.height, of),
        by_type=_counts(table.sort("type"), "type"),
        by_stratum=_counts(table, "stratum", by_flags=True),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _counts(table: pl.DataFrame, column: str, *, by_flags: bool = False) -> dict[str, dict[str, int]]:
    counted = (
        table.filter(pl.col(column).is_not_null())
        .group_by(column, maintain_order=True)
        .agg(
            pl.len().alias("n"),
            (pl.col("flag") == Flag.DIFFERS.value).sum().alias("differ"),
            (pl.col("flag") == Flag.ABSTAINED.value).sum().alias("abstained"),
        )
    )
    if by_flags:
        counted = counted.sort(
            pl.col("differ") + pl.col("abstained"), "n", column, descending=[True, False, False], maintain_order=True
        )
    return {
        row[column]: {name: int(row[name]) for name in ("n", "differ", "abstained")}
        for row in counted.iter_rows(named=True)
    }
