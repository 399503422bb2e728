"""Which labels of a benchmark are taken: by role, from a recipe of a release, or from a table beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import polars as pl

from ground.contracts.grading import Limits, LimitsRule, limits_corrected, limits_v1, output_type_of
from ground.contracts.labels import LabelValue, parse_label
from ground.errors import InputError, UsageError
from stewardship.adjudication.standing import check_final, disputed, rests_on, reviewers
from stewardship.benchmark.folder import LABELS, Benchmark
from stewardship.benchmark.tables import read_label_table
from stewardship.history.events import RULE, Event, Events, Role
from stewardship.versions.diffs import COLUMNS

__all__ = ["LabelRole", "Recipe", "Rest", "caveats_of", "label_rows", "role_rows", "table_rows"]

LabelRole = Literal["final", "recomputed", "original"]
Rest = Literal["original", "left_out"]
DAYS_A_WEEK = 7


@dataclass(frozen=True)
class Recipe:
    """How labels are chosen.

    Attributes:
        rest: what becomes of rows without such a label: they keep the original one, or are left out.
        limits: the rule of the limits (docs/stewardship.md#limits-and-graders).
    """

    labels: LabelRole = "final"
    rest: Rest = "original"
    limits: LimitsRule = "corrected"


def label_rows(benchmark: Benchmark, recipe: Recipe, events: Events | None = None) -> pl.DataFrame:
    """Return the labels that a recipe takes, with limits.

    Args:
        events: what the history said at some time; all that it says now where left out.

    Returns:
        *shape* (n, 11), columns `stewardship.versions.diffs.COLUMNS`, all text, in the benchmark's order.

    Raises:
        InputError: no row has a label of this role, or a label cannot be read.
        UsageError: final labels are older than their evidence; or the limits of v1.0 go by output type, and the
            benchmark has none.
    """
    events = benchmark.history if events is None else events
    chosen = {uid: event for uid, event in events.latest(recipe.labels).items() if event.value is not None}
    if not chosen:
        raise InputError(
            f"no row has a label of role {recipe.labels}",
            file=benchmark.history.file,
            do="finalise first, or release other labels with --labels" if recipe.labels == "final" else None,
        )
    if recipe.labels == "final":
        check_final(events)
    if recipe.rest == "original":
        chosen = {**events.latest("original"), **chosen}
    # MedCalc-Bench v1.0 asks for weeks and days where its label has them, and its grader goes by that.
    originals = events.labels("original")
    weeks = {uid for uid, label in originals.items() if label.weeks_days}
    rows, unreadable = [], []
    items = benchmark.items
    for item in items.iter_rows(named=True):
        event = chosen.get(item["uid"])
        if event is None:
            continue
        value = benchmark.parse(event.value)
        if not value.answered:
            unreadable.append(item["uid"])
            continue
        days = value.number if recipe.limits == "v1" and item["uid"] in weeks else None
        value = replace(value, weeks_days=days is not None and days >= 0 and days.is_integer())
        rows.append(_row(item, event, value, _limits(value, item.get("output_type"), recipe.limits)))
    if unreadable:
        raise InputError(
            "labels cannot be read",
            file=benchmark.history.file,
            found=f"{len(unreadable):,} rows: {', '.join(unreadable[:5])}",
            expected="a number, a date, a name or N/A",
        )
    return _frame(rows)


def _row(item: Mapping[str, str | None], event: Event, value: LabelValue, limits: Limits) -> dict[str, str | None]:
    asked = "\x1f".join(item.get(name) or "" for name in ("question", "context"))
    return {
        **_of_item(item),
        "label": _text(value),
        "kind": value.kind.value,
        "lower": _text(limits[0]),
        "upper": _text(limits[1]),
        "source": event.role,
        "by": event.by,
        "why": event.why,
        "item": hashlib.sha256(asked.encode()).hexdigest(),
    }


def _limits(value: LabelValue, output_type: str | None, rule: LimitsRule) -> Limits:
    if rule == "corrected":
        return limits_corrected(value)
    try:
        return limits_v1(value, output_type_of(output_type))
    except ValueError:
        raise UsageError(
            "the limits of v1.0 go by output type, and a row has none",
            found=output_type,
            expected="--limits corrected, or a table with an output type",
        ) from None


def _text(value: LabelValue) -> str:
    """Write a label; a length of time that is weeks and days as MedCalc-Bench v1.0 does."""
    if value.weeks_days and value.number is not None:
        weeks, days = divmod(int(value.number), DAYS_A_WEEK)
        return f"('{weeks} weeks', '{days} days')"
    return value.text()


def role_rows(benchmark: Benchmark, role: Role) -> pl.DataFrame:
    """Return the labels of one role, those that cannot be read too, without limits.

    Returns:
        *shape* (n, 11), columns `stewardship.versions.diffs.COLUMNS`, all text, in the benchmark's order.

    Raises:
        InputError: no row has one.
    """
    events = benchmark.history.latest(role)
    values = benchmark.history.labels(role)
    if not values:
        raise InputError(f"no row has a label of role {role}", file=benchmark.history.file)
    rows = [
        {
            **_of_item(item),
            "label": _text(values[uid]) if values[uid].answered else events[uid].value,
            "kind": values[uid].kind.value,
            "source": role,
            "by": events[uid].by,
            "why": events[uid].why,
        }
        for item in benchmark.items.iter_rows(named=True)
        if (uid := item["uid"]) in values
    ]
    return _frame(rows)


def table_rows(file: Path, *, categories: Collection[str] = ()) -> pl.DataFrame:
    """Return the labels of a table beside the benchmark, as corrected labels that others published, with its limits.

    Returns:
        *shape* (n, 11), columns `stewardship.versions.diffs.COLUMNS`, all text, in the table's order.

    Raises:
        InputError: the table cannot be read or has no column of labels.
    """
    table = read_label_table(file)
    column = next((name for name in LABELS if name in table.frame.columns), None)
    if column is None:
        raise InputError("the table has no labels", file=file, found=", ".join(table.frame.columns))
    rows = []
    for item in table.frame.filter(pl.col(column).is_not_null()).iter_rows(named=True):
        value = parse_label(item[column], categories=categories)
        ends = {end: _text(parse_label(item.get(end), categories=categories)) or None for end in ("lower", "upper")}
        label = {"label": _text(value) if value.answered else item[column], "kind": value.kind.value}
        rows.append({**_of_item(item), **label, **ends, "item": None, "source": column, "by": file.name})
    return _frame(rows)


def _of_item(item: Mapping[str, str | None]) -> dict[str, str | None]:
    return {name: item.get(name) for name in ("uid", "stratum", "output_type")}


def _frame(rows: list[dict[str, str | None]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String))


def caveats_of(benchmark: Benchmark, frame: pl.DataFrame, recipe: Recipe) -> list[str]:
    """Return what a reader of these labels must know, from the rows themselves."""
    lines = []
    rows, total = frame.height, benchmark.items.height
    kept = frame.filter(pl.col("source") == "original").height
    if recipe.labels != "original":
        if kept:
            lines.append(
                f"{kept:,} of {rows:,} rows have no {recipe.labels} label (recomputation was deferred or never made) "
                "and keep the original one: it is not confirmed."
            )
        if rows < total:
            lines.append(f"{total - rows:,} of the benchmark's {total:,} rows have no such label and are left out.")
    else:
        lines.append("The labels are as first published: what audit and review found is not applied.")
    # A row whose raters disagree has reviewers' answers and no label of theirs: it is not reviewed.
    labelled = set(benchmark.history.labels("physician")) & set(frame["uid"])
    events = benchmark.history.latest("physician")
    by = sorted({reviewers(events[uid]) for uid in labelled})
    who = f" ({'; '.join(by)})" if by else ""
    lines.append(f"Reviewers labelled {len(labelled):,} of {rows:,} rows{who}; no reviewer confirmed the others.")
    if open_rows := set(disputed(benchmark.history)) & set(frame["uid"]):
        lines.append(
            f"Rows whose raters disagree: {len(open_rows):,}. What they said is in the history, and decides no label."
        )
    ruled = _ruled(benchmark, frame)
    if ruled:
        names = ", ".join(sorted(set(ruled.values())))
        lines.append(f"Rules that rest on other, reviewed rows gave the labels of {len(ruled):,} rows: {names}.")
    abstentions = frame.filter(pl.col("kind") == "na").height
    if abstentions:
        lines.append(
            f"N/A (the score cannot be computed) is the label of {abstentions:,} rows: graders that cannot read an "
            "abstention count every answer to them as wrong."
        )
    if recipe.limits == "corrected" and frame.filter(pl.col("kind") == "number").height:
        lines.append(
            "Limits are 5% about every number: whole numbers below 20 must be met exactly, from 20 on their neighbours "
            "are accepted too."
        )
    elif recipe.limits == "v1":
        lines.append("Limits are those of MedCalc-Bench v1.0: 5% about decimals, the label itself for all else.")
    return lines


def _ruled(benchmark: Benchmark, frame: pl.DataFrame) -> dict[str, str]:
    """Return the rows whose released label a rule gave, and which rule."""
    rests = rests_on(benchmark.history)
    settled, reviewed = rests["recomputed"], rests["physician"]
    return {
        uid: str(settled[uid].evidence.get("rule"))
        for uid, source in frame.select("uid", "source").iter_rows()
        if uid in settled
        and settled[uid].status == RULE
        and (source == "recomputed" or (source == "final" and uid not in reviewed))
    }
