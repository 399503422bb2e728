"""Weight, height, and what follows from them: calculators 6, 10, 22, 60, 61, 62."""

from __future__ import annotations

import math

from stewardship.calculators.features import Features, NotComputable
from stewardship.calculators.registry import Version, calculator, equation
from stewardship.calculators.units_v1 import round_v1

__all__ = [
    "SEXES",
    "adjusted_body_weight",
    "body_mass_index",
    "check_weight",
    "ideal_body_weight",
    "maintenance_fluids",
]

SEXES = ("Male", "Female")

# Least weight in kg from an age in years on: below it, what was extracted is a change of weight or a birth weight.
# Judgement: well under the lowest weights of severe wasting that are survived at that age.
LEAST_WEIGHTS = ((0.0, 0.3), (1.0, 3.0), (5.0, 7.0), (12.0, 12.0), (18.0, 18.0))


@equation(6, ("weight", "kg"), ("height", "m"))
def body_mass_index(weight: float, height: float) -> float:
    """Return the body mass index in kg/m², from kg and m."""
    return weight / height**2


@equation(61, ("Body Mass Index (BMI)", "kg/m^2"), ("height", "m"))
def target_weight(body_mass_index: float, height: float) -> float:
    """Return the weight in kg that a body mass index stands for."""
    return body_mass_index * height**2


@equation(60, ("weight", "kg"), ("height", "cm"))
def body_surface_area(weight: float, height: float) -> float:
    """Return the body surface area in m² by Mosteller's formula (1987)."""
    return math.sqrt(weight * height / 3600)


@equation(22, ("weight", "kg"))
def maintenance_fluids(weight: float) -> float:
    """Return maintenance fluids in mL/hr by the 4-2-1 rule (Holliday and Segar 1957)."""
    return 4 * min(weight, 10) + 2 * min(max(weight - 10, 0), 10) + max(weight - 20, 0)


def ideal_body_weight(height: float, sex: str) -> float:
    """Return the ideal body weight in kg by Devine's formula (1974), from a height in inches."""
    return (50.0 if sex == "Male" else 45.5) + 2.3 * (height - 60)


def adjusted_body_weight(weight: float, ideal_weight: float) -> float:
    """Return the adjusted body weight, all in kg."""
    return ideal_weight + 0.4 * (weight - ideal_weight)


def check_weight(features: Features, weight: float, age: float) -> None:
    """Refuse a weight in kg that nobody of an age in years has; MedCalc-Bench v1.0 took any.

    Raises:
        NotComputable: the weight is too small.
    """
    least = [weight_then for since, weight_then in LEAST_WEIGHTS if age >= since]
    if not features.lenient and least and weight < least[-1]:
        raise NotComputable(f"weight is too small for the age: {weight:.3g} kg at {age:.3g} years")


def _ideal_body_weight(features: Features) -> float:
    sex = features.choice("sex", SEXES)
    height = features.quantity("height", "in")
    if height < 60:
        features.assume("height is under 60 inches: the formula is carried on below its range")
    ideal = ideal_body_weight(height, sex)
    if features.lenient:
        ideal = round_v1(ideal)
    features.step(f"ideal body weight: {ideal:.5g} kg")
    return ideal


@calculator(10)
def _ideal(features: Features, version: Version) -> float:
    return _ideal_body_weight(features)


@calculator(62)
def _adjusted_body_weight(features: Features, version: Version) -> float:
    return adjusted_body_weight(features.quantity("weight", "kg"), _ideal_body_weight(features))
