"""Features: every getter reads, records, and says why where it cannot."""

from __future__ import annotations

from datetime import date

import pytest

from stewardship.calculators.features import Features, NotComputable


def test_a_cell_is_read_as_python_or_json_writes_it() -> None:
    python = Features.parse("{'weight': [70.0, 'kg'], 'Smoker': True, 'Race': None}")
    json = Features.parse('{"weight": [70.0, "kg"], "Smoker": true, "Race": null, "note": "true or false"}')
    assert python.quantity("weight", "kg") == json.quantity("weight", "kg") == 70.0
    assert python.flag("Smoker") is json.flag("Smoker") is True
    assert not python.has("Race")
    assert json.cells["note"] == "true or false"


@pytest.mark.parametrize("text", ["", "nan", "[1, 2]", "{1: 2}", "{'a': __import__('os')}", "{'a': 1", "(" * 500])
def test_what_is_no_dictionary_is_refused(text: str) -> None:
    with pytest.raises(NotComputable, match="cannot be read"):
        Features.parse(text)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "creatinine is missing"),
        (1.2, "not a number with a unit"),
        ("1.2 mg/dL", "not a number with a unit"),
        ([1.2], "not a number with a unit"),
        (["1.2", "mg/dL"], "is not a number"),
        ([True, "mg/dL"], "is not a number"),
        ([float("nan"), "mg/dL"], "is not a number"),
        ([1.2, "mg"], "cannot be converted"),
        ([1.2, "furlongs"], "cannot be converted"),
        ([1_200.0, "mg/dL"], "out of range: 1,200 mg/dL"),
        ([0.0, "µmol/L"], "out of range"),
    ],
)
def test_a_quantity_that_cannot_be_used_says_why(value: object, reason: str) -> None:
    with pytest.raises(NotComputable, match=reason):
        Features({"creatinine": value}).quantity("creatinine", "mg/dL")


def test_a_quantity_records_what_was_read_and_converted() -> None:
    features = Features({"creatinine": [88.4, "µmol/L"], "age": [40, "years"]})
    assert features.quantity("creatinine", "mg/dL") == pytest.approx(1.0, rel=1e-3)
    assert features.quantity("age", "years") == 40.0
    assert features.steps == ["creatinine: 88.4 µmol/L = 0.999981 mg/dL", "age: 40 years"]


def test_the_ends_of_a_range_belong_to_it_in_every_unit() -> None:
    assert Features({"Temperature": [47.0, "degrees celsius"]}).quantity("Temperature", "degrees celsius") == 47.0
    assert Features({"Temperature": [116.6, "degrees fahrenheit"]}).quantity("Temperature", "degrees celsius")
    with pytest.raises(NotComputable, match="out of range"):
        Features({"Temperature": [98.6, "degrees celsius"]}).quantity("Temperature", "degrees fahrenheit")


def test_read_as_v1_did_no_range_is_checked() -> None:
    assert Features({"Albumin": [17.1, "g/dL"]}, lenient=True).quantity("Albumin", "g/dL") == 17.1
    with pytest.raises(NotComputable, match=r"17.1 g/dL, expected 0.6 to 6 g/dL"):
        Features({"Albumin": [17.1, "g/dL"]}).quantity("Albumin", "g/dL")


def test_a_number_is_checked_against_its_range() -> None:
    assert Features({"pH": 7.4}).number("pH") == 7.4
    assert Features({"pH": 74}, lenient=True).number("pH") == 74.0
    for value in (74, "7.4", True):
        with pytest.raises(NotComputable):
            Features({"pH": value}).number("pH")


def test_a_flag_that_is_absent_is_assumed_or_refused() -> None:
    features = Features({"Hemoptysis": "No", "Smoker": "Not mentioned", "Stroke": False})
    assert features.flag("Hemoptysis") is False
    assert features.flag("Stroke", absent=True) is False
    assert features.flag("Dementia", absent=False) is False
    assert features.assumptions == ["Dementia is not mentioned: taken as no"]
    with pytest.raises(NotComputable, match="Dementia is missing"):
        features.flag("Dementia")
    with pytest.raises(NotComputable, match="neither true nor false"):
        features.flag("Smoker", absent=False)


def test_a_choice_is_one_of_its_options_without_regard_to_case() -> None:
    features = Features({"sex": " female ", "Ascites": "lots"})
    assert features.choice("sex", ("Male", "Female")) == "Female"
    assert features.choice("Encephalopathy", ("none", "grade 1"), absent="none") == "none"
    with pytest.raises(NotComputable, match="none of absent, slight: lots"):
        features.choice("Ascites", ("absent", "slight"))
    with pytest.raises(NotComputable, match="Mobility is missing"):
        features.choice("Mobility", ("on bed rest",))


def test_dates_and_lists_are_read() -> None:
    features = Features({"start": "02/29/2024", "iso": "2024-02-29", "bad": "02/30/2024", "drug": ["A", 1.0, "mg"]})
    assert features.date("start") == features.date("iso") == date(2024, 2, 29)
    assert features.parts("drug") == ("A", 1.0, "mg")
    for name in ("bad", "drug", "none"):
        with pytest.raises(NotComputable):
            features.date(name)
    with pytest.raises(NotComputable, match="is no list"):
        features.parts("start")


def test_an_assumption_is_recorded_once_and_a_long_value_is_cut() -> None:
    features = Features({"sex": "x" * 500})
    features.assume("fasting")
    features.assume("fasting")
    assert features.assumptions == ["fasting"]
    with pytest.raises(NotComputable) as caught:
        features.choice("sex", ("Male", "Female"))
    assert len(str(caught.value)) < 100
