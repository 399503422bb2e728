"""Cells of tables."""

from __future__ import annotations

from evaluation.markdown import difference_cell, percent_cell, share_cell
from ground.markdown import markdown_table


def estimate(
    value: float | None, low: float | None = None, high: float | None = None, spread: float | None = None
) -> dict[str, float | None]:
    return {"value": value, "low": low, "high": high, "spread": spread}


def test_cells_say_what_is_undefined_and_what_is_a_difference() -> None:
    assert percent_cell(estimate(None)) == "–"
    assert percent_cell(estimate(0.1234, 0.1, 0.2)) == "12.3 (10.0 to 20.0)"
    assert percent_cell(estimate(0.5, spread=0.012)) == "50.0 ±1.2"
    assert difference_cell(estimate(0.05, -0.01, 0.11)) == "+5.0 (-1.0 to 11.0)"
    assert difference_cell(estimate(-0.0001)) == "0.0"
    assert share_cell(1, 8) == "1 (12.5%)"
    assert markdown_table(("A", "B"), [("x|y", "1")]) == "| A | B |\n| --- | ---: |\n| x\\|y | 1 |\n"
