"""Features as a person types them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from ground.errors import UsageError
from stewardship.calculators.features import FLAGS, substance_of
from stewardship.calculators.inputs import Input, inputs_of
from stewardship.calculators.names import feature_of
from stewardship.calculators.units import convert

__all__ = ["read_settings_of"]

SEXES = {"m": "Male", "man": "Male", "f": "Female", "woman": "Female"}
AMOUNT = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*([^\s\d.,].*)", re.IGNORECASE)
"""A number and its unit, with or without a space between them."""


def read_settings_of(number: int, settings: Iterable[str]) -> dict[str, object]:
    """Read features as a person types them, each ``NAME=VALUE``.

    A name may be written as `stewardship.calculators.names.feature_of` reads it. A quantity is a number and its unit
    (``age=65 years``), or the number alone where all units of the calculator's rows are the same (mEq/L and mmol/L of
    sodium); a dose is a drug, a number and a unit.

    Returns:
        The cells that `stewardship.calculators.features.Features` takes.

    Raises:
        UsageError: no pair, no feature of this calculator, given twice, or a value that is no such thing.
    """
    known = {one.feature: one for one in inputs_of(number)}
    cells: dict[str, object] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not (name.strip() and equals and text.strip()):
            raise UsageError("--set cannot be read", found=setting, expected='NAME=VALUE, such as "age=65 years"')
        one = known.get(feature_of(number, name.strip()) or "")
        if one is None:
            folded = {feature.casefold(): feature for feature in known}
            near = difflib.get_close_matches(name.strip().casefold(), folded, n=3, cutoff=0.4)
            names = [folded[key] for key in near] or [*known]
            raise UsageError(
                f"calculator {number} reads no such feature", found=name.strip(), expected=" or ".join(names)
            )
        if one.feature in cells:
            raise UsageError("a feature is given twice", found=one.feature)
        cells[one.feature] = _cell(one, " ".join(text.split()))
    return cells


def _cell(one: Input, text: str) -> object:
    if one.kind == "quantity":
        return _quantity(one, text)
    if one.kind == "number":
        return _number(one, text)
    if one.kind == "flag" or (one.kind == "choice" and {"yes", "no"} <= set(one.words)):
        value = FLAGS.get(text.casefold())
        if value is None and one.kind == "flag":
            raise UsageError(f"{one.feature} is neither yes nor no", found=text)
        return text if value is None else value
    if one.kind == "dose":
        parts = text.rsplit(" ", 2)
        if len(parts) != 3:
            raise UsageError(f"{one.feature} cannot be read", found=text, expected="a drug, a number and a unit")
        return [parts[0], _number(one, parts[1]), parts[2]]
    return SEXES.get(text.casefold(), text) if one.feature == "sex" else text


def _quantity(one: Input, text: str) -> list[object]:
    joined = AMOUNT.fullmatch(text)
    number, unit = joined.groups() if joined else (text.partition(" ")[0], text.partition(" ")[2])
    if not unit and len({convert(1.0, each, one.units[0], substance_of(one.feature)) for each in one.units}) > 1:
        raise UsageError(f"{one.feature} needs a unit", found=text, expected=" or ".join(one.units))
    return [_number(one, number), unit or one.units[0]]


def _number(one: Input, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise UsageError(f"{one.feature} is not a number", found=text, expected=_expected(one)) from error


def _expected(one: Input) -> str:
    return f"a number, as 1.5 {one.units[0]}" if one.units else "a number, as 1.5"
