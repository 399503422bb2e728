"""What a reader of the report must know before quoting its numbers: sentences with this benchmark's own counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from ground.settings import StewardSettings
from stewardship.adjudication.agreement import ValueType, review
from stewardship.adjudication.discrepancy import Flag
from stewardship.adjudication.estimates import smape_bound
from stewardship.adjudication.standing import Standing
from stewardship.adjudication.triage import TriageSummary
from stewardship.reporting.report import Phase3, Report
from stewardship.reporting.wording import estimate, share

__all__ = ["Caveat", "caveats"]


DRAWN = {
    "published": "came with a table that does not say how they were drawn",
    "sampled": "were drawn at random from the flagged rows, as far as an expert for them was there",
    "top": "are those at the top of the ranked list, which are no random draw",
    "any": "were drawn at random from all rows, as far as an expert for them was there",
    "balanced": "were drawn in equal numbers by label, so that no share over all of them is one of the benchmark",
}
"""How rows were drawn (`stewardship.sheets.batch.Batch`), as the rest of a sentence about them."""
PAPERS = "were drawn from the ranked list, by the physicians' fields, not at random"


@dataclass(frozen=True)
class Caveat:
    """One thing to know.

    Attributes:
        about: what it is about, in a few words.
        text: in full.
    """

    about: str
    text: str


def caveats(report: Report, labels: Standing, *, paper: bool = False) -> list[Caveat]:
    """Return the caveats that hold for this report; those of a phase that was not run are left out.

    Args:
        report: the report.
        labels: what it was made of.
        paper: the physicians' labels are those of the paper, of which the paper says how they came about.
    """
    found: list[Caveat] = []
    if labels.outdated:
        found.append(_outdated(labels))
    if report.audits is not None:
        found.append(_audit(report))
    if report.triage is not None and report.table is not None:
        found += _series(report)
        found += _triage(report.table, report.triage, report)
        if report.phase3 is not None:
            found += _sampling(report.phase3, report.table, report.triage, paper=paper)
            found += _agreement(report.phase3, labels, report, paper=paper)
            found += _left(report.phase3, report.triage)
            found += _smape(report.phase3, report.table, report.triage)
            found += _whole_test(report, report.table, report.triage)
    return found


def _outdated(labels: Standing) -> Caveat:
    return Caveat(
        "final labels",
        f"The final labels of {len(labels.outdated):,} rows are older than what they rest on: runs, a rule or a "
        "physician said something since. `ontoground steward finalise` brings them up to date.",
    )


def _audit(report: Report) -> Caveat:
    n = report.audits.n if report.audits else 0
    return Caveat(
        "audit",
        f"The audit judged {n:,} labels; its verdict is no physician's. Its runs share one auditor and one set of "
        "instructions, so that an error that all of them make is not outvoted. A rate close to that of triage shows "
        "that two ways of asking agree, not that either is right.",
    )


def _series(report: Report) -> Iterator[Caveat]:
    for role, said in (("audit", "verdicts"), ("recomputed", "recomputed labels")):
        series = [name for name in report.sources.get(role, ()) if not name.startswith("rule ")]
        if len(series) > 1:
            yield Caveat(
                f"{said} of several series",
                f"The {said} come from {len(series)} series of runs or tables ({', '.join(series)}): each row has what "
                "the last one that was about it said. The counts put them together.",
            )


def _triage(table: pl.DataFrame, found: TriageSummary, report: Report) -> Iterator[Caveat]:
    yield Caveat(
        "denominators",
        f"The rates of rows that differ and that abstain are of the {found.n:,} rows with a recomputed label; the rate "
        f"of flagged rows is of all {found.of:,}. Of the compared rows {share(found.flagged, found.n)} are flagged.",
    )
    if found.deferred:
        yield Caveat(
            "deferred rows",
            f"{found.deferred:,} rows have no high-confidence label. They are counted as not flagged, though nothing "
            f"is known of them: {found.unflagged:,} rows were compared and found alike, not "
            f"{found.of - found.flagged:,}.",
        )
    wrong, phase3 = report.wrong_originals, report.phase3
    text = (
        f"A flag says that two labels differ, not which of them is wrong: {share(found.flagged, found.of)} flagged is "
        "no lower bound of wrong original labels."
    )
    if wrong is not None and phase3 is not None:
        right = phase3.right_nonetheless
        count = round((right.value or 0) * right.n)
        text += (
            f" Of the {right.n} flagged rows that were reviewed, the original label agrees with the physician on "
            f"{count}. If they stood for all flagged rows, {estimate(wrong, 1, 1)} of all labels would be wrong and "
            "flagged; wrong labels on rows without a flag come on top, and no such row was reviewed."
            if not phase3.by_flag[Flag.UNFLAGGED.value]["reviewed"]
            else f" Of the {right.n} flagged rows that were reviewed, the original label agrees on {count}."
        )
    yield Caveat("flags are not errors", text)
    days = table.filter(pl.col("unit").eq_missing("days"))
    if days.height:
        differ = days.filter(flag=Flag.DIFFERS.value)
        near = differ.filter(pl.col("distance") <= 1).height
        yield Caveat(
            "dates",
            f"{differ.height} of {days.height} dates are flagged, since one day is enough "
            f"({near} of them are one day apart). Their distance is in days: they stand in a list of their own and "
            "have no part in relative errors and sMAPE.",
        )


def _sampling(found: Phase3, table: pl.DataFrame, summary: TriageSummary, *, paper: bool) -> Iterator[Caveat]:
    parts = [
        f"{counts['reviewed']} of {counts['rows']} {names}"
        for names, counts in zip(
            ("abstained", "differing", "unflagged", "deferred"), found.by_flag.values(), strict=True
        )
        if counts["rows"]
    ]
    ways = {**DRAWN, "published": PAPERS if paper else DRAWN["published"]}
    drawn = "; ".join(
        (f"{count} " if len(found.drawn) > 1 else "") + ways.get(how, how) for how, count in found.drawn.items()
    )
    text = (
        f"The {len(found.rows)} reviewed rows ({', '.join(parts)}) {'came about so: ' if len(found.drawn) > 1 else ''}"
        f"{drawn}. Intervals describe the chance of a random draw of this size from all rows that they are to stand "
        "for; what the choice of rows does is in none of them."
    )
    if len(found.drawn) > 1:
        text += " These shares put all of them together; `steward read` reports each way of drawing apart."
    uids = {row.uid for row in found.rows}
    flagged = table.filter(pl.col("flag") != Flag.UNFLAGGED.value)
    missed = flagged.filter(pl.col("unit").eq_missing("days")).height
    if missed and not table.filter(pl.col("unit").eq_missing("days"), pl.col("uid").is_in(list(uids))).height:
        text += f" None of the {missed} flagged dates is among them."
    inside, outside = found.distances
    if inside is not None and outside is not None:
        text += (
            f" Their labels lie further apart than those of the other flagged rows: the median relative error is "
            f"{inside:.2f} against {outside:.2f}."
            if inside > outside
            else f" The median relative error is {inside:.2f}, of the other flagged rows {outside:.2f}."
        )
    reviewed = flagged.filter(pl.col("uid").is_in(list(uids)))["stratum"].drop_nulls().n_unique()
    if summary.strata_flagged:
        text += f" They are of {reviewed} of the {summary.strata_flagged} strata that have a flag."
    yield Caveat("how rows were chosen", text)
    if found.waiting:
        yield Caveat(
            "rows that wait",
            f"{found.waiting} further rows have no physician's label yet: their raters disagree or have not all "
            "answered. They count as not reviewed, and they are the hard ones.",
        )


def _agreement(found: Phase3, labels: Standing, report: Report, *, paper: bool) -> Iterator[Caveat]:
    p_value = "" if found.p_value is None else f"; exact McNemar test: p = {found.p_value:.2g}"
    yield Caveat(
        "two labels of the same rows",
        "Both kinds of labels are judged on the same rows, so their two intervals are not to be compared with one "
        f"another. Row by row: recomputed alone agrees on {found.only['recomputed']}, original alone on "
        f"{found.only['original']}, both on {found.both}, neither on {found.neither}; difference "
        f"{estimate(found.gain, 100, 0, ' points')}{p_value}.",
    )
    exact = StewardSettings(**{**report.settings, "ordinal_tolerance": 0})
    strict = review(labels.physician, labels.predictions, exact)
    if found.types.get(ValueType.ORDINAL.value) and report.settings["ordinal_tolerance"] > 0:
        counts = {name: sum(row.agree.get(name, False) for row in strict) for name in ("original", "recomputed")}
        yield Caveat(
            "one point of tolerance",
            "Agreement forgives a point on ordinal scores, triage does not: rows are flagged that phase 3 would call "
            f"agreement. Without that point the original labels agree on {counts['original']} rows and the recomputed "
            f"ones on {counts['recomputed']}.",
        )
    if len(found.rows) > found.several:
        yield Caveat(
            "one physician a row",
            f"{len(found.rows) - found.several} of {len(found.rows)} rows have one physician's label, taken as the "
            "truth. How far physicians differ among themselves is in no number of this page; `steward read` reports "
            "it where several labelled the same rows."
            + (
                " The paper says that its physicians did not see the two labels in most rows, not in all."
                if paper
                else ""
            ),
        )


def _left(found: Phase3, summary: TriageSummary) -> Iterator[Caveat]:
    """What is still wrong after the reviewed rows were put right."""
    counts = {flag: found.by_flag[flag] for flag in (Flag.ABSTAINED.value, Flag.DIFFERS.value)}
    open_rows = summary.flagged - sum(one["reviewed"] for one in counts.values())
    shares = {flag: found.agreement_by_flag["recomputed"].get(flag) for flag in counts}
    if not open_rows or any(share is None or share.value is None for share in shares.values()):
        return
    wrong = sum(
        (one["rows"] - one["reviewed"]) * (1 - (share.value or 0))
        for one, share in zip(counts.values(), shares.values(), strict=True)
        if share is not None
    )
    yield Caveat(
        "what review leaves",
        f"{open_rows} flagged rows keep a recomputed label that nobody reviewed. At the reviewed rows' rate, by flag, "
        f"some {wrong:.0f} of them would not be the physician's.",
    )


def _smape(found: Phase3, table: pl.DataFrame, summary: TriageSummary) -> Iterator[Caveat]:
    ours, theirs = found.smape["original"], found.smape["recomputed"]
    if ours.value is None or theirs.value is None:
        return
    common = found.smape_common["original"]
    abstained = found.types.get(ValueType.NA.value, 0)
    numeric = table.filter(pl.col("unit").eq_missing("rel_err"), flag=Flag.DIFFERS.value).height
    text = (
        f"sMAPE is over rows where physician and label name numbers: {ours.n} rows for the original labels, "
        f"{theirs.n} for the recomputed ones. {abstained} rows where the physician says that there is no answer are "
        "left out, so that a number named where none exists costs nothing."
    )
    if common.n and common.n != ours.n:
        text += f" On the {common.n} rows that both have, the original labels' sMAPE is {estimate(common, 1, 1)}."
    text += (
        f" What it stands for is the {numeric} flagged rows with two numbers, not all {summary.flagged} flagged ones."
    )
    yield Caveat("rows without a number", text)
    yield Caveat(
        "few rows, long tail",
        f"The bootstrap resamples the {ours.n} and {theirs.n} rows that are there. For so few and so skewed values its "
        "ends move from seed to seed (see the table of other readings), and percentile intervals are known to cover "
        "less than 95%."
        + (
            " An interval without width says that all its rows have one value, not that the number is certain."
            if ours.low == ours.high or theirs.low == theirs.high
            else ""
        ),
    )


def _whole_test(report: Report, table: pl.DataFrame, summary: TriageSummary) -> Iterator[Caveat]:
    if not report.whole_test:
        return
    calm = table.filter(flag=Flag.UNFLAGGED.value)
    numeric = calm.filter(pl.col("unit").eq_missing("rel_err"), pl.col("original") != "N/A").height
    bound = smape_bound(report.settings["flag_rel_err"])
    others = [f"{calm.height - numeric:,} unflagged rows of dates or abstentions"] if calm.height > numeric else []
    others += [f"the {summary.deferred:,} deferred rows"] if summary.deferred else []
    seen = report.whole_test[1].unflagged["recomputed"]
    text = (
        f"The {bound:.3f}% bound holds for the {numeric:,} rows with two numbers and no flag alone"
        + (f"; not for {' and '.join(others)}" if others else "")
        + ". "
    )
    if summary.deferred:
        text += (
            f"The estimate nevertheless takes it for all {summary.of - summary.flagged:,} rows without a flag: "
            "a deferred row is not unflagged by construction, it has no recomputed label to compare. "
        )
    text += f"The two labels of those {numeric:,} rows are in fact {seen:.2f}% apart on average."
    yield Caveat("whom the bound holds for", text)
    yield Caveat(
        "test-wide interval",
        "It scales the interval of the reviewed rows and holds everything else fixed; it supposes that the original "
        "label is right wherever no flag is, which favours the original labels, and that the reviewed rows stand for "
        "every flagged one, which rows chosen for large differences need not do.",
    )
