"""Numbers of a text: whole, and the same wherever they are asked for."""

from __future__ import annotations

import pytest

from builders.medval.judge.quantities import implied_in, is_measure, measures_of, numbers_of, sides_of
from tests.builders.medval.rules_world import Engine, item


@pytest.mark.parametrize(
    ("text", "values", "measured"),
    [
        ("Creatinine 0.6 mg/dL.", {0.6}, True),
        ("Serum glucose was 101 mg / dL", {101}, True),
        ("White blood cell count of 14,000.", {14000}, False),
        ("a lesion of 1.5 cm", {1.5}, True),
        ("A 57-year-old man", {57}, True),
        ("blood pressure 102/73 mm Hg", {102, 73}, True),
        ("weight stable for 3 days", {3}, False),
    ],
)
def test_a_number_is_whole_and_may_be_measured(text: str, values: set[float], measured: bool) -> None:
    found = numbers_of(text)
    assert {value for one in found for value in one.values} == values
    assert {is_measure(text, one) for one in found} == {measured}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("in his 60s", {*range(60, 70)}),
        ("systolic in the 140's", {*range(140, 150)}),
        ("on 11/5/92", {11, 5, 92, 1992, 2092}),
        ("60 seconds", {60}),
    ],
)
def test_a_decade_holds_its_numbers_and_a_date_its_year(text: str, values: set[float]) -> None:
    assert {value for one in numbers_of(text) for value in one.values} == values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("take point one twenty five milligrams", 0.125),
        ("it is . five centimeters", 0.5),
        ("your temperature is one o two point six", 102.6),
        ("a couple months back", 2),
        ("take couple more", 2),
        ("a baby aspirin every day", 81),
    ],
)
def test_what_people_say_for_a_number_may_mean_it(text: str, value: float) -> None:
    said = numbers_of(text)
    assert value in {value for one in (*said, *implied_in(text, said)) for value in one.values}


def test_the_clock_is_no_zero() -> None:
    assert {value for one in numbers_of("at two o'clock, or one o clock") for value in one.values} == {1, 2}


def test_a_decade_in_words_is_implied() -> None:
    text = "he was in his sixties"
    assert {value for one in implied_in(text, numbers_of(text)) for value in one.values} == {*range(60, 70)}


@pytest.mark.parametrize(
    ("text", "base", "value"),
    [
        ("500 mg", "g", 0.5),
        ("0.5 grams", "g", 0.5),
        ("half a milligram", "g", 0.0005),
        ("250 mcg", "g", 0.00025),
        ("10 units", "unit", 10),
    ],
)
def test_a_quantity_is_one_in_any_unit(text: str, base: str, value: float) -> None:
    (found,) = measures_of(text, numbers_of(text))
    assert found.base == base
    assert found.values == {value}


def test_a_text_agrees_with_its_own_numbers(rules: Engine) -> None:
    text = "Creatinine 0.6 mg/dL, white blood cell count 14,000/mm3, glucose 1,250 mg/dL."
    assert rules.judge(item("dialogue2note", text, None), text).risk_level == 1
    other = text.replace("14,000", "4,000")
    assert rules.judge(item("dialogue2note", text, None), other).risk_level == 3


@pytest.mark.parametrize(
    ("said", "values"),
    [
        ("eleven two", {11.2}),
        ("thirty-seven four", {37.4}),
        ("one oh two point four", {102.4}),
        ("one point oh five", {1.05}),
        ("eight point nine nine point one", {8.9, 9.1}),
        ("one thirty two over eighty", {132, 80}),
        ("thirty four times", {30}),
    ],
)
def test_numbers_are_heard_as_people_say_them(said: str, values: set[float]) -> None:
    assert values <= {value for one in numbers_of(said) for value in one.values}


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("half an hour", 30),
        ("a quarter of an hour", 15),
        ("one hour and half", 1.5),
        ("a dozen", 12),
        ("half a stone", 7),
        ("it works in six out of ten", 60),
        ("one in four", 25),
    ],
)
def test_what_words_imply_is_a_number_too(said: str, value: float) -> None:
    assert value in {value for one in implied_in(said, numbers_of(said)) for value in one.values}


def test_a_letter_names_a_side_where_a_part_follows() -> None:
    assert [side.side for side in sides_of("L shin swollen, R knee normal, 8 mmol/L in serum", frozenset({"in"}))] == [
        "left",
        "right",
    ]


@pytest.mark.parametrize(
    ("text", "per_day"),
    [
        ("20 mg b.i.d.", 2),
        ("q6h", 4),
        ("every eight hours", 3),
        ("three times a day", 3),
        ("every other day", 0.5),
        ("once a week", 1 / 7),
        ("40 milligrams a day", 1),
        ("at bedtime", 1),
        ("monthly", 1 / 30),
        ("1 g TDS", 3),
        ("5 mg bd", 2),
        ("10 mg nocte", 1),
        ("5x/day", 5),
        ("finasteride 5 daily", 1),
    ],
)
def test_how_often_is_read_by_its_grammar(text: str, per_day: float) -> None:
    assert [one.values for one in measures_of(text, numbers_of(text)) if one.base == "day"] == [{per_day}]


@pytest.mark.parametrize(
    ("text", "is_pressure"), [("BP 132/80", True), ("37/40 pregnant", False), ("PHQ-9 14/27", False)]
)
def test_the_upper_pressure_is_the_higher(text: str, is_pressure: bool) -> None:
    assert is_measure(text, numbers_of(text)[-1]) is is_pressure


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("six hundred six hundred", 600),
        ("one thirty two", 132),
        ("twenty twenty one", 2021),
        ("eight point one", 8.1),
        ("fourteen thousand five hundred", 14500),
    ],
)
def test_spoken_numbers_are_read(text: str, value: float) -> None:
    (number,) = numbers_of(text)
    assert value in number.values
