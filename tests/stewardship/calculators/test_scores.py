"""The scores: each threshold on both sides, least and most points, what is needed and what is assumed."""

from __future__ import annotations

from typing import Any

import pytest

from stewardship.calculators.features import Features
from stewardship.calculators.registry import calculate, calculators
from stewardship.calculators.scoring import items_of
from tests.stewardship.calculators.scored import (
    BPM,
    BREATHS,
    CELSIUS,
    DIASTOLIC,
    HEALTHY,
    MMHG,
    PAO2,
    SYSTOLIC,
    YEARS,
    added,
    outcome,
    score,
)

# Calculator, feature, unit (None: a plain number), then a value just off each threshold and its points, as published.
BANDS = [
    (4, "age", YEARS, [(64, 0), (65, 1), (74, 1), (75, 2)]),
    (8, "Heart Rate or Pulse", BPM, [(100, 0), (101, 1.5)]),
    (15, "international normalized ratio", None, [(1.69, 0), (1.7, 1), (2.3, 1), (2.31, 2)]),
    (15, "Bilirubin", "mg/dL", [(1.9, 0), (2.0, 1), (3.0, 1), (3.1, 2)]),
    (15, "Albumin", "g/dL", [(3.6, 0), (3.5, 1), (2.8, 1), (2.7, 2)]),
    (17, "Pre-operative creatinine", "mg/dL", [(2.0, 0), (2.01, 1)]),
    (18, "age", YEARS, [(44, 0), (45, 1), (64, 1), (65, 2)]),
    (20, "age", YEARS, [(3, 1), (14, 1), (15, 0), (44, 0), (45, -1)]),
    (20, "Temperature", CELSIUS, [(38.0, 0), (38.1, 1)]),
    (20, "Temperature", "degrees fahrenheit", [(100.4, 0), (100.5, 1)]),
    (25, "age", YEARS, [(65, 0), (66, 1)]),
    (25, "Number of Alcoholic Drinks Per Week", None, [(7, 0), (8, 1)]),
    (27, "Hemoglobin", "g/dL", [(13.0, 0), (12.9, 1), (12.0, 1), (11.9, 3), (10.0, 3), (9.9, 6)]),
    (27, "Blood Urea Nitrogen (BUN)", "mg/dL", [(18.1, 0), (18.2, 2), (22.3, 2), (22.4, 3)]),
    (27, "Blood Urea Nitrogen (BUN)", "mg/dL", [(27.9, 3), (28.0, 4), (69.9, 4), (70, 6)]),
    (27, "Blood Urea Nitrogen (BUN)", "mmol/L", [(6.4, 0), (6.5, 2), (7.9, 2), (8.0, 3)]),
    (27, "Blood Urea Nitrogen (BUN)", "mmol/L", [(9.9, 3), (10, 4), (24.9, 4), (25, 6)]),
    (27, SYSTOLIC, MMHG, [(110, 0), (109, 1), (100, 1), (99, 2), (90, 2), (89, 3)]),
    (27, "Heart Rate or Pulse", BPM, [(99, 0), (100, 1)]),
    (28, "age", YEARS, [(44, 0), (45, 2), (54, 2), (55, 3), (64, 3), (65, 5), (74, 5), (75, 6)]),
    (28, "Temperature", CELSIUS, [(41, 4), (40.9, 3), (39, 3), (38.9, 1), (38.5, 1), (38.4, 0), (36, 0)]),
    (28, "Temperature", CELSIUS, [(35.9, 1), (34, 1), (33.9, 2), (32, 2), (31.9, 3), (30, 3), (29.9, 4)]),
    (28, "Heart Rate or Pulse", BPM, [(180, 4), (179, 3), (140, 3), (139, 2), (110, 2), (109, 0)]),
    (28, "Heart Rate or Pulse", BPM, [(70, 0), (69, 2), (55, 2), (54, 3), (40, 3), (39, 4)]),
    (28, "respiratory rate", BREATHS, [(50, 4), (49, 3), (35, 3), (34, 1), (25, 1), (24, 0)]),
    (28, "respiratory rate", BREATHS, [(12, 0), (11, 1), (10, 1), (9, 2), (6, 2), (5, 4)]),
    (28, PAO2, MMHG, [(71, 0), (70, 1), (61, 1), (60, 3), (55, 3), (54, 4)]),
    (28, "pH", None, [(7.7, 4), (7.69, 3), (7.6, 3), (7.59, 1), (7.5, 1), (7.49, 0), (7.33, 0)]),
    (28, "pH", None, [(7.32, 2), (7.25, 2), (7.24, 3), (7.15, 3), (7.14, 4)]),
    (28, "Sodium", "mEq/L", [(180, 4), (179, 3), (160, 3), (159, 2), (155, 2), (154, 1), (150, 1), (149, 0), (130, 0)]),
    (28, "Sodium", "mEq/L", [(129, 2), (120, 2), (119, 3), (111, 3), (110, 4)]),
    (28, "Potassium", "mEq/L", [(7, 4), (6.9, 3), (6, 3), (5.9, 1), (5.5, 1), (5.4, 0)]),
    (28, "Potassium", "mEq/L", [(3.5, 0), (3.4, 1), (3, 1), (2.9, 2), (2.5, 2), (2.4, 4)]),
    (28, "creatinine", "mg/dL", [(3.5, 4), (3.4, 3), (2, 3), (1.9, 2), (1.5, 2), (1.4, 0), (0.6, 0), (0.5, 2)]),
    (28, "Hematocrit", "%", [(60, 4), (59, 2), (50, 2), (49, 1), (46, 1), (45, 0), (30, 0), (29, 2), (20, 2), (19, 4)]),
    (28, "White blood cell count", "µL", [(40000, 4), (39900, 2), (20000, 2), (19900, 1), (15000, 1)]),
    (28, "White blood cell count", "µL", [(14900, 0), (3000, 0), (2900, 2), (1000, 2), (900, 4)]),
    (28, "Glasgow Coma Score", None, [(15, 0), (14, 1), (3, 12)]),
    (29, "age", YEARS, [(51, 1), (90, 40)]),
    (29, "respiratory rate", BREATHS, [(29, 0), (30, 20)]),
    (29, SYSTOLIC, MMHG, [(90, 0), (89, 20)]),
    (29, "Temperature", CELSIUS, [(35, 0), (34.9, 15), (39.9, 0), (40, 15)]),
    (29, "Heart Rate or Pulse", BPM, [(124, 0), (125, 10)]),
    (29, "pH", None, [(7.35, 0), (7.34, 30)]),
    (29, "Blood Urea Nitrogen (BUN)", "mg/dL", [(29, 0), (30, 20)]),
    (29, "Sodium", "mmol/L", [(130, 0), (129, 20)]),
    (29, "Glucose", "mg/dL", [(249, 0), (250, 10)]),
    (29, "Glucose", "mmol/L", [(13.8, 0), (14, 10)]),
    (29, "Hematocrit", "%", [(30, 0), (29, 10)]),
    (29, PAO2, MMHG, [(60, 0), (59, 10)]),
    (32, "age", YEARS, [(49, 0), (50, 1), (59, 1), (60, 2), (69, 2), (70, 3), (79, 3), (80, 4), (95, 4)]),
    (36, "age", YEARS, [(40, 0), (41, 1), (60, 1), (61, 2), (74, 2), (75, 3)]),
    (36, "Body Mass Index (BMI)", "kg/m^2", [(25, 0), (25.1, 1)]),
    (43, "Platelet count", "µL", [(150000, 0), (149000, 1), (100000, 1), (99000, 2)]),
    (43, "Platelet count", "µL", [(50000, 2), (49000, 3), (20000, 3), (19000, 4)]),
    (43, "Bilirubin", "mg/dL", [(1.1, 0), (1.2, 1), (1.9, 1), (2, 2), (5.9, 2), (6, 3), (11.9, 3), (12, 4)]),
    (43, "Bilirubin", "µmol/L", [(19, 0), (21, 1), (101, 2), (204, 3), (206, 4)]),
    (43, "Glasgow Coma Score", None, [(15, 0), (14, 1), (13, 1), (12, 2), (10, 2), (9, 3), (6, 3), (5, 4)]),
    (43, "creatinine", "mg/dL", [(1.1, 0), (1.2, 1), (1.9, 1), (2, 2), (3.4, 2), (3.5, 3), (4.9, 3), (5, 4)]),
    (43, "Urine Output", "mL/day", [(500, 0), (499, 3), (200, 3), (199, 4)]),
    (43, "DOPamine", "mcg/kg/min", [(5, 2), (5.1, 3), (15, 3), (15.1, 4)]),
    (43, "DOBUTamine", "mcg/kg/min", [(0, 0), (20, 2)]),
    (43, "EPINEPHrine", "mcg/kg/min", [(0.1, 3), (0.11, 4)]),
    (43, "norEPINEPHrine", "mcg/kg/min", [(0.1, 3), (0.11, 4)]),
    (45, "age", YEARS, [(64, 0), (65, 1)]),
    (45, "Blood Urea Nitrogen (BUN)", "mmol/L", [(7, 0), (7.1, 1)]),
    (45, "Blood Urea Nitrogen (BUN)", "mg/dL", [(19, 0), (20, 1)]),
    (45, "respiratory rate", BREATHS, [(29, 0), (30, 1)]),
    (45, SYSTOLIC, MMHG, [(90, 0), (89, 1)]),
    (45, DIASTOLIC, MMHG, [(61, 0), (60, 1)]),
    (48, "age", YEARS, [(49, 0), (50, 1)]),
    (48, "Heart Rate or Pulse", BPM, [(99, 0), (100, 1)]),
    (48, "O₂ saturation percentage", "%", [(95, 0), (94, 1)]),
    (51, "Temperature", CELSIUS, [(36, 0), (35.9, 1), (38, 0), (38.1, 1)]),
    (51, "Heart Rate or Pulse", BPM, [(90, 0), (91, 1)]),
    (51, "respiratory rate", BREATHS, [(20, 0), (21, 1)]),
    (51, "PaCO₂", MMHG, [(32, 0), (31, 1)]),
    (51, "White blood cell count", "µL", [(4000, 0), (3900, 1), (12000, 0), (12100, 1)]),
]

# Least and most points, with the features of the most beside the flags. The ends are those that are published: APACHE
# II to 71, sequential organ failure to 24, Glasgow-Blatchford to 23, Charlson with age to 37, the pneumonia index to
# 395 at 110 years (MSD Manual, clinical calculators), so 285 points besides age.
ENDS: dict[int, tuple[float, float, dict[str, object]]] = {
    4: (0, 9, {"age": [80.0, YEARS], "sex": "Female"}),
    8: (0, 12.5, {"Heart Rate or Pulse": [130.0, BPM]}),
    15: (
        5,
        15,
        {
            "international normalized ratio": 3.0,
            "Bilirubin": [8.0, "mg/dL"],
            "Albumin": [2.0, "g/dL"],
            "Ascites": "moderate",
            "Encephalopathy": "Grade 3-4",
        },
    ),
    16: (0, 9, {"Alternative diagnosis to Deep Vein Thrombosis as likely or more likely": False}),
    17: (0, 6, {"Pre-operative creatinine": [3.0, "mg/dL"]}),
    18: (
        0,
        10,
        {
            "age": [70.0, YEARS],
            "Suspicion History": "Highly suspicious",
            "Electrocardiogram Test": "Significant ST deviation",
            "Initial troponin": "greater than three times normal limit",
            "smoking": True,
            "obesity": True,
            "hypercholesterolemia": True,
        },
    ),
    20: (0, 5, {"age": [8.0, YEARS], "Temperature": [39.0, CELSIUS], "Cough Absent": True}),
    21: (
        3,
        15,
        {
            "Best eye response": "eyes open spontaneously",
            "Best verbal response": "oriented",
            "Best motor response": "obeys commands",
        },
    ),
    25: (0, 9, {"age": [70.0, YEARS], "Number of Alcoholic Drinks Per Week": 10}),
    27: (
        0,
        23,
        {
            "Hemoglobin": [7.0, "g/dL"],
            "Blood Urea Nitrogen (BUN)": [90.0, "mg/dL"],
            SYSTOLIC: [80.0, MMHG],
            "Heart Rate or Pulse": [120.0, BPM],
        },
    ),
    28: (
        0,
        71,
        {
            "age": [80.0, YEARS],
            "Temperature": [29.0, CELSIUS],
            SYSTOLIC: [50.0, MMHG],
            DIASTOLIC: [30.0, MMHG],
            "Heart Rate or Pulse": [190.0, BPM],
            "respiratory rate": [55.0, BREATHS],
            "FiO₂": [100.0, "%"],
            "A-a gradient": 600.0,
            "pH": 7.0,
            "Sodium": [105.0, "mmol/L"],
            "Potassium": [8.0, "mmol/L"],
            "creatinine": [6.0, "mg/dL"],
            "Acute renal failure": True,
            "Hematocrit": [15.0, "%"],
            "White blood cell count": [500.0, "µL"],
            "Glasgow Coma Score": 3,
            "History of severe organ failure or immunocompromise": True,
        },
    ),
    29: (
        50,
        50 + 285,
        {
            "respiratory rate": [40.0, BREATHS],
            SYSTOLIC: [70.0, MMHG],
            "Temperature": [41.0, CELSIUS],
            "Heart Rate or Pulse": [150.0, BPM],
            "pH": 7.1,
            "Blood Urea Nitrogen (BUN)": [50.0, "mg/dL"],
            "Sodium": [120.0, "mmol/L"],
            "Glucose": [400.0, "mg/dL"],
            "Hematocrit": [20.0, "%"],
            PAO2: [50.0, MMHG],
        },
    ),
    32: (
        0,
        37,
        {
            "age": [85.0, YEARS],
            "Liver disease severity": "Moderate to Severe",
            "Diabetes mellitus criteria for CCI rule": "End-organ damage",
            "Moderate to severe Chronic Kidney Disease": True,
            "Solid tumor": "Metastatic",
        },
    ),
    33: (0, 5, {"Absence of cough or coryza": True}),
    36: (
        0,
        11 + 9 * 1 + 3 * 2 + 9 * 3 + 4 * 5,  # age, surgery, bed rest and weight; then the form's columns
        {
            "age": [80.0, YEARS],
            "Surgery Type": "elective major lower extremity arthroplasty",
            "Mobility": "confined to bed >72 hours",
            "Body Mass Index (BMI)": [40.0, "kg/m^2"],
        },
    ),
    43: (
        0,
        24,
        {
            PAO2: [60.0, MMHG],
            "FiO₂": [100.0, "%"],
            "On mechanical ventilation": True,
            "Platelet count": [9000.0, "µL"],
            "Bilirubin": [20.0, "mg/dL"],
            "Glasgow Coma Score": 3,
            "creatinine": [7.0, "mg/dL"],
            "norEPINEPHrine": [0.5, "mcg/kg/min"],
        },
    ),
    45: (
        0,
        5,
        {
            "age": [80.0, YEARS],
            "Blood Urea Nitrogen (BUN)": [40.0, "mg/dL"],
            "respiratory rate": [35.0, BREATHS],
            SYSTOLIC: [80.0, MMHG],
            DIASTOLIC: [50.0, MMHG],
        },
    ),
    48: (0, 8, {"age": [60.0, YEARS], "Heart Rate or Pulse": [120.0, BPM], "O₂ saturation percentage": [90.0, "%"]}),
    51: (
        0,
        4,
        {
            "Temperature": [39.0, CELSIUS],
            "Heart Rate or Pulse": [120.0, BPM],
            "respiratory rate": [30.0, BREATHS],
            "White blood cell count": [15000.0, "µL"],
        },
    ),
}


def flags(number: int) -> dict[str, object]:
    return {
        feature: True
        for item in items_of(number, "corrected").values()
        if item.kind == "flag"
        for feature in item.features
    }


@pytest.mark.parametrize(("number", "feature", "unit", "values"), BANDS, ids=lambda value: str(value)[:30])
def test_a_threshold_gives_its_points_on_both_sides(
    number: int, feature: str, unit: str | None, values: list[tuple[float, float]]
) -> None:
    sides = [(value, added(number, {feature: [value, unit] if unit else value})) for value, _ in values]
    assert sides == values


@pytest.mark.parametrize("number", sorted(ENDS))
def test_the_least_and_most_points_are_those_of_the_published_score(number: int) -> None:
    least, most, change = ENDS[number]
    assert score(number) == least
    assert score(number, {**flags(number), **change}) == most


def test_every_rule_of_the_benchmark_has_its_ends_tested() -> None:
    rules = {calculator.id for calculator in calculators() if calculator.kind == "rule"}
    assert rules == set(ENDS) == set(HEALTHY)


NEEDED = {
    4: ("age", "sex"),
    8: ("Heart Rate or Pulse",),
    15: ("Albumin", "international normalized ratio"),
    17: ("Pre-operative creatinine",),
    18: ("Electrocardiogram Test", "Initial troponin", "Suspicion History"),
    20: ("Temperature",),
    21: ("Best motor response",),
    27: ("Hemoglobin", "sex"),
    28: ("pH", PAO2, "Glasgow Coma Score"),
    29: ("respiratory rate",),
    45: ("Blood Urea Nitrogen (BUN)",),
    48: ("O₂ saturation percentage",),
    51: ("White blood cell count", "respiratory rate"),
}


@pytest.mark.parametrize(("number", "feature"), [(number, name) for number in NEEDED for name in NEEDED[number]])
def test_a_score_abstains_without_what_it_needs_and_names_it(number: int, feature: str) -> None:
    result = outcome(number, {feature: None})
    assert result.value.text() == "N/A"
    assert feature in result.reason and "missing" in result.reason


LOW_OXYGEN = {PAO2: [75.0, MMHG], "FiO₂": [50.0, "%"]}
LOW_PRESSURE = {SYSTOLIC: [80.0, MMHG], DIASTOLIC: [60.0, MMHG]}
FAILING = {"History of severe organ failure or immunocompromise": True}
RENAL = {"creatinine": [2.5, "mg/dL"]}
LIVER, DIABETES, TUMOUR = "Liver disease severity", "Diabetes mellitus criteria for CCI rule", "Solid tumor"

# Calculator, change, points: what single thresholds do not show.
CASES: list[tuple[int, dict[str, Any], float]] = [
    # The case report in row 456 of MedCalc-Bench v1.0, which its authors score 3.
    (45, {"age": [69.0, YEARS], "Blood Urea Nitrogen (BUN)": [8.8, "mmol/L"], DIASTOLIC: [60.0, MMHG]}, 3),
    (16, {"Alternative diagnosis to Deep Vein Thrombosis as likely or more likely": True}, -2),
    # A cough that is not mentioned is absent, which gives a point.
    (20, {"Cough Absent": None}, 1),
    (33, {"Absence of cough or coryza": None}, 1),
    # Known atherosclerotic disease counts as three risk factors.
    (18, {"smoking": True}, 1),
    (18, {"smoking": True, "obesity": True, "hypercholesterolemia": True}, 2),
    (18, {"atherosclerotic disease": True}, 2),
    (18, {"Transient Ischemic Attacks History": True}, 2),
    # Women have thresholds of haemoglobin of their own.
    *((27, {"sex": "Female", "Hemoglobin": [g, "g/dL"]}, n) for g, n in ((12.0, 0), (11.9, 1), (10.0, 1), (9.9, 6))),
    # Creatinine counts twice in acute renal failure; chronic health counts by surgery.
    (28, {**RENAL, "Acute renal failure": True}, 6),
    (28, {**RENAL, "Chronic Renal Failure": True}, 3),
    *(
        (28, {**FAILING, "Surgery Type": kind}, n)
        for kind, n in (("Elective", 2), ("Emergency", 5), ("Nonoperative ", 5))
    ),
    (28, {"Surgery Type": "Elective"}, 0),
    (28, {"FiO₂": [49.0, "%"], "A-a gradient": 600.0}, 0),
    # Grades of disease count in any spelling.
    *((32, {LIVER: grade}, n) for grade, n in (("None", 0), ("Mild", 1), ("moderate", 3), ("Severe", 3))),
    *((32, {DIABETES: grade}, n) for grade, n in (("None or Diet-controlled", 0), ("Uncomplicated", 1))),
    *((32, {TUMOUR: grade}, n) for grade, n in ((False, 0), ("Localized", 2), (True, 2), ("metastatic", 6))),
    (36, {"sex": "Female"}, 0),
    # Oxygenation below 200 needs support for its third point.
    (43, LOW_OXYGEN, 2),
    (43, {**LOW_OXYGEN, "Continous positive airway pressure": True}, 3),
    (43, {PAO2: [45.0, MMHG], "FiO₂": [50.0, "%"], "On mechanical ventilation": True}, 4),
    *((43, {PAO2: [o, MMHG], "FiO₂": [50.0, "%"]}, n) for o, n in ((200, 0), (199, 1), (150, 1), (149, 2))),
    # Pressure counts without drugs for the circulation only; of creatinine and urine the worse counts.
    (43, LOW_PRESSURE, 1),
    (43, {SYSTOLIC: [90.0, MMHG], DIASTOLIC: [60.0, MMHG]}, 0),
    (43, {**LOW_PRESSURE, "DOPamine": [3.0, "mcg/kg/min"]}, 2),
    (43, {"Hypotension": True}, 1),
    (43, {"creatinine": [1.5, "mg/dL"], "Urine Output": [100.0, "mL/day"]}, 4),
    (43, {"creatinine": [4.0, "mg/dL"], "Urine Output": [900.0, "mL/day"]}, 3),
]


@pytest.mark.parametrize(("number", "change", "points"), CASES)
def test_cases(number: int, change: dict[str, object], points: float) -> None:
    assert score(number, change) == points


@pytest.mark.parametrize(
    ("number", "change", "assumption"),
    [
        (4, {}, "Hypertension history is not mentioned: taken as no"),
        (28, FAILING, "Surgery Type is not mentioned: taken as Nonoperative"),
        (29, {}, "pH is not mentioned: taken as normal"),
        (32, {TUMOUR: True}, "Solid tumor has no grade: taken as localised"),
    ],
)
def test_what_is_taken_for_granted_is_said(number: int, change: dict[str, object], assumption: str) -> None:
    assert assumption in outcome(number, change).assumptions


def test_organs_without_a_measurement_are_normal_but_one_is_needed() -> None:
    result = outcome(43, {"Bilirubin": None, "creatinine": None, PAO2: None})
    assert result.value.number == 0
    assert len(result.assumptions) >= 3
    nothing = outcome(43, dict.fromkeys(HEALTHY[43], None))
    assert nothing.value.text() == "N/A" and "no organ" in nothing.reason


def test_a_response_that_cannot_be_tested_leaves_no_sum_of_the_coma_scale() -> None:
    result = outcome(21, {"Best verbal response": "not testable"})
    assert result.value.text() == "N/A" and "not testable" in result.reason
    assert score(21, {"Best verbal response": "not testable"}, "v1.0") == 1 + 4 + 4 + 1


def test_a_child_below_three_years_has_no_centor_score() -> None:
    assert outcome(20, {"age": [35.0, "months"]}).reason.startswith("age is below 3 years")
    assert score(20, {"age": [36.0, "months"]}) == 1


def test_mean_pressure_and_gradient_of_apache() -> None:
    means = {159: 3, 160: 4, 129: 2, 130: 3, 109: 0, 110: 2, 70: 0, 69: 2, 50: 2, 49: 4}
    for mean, points in means.items():
        assert added(28, {SYSTOLIC: [float(mean), MMHG], DIASTOLIC: [float(mean), MMHG]}) == points
    for gradient, points in {199: 0, 200: 2, 349: 2, 350: 3, 499: 3, 500: 4}.items():
        assert added(28, {"FiO₂": [50.0, "%"], "A-a gradient": float(gradient)}) == points
    assert "A-a gradient is missing" in outcome(28, {"FiO₂": [50.0, "%"]}).reason
    assert score(28, {"FiO₂": [49.0, "%"], "A-a gradient": 600.0}) == 0


V1 = [
    # Calculator, change, points as published and of v1.0; what v1.0 did is in the docstring of each score.
    (15, {"Ascites": "slight"}, 6, 4),
    (18, {"atherosclerotic disease": True}, 2, 1),
    (20, {"Cough Absent": None}, 1, 0),
    (32, {LIVER: "Moderate to Severe"}, 3, 1),
    (15, {"Ascites": "Slight"}, 6, 6),
    (15, {"Bilirubin": [2.0, "mg/dL"]}, 6, 3),
    (17, {"History of cerebrovascular disease": True}, 1, 0),
    (21, {"Best verbal response": "oriented"}, 7, 12),
    (27, {"Hemoglobin": [13.0, "g/dL"]}, 0, 1),
    (28, {}, 0, 19),  # 15 of the coma score, 4 of the white cells
    (29, {"Temperature": [37.0, "degrees celsisus"]}, 50, 65),  # taken for Fahrenheit
    (36, {"Stroke in the last month": True, "Surgery Type": "minor"}, 6, 1),
    (43, {}, 0, 4),  # 2 of oxygen by percent, 2 of no dopamine
    (43, {"norEPINEPHrine": [0.5, "mcg/kg/min"], "DOPamine": [8.0, "mcg/kg/min"]}, 4, 5),
    (51, {}, 0, 2),  # 1 of a normal heart rate, 1 of white cells per cubic metre
]


@pytest.mark.parametrize(("number", "change", "published", "old"), V1)
def test_v1_is_told_from_what_is_published(
    number: int, change: dict[str, object], published: float, old: float
) -> None:
    assert (score(number, change), score(number, change, "v1.0")) == (published, old)


def test_a_word_that_is_no_answer_is_refused_with_the_answers() -> None:
    result = outcome(15, {"Ascites": "tense"})
    assert result.value.text() == "N/A"
    assert "tense" in result.reason and "slight" in result.reason


def test_an_impossible_count_of_white_cells_is_refused() -> None:
    assert "out of range" in outcome(51, {"White blood cell count": [4.1, "µL"]}).reason


def test_a_coma_score_between_two_and_an_impossible_rate_are_refused() -> None:
    for number in (28, 43):
        reason = outcome(number, {"Glasgow Coma Score": 12.5}).reason
        assert reason == "Glasgow Coma Score is no whole number: 12.5"
        swapped = {"Systolic Blood Pressure": [60.0, "mm Hg"], "Diastolic Blood Pressure": [90.0, "mm Hg"]}
        assert outcome(number, swapped).reason == "diastolic pressure 90 is above systolic pressure 60"
    assert "out of range" in outcome(43, {"norEPINEPHrine": [-0.1, "mcg/kg/min"]}).reason


def test_steps_say_what_was_read_and_what_it_gave() -> None:
    steps = outcome(45, {"age": [80.0, YEARS]}).steps
    assert "age 80 years (>=65): +1, total 1" in steps
    assert steps[-1] == "CURB-65 Score for Pneumonia Severity: 1 points"


@pytest.mark.parametrize("number", sorted(HEALTHY))
def test_every_line_of_points_names_its_source(number: int) -> None:
    for version in ("corrected", "v1.0"):
        for item in items_of(number, version).values():
            assert item.lines and all(line.source for line in item.lines), item.name


def test_a_mean_arterial_pressure_that_was_measured_is_taken() -> None:
    given = {"Glasgow Coma Score": 15, "MAP": [65, "mmHg"], "Systolic Blood Pressure": [120, "mmHg"]}
    result = calculate(43, Features(given))
    assert result.value.text() == "1" and result.unread == ()
    well = {
        **{"age": [40, "years"], "Temperature": [37, "°C"], "Heart Rate or Pulse": [80, "bpm"], "pH": 7.4},
        **{"respiratory rate": [16, "breaths per minute"], "Sodium": [140, "mmol/L"], "Potassium": [4, "mmol/L"]},
        **{"creatinine": [1, "mg/dL"], "Hematocrit": [40, "%"], "White blood cell count": [8000, "µL"]},
        **{"Glasgow Coma Score": 15, "FiO₂": [21, "%"], "PaO₂": [90, "mmHg"]},
    }
    pressures = {"Systolic Blood Pressure": [90, "mmHg"], "Diastolic Blood Pressure": [45, "mmHg"]}
    apart, measured = (
        calculate(28, Features({**well, **pressures})),
        calculate(28, Features({**well, "MAP": [60, "mmHg"]})),
    )
    assert (apart.value.text(), measured.value.text()) == ("2", "2")
    assert calculate(28, Features(well)).reason == "Systolic Blood Pressure is missing"
