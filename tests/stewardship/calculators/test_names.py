"""Features are read under the names that others give them; what is not read is named, and taken for nothing."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ground.storage.tables import read_table
from stewardship.benchmark.tables import read_label_table
from stewardship.calculators.features import Features
from stewardship.calculators.inputs import inputs_of
from stewardship.calculators.names import DATA, feature_of
from stewardship.calculators.registry import calculate, calculators

SPELLINGS = Path(__file__).parent / "other_spellings.tsv"
VERIFIED = Path(__file__).parent / "verified_names.tsv"
HAS_BLED = {"age": [60.0, "years"], "Stroke": False}


def other_names() -> dict[str, dict[str, str]]:
    """Return by row of MedCalc-Bench v1.0 how its features are named otherwise."""
    names: dict[str, dict[str, str]] = {}
    for row in read_table(SPELLINGS, ("uid", "calculator", "feature", "written")):
        names.setdefault(row["uid"], {})[row["feature"]] = row["written"]
    return names


@pytest.mark.real
def test_other_names_give_at_least_98_percent_of_what_the_right_ones_give(real_data: Path) -> None:
    table = read_label_table(real_data / "stewardship" / "source" / "original_test_labels.csv.gz").frame
    rows = {uid: (which, text) for uid, which, text in table.select("uid", "stratum_id", "features").iter_rows()}
    named = other_names()
    assert len(named) == 60
    for version in ("corrected", "v1.0"):
        same = 0
        for uid, names in named.items():
            which, text = rows[uid]
            cells = Features.parse(text).cells
            other = Features({names[name]: value for name, value in cells.items()})
            same += calculate(which, Features(cells), version).value == calculate(which, other, version).value
        assert same >= 0.98 * len(named)


@pytest.mark.real
def test_the_names_of_medcalc_bench_verified_give_what_those_of_v1_give(real_data: Path) -> None:
    renamed = {
        (int(which), row["feature"]): row["written"]
        for row in read_table(VERIFIED, ("calculators", "feature", "written"))
        for which in row["calculators"].split(",")
    }
    table = read_label_table(real_data / "stewardship" / "source" / "original_test_labels.csv.gz").frame
    same = others = 0
    for which, text in table.select("stratum_id", "features").iter_rows():
        cells = Features.parse(text).cells
        # Where a row has a feature under both of its names, each keeps its own.
        names = {name: renamed.get((int(which), name), name) for name in cells}
        other = {name if names[name] in cells else names[name]: value for name, value in cells.items()}
        others += other.keys() != cells.keys()
        result = calculate(which, Features(other))
        same += result.value == calculate(which, Features(cells)).value and result.unread == ()
    assert others > 200 and same >= 0.98 * table.height


@pytest.mark.parametrize(
    ("which", "name", "feature"),
    [
        (25, "Hypertension", "Hypertension history"),
        (25, "HYPERTENSION HISTORY", "Hypertension history"),
        (4, "Congestive Heart Failure", "Congestive Heart Faliure"),
        (43, "Continuous positive airway pressure", "Continous positive airway pressure"),
        (27, "Haemoglobin (g/dL)", "Hemoglobin"),
        (5, "systolic_bp", "Systolic Blood Pressure"),
        (5, "systolicBP", "Systolic Blood Pressure"),
        (43, "Noradrenaline", "norEPINEPHrine"),
        (28, "PaO2", "Partial pressure of oxygen (PaO₂) for Apache II"),
        (16, "Bedridden recently >3 days", "Bedridden recently >3 days or major surgery within 12 weeks"),
        (33, "Symptom onset <=3 days", "Symptom onset ≤3 days"),
        (28, "Chronic renal failure", ""),  # APACHE II counts acute failure only
        (25, "sex", ""),
    ],
)
def test_case_spelling_and_synonyms_are_read(which: int, name: str, feature: str) -> None:
    assert feature_of(which, name) == feature


@pytest.mark.parametrize(
    ("which", "name"),
    [
        (20, "Cough"),  # the opposite of what is asked
        (8, "No hemoptysis"),
        (8, "Pulmonary embolism"),  # the present one is what is looked for
        (36, "Stroke"),  # of the last month only
        (25, "Family history of stroke"),
        (11, "QTc"),
        (7, "Ionized calcium"),
        (33, "Symptom onset ≥3 days"),
        (40, "Urine urea nitrogen"),
    ],
)
def test_what_means_something_else_is_not_read(which: int, name: str) -> None:
    assert feature_of(which, name) is None


def test_urea_is_the_nitrogen_in_it_in_amounts_only() -> None:
    assert feature_of(45, "Urea", [7.0, "mmol/L"]) == "Blood Urea Nitrogen (BUN)"
    assert feature_of(45, "Urea", [42.0, "mg/dL"]) is None


def test_a_score_is_the_same_under_other_names() -> None:
    result = calculate(25, Features({**HAS_BLED, "Hypertension": True}))
    assert result.value.text() == "1" and result.unread == ()


def test_an_unread_feature_is_not_taken_for_no() -> None:
    result = calculate(25, Features({**HAS_BLED, "Raised pressure": True}))
    assert result.value.text() == "N/A" and result.unread == ("Raised pressure",)
    assert "features not read: Raised pressure" in result.reason and "Hypertension history as no" in result.reason
    # A feature of None was not given, and a formula that takes nothing for granted cannot miss it.
    assert not calculate(25, Features({**HAS_BLED, "Raised pressure": None})).reason
    gap: dict[str, Any] = {"Na": [140, "mEq/L"], "Cl": [104, "mEq/L"], "HCO3": [24, "mEq/L"], "Mood": "good"}
    gapped = calculate(39, Features(gap))
    assert gapped.value.text() == "12" and gapped.unread == ("Mood",)


def test_a_feature_under_two_names_with_two_values_is_no_feature() -> None:
    twice = calculate(25, Features({**HAS_BLED, "Hypertension": True, "HTN": False}))
    assert "Hypertension history is given twice" in twice.reason and twice.unread == ("Hypertension", "HTN")
    assert not calculate(25, Features({**HAS_BLED, "Hypertension": True, "HTN": True})).reason


@given(which=st.sampled_from([calculator.id for calculator in calculators()]), data=st.data())
def test_a_name_in_any_case_is_read_as_itself(which: int, data: st.DataObject) -> None:
    feature = data.draw(st.sampled_from([item.feature for item in inputs_of(which)]))
    spelt = data.draw(st.sampled_from([str.upper, str.lower, str.title]))(feature).replace(" ", "_")
    assert feature_of(which, feature) == feature
    same = {"History of cerebrovascular disease", "Cerebrovascular disease history"}  # in other words the same
    assert feature_of(which, spelt) in (same if which == 17 and feature in same else {feature})


def test_no_name_of_the_table_means_two_features_of_one_calculator() -> None:
    rows = read_table(DATA / "feature_names.tsv", ("calculators", "feature", "name", "unit", "source"))
    known = {calculator.id: {each.feature for each in inputs_of(calculator.id)} for calculator in calculators()}
    for row in rows:
        assert row["source"]
        only = [int(item) for item in row["calculators"].split(",")] if row["calculators"] else list(known)
        for which in only:
            if row["feature"] in known[which]:
                value = [1.0, row["unit"]] if row["unit"] else None
                assert feature_of(which, row["name"], value) == row["feature"], row
            else:
                assert not row["feature"] or not row["calculators"], row


def test_every_word_that_is_read_as_another_has_a_source_and_none_is_there_twice() -> None:
    with (DATA / "feature_words.tsv").open(encoding="utf-8") as lines:
        rows = list(csv.reader((line for line in lines if not line.startswith("#")), delimiter="\t"))[1:]
    assert all(row[2] for row in rows)
    written = [row[0] for row in rows]
    assert sorted(written) == sorted(set(written))
