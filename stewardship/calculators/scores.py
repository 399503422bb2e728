"""Scores that take more than their points: calculators 15, 18, 20, 27, 29, 32, 45 and 51.

History and findings that are not mentioned are taken as absent, as a box of a form that is left empty, and recorded as
assumptions.
"""

from __future__ import annotations

from collections.abc import Mapping

from stewardship.calculators.features import Features, NotComputable
from stewardship.calculators.registry import Version, calculator
from stewardship.calculators.scoring import Score

__all__ = ["heart_risk_factors"]

# What v1.0 compared with, letter by letter.
CHILD_PUGH_V1 = {
    "Ascites": {"Absent": 1, "Slight": 2, "Moderate": 3},
    "Encephalopathy": {"No Encephalopathy": 1, "Grade 1-2": 2, "Grade 3-4": 3},
}
CHARLSON_V1: dict[str, dict[str, int]] = {
    "Liver disease severity": {"none": 0, "mild": 1, "moderate to severe": 3},
    "Diabetes mellitus criteria for CCI rule": {
        "none or diet-controlled": 0,
        "uncomplicated": 1,
        "end-organ damage": 2,
    },
    "Solid tumor": {"none": 0, "localized": 2, "metastatic": 6},
}
KIDNEY = "Moderate to severe Chronic Kidney Disease"
HEART_RISK_FACTORS = (
    "Hypertension history",
    "hypercholesterolemia",
    "Diabetes mellitus criteria for CCI rule",
    "obesity",
    "smoking",
    "parent or sibling with Cardiovascular disease before age 65",
)
YOUNGEST = 3
"""Years from which McIsaac's score was made for."""


@calculator(15)
def _child_pugh(features: Features, version: Version) -> float:
    """5 to 15 points; both ends of a middle band belong to it."""
    score = Score(15, features, version).all()
    if version == "v1.0":
        for name, points in CHILD_PUGH_V1.items():
            word = str(features.cells[name]) if features.has(name) else next(iter(points))
            score.add(points.get(word, 0), f"{name}: {word}")
    return score.total


@calculator(18)
def _heart(features: Features, version: Version) -> float:
    """0 to 10 points; history, electrocardiogram and troponin are needed, each has a middle step that is no finding."""
    score = Score(18, features, version).all()
    present = sum(features.flag(name, absent=False) for name in HEART_RISK_FACTORS)
    disease = features.flag("atherosclerotic disease", absent=False)
    if version == "v1.0":
        score.value("risk factors", present + disease)
        return score.total
    # A transient attack is atherosclerotic disease of the vessels of the brain.
    disease = features.flag("Transient Ischemic Attacks History", absent=False) or disease
    score.value("risk factors", heart_risk_factors(present, disease))
    return score.total


def heart_risk_factors(present: int, atherosclerotic_disease: bool) -> int:
    """Return how many risk factors count: known atherosclerotic disease counts as three.

    Source: Six 2008, Neth Heart J 16:191-196, table 1.
    """
    return max(present, 3) if atherosclerotic_disease else present


@calculator(20)
def _centor(features: Features, version: Version) -> float:
    """McIsaac's: -1 to 5 points, from 3 years of age; the absence of a cough gives a point."""
    if version == "corrected" and features.quantity("age", "years") < YOUNGEST:
        raise NotComputable(f"age is below {YOUNGEST} years, for which the score was not made")
    return Score(20, features, version).all().total


@calculator(27)
def _glasgow_blatchford(features: Features, version: Version) -> float:
    """0 to 23 points."""
    other = "women" if features.choice("sex", ("Male", "Female")) == "Male" else "men"
    return Score(27, features, version).all(but=(f"haemoglobin, {other}",)).total


@calculator(29)
def _pneumonia_severity(features: Features, version: Version) -> float:
    """Age in years (10 less for women) and up to 285 points; points, not the class.

    Vital signs are needed; a laboratory value that is not there is taken as normal, as when the index was made.
    """
    score = Score(29, features, version)
    score.add(features.quantity("age", "years"), "age in years")
    score.add(-10 if features.choice("sex", ("Male", "Female")) == "Female" else 0, "sex")
    return score.all().total


@calculator(32)
def _charlson(features: Features, version: Version) -> float:
    """0 to 37 points, of which age gives up to 4.

    A tumour without a stage is taken as localised, liver disease without a grade as mild, diabetes without a word on
    organs as uncomplicated. v1.0 knew the grades in lower case only, and gave 1 point for each in another spelling.
    """
    score = Score(32, features, version).all()
    if version == "v1.0":
        for name, grades in CHARLSON_V1.items():
            score.add(_points_of_grade(features.cells.get(name), grades), f"{name}: {features.cells.get(name)}")
        score.add(2 if features.cells.get(KIDNEY) else 0, KIDNEY)
        return score.total
    for name, grade in (("Solid tumor", "localised"), ("Liver disease severity", "mild")):
        if features.cells.get(name) is True:
            features.assume(f"{name} has no grade: taken as {grade}")
    return score.total


def _points_of_grade(cell: object, grades: Mapping[str, int]) -> int:
    known = grades.get(cell) if isinstance(cell, str) else None
    return known if known is not None else 1 if cell else 0


@calculator(45)
def _curb65(features: Features, version: Version) -> float:
    """0 to 5 points; the two pressures give one point between them."""
    pressures = ("systolic pressure", "diastolic pressure")
    return Score(45, features, version).all(but=pressures).one_of(pressures).total


@calculator(51)
def _sirs(features: Features, version: Version) -> float:
    """0 to 4 criteria; immature neutrophils are no feature of the benchmark.

    Of respiratory rate and carbon dioxide one is needed; the other, if not mentioned, is taken as normal.
    """
    breathing = ("respiratory rate", "carbon dioxide")
    score = Score(51, features, version)
    score.all(but=breathing)
    given = tuple(name for name in breathing if features.has(score.items[name].features[0]))
    if not given:
        raise NotComputable("respiratory rate and PaCO₂ are missing: one is needed")
    for name in breathing:
        if name not in given:
            features.assume(f"{score.items[name].features[0]} is not mentioned: taken as normal")
    return score.one_of(given).total
