"""How the counts move under other readings of the paper (docs/stewardship.md#what-is-assumed).

Other quorums are no readings: `steward audit` and `steward recompute` count stored runs again under other settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import polars as pl

from ground.contracts.labels import LabelValue
from ground.json_record import JsonRecord
from ground.settings import StewardSettings
from stewardship.adjudication.agreement import (
    Estimate,
    Reviewed,
    ValueType,
    agrees,
    review,
    smape,
    smape_bound,
    value_type,
    whole_test,
)
from stewardship.adjudication.discrepancy import FLAGGED, SLACK, Flag, discrepancies, relative_error
from stewardship.adjudication.finalise import POLICIES, finalise
from stewardship.adjudication.standing import Standing
from stewardship.adjudication.triage import TriageSummary
from stewardship.reporting.published import printed
from stewardship.reporting.report import LABELLERS, Report
from stewardship.reporting.wording import count_of

__all__ = ["Variant", "printed_inputs", "variants"]

SEEDS = 20
DATE_LIMITS = (1, 2, 7)
FLAG_LIMITS = (0.01, 0.02, 0.1, 0.2)
ORDINAL_LIMITS = (10, 50)
AGREE_LIMITS = (0.02, 0.1)


@dataclass(frozen=True)
class Variant(JsonRecord):
    """One other reading, and what it comes to.

    Attributes:
        variant: the other reading; ``as set`` is the report's own.
    """

    outcome: str
    variant: str
    value: str


AS_SET = "as set"


def variants(labels: Standing, report: Report, settings: StewardSettings) -> list[Variant]:
    """Return every variant that these labels allow to compute, in the order of the phases."""
    results: list[Variant] = []
    if report.table is not None and report.triage is not None:
        results += _flags(report.table, report.triage.of, settings)
        results += _spellings(labels, report.table, report.triage.of, settings)
    if report.phase3 is not None:
        results += _agreement(labels, report.phase3.rows, settings)
        if report.table is not None and report.triage is not None and report.whole_test:
            results += _estimates(report.phase3.rows, report.table, report.triage, settings)
        results += _policies(labels, settings)
    return results


def printed_inputs(report: Report) -> list[Variant]:
    """Return the test-wide estimates that follow from the sMAPE that the paper prints, for the paper's benchmark."""
    if report.triage is None or report.triage.flagged_rate is None:
        return []
    supposed = {"original": 0.0, "recomputed": smape_bound(report.settings["flag_rel_err"])}
    inputs = []
    for name, bound in supposed.items():
        item = whole_test(printed(f"{name}_smape"), report.triage.flagged_rate, bound)
        value = _mixed(item)
        inputs.append(Variant(f"test-wide sMAPE of the {name} labels", "from the sMAPE that the paper prints", value))
    return inputs


def _flags(table: pl.DataFrame, of: int, settings: StewardSettings) -> Iterator[Variant]:
    outcome = "flagged rows"
    flagged = pl.col("flag").is_in([flag.value for flag in FLAGGED])
    number, day = pl.col("unit").eq_missing("rel_err"), pl.col("unit").eq_missing("days")

    def counted(expression: pl.Expr) -> str:
        return count_of(table.filter(expression).height, of)

    yield Variant(outcome, AS_SET, counted(flagged))
    yield Variant(outcome, "the same, of the compared rows", count_of(table.filter(flagged).height, table.height))
    for limit in FLAG_LIMITS:
        if limit != settings.flag_rel_err and table.filter(number).height:
            moved = pl.when(number).then(pl.col("distance") > limit + SLACK).otherwise(flagged)
            yield Variant(outcome, f"numbers differ above {limit:g}", counted(moved))
    if table.filter(number).height:
        least = pl.when(number).then(pl.col("distance") >= settings.flag_rel_err - SLACK).otherwise(flagged)
        yield Variant(outcome, f"numbers differ from {settings.flag_rel_err:g} on, itself included", counted(least))
    if table.filter(day).height:
        for days in DATE_LIMITS:
            moved = pl.when(day).then(pl.col("distance") > days).otherwise(flagged)
            yield Variant(outcome, f"dates differ above {days} day{'s' if days > 1 else ''}", counted(moved))
    if close := _ordinal_and_close(table, settings):
        reading = f"whole numbers up to {settings.ordinal_limit:g} may be {settings.ordinal_tolerance:g} apart"
        yield Variant(outcome, f"{reading}, as in phase 3", counted(flagged & ~pl.col("uid").is_in(close)))
    kinds = pl.col("distance").is_null() & (pl.col("flag") == Flag.DIFFERS.value)
    if table.filter(kinds).height:
        yield Variant(outcome, "labels of two kinds, number and date, are not flagged", counted(flagged & ~kinds))


def _spellings(labels: Standing, table: pl.DataFrame, of: int, settings: StewardSettings) -> Iterator[Variant]:
    """Lengths of time read as their first number, the weeks."""
    pairs = [(labels.original[uid], labels.recomputed[uid]) for uid in table["uid"]]
    if not any(label.weeks_days for pair in pairs for label in pair):
        return
    weeks = [[_weeks(label) for label in side] for side in zip(*pairs, strict=True)]
    flags = discrepancies(*weeks, limit=settings.flag_rel_err)["flag"]
    counted = count_of(sum(flag in FLAGGED for flag in flags), of)
    yield Variant("flagged rows", "weeks and days are read as their first number", counted)


def _weeks(label: LabelValue) -> LabelValue:
    return LabelValue.of(label.number // 7) if label.weeks_days and label.number is not None else label


def _ordinal_and_close(table: pl.DataFrame, settings: StewardSettings) -> list[str]:
    """Return flagged rows whose labels are ordinal scores that phase 3 would let pass."""
    rows = table.filter(pl.col("unit").eq_missing("rel_err"), pl.col("flag") == Flag.DIFFERS.value)
    numbers = rows.with_columns(pl.col("original", "recomputed").cast(pl.Float64, strict=False)).drop_nulls()
    results = []
    for uid, first, second in numbers.select("uid", "original", "recomputed").iter_rows():
        a, b = LabelValue.of(first), LabelValue.of(second)
        kind = value_type(a, [b], settings)
        if kind is ValueType.ORDINAL and agrees(a, b, kind, settings):
            results.append(uid)
    return results


Judge = Callable[[Reviewed, LabelValue], bool]


def _agreement(labels: Standing, rows: Sequence[Reviewed], settings: StewardSettings) -> Iterator[Variant]:
    def agreed(results: Sequence[Reviewed]) -> str:
        counts = {name: sum(row.agree.get(name, False) for row in results) for name in LABELLERS}
        return " and ".join(f"{counts[name]} of {sum(name in row.agree for row in results)}" for name in LABELLERS)

    def again(**changed: float) -> list[Reviewed]:
        return review(labels.physician, labels.predictions, settings.model_copy(update=changed))

    def judged(judge: Judge) -> list[Reviewed]:
        return [
            replace(row, agree={name: judge(row, label) for name, label in row.predictions.items()}) for row in rows
        ]

    def symmetric(row: Reviewed, label: LabelValue) -> bool:
        first, second = row.physician.number, label.number
        if row.type is ValueType.CONTINUOUS and first is not None and second is not None:
            return float(relative_error(first, second)) <= settings.agree_rel + SLACK
        return agrees(row.physician, label, row.type, settings)

    def pairwise(row: Reviewed, label: LabelValue) -> bool:
        kind = value_type(row.physician, [label], settings) or row.type
        return agrees(row.physician, label, kind, settings)

    def named(row: Reviewed, label: LabelValue) -> bool:
        kind = ValueType.ORDINAL if labels.types.get(row.uid) == "integer" else ValueType.CONTINUOUS
        return agrees(row.physician, label, kind, settings)

    outcome = "original and recomputed labels that agree with the physician"
    yield Variant(outcome, AS_SET, agreed(rows))
    yield Variant(outcome, "share of the larger value, not of the physician's", agreed(judged(symmetric)))
    yield Variant(outcome, "type of a row by each pair of labels alone", agreed(judged(pairwise)))
    if labels.types:
        yield Variant(outcome, "type of a row as the benchmark names it", agreed(judged(named)))
    yield Variant(outcome, "no point of tolerance for ordinal scores", agreed(again(ordinal_tolerance=0)))
    for limit in ORDINAL_LIMITS:
        yield Variant(outcome, f"whole numbers are ordinal up to {limit}", agreed(again(ordinal_limit=limit)))
    for relative in AGREE_LIMITS:
        yield Variant(outcome, f"within {relative:g} of the physician's value", agreed(again(agree_rel=relative)))


def _estimates(
    rows: Sequence[Reviewed], table: pl.DataFrame, summary: TriageSummary, settings: StewardSettings
) -> Iterator[Variant]:
    """Ends of the bootstrap under other seeds, and the test-wide estimate under other suppositions."""
    for name in LABELLERS:
        seeds = range(settings.seed, settings.seed + SEEDS)
        ends = [smape(rows, name, settings.model_copy(update={"seed": seed})) for seed in seeds]
        low, high = ([getattr(item, end) for item in ends] for end in ("low", "high"))
        yield Variant(
            f"95% interval of the {name} labels' sMAPE",
            f"over {SEEDS} seeds of the bootstrap",
            f"[{min(low):.1f} to {max(low):.1f}, {min(high):.1f} to {max(high):.1f}]",
        )
    outcome, limit = "test-wide sMAPE of the recomputed labels", settings.flag_rel_err
    flagged = set(table.filter(pl.col("flag").is_in([flag.value for flag in FLAGGED]))["uid"])
    stand_for = [row for row in rows if row.uid in flagged]
    result = smape(stand_for, "recomputed", settings)
    weight = summary.flagged / summary.of
    for name, bound in (
        (AS_SET, smape_bound(limit)),
        (f"{limit:g} itself as the bound", 100 * limit),
        (f"{limit:g} of the smaller label as the bound", 100 * limit / (1 - limit) if limit < 1 else 200.0),
    ):
        yield Variant(outcome, f"{name} ({bound:.2f}%)", _mixed(whole_test(result, weight, bound)))
    compared = whole_test(result, summary.flagged / summary.n if summary.n else 0.0, smape_bound(limit))
    yield Variant(outcome, "over the compared rows, the deferred ones left out", _mixed(compared))


def _mixed(result: Estimate) -> str:
    """Write a test-wide estimate, its ends with the decimals that tell readings apart."""
    if result.value is None or result.low is None or result.high is None:
        return "-"
    return f"{result.value:.1f}% [{result.low:.2f}, {result.high:.2f}]"


def _policies(labels: Standing, settings: StewardSettings) -> Iterator[Variant]:
    first, second = (
        finalise(labels.settled, labels.physician, policy=policy, settings=settings) for policy in POLICIES
    )
    moved = sum(first[uid].label != second[uid].label for uid in first)
    yield Variant("final labels", f"that the policies {' and '.join(POLICIES)} set apart", f"{moved:,}")
