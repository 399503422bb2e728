"""Exponents of growth from saved results, and the page that shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.growth import WHOLE, Growth, draw, exponent, growth_markdown, growth_of
from benchmarks.report import BEGIN, END, measured_text, with_measured
from ground.errors import InputError


def measure(seconds: float, peak: float) -> dict[str, Any]:
    return {
        "name": "ontoground",
        "rows": 10,
        "unit": "rows",
        "seconds": seconds,
        "cpu_seconds": seconds,
        "peak_bytes": peak,
        "private_bytes": peak / 2,
        "disk_bytes": 1000,
        "failed": "",
    }


def saved_at(scale: float) -> dict[str, Any]:
    """Sections grow with the square of the scale, the whole run in proportion; a yardstick failed."""
    failed = {"name": "yardstick", "failed": "was killed"}
    check = {"what": "times", "found": 1.5, "bound": "at most", "limit": 2, "met": True}
    return {
        "settings": {"scale": scale, "workers": 2, "threads": 2, "memory_limit": "4GB"},
        "machine": {"cores": 2, "memory_gib": 8, "system": "Linux", "python": "3", "packages": {"duckdb": "2"}},
        "stages": [
            {
                "stage": "sections",
                "kind": "step",
                "remark": "",
                "measures": [measure(100 * scale**2, 2**30), failed],
                "checks": [check],
            },
            {
                "stage": WHOLE,
                "kind": "step",
                "remark": "",
                "measures": [measure(50 * scale, 2**30)],
                "checks": [],
            },
        ],
    }


SAVED = {scale: saved_at(scale) for scale in (0.01, 0.1, 0.5)}


def test_the_exponent_is_the_slope_of_the_logarithms() -> None:
    assert exponent([1, 10, 100], [3, 300, 30000]) == pytest.approx(2)
    assert exponent([1, 10], [0, 0]) == 0.0


def test_growth_is_fitted_for_each_step_and_extrapolated_to_full_size() -> None:
    sections, whole = growth_of(SAVED, "seconds")
    assert (sections.step, whole.step) == ("sections", WHOLE)
    assert sections.fitted == pytest.approx(2) and sections.full == pytest.approx(100)
    assert whole.fitted == pytest.approx(1) and whole.full == pytest.approx(50)
    flat = growth_of(SAVED, "peak_bytes")[0]
    assert flat.fitted == pytest.approx(0, abs=1e-9) and flat.full == pytest.approx(2**30)


def test_time_that_seems_to_grow_slower_than_its_input_is_extrapolated_in_proportion() -> None:
    assert Growth("x", "seconds", (0.1, 0.5), (10.0, 11.0)).full == pytest.approx(22)


def test_one_scale_shows_no_growth() -> None:
    with pytest.raises(InputError):
        growth_of({0.1: SAVED[0.1]}, "seconds")


def test_the_page_shows_the_largest_scale_the_growth_and_what_failed() -> None:
    text = measured_text(SAVED)
    assert "Scale 0.5, 2 cores" in text and "was killed" in text
    assert "| sections | times | 1.5 | at most 2 | yes |" in text
    assert "| sections | 0.01 | 1.00 | 25.00 | 2.00 | 2.00 ! | 100 |" in growth_markdown(SAVED)
    page = f"before\n{BEGIN}old\n{END}after\n"
    assert with_measured(page, "new") == f"before\n{BEGIN}\nnew\n{END}after\n"
    with pytest.raises(InputError):
        with_measured("no marks", "new")


def test_the_same_results_are_drawn_alike(tmp_path: Path) -> None:
    draw(SAVED, tmp_path / "one.svg")
    draw(SAVED, tmp_path / "two.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert (tmp_path / "one.svg").stat().st_size < 100_000


def test_growth_in_concepts_has_a_table_of_its_own_and_is_extrapolated_to_nothing(tmp_path: Path) -> None:
    of_concepts = {2_000.0: saved_at(0.01), 20_000.0: saved_at(0.1)}
    text = measured_text(SAVED, of_concepts).partition("### Growth in concepts")[2]
    assert "| sections | 0.01 | 1.00 | 2.00 | 2.00 ! |" in text
    assert "| step | 2,000 | 20,000 | exponent | last two |" in text and "1/1" not in text
    draw(of_concepts, tmp_path / "concepts.svg", "concepts", "cpu_seconds")
    assert "CPU seconds" in (tmp_path / "concepts.svg").read_text(encoding="utf-8")
