"""Counts under other readings: an audit's quorum, where there was something to vote about."""

from __future__ import annotations

from pathlib import Path

import pytest

from ground.settings import StewardSettings
from stewardship.adjudication.standing import standing
from stewardship.benchmark.folder import Benchmark
from stewardship.history.events import Event
from stewardship.reporting.report import build_report
from stewardship.reporting.sensitivity import variants
from stewardship.runs.votes import LIKELY_ERROR, PASSED
from tests.stewardship.labelled import adopted


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return adopted(tmp_path)


def quorums(benchmark: Benchmark, votes: dict[str, tuple[int, int]]) -> dict[str, str]:
    """Add audits, uid to Suspicious runs and all runs, and return their count under each quorum."""
    settings = StewardSettings()
    benchmark.history.append(
        [
            Event(
                uid=uid,
                role="audit",
                status=LIKELY_ERROR if suspicious >= (1 if runs == 1 else settings.audit_quorum) else PASSED,
                by="auditor",
                evidence={"suspicious": suspicious, "runs": runs},
            )
            for uid, (suspicious, runs) in votes.items()
        ]
    )
    labels = standing(benchmark)
    report = build_report(benchmark, labels, settings)
    results = [
        variant
        for variant in variants(benchmark, labels, report, settings)
        if variant.outcome.startswith("likely errors")
    ]
    assert not results or results[0].value == str(report.audits.flagged if report.audits else None)
    return {item.variant: item.value for item in results}


def test_an_audit_of_one_run_a_row_has_no_other_quorum(benchmark: Benchmark) -> None:
    assert quorums(benchmark, {"1": (1, 1), "2": (0, 1)}) == {}


def test_verdicts_of_one_run_stay_beside_those_of_several(benchmark: Benchmark) -> None:
    result = quorums(benchmark, {"1": (1, 1), "2": (3, 5), "4": (4, 5), "8": (5, 5), "9": (2, 5)})
    assert result == {
        "as set": "3",
        "3 Suspicious verdicts make a likely error": "4",
        "5 Suspicious verdicts make a likely error": "2",
    }
