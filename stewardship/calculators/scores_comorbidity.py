"""Charlson's index of comorbidity with the points of age (32)."""

from __future__ import annotations

from stewardship.calculators.features import Features
from stewardship.calculators.registry import Version, calculator
from stewardship.calculators.scoring import Score

__all__: list[str] = []

GRADED_V1: dict[str, dict[str, int]] = {
    "Liver disease severity": {"none": 0, "mild": 1, "moderate to severe": 3},
    "Diabetes mellitus criteria for CCI rule": {
        "none or diet-controlled": 0,
        "uncomplicated": 1,
        "end-organ damage": 2,
    },
    "Solid tumor": {"none": 0, "localized": 2, "metastatic": 6},
}
KIDNEY = "Moderate to severe Chronic Kidney Disease"


@calculator(32)
def _charlson(features: Features, version: Version) -> float:
    """0 to 37 points, of which age gives up to 4; a disease that is not mentioned is taken as absent.

    A tumour without a stage is taken as localised, liver disease without a grade as mild, diabetes without a word on
    organs as uncomplicated. v1.0 knew the grades in lower case only, and gave 1 point for each in another spelling.
    """
    score = Score(32, features, version).all()
    if version == "v1.0":
        for name, grades in GRADED_V1.items():
            found = features.cells.get(name)
            known = grades.get(found) if isinstance(found, str) else None
            score.add(known if known is not None else 1 if found else 0, f"{name}: {found}")
        score.add(2 if features.cells.get(KIDNEY) else 0, KIDNEY)
        return score.total
    for name, taken in (("Solid tumor", "localised"), ("Liver disease severity", "mild")):
        if features.cells.get(name) is True:
            features.assume(f"{name} has no grade: taken as {taken}")
    return score.total
