"""Equivalent doses of steroids and opioids: calculators 24 and 49."""

from __future__ import annotations

import functools
import math

from ground import ROOT
from ground.storage.tables import read_table
from stewardship.calculators.features import Features, NotComputable
from stewardship.calculators.registry import Version, calculator
from stewardship.calculators.units_v1 import round_v1

__all__: list[str] = []

DATA = ROOT / "stewardship" / "data"


@functools.cache
def _steroids() -> dict[str, float]:
    rows = read_table(DATA / "steroids.tsv", ("steroid", "dose", "source"))
    return {row["steroid"]: float(row["dose"]) for row in rows}


@functools.cache
def _opioids() -> dict[str, tuple[float, str]]:
    rows = read_table(DATA / "opioids.tsv", ("opioid", "factor", "unit", "source"))
    return {row["opioid"]: (float(row["factor"]), row["unit"]) for row in rows}


def _equivalent_dose(name: str) -> float:
    known = {steroid.casefold(): dose for steroid, dose in _steroids().items()}
    dose = known.get(" ".join(name.split()).casefold())
    if dose is None:
        raise NotComputable(f"no equivalent dose of this steroid is known: {name[:40]}; of {', '.join(_steroids())}")
    return dose


@calculator(24)
def _equivalent_steroid(features: Features, version: Version) -> float:
    given = features.parts("input steroid")
    target = features.choice("target steroid", tuple(_steroids()))
    if len(given) != 3 or not isinstance(given[0], str):
        raise NotComputable("input steroid is no steroid with a dose and its unit")
    dose = Features({"dose": list(given[1:])}, lenient=features.lenient).quantity("dose", "mg")
    if not features.lenient and dose <= 0:
        raise NotComputable(f"the dose is not above zero: {dose:g} mg")
    of_given, of_target = _equivalent_dose(given[0]), _equivalent_dose(target)
    features.step(f"{of_given:g} mg of {given[0]} do what {of_target:g} mg of {target} do")
    if version == "v1.0":
        # It rounded doses equivalent to 1 mg of dexamethasone, and their ratio again.
        ratio = round(of_target / 0.75, 2) / round(of_given / 0.75, 2)
        return dose * round_v1(ratio)
    return dose * of_target / of_given


@calculator(49)
def _morphine_equivalents(features: Features, version: Version) -> float:
    total = 0.0
    drugs = [name.removesuffix(" Dose") for name in features.cells if name.endswith(" Dose")]
    if not drugs:
        raise NotComputable("no dose of an opioid is given")
    known = {name.casefold(): (name, *row) for name, row in _opioids().items()}
    for drug in drugs:
        if drug.casefold() not in known:
            raise NotComputable(f"no conversion factor of this opioid is known: {drug[:40]}")
        name, factor, unit = known[drug.casefold()]
        if version == "v1.0" and unit == "µg/hr":
            unit = "mg"  # it multiplied the milligrams of a patch by the factor for micrograms an hour
        dose = features.quantity(f"{drug} Dose", unit)
        times = features.quantity(f"{drug} Dose Per Day", "per day")
        if not features.lenient and (dose < 0 or times < 0 or not math.isfinite(dose * times)):
            raise NotComputable(f"the dose of {name} is not above zero")
        if not features.lenient and unit == "µg/hr" and not times.is_integer():
            # A patch is worn for days, but its factor takes it for one dose a day.
            raise NotComputable(f"the doses a day of {name} are patches worn at a time, a whole number: {times:g}")
        equivalents = dose * times * factor
        features.step(f"{name}: {dose:g} {unit} x {times:g} a day x {factor:g} = {equivalents:.6g} MME/day")
        total += equivalents
    return total
