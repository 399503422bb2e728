"""Units: spellings, conversions by pint, and the rounding of MedCalc-Bench v1.0."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ground.storage.tables import read_table
from stewardship.benchmark.tables import read_cells
from stewardship.calculators.features import Features
from stewardship.calculators.units import DATA, UnitError, convert
from stewardship.calculators.units_v1 import convert_v1, round_v1


@pytest.mark.parametrize(
    ("value", "unit", "target", "substance", "expected"),
    [
        # Factors as conversion tables of laboratories print them (AMA Manual of Style, 11th edition, section 17.5).
        (1.0, "mg/dL", "µmol/L", "creatinine", 88.4),
        (100.0, "mg/dL", "mmol/L", "glucose", 5.55),
        (10.0, "mg/dL", "mmol/L", "urea nitrogen", 3.57),
        (1.0, "mg/dL", "µmol/L", "bilirubin", 17.1),
        (10.0, "mg/dL", "mmol/L", "calcium", 2.495),
        (200.0, "mg/dL", "mmol/L", "cholesterol", 5.17),
        (150.0, "mg/dL", "mmol/L", "triglycerides", 1.694),
        (140.0, "mmol/L", "mEq/L", "sodium", 140.0),
        (2.5, "mmol/L", "mEq/L", "calcium", 5.0),
        (35.0, "g/L", "g/dL", "albumin", 3.5),
        (98.6, "degrees fahreinheit", "degrees celsius", None, 37.0),
        (39.0, "degrees celsisus", "degrees celsius", None, 39.0),
        (250_000.0, "µL", "L", None, 2.5e11),
        (250.0, "10^9/L", "mm^3", None, 250_000.0),
        (13.0, "K/µL", "mm^3", None, 13_000.0),
        (0.4, "s", "msec", None, 400.0),
        (100.4, "°F", "degrees celsius", None, 38.0),
        (9_400.0, "m^3", "µL", None, 9_400.0),
        (18.0, "months", "years", None, 1.5),
        (150.0, "lbs", "kg", None, 68.04),
        (70.0, "in", "cm", None, 177.8),
        (120.0, " MM HG ", "mmhg", None, 120.0),
        (75.0, "beats per minute", "bpm", None, 75.0),
        (0.27, "mc/kg/min", "mcg/kg/min", None, 0.27),
    ],
)
def test_quantities_convert_as_conversion_tables_say(
    value: float, unit: str, target: str, substance: str | None, expected: float
) -> None:
    assert convert(value, unit, target, substance) == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize(
    ("unit", "target", "substance"),
    [
        ("stone", "kg", None),
        ("kg", "cm", None),
        ("mg/dL", "mmol/L", None),
        ("mg/dL", "mmol/L", "unobtainium"),
        ("mEq/L", "mg/dL", "glucose"),
        ("µIU/mL", "mg/dL", "glucose"),
        ("mg", "µg/hr", None),
    ],
)
def test_units_that_measure_other_things_are_refused(unit: str, target: str, substance: str | None) -> None:
    with pytest.raises(UnitError):
        convert(1.0, unit, target, substance)


@given(st.floats(1e-3, 1e4), st.sampled_from(["mg/dL", "g/L", "mmol/L", "µmol/L", "mEq/L"]))
@settings(max_examples=60, deadline=None)
def test_a_conversion_there_and_back_changes_nothing(value: float, unit: str) -> None:
    assert convert(convert(value, "mmol/L", unit, "sodium"), unit, "mmol/L", "sodium") == pytest.approx(value)


def test_v1_rounded_after_every_step() -> None:
    assert convert(2.6, "mmol/L", "mg/dL", "calcium", as_v1=True) == 12.0
    assert convert(2.6, "mmol/L", "mg/dL", "calcium") == pytest.approx(10.42, abs=0.01)
    assert convert(42.0, "µmol/L", "mg/dL", "creatinine", as_v1=True) == 0.5
    assert convert(137.0, "mg/dL", "mEq/L", "sodium", as_v1=True) == 60.0
    assert convert(142.0, "lbs", "kg", as_v1=True) == 64.41
    assert convert(140.0, "mEq/L", "mmol/L", "sodium", as_v1=True) == 140.0


def test_v1_took_a_count_per_cubic_metre_as_written() -> None:
    assert convert(9_400.0, "m^3", "µL", as_v1=True) == pytest.approx(9.4e-6)


def test_v1_knew_conversions_of_concentrations_and_counts_only() -> None:
    assert convert_v1(1.0, "lbs", "kg", None, None) is None
    assert convert_v1(1.0, "mmol/L", "mg/dL", None, None) is None
    assert convert_v1(1.0, "kg/m^2", "mg/dl", 100.0, None) is None


@pytest.mark.parametrize(("value", "expected"), [(1.23456, 1.235), (0.000123456, 0.000123), (-0.82812, -0.828), (0, 0)])
def test_v1_kept_three_decimals_or_three_digits(value: float, expected: float) -> None:
    assert round_v1(value) == expected


def test_the_tables_of_units_substances_and_ranges_fit_together() -> None:
    columns = ("spelling", "unit", "as_written", "note", "source")
    spellings = [row["spelling"] for row in read_table(DATA / "unit_spellings.tsv", columns)]
    assert len(set(spellings)) == len(spellings)
    assert all(spelling == spelling.lower() and convert(1.0, spelling, spelling) == 1.0 for spelling in spellings)
    ranges = read_table(DATA / "features.tsv", ("feature", "substance", "low", "high", "unit", "source"))
    assert len({row["feature"] for row in ranges}) == len(ranges)
    for row in ranges:
        assert float(row["low"]) < float(row["high"]), row["feature"]
        if row["unit"] != "1":
            assert convert(1.0, row["unit"], row["unit"]) == 1.0
        if row["substance"] and row["unit"] == "mg/dL":
            assert convert(1.0, "mg/dL", "mmol/L", row["substance"]) > 0


@pytest.mark.real
def test_every_unit_of_the_benchmark_is_known(real_data: Path) -> None:
    cells = read_cells(real_data / "stewardship" / "source" / "original_test_labels.csv.gz")["Relevant Entities"]
    values = [value for cell in cells for value in Features.parse(cell).cells.values()]
    units = {value[1] for value in values if isinstance(value, list) and len(value) == 2}
    assert len(units) > 30
    assert all(convert(1.0, unit, unit) == 1.0 for unit in units)
