"""Exponents of growth from saved results, and the page that shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.growth import WHOLE, draw, exponent, growth_markdown, growth_of
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
    check = {"what": "times", "value": 1.5, "bound": "at most", "limit": 2, "met": True}
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


def test_growth_is_fitted_for_each_step() -> None:
    sections, whole = growth_of(SAVED, "seconds")
    assert (sections.step, whole.step) == ("sections", WHOLE)
    assert sections.fitted == pytest.approx(2) and whole.fitted == pytest.approx(1)
    flat = growth_of(SAVED, "peak_bytes")[0]
    assert flat.fitted == pytest.approx(0, abs=1e-9)


def test_one_scale_shows_no_growth() -> None:
    with pytest.raises(InputError):
        growth_of({0.1: SAVED[0.1]}, "seconds")


def test_the_page_shows_the_largest_scale_the_growth_and_what_failed() -> None:
    text = measured_text(SAVED)
    assert "Scale 0.5, 2 cores" in text and "was killed" in text
    assert "| sections | times | 1.5 | at most 2 | yes |" in text
    assert "| sections | 0.01 | 1.00 | 25.00 | 2.00 | 2.00 ! |" in growth_markdown(SAVED)
    page = f"before\n{BEGIN}old\n{END}after\n"
    assert with_measured(page, "new") == f"before\n{BEGIN}\nnew\n{END}after\n"
    with pytest.raises(InputError):
        with_measured("no marks", "new")


def test_the_same_results_are_drawn_alike(tmp_path: Path) -> None:
    draw(SAVED, tmp_path / "one.svg")
    draw(SAVED, tmp_path / "two.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert (tmp_path / "one.svg").stat().st_size < 100_000
