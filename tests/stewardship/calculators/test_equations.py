"""The 36 equations: worked values, when they abstain, how they move, and what v1.0 did instead."""

from __future__ import annotations

import math
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stewardship.calculators.equations_blood import body_water_share, corrected_sodium
from stewardship.calculators.equations_body import maintenance_fluids
from stewardship.calculators.equations_heart import QT_CORRECTIONS
from stewardship.calculators.equations_kidney import ckd_epi_2021, dosing_weight
from stewardship.calculators.equations_liver import meld_i, meld_na
from stewardship.calculators.equations_pregnancy import conception, due_date
from stewardship.calculators.features import Features
from stewardship.calculators.registry import Computed, calculate, calculators
from stewardship.calculators.typed import read_settings_of

EQUATIONS = tuple(calculator.id for calculator in calculators() if calculator.kind == "equation")


def electrolytes(sodium: float, chloride: float, bicarbonate: float, **more: Any) -> dict[str, Any]:
    values = {"Sodium": sodium, "Chloride": chloride, "Bicarbonate": bicarbonate}
    return {name: [value, "mEq/L"] for name, value in values.items()} | more


def qt(interval: float, rate: float) -> dict[str, Any]:
    return {"QT interval": [interval, "msec"], "Heart Rate or Pulse": [rate, "beats per minute"]}


MELD = {
    "creatinine": [1.9, "mg/dL"],
    "Bilirubin": [4.2, "mg/dL"],
    "international normalized ratio": 1.2,
    "Sodium": [130.0, "mEq/L"],
}
HEART = {
    "sex": "Male",
    "age": [57, "years"],
    "Systolic Blood Pressure": [150.0, "mm hg"],
    "Total cholesterol": [260.0, "mg/dL"],
    "high-density lipoprotein cholesterol": [35.0, "mg/dL"],
    "Blood pressure being treated with medicines": False,
    "Smoker": False,
}

# Calculator, features, value, where the value is from.
ROWS: list[tuple[int, str | dict[str, Any], float, str]] = [
    (
        2,
        "sex=Male; age=40 years; weight=72 kg; height=185 cm; creatinine=1 mg/dL",
        100.0,
        "by hand: (140 - 40) x 72 / (72 x 1); weight under the ideal 79.5 kg",
    ),
    (
        3,
        "sex=Female; age=50 years; creatinine=1 mg/dL",
        69.0,
        "National Kidney Foundation's table of eGFR 2021: woman of 50, creatinine 1.0",
    ),
    (5, "Systolic Blood Pressure=120 mm hg; Diastolic Blood Pressure=80 mm hg", 93.333, "by hand"),
    (6, {"weight": [72.0, "kg"], "height": [6 * 0.3048, "m"]}, 21.53, "by hand"),
    (7, "Calcium=8 mg/dL; Albumin=20 g/L", 9.6, "by hand: 8 + 0.8 x 2 (Payne 1973)"),
    (9, "sex=Male; age=1 years; creatinine=1 mg/dL", 175.0, "the constant: both powers are of 1 (Levey 2006)"),
    (10, "sex=Male; height=70 in", 73.0, "by hand: 50 + 2.3 x 10 (Devine 1974)"),
    (11, qt(400, 60), 400.0, "no correction at 60 beats"),
    (
        19,
        "age=50 years; Aspartate aminotransferase=80 U/L; Alanine aminotransferase=64 U/L; Platelet count=200000 µL",
        2.5,
        "by hand: 50 x 80 / (200 x 8)",
    ),
    (22, "weight=25 kg", 65.0, "by hand: 40 + 20 + 5 (Holliday and Segar 1957)"),
    (23, MELD, 25, "by hand: MELD(i) 2.004, so 20; 20 + 1.32 x 7 - 0.033 x 20 x 7 = 24.62"),
    (
        24,
        "input steroid=PredniSONE PO 20 mg; target steroid=Hydrocortisone IV",
        80.0,
        "US label of Celestone: 5 mg do what 20 mg do",
    ),
    (26, "Sodium=125 mEq/L; Glucose=600 mg/dL", 137.0, "by hand: 2.4 x 5 (Hillier 1999)"),
    (30, "Sodium=140 mEq/L; Blood Urea Nitrogen (BUN)=14 mg/dL; Glucose=90 mg/dL", 290.0, "by hand: 280 + 5 + 5"),
    (
        31,
        "Glucose=4.5 mmol/L; Insulin=5 µIU/mL",
        1.0,
        "Matthews 1985: 4.5 mmol/L and 5 µU/mL are the reference, resistance 1",
    ),
    (38, "sex=Male; age=50 years; weight=70 kg; Sodium=160 mmol/L", 6.0, "by hand: 0.6 x 70 x (160 / 140 - 1)"),
    (39, electrolytes(140, 104, 24), 12.0, "by hand"),
    (
        40,
        "Sodium=140 mEq/L; Urine sodium=35 mEq/L; creatinine=2 mg/dL; Urine creatinine=50 mg/dL",
        1.0,
        "by hand: 100 x 2 x 35 / (140 x 50)",
    ),
    (
        44,
        "Total cholesterol=200 mg/dL; high-density lipoprotein cholesterol=50 mg/dL; Triglycerides=150 mg/dL",
        120.0,
        "by hand: 200 - 50 - 30 (Friedewald 1972)",
    ),
    (46, HEART, 20.0, "ATP III 2002, table of points, middle of each band: 8 + 4 + 2 + 1 = 15 points, a risk of 20%"),
    (
        49,
        "OxyCODONE Dose=10 mg; OxyCODONE Dose Per Day=2 per day",
        30.0,
        "CDC 2022, box below table 1: oxycodone 10 mg twice a day are 30 MME",
    ),
    (
        49,
        "HYDROcodone Dose=5 mg; HYDROcodone Dose Per Day=4 per day",
        20.0,
        "CDC 2022, box below table 1: hydrocodone 5 mg four times a day are 20 MME",
    ),
    (56, qt(400, 60), 400.0, "no correction at 60 beats"),
    (57, qt(400, 120), 477.0, "by hand: 400 + 154 x 0.5"),
    (58, qt(400, 80), 435.0, "by hand: 400 + 1.75 x 20"),
    (59, qt(400, 60), 400.0, "no correction at 60 beats"),
    (60, "weight=80 kg; height=180 cm", 2.0, "by hand: the root of 4 (Mosteller 1987)"),
    (61, "Body Mass Index (BMI)=25 kg/m^2; height=2 m", 100.0, "by hand"),
    (62, "sex=Male; weight=123 kg; height=70 in", 93.0, "by hand: 73 + 0.4 x 50"),
    (63, electrolytes(140, 100, 14), 4.0, "by hand: (26 - 12) - (24 - 14) (Wrenn 1990)"),
    (64, electrolytes(140, 100, 14), 1.4, "by hand: 14 / 10"),
    (65, electrolytes(140, 104, 24, Albumin=[2.0, "g/dL"]), 17.0, "by hand: 12 + 2.5 x 2 (Figge 1998)"),
    (66, electrolytes(140, 104, 24, Albumin=[2.0, "g/dL"]), 5.0, "by hand: 17 - 12"),
    (67, electrolytes(140, 108, 14, Albumin=[2.0, "g/dL"]), 1.1, "by hand: (23 - 12) / 10"),
]
TOLERANCES = {3: 0.01, 5: 0.0001, 6: 0.001, 31: 0.002, 46: 0.2}
"""Relative, of values that are printed with few digits or are of another method; 1e-9 for the others."""
WORKED: list[tuple[int, dict[str, Any], float, str]] = [
    (which, read_settings_of(which, cells.split("; ")) if isinstance(cells, str) else cells, value, source)
    for which, cells, value, source in ROWS
]


def computed(which: int, cells: dict[str, Any], **options: Any) -> Computed:
    """Calculate from a cell as a table of features has it: a round trip through its text."""
    return calculate(which, repr(cells), **options)


@pytest.mark.parametrize(("which", "cells", "value", "source"), WORKED)
def test_worked_values(which: int, cells: dict[str, Any], value: float, source: str) -> None:
    result = computed(which, cells)
    assert result.reason == ""
    assert result.value.number == pytest.approx(value, rel=TOLERANCES.get(which, 1e-9)), source
    # Every feature was read, and the last step is the result.
    assert len(result.steps) > len(cells) - 1
    assert result.steps[-1].startswith(
        f"{next(calculator.name for calculator in calculators() if calculator.id == which)}: "
    )


def test_every_equation_has_a_worked_value_or_a_test_of_dates() -> None:
    assert {which for which, *_ in WORKED} | {13, 68, 69} == set(EQUATIONS)


@pytest.mark.parametrize("which", EQUATIONS)
@pytest.mark.parametrize("version", ["corrected", "v1.0"])
def test_without_features_every_equation_abstains_with_a_reason(which: int, version: Any) -> None:
    result = calculate(which, "{}", version)
    assert result.value.text() == "N/A"
    assert result.reason


@pytest.mark.parametrize(("which", "cells"), [(which, cells) for which, cells, *_ in WORKED])
def test_without_one_feature_an_equation_abstains(which: int, cells: dict[str, Any]) -> None:
    optional = {"Race", "Continuous veno-venous hemodialysis for ≥24 hours in the past week"}
    for name in cells.keys() - optional:
        result = computed(which, {other: value for other, value in cells.items() if other != name})
        assert (result.value.text(), bool(result.reason)) == ("N/A", True), name


@pytest.mark.parametrize(
    ("which", "cells", "reason"),
    [
        (
            19,
            {**WORKED[8][1], "Platelet count": [119_000_000.0, "L"]},
            "Platelet count is out of range: 119 per µL, expected 1,000 to 3,000,000 per µL",
        ),
        (38, {**WORKED[15][1], "weight": [8.0, "kg"]}, "weight is too small for the age: 8 kg at 50 years"),
        (44, {**WORKED[18][1], "Triglycerides": [401.0, "mg/dL"]}, "over 400 mg/dL"),
        (44, {**WORKED[18][1], "Total cholesterol": [45.0, "mg/dL"]}, "not below total cholesterol"),
        (
            44,
            {**WORKED[18][1], "Total cholesterol": [60.0, "mg/dL"], "Triglycerides": [390.0, "mg/dL"]},
            "leaves no LDL cholesterol: -68 mg/dL",
        ),
        (64, electrolytes(140, 104, 24), "no denominator"),
        (64, electrolytes(140, 104, 20) | {"Sodium": [137.0, "mg/dL"]}, "Sodium is out of range"),
        (65, electrolytes(140, 104, 24, Albumin=[3.2, "mg/dL"]), "Albumin is out of range"),
        (46, {**HEART, "age": [19, "years"]}, "adults"),
        (5, {"Systolic Blood Pressure": [60, "mm hg"], "Diastolic Blood Pressure": [90, "mm hg"]}, "above systolic"),
        (11, qt(400, 0), "no heart beat"),
        (49, {"FentANYL patch Dose": [60, "mg"], "FentANYL patch Dose Per Day": [1, "per day"]}, "cannot be converted"),
        (49, {"FentANYL patch Dose": [25, "µg/hr"], "FentANYL patch Dose Per Day": [0.33, "per day"]}, "patches worn"),
        (49, {"Buprenorphine Dose": [8, "mg"], "Buprenorphine Dose Per Day": [1, "per day"]}, "no conversion factor"),
        (
            24,
            {"input steroid": ["Fludrocortisone PO", 1, "mg"], "target steroid": "PredniSONE PO"},
            "no equivalent dose of this steroid is known: Fludrocortisone PO; of Betamethasone IV, Cortisone PO",
        ),
        (24, {"input steroid": ["PredniSONE PO", -1, "mg"], "target steroid": "Cortisone PO"}, "not above zero"),
        (24, {"input steroid": ["PredniSONE PO"], "target steroid": "Cortisone PO"}, "no steroid with a dose"),
        (13, {"cycle length": 27.5, "Last menstrual date": "01/01/2024"}, "no whole number of days"),
        (13, {"cycle length": 5, "Last menstrual date": "01/01/2024"}, "out of range"),
        (13, {"cycle length": 28, "Last menstrual date": "12/31/9999"}, "no value"),
        (69, {"Current Date": "01/01/2024", "Last menstrual date": "02/01/2024"}, "no pregnancy is of that age"),
        (69, {"Current Date": "01/01/2025", "Last menstrual date": "01/01/2024"}, "no pregnancy is of that age"),
    ],
)
def test_features_that_make_no_score_are_an_abstention_with_its_reason(
    which: int, cells: dict[str, Any], reason: str
) -> None:
    result = computed(which, cells)
    assert result.value.text() == "N/A"
    assert reason in result.reason


def test_assumptions_are_said() -> None:
    child = {"sex": "Female", "age": [17, "years"], "creatinine": [7.2, "mg/dL"]}
    assert computed(9, child).assumptions == (
        "age is under 18: the formula was made on adults",
        "race is not mentioned: no factor for it",
    )
    assert computed(9, {**child, "Race": "White"}).value == computed(9, child).value
    black, white = (computed(9, {**child, "Race": race}).value.number for race in ("Black", "White"))
    assert black is not None
    assert white is not None
    assert black / white == pytest.approx(1.212)


# How the formulas move


RATES = st.floats(30, 200)


@given(RATES, st.floats(200, 600))
@settings(max_examples=60, deadline=None)
def test_a_faster_heart_raises_every_corrected_qt(rate: float, interval: float) -> None:
    for corrected in QT_CORRECTIONS.values():
        assert corrected(interval, rate + 1) > corrected(interval, rate)
        assert corrected(interval, 60) == pytest.approx(interval)


@given(st.floats(0.2, 15), st.floats(18, 100), st.sampled_from(["Male", "Female"]))
@settings(max_examples=60, deadline=None)
def test_filtration_falls_with_creatinine_and_age(creatinine: float, age: float, sex: str) -> None:
    rate = ckd_epi_2021(creatinine, age, sex)
    assert ckd_epi_2021(creatinine * 1.01, age, sex) < rate
    assert ckd_epi_2021(creatinine, age + 1, sex) < rate


@given(st.floats(0.5, 10), st.floats(0.1, 30), st.floats(0.8, 8), st.floats(110, 160))
@settings(max_examples=80, deadline=None)
def test_meld_na_stays_in_its_range_and_never_falls_as_values_get_worse(
    creatinine: float, bilirubin: float, inr: float, sodium: float
) -> None:
    def points(sodium: float, *values: float) -> int:
        return meld_na(10 * math.floor(10 * meld_i(*values) + 0.5) / 10, sodium)

    result = points(sodium, creatinine, bilirubin, inr)
    assert 6 <= result <= 40
    assert points(sodium, creatinine * 1.2, bilirubin * 1.2, inr * 1.2) >= result
    assert points(sodium - 5, creatinine, bilirubin, inr) >= result
    assert points(125, creatinine, bilirubin, inr) == points(100, creatinine, bilirubin, inr)


def test_dialysis_counts_as_creatinine_of_four() -> None:
    twice = "Dialysis at least twice in the past week"
    on, off = (computed(23, {**MELD, "creatinine": [0.8, "mg/dL"], twice: flag}).value.number for flag in (True, False))
    assert on == computed(23, {**MELD, "creatinine": [9.0, "mg/dL"]}).value.number
    assert on is not None
    assert off is not None
    assert on > off


@given(st.floats(0.5, 150))
@settings(max_examples=60, deadline=None)
def test_maintenance_fluids_have_no_jump(weight: float) -> None:
    assert 0 < maintenance_fluids(weight + 0.001) - maintenance_fluids(weight) <= 0.0041


@pytest.mark.parametrize(
    ("weight", "used"),
    [(50.0, 50.0), (60.0, 60.0), (72.0, 65.937), (100.0, 79.562)],
    ids=["underweight", "normal and under ideal", "normal and over ideal", "overweight"],
)
def test_the_dosing_weight_goes_by_the_body_mass_index(weight: float, used: float) -> None:
    height = 170.0 if weight != 50.0 else 175.0
    assert dosing_weight(weight, height, "Male") == pytest.approx(used, abs=1e-3)


def test_body_water_goes_by_age_and_sex() -> None:
    shares = [body_water_share(age, sex) for age in (10, 40, 70) for sex in ("Male", "Female")]
    assert shares == [0.6, 0.6, 0.6, 0.5, 0.5, 0.45]


def test_katz_factor_is_there_for_who_wants_it() -> None:
    assert corrected_sodium(125, 600, 0.016) == pytest.approx(133.0)


# Dates


def test_naegele_counts_months_back_and_days_on() -> None:
    # As obstetric texts work it: 8 May 2020, less three months, a year and seven days on, is 15 February 2021.
    assert due_date(date(2020, 5, 8)) == date(2021, 2, 15)
    assert due_date(date(2020, 5, 8), 31) == date(2021, 2, 18)
    assert due_date(date(2023, 5, 31)) == date(2024, 3, 7)
    assert due_date(date(2022, 11, 30)) == date(2023, 9, 6)


@given(st.dates(date(1950, 1, 1), date(2050, 1, 1)), st.integers(20, 45))
@settings(max_examples=100, deadline=None)
def test_the_due_date_is_forty_weeks_on_give_or_take_days(last_period: date, cycle: int) -> None:
    apart = due_date(last_period, cycle) - last_period - timedelta(days=cycle - 28)
    assert 277 <= apart.days <= 283
    assert due_date(last_period, cycle + 1) - due_date(last_period, cycle) == timedelta(days=1)
    assert conception(last_period, cycle) - last_period == timedelta(days=cycle - 14)


def test_gestational_age_is_weeks_and_days() -> None:
    result = computed(69, {"Current Date": "05/23/2024", "Last menstrual date": "02/14/2024"})
    assert (result.value.number, result.value.weeks_days) == (99.0, True)
    assert result.steps[-1] == "Estimated Gestational Age: 14 weeks, 1 days"


# What v1.0 did instead


@pytest.mark.parametrize(
    ("which", "cells", "corrected", "old"),
    [
        (13, {"cycle length": 24, "Last menstrual date": "01/01/2023"}, "10/04/2023", "10/12/2023"),
        (68, {"cycle length": 24, "Last menstrual date": "01/01/2023"}, "01/11/2023", "01/15/2023"),
        (3, {"sex": "Male", "age": [50, "years"], "creatinine": [0.8, "mg/dL"]}, "107.819", "99.94"),
        (7, {"Calcium": [2.6, "mmol/L"], "Albumin": [4.0, "g/dL"]}, "10.42", "12"),
        (23, {**MELD, "Sodium": [140.0, "mEq/L"], "creatinine": [1.5, "mg/dL"]}, "18", "20"),
        (46, HEART, "17.106", "0"),
        (63, electrolytes(140, 100, 14), "4", "14"),
        (65, electrolytes(140, 104, 24, Albumin=[17.1, "g/dL"]), "N/A", "-20.75"),
        (11, qt(330, 131), "487.609", "487.62"),
        (24, {"input steroid": ["Hydrocortisone PO", 100, "mg"], "target steroid": "Dexamethasone PO"}, "3.75", "3.7"),
        (49, {"FentANYL patch Dose": [60, "mg"], "FentANYL patch Dose Per Day": [1, "per day"]}, "N/A", "144"),
    ],
)
def test_v1_gives_what_its_labels_hold(which: int, cells: dict[str, Any], corrected: str, old: str) -> None:
    for version, expected in (("corrected", corrected), ("v1.0", old)):
        result = calculate(which, Features(cells), version).value  # type: ignore[arg-type]
        if result.number is None:
            assert result.text() == expected
        else:
            assert result.number == pytest.approx(float(expected), rel=5e-3)


def test_conception_without_a_cycle_takes_28_days_and_says_so() -> None:
    for version in ("corrected", "v1.0"):
        result = calculate(68, Features({"Last menstrual date": "01/01/2023"}), version)
        assert result.value.text() == "01/15/2023"
        assert result.assumptions == ("cycle length is not mentioned: taken as 28 days",)
    assert not calculate(68, Features({"Last menstrual date": "01/01/2023", "cycle length": 24})).assumptions
