"""Electrolytes, acid and base, sugar and lipids: calculators 7, 26, 30, 31, 38, 39, 44, 63 to 67."""

from __future__ import annotations

from stewardship.calculators.equations_body import SEXES, check_weight
from stewardship.calculators.features import Features, NotComputable
from stewardship.calculators.registry import Version, calculator, equation

__all__ = ["body_water_share", "corrected_calcium", "corrected_sodium", "serum_osmolality"]

NORMAL_GAP = 12.0
"""Normal anion gap, mEq/L."""
NORMAL_BICARBONATE = 24.0
"""Normal bicarbonate, mEq/L."""
NORMAL_ALBUMIN = 4.0
"""Normal albumin, g/dL."""
NORMAL_SODIUM = 140.0
"""Sodium that the free water deficit is measured from, mEq/L."""
MOST_TRIGLYCERIDES = 400.0
"""Triglycerides in mg/dL above which Friedewald's formula does not hold (Friedewald 1972)."""


@equation(7, ("Calcium", "mg/dL"), ("Albumin", "g/dL"))
def corrected_calcium(calcium: float, albumin: float) -> float:
    """Return calcium corrected for albumin, mg/dL (Payne 1973)."""
    return calcium + 0.8 * (NORMAL_ALBUMIN - albumin)


def corrected_sodium(sodium: float, glucose: float, factor: float = 0.024) -> float:
    """Return sodium corrected for hyperglycaemia, mEq/L, from sodium in mEq/L and glucose in mg/dL.

    Args:
        glucose: mg/dL.
        factor: mEq/L of sodium for 1 mg/dL of glucose: 0.024 (Hillier 1999), or 0.016 (Katz 1973, N Engl J Med
            289:843-844).
    """
    return sodium + factor * (glucose - 100)


@calculator(26)
def _corrected_sodium(features: Features, version: Version) -> float:
    sodium, glucose = features.quantity("Sodium", "mEq/L"), features.quantity("Glucose", "mg/dL")
    features.assume("2.4 mEq/L for 100 mg/dL of glucose (Hillier 1999), not 1.6 (Katz 1973)")
    if glucose < 100:
        features.assume("glucose is under 100 mg/dL: the correction is carried on below its range")
    return corrected_sodium(sodium, glucose)


@equation(30, ("Sodium", "mEq/L"), ("Blood Urea Nitrogen (BUN)", "mg/dL"), ("Glucose", "mg/dL"))
def serum_osmolality(sodium: float, urea_nitrogen: float, glucose: float) -> float:
    """Return the calculated osmolality in mOsm/kg (Smithline and Gardner 1976)."""
    return 2 * sodium + urea_nitrogen / 2.8 + glucose / 18


@calculator(31)
def _insulin_resistance(features: Features, version: Version) -> float:
    """HOMA-IR (Matthews 1985)."""
    features.assume("insulin and glucose were measured fasting")
    return features.quantity("Insulin", "µIU/mL") * features.quantity("Glucose", "mg/dL") / 405


def body_water_share(age: float, sex: str) -> float:
    """Return the share of body weight that is water, by age in years and sex (Adrogué and Madias 2000)."""
    child, old = age < 18, age >= 65
    if sex == "Male":
        return 0.5 if old else 0.6
    return 0.6 if child else 0.45 if old else 0.5


@calculator(38)
def _free_water_deficit(features: Features, version: Version) -> float:
    """Litres; below zero, an excess (Adrogué and Madias 2000)."""
    age, sex = features.quantity("age", "years"), features.choice("sex", SEXES)
    weight, sodium = features.quantity("weight", "kg"), features.quantity("Sodium", "mmol/L")
    check_weight(features, weight, age)
    share = body_water_share(age, sex)
    features.step(f"share of water in the body: {share:g}")
    return share * weight * (sodium / NORMAL_SODIUM - 1)


@calculator(44)
def _ldl(features: Features, version: Version) -> float:
    """LDL cholesterol, mg/dL (Friedewald 1972)."""
    total = features.quantity("Total cholesterol", "mg/dL")
    hdl = features.quantity("high-density lipoprotein cholesterol", "mg/dL")
    triglycerides = features.quantity("Triglycerides", "mg/dL")
    ldl = total - hdl - triglycerides / 5
    if version == "v1.0":
        return ldl
    if triglycerides > MOST_TRIGLYCERIDES:
        raise NotComputable(f"triglycerides are over 400 mg/dL, where the formula does not hold: {triglycerides:.5g}")
    if hdl >= total:
        raise NotComputable(f"HDL cholesterol is not below total cholesterol: {hdl:.5g} of {total:.5g} mg/dL")
    if ldl <= 0:
        raise NotComputable(f"the formula leaves no LDL cholesterol: {ldl:.5g} mg/dL")
    return ldl


def _gap(features: Features) -> tuple[float, float]:
    """Return the anion gap and bicarbonate, mEq/L."""
    sodium, chloride = features.quantity("Sodium", "mEq/L"), features.quantity("Chloride", "mEq/L")
    bicarbonate = features.quantity("Bicarbonate", "mEq/L")
    gap = sodium - (chloride + bicarbonate)
    features.step(f"anion gap: {gap:.5g} mEq/L")
    return gap, bicarbonate


def _corrected_gap(features: Features) -> tuple[float, float]:
    """Return the albumin-corrected anion gap (Figge 1998) and bicarbonate, mEq/L."""
    gap, bicarbonate = _gap(features)
    gap += 2.5 * (NORMAL_ALBUMIN - features.quantity("Albumin", "g/dL"))
    features.step(f"albumin-corrected anion gap: {gap:.5g} mEq/L")
    return gap, bicarbonate


def _delta_ratio(gap: float, bicarbonate: float) -> float:
    """Return the rise of the anion gap over the fall of bicarbonate (Rastegar 2007)."""
    if bicarbonate == NORMAL_BICARBONATE:
        raise NotComputable("bicarbonate is 24 mEq/L: the ratio has no denominator")
    return (gap - NORMAL_GAP) / (NORMAL_BICARBONATE - bicarbonate)


@calculator(39)
def _anion_gap(features: Features, version: Version) -> float:
    return _gap(features)[0]


@calculator(63)
def _delta_gap(features: Features, version: Version) -> float:
    """Rise of the anion gap less the fall of bicarbonate (Wrenn 1990); v1.0 left the fall of bicarbonate out."""
    gap, bicarbonate = _gap(features)
    if version == "v1.0":
        return gap - NORMAL_GAP
    features.assume("the gap is the rise of the anion gap less the fall of bicarbonate, not the rise alone (gap - 12)")
    return (gap - NORMAL_GAP) - (NORMAL_BICARBONATE - bicarbonate)


@calculator(64)
def _delta_ratio_of_gap(features: Features, version: Version) -> float:
    return _delta_ratio(*_gap(features))


@calculator(65)
def _albumin_corrected_gap(features: Features, version: Version) -> float:
    return _corrected_gap(features)[0]


@calculator(66)
def _albumin_corrected_delta_gap(features: Features, version: Version) -> float:
    features.assume("the gap is the rise of the albumin-corrected anion gap over 12 mEq/L, as calculators have it")
    return _corrected_gap(features)[0] - NORMAL_GAP


@calculator(67)
def _albumin_corrected_delta_ratio(features: Features, version: Version) -> float:
    return _delta_ratio(*_corrected_gap(features))
