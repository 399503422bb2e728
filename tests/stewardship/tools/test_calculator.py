"""The calculators as a tool of a language model."""

from __future__ import annotations

from typing import Any

import pytest

from stewardship.calculators.inputs import inputs_of
from stewardship.calculators.registry import calculators
from stewardship.tools.base import ToolResult
from stewardship.tools.calculator import CalculatorArguments, CalculatorTool

PARTS = (("Dose", 30, "mg"), ("Dose Per Day", 4, "per day"))


def used(name: str, *features: dict[str, Any]) -> ToolResult:
    given = [{"unit": None, **feature} for feature in features]
    return CalculatorTool().use(CalculatorArguments.model_validate({"calculator": name, "features": given}))


def test_without_features_it_tells_formula_source_and_inputs() -> None:
    lines = used("Anion Gap").text
    assert "formula: sodium - (chloride + bicarbonate)" in lines and "source: Emmett" in lines
    assert all(name in lines for name in ("Sodium (number with unit, such as mEq/L", "Chloride", "Bicarbonate"))


def test_with_features_it_computes_and_converts() -> None:
    weight, height = {"name": "Weight", "value": 70, "unit": "kg"}, {"name": "height", "value": 175, "unit": "cm"}
    lines = used("6", weight, height).text
    assert lines.splitlines()[-1] == "result: 22.857142857 kg/m\N{SUPERSCRIPT TWO}"
    assert "height: 175 cm = 1.75 m" in lines


def test_a_missing_input_is_named_and_one_that_does_not_count_too() -> None:
    lines = used("39", {"name": "Sodium", "value": 140, "unit": "mEq/L"}, {"name": "Mood", "value": "good"}).text
    assert "N/A: Chloride is missing" in lines and "not an input of this calculator: Mood" in lines


def test_an_unknown_calculator_lists_those_there_are() -> None:
    lines = used("LACE")
    assert not lines.ok and "39 Anion Gap" in lines.text


@pytest.mark.parametrize("item", calculators(), ids=lambda item: str(item.id))
def test_every_calculator_tells_its_inputs(item: Any) -> None:
    lines = used(str(item.id)).text
    assert inputs_of(item.id) and all(f"{each.feature} (" in lines for each in inputs_of(item.id))


def test_lists_of_drug_dose_and_unit_can_be_given() -> None:
    steroid = {"name": "input steroid", "value": ["Hydrocortisone PO", 20, "mg"]}
    lines = used("24", steroid, {"name": "target steroid", "value": "Prednisone PO"}).text
    assert lines.endswith("result: 5 mg") and "not an input" not in lines
    dose = [{"name": f"Codeine {part}", "value": value, "unit": unit} for part, value, unit in PARTS]
    assert used("49", *dose).text.endswith("result: 18 MME/day")


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("70 / 1.75**2", "22.8571428571"),
        ("2 * 140 + 28 / 2.8 + round(sqrt(81))", "299"),
        ("7 // 2 % 2", "1"),
        ("9**9**9", "OverflowError"),
        ("().__class__", "FeatureNotAvailable"),
        ("open('/etc/passwd')", "FunctionNotDefined"),
        ("1 +", "invalid syntax"),
        ("1" * 501, "more than 500 characters"),
    ],
)
def test_arithmetic_is_computed_and_nothing_else_of_python(expression: str, result: str) -> None:
    results = used(expression)
    assert result in results.text and results.ok == result.replace(".", "").isdigit()
