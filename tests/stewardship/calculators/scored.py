"""Features that give each score its least points, and what a change of them adds."""

from __future__ import annotations

from collections.abc import Mapping

from stewardship.calculators.registry import Computed, Version, calculate

__all__ = ["HEALTHY", "added", "outcome", "score"]

BPM, BREATHS, YEARS, MMHG, CELSIUS = "beats per minute", "breaths per minute", "years", "mm Hg", "degrees celsius"
PAO2 = "Partial pressure of oxygen (PaO₂) for Apache II"
SYSTOLIC, DIASTOLIC = "Systolic Blood Pressure", "Diastolic Blood Pressure"

HEALTHY: dict[int, dict[str, object]] = {
    4: {"age": [40.0, YEARS], "sex": "Male"},
    8: {"Heart Rate or Pulse": [70.0, BPM]},
    15: {
        "international normalized ratio": 1.0,
        "Bilirubin": [1.0, "mg/dL"],
        "Albumin": [4.2, "g/dL"],
        "Ascites": "absent",
        "Encephalopathy": "No Encephalopathy",
    },
    16: {},
    17: {"Pre-operative creatinine": [0.9, "mg/dL"]},
    18: {
        "age": [40.0, YEARS],
        "Suspicion History": "Slightly suspicious",
        "Electrocardiogram Test": "Normal",
        "Initial troponin": "less than or equal to normal limit",
    },
    20: {"age": [20.0, YEARS], "Temperature": [37.0, CELSIUS], "Cough Absent": False},
    21: {
        "Best eye response": "no eye opening",
        "Best verbal response": "no verbal response",
        "Best motor response": "no motor response",
    },
    25: {"age": [50.0, YEARS]},
    27: {
        "sex": "Male",
        "Hemoglobin": [15.0, "g/dL"],
        "Blood Urea Nitrogen (BUN)": [12.0, "mg/dL"],
        SYSTOLIC: [120.0, MMHG],
        "Heart Rate or Pulse": [70.0, BPM],
    },
    28: {
        "age": [40.0, YEARS],
        "Temperature": [37.0, CELSIUS],
        SYSTOLIC: [120.0, MMHG],
        DIASTOLIC: [75.0, MMHG],
        "Heart Rate or Pulse": [80.0, BPM],
        "respiratory rate": [16.0, BREATHS],
        "FiO₂": [21.0, "%"],
        PAO2: [90.0, MMHG],
        "pH": 7.4,
        "Sodium": [140.0, "mmol/L"],
        "Potassium": [4.2, "mmol/L"],
        "creatinine": [1.0, "mg/dL"],
        "Hematocrit": [40.0, "%"],
        "White blood cell count": [7000.0, "µL"],
        "Glasgow Coma Score": 15,
    },
    29: {
        "age": [50.0, YEARS],
        "sex": "Male",
        "respiratory rate": [16.0, BREATHS],
        SYSTOLIC: [120.0, MMHG],
        "Temperature": [37.0, CELSIUS],
        "Heart Rate or Pulse": [80.0, BPM],
    },
    32: {"age": [40.0, YEARS]},
    33: {"Absence of cough or coryza": False},
    36: {"age": [40.0, YEARS]},
    43: {
        PAO2: [95.0, MMHG],
        "FiO₂": [21.0, "%"],
        "Platelet count": [250000.0, "µL"],
        "Bilirubin": [0.8, "mg/dL"],
        "Glasgow Coma Score": 15,
        "creatinine": [0.9, "mg/dL"],
    },
    45: {
        "age": [40.0, YEARS],
        "Blood Urea Nitrogen (BUN)": [12.0, "mg/dL"],
        "respiratory rate": [16.0, BREATHS],
        SYSTOLIC: [120.0, MMHG],
        DIASTOLIC: [75.0, MMHG],
    },
    48: {"age": [40.0, YEARS], "Heart Rate or Pulse": [80.0, BPM], "O₂ saturation percentage": [98.0, "%"]},
    51: {
        "Temperature": [37.0, CELSIUS],
        "Heart Rate or Pulse": [80.0, BPM],
        "respiratory rate": [16.0, BREATHS],
        "White blood cell count": [7000.0, "µL"],
    },
}
"""By calculator. Findings that are not there are taken as absent."""


def outcome(number: int, change: Mapping[str, object] | None = None, version: Version = "corrected") -> Computed:
    """Compute a score from the features above and a change of them; None takes one away."""
    cells = {**HEALTHY[number], **(change or {})}
    return calculate(number, repr({name: value for name, value in cells.items() if value is not None}), version)


def score(number: int, change: Mapping[str, object] | None = None, version: Version = "corrected") -> float | None:
    """Return the points; None where it abstains."""
    return outcome(number, change, version).value.number


def added(number: int, change: Mapping[str, object]) -> float:
    """Return how many points a change adds."""
    before, after = score(number), score(number, change)
    assert before is not None and after is not None, outcome(number, change).reason
    return after - before
