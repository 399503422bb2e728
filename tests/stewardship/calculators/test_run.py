"""Calculators over tables: invented rows (test_review.py has the real ones)."""

from __future__ import annotations

import polars as pl
import pytest

from ground.errors import InputError, UsageError
from stewardship.calculators.registry import calculate, calculators, find
from stewardship.calculators.run import compare, run_calculators


def table(*rows: tuple[str, str, str, str]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["uid", "stratum_id", "features", "label"], orient="row")


ROWS = table(
    ("a", "39", "{'Sodium': [140, 'mEq/L'], 'Chloride': [104, 'mEq/L'], 'Bicarbonate': [24, 'mEq/L']}", "12.5"),
    ("b", "69", "{'Current Date': '05/23/2024', 'Last menstrual date': '02/14/2024'}", "('14 weeks', '1 days')"),
    ("c", "13", "{'cycle length': 30, 'Last menstrual date': '05/08/2020'}", "02/18/2021"),
    ("d", "6", "{'weight': [70, 'kg']}", "24"),
)


def test_rows_are_computed_in_order_with_the_reason_of_an_abstention() -> None:
    result = run_calculators(ROWS)
    assert result["uid"].to_list() == ["a", "b", "c", "d"]
    assert result["corrected"].to_list() == ["12", "99", "02/17/2021", "N/A"]
    assert result["reason"].to_list() == [None, None, None, "height is missing"]
    assert run_calculators(ROWS, frozenset({6}))["uid"].to_list() == ["d"]


def test_rows_are_compared_by_the_limits_of_a_release() -> None:
    compared = compare(run_calculators(ROWS), ROWS, "corrected", "v1")
    assert compared["agrees"].to_list() == [True, True, False, False]
    missing = ROWS.with_columns(label=pl.when(pl.col("uid") != "b").then("label"))
    assert compare(run_calculators(ROWS), missing, "corrected", "corrected")["uid"].to_list() == ["a", "c", "d"]


def test_a_row_of_no_calculator_and_a_table_without_features_are_refused() -> None:
    with pytest.raises(InputError, match="no known calculator"):
        run_calculators(table(("a", "1", "{}", "1")))
    with pytest.raises(InputError, match="no features"):
        run_calculators(ROWS.drop("features"))
    with pytest.raises(UsageError, match="no such calculator"):
        calculate("Zodiac sign", "{}")


def test_calculators_are_found_by_number_and_name() -> None:
    assert [find(which).id for which in (5, "5", " mean arterial pressure (MAP) ")] == [5, 5, 5]
    # A part of a name does where no other name has it, but no part of a number.
    assert [find(which).id for which in ("sofa", "bazett", "HAS-BLED")] == [43, 11, 25]
    with pytest.raises(UsageError, match="several") as error:
        find("QTc")
    assert "56 QTc Fridericia Calculator" in str(error.value.expected)
    with pytest.raises(UsageError, match="no such calculator"):
        find("200")
    assert len(calculators()) == 55
    assert all(calculator.source and calculator.formula and calculator.name for calculator in calculators())
