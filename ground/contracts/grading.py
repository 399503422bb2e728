"""Grading of answers against labels, and the limits that an answer may lie in (MedCalc-Bench and arXiv 2512.19691).

Graders A and B and both rules of limits are those of docs/stewardship.md#limits-and-graders. The graders are pure
functions of an answer's text and a reference; grader C, the reward of reinforcement learning, is in
`ground.contracts.rewards`.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Literal, get_args

from ground.contracts.labels import LabelKind, LabelValue, parse_label

__all__ = [
    "Grade",
    "Limits",
    "LimitsRule",
    "OutputType",
    "Reference",
    "Verdict",
    "answer_in_tags",
    "grade_abstention",
    "grade_v1",
    "grade_value",
    "limits_corrected",
    "limits_v1",
    "output_type_of",
    "within",
]

OutputType = Literal["decimal", "integer", "date"]
LimitsRule = Literal["v1", "corrected"]
Limits = tuple[LabelValue, LabelValue]
"""Lower and upper limit, both allowed; of a label that is not a number, twice the label."""

TAGGED = re.compile(r"<answer>((?:(?!</?answer>).)*)</answer>", re.DOTALL)


class Verdict(StrEnum):
    """What a grader says of an answer."""

    CORRECT = "correct"
    WRONG = "wrong"
    FORMAT_ERROR = "format_error"


@dataclass(frozen=True)
class Grade:
    """One answer, graded.

    Attributes:
        verdict: correct, wrong, or no answer that could be read.
        abstained: the answer says that there is none; also where that is wrong.
        answer: what was read.
    """

    verdict: Verdict
    abstained: bool
    answer: LabelValue

    @property
    def correct(self) -> bool:
        """Whether the answer is right."""
        return self.verdict is Verdict.CORRECT


def output_type_of(name: str | None) -> OutputType | None:
    """Return an output type that limits and graders know; None for any other name."""
    return next((known for known in get_args(OutputType) if known == name), None)


@dataclass(frozen=True)
class Reference:
    """A label to grade against.

    Attributes:
        value: the label: a number, a date, a category or an abstention.
        lower: lowest right answer.
        upper: highest right answer.
        output_type: decimal, integer or date, as the benchmark says; grader A goes by it.
    """

    value: LabelValue
    lower: LabelValue
    upper: LabelValue
    output_type: OutputType | None = None

    @classmethod
    def of(cls, value: LabelValue, rule: LimitsRule, output_type: OutputType | None = None) -> Reference:
        """Return a label with the limits of a release's rule.

        Raises:
            ValueError: the rule goes by output type and a number has none.
        """
        limits = limits_corrected(value) if rule == "corrected" else limits_v1(value, output_type)
        return cls(value, *limits, output_type)


def limits_v1(value: LabelValue, output_type: OutputType | None) -> Limits:
    """Return the limits of MedCalc-Bench v1.0: 5% about a decimal, the label itself for all else.

    The point scores Wells PE and MELD-Na have output type decimal there, and so 5%.

    Raises:
        ValueError: a number without an output type.
    """
    if value.number is not None and output_type is None:
        raise ValueError("the limits of v1.0 go by output type")
    if value.number is None or output_type != "decimal":
        return value, value
    # The published limits are those of decimal arithmetic: 0.95 * 106.192 is 100.8824, not 100.88239999999999.
    exact = Decimal(repr(value.number))
    return _ordered(*(float(exact * Decimal(share)) for share in ("0.95", "1.05")))


def limits_corrected(value: LabelValue) -> Limits:
    """Return the limits of the corrected labels: 5% about every number, dates and N/A themselves.

    Whole numbers and days of gestation get 5% too: below 20 only the label itself is a right whole number, from 20 on
    its neighbours are right as well.
    """
    return (value, value) if value.number is None else _ordered(0.95 * value.number, 1.05 * value.number)


def _ordered(first: float, second: float) -> Limits:
    return LabelValue.of(min(first, second)), LabelValue.of(max(first, second))


def within(answer: LabelValue, reference: Reference) -> bool:
    """Say whether an answer is of the label's kind and within the limits, both allowed, without any rounding."""
    if answer.kind is not reference.value.kind:
        return False
    low, high = reference.lower, reference.upper
    if answer.number is not None and low.number is not None and high.number is not None:
        return low.number <= answer.number <= high.number
    if answer.day is not None and low.day is not None and high.day is not None:
        return low.day <= answer.day <= high.day
    return answer.value == reference.value.value


# Grader B


def answer_in_tags(text: str) -> str | None:
    """Return what the last closed pair of ``<answer>`` tags holds, without blanks around; None where there is none.

    An opening tag after it that is never closed changes nothing.
    """
    answers = TAGGED.findall(text)
    return answers[-1].strip() if answers else None


def grade_abstention(text: str | None, reference: Reference, *, categories: Collection[str] = ()) -> Grade:
    """Grade a whole response, abstentions being answers (grader B; arXiv 2512.19691, section 3.3).

    The answer stands in the last ``<answer>...</answer>``. Without a closed tag, or with nothing in it that can be
    read, the response has a format error. Where the label is N/A only an abstention is right; elsewhere an abstention
    is wrong, a number is right within the limits, a date if it is the day.

    Args:
        text: the response.
        reference: the label with its limits.
        categories: names that labels can be, where they are names.
    """
    return grade_value(answer_in_tags(text or ""), reference, categories=categories)


def grade_value(answer: str | None, reference: Reference, *, categories: Collection[str] = ()) -> Grade:
    """Grade an answer that was taken out of its tags already, by the same rules."""
    label = parse_label(answer, categories=categories)
    if not label.answered:
        return Grade(Verdict.FORMAT_ERROR, False, label)
    abstained = label.kind is LabelKind.ABSTENTION
    right = reference.value.kind is LabelKind.ABSTENTION if abstained else within(label, reference)
    return Grade(Verdict.CORRECT if right else Verdict.WRONG, abstained, label)


# Grader A

TWO_INTEGERS = re.compile(r"\D*(\d{1,9})\D+(\d{1,9})\D*")
DAYS_A_WEEK = 7
OPERATORS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
LONGEST_EXPRESSION = 200


def grade_v1(answer: str | None, reference: Reference) -> bool:
    """Say whether MedCalc-Bench v1.0 would call an answer right (grader A).

    By output type: dates are equal as MM/DD/YYYY; of weeks and days both whole numbers are equal; a whole number equals
    the answer rounded to the nearest one (half to even); a decimal has the answer within its limits. What cannot be
    evaluated is wrong, N/A included, and so is every answer to a label that is N/A. Nothing else is accepted: no unit,
    no comma of thousands, no text around the number; sums, products and quotients of numbers are evaluated, as the
    benchmark does.

    Args:
        answer: the short answer, as a model's response was reduced to it.
        reference: label, limits and output type. Only a label with ``weeks_days`` is compared by weeks and days; one
            that is a whole number of days asks for that number.

    Raises:
        ValueError: the reference has no output type.
    """
    text, label = (answer or "").strip(), reference.value
    if reference.output_type is None:
        raise ValueError("grader A goes by output type")
    if label.day is not None:
        return _written_day(text) == label.day
    if label.number is None:
        return False
    if label.weeks_days:
        parts = TWO_INTEGERS.fullmatch(text)
        return parts is not None and (int(parts[1]), int(parts[2])) == divmod(label.number, DAYS_A_WEEK)
    number = _evaluated(text)
    if number is None:
        return False
    if reference.output_type == "integer":
        return math.isfinite(number) and round(number) == label.number
    low, high = reference.lower.number, reference.upper.number
    return low is not None and high is not None and low <= number <= high


def _written_day(text: str) -> date | None:
    try:
        return datetime.strptime(text, "%m/%d/%Y").date()
    except ValueError:
        return None


def _evaluated(text: str) -> float | None:
    """Return the value of a number, or of an expression of numbers; None where it is none."""
    if len(text) > LONGEST_EXPRESSION:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):  # of words that follow a number without a blank
            return _value(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError, RecursionError):
        return None


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return float(node.value)  # type: ignore[arg-type]
    if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.operand))
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    raise ValueError(type(node).__name__)
