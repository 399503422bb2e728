"""Phase 3: agreement, sMAPE and their intervals, as docs/stewardship.md says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ground.contracts.labels import LabelValue, parse_label
from ground.settings import StewardSettings
from stewardship.adjudication.agreement import (
    bootstrap_mean,
    review,
    smape,
    smape_bound,
    smape_terms,
    tolerance,
    wilson,
)
from stewardship.adjudication.discrepancy import relative_error
from stewardship.benchmark.tables import read_cells

NUMBERS = st.floats(min_value=-1e6, max_value=1e6)


def test_rows_that_are_not_reviewed_are_left_out_and_a_missing_prediction_is_no_disagreement() -> None:
    rows = review(
        {"a": parse_label("5"), "b": parse_label(""), "c": parse_label("7")},
        {"original": {"a": parse_label("6"), "c": parse_label("9")}, "recomputed": {"a": parse_label("5")}},
    )
    assert [row.uid for row in rows] == ["a", "c"]
    assert rows[0].agree == {"original": True, "recomputed": True}
    assert rows[1].agree == {"original": False}


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=20))
def test_smape_is_symmetric_and_within_the_bound_of_its_rel_err(pairs: list[tuple[float, float]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    terms = smape_terms(first, second)
    assert terms.tolist() == smape_terms(second, first).tolist()
    for term, error in zip(terms, relative_error(first, second), strict=True):
        assert 0 <= term <= smape_bound(float(error)) + 1e-9


def test_the_bootstrap_depends_on_seed_and_subject_only() -> None:
    values = [0.0, 1.0, 5.0, 9.0, 12.0]
    first, again, other_seed, other_subject = (
        bootstrap_mean(values, about, StewardSettings(resamples=500, seed=seed))
        for about, seed in (("a", 1), ("a", 1), ("a", 2), ("b", 1))
    )
    assert first == again and first not in (other_seed, other_subject)


@pytest.mark.real
def test_s6_agreement_on_the_reviewed_rows(real_data: Path) -> None:
    folder = real_data / "stewardship"
    case = next(item for item in json.loads((folder / "checks.json").read_text())["shown"] if item["id"] == "S6")
    cells = read_cells(folder / "checks" / case["input"][0]).rows(named=True)
    physician = {row["uid"]: parse_label(row["y_star"], physician=True) for row in cells}
    labels: dict[str, dict[str, LabelValue]] = {
        name: {row["uid"]: parse_label(row[column]) for row in cells}
        for name, column in (("original", "y_orig"), ("recomputed", "y_new"))
    }
    rows, wanted = review(physician, labels), case["expected"]
    assert len(rows) == wanted["n"]
    assert [int(row.uid) for row in rows if row.agree["original"]] == wanted["uids_agree_orig"]
    assert [int(row.uid) for row in rows if not row.agree["recomputed"]] == wanted["uids_disagree_new"]
    kinds = [row.type.value for row in rows]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == wanted["types"]
    for share, ends in wanted["wilson"].items():
        result = wilson(*map(int, share.split("/")))
        assert [result.low, result.high] == pytest.approx(ends, abs=1e-6)
    # The paper prints 72.7 [47.9, 99.1] and 20.1 [8.0, 35.9]; the ends depend on its unknown seed.
    for name, n, printed in (("original", 34, (72.7, 47.9, 99.1)), ("recomputed", 33, (20.1, 8.0, 35.9))):
        estimate = smape(rows, name)
        assert estimate.n == n
        assert estimate.value == pytest.approx(printed[0], abs=0.05)
        assert (estimate.low, estimate.high) == pytest.approx(printed[1:], abs=1)


def test_a_point_is_not_forgiven_between_codes_of_categories() -> None:
    yes_no = [LabelValue.of(number % 2) for number in range(20)]
    assert tolerance(yes_no, []) == 0
    assert tolerance(yes_no[:19], []) == 1  # too few to tell
    assert tolerance([*yes_no, LabelValue.of(2)], []) == 1
    assert tolerance([*yes_no, LabelValue.of(0.5)], []) == 1
    assert tolerance([LabelValue.of(number) for number in range(20)], ["Category", "category"]) == 0
    assert tolerance([LabelValue.of(number) for number in range(20)], ["category", "integer"]) == 1
    assert tolerance([], [], points=2) == 2
