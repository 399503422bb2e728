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


def compared(first: str, second: str, limit: float = 0.05) -> tuple[float | None, str | None, str]:
    return discrepancies([parse_label(first)], [parse_label(second)], limit=limit).row(0)


@given(NUMBERS, NUMBERS)
def test_rel_err_is_symmetric_and_between_0_and_2(first: float, second: float) -> None:
    found = float(relative_error(first, second))
    assert found == float(relative_error(second, first))
    assert 0 <= found <= 2
    assert (found <= 1) or first * second < 0 or math.copysign(1, first) != math.copysign(1, second)
    assert float(relative_error(first, first)) == 0


def test_exactly_the_limit_is_no_difference_also_where_binary_numbers_fall_short() -> None:
    assert compared("95", "100") == (0.05, "rel_err", "unflagged")
    assert compared("1.9", "2")[2] == "unflagged"
    assert compared("1.899", "2")[2] == "differs"


def test_categories_differ_by_name() -> None:
    found = discrepancies([LabelValue.of("Q1")] * 2, [LabelValue.of("Q1"), LabelValue.of("Q3")])
    assert found["distance"].to_list() == [0.0, 1.0]
    assert found["flag"].to_list() == ["unflagged", "differs"]


def test_the_list_has_abstentions_first_then_the_largest_errors_with_ties_by_number_and_dates_apart() -> None:
    original = {"10": "1", "9": "1", "4": "8", "2": "100", "3": "7", "d2": "01/01/2020", "d1": "01/01/2020", "5": "3"}
    recomputed = {"10": "2", "9": "2", "4": "N/A", "2": "01/01/2020", "3": "7", "d1": "01/03/2020", "d2": "01/09/2020"}
    table = triage(
        {uid: parse_label(text) for uid, text in original.items()},
        {uid: parse_label(text) for uid, text in recomputed.items()},
        strata={uid: "one" if uid in "234" else "two" for uid in original},
    )
    assert table.filter(list="main")["uid"].to_list() == ["4", "2", "9", "10", "3"]
    assert table.filter(list="main")["rank"].to_list() == [1, 2, 3, 4, 5]
    assert table.filter(list="dates").select("uid", "rank", "distance").rows() == [("d2", 1, 8.0), ("d1", 2, 2.0)]
    found = summarise(table, of=8)
    assert (found.n, found.deferred, found.abstained, found.differ, found.unflagged) == (7, 1, 1, 5, 1)
    assert (found.flagged, found.flagged_rate, found.differ_rate) == (6, 6 / 8, 5 / 7)
    assert (found.strata, found.strata_flagged) == (2, 2)
    assert found.by_type["date"] == {"n": 2, "differ": 2, "abstained": 0}
    assert list(found.by_stratum) == ["two", "one"]


def test_nothing_to_compare_is_an_empty_list() -> None:
    table = triage({"1": LabelValue.of(1)}, {})
    assert table.height == 0
    found = summarise(table, of=0)
    assert (found.flagged, found.flagged_rate, found.differ_rate) == (0, None, None)


@pytest.mark.real
def test_s5_triage_of_all_high_confidence_labels(real_data: Path) -> None:
    folder = real_data / "stewardship"
    case = next(one for one in json.loads((folder / "checks.json").read_text())["shown"] if one["id"] == "S5")
    rows = read_cells(folder / "checks" / case["input"][0]).rows(named=True)
    labels = [{row["uid"]: parse_label(row[column]) for row in rows} for column in ("y_orig", "y_new")]
    table = triage(
        *labels,
        strata={row["uid"]: row["calculator_name"] for row in rows},
        types={row["uid"]: row["output_type"] for row in rows},
    )
    found, wanted = summarise(table, of=1047), case["expected"]
    assert found.by_type == wanted["by_type"]
    counts = {
        "n": found.n,
        "abstained": found.abstained,
        "differ": found.differ,
        "unflagged": found.unflagged,
        "flagged": found.flagged,
        "deferred": found.deferred,
        "calculators_with_a_flag": found.strata_flagged,
    }
    assert counts == {name: wanted[name] for name in counts}
    assert found.high_confidence_rate == pytest.approx(wanted["high_confidence_rate"], abs=1e-6)
    assert found.abstained_rate == pytest.approx(wanted["abstention_rate"], abs=1e-6)
    assert found.differ_rate == pytest.approx(wanted["differ_rate"], abs=1e-6)
    assert found.flagged_rate == pytest.approx(wanted["mislabelled_rate_of_1047"], abs=1e-6)
    main = table.filter(list="main")
    assert main["flag"][:66].unique().to_list() == ["abstained"]
    assert main["distance"][66:].is_sorted(descending=True)
