"""Section 8: limits and grading."""

from __future__ import annotations

from datetime import date

import pytest

from ground.contracts.grading import LimitsRule, OutputType, Reference, Verdict, grade_abstention, grade_v1
from ground.contracts.labels import parse_label
from ground.contracts.rewards import released_reward, reward
from tests.stewardship.specification.words import NA, SPRING, value_or_kind


@pytest.mark.parametrize(
    ("label", "rule", "output_type", "lower", "upper"),
    [
        ("25.238", "v1", "decimal", 23.9761, 26.4999),
        ("38", "v1", "decimal", 36.1, 39.9),  # by the output type, not by the value
        ("-10", "v1", "decimal", -10.5, -9.5),  # ordered
        ("0", "v1", "decimal", 0, 0),
        ("20", "v1", "integer", 20, 20),
        ("-1", "v1", "integer", -1, -1),
        ("('14 weeks', '1 days')", "v1", "integer", 99, 99),
        ("03/21/2006", "v1", "date", SPRING, SPRING),
        ("25.24", "corrected", None, 23.978, 26.502),
        ("20", "corrected", None, 19, 21),
        ("8", "corrected", None, 7.6, 8.4),
        ("-1", "corrected", None, -1.05, -0.95),
        ("0", "corrected", None, 0, 0),
        ("99", "corrected", None, 94.05, 103.95),
        ("03/21/2006", "corrected", None, SPRING, SPRING),
        ("N/A", "corrected", None, NA, NA),
    ],
)
def test_limits(label: str, rule: LimitsRule, output_type: OutputType | None, lower: object, upper: object) -> None:
    reference = Reference.of(parse_label(label), rule, output_type)
    for result, expected in ((reference.lower, lower), (reference.upper, upper)):
        assert value_or_kind(result) == (
            expected if isinstance(expected, date) or expected is NA else pytest.approx(expected)
        )


@pytest.mark.parametrize(
    ("label", "output_type", "right", "wrong"),
    [
        (
            "25.238",
            "decimal",
            ["25.238", " 25 ", "23.9761", "26.4999", "2.5e1", "+25"],
            ["23.976", "26.49991", "25.2 mg", "25%", "The answer is 25", "N/A", "unknown", "", None, "nan", "25,2"],
        ),
        ("1434", "decimal", ["1434", "1434.0"], ["1,434"]),
        ("-10", "decimal", ["-10", "-10.5", "-9.5"], ["10", "-10.51"]),
        ("0", "decimal", ["0", "0.0", "-0"], ["0.001", "N/A"]),
        ("2", "integer", ["2", "2.5", "1.5", "2.49", "2.0"], ["3", "2.51", "1.49", "2 points", "N/A", "03/02/2006"]),
        ("4", "integer", ["3.5", "4.5"], ["5", "3.4"]),  # half to even
        ("0", "integer", ["0.5", "-0.5", "0"], ["1", "N/A", "", "None", "False alarm"]),
        ("20", "integer", ["20", "20.4"], ["19", "21"]),
        (
            "03/21/2006",
            "date",
            ["03/21/2006"],
            ["2006-03-21", "2006/03/21", "03/22/2006", "21/03/2006", "03/21/06", "N/A", "2006", ""],
        ),
        (
            "('14 weeks', '1 days')",
            "integer",
            ["('14 weeks', '1 days')", "(14 weeks, 1 day)", "14 weeks, 1 days", "(14, 1)"],
            ["(13, 8)", "(14, 2)", "99", "14 weeks", "N/A", ""],  # both whole numbers, not their sum of days
        ),
    ],
)
def test_grader_a(label: str, output_type: OutputType, right: list[str | None], wrong: list[str | None]) -> None:
    reference = Reference.of(parse_label(label), "v1", output_type)
    assert [answer for answer in right if not grade_v1(answer, reference)] == []
    assert [answer for answer in wrong if grade_v1(answer, reference)] == []


# label, limits, output type, then responses that are right, wrong, and without an answer that can be read
RESPONSES: list[tuple[str, LimitsRule, OutputType | None, list[str], list[str], list[str | None]]] = [
    (
        "25",
        "corrected",
        None,
        [
            "<answer>25</answer>",
            "<answer>\n25 mL/h\n</answer>",
            "<answer>The answer is 25</answer>",
            "<answer>25%</answer>",
            "<answer>+25</answer>",
            "<answer>2.5e1</answer>",
            "<answer>23.75</answer>",
            "<answer>26.25</answer>",
            "<answer>1</answer> No. <answer>25</answer>",
            "<answer>25</answer> or rather <answer>1",  # the last closed tag
            "<answer>1 <answer>25</answer>",
            "<answer><answer>25</answer></answer>",
            "N/A? No. <answer>25</answer> of 100",
            "<answer>(3 weeks, 5 days)</answer>",  # 26: weeks and days are a number of days, whatever was asked
        ],
        [
            "<answer>23.7499</answer>",
            "<answer>26.2501</answer>",
            "<answer>-25</answer>",
            "<answer>25</answer> No. <answer>1</answer>",
            "<answer>N/A</answer>",
            "<answer>unknown</answer>",
            "<answer>25</answer> <answer>Not applicable</answer>",
            "<answer>2025-01-25</answer>",
            "<answer>(3 weeks, 6 days)</answer>",
        ],
        [
            "25",
            "The answer is 25",
            "",
            None,
            "<answer>25",
            "25</answer>",
            "</answer>25<answer>",
            "<answer></answer>",
            "<answer> </answer>",
            "<answer>25</answer> <answer></answer>",
            "<answer>I do not know</answer>",
            "<answer>25,5</answer>",
            "<answer>nan</answer>",
        ],
    ),
    ("1434", "v1", "decimal", ["<answer>1,434 mL</answer>"], ["<answer>1</answer>"], ["<answer>1,43</answer>"]),
    ("0.5", "v1", "decimal", ["<answer>.5</answer>"], ["<answer>5</answer>", "<answer>-.5</answer>"], []),
    ("-1", "corrected", None, ["<answer>-1.05</answer>", "<answer>-0.95</answer>"], ["<answer>1</answer>"], []),
    ("0", "corrected", None, ["<answer>0</answer>", "<answer>-0.0</answer>"], ["<answer>0.01</answer>"], []),
    # neighbours of 20 are right by the corrected limits only; nothing is rounded
    ("20", "corrected", None, ["<answer>19</answer>", "<answer>21</answer>"], ["<answer>18.99</answer>"], []),
    ("20", "v1", "integer", ["<answer>20.0</answer>"], ["<answer>21</answer>", "<answer>20.4</answer>"], []),
    (
        "N/A",
        "corrected",
        None,
        [
            *["<answer>N/A</answer>", "<answer> n/a </answer>", "<answer>NA</answer>", "<answer>unknown</answer>"],
            *["<answer>Unknown</answer>", "<answer>not available</answer>", "<answer>Not applicable</answer>"],
        ],
        ["<answer>0</answer>", "<answer>25</answer>", "<answer>03/21/2006</answer>"],
        # the rule of words without a digit is for physicians' cells
        ["N/A", "", "<answer></answer>", "<answer>Multiple</answer>", "<answer>cannot be computed</answer>"],
    ),
    (
        "99",
        "v1",
        "integer",
        [
            *["<answer>(14 weeks, 1 day)</answer>", "<answer>('14 weeks', '1 days')</answer>"],
            *["<answer>14 weeks, 1 day</answer>", "<answer>(14, 1)</answer>", "<answer>(13, 8)</answer>"],
            *["<answer>99</answer>", "<answer>99 days</answer>"],
        ],
        ["<answer>(14 weeks, 2 days)</answer>", "<answer>14</answer>", "<answer>N/A</answer>"],
        [],
    ),
    (
        "('14 weeks', '1 days')",
        "corrected",
        None,
        ["<answer>(14 weeks, 2 days)</answer>"],
        ["<answer>104</answer>"],
        [],
    ),
    (
        "03/21/2006",
        "corrected",
        None,
        [f"<answer>{text}</answer>" for text in ("03/21/2006", "3/21/2006", "2006/03/21", "2006-03-21")],
        [f"<answer>{text}</answer>" for text in ("03/22/2006", "2006", "20060321", "N/A", "2006-03-20")],
        [f"<answer>{text}</answer>" for text in ("02/30/2006", "21/03/2006", "03/21/06")],
    ),
]


@pytest.mark.parametrize(("label", "rule", "output_type", "right", "wrong", "unreadable"), RESPONSES)
def test_graders_b_and_c(
    label: str,
    rule: LimitsRule,
    output_type: OutputType | None,
    right: list[str],
    wrong: list[str],
    unreadable: list[str | None],
) -> None:
    reference = Reference.of(parse_label(label), rule, output_type)
    for responses, verdict, worth in (
        (right, Verdict.CORRECT, 1),
        (wrong, Verdict.WRONG, 0.1),
        (unreadable, Verdict.FORMAT_ERROR, 0),
    ):
        assert [text for text in responses if grade_abstention(text, reference).verdict is not verdict] == []
        assert [text for text in responses if reward(text, reference) != worth] == []


@pytest.mark.parametrize(
    ("label", "answers"),
    [
        (
            "25",
            {
                **{"25": 1, "25.0": 1, "23.75": 1, "26.25": 1, "30": 0.1, "-25": 0.1},
                **{"unknown": 0, "N/A": 0, "+25": 0, "2.5e1": 0, "25 mL": 0, "25%": 0, "The answer is 25": 0, "": 0},
            },
        ),
        ("1434", {"1434": 1, "1,434": 0}),
        ("0.5", {"0.5": 1, ".5": 0}),
        ("-10", {"-10": 1, "-10.5": 1, "10": 0.1}),
        ("N/A", {"unknown": 1, "N/A": 0, "n/a": 0, "25": 0, "03/21/2006": 0, "": 0}),
        ("99", {"(14 weeks, 1 days)": 1, "(14 weeks, 1 day)": 1, "14 weeks, 1 day": 0, "(20 weeks, 0 days)": 0.1}),
        ("03/21/2006", {"03/21/2006": 1, "2006/03/21": 1, "03/22/2006": 0.1, "unknown": 0, "N/A": 0}),
    ],
)
def test_the_released_code_rewards_fewer_spellings_and_no_wrong_type(label: str, answers: dict[str, float]) -> None:
    reference = Reference.of(parse_label(label), "corrected")
    results = {answer: released_reward(f"<answer>{answer}</answer>", reference) for answer in answers}
    assert results == answers
    assert released_reward(label, reference) == 0  # no tag


def test_odd_answers_are_not_quoted_in_warnings(recwarn: pytest.WarningsRecorder) -> None:
    reference = Reference.of(parse_label("25"), "v1", "decimal")
    assert not grade_v1("25or more", reference)
    assert released_reward("<answer>10:25 QUX</answer>", reference) == 0
    assert list(recwarn) == []


@pytest.mark.parametrize("digits", [400, 5000])
def test_answers_that_are_too_long_are_wrong_or_unreadable_and_stop_nothing(digits: int) -> None:
    many = "9" * digits
    reference = Reference.of(parse_label("('14 weeks', '1 days')"), "v1", "integer")
    for answer in (many, f"({many}, 1)", f"(1 week, {many} days)", f"00:00{many}", f"1e{many}", f"03/21/{many}"):
        assert not grade_v1(answer, reference)
        assert released_reward(f"<answer>{answer}</answer>", reference) in (0, 0.1)
        assert grade_abstention(f"<answer>{answer}</answer>", reference).verdict is not Verdict.CORRECT
