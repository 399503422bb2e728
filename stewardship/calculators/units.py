"""Units of clinical quantities: spellings as found in tables of features, and conversions by pint.

Concentrations are converted between mass, amount and equivalents by the molar mass and charge of their substance
(``stewardship/data/substances.tsv``).
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoground.errors import InputError
from ontoground.tables import read_table

if TYPE_CHECKING:
    import pint

__all__ = ["UnitError", "convert"]

DATA = Path(__file__).parents[1] / "data"


class UnitError(InputError):
    """A unit is not known, or one cannot be converted to another."""


def convert(value: float, unit: str, target: str, substance: str | None = None, *, as_written: bool = False) -> float:
    """Convert a value between units that are written as in a table of features.

    Args:
        value: in ``unit``.
        unit: a spelling of ``stewardship/data/unit_spellings.tsv``; case and spaces at its ends do not matter.
        target: the same.
        substance: what a concentration is of, for conversions between mass, amount and equivalents.
        as_written: take a misspelt unit as MedCalc-Bench v1.0 did, not as what was meant.

    Raises:
        UnitError: a spelling is not known, the units measure different things, or the substance is not known.
    """
    registry = _registry()
    quantity = registry.Quantity(value, _unit(unit, as_written))
    wanted = _unit(target, as_written)
    if quantity.is_compatible_with(wanted):
        return float(quantity.to(wanted).magnitude)
    if substance is None:
        raise UnitError("a unit cannot be converted", found=unit, expected=target)
    of_mole = _of_mole(substance)
    have, want = (
        next((one for one in of_mole if compatible(f"{one}/liter")), None)
        for compatible in (quantity.is_compatible_with, registry.Quantity(1.0, wanted).is_compatible_with)
    )
    if have is None or want is None:
        raise UnitError(f"a unit of {substance} cannot be converted", found=unit, expected=target)
    amount = quantity.to(f"{have}/liter").magnitude / of_mole[have]
    return float(registry.Quantity(amount * of_mole[want], f"{want}/liter").to(wanted).magnitude)


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
    return registry


@functools.cache
def _spellings() -> dict[str, tuple[str, str]]:
    rows = read_table(DATA / "unit_spellings.tsv", ("spelling", "unit", "as_written", "note", "source"))
    return {row["spelling"]: (row["unit"], row["as_written"] or row["unit"]) for row in rows}


@functools.cache
def _unit(spelling: str, as_written: bool) -> pint.Unit:
    # Two characters look like the micro sign; lower case makes one of them of the other.
    known = _spellings().get(" ".join(spelling.lower().split()).replace("\u03bc", "\u00b5"))
    if known is None:
        raise UnitError("a unit is not known", found=spelling, expected="a spelling of unit_spellings.tsv")
    return _registry().parse_units(known[1] if as_written else known[0])


@functools.cache
def _of_mole(substance: str) -> dict[str, float]:
    """Return how much a mole of a substance is, in grams, moles, and equivalents where it is an ion."""
    rows = read_table(DATA / "substances.tsv", ("substance", "molar_mass", "charge", "source"))
    for row in rows:
        if row["substance"] == substance:
            charge = {"equivalent": float(row["charge"])} if row["charge"] else {}
            return {"gram": float(row["molar_mass"]), "mole": 1.0, **charge}
    raise UnitError("a substance is not known", found=substance, expected=", ".join(row["substance"] for row in rows))
