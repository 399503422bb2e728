"""Grader C: the paper's rule, and where the authors' code differs from it."""

from __future__ import annotations

import pytest

from ground.contracts.grading import OutputType, Reference
from ground.contracts.labels import parse_label
from ground.contracts.rewards import RewardWeights, released_reward, reward

pytest.importorskip("dateutil")


def reference(label: str, output_type: OutputType = "decimal") -> Reference:
    return Reference.of(parse_label(label), "corrected", output_type)


@pytest.mark.parametrize(
    ("answer", "label", "paper", "released"),
    [
        ("100", "100", 1, 1),
        ("105", "100", 1, 1),
        ("105.1", "100", 0.1, 0.1),
        ("unknown", "N/A", 1, 1),
        # An abstention where there is a number, and a number where there is none: wrong, and there nothing.
        ("unknown", "100", 0.1, 0),
        ("12", "N/A", 0.1, 0),
        ("03/21/2006", "100", 0.1, 0),
        # Spellings that the authors' code does not know.
        ("N/A", "N/A", 1, 0),
        ("+25", "25", 1, 0),
        (".5", "0.5", 1, 0),
        ("2.5e1", "25", 1, 0),
        ("1,434", "1434", 1, 0),
        ("78.1 ml/hr", "78.1", 1, 0),
        ("14 weeks, 1 day", "99", 1, 0),
        ("(14 weeks, 1 day)", "99", 1, 1),
        ("('14 weeks', '1 days')", "99", 1, 1),
        ("(14, 1)", "99", 1, 1),
        ("-5.", "-5", 1, 1),
        ("2006/03/21", "03/21/2006", 1, 1),
        ("03/22/2006", "03/21/2006", 0.1, 0.1),
        # One that it knows and we do not guess at.
        ("March 21, 2006", "03/21/2006", 0, 1),
        ("2006-03-21T00:00:00Z", "03/21/2006", 1, 0),
        ("", "100", 0, 0),
        ("high", "100", 0, 0),
        ("4,4", "4.4", 0, 0),
    ],
)
def test_rewards_by_both_rules(answer: str, label: str, paper: float, released: float) -> None:
    response = f"<think>so</think>\n<answer> {answer} </answer>"
    assert reward(response, reference(label)) == paper
    assert released_reward(response, reference(label)) == released
    assert reward(answer, reference(label)) == 0 == released_reward(answer, reference(label))


def test_an_answer_that_is_begun_again_and_cut_counts_by_the_papers_rule_alone() -> None:
    cut = "<answer>100</answer> or rather <answer>10"
    assert (reward(cut, reference("100")), released_reward(cut, reference("100"))) == (1, 0)
    assert reward(None, reference("100")) == 0 == released_reward(None, reference("100"))


def test_weights_are_parameters() -> None:
    weights = RewardWeights(correct=2, wrong=-1, format_error=-3)
    for rule in (reward, released_reward):
        given = [rule(f"<answer>{answer}</answer>", reference("100"), weights) for answer in ("100", "1", "?")]
        assert given == [2, -1, -3]


def test_names_have_a_reward_by_the_papers_rule_alone() -> None:
    label = Reference.of(parse_label("Q1", categories=("Q1", "Q2")), "corrected")
    assert reward("<answer>q1</answer>", label, categories=("Q1", "Q2")) == 1
    assert reward("<answer>Q2</answer>", label, categories=("Q1", "Q2")) == 0.1
    with pytest.raises(ValueError, match="names"):
        released_reward("<answer>Q1</answer>", label, categories=("Q1", "Q2"))
