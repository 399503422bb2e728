"""Kidney function: calculators 2, 3, 9 and 40."""

from __future__ import annotations

import math

from stewardship.calculators.equations_body import (
    SEXES,
    adjusted_body_weight,
    body_mass_index,
    check_weight,
    ideal_body_weight,
)
from stewardship.calculators.features import Features, NotComputable
from stewardship.calculators.registry import Version, calculator, equation

__all__ = ["ckd_epi_2021", "cockcroft_gault", "dosing_weight", "fractional_excretion_of_sodium", "mdrd"]

OLDEST = 140
"""Age in years at which the formula of Cockcroft and Gault reaches zero."""


def dosing_weight(weight: float, height: float, sex: str) -> float:
    """Return the weight that goes into the formula of Cockcroft and Gault, kg, from kg and cm.

    Underweight (body mass index under 18.5): the actual weight; normal: the lesser of ideal and actual weight;
    overweight (25 and over): the adjusted weight. So the benchmark's question has it.
    """
    index = body_mass_index(weight, height / 100)
    ideal = ideal_body_weight(height / 2.54, sex)
    if index < 18.5:
        return weight
    return min(ideal, weight) if index < 25 else adjusted_body_weight(weight, ideal)


def cockcroft_gault(age: float, weight: float, creatinine: float, sex: str) -> float:
    """Return creatinine clearance, mL/min, from years, kg and mg/dL (Cockcroft and Gault 1976)."""
    return (OLDEST - age) * weight * (0.85 if sex == "Female" else 1.0) / (72 * creatinine)


def ckd_epi_2021(creatinine: float, age: float, sex: str, *, kappa: float | None = None) -> float:
    """Return the glomerular filtration rate, mL/min/1.73 m² (Inker 2021), from mg/dL and years.

    ``kappa`` is the creatinine at which the slope changes, mg/dL; 0.7 for women and 0.9 for men where left out.
    """
    female = sex == "Female"
    published = 0.7 if female else 0.9
    alpha = (-0.241 if female else -0.302) if creatinine <= published else -1.200
    ratio = creatinine / (published if kappa is None else kappa)
    return 142 * math.pow(ratio, alpha) * math.pow(0.9938, age) * (1.012 if female else 1.0)


def mdrd(creatinine: float, age: float, sex: str, *, black: bool = False) -> float:
    """Return the glomerular filtration rate, mL/min/1.73 m², from mg/dL and years (Levey 2006)."""
    rate = 175 * math.pow(creatinine, -1.154) * math.pow(age, -0.203)
    return rate * (0.742 if sex == "Female" else 1.0) * (1.212 if black else 1.0)


@equation(40, ("Sodium", "mEq/L"), ("Urine sodium", "mEq/L"), ("creatinine", "mg/dL"), ("Urine creatinine", "mg/dL"))
def fractional_excretion_of_sodium(
    sodium: float, urine_sodium: float, creatinine: float, urine_creatinine: float
) -> float:
    """Return the fractional excretion of sodium in percent (Espinel 1976)."""
    return 100 * creatinine * urine_sodium / (sodium * urine_creatinine)


def _age_of_adult(features: Features) -> float:
    age = features.quantity("age", "years")
    if age < 18:
        features.assume("age is under 18: the formula was made on adults")
    return age


@calculator(2)
def _creatinine_clearance(features: Features, version: Version) -> float:
    sex, age = features.choice("sex", SEXES), _age_of_adult(features)
    weight, height = features.quantity("weight", "kg"), features.quantity("height", "cm")
    creatinine = features.quantity("creatinine", "mg/dL")
    check_weight(features, weight, age)
    used = dosing_weight(weight, height, sex)
    features.step(f"body mass index: {body_mass_index(weight, height / 100):.4g} kg/m²; weight used: {used:.5g} kg")
    return cockcroft_gault(age, used, creatinine, sex)


@calculator(3)
def _ckd_epi(features: Features, version: Version) -> float:
    sex, age = features.choice("sex", SEXES), _age_of_adult(features)
    creatinine = features.quantity("creatinine", "mg/dL")
    # v1.0 took the women's 0.7 for men whose creatinine is 0.9 or less.
    slip = version == "v1.0" and sex == "Male" and creatinine <= 0.9
    return ckd_epi_2021(creatinine, age, sex, kappa=0.7 if slip else None)


@calculator(9)
def _mdrd(features: Features, version: Version) -> float:
    sex, age = features.choice("sex", SEXES), _age_of_adult(features)
    creatinine = features.quantity("creatinine", "mg/dL")
    if age <= 0:
        raise NotComputable("age is zero: the formula has no value")
    race = str(features.cells.get("Race") or "").strip()
    if race:
        features.step(f"Race: {race}")
    else:
        features.assume("race is not mentioned: no factor for it")
    return mdrd(creatinine, age, sex, black=race.casefold() in ("black", "african american"))
