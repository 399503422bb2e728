"""Numbers, quantities and sides of a text."""

from __future__ import annotations

import pytest

from builders.medval.quantities import numbers_of, quantities_of, sides_of


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Creatinine 0.6 mg/dL.", [0.6]),
        ("White blood cell count of 14,000.", [14000]),
        ("blood pressure 102/73 mm Hg", [102, 73]),
        ("twenty-two of one hundred and five", [22, 105]),
        ("two thousand three hundred", [2300]),
        ("two or three, four five", [2, 3, 4, 5]),
        ("often, tension, hone", []),
    ],
)
def test_a_number_is_whole_in_digits_and_words(text: str, values: list[float]) -> None:
    numbers = numbers_of(text)
    assert [number.value for number in numbers] == values
    assert all(text[number.begin : number.end].strip() == text[number.begin : number.end] for number in numbers)


@pytest.mark.parametrize(
    ("text", "base", "value"),
    [
        ("500 mg", "g", 0.5),
        ("0.5 grams", "g", 0.5),
        ("250 mcg", "g", 0.00025),
        ("10 units", "unit", 10),
        ("10 cc", "l", 0.01),
        ("bid", "day", 2),
        ("q8h", "day", 3),
        ("q.6 hours", "day", 4),
        ("three times a day", "day", 3),
        ("every other day", "day", 0.5),
        ("weekly", "day", 1 / 7),
        ("at bedtime", "day", 1),
    ],
)
def test_a_quantity_is_the_same_in_any_unit(text: str, base: str, value: float) -> None:
    (quantity,) = quantities_of(text, numbers_of(text))
    assert (quantity.base, quantity.end) == (base, len(text))
    assert quantity.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        ("The left knee hurts.", [("left", {"knee", "hurts"})]),
        ("R knee", [("right", {"knee"})]),
        ("It is right under the heel, all right now.", []),
    ],
)
def test_a_side_is_of_a_part_of_the_body(text: str, sides: list[tuple[str, set[str]]]) -> None:
    assert [(side.side, set(side.parts)) for side in sides_of(text, {"the"})] == sides
