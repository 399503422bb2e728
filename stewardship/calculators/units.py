"""Units of clinical quantities: spellings as found in tables of features, and conversions by pint.

Concentrations are converted between mass, amount and equivalents by the molar mass and charge of their substance
(``stewardship/data/substances.tsv``).
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ground import ROOT
from ground.errors import InputError
from ground.storage.tables import read_table
from stewardship.calculators.units_v1 import convert_v1, round_v1

if TYPE_CHECKING:
    import pint

__all__ = ["DATA", "UnitError", "convert", "is_unit"]

DATA = ROOT / "stewardship" / "data"
"""Folder of the tables."""


class UnitError(InputError):
    """A unit is not known, or one cannot be converted to another."""


def convert(value: float, unit: str, target: str, substance: str | None = None, *, as_v1: bool = False) -> float:
    """Convert a value between units that are written as in a table of features.

    Args:
        value: in ``unit``.
        unit: a spelling of ``stewardship/data/unit_spellings.tsv``; case and spaces at its ends do not matter.
        substance: what a concentration is of, for conversions between mass, amount and equivalents.
        as_v1: convert as MedCalc-Bench v1.0 did: misspelt units are taken as written, and every step is rounded.

    Raises:
        UnitError: a spelling is not known, the units measure different things, or the substance is not known.
    """
    wanted, have = _unit(target, as_v1), _unit(unit, as_v1)
    if have == wanted and not as_v1:
        return float(value)
    quantity = _registry().Quantity(value, have)
    if as_v1:
        of_mole = _of_mole(substance, True) if substance else {}
        rounded = convert_v1(
            value, _normalised(unit), _normalised(target), of_mole.get("gram"), of_mole.get("equivalent")
        )
        if rounded is not None:
            return rounded
    if quantity.is_compatible_with(wanted):
        result = float(quantity.to(wanted).magnitude)
        return round_v1(result) if as_v1 and _normalised(unit) != _normalised(target) else result
    if substance is None:
        raise UnitError("a unit cannot be converted", found=unit, expected=target)
    return _across(value, unit, target, substance)


def is_unit(text: str) -> bool:
    """Whether a text is a unit as ``stewardship/data/unit_spellings.tsv`` spells it."""
    return _normalised(text) in _spellings()


def _across(value: float, unit: str, target: str, substance: str) -> float:
    """Convert a concentration between mass, amount and equivalents."""
    of_mole = _of_mole(substance, False)
    quantity, wanted = _registry().Quantity(value, _unit(unit, False)), _unit(target, False)
    have = next((item for item in of_mole if quantity.is_compatible_with(f"{item}/liter")), None)
    want = next(
        (item for item in of_mole if _registry().Quantity(1.0, wanted).is_compatible_with(f"{item}/liter")), None
    )
    if have is None or want is None:
        raise UnitError(f"a unit of {substance} cannot be converted", found=unit, expected=target)
    moles = quantity.to(f"{have}/liter").magnitude / of_mole[have]
    return float(_registry().Quantity(moles * of_mole[want], f"{want}/liter").to(wanted).magnitude)


@functools.cache
def _registry() -> pint.UnitRegistry[Any]:
    import pint

    registry: pint.UnitRegistry[Any] = pint.UnitRegistry(autoconvert_offset_to_baseunit=False)
    registry.define("equivalent = [equivalence]")
    registry.define("milliequivalent = 1e-3 * equivalent")
    # International units measure an effect, not an amount: no conversion leads out of them.
    registry.define("biological_unit = [biological_effect]")
    registry.define("micro_iu = 1e-6 * biological_unit")
    registry.define("milli_iu = 1e-3 * biological_unit")
    # Counts of cells are given by the thousand and by the thousand million.
    registry.define("kilo_count = 1e3")
    registry.define("giga_count = 1e9")
    return registry


@functools.cache
def _spellings() -> dict[str, tuple[str, str]]:
    rows = read_table(DATA / "unit_spellings.tsv", ("spelling", "unit", "as_written", "note", "source"))
    return {row["spelling"]: (row["unit"], row["as_written"] or row["unit"]) for row in rows}


@functools.cache
def _unit(spelling: str, as_v1: bool) -> pint.Unit:
    known = _spellings().get(_normalised(spelling))
    if known is None:
        raise UnitError("a unit is not known", found=spelling, expected="a spelling of unit_spellings.tsv")
    return _registry().parse_units(known[1] if as_v1 else known[0])


def _normalised(spelling: str) -> str:
    # Two characters look like the micro sign; lower case makes one of them of the other.
    return " ".join(spelling.lower().split()).replace("\u03bc", "\u00b5")


@functools.cache
def _of_mole(substance: str, as_v1: bool) -> dict[str, float]:
    """Return how much a mole of a substance is, in grams, moles, and equivalents where it is an ion."""
    rows = read_table(DATA / "substances.tsv", ("substance", "molar_mass", "charge", "molar_mass_v1", "source"))
    for row in rows:
        if row["substance"] == substance:
            mass = (row["molar_mass_v1"] if as_v1 else "") or row["molar_mass"]
            charge = {"equivalent": float(row["charge"])} if row["charge"] else {}
            return {"gram": float(mass), "mole": 1.0, **charge}
    raise UnitError("a substance is not known", found=substance, expected=", ".join(row["substance"] for row in rows))
