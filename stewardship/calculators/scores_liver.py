"""Scores of liver and gut: Child-Pugh (15) and Glasgow-Blatchford (27).

Laboratory values, pressure and pulse are needed; ascites, encephalopathy and history that are not mentioned are taken
as absent and recorded as assumptions.
"""

from __future__ import annotations

from stewardship.calculators.features import Features
from stewardship.calculators.registry import Version, calculator
from stewardship.calculators.scoring import Score

__all__: list[str] = []

# What v1.0 compared with, letter by letter; any other spelling got no points.
ASCITES_V1 = {"Absent": 1, "Slight": 2, "Moderate": 3}
ENCEPHALOPATHY_V1 = {"No Encephalopathy": 1, "Grade 1-2": 2, "Grade 3-4": 3}


@calculator(15)
def _child_pugh(features: Features, version: Version) -> float:
    """5 to 15 points; both ends of a middle band belong to it."""
    score = Score(15, features, version).all()
    if version == "v1.0":
        for name, points in (("Ascites", ASCITES_V1), ("Encephalopathy", ENCEPHALOPATHY_V1)):
            word = str(features.cells[name]) if features.has(name) else next(iter(points))
            score.add(points.get(word, 0), f"{name}: {word}")
    return score.total


@calculator(27)
def _glasgow_blatchford(features: Features, version: Version) -> float:
    """0 to 23 points."""
    sex = features.choice("sex", ("Male", "Female"))
    other = "women" if sex == "Male" else "men"
    return Score(27, features, version).all(but=(f"haemoglobin, {other}",)).total
