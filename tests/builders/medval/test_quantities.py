"""Numbers of a text: whole, and the same wherever they are asked for."""

from __future__ import annotations

import pytest

from builders.medval.judge.quantities import measured_of, numbers_of, rates_of
from tests.builders.medval.rules_world import Engine, item


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Creatinine 0.6 mg/dL.", (0.6,)),
        ("Serum glucose was 101 mg / dL", (101,)),
        ("white count 14,000/mm3", (14000,)),
        ("White blood cell count of 14,000.", (14000,)),
        ("a lesion of 1.5 cm", (1.5,)),
        ("A 57-year-old man", (57,)),
        ("blood pressure 102/73 mm Hg", (102, 73)),
        ("potassium 40 mg", ()),
        ("weight stable for 3 days", ()),
        ("muscle power, pulse 3/5", ()),
    ],
)
def test_a_measured_value_is_the_whole_number(text: str, values: tuple[float, ...]) -> None:
    found = [value for one in measured_of(text) for value in one.values]
    assert tuple(found) == values
    assert set(found) <= {value for number in numbers_of(text) for value in number.values}


def test_a_text_agrees_with_its_own_numbers(rules: Engine) -> None:
    text = "Creatinine 0.6 mg/dL, white blood cell count 14,000/mm3, glucose 1,250 mg/dL."
    assert rules.judge(item("dialogue2note", text, None), text).risk_level == 1
    other = text.replace("14,000", "4,000")
    assert rules.judge(item("dialogue2note", text, None), other).risk_level == 3


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
    ],
)
def test_how_often_is_read_by_its_grammar(text: str, per_day: float) -> None:
    assert [rate for *_, rate in rates_of(text, 0, len(text))] == [per_day]


@pytest.mark.parametrize(
    ("text", "value"), [("six hundred six hundred", 600), ("one thirty two", 132), ("twenty twenty one", 2021)]
)
def test_spoken_numbers_are_read(text: str, value: float) -> None:
    (number,) = numbers_of(text)
    assert value in number.values
