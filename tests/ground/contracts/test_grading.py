"""Limits and graders A and B, by hand and on the published labels and a stored run of a model."""

from __future__ import annotations

import csv
import json
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ground.contracts.grading import (
    OutputType,
    Reference,
    Verdict,
    answer_in_tags,
    grade_abstention,
    grade_v1,
    grade_value,
    limits_corrected,
    limits_v1,
)
from ground.contracts.labels import LabelKind, LabelValue, parse_label

NA = LabelValue.of(None)
DAY = LabelValue.of(date(2006, 3, 21))


def reference(text: str, output_type: OutputType = "decimal", *, corrected: bool = False) -> Reference:
    return Reference.of(parse_label(text), "corrected" if corrected else "v1", output_type)


def read(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_limits_of_both_releases() -> None:
    score = LabelValue.of(20.0)
    assert limits_v1(score, "integer") == (score, score)
    assert [one.number for one in limits_corrected(score)] == [19.0, 21.0]
    assert [one.number for one in limits_v1(LabelValue.of(-10.0), "decimal")] == [-10.5, -9.5]
    assert [one.number for one in limits_corrected(LabelValue.of(0.0))] == [0, 0]
    assert limits_corrected(DAY) == (DAY, DAY) == limits_v1(DAY, "date")
    assert limits_corrected(NA) == (NA, NA)
    with pytest.raises(ValueError, match="output type"):
        limits_v1(score, None)


@pytest.mark.parametrize(
    ("answer", "label", "output_type", "right"),
    [
        ("2.5", "2", "integer", True),  # half to even
        ("3.5", "4", "integer", True),
        ("2.5", "3", "integer", False),
        ("95", "100", "decimal", True),
        ("105.0", "100", "decimal", True),
        ("105.001", "100", "decimal", False),
        ("70 / (1.75 * 1.75)", "22.857", "decimal", True),
        ("78.1 ml/hr", "78.1", "decimal", False),
        ("1,434", "1434", "decimal", False),
        ("N/A", "5", "integer", False),
        ("N/A", "N/A", "decimal", False),
        ("1e999", "5", "integer", False),
        ("__import__('os').getcwd()", "5", "integer", False),
        ("True", "1", "integer", False),
        ("1/0", "1", "integer", False),
        ("", "0", "integer", False),
        ("3/21/2006", "03/21/2006", "date", True),
        ("2006-03-21", "03/21/2006", "date", False),
        ("03/22/2006", "03/21/2006", "date", False),
        ("(14, 1)", "('14 weeks', '1 days')", "integer", True),
        ("('14 weeks', '1 day')", "('14 weeks', '1 days')", "integer", True),
        ("(13, 8)", "('14 weeks', '1 days')", "integer", False),
        ("99", "('14 weeks', '1 days')", "integer", False),
    ],
)
def test_grader_a_goes_by_output_type(answer: str, label: str, output_type: OutputType, right: bool) -> None:
    assert grade_v1(answer, reference(label, output_type)) is right


def test_the_answer_is_in_the_last_closed_tag() -> None:
    assert answer_in_tags("<answer>1</answer> no, <answer> 2\n</answer> done") == "2"
    assert answer_in_tags("<answer>1 <answer>2</answer>") == "2"
    assert answer_in_tags("<answer>1</answer> and </answer>") == "1"
    assert answer_in_tags("<answer>1</answer> <answer>2") == "1"
    assert answer_in_tags("<answer></answer>") == ""
    for open_ended in ("", "1", "<answer>1", "1</answer>", "</answer>1<answer>"):
        assert answer_in_tags(open_ended) is None


@pytest.mark.parametrize(
    ("answer", "label", "verdict"),
    [
        ("N/A", "N/A", "correct"),
        ("unknown", "N/A", "correct"),
        ("12", "N/A", "wrong"),
        ("not applicable", "12", "wrong"),
        ("78.1 ml/hr", "78.1", "correct"),
        ("1,434", "1434", "correct"),
        ("20.4", "20", "correct"),
        ("7.6", "8", "correct"),  # 5% of 8 is 0.4, and nothing is rounded
        ("7.59", "8", "wrong"),
        ("14 weeks, 1 day", "99", "correct"),
        ("99", "('14 weeks', '1 days')", "correct"),
        ("2006/03/21", "03/21/2006", "correct"),
        ("2006-03-22", "03/21/2006", "wrong"),
        ("21", "03/21/2006", "wrong"),
        ("", "12", "format_error"),
        ("4,4", "4.4", "format_error"),
        ("high", "12", "format_error"),
    ],
)
def test_grader_b_counts_an_abstention_as_an_answer(answer: str, label: str, verdict: str) -> None:
    against = reference(label, corrected=True)
    graded = grade_abstention(f"<think>...</think><answer>{answer}</answer>", against)
    assert graded.verdict == verdict
    assert graded.abstained is (parse_label(answer).kind is LabelKind.ABSTENTION)
    assert grade_value(answer, against) == graded
    assert grade_abstention(answer, against).verdict is Verdict.FORMAT_ERROR


def test_names_are_graded_by_name() -> None:
    label = Reference.of(LabelValue.of("Q2"), "corrected")
    assert grade_abstention("<answer>q2</answer>", label, categories=("Q1", "Q2")).correct
    assert grade_abstention("<answer>Q1</answer>", label, categories=("Q1", "Q2")).verdict == "wrong"
    assert grade_abstention("<answer>Q5</answer>", label, categories=("Q1", "Q2")).verdict == "format_error"


@pytest.mark.real
def test_limits_are_those_of_every_published_row_to_the_last_digit(real_data: Path) -> None:
    shown = real_data / "stewardship" / "checks" / "shown"
    published = read(shown / "labels_v1_1047.csv")
    for row in published:
        limits = limits_v1(parse_label(row["ground_truth"]), row["output_type"])  # type: ignore[arg-type]
        assert limits == (parse_label(row["lower"]), parse_label(row["upper"])), row["uid"]
    corrected = read(shown / "labels_corrected_887.csv")
    for row in corrected:
        limits = limits_corrected(parse_label(row["ground_truth"]))
        assert limits == (parse_label(row["lower"]), parse_label(row["upper"])), row["uid"]
    assert (len(published), len(corrected)) == (1047, 887)


@pytest.mark.real
def test_the_stored_run_gets_its_published_score(real_data: Path) -> None:
    """Case S7."""
    checks = real_data / "stewardship"
    case: dict[str, Any] = {one["id"]: one for one in json.loads((checks / "checks.json").read_text())["shown"]}["S7"]
    labels, answers = (read(checks / "checks" / file) for file in case["input"])
    answered = {row["uid"]: row["answer"] for row in answers}
    right: dict[str, Counter[str]] = {"category": Counter(), "output_type": Counter()}
    rows: dict[str, Counter[str]] = {"category": Counter(), "output_type": Counter()}
    for row in labels:
        low, high = parse_label(row["lower"]), parse_label(row["upper"])
        label = Reference(parse_label(row["ground_truth"]), low, high, row["output_type"])  # type: ignore[arg-type]
        correct = grade_v1(answered[row["uid"]], label)
        for by, counts in rows.items():
            counts[row[by]] += 1
            right[by][row[by]] += correct
    expected = case["expected"]
    assert [right["category"].total(), rows["category"].total()] == expected["total"]
    for by, counts in rows.items():
        assert {name: [right[by][name], n] for name, n in sorted(counts.items())} == expected[f"by_{by}"]
