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
    known = {item.feature: item for item in inputs_of(number)}
    cells: dict[str, object] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not (name.strip() and equals and text.strip()):
            raise UsageError("--set cannot be read", found=setting, expected='NAME=VALUE, such as "age=65 years"')
        item = known.get(feature_of(number, name.strip()) or "")
        if item is None:
            folded = {feature.casefold(): feature for feature in known}
            near = difflib.get_close_matches(name.strip().casefold(), folded, n=3, cutoff=0.4)
            names = [folded[key] for key in near] or [*known]
            raise UsageError(
                f"calculator {number} reads no such feature", found=name.strip(), expected=" or ".join(names)
            )
        if item.feature in cells:
            raise UsageError("a feature is given twice", found=item.feature)
        cells[item.feature] = _cell(item, " ".join(text.split()))
    return cells


def _cell(item: Input, text: str) -> object:
    if item.kind == "quantity":
        return _quantity(item, text)
    if item.kind == "number":
        return _number(item, text)
    if item.kind == "flag" or (item.kind == "choice" and {"yes", "no"} <= set(item.words)):
        value = FLAGS.get(text.casefold())
        if value is None and item.kind == "flag":
            raise UsageError(f"{item.feature} is neither yes nor no", found=text)
        return text if value is None else value
    if item.kind == "dose":
        parts = text.rsplit(" ", 2)
        if len(parts) != 3:
            raise UsageError(f"{item.feature} cannot be read", found=text, expected="a drug, a number and a unit")
        return [parts[0], _number(item, parts[1]), parts[2]]
    return SEXES.get(text.casefold(), text) if item.feature == "sex" else text


def _quantity(item: Input, text: str) -> list[object]:
    joined = AMOUNT.fullmatch(text)
    number, unit = joined.groups() if joined else (text.partition(" ")[0], text.partition(" ")[2])
    if not unit and len({convert(1.0, each, item.units[0], substance_of(item.feature)) for each in item.units}) > 1:
        raise UsageError(f"{item.feature} needs a unit", found=text, expected=" or ".join(item.units))
    return [_number(item, number), unit or item.units[0]]


def _number(item: Input, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise UsageError(f"{item.feature} is not a number", found=text, expected=_expected(item)) from error


def _expected(item: Input) -> str:
    return f"a number, as 1.5 {item.units[0]}" if item.units else "a number, as 1.5"
