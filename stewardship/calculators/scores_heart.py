"""Scores of cardiology: CHA2DS2-VASc (4), revised cardiac risk index (17), HEART (18), HAS-BLED (25).

History that is not mentioned is taken as absent and recorded as an assumption.
"""

from __future__ import annotations

from stewardship.calculators.features import Features
from stewardship.calculators.registry import Version, calculator
from stewardship.calculators.scoring import Score

__all__ = ["heart_risk_factors"]

RISK_FACTORS = (
    "Hypertension history",
    "hypercholesterolemia",
    "Diabetes mellitus criteria for CCI rule",
    "obesity",
    "smoking",
    "parent or sibling with Cardiovascular disease before age 65",
)
ATHEROSCLEROSIS = "atherosclerotic disease"
TRANSIENT_ATTACK = "Transient Ischemic Attacks History"


@calculator(4)
def _cha2ds2_vasc(features: Features, version: Version) -> float:
    """0 to 9 points."""
    return Score(4, features, version).all().total


@calculator(17)
def _revised_cardiac_risk_index(features: Features, version: Version) -> float:
    """0 to 6 points; the creatinine is needed.

    v1.0 looked for cerebrovascular disease under a name that the benchmark's rows keep for a default.
    """
    return Score(17, features, version).all().total


@calculator(18)
def _heart(features: Features, version: Version) -> float:
    """0 to 10 points; history, electrocardiogram and troponin are needed, each has a middle step that is no finding."""
    score = Score(18, features, version).all()
    present = sum(features.flag(one, absent=False) for one in RISK_FACTORS)
    disease = features.flag(ATHEROSCLEROSIS, absent=False)
    if version == "v1.0":
        score.value("risk factors", present + disease)
        return score.total
    # A transient attack is atherosclerotic disease of the vessels of the brain.
    disease = features.flag(TRANSIENT_ATTACK, absent=False) or disease
    score.value("risk factors", heart_risk_factors(present, disease))
    return score.total


def heart_risk_factors(present: int, atherosclerotic_disease: bool) -> int:
    """Return how many risk factors count: known atherosclerotic disease counts as three.

    Source: Six 2008, Neth Heart J 16:191-196, table 1.
    """
    return max(present, 3) if atherosclerotic_disease else present


@calculator(25)
def _has_bled(features: Features, version: Version) -> float:
    """0 to 9 points; a number of drinks that is not mentioned is taken as below 8 a week."""
    return Score(25, features, version).all().total
