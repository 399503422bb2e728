"""What a reader must know before quoting a report: ``templates/caveats.txt`` with this benchmark's counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from ground.settings import StewardSettings
from stewardship.adjudication.agreement import ValueType, review, smape_bound
from stewardship.adjudication.discrepancy import Flag
from stewardship.adjudication.standing import Standing
from stewardship.adjudication.triage import TriageSummary
from stewardship.reporting.page import rendered
from stewardship.reporting.report import LABELLERS, Phase3, Report

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
    """One thing to know: what it is about, in a few words, and its text."""

    about: str
    text: str


def caveats(report: Report, labels: Standing, *, paper: bool = False) -> list[Caveat]:
    """Return the caveats that hold for this report; those of a phase that was not run are left out.

    Args:
        paper: the physicians' labels are those of the paper, of which the paper says how they came about.
    """
    compared = report.triage is not None and report.table is not None
    text = rendered(
        "caveats.txt",
        r=report,
        t=report.triage if compared else None,
        p=report.phase3,
        paper=paper,
        outdated=len(labels.outdated),
        several_series=list(_several_series(report)) if compared else [],
        **(_of_table(report) if compared else {}),
        **(_of_review(report, labels, paper=paper) if compared and report.phase3 else {}),
    )
    paragraphs = (part.partition("\n") for part in text.strip().removeprefix("== ").split("\n== ") if part)
    return [Caveat(about, " ".join(rest.split())) for about, _, rest in paragraphs]


def _several_series(report: Report) -> Iterator[tuple[str, list[str]]]:
    for role, words in (("audit", "verdicts"), ("recomputed", "recomputed labels")):
        series = [name for name in report.sources.get(role, ()) if not name.startswith("rule ")]
        if len(series) > 1:
            yield words, series


def _of_table(report: Report) -> dict[str, Any]:
    """Return what the table of triage says of dates."""
    assert report.table is not None
    days = report.table.filter(_unit("days"))
    differ = days.filter(flag=Flag.DIFFERS.value)
    near = differ.filter(pl.col("distance") <= 1).height
    return {"dates": {"all": days.height, "differ": differ.height, "near": near} if days.height else None}


def _unit(name: str) -> pl.Expr:
    return pl.col("unit").eq_missing(name)


def _of_review(report: Report, labels: Standing, *, paper: bool) -> dict[str, Any]:
    """Return what the caveats say of the reviewed rows and of those that they stand for."""
    table, triage, phase3 = report.table, report.triage, report.phase3
    assert table is not None and triage is not None and phase3 is not None
    reviewed = pl.col("uid").is_in([row.uid for row in phase3.rows])
    flagged = table.filter(pl.col("flag") != Flag.UNFLAGGED.value)
    ways = {**DRAWN, "published": PAPERS if paper else DRAWN["published"]}
    calm = table.filter(flag=Flag.UNFLAGGED.value)
    alike = calm.filter(_unit("rel_err"), pl.col("original") != "N/A").height
    others = [f"{calm.height - alike:,} unflagged rows of dates or abstentions"] if calm.height > alike else []
    names = ("abstained", "differing", "unflagged", "deferred")
    return {
        "right": round((phase3.right_nonetheless.value or 0) * phase3.right_nonetheless.n),
        "reviewed_of": [
            f"{counts['reviewed']} of {counts['rows']} {name}"
            for name, counts in zip(names, phase3.by_flag.values(), strict=True)
            if counts["rows"]
        ],
        "drawn": [
            (f"{count} " if len(phase3.drawn) > 1 else "") + ways.get(way, way) for way, count in phase3.drawn.items()
        ],
        "dates_missed": 0 if table.filter(_unit("days"), reviewed).height else flagged.filter(_unit("days")).height,
        "strata_reviewed": flagged.filter(reviewed)["stratum"].drop_nulls().n_unique(),
        "strict": _without_tolerance(report, labels),
        "left": _unreviewed(phase3, triage),
        "differing_numbers": table.filter(_unit("rel_err"), flag=Flag.DIFFERS.value).height,
        "bound": smape_bound(report.settings["flag_rel_err"]),
        "alike_numbers": alike,
        "others": others + ([f"the {triage.deferred:,} deferred rows"] if triage.deferred else []),
    }


def _without_tolerance(report: Report, labels: Standing) -> dict[str, int] | None:
    """Return how many rows would agree without the point that ordinal scores may be apart; None where none may."""
    assert report.phase3 is not None
    if not report.phase3.types.get(ValueType.ORDINAL.value) or not report.settings["ordinal_tolerance"] > 0:
        return None
    exact = StewardSettings(**{**report.settings, "ordinal_tolerance": 0})
    rows = review(labels.physician, labels.predictions, exact)
    return {name: sum(row.agree.get(name, False) for row in rows) for name in LABELLERS}


def _unreviewed(phase3: Phase3, triage: TriageSummary) -> dict[str, float] | None:
    """Return how many flagged rows nobody reviewed, and how many of them are wrong at the reviewed rows' rate."""
    counts = {flag: phase3.by_flag[flag] for flag in (Flag.ABSTAINED.value, Flag.DIFFERS.value)}
    rows = triage.flagged - sum(part["reviewed"] for part in counts.values())
    agreement = phase3.agreement_by_flag["recomputed"]
    rates = {flag: agreement[flag].value for flag in counts if flag in agreement}
    if not rows or len(rates) < len(counts) or None in rates.values():
        return None
    wrong = sum((part["rows"] - part["reviewed"]) * (1 - (rates[flag] or 0)) for flag, part in counts.items())
    return {"rows": rows, "wrong": wrong}
