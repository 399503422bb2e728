"""What is different between two tables of labels: releases, roles of a history, or files.

Each row has one change, the gravest: a row that came or went, a row that asks for something else, another label, other
limits, another spelling. The gravest change of all decides which part of a release's version counts up.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import polars as pl

from ground.contracts.labels import LabelKind, LabelValue, parse_label
from stewardship.adjudication.discrepancy import Flag, discrepancies

__all__ = ["COLUMNS", "DIFF_COLUMNS", "Diff", "Grade", "compare"]

Grade = Literal["major", "minor", "patch"]

COLUMNS = (
    "uid",
    "stratum",
    "output_type",
    "label",  # as text, `LabelValue.text`
    "kind",
    "lower",
    "upper",
    "source",  # the role whose label it is
    "by",
    "why",
    "item",  # SHA-256 of question and context
)
"""Columns, all of text, of a table of labels that can be compared; null where a side does not know."""

DIFF_COLUMNS = ("uid", "stratum", "change", "before", "after", "distance", "unit", "flag", "source", "by", "why")
ADDED, REMOVED = "row added", "row removed"
MEANING, LIMITS, SPELLING = "question or type", "limits", "spelling"
NEAR = 1e-12
NAMES = {
    LabelKind.NUMBER: "number",
    LabelKind.DATE: "date",
    LabelKind.CATEGORY: "name",
    LabelKind.ABSTENTION: "N/A",
    LabelKind.UNPARSEABLE: "unreadable",
    LabelKind.MISSING: "missing",
}


@dataclass(frozen=True)
class Diff:
    """The differences between two tables of labels.

    Attributes:
        frame: *shape* (changes, 11), columns `DIFF_COLUMNS`: rows that changed, in the order of the second table, then
            those that are gone. ``distance`` is the relative error of two numbers or the days between two dates;
            ``source``, ``by`` and ``why`` are of the label that came.
        limit: the relative error above which two labels differ.
    """

    frame: pl.DataFrame
    before: int
    after: int
    limit: float

    @property
    def grade(self) -> Grade | None:
        """The part of a version that the gravest change counts up; None where no row changed."""
        changes = set(self.frame["change"])
        if changes & {ADDED, REMOVED, MEANING}:
            return "major"
        if changes - {LIMITS, SPELLING}:
            return "minor"
        return "patch" if changes else None

    def counts(self) -> dict[str, int]:
        """Return how many rows each change has, most first."""
        counts = self.frame.group_by("change").len().sort(["len", "change"], descending=[True, False])
        return {change: int(count) for change, count in zip(counts["change"], counts["len"], strict=True)}

    def by_stratum(self) -> pl.DataFrame:
        """Return how many rows of each stratum changed, those with most labels that are far off first.

        Returns:
            *shape* (strata, 7): ``stratum``, rows with another ``label``, of these those that ``differ`` (above the
            limit, or of another kind) and those where one of both is N/A (``abstained``), rows with other ``limits`` or
            another spelling alone, and rows ``added`` and ``removed``.
        """
        change, flag = pl.col("change"), pl.col("flag")
        counts = self.frame.group_by("stratum").agg(
            label=_is_value(change).sum(),
            differ=(flag == Flag.DIFFERS.value).sum(),
            abstained=(flag == Flag.ABSTAINED.value).sum(),
            limits=change.is_in([LIMITS, SPELLING]).sum(),
            added=(change == ADDED).sum(),
            removed=(change == REMOVED).sum(),
        )
        far = pl.col("differ") + pl.col("abstained")
        return counts.sort(
            far, "label", "removed", "added", "limits", "stratum", descending=[*[True] * 5, False]
        ).with_columns(pl.selectors.unsigned_integer().cast(pl.Int64))

    def by_why(self) -> pl.DataFrame:
        """Return how many labels changed how, by the reason of the label that came, most first.

        Returns:
            *shape* (n, 3): ``change``, ``why``, ``rows``.
        """
        labels = self.frame.filter(_is_value(pl.col("change")))
        counts = labels.group_by("change", "why").len("rows")
        return counts.sort(["rows", "change", "why"], descending=[True, False, False], nulls_last=True)

    def words(self) -> list[str]:
        """Return the differences in sentences."""
        counts = self.counts()
        removed, added = counts.pop(REMOVED, 0), counts.pop(ADDED, 0)
        both = self.before - removed
        moved = f"{added:,} added, {removed:,} removed" if added or removed else "the same"
        lines = [f"{_rows(self.before)} before, {self.after:,} after: {moved}."]
        values = {change: n for change, n in counts.items() if change not in (MEANING, LIMITS, SPELLING)}
        asked, stay = counts.get(MEANING, 0), both - sum(values.values()) - counts.get(MEANING, 0)
        lines.append(f"{_rows(stay)} of the {both:,} in both tables {_keep(stay)}.")
        lines += [f"{_rows(n)}: {_change_in_words(change)}{self._far(change)}." for change, n in values.items()]
        if asked:
            lines.append(f"{_rows(asked)}: the question, the context, or the type of the answer is another one.")
        if n := counts.get(LIMITS, 0):
            lines.append(f"{_rows(n)}: the same label, other limits.")
        if n := counts.get(SPELLING, 0):
            lines.append(f"{_rows(n)}: the same label, spelled otherwise.")
        return lines

    def _far(self, change: str) -> str:
        """Say how far apart the labels of a change are."""
        rows = self.frame.filter((pl.col("change") == change) & pl.col("distance").is_not_null())
        if not rows.height or change == f"{NAMES[LabelKind.CATEGORY]} to {NAMES[LabelKind.CATEGORY]}":
            return ""
        if rows["unit"][0] == "days":
            days = statistics.median(rows["distance"])
            return f", {days:,.0f} days apart in the median"
        far = rows.filter(pl.col("flag") == Flag.DIFFERS).height
        return f", {far:,} of them by more than {100 * self.limit:g}%"


def compare(
    before: pl.DataFrame, after: pl.DataFrame, *, categories: Collection[str] = (), limit: float = 0.05
) -> Diff:
    """Compare two tables of labels.

    Args:
        before: *shape* (n, 11), columns `COLUMNS`, one row a uid.
        after: *shape* (m, 11), the same.
        limit: relative error above which numbers differ (docs/stewardship.md#triage); dates differ from one day on.
    """
    both = after.join(before, on="uid", how="left", suffix="_before", maintain_order="left")
    known = both["uid"].is_in(before["uid"].implode())
    gone = before.join(after.select("uid"), on="uid", how="anti", maintain_order="left")
    pairs = [
        (parse_label(item, categories=categories), parse_label(other, categories=categories))
        for item, other in zip(both["label_before"], both["label"], strict=True)
    ]
    apart = discrepancies([pair for pair, _ in pairs], [other for _, other in pairs], limit=limit)
    values = pl.Series([_value_change(pair, other) for pair, other in pairs], dtype=pl.String)
    changes = both.select(
        pl.when(~known)
        .then(pl.lit(ADDED))
        .when(_other("output_type") | _other("item"))
        .then(pl.lit(MEANING))
        .when(values.is_not_null())
        .then(values)
        .when(_moved("lower") | _moved("upper"))
        .then(pl.lit(LIMITS))
        .when(pl.col("label") != pl.col("label_before"))
        .then(pl.lit(SPELLING))
        .alias("change")
    )
    table = both.select(
        "uid", "stratum", changes["change"], pl.col("label_before").alias("before"), pl.col("label").alias("after"),
        "source", "by", "why",
    ).with_columns(apart["distance", "unit", "flag"])  # fmt: skip
    table = table.with_columns(pl.when(_is_value(pl.col("change"))).then(pl.col("distance", "unit", "flag")))
    lost = gone.select("uid", "stratum", pl.lit(REMOVED).alias("change"), pl.col("label").alias("before"))
    changed = pl.concat([table.filter(pl.col("change").is_not_null()), lost], how="diagonal")
    return Diff(changed.select(DIFF_COLUMNS), before.height, after.height, limit)


def _is_value(change: pl.Expr) -> pl.Expr:
    """Say whether a change is one of the label's value."""
    return change.str.contains(" to ", literal=True).fill_null(False)


def _other(column: str) -> pl.Expr:
    """Say whether both sides know something and it is another thing."""
    return (pl.col(column) != pl.col(f"{column}_before")).fill_null(False)


def _moved(column: str) -> pl.Expr:
    """Say whether a limit is another one; two ways to multiply that differ in the last digit are none."""
    item, other = (pl.col(name).cast(pl.Float64, strict=False) for name in (column, f"{column}_before"))
    near = (item - other).abs() <= NEAR * pl.max_horizontal(item.abs(), other.abs())
    return _other(column) & ~near.fill_null(False)


def _value_change(before: LabelValue, after: LabelValue) -> str | None:
    return None if before == after else f"{NAMES[before.kind]} to {NAMES[after.kind]}"


def _change_in_words(change: str) -> str:
    before, _, after = change.partition(" to ")
    if before == after:
        return f"another {before}"
    return f"{after} instead of a {before}" if before != NAMES[LabelKind.ABSTENTION] else f"a {after} instead of N/A"


def _rows(count: int) -> str:
    return f"{count:,} row" if count == 1 else f"{count:,} rows"


def _keep(count: int) -> str:
    return "keeps its label" if count == 1 else "keep their label"
