"""Phase 1: verdicts are read and counted as docs/stewardship.md says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stewardship.benchmark.tables import read_cells
from stewardship.runs.votes import Verdict, audit, parse_verdict, summarise

S, P, N = Verdict.SUSPICIOUS, Verdict.PASS, Verdict.NONE


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Suspicious", S),
        (" pass ", P),
        ("Passed", P),
        ("The label is wrong.\n<answer>No</answer>", S),
        ("<answer>\n  no \n</answer>", S),
        ("<ANSWER>Yes.</ANSWER>", P),
        ("<answer>No</answer> no, wait: <answer>Yes</answer>", P),
        ("<answer>No</answer> then <answer>Yes", S),
        ("<answer>maybe</answer>", N),
        ("No answer tag, suspicious as it is", N),
        ("", N),
        (None, N),
    ],
)
def test_the_last_closed_answer_or_a_single_word_is_the_verdict(text: str | None, verdict: Verdict) -> None:
    assert parse_verdict(text) is verdict


def test_four_of_five_make_a_likely_error_and_three_do_not() -> None:
    assert audit([S, S, S, S, P]).status == "likely_error"
    assert audit([S, S, S, P, P]).status == "passed"


def test_a_run_without_a_verdict_is_no_flag_and_lowers_no_quorum() -> None:
    assert audit([S, S, S, S, N]).status == "likely_error"
    found = audit([S, S, S, N, N])
    assert (found.status, found.suspicious, found.answered, found.runs) == ("passed", 3, 3, 5)
    assert audit([S, S, S, N, N], quorum=3).status == "likely_error"
    assert audit([]).status == "passed"


def test_the_rate_is_over_all_audited_rows_and_strata_count_once() -> None:
    statuses = {"a": "likely_error", "b": "likely_error", "c": "passed", "d": "passed"}
    found = summarise(statuses, {"a": "BMI", "b": "BMI", "c": "MAP", "d": "MAP", "e": "GCS"})
    assert (found.n, found.flagged, found.rate, found.strata, found.strata_touched) == (4, 2, 0.5, 2, 1)
    assert summarise({}, {}).rate is None


@pytest.mark.real
def test_s2_votes_of_the_published_cases(real_data: Path) -> None:
    folder = real_data / "stewardship"
    case = next(one for one in json.loads((folder / "checks.json").read_text())["shown"] if one["id"] == "S2")
    names = {"likely_error": "Likely Error", "passed": "Passed"}
    rows = read_cells(folder / "checks" / case["input"][0]).rows(named=True)
    statuses = {row["instance"]: audit([parse_verdict(row[f"run{run}"]) for run in range(1, 6)]).status for row in rows}
    assert {uid: names[status] for uid, status in statuses.items()} == case["expected"]
    found = summarise(statuses, {})
    assert {"likely_error": found.flagged, "n": found.n} == case["summary"]
