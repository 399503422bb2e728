"""Phase 2: answers become a label, or none, as docs/stewardship.md says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ground.contracts.labels import LabelKind, LabelValue, parse_label
from ground.settings import StewardSettings
from stewardship.benchmark.tables import read_cells
from stewardship.runs.consensus import consensus, summarise


def runs(*texts: str | None) -> list[LabelValue]:
    return [parse_label(text) for text in texts]


def test_numbers_are_equal_after_rounding_to_two_decimals() -> None:
    found = consensus(runs("25.238", "25.24", "25.2401", "25.24", "7"))
    assert (found.status, found.rule, found.votes) == ("high_confidence", "4of5", 4)
    assert found.label == LabelValue.of(25.24)
    assert (
        consensus(runs("25.238", "25.24", "25.2401", "25.24", "7"), StewardSettings(decimals=3)).rule
        == "near_consensus"
    )


def test_a_small_negative_number_rounds_to_zero_without_a_sign() -> None:
    found = consensus(runs("-0.001", "0.001", "0", "-0.004", "0.0"))
    assert found.votes == 5
    assert found.label is not None
    assert found.label.text() == "0"


@pytest.mark.parametrize(
    ("other", "status"),
    [("105", "high_confidence"), ("95", "high_confidence"), ("94", "deferred"), ("106", "deferred")],
)
def test_three_equal_answers_need_a_fourth_within_the_threshold(other: str, status: str) -> None:
    # 5/105 = 4.76%, 5/100 = 5% exactly, 6/100 = 6%, 6/106 = 5.66%.
    found = consensus(runs("100", "100", "100", other, "7"))
    assert found.status == status
    assert found.rule == ("near_consensus" if status == "high_confidence" else None)
    assert found.label == (LabelValue.of(100) if status == "high_confidence" else None)


def test_one_day_is_near_and_two_are_not() -> None:
    same = ["03/21/2006", "2006-03-21", "2006/03/21"]
    assert consensus(runs(*same, "03/20/2006", "N/A")).rule == "near_consensus"
    assert consensus(runs(*same, "03/19/2006", "N/A")).status == "deferred"
    assert consensus(runs(*same, "03/19/2006", "N/A"), StewardSettings(near_days=2)).rule == "near_consensus"


def test_an_abstention_needs_four_and_is_near_nothing() -> None:
    assert consensus(runs("N/A", "unknown", "n/a", "NA", "7")).label == LabelValue(LabelKind.ABSTENTION)
    assert consensus(runs("N/A", "N/A", "N/A", "0", "0")).status == "deferred"
    assert consensus(runs("0", "0", "0", "N/A", "N/A")).status == "deferred"


def test_empty_and_unreadable_answers_are_empty_votes() -> None:
    found = consensus(runs("7", "7", "7", "", None))
    assert (found.status, found.votes, found.answered, found.runs) == ("deferred", 3, 3, 5)
    assert consensus(runs("", "", "", "", "words")).votes == 0
    assert consensus([]).status == "deferred"


def test_a_number_is_no_vote_for_a_date_or_category() -> None:
    labels = [LabelValue.of("Q1"), LabelValue.of("Q1"), LabelValue.of("Q1"), LabelValue.of("Q2"), LabelValue.of("Q1")]
    assert consensus(labels).label == LabelValue.of("Q1")
    assert consensus([*labels[:3], labels[3], labels[3]]).status == "deferred"


def test_weeks_and_days_vote_with_the_days_that_they_are() -> None:
    assert consensus(runs("(2 weeks, 1 days)", "15", "15 days", "2 weeks, 1 day", "3")).votes == 4


def test_quorums_of_other_numbers_of_runs_and_ties() -> None:
    two, one = (StewardSettings(quorum=quorum, near_quorum=quorum) for quorum in (2, 1))
    assert consensus(runs("1", "1", "2"), two).rule == "2of3"
    assert consensus(runs("1", "1", "2", "2"), two).status == "deferred"
    assert consensus(runs("1"), one).rule == "1of1"


def test_rates_are_over_all_rows_and_over_labels() -> None:
    rows = [consensus(runs(*texts)) for texts in (["1"] * 5, ["N/A"] * 5, ["1", "2", "3", "4", "5"])]
    rows.append(consensus(runs("100", "100", "100", "101", "1")))
    found = summarise(rows)
    assert (found.n, found.high, found.near, found.deferred, found.abstained) == (4, 3, 1, 1, 1)
    assert (found.coverage, found.abstention_rate) == (0.75, 1 / 3)
    assert summarise([]).coverage is None


@given(st.lists(st.sampled_from(["1", "1.001", "1.04", "N/A", "", "03/21/2006", "03/22/2006"]), min_size=5, max_size=5))
def test_the_order_of_runs_changes_nothing(texts: list[str]) -> None:
    assert consensus(runs(*texts)) == consensus(runs(*sorted(texts)))


@pytest.mark.real
def test_s3_consensus_of_the_published_cases(real_data: Path) -> None:
    folder = real_data / "stewardship"
    case = next(one for one in json.loads((folder / "checks.json").read_text())["shown"] if one["id"] == "S3")
    rows = read_cells(folder / "checks" / case["input"][0]).rows(named=True)
    assert len(rows) == len(case["expected"])
    for row in rows:
        wanted = case["expected"][row["instance"]]
        found = consensus([parse_label(row[f"run{run}"]) for run in range(1, 6)])
        assert (found.status, found.rule, found.votes) == (wanted["status"], wanted["rule"], wanted["votes"]), row
        label = None if wanted["label"] is None else parse_label(str(wanted["label"]))
        assert found.label == label, row


def test_small_numbers_keep_two_digits_before_they_are_compared() -> None:
    # 0.07 is 5.6% from 0.07418: rounded to two decimals, an answer that is right would be flagged.
    found = consensus(runs("0.07418", "0.0742", "0.0741", "0.074", "9"))
    assert (found.rule, found.label) == ("4of5", LabelValue.of(0.074))
    assert consensus(runs("0.07418", "0.0651", "0.0699", "0.0748", "0.07")).status == "deferred"
    tiny = consensus(runs("0.0042", "0.0042", "0.00421", "0.00419", "7"))
    assert tiny.label == LabelValue.of(0.0042)
