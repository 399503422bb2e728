"""Scores of venous thromboembolism: Wells for embolism (8) and thrombosis (16), Caprini (36), PERC (48).

A finding that is not mentioned is taken as absent, as who fills in the form would leave its box empty; each is recorded
as an assumption. Heart rate and oxygen saturation are needed.
"""

from __future__ import annotations

from stewardship.calculators.features import Features
from stewardship.calculators.registry import Version, calculator
from stewardship.calculators.scoring import Score

__all__: list[str] = []


@calculator(8)
def _wells_embolism(features: Features, version: Version) -> float:
    """0 to 12.5 points."""
    return Score(8, features, version).all().total


@calculator(16)
def _wells_thrombosis(features: Features, version: Version) -> float:
    """-2 to 9 points."""
    return Score(16, features, version).all().total


@calculator(36)
def _caprini(features: Features, version: Version) -> float:
    """The form of 2005; its items for women (pregnancy, hormones, lost pregnancies) are no features of the benchmark.

    Being female gives no points by itself. The form has 60 years in two bands and 75 in none: 60 is taken with 41 to 60
    and 75 with the oldest, as Bahl 2010, Ann Surg 251:344-350 has them. v1.0 added the points of age, surgery and
    mobility only: those of the other findings are in its explanations but not in its totals.
    """
    return Score(36, features, version).all().total


@calculator(48)
def _perc(features: Features, version: Version) -> float:
    """Count of the eight criteria that are met, 0 to 8; none means that embolism is ruled out."""
    return Score(48, features, version).all().total
