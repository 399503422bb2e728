"""What the three phases found, as one object that the page, the pictures and ``--json`` are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import polars as pl

from ground.settings import StewardSettings
from stewardship.adjudication.agreement import (
    Estimate,
    Reviewed,
    bootstrap_mean,
    mcnemar,
    review,
    smape,
    smape_bound,
    smape_terms,
    whole_test,
    wilson,
)
from stewardship.adjudication.discrepancy import FLAGGED, Flag
from stewardship.adjudication.standing import Standing
from stewardship.adjudication.triage import TriageSummary, summarise, triage
from stewardship.benchmark.folder import Benchmark
from stewardship.history.log import Role
from stewardship.runs.votes import LIKELY_ERROR, AuditSummary
from stewardship.runs.votes import summarise as summarise_audits
from stewardship.sheets.batch import read_batches
from stewardship.sheets.figures import drawn_of

__all__ = ["LABELLERS", "Phase3", "Report", "WholeTest", "build_report"]

LABELLERS = ("original", "recomputed")
"""Whose labels a physician's are compared with."""


@dataclass(frozen=True)
class Phase3:
    """How the labels fare on the rows that a physician labelled (paper 3.3).

    Attributes:
        by_flag: flag of triage to the rows reviewed, and all rows with it; ``none``: no recomputed label.
        types: type of value to rows.
        agreement: labeller to the share of rows on which it agrees, with the Wilson interval.
        agreement_by_flag: labeller to flag to the same.
        smape: labeller to its sMAPE in percent, over the rows where both labels are numbers.
        smape_common: the same on the rows where all labellers and the physician name numbers.
        only: labeller to rows on which it alone agrees.
        both, neither: rows on which both agree, or none.
        gain: agreement of the recomputed labels less that of the original ones, row by row, with the percentile
            bootstrap interval.
        p_value: exact McNemar test that both agree equally often; None without rows on which they differ.
        right_nonetheless: of the reviewed rows that triage flagged, those on which the original label agrees.
        distances: median relative error of the reviewed flagged rows, and of the flagged rows not reviewed.
        drawn: how rows were drawn (`stewardship.sheets.batch.Batch`) to rows; ``published``: they came with a table.
        several: rows whose label several physicians settled.
        waiting: rows without a label yet, whose raters disagree or have not all answered; no part of ``rows``.
    """

    rows: Sequence[Reviewed]
    by_flag: dict[str, dict[str, int]]
    types: dict[str, int]
    agreement: dict[str, Estimate]
    agreement_by_flag: dict[str, dict[str, Estimate]]
    smape: dict[str, Estimate]
    smape_common: dict[str, Estimate]
    only: dict[str, int]
    both: int
    neither: int
    gain: Estimate
    p_value: float | None
    right_nonetheless: Estimate
    distances: tuple[float | None, float | None]
    drawn: dict[str, int]
    several: int
    waiting: int


@dataclass(frozen=True)
class WholeTest:
    """sMAPE over the whole benchmark under one set of suppositions (paper, appendix C).

    Attributes:
        weight: share of the rows that the reviewed ones stand for.
        unflagged: labeller to the sMAPE supposed on the others.
        estimates: labeller to its sMAPE in percent.
    """

    name: str
    weight: float
    unflagged: dict[str, float]
    estimates: dict[str, Estimate]


@dataclass(frozen=True)
class Report:
    """Everything that the report says; a phase that was not run is None.

    Attributes:
        settings: the numbers that decide something here.
        sources: role of labels to who or what said them, those who said most first.
        audits: phase 1.
        failure_modes: failure mode that auditors name to flagged rows where a run names it.
        table: rows by `stewardship.adjudication.triage.triage`.
        triage: phase 2 and its comparison with the original labels.
        abstentions: recomputed labels that say that there is no answer.
        pairs: original label to recomputed label to rows, where labels are names.
        phase3: phase 3.
        whole_test: the paper's test-wide estimate first, then others of the same reviewed rows.
        final: whose labels the final ones are (recomputed, rule, physician) to rows; empty before ``finalise``.
        wrong_originals: share of all rows whose original label is wrong, if the reviewed flagged rows stand for all
            flagged ones and no other label is wrong; percent.
    """

    benchmark: str
    rows: int
    settings: dict[str, Any]
    sources: dict[str, list[str]] = field(default_factory=dict)
    audits: AuditSummary | None = None
    failure_modes: dict[str, int] = field(default_factory=dict)
    table: pl.DataFrame | None = None
    triage: TriageSummary | None = None
    abstentions: int = 0
    pairs: dict[str, dict[str, int]] = field(default_factory=dict)
    phase3: Phase3 | None = None
    whole_test: tuple[WholeTest, ...] = ()
    final: dict[str, int] = field(default_factory=dict)
    wrong_originals: Estimate | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON holds it, without single rows."""
        results = {
            name: getattr(self, name) for name in ("benchmark", "rows", "settings", "sources", "failure_modes", "final")
        }
        results["phase1"] = asdict(self.audits) if self.audits else None
        results["phase2"] = _phase2_dict(self.triage, self) if self.triage else None
        results["phase3"] = _phase3_dict(self.phase3) if self.phase3 else None
        results["whole_test"] = [asdict(item) for item in self.whole_test]
        results["wrong_originals"] = asdict(self.wrong_originals) if self.wrong_originals else None
        return results


def _phase2_dict(summary: TriageSummary, report: Report) -> dict[str, Any]:
    return {**summary.as_dict(), "abstentions": report.abstentions, "pairs": report.pairs}


def _phase3_dict(phase3: Phase3) -> dict[str, Any]:
    # Not asdict on the whole: it would write out every row.
    results = {name: getattr(phase3, name) for name in Phase3.__dataclass_fields__ if name != "rows"}
    results["reviewed"] = len(phase3.rows)
    return {name: _as_json(value) for name, value in results.items()}


def _as_json(value: Any) -> Any:
    if isinstance(value, Estimate):
        return asdict(value)
    return {key: _as_json(item) for key, item in value.items()} if isinstance(value, dict) else value


def build_report(benchmark: Benchmark, labels: Standing, settings: StewardSettings) -> Report:
    """Work out the report of a benchmark from the labels that stand in its history."""
    names = ("seed", "resamples", "flag_rel_err", "agree_rel", "ordinal_tolerance", "ordinal_limit", "audit_quorum")
    base = Report(benchmark.name, benchmark.items.height, {name: getattr(settings, name) for name in names})
    results: dict[str, Any] = dict(vars(base))
    results["sources"] = _sources(benchmark)
    held = [event for event in benchmark.history.latest("final").values() if event.value is not None]
    results["final"] = dict(Counter(str(event.evidence.get("from", event.by)) for event in held).most_common())
    if labels.audits:
        results["audits"] = summarise_audits(labels.audits, labels.strata)
        results["failure_modes"] = _failure_modes(benchmark)
    if labels.original and labels.recomputed:
        table = triage(
            labels.original, labels.recomputed, strata=labels.strata, types=labels.types, limit=settings.flag_rel_err
        )
        summary = summarise(table, labels.attempted)
        results |= {"table": table, "triage": summary, "pairs": _pairs(benchmark, table)}
        results["abstentions"] = sum(label.kind.value == "na" for label in labels.recomputed.values())
        if rows := review(labels.physician, labels.predictions, settings):
            phase3 = _phase3(benchmark, rows, table, summary, settings)
            results["phase3"] = phase3
            results["whole_test"] = _whole_tests(phase3, table, summary, settings)
            results["wrong_originals"] = _wrong_originals(phase3, summary)
    return Report(**results)


def _sources(benchmark: Benchmark) -> dict[str, list[str]]:
    roles: tuple[Role, ...] = ("original", "audit", "recomputed", "physician")
    events = {role: benchmark.history.latest(role).values() for role in roles}
    return {
        role: [name for name, _ in Counter(event.by for event in own).most_common()]
        for role, own in events.items()
        if own
    }


def _pairs(benchmark: Benchmark, table: pl.DataFrame) -> dict[str, dict[str, int]]:
    if not benchmark.categories:
        return {}
    pairs = Counter(zip(table["original"], table["recomputed"], strict=True))
    names = sorted({name for pair in pairs for name in pair})
    return {
        item: {other: pairs[item, other] for other in names} for item in names if any(pairs[item, x] for x in names)
    }


def _failure_modes(benchmark: Benchmark) -> dict[str, int]:
    counted: Counter[str] = Counter()
    for event in benchmark.history.latest("audit").values():
        modes = event.evidence.get("failure_modes")
        if event.status == LIKELY_ERROR and isinstance(modes, list):
            counted.update(modes)
    return dict(counted.most_common())


def _phase3(
    benchmark: Benchmark,
    rows: Sequence[Reviewed],
    table: pl.DataFrame,
    summary: TriageSummary,
    settings: StewardSettings,
) -> Phase3:
    history = benchmark.history
    drawn = drawn_of(history, read_batches(benchmark.folder))
    events = history.latest("physician")
    raters = [events[row.uid].evidence.get("raters") for row in rows]
    flags = dict(zip(table["uid"], table["flag"], strict=True))
    common = [row for row in rows if row.physician.number is not None and _all_numbers(row)]
    pairs = [row for row in rows if all(name in row.agree for name in LABELLERS)]
    outcomes = Counter((row.agree["original"], row.agree["recomputed"]) for row in pairs)
    only = {"original": outcomes[True, False], "recomputed": outcomes[False, True]}
    flagged = [row for row in rows if flags.get(row.uid) in FLAGGED and "original" in row.agree]
    steps = [float(row.agree["recomputed"]) - float(row.agree["original"]) for row in pairs]
    return Phase3(
        rows=rows,
        by_flag={
            flag: {"reviewed": sum(flags.get(row.uid, "none") == flag for row in rows), "rows": total}
            for flag, total in (
                (Flag.ABSTAINED.value, summary.abstained),
                (Flag.DIFFERS.value, summary.differ),
                (Flag.UNFLAGGED.value, summary.unflagged),
                ("none", summary.deferred),
            )
        },
        types=dict(Counter(row.type.value for row in rows).most_common()),
        agreement={name: _agreement(rows, name) for name in LABELLERS},
        agreement_by_flag={
            name: {
                flag: _agreement([row for row in rows if flags.get(row.uid) == flag], name)
                for flag in map(str, Flag)
                if any(flags.get(row.uid) == flag for row in rows)
            }
            for name in LABELLERS
        },
        smape={name: smape(rows, name, settings) for name in LABELLERS},
        smape_common={name: smape(common, name, settings) for name in LABELLERS},
        only=only,
        both=outcomes[True, True],
        neither=outcomes[False, False],
        gain=bootstrap_mean(steps, "gain", settings),
        p_value=mcnemar(only["recomputed"], only["original"]),
        right_nonetheless=_agreement(flagged, "original"),
        distances=_distances(table, {row.uid for row in rows}),
        drawn=dict(Counter(drawn[row.uid] for row in rows).most_common()),
        several=sum(isinstance(names, list) and len(names) > 1 for names in raters),
        waiting=sum(event.value is None for event in events.values()),
    )


def _all_numbers(row: Reviewed) -> bool:
    return all(name in row.predictions and row.predictions[name].number is not None for name in LABELLERS)


def _agreement(rows: Sequence[Reviewed], labeller: str) -> Estimate:
    own = [row.agree[labeller] for row in rows if labeller in row.agree]
    return wilson(sum(own), len(own))


def _distances(table: pl.DataFrame, reviewed: set[str]) -> tuple[float | None, float | None]:
    numbers = table.filter(pl.col("flag") == Flag.DIFFERS.value, pl.col("unit").eq_missing("rel_err"))
    inside = pl.col("uid").is_in(list(reviewed))
    return _median(numbers.filter(inside)), _median(numbers.filter(~inside))


def _median(table: pl.DataFrame) -> float | None:
    return float(np.median(table["distance"].to_numpy())) if table.height else None


def _whole_tests(
    phase3: Phase3, table: pl.DataFrame, summary: TriageSummary, settings: StewardSettings
) -> tuple[WholeTest, ...]:
    if not summary.of or any(phase3.smape[name].value is None for name in LABELLERS):
        return ()
    flags = dict(zip(table["uid"], table["flag"], strict=True))
    flagged = [row for row in phase3.rows if flags.get(row.uid) in FLAGGED]
    common = [row for row in flagged if row.physician.number is not None and _all_numbers(row)]
    whole, paired = ({name: smape(rows, name, settings) for name in LABELLERS} for rows in (flagged, common))
    bound = smape_bound(settings.flag_rel_err)
    numbers = _numeric(table)
    calm = numbers.filter(pl.col("flag") == Flag.UNFLAGGED.value)
    seen = float(smape_terms(calm["first"].to_numpy(), calm["second"].to_numpy()).mean()) if calm.height else 0.0
    numeric_weight = 1 - calm.height / numbers.height if numbers.height else 0.0
    weight = summary.flagged / summary.of
    return (
        _mixture("as in the paper: flagged over all rows, bound on the others", weight, whole, bound),
        _mixture("the labels' own distance instead of the bound", weight, whole, seen),
        _mixture("rows where both labels are numbers, bound", numeric_weight, paired, bound),
        _mixture("rows where both labels are numbers, own distance", numeric_weight, paired, seen),
    )


def _mixture(name: str, weight: float, flagged: Mapping[str, Estimate], unflagged: float) -> WholeTest:
    supposed = {"original": 0.0, "recomputed": unflagged}
    estimates = {item: whole_test(flagged[item], weight, supposed[item]) for item in LABELLERS}
    return WholeTest(name, weight, supposed, estimates)


def _numeric(table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows whose two labels are numbers, as ``first`` and ``second``."""
    return (
        table.filter(pl.col("unit").eq_missing("rel_err"))
        .with_columns(
            pl.col("original").cast(pl.Float64, strict=False).alias("first"),
            pl.col("recomputed").cast(pl.Float64, strict=False).alias("second"),
        )
        .drop_nulls(["first", "second"])
    )


def _wrong_originals(phase3: Phase3, summary: TriageSummary) -> Estimate | None:
    right = phase3.right_nonetheless
    if right.value is None or right.low is None or right.high is None or summary.flagged_rate is None:
        return None
    value, low, high = (100 * summary.flagged_rate * (1 - share) for share in (right.value, right.high, right.low))
    return Estimate(value, low, high, right.n)
