"""Scores of infection: McIsaac's Centor (20), pneumonia severity (29), FeverPAIN (33), CURB-65 (45), SIRS (51)."""

from __future__ import annotations

from stewardship.calculators.features import Features, NotComputable
from stewardship.calculators.registry import Version, calculator
from stewardship.calculators.scoring import Score

__all__: list[str] = []

YOUNGEST = 3
"""Years from which McIsaac's score was made for."""


@calculator(20)
def _centor(features: Features, version: Version) -> float:
    """-1 to 5 points, from 3 years of age; the temperature is needed.

    A cough that is not mentioned is taken as absent, as every other symptom, and its absence gives a point.
    """
    score = Score(20, features, version)
    if version == "corrected" and features.quantity("age", "years") < YOUNGEST:
        raise NotComputable(f"age is below {YOUNGEST} years, for which the score was not made")
    return score.all().total


@calculator(29)
def _pneumonia_severity(features: Features, version: Version) -> float:
    """Age in years (10 less for women) and up to 285 points; points, not the class.

    Vital signs are needed; a laboratory value that is not there is taken as normal, as when the index was made.
    """
    score = Score(29, features, version)
    score.add(features.quantity("age", "years"), "age in years")
    score.add(-10 if features.choice("sex", ("Male", "Female")) == "Female" else 0, "sex")
    return score.all().total


@calculator(33)
def _feverpain(features: Features, version: Version) -> float:
    """0 to 5 points; a cough that is not mentioned is taken as absent, which gives a point."""
    return Score(33, features, version).all().total


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
