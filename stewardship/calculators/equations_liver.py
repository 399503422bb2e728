"""Liver: calculators 19 (FIB-4) and 23 (MELD-Na)."""

from __future__ import annotations

import math

from stewardship.calculators.features import Features
from stewardship.calculators.registry import Version, calculator

__all__ = ["meld_i", "meld_na"]

LEAST_MELD, MOST_MELD = 6, 40


def meld_i(creatinine: float, bilirubin: float, inr: float) -> float:
    """Return MELD(i) before it is rounded and multiplied by 10 (OPTN policy 9, 2016).

    From creatinine (4 for a patient on dialysis) and bilirubin in mg/dL. Values under 1 count as 1, and creatinine over
    4 as 4.
    """
    return (
        0.957 * math.log(min(max(creatinine, 1.0), 4.0))
        + 0.378 * math.log(max(bilirubin, 1.0))
        + 1.120 * math.log(max(inr, 1.0))
        + 0.643
    )


def meld_na(score: float, sodium: float) -> int:
    """Return MELD-Na in points (OPTN policy 9, 2016).

    Args:
        score: MELD(i), multiplied by 10.
        sodium: mEq/L; counts as 125 below it and as 137 above it.
    """
    if score > 11:
        missing = 137 - min(max(sodium, 125.0), 137.0)
        score = score + 1.32 * missing - 0.033 * score * missing
    # A half goes up, where Python's round() would go to the even number.
    return min(max(math.floor(score + 0.5), LEAST_MELD), MOST_MELD)


@calculator(19)
def _fib_4(features: Features, version: Version) -> float:
    """FIB-4 index of liver fibrosis (Sterling 2006)."""
    age = features.quantity("age", "years")
    if age < 18:
        features.assume("age is under 18: the index was made on adults")
    ast, alt = (features.quantity(f"{name} aminotransferase", "U/L") for name in ("Aspartate", "Alanine"))
    platelets = features.quantity("Platelet count", "L") / 1e9
    return age * ast / (platelets * math.sqrt(alt))


@calculator(23)
def _meld_na(features: Features, version: Version) -> float:
    creatinine, bilirubin = features.quantity("creatinine", "mg/dL"), features.quantity("Bilirubin", "mg/dL")
    inr, sodium = features.number("international normalized ratio"), features.quantity("Sodium", "mEq/L")
    dialysis = [
        features.flag("Dialysis at least twice in the past week", absent=False),
        features.flag("Continuous veno-venous hemodialysis for ≥24 hours in the past week", absent=False),
    ]
    # v1.0 left creatinine under 1 at 1 even on dialysis.
    if any(dialysis) and not (version == "v1.0" and creatinine < 1):
        features.step("on dialysis: creatinine counts as 4 mg/dL")
        creatinine = 4.0
    meld = meld_i(creatinine, bilirubin, inr)
    # MELD(i) is rounded to one decimal and multiplied by 10; v1.0 rounded it to a whole number.
    score = 10 * (round(meld) if version == "v1.0" else math.floor(10 * meld + 0.5) / 10)
    features.step(f"MELD(i): {meld:.4g}, times 10: {score:.4g}")
    return meld_na(score, sodium)
