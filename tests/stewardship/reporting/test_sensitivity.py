"""Counts under other readings of the paper."""

from __future__ import annotations

from pathlib import Path

from ground.settings import StewardSettings
from stewardship.adjudication.standing import standing
from stewardship.reporting.report import build_report
from stewardship.reporting.sensitivity import variants
from tests.stewardship.labelled import adopted


def test_every_other_reading_stands_beside_the_reports_own(tmp_path: Path) -> None:
    settings = StewardSettings()
    benchmark = adopted(tmp_path)
    labels = standing(benchmark)
    report = build_report(benchmark, labels, settings)
    values = {(item.outcome, item.variant): item.value for item in variants(labels, report, settings)}
    flagged = {variant: value for (outcome, variant), value in values.items() if outcome == "flagged rows"}
    assert report.triage is not None and flagged["as set"] == f"{report.triage.flagged} of 9 (66.7%)"
    # Two dates lie six days apart; 14 weeks and 1 day against 99 days are alike.
    assert flagged["dates differ above 7 days"] == "5 of 9 (55.6%)"
    assert flagged["weeks and days are read as their first number"] == "7 of 9 (77.8%)"
    assert len({outcome for outcome, _ in values}) == 6
