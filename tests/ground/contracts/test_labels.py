"""Label values: every spelling that is known, nothing guessed, and text that reads back as the same label."""

from __future__ import annotations

import csv
import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ground.contracts.labels import ABSTENTION, LabelKind, LabelValue, parse_label

values = st.one_of(st.none(), st.dates(), st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0))


@given(values)
def test_text_reads_back_as_the_same_label(value: float | date | None) -> None:
    label = LabelValue.of(value)
    assert parse_label(label.text()) == label
    assert parse_label(f"  {label.text()}\n") == label


@given(st.sampled_from(["Q1", "Q2", "NEI", "4", "a b"]))
def test_names_read_back_in_any_case(name: str) -> None:
    names = ("Q1", "Q2", "NEI", "4", "a b")
    for written in (name, name.lower(), f" {name.upper()} "):
        assert parse_label(written, categories=names) == LabelValue.of(name)


@given(st.text())
def test_any_text_is_some_label_and_a_number_is_finite(text: str) -> None:
    label = parse_label(text)
    assert (label.kind is LabelKind.MISSING) == (not text.strip())
    if label.kind in (LabelKind.NUMBER, LabelKind.DATE, LabelKind.ABSTENTION):
        assert parse_label(label.text()) == label


@given(st.integers(0, 60), st.integers(0, 6))
def test_weeks_and_days_are_days_in_every_form(weeks: int, days: int) -> None:
    forms = (
        f"('{weeks} weeks', '{days} days')",
        f"('{weeks} week', '{days} day')",
        f"({weeks} weeks, {days} days)",
        f"({weeks} week, {days} day)",
        f"({weeks}, {days})",
        f"('{weeks}', '{days}')",
        f"{weeks} weeks, {days} days",
        f"{weeks} weeks and {days} days",
        f"{weeks} WEEKS {days} Days",
        f"{weeks} weeks + {days} days",
        f"{weeks}w {days}d",
    )
    for form in forms:
        label = parse_label(form)
        assert (label.number, label.weeks_days) == (7 * weeks + days, True), form
    assert parse_label(forms[0]) == LabelValue.of(7 * weeks + days)


@pytest.mark.parametrize(
    "text", ["N/A", "n/a", "NA", "na", " Unknown ", "UNKNOWN", "not available", "Not applicable", "N/a\t"]
)
def test_an_abstention_is_one_in_every_spelling(text: str) -> None:
    label = parse_label(text)
    assert label.kind is LabelKind.ABSTENTION and label.value is None and label.text() == ABSTENTION


@pytest.mark.parametrize("text", [None, "", "  ", "\n\t"])
def test_nothing_said_is_no_abstention(text: str | None) -> None:
    for physician in (False, True):
        assert parse_label(text, physician=physician) == LabelValue(LabelKind.MISSING)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("03/21/2006", date(2006, 3, 21)),
        ("3/1/2006", date(2006, 3, 1)),
        ("2014/09/12", date(2014, 9, 12)),
        ("2006-03-21", date(2006, 3, 21)),
        ("2006-03-21 00:00:00", date(2006, 3, 21)),
        ("2006-03-21T13:05:00.000000Z", date(2006, 3, 21)),
        ("due on 03/21/2006.", date(2006, 3, 21)),
    ],
)
def test_dates_in_every_form_are_days(text: str, day: date) -> None:
    assert parse_label(text) == LabelValue.of(day)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("25.238", 25.238),
        ("78.1 ml/hr", 78.1),
        ("-0.0943", -0.0943),
        ("\u22120.5", -0.5),
        ("- 5", -5),
        ("\u20135", -5),
        ("+25", 25),
        (".5", 0.5),
        ("5.", 5),
        ("2.5e1", 25),
        ("1,434", 1434),
        ("1,434,000.5", 1434000.5),
        ("about 12 points", 12),
        ("10-20", 10),
        ("9, within 4 weeks", 9),
        ("99 days", 99),
        ("(5)", 5),
        ("38.0", 38),
    ],
)
def test_a_number_is_the_first_signed_one(text: str, number: float) -> None:
    assert parse_label(text) == LabelValue.of(number)


@pytest.mark.parametrize(
    "text",
    [
        *("4,4", "9" * 5000 + " weeks", "1,23", "1,4345", "high", "nan", "inf", "null", "None", "-", "1e999"),
        *("13/45/2006", "02/30/2014", "2006-02-30"),
        *("3/21/06", "21.03.2006", "March 21, 2006", "21 Mar 2006", "21st March 2006"),
        *("14 weeks of gestation", "14.5 weeks", "about 14 weeks, 1 day"),
    ],
)
def test_what_fits_no_form_is_unparseable(text: str) -> None:
    label = parse_label(text)
    assert label.kind is LabelKind.UNPARSEABLE and not label.answered and label.text() == ""


def test_physicians_words_without_a_digit_are_abstentions() -> None:
    for text in ("Multiple", "multiple", "cannot be computed", "N/A"):
        assert parse_label(text, physician=True).kind is LabelKind.ABSTENTION
    assert parse_label("Multiple").kind is LabelKind.UNPARSEABLE
    assert parse_label("4,4", physician=True).kind is LabelKind.UNPARSEABLE
    assert parse_label("9", physician=True) == LabelValue.of(9)
    assert parse_label("Q9", physician=True, categories=("Q1",)).kind is LabelKind.UNPARSEABLE


@pytest.mark.real
def test_the_published_cases_are_read(real_data: Path) -> None:
    """Case S1."""
    checks = real_data / "stewardship"
    case = next(one for one in json.loads((checks / "checks.json").read_text())["shown"] if one["id"] == "S1")
    with (checks / "checks" / case["input"][0]).open(newline="", encoding="utf-8") as lines:
        raw = {int(row["row"]): row["raw"] for row in csv.DictReader(lines)}
    assert len(raw) == len(case["expected"]) == 12
    for expected in case["expected"]:
        label = parse_label(raw[expected["row"]])
        value = label.day.isoformat() if label.day else label.value
        assert {"row": expected["row"], "kind": label.kind.value, "value": value} == expected


@pytest.mark.real
def test_every_published_label_is_read(real_data: Path) -> None:
    shown = real_data / "stewardship" / "checks" / "shown"
    with (shown / "labels_887.csv").open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    kinds = {column: [parse_label(row[column]).kind for row in rows] for column in ("y_orig", "y_new", "y_final")}
    assert all(LabelKind.UNPARSEABLE not in of and LabelKind.MISSING not in of for of in kinds.values())
    assert {column: of.count(LabelKind.ABSTENTION) for column, of in kinds.items()} == {
        "y_orig": 0,
        "y_new": 66,
        "y_final": 69,
    }


@pytest.mark.parametrize(
    ("number", "rounded"),
    [
        (25.238, 25.24),
        (0.125, 0.12),
        (0.07418, 0.074),
        (-0.07418, -0.074),
        (0.00419, 0.0042),
        (0.0, 0.0),
        (1434.0, 1434.0),
    ],
)
def test_a_number_is_rounded_to_decimals_and_keeps_two_digits(number: float, rounded: float) -> None:
    assert LabelValue.of(number).rounded(2) == LabelValue.of(rounded)


def test_a_label_that_is_no_number_is_rounded_to_itself() -> None:
    assert [parse_label(text).rounded(2).text() for text in ("N/A", "03/21/2006")] == ["N/A", "03/21/2006"]
    weeks = parse_label("14 weeks, 1 day").rounded(2)
    assert weeks.weeks_days and weeks.number == 99
