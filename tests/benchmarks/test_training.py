"""The benchmark of training measures what it says, on sizes that take a second."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.training import ENGINES, EXACT, Sizes

SIZES = Sizes("probe", "cpu", 40, 6, 2, 2)


def test_packed_and_separate_rows_agree(tmp_path: Path) -> None:
    found = ENGINES["exactness"](SIZES, tmp_path)
    assert 0 <= found["loss_difference"] < EXACT
    assert 0 < found["gradient_difference"] < EXACT


@pytest.mark.parametrize(
    ("name", "items"), [("predict_shared", 4), ("predict_plain", 4), ("corfu_shared", 2), ("classifier_plain", 2)]
)
def test_each_engine_reports_the_items_that_it_timed(name: str, items: int, tmp_path: Path) -> None:
    found = ENGINES[name](SIZES, tmp_path)
    assert found["items"] == items
    assert found["seconds"] > 0
