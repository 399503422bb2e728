"""Electrolytes, acid and base, sugar and lipids: calculators 7, 26, 30, 31, 38, 39, 44, 63 to 67."""

from __future__ import annotations

from stewardship.calculators.equations_body import SEXES, check_weight
from stewardship.calculators.features import Features, NotComputable
from stewardship.calculators.registry import Version, calculator

__all__ = [
    "albumin_corrected_anion_gap",
    "anion_gap",
    "body_water_share",
    "corrected_calcium",
    "corrected_sodium",
    "delta_gap",
    "delta_ratio",
    "free_water_deficit",
    "homa_ir",
    "ldl_friedewald",
    "serum_osmolality",
]

NORMAL_GAP = 12.0
"""Normal anion gap, mEq/L."""

NORMAL_BICARBONATE = 24.0
"""Normal bicarbonate, mEq/L."""

NORMAL_ALBUMIN = 4.0
"""Normal albumin, g/dL."""

MOST_TRIGLYCERIDES = 400.0
"""Triglycerides in mg/dL above which Friedewald's formula does not hold (Friedewald 1972)."""


def corrected_calcium(calcium: float, albumin: float) -> float:
    """Return calcium corrected for albumin, mg/dL (Payne 1973).

    Args:
        calcium: mg/dL.
        albumin: g/dL.
    """
    return calcium + 0.8 * (NORMAL_ALBUMIN - albumin)


def corrected_sodium(sodium: float, glucose: float, factor: float = 0.024) -> float:
    """Return sodium corrected for hyperglycaemia, mEq/L.

    Args:
        sodium: mEq/L.
        glucose: mg/dL.
        factor: mEq/L of sodium for 1 mg/dL of glucose: 0.024 (Hillier 1999), or 0.016 (Katz 1973, N Engl J Med
            289:843-844).
    """
    return sodium + factor * (glucose - 100)


def serum_osmolality(sodium: float, urea_nitrogen: float, glucose: float) -> float:
    """Return the calculated osmolality in mOsm/kg (Smithline and Gardner 1976).

    Args:
        sodium: mEq/L.
        urea_nitrogen: mg/dL.
        glucose: mg/dL.
    """
    return 2 * sodium + urea_nitrogen / 2.8 + glucose / 18


def homa_ir(insulin: float, glucose: float) -> float:
    """Return the homeostatic model assessment of insulin resistance (Matthews 1985).

    Args:
        insulin: µIU/mL, fasting.
        glucose: mg/dL, fasting.
    """
    return insulin * glucose / 405


def anion_gap(sodium: float, chloride: float, bicarbonate: float) -> float:
    """Return the anion gap, mEq/L, from three concentrations in mEq/L."""
    return sodium - (chloride + bicarbonate)


def albumin_corrected_anion_gap(gap: float, albumin: float) -> float:
    """Return the anion gap corrected for albumin, mEq/L (Figge 1998).

    Args:
        gap: anion gap, mEq/L.
        albumin: g/dL.
    """
    return gap + 2.5 * (NORMAL_ALBUMIN - albumin)


def delta_gap(gap: float, bicarbonate: float) -> float:
    """Return the delta gap, mEq/L: rise of the anion gap less the fall of bicarbonate (Wrenn 1990).

    Args:
        gap: anion gap, mEq/L.
        bicarbonate: mEq/L.
    """
    return (gap - NORMAL_GAP) - (NORMAL_BICARBONATE - bicarbonate)


def delta_ratio(gap: float, bicarbonate: float) -> float:
    """Return the delta ratio: rise of the anion gap over the fall of bicarbonate (Rastegar 2007).

    Args:
        gap: anion gap, mEq/L.
        bicarbonate: mEq/L.

    Raises:
        NotComputable: bicarbonate is normal, so that nothing can be divided by its fall.
    """
    if bicarbonate == NORMAL_BICARBONATE:
        raise NotComputable("bicarbonate is 24 mEq/L: the ratio has no denominator")
    return (gap - NORMAL_GAP) / (NORMAL_BICARBONATE - bicarbonate)


def ldl_friedewald(total: float, hdl: float, triglycerides: float) -> float:
    """Return LDL cholesterol, mg/dL, from three concentrations in mg/dL (Friedewald 1972)."""
    return total - hdl - triglycerides / 5


def body_water_share(age: float, sex: str) -> float:
    """Return the share of body weight that is water (Adrogué and Madias 2000).

    Args:
        age: years.
        sex: ``Male`` or ``Female``.
    """
    child, old = age < 18, age >= 65
    if sex == "Male":
        return 0.5 if old else 0.6
    return 0.6 if child else 0.45 if old else 0.5


def free_water_deficit(water_share: float, weight: float, sodium: float, wanted_sodium: float = 140.0) -> float:
    """Return the free water deficit in litres; below zero, an excess (Adrogué and Madias 2000).

    Args:
        water_share: of the body weight.
        weight: kg.
        sodium: mEq/L.
        wanted_sodium: mEq/L.
    """
    return water_share * weight * (sodium / wanted_sodium - 1)


@calculator(7)
def _(features: Features, version: Version) -> float:
    return corrected_calcium(features.quantity("Calcium", "mg/dL"), features.quantity("Albumin", "g/dL"))


@calculator(26)
def _(features: Features, version: Version) -> float:
    sodium, glucose = features.quantity("Sodium", "mEq/L"), features.quantity("Glucose", "mg/dL")
    features.assume("2.4 mEq/L for 100 mg/dL of glucose (Hillier 1999), not 1.6 (Katz 1973)")
    if glucose < 100:
        features.assume("glucose is under 100 mg/dL: the correction is carried on below its range")
    return corrected_sodium(sodium, glucose)


@calculator(30)
def _(features: Features, version: Version) -> float:
    return serum_osmolality(
        features.quantity("Sodium", "mEq/L"),
        features.quantity("Blood Urea Nitrogen (BUN)", "mg/dL"),
        features.quantity("Glucose", "mg/dL"),
    )


@calculator(31)
def _(features: Features, version: Version) -> float:
    features.assume("insulin and glucose were measured fasting")
    return homa_ir(features.quantity("Insulin", "µIU/mL"), features.quantity("Glucose", "mg/dL"))


@calculator(38)
def _(features: Features, version: Version) -> float:
    age, sex = features.quantity("age", "years"), features.choice("sex", SEXES)
    weight, sodium = features.quantity("weight", "kg"), features.quantity("Sodium", "mmol/L")
    check_weight(features, weight, age)
    share = body_water_share(age, sex)
    features.step(f"share of water in the body: {share:g}")
    return free_water_deficit(share, weight, sodium)


@calculator(44)
def _(features: Features, version: Version) -> float:
    total = features.quantity("Total cholesterol", "mg/dL")
    hdl = features.quantity("high-density lipoprotein cholesterol", "mg/dL")
    triglycerides = features.quantity("Triglycerides", "mg/dL")
    if version == "corrected" and triglycerides > MOST_TRIGLYCERIDES:
        raise NotComputable(f"triglycerides are over 400 mg/dL, where the formula does not hold: {triglycerides:.5g}")
    if version == "corrected" and hdl >= total:
        raise NotComputable(f"HDL cholesterol is not below total cholesterol: {hdl:.5g} of {total:.5g} mg/dL")
    ldl = ldl_friedewald(total, hdl, triglycerides)
    if version == "corrected" and ldl <= 0:
        raise NotComputable(f"the formula leaves no LDL cholesterol: {ldl:.5g} mg/dL")
    return ldl


def _gap(features: Features) -> tuple[float, float]:
    """Return the anion gap and bicarbonate, mEq/L."""
    sodium, chloride = features.quantity("Sodium", "mEq/L"), features.quantity("Chloride", "mEq/L")
    bicarbonate = features.quantity("Bicarbonate", "mEq/L")
    gap = anion_gap(sodium, chloride, bicarbonate)
    features.step(f"anion gap: {gap:.5g} mEq/L")
    return gap, bicarbonate


def _corrected_gap(features: Features) -> tuple[float, float]:
    """Return the albumin-corrected anion gap and bicarbonate, mEq/L."""
    gap, bicarbonate = _gap(features)
    gap = albumin_corrected_anion_gap(gap, features.quantity("Albumin", "g/dL"))
    features.step(f"albumin-corrected anion gap: {gap:.5g} mEq/L")
    return gap, bicarbonate


@calculator(39)
def _(features: Features, version: Version) -> float:
    return _gap(features)[0]


@calculator(63)
def _(features: Features, version: Version) -> float:
    gap, bicarbonate = _gap(features)
    # v1.0 left the fall of bicarbonate out: what it called the gap is the rise of the anion gap alone.
    if version == "v1.0":
        return gap - NORMAL_GAP
    features.assume("the gap is the rise of the anion gap less the fall of bicarbonate, not the rise alone (gap - 12)")
    return delta_gap(gap, bicarbonate)


@calculator(64)
def _(features: Features, version: Version) -> float:
    return delta_ratio(*_gap(features))


@calculator(65)
def _(features: Features, version: Version) -> float:
    return _corrected_gap(features)[0]


@calculator(66)
def _(features: Features, version: Version) -> float:
    features.assume("the gap is the rise of the albumin-corrected anion gap over 12 mEq/L, as calculators have it")
    return _corrected_gap(features)[0] - NORMAL_GAP


@calculator(67)
def _(features: Features, version: Version) -> float:
    return delta_ratio(*_corrected_gap(features))
