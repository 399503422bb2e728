"""Discrepancy and triage: distances, flags, ranks and counts as docs/stewardship.md says."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ground.contracts.labels import LabelValue, parse_label
from stewardship.adjudication.discrepancy import discrepancies, relative_error
from stewardship.adjudication.triage import summarise, triage
from stewardship.benchmark.tables import read_cells

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@given(NUMBERS, NUMBERS)
def test_rel_err_is_symmetric_and_between_0_and_2(first: float, second: float) -> None:
    result = float(relative_error(first, second))
    assert result == float(relative_error(second, first))
    assert 0 <= result <= 2
    assert (result <= 1) or first * second < 0 or math.copysign(1, first) != math.copysign(1, second)
    assert float(relative_error(first, first)) == 0


def test_categories_differ_by_name() -> None:
    result = discrepancies([LabelValue.of("Q1")] * 2, [LabelValue.of("Q1"), LabelValue.of("Q3")])
    assert result["distance"].to_list() == [0.0, 1.0]
    assert result["flag"].to_list() == ["unflagged", "differs"]


def test_triage_is_summed_up_by_flag_type_and_stratum() -> None:
    original = {"10": "1", "9": "1", "4": "8", "2": "100", "3": "7", "d2": "01/01/2020", "d1": "01/01/2020", "5": "3"}
    recomputed = {"10": "2", "9": "2", "4": "N/A", "2": "01/01/2020", "3": "7", "d1": "01/03/2020", "d2": "01/09/2020"}
    table = triage(
        *({uid: parse_label(text) for uid, text in texts.items()} for texts in (original, recomputed)),
        strata={uid: "one" if uid in "234" else "two" for uid in original},
    )
    result = summarise(table, of=8)
    assert (result.n, result.deferred, result.abstained, result.differ, result.unflagged) == (7, 1, 1, 5, 1)
    assert (result.flagged, result.flagged_rate, result.differ_rate) == (6, 6 / 8, 5 / 7)
    assert (result.strata, result.strata_flagged) == (2, 2)
    assert result.by_type["date"] == {"n": 2, "differ": 2, "abstained": 0}
    assert list(result.by_stratum) == ["two", "one"]


def test_nothing_to_compare_is_an_empty_list() -> None:
    table = triage({"1": LabelValue.of(1)}, {})
    assert table.height == 0
    result = summarise(table, of=0)
    assert (result.flagged, result.flagged_rate, result.differ_rate) == (0, None, None)


@pytest.mark.real
def test_s5_triage_of_all_high_confidence_labels(real_data: Path) -> None:
    folder = real_data / "stewardship"
    case = next(item for item in json.loads((folder / "checks.json").read_text())["shown"] if item["id"] == "S5")
    rows = read_cells(folder / "checks" / case["input"][0]).rows(named=True)
    labels = [{row["uid"]: parse_label(row[column]) for row in rows} for column in ("y_orig", "y_new")]
    table = triage(
        *labels,
        strata={row["uid"]: row["calculator_name"] for row in rows},
        types={row["uid"]: row["output_type"] for row in rows},
    )
    result, wanted = summarise(table, of=1047), case["expected"]
    assert result.by_type == wanted["by_type"]
    counts = {
        "n": result.n,
        "abstained": result.abstained,
        "differ": result.differ,
        "unflagged": result.unflagged,
        "flagged": result.flagged,
        "deferred": result.deferred,
        "calculators_with_a_flag": result.strata_flagged,
    }
    assert counts == {name: wanted[name] for name in counts}
    assert result.high_confidence_rate == pytest.approx(wanted["high_confidence_rate"], abs=1e-6)
    assert result.abstained_rate == pytest.approx(wanted["abstention_rate"], abs=1e-6)
    assert result.differ_rate == pytest.approx(wanted["differ_rate"], abs=1e-6)
    assert result.flagged_rate == pytest.approx(wanted["mislabelled_rate_of_1047"], abs=1e-6)
    main = table.filter(list="main")
    assert main["flag"][:66].unique().to_list() == ["abstained"]
    assert main["distance"][66:].is_sorted(descending=True)
