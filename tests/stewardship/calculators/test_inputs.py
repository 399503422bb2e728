"""What calculators are said to read is what they read, and features typed by a person are understood."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from ground.errors import UsageError
from stewardship.benchmark.tables import read_label_table
from stewardship.calculators.features import Features
from stewardship.calculators.inputs import inputs_of
from stewardship.calculators.registry import calculate, calculators
from stewardship.calculators.scoring import items_of
from stewardship.calculators.typed import read_settings_of
from stewardship.calculators.units import convert

NUMBERS = [calculator.id for calculator in calculators()]


@pytest.mark.parametrize("number", NUMBERS)
def test_every_calculator_says_what_it_reads(number: int) -> None:
    reads = inputs_of(number)
    assert reads and len({read.feature.casefold() for read in reads}) == len(reads)
    for read in reads:
        assert read.kind in ("quantity", "number", "flag", "choice", "date", "dose")
        assert bool(read.units) == (read.kind in ("quantity", "dose")), read
        assert bool(read.words) == (read.kind == "choice"), read
        for unit in read.units:
            assert convert(1.0, unit, unit) == 1.0
    listed = {read.feature for read in reads}
    scored = {feature for item in items_of(number, "corrected").values() for feature in item.features}
    assert scored <= listed


def test_features_are_read_by_their_kind_without_regard_to_case() -> None:
    typed = ["AGE=65 years", "SEX=Female", "diabetes history=Yes", "Stroke=false"]
    assert read_settings_of(4, typed) == {
        "age": [65.0, "years"],
        "sex": "Female",
        "Diabetes history": True,
        "Stroke": False,
    }
    assert read_settings_of(28, ["pH=7.3", "age=65"]) == {"pH": 7.3, "age": [65.0, "years"]}
    assert read_settings_of(32, ["Solid tumor=metastatic", "Moderate to severe Chronic Kidney Disease=yes"]) == {
        "Solid tumor": "metastatic",
        "Moderate to severe Chronic Kidney Disease": True,
    }
    assert read_settings_of(24, ["input steroid=PredniSONE PO 10 mg"]) == {
        "input steroid": ["PredniSONE PO", 10.0, "mg"]
    }
    assert read_settings_of(29, ["sex=f", "Temperature=38.5 °C"]) == {"sex": "Female", "Temperature": [38.5, "°C"]}
    assert read_settings_of(6, ["height=5ft", "weight=80.5kg"]) == {"height": [5.0, "ft"], "weight": [80.5, "kg"]}
    # A unit need not be told where all that the rows have are the same.
    assert read_settings_of(30, ["Sodium=140"]) == {"Sodium": [140.0, "mEq/L"]}
    assert read_settings_of(51, ["White blood cell count=13 10^9/L"]) == {"White blood cell count": [13.0, "10^9/L"]}
    assert read_settings_of(13, ["Last menstrual date=01/02/2024"]) == {"Last menstrual date": "01/02/2024"}


@pytest.mark.parametrize(
    ("number", "typed", "answer"),
    [
        (24, "input steroid=10 mg", "a drug, a number and a unit"),
        (2, "creatinine=1.0", "mg/dL or µmol/L"),
        (28, "pH=acid", "a number"),
        (45, "=1", "NAME=VALUE"),
        (45, "heart rate=80 bpm", "respiratory rate"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_was_expected(number: int, typed: str, answer: str) -> None:
    with pytest.raises(UsageError) as error:
        read_settings_of(number, [typed])
    assert answer in str(error.value.expected)


@pytest.mark.real
def test_a_feature_said_to_be_needed_is_and_no_other_is(real_data: Path) -> None:
    table = read_label_table(real_data / "stewardship" / "source" / "original_test_labels.csv.gz").frame
    tried = 0
    for number in NUMBERS:
        cells = table.filter(stratum_id=str(number))["features"].to_list()
        whole = (Features.parse(text).cells for text in cells if not calculate(number, text).reason)
        for row in islice(whole, 2):
            for item in inputs_of(number):
                if item.feature not in row:
                    assert item.absent, (number, item.feature)
                    continue
                less = {name: value for name, value in row.items() if name != item.feature}
                reason = calculate(number, Features(less)).reason
                tried += 1
                if not item.absent:
                    assert item.feature in reason and "missing" in reason, (number, item.feature, reason)
                elif "needed" not in item.absent and number != 49:
                    assert not reason, (number, item.feature, reason)
    assert tried > 500
