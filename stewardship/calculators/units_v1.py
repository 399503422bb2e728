"""Conversions of concentrations as MedCalc-Bench v1.0 did them: rounded after every step, so that some labels are off.

A concentration of 2.6 mmol/L of calcium, for one, became 12.0 mg/dL (10.4): 0.0026 mol was rounded to 0.003 mol.
"""

from __future__ import annotations

__all__ = ["convert_v1", "round_v1"]

GRAMS = {"kg": 1000.0, "g": 1.0, "mg": 1e-3, "µg": 1e-6}
MOLES = {"mol": 1.0, "mmol": 1e-3, "µmol": 1e-6}
LITERS = {"l": 1.0, "dl": 0.1, "ml": 1e-3, "µl": 1e-6, "mm^3": 1e-6, "m^3": 1e3}


def round_v1(value: float) -> float:
    """Round as MedCalc-Bench v1.0 did: to 3 decimals, but to 3 significant digits below 0.001 and below zero."""
    return round(value, 3) if value > 0.001 else float(f"{value:.3g}")


def convert_v1(value: float, unit: str, target: str, molar_mass: float | None, charge: float | None) -> float | None:
    """Convert a concentration or a count per volume with the rounding of MedCalc-Bench v1.0.

    Args:
        value: in ``unit``.
        unit: such as ``mmol/L``, or ``µL`` for a count per volume.

    Returns:
        The value in ``target``; None where it is no conversion of this kind.
    """
    unit, target = unit.lower(), target.lower()
    if unit == target:
        return value
    if unit in LITERS and target in LITERS:
        return round_v1(round_v1(LITERS[target] / LITERS[unit]) * value)
    if unit.count("/") != 1 or target.count("/") != 1:
        return None
    (have, per), (want, wanted_per) = unit.split("/"), target.split("/")
    if per not in LITERS or wanted_per not in LITERS:
        return None
    if have != want:
        changed = _amount(value, have, want, molar_mass, charge)
        if changed is None:
            return None
        value = changed
    return round_v1(value / (1.0 if per == wanted_per else round_v1(LITERS[per] / LITERS[wanted_per])))


def _amount(value: float, have: str, want: str, molar_mass: float | None, charge: float | None) -> float | None:
    for scale in (GRAMS, MOLES):
        if have in scale and want in scale:
            return _scaled(value, have, want, scale)
    if have in MOLES and want in GRAMS and molar_mass:
        return _scaled(round_v1(_scaled(value, have, "mol", MOLES) * molar_mass), "g", want, GRAMS)
    if have in GRAMS and want in MOLES and molar_mass:
        return _scaled(round_v1(_scaled(value, have, "g", GRAMS) / molar_mass), "mol", want, MOLES)
    if have == "meq" and want in MOLES and charge:
        return _scaled(round_v1(value / charge), "mmol", want, MOLES)
    if want == "meq" and charge:
        mmol = _amount(value, have, "mmol", molar_mass, charge)
        return None if mmol is None else round_v1(mmol * charge)
    return None


def _scaled(value: float, have: str, want: str, scale: dict[str, float]) -> float:
    return value if have == want else round_v1(value * round_v1(scale[have] / scale[want]))
