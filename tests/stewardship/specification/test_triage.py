"""Section 5: discrepancy and triage."""

from __future__ import annotations

import polars as pl
import pytest

from ground.contracts.labels import parse_label
from stewardship.adjudication.discrepancy import discrepancies, relative_error
from stewardship.adjudication.triage import triage
from tests.stewardship.specification.words import labels


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (0, 0, 0),
        (-0.0, 0.0, 0),
        (0, 5, 1),
        (-1, 0, 1),
        (1e-300, 0, 1),
        (5, -5, 2),
        (-76, 1, 77 / 76),
        (100, 95, 0.05),
        (-100, -95, 0.05),
        (25.017, 19.79, 0.208937922),
        (1e200, -1e200, 2),
    ],
)
def test_relative_error_is_symmetric_and_of_the_larger_value(first: float, second: float, expected: float) -> None:
    assert float(relative_error(first, second)) == pytest.approx(expected, abs=1e-9)
    assert float(relative_error(second, first)) == float(relative_error(first, second))


@pytest.mark.parametrize(
    ("original", "recomputed", "distance", "flag"),
    [
        ("20", "19", 0.05, "unflagged"),  # more than 0.05, not from 0.05 on
        ("2", "1.9", 0.05, "unflagged"),  # the same, though binary fractions make it a little more
        ("1", "0.95", 0.05, "unflagged"),
        ("-2", "-1.9", 0.05, "unflagged"),
        ("100", "94.99", 0.0501, "differs"),
        ("18", "19", 1 / 19, "differs"),  # no point is forgiven here
        ("20", "21", 1 / 21, "unflagged"),
        ("0", "0.001", 1, "differs"),
        ("0", "0", 0, "unflagged"),
        ("1.5", "-1.5", 2, "differs"),
        ("03/21/2006", "2006/03/21", 0, "unflagged"),
        ("02/28/2023", "03/01/2023", 1, "differs"),  # days, and one is enough
        ("02/28/2024", "03/01/2024", 2, "differs"),
        ("01/01/2021", "12/31/2020", 1, "differs"),
        ("('14 weeks', '1 days')", "99", 0, "unflagged"),
        ("5", "N/A", None, "abstained"),
        ("unknown", "5", None, "abstained"),
        ("0", "N/A", None, "abstained"),
        ("03/21/2006", "N/A", None, "abstained"),
        ("N/A", "unknown", 0, "unflagged"),
        ("2006", "03/21/2006", None, "differs"),  # number against date (assumed)
    ],
)
def test_discrepancy_of_two_labels(original: str, recomputed: str, distance: float | None, flag: str) -> None:
    row = discrepancies(labels(original), labels(recomputed)).row(0, named=True)
    assert row["flag"] == flag
    assert row["distance"] == (None if distance is None else pytest.approx(distance, abs=1e-9))


def test_triage_has_abstentions_first_then_the_largest_errors_then_uids_and_dates_apart() -> None:
    rows = {
        "11": ("N/A", "N/A"),
        "7": ("5", "5"),
        "100": ("20", "19"),
        "30": ("10", "20"),
        "2": ("100", "50"),
        "4": ("1", "-1"),
        "8": ("2006", "03/21/2006"),
        "10": ("5", "N/A"),
        "9": ("N/A", "5"),
        "40": ("03/21/2006", "N/A"),
        "21": ("03/21/2006", "03/21/2006"),
        "3": ("03/21/2006", "03/22/2006"),
        "20": ("03/21/2006", "03/26/2006"),
    }
    original, recomputed = ({uid: parse_label(row[at]) for uid, row in rows.items()} for at in (0, 1))
    result = triage(original, recomputed)
    main, dates = (result.filter(pl.col("list") == name).sort("rank") for name in ("main", "dates"))
    # 9, 10, 40: one abstains; 8: two kinds; 4: 200%; 2 and 30: 50% each; 100: 5%; 7 and 11: equal
    assert main["uid"].to_list() == ["9", "10", "40", "8", "4", "2", "30", "100", "7", "11"]
    assert dates["uid"].to_list() == ["20", "3", "21"]
    assert main["rank"].to_list() == list(range(1, 11))
