"""Taking up dataset folders, the audit of text rows, levels from edits, readings, marked contexts, estimates."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ground.errors import InputError, UsageError
from stewardship.adjudication.agreement import wilson
from stewardship.benchmark.folder import Benchmark
from stewardship.datasets.adopt import adopt_dataset, dataset_of, population_of
from stewardship.datasets.auditor import audited
from stewardship.datasets.recompute import recomputed
from stewardship.datasets.rows import is_ours, row_id
from stewardship.datasets.sheets import sheet_context
from stewardship.history.log import Event
from stewardship.reporting.estimates import estimates_markdown, label_estimates, scope, stratified_share
from stewardship.second_road.readings import with_readings
from tests.stewardship.datasets.folders import medhal_folder, medhal_pair, medval_folder, medval_triple, release


def _by_id(benchmark: Benchmark, frame: pl.DataFrame) -> dict[str, dict[str, Any]]:
    ids = {item["uid"]: row_id(item) for item in benchmark.items.to_dicts()}
    return {ids[row["uid"]]: row for row in frame.to_dicts()}


def test_a_sample_is_balanced_over_labels_and_strata_and_does_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    rows = [row for number in range(30) for row in medhal_pair(number)]
    rows += [row for number in range(30, 34) for row in medhal_pair(number, task="summarization", source="sumpubmed")]
    first = adopt_dataset(tmp_path, medhal_folder(tmp_path / "a", rows), name="a", rows=12, seed=7)
    again = adopt_dataset(tmp_path, medhal_folder(tmp_path / "b", rows[::-1]), name="b", rows=12, seed=7)
    other = adopt_dataset(tmp_path, tmp_path / "a", name="c", rows=12, seed=8)
    assert first.items["uid"].to_list() == again.items["uid"].to_list() != other.items["uid"].to_list()
    labels = first.history.latest("original")
    cells = Counter((labels[uid].value, task) for uid, task in first.items.select("uid", "stratum").iter_rows())
    tasks = ("question_answering", "summarization")
    assert cells == {(label, task): 3 for label in ("factual", "non-factual") for task in tasks}
    assert population_of(first)["rows"].sum() == len(rows)
    assert (dataset_of(first), first.licence_tier, first.categories) == ("medhal", "open", ("factual", "non-factual"))


def test_what_is_no_dataset_and_what_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="no rows"):
        adopt_dataset(tmp_path, tmp_path, name=None, rows=None, seed=1)
    folder = medhal_folder(tmp_path / "a", medhal_pair(1))
    monkeypatch.setattr("stewardship.datasets.adopt.MOST_ROWS", 1)
    with pytest.raises(UsageError, match="too many rows"):
        adopt_dataset(tmp_path, folder, name=None, rows=None, seed=1)
    (folder / "manifest.json").write_text('{"dataset": "other"}')
    with pytest.raises(InputError, match="not a dataset built by ontoground"):
        adopt_dataset(tmp_path, folder, name=None, rows=None, seed=1)


def test_the_auditor_of_medhal_finds_swapped_labels_missing_reasons_and_equal_statements(tmp_path: Path) -> None:
    release(tmp_path)
    swapped = medhal_pair(2)
    swapped[0]["label"], swapped[1]["label"] = False, True
    silent, same = medhal_pair(3), medhal_pair(4)
    silent[1]["explanation"] = None
    same[1]["statement"] = same[0]["statement"].upper()
    rows = [*medhal_pair(1), *swapped, *silent, *same]
    benchmark = adopt_dataset(tmp_path, medhal_folder(tmp_path / "a", rows), name=None, rows=None, seed=1)
    by_id = _by_id(benchmark, audited(tmp_path, benchmark))
    assert [by_id[name]["verdict"] for name in ("p1-a", "p1-b")] == ["Pass", "Pass"]
    assert by_id["p2-a"]["failure_mode"] == "not_answerable"
    assert "explains what is wrong with it" in by_id["p2-b"]["remark"]
    assert "nothing says why" in by_id["p3-b"]["remark"]
    assert "say the same" in by_id["p4-b"]["remark"]
    by_id = _by_id(benchmark, recomputed(tmp_path, benchmark))
    assert {row["label"] for row in by_id.values()} == {"N/A"}
    assert "does not hold what its label rests on" in by_id["p1-a"]["why"]


def test_risk_levels_are_left_to_a_model_or_an_expert(tmp_path: Path) -> None:
    release(tmp_path)
    rows = [medval_triple(1, "Is it sepsis?", 4, [], clean="Is it gout?")]
    benchmark = adopt_dataset(tmp_path, medval_folder(tmp_path / "a", rows), name=None, rows=None, seed=1)
    by_id = _by_id(benchmark, recomputed(tmp_path, benchmark))
    assert by_id["t1-perturbed"]["label"] == "N/A" and "judgement" in by_id["t1-perturbed"]["why"]


def test_the_auditor_of_medval_holds_errors_quotes_and_consistency_against_the_row(tmp_path: Path) -> None:
    release(tmp_path)
    error = {"category": "fabricated_claim", "text": "names sepsis", "quote": "sepsis", "quoted_from": "output"}
    rows = [
        medval_triple(1, "Is it sepsis?", 4, [error], clean="Is it gout?"),
        medval_triple(2, "Is it sepsis?", 4, [], clean="Is it gout?"),
        medval_triple(3, "Is it gouty?", 4, [error], clean="Is it gout?"),
        medval_triple(4, "Is it hypertension?", 4, [{**error, "quote": "hypertension"}], clean="Is it gout?"),
        {**medval_triple(5, "Is it sepsis?", 4, [error], clean="Is it gout?"), "consistency": 0.9},
    ]
    benchmark = adopt_dataset(tmp_path, medval_folder(tmp_path / "a", rows), name=None, rows=None, seed=1)
    by_id = _by_id(benchmark, audited(tmp_path, benchmark))
    assert by_id["t1-perturbed"]["verdict"] == "Pass"
    assert "level 4 with 0 errors" in by_id["t2-perturbed"]["remark"]
    assert "does not hold what is quoted" in by_id["t3-perturbed"]["remark"]
    assert "the input holds it as well" in by_id["t4-perturbed"]["remark"]
    assert "consistency 0.9000, by its levels 1.0000" in by_id["t5-perturbed"]["remark"]


@pytest.mark.parametrize(
    ("before", "after", "reading"),
    [
        ("She denies fever, chills, or ", " today.", "absent"),
        ("No fever. Known ", ", on metformin", "present"),
        ("PMH: CAD s/p stent, ", ", gout", "present"),
        ("Concern for ", " on CT", "possible"),
        ("Mother with ", ".", "family"),
        ("Lorazepam\nstopped, ", " reduced", "present"),
        ("Metformin was given for ", ", then ", "present"),
        ("", " was ruled out", "absent"),
        ("Allergic to ", "", "allergy"),
    ],
)
def test_a_mention_reads_as_the_nearest_cue_in_reach_says(before: str, after: str, reading: str) -> None:
    assert with_readings(pl.DataFrame({"before": before, "after": after}))["reading"].to_list() == [reading]


def _item(**changed: Any) -> dict[str, Any]:
    about = '{"statement": "s", "head_cui": "W", "head_name": "warfarin", "tail_cui": "H", "tail_name": "hypertension"}'
    held = (
        '{"id": "x-Q1", "path": [{"head_cui": "W", "predicate": "is_a", "tail_cui": "C", "rela": "isa", "sab": "X", '
        '"rui": "R1"}], "tier": "stated", "support_spans": [{"role": "head", "text": "Coumadin"}]}'
    )
    context = "On Coumadin. HTN, warfarinoid; warfarin\nHypertension"
    return {"context": context, "features": about, "derivation": held, **changed}


def test_a_blind_sheet_marks_the_words_of_the_statement_and_the_other_one_the_evidence_too() -> None:
    blind, whole = sheet_context(_item(), blind=True), sheet_context(_item())
    assert "On Coumadin." in blind and "⟦2: HTN⟧, warfarinoid; ⟦1: warfarin⟧\n⟦2: Hypertension⟧" in blind
    assert "Path" not in blind and "stated" not in blind
    # The legend has all words that are marked: HTN is one of them, a brand is none.
    legend = blind.splitlines()[0]
    assert "⟦1: ⟧ warfarin;" in legend and "HTN" in legend and "Coumadin" not in legend and "No other words" in legend
    assert "⟦1: Coumadin⟧" in whole and "warfarin (W) is a C [isa, X, R1]" in whole
    assert sheet_context(_item(derivation='{"id": "x-Q4", "path": []}'), blind=True) == blind
    foreign = {"uid": "17", "features": "{'age': 3}", "derivation": "x"}
    assert is_ours(_item()) and row_id(_item(uid="hash")) == "x-Q1"
    assert not is_ours(foreign) and row_id(foreign) == "17"


def test_a_share_over_cells_is_weighed_to_the_whole_and_is_plain_wilson_in_proportion() -> None:
    assert stratified_share([(900, 10, 0), (100, 10, 10)])[0] == pytest.approx(0.1)
    unstratified = wilson(3, 20)
    assert stratified_share([(500, 10, 1), (500, 10, 2)]) == pytest.approx(
        (unstratified.value, unstratified.low, unstratified.high)
    )
    assert stratified_share([(500, 0, 0)]) == (None, None, None)


@given(st.lists(st.tuples(st.integers(1, 1000), st.integers(0, 20), st.integers(0, 20)), min_size=1))
def test_an_interval_holds_its_share(cells: list[tuple[int, int, int]]) -> None:
    share, low, high = stratified_share([(size, n, min(n, errors)) for size, n, errors in cells])
    if share is not None and low is not None and high is not None:
        assert 0 <= low <= share + 1e-9 and share - 1e-9 <= high <= 1


def test_estimates_count_what_each_source_says_by_label_and_stratum(tmp_path: Path) -> None:
    rows = [row for number in range(10) for row in medhal_pair(number)]
    benchmark = adopt_dataset(tmp_path, medhal_folder(tmp_path / "a", rows), name=None, rows=None, seed=1)
    uids = benchmark.items["uid"].to_list()
    wrong = next(uid for uid in uids if benchmark.history.latest("original")[uid].value == "factual")
    labels = {uid: event.value for uid, event in benchmark.history.latest("original").items()} | {wrong: "non-factual"}
    benchmark.history.append(
        [
            Event(uid=uid, role="recomputed", value=value, status="high_confidence", by="x")
            for uid, value in labels.items()
        ]
    )
    estimates = {(estimate.source, estimate.by, estimate.group): estimate for estimate in label_estimates(benchmark)}
    whole = estimates["recomputed", "all", "all"]
    assert (whole.rows, whole.judged, whole.errors, whole.share) == (20, 20, 1, 0.05)
    assert estimates["recomputed", "label", "factual"].share == pytest.approx(0.1)
    assert estimates["recomputed", "label", "non-factual"].errors == 0
    assert not any(source == "audit" for source, _, _ in estimates)
    assert "By recomputation: holds for the whole dataset (20 rows)." in estimates_markdown(estimates.values())


def test_an_estimate_of_a_part_of_the_dataset_never_speaks_of_the_whole(tmp_path: Path) -> None:
    rows = [row for number in range(10) for row in medhal_pair(number)]
    benchmark = adopt_dataset(tmp_path, medhal_folder(tmp_path / "a", rows), name=None, rows=None, seed=1)
    uid = next(uid for uid, event in benchmark.history.latest("original").items() if event.value == "factual")
    benchmark.history.append([Event(uid=uid, role="recomputed", value="factual", status="high_confidence", by="x")])
    estimates = label_estimates(benchmark)
    whole = next(estimate for estimate in estimates if estimate.by == "all")
    assert whole.covered == 0.5 and scope(whole.rows, whole.covered).startswith("50.0% of the dataset (10 of 20 rows")
    page = estimates_markdown(estimates)
    assert "holds for 50.0% of the dataset" in page and "whole dataset" not in page
