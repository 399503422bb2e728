"""Phase 2: answers become a label, or none, as docs/stewardship.md says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ground.contracts.labels import LabelValue, parse_label
from ground.settings import StewardSettings
from stewardship.runs.consensus import consensus


def runs(*texts: str | None) -> list[LabelValue]:
    return [parse_label(text) for text in texts]


def test_numbers_are_equal_after_rounding_to_two_decimals() -> None:
    result = consensus(runs("25.238", "25.24", "25.2401", "25.24", "7"))
    assert (result.status, result.rule, result.votes) == ("high_confidence", "4of5", 4)
    assert result.label == LabelValue.of(25.24)
    assert (
        consensus(runs("25.238", "25.24", "25.2401", "25.24", "7"), StewardSettings(decimals=3)).rule
        == "near_consensus"
    )


def test_a_small_negative_number_rounds_to_zero_without_a_sign() -> None:
    result = consensus(runs("-0.001", "0.001", "0", "-0.004", "0.0"))
    assert result.votes == 5
    assert result.label is not None
    assert result.label.text() == "0"


def test_one_day_is_near_and_two_are_not() -> None:
    same = ["03/21/2006", "2006-03-21", "2006/03/21"]
    assert consensus(runs(*same, "03/20/2006", "N/A")).rule == "near_consensus"
    assert consensus(runs(*same, "03/19/2006", "N/A")).status == "deferred"
    assert consensus(runs(*same, "03/19/2006", "N/A"), StewardSettings(near_days=2)).rule == "near_consensus"


def test_a_number_is_no_vote_for_a_date_or_category() -> None:
    labels = [LabelValue.of("Q1"), LabelValue.of("Q1"), LabelValue.of("Q1"), LabelValue.of("Q2"), LabelValue.of("Q1")]
    assert consensus(labels).label == LabelValue.of("Q1")
    assert consensus([*labels[:3], labels[3], labels[3]]).status == "deferred"


def test_quorums_of_other_numbers_of_runs_and_ties() -> None:
    two, item = (StewardSettings(quorum=quorum, near_quorum=quorum) for quorum in (2, 1))
    assert consensus(runs("1", "1", "2"), two).rule == "2of3"
    assert consensus(runs("1", "1", "2", "2"), two).status == "deferred"
    assert consensus(runs("1"), item).rule == "1of1"


@given(st.lists(st.sampled_from(["1", "1.001", "1.04", "N/A", "", "03/21/2006", "03/22/2006"]), min_size=5, max_size=5))
def test_the_order_of_runs_changes_nothing(texts: list[str]) -> None:
    assert consensus(runs(*texts)) == consensus(runs(*sorted(texts)))


def test_small_numbers_keep_two_digits_before_they_are_compared() -> None:
    # 0.07 is 5.6% from 0.07418: rounded to two decimals, an answer that is right would be flagged.
    result = consensus(runs("0.07418", "0.0742", "0.0741", "0.074", "9"))
    assert (result.rule, result.label) == ("4of5", LabelValue.of(0.074))
    assert consensus(runs("0.07418", "0.0651", "0.0699", "0.0748", "0.07")).status == "deferred"
    tiny = consensus(runs("0.0042", "0.0042", "0.00421", "0.00419", "7"))
    assert tiny.label == LabelValue.of(0.0042)
