"""Differences between tables of labels: what changed, how far, and what part of a version it counts up."""

from __future__ import annotations

import polars as pl
import pytest

from stewardship.versions.diffs import COLUMNS, compare


def labels(*rows: tuple[str, str], **more: str) -> pl.DataFrame:
    """Return a table of labels from (uid, label) pairs, with one value for each further column."""
    frame = pl.DataFrame(rows, schema={"uid": pl.String, "label": pl.String}, orient="row")
    return frame.with_columns(pl.lit(more.get(name), pl.String).alias(name) for name in COLUMNS[1:] if name != "label")[
        list(COLUMNS)
    ]


@pytest.mark.parametrize(
    ("before", "after", "change", "grade"),
    [
        ("17", "13", "number to number", "minor"),
        ("17", "N/A", "number to N/A", "minor"),
        ("N/A", "6.3", "N/A to number", "minor"),
        ("03/21/2006", "03/15/2006", "date to date", "minor"),
        ("03/21/2006", "12", "date to number", "minor"),
        ("12", "12.0", "spelling", "patch"),
        ("14 weeks 1 day", "99", "spelling", "patch"),
    ],
)
def test_the_change_of_one_label_has_a_name(before: str, after: str, change: str, grade: str) -> None:
    diff = compare(labels(("1", before)), labels(("1", after)))
    assert diff.frame["change"].to_list() == [change]
    assert diff.grade == grade


def test_nothing_changed_is_no_grade() -> None:
    diff = compare(labels(("1", "17"), ("2", "N/A")), labels(("2", "N/A"), ("1", "17"), why="said again"))
    assert diff.grade is None
    assert diff.frame.height == 0
    assert diff.words() == ["2 rows before, 2 after: the same.", "2 rows of the 2 in both tables keep their label."]


def test_rows_that_come_or_go_are_the_gravest_change() -> None:
    diff = compare(labels(("1", "17"), ("2", "4")), labels(("2", "5"), ("3", "6")))
    assert dict(zip(diff.frame["uid"], diff.frame["change"], strict=True)) == {
        "2": "number to number",
        "3": "row added",
        "1": "row removed",
    }
    assert diff.grade == "major"
    assert diff.words()[0] == "2 rows before, 2 after: 1 added, 1 removed."


def test_another_question_or_type_is_a_change_of_meaning() -> None:
    assert compare(labels(("1", "4"), item="a"), labels(("1", "4"), item="b")).grade == "major"
    assert (
        compare(labels(("1", "4"), output_type="integer"), labels(("1", "4"), output_type="decimal")).grade == "major"
    )
    assert compare(labels(("1", "4")), labels(("1", "4"), item="b")).grade is None, "not known is not different"


def test_limits_alone_are_a_patch_and_give_way_to_labels() -> None:
    before, after = labels(("1", "4"), ("2", "5"), lower="1"), labels(("1", "4"), ("2", "6"), lower="2")
    assert compare(before, after).counts() == {"limits": 1, "number to number": 1}
    assert compare(before[:1], after[:1]).grade == "patch"
    assert compare(labels(("1", "4"), lower="100.8824"), labels(("1", "4"), lower="100.88239999999999")).grade is None


def test_distances_are_relative_errors_or_days() -> None:
    diff = compare(
        labels(("1", "25.017"), ("2", "100"), ("3", "03/21/2006"), ("4", "7")),
        labels(("1", "19.79"), ("2", "100.4"), ("3", "03/15/2006"), ("4", "N/A")),
    )
    assert diff.frame["distance"].to_list() == [pytest.approx(0.208937922), pytest.approx(0.4 / 100.4), 6.0, None]
    assert diff.frame["unit"].to_list() == ["rel_err", "rel_err", "days", None]
    assert diff.frame["flag"].to_list() == ["differs", "unflagged", "differs", "abstained"]
    assert "2 rows: another number, 1 of them by more than 5%." in diff.words()
    assert "1 row: another date, 6 days apart in the median." in diff.words()


def test_strata_with_most_labels_far_off_come_first() -> None:
    before = pl.concat([labels(("1", "4"), ("2", "4"), stratum="near"), labels(("3", "4"), stratum="far")])
    after = pl.concat([labels(("1", "4.01"), ("2", "4.01"), stratum="near"), labels(("3", "8"), stratum="far")])
    counts = compare(before, after).by_stratum()
    assert counts.select("stratum", "label", "differ").rows() == [("far", 1, 1), ("near", 2, 0)]


def test_names_are_compared_as_names() -> None:
    diff = compare(labels(("1", "Q1"), ("2", "q2")), labels(("1", "Q3"), ("2", "Q2")), categories=("Q1", "Q2", "Q3"))
    assert diff.counts() == {"name to name": 1, "spelling": 1}
