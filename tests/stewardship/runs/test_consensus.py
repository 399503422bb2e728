"""Consensus under other settings than the specification's, of names, and whatever the order of runs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ground.contracts.labels import LabelValue, parse_label
from ground.settings import StewardSettings
from stewardship.runs.consensus import consensus


@pytest.mark.parametrize(
    ("answers", "settings", "rule", "label"),
    [
        ("25.238 25.24 25.2401 25.24 7", {"decimals": 3}, "near_consensus", "25.24"),
        ("03/21/2006 03/21/2006 03/21/2006 03/19/2006 N/A", {"near_days": 2}, "near_consensus", "03/21/2006"),
        ("1 1 2", {"quorum": 2, "near_quorum": 2}, "2of3", "1"),
        ("1 1 2 2", {"quorum": 2, "near_quorum": 2}, None, None),
        ("1", {"quorum": 1, "near_quorum": 1}, "1of1", "1"),
        # 0.07 is 5.6% from 0.07418: rounded to two decimals, an answer that is right would be flagged.
        ("0.07418 0.0742 0.0741 0.074 9", {}, "4of5", "0.074"),
        ("0.07418 0.0651 0.0699 0.0748 0.07", {}, None, None),
        ("0.0042 0.0042 0.00421 0.00419 7", {}, "4of5", "0.0042"),
    ],
)
def test_other_settings_and_small_numbers(
    answers: str, settings: dict[str, Any], rule: str | None, label: str | None
) -> None:
    result = consensus([parse_label(text) for text in answers.split()], StewardSettings(**settings))
    assert (result.rule, result.label and result.label.text()) == (rule, label)


def test_names_agree_where_they_are_equal() -> None:
    first, second = LabelValue.of("Q1"), LabelValue.of("Q2")
    assert consensus([first, first, first, second, first]).label == first
    assert consensus([first, first, first, second, second]).status == "deferred"


@given(st.lists(st.sampled_from(["1", "1.001", "1.04", "N/A", "", "03/21/2006", "03/22/2006"]), min_size=5, max_size=5))
def test_the_order_of_runs_changes_nothing(texts: list[str]) -> None:
    first, second = (consensus([parse_label(text) for text in order]) for order in (texts, sorted(texts)))
    assert first == second
