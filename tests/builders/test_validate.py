"""The validator finds nothing in a fresh dataset, and every damage that it has a check for, by that check."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stewardship.second_road import validation
from stewardship.second_road.validation import validate_medieval
from ground.contracts.rows import MEDIEVAL_SCHEMA
from ground.errors import InputError
from ground.settings import RunSettings, Settings
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import connect
from ground.storage.workspace import Workspace
from tests.builders.medieval_world import Built, Row, copied, first

Damage = Callable[[list[Row]], int]
"""Changes rows in place; returns how many disagreements that makes."""


def called_true(rows: list[Row]) -> int:
    """A distant concept is called a relative."""
    first(rows, "Q4").update(quadrant="Q2", is_true=True, tier="stated")
    return 1


def of_another_tier(rows: list[Row]) -> int:
    first(rows, "Q1").update(tier="plausible")
    return 1


def called_false(rows: list[Row]) -> int:
    first(rows, "Q2").update(quadrant="Q4", is_true=False, tier=None)
    return 1


def true_pair_in_a_false_statement(rows: list[Row]) -> int:
    """The ends of a true statement of the same group stand in the false one, with the names that belong to them."""
    group = {r["quadrant"]: r for r in rows if r["group_id"] == rows[0]["group_id"]}
    group["Q4"].update({f"{end}_{part}": group["Q2"][f"{end}_{part}"] for end in ("head", "tail") for part in PARTS})
    return 1


def turned_round(rows: list[Row]) -> int:
    """A true pair is called false the other way round: a path in either direction forbids it."""
    row = first(rows, "Q2")
    ends = {f"{end}_{part}": row[f"{end}_{part}"] for end in ("head", "tail") for part in PARTS}
    row.update(quadrant="Q4", is_true=False, tier=None)
    row.update({f"{other}_{part}": ends[f"{end}_{part}"] for end, other in SWAP.items() for part in PARTS})
    row["replaced_end"] = SWAP[row["replaced_end"]]
    return 1


def called_supported(rows: list[Row]) -> int:
    first(rows, "Q4").update(quadrant="Q3", is_supported=True)
    return 1


def called_unsupported(rows: list[Row]) -> int:
    first(rows, "Q3").update(quadrant="Q4", is_supported=False)
    return 1


def span_moved(rows: list[Row]) -> int:
    first(rows, "Q1")["support_spans"][0]["begin_offset"] += 1
    return 1


def span_with_another_text(rows: list[Row]) -> int:
    first(rows, "Q1")["support_spans"][0]["text"] += "s"
    return 1


def context_of_its_own(rows: list[Row]) -> int:
    rows[0]["context"] += " And more."
    return 1


def quadrant_flipped(rows: list[Row]) -> int:
    first(rows, "Q1")["quadrant"] = "Q4"
    return 1


def id_twice(rows: list[Row]) -> int:
    rows[1]["id"] = rows[0]["id"]
    return 1


def patient_in_two_splits(rows: list[Row]) -> int:
    row = next(row for row in rows if row["split"] == "train")
    row["split"] = "test"
    return 1


def patient_in_two_folds(rows: list[Row]) -> int:
    rows[0]["fold"] += 1
    return 1


def pair_in_two_fact_splits(rows: list[Row]) -> int:
    seen: set[frozenset[str]] = set()
    for row in rows:
        pair = frozenset((row["head_cui"], row["tail_cui"]))
        if row["fact_split"] == "train" and pair in seen:
            row["fact_split"] = "test"
            return 1
        seen.add(pair)
    raise AssertionError("no pair occurs twice")


def name_of_another_concept(rows: list[Row]) -> int:
    rows[0]["head_name"] = "a name that no concept has"
    return 1


PARTS = ("cui", "name")
SWAP = {"head": "tail", "tail": "head"}
DAMAGES: list[tuple[Damage, str]] = [
    (called_true, "a true statement has a path of its tier"),
    (of_another_tier, "a true statement has a path of its tier"),
    (called_false, "a false statement has no path in either direction"),
    (true_pair_in_a_false_statement, "a false statement has no path in either direction"),
    (turned_round, "a false statement has no path in either direction"),
    (called_supported, "an end that the statement is supported by is attested"),
    (called_unsupported, "the replaced end of an unsupported statement is neither mentioned nor coded"),
    (span_moved, "a span is the text of its mention"),
    (span_with_another_text, "a span is the text of its mention"),
    (context_of_its_own, "an admission has one context"),
    (quadrant_flipped, "a quadrant is what its two labels say"),
    (id_twice, "a row id occurs once"),
    (patient_in_two_splits, "a patient is in one split"),
    (patient_in_two_folds, "a patient is in one fold"),
    (pair_in_two_fact_splits, "a pair is in one fact_split"),
    (name_of_another_concept, "a name is a name of its concept"),
]


EDGES = "an edge of a path is in the graph"
"""Of the evidence, though it is asked of all rows at once (test_validate_evidence.py)."""


def label_checks() -> set[str]:
    """Return the names of the checks of labels."""
    lines = [
        line
        for file in ("disagreement", "whole", "statement")
        for line in sql_text(f"stewardship/second_road/{file}").splitlines()
    ]
    return {line.split("'")[1] for line in lines if "' as check_name" in line} - {EDGES}


@pytest.fixture
def damaged(medieval: Built, tmp_path: Path) -> Callable[[list[Row]], Path]:
    """Write rows as a dataset of their own, with the manifest of the real one."""

    def write(rows: list[Row]) -> Path:
        (tmp_path / "data").mkdir()
        shutil.copy(medieval.folder / "manifest.json", tmp_path)
        pq.write_table(pa.Table.from_pylist(rows, schema=MEDIEVAL_SCHEMA), tmp_path / "data" / "all.parquet")
        return tmp_path

    return write


def test_a_fresh_dataset_has_no_disagreement(medieval: Built) -> None:
    report = validate_medieval(medieval.workspace, medieval.connection, medieval.folder)
    assert report.disagreements == []
    assert report.by_check == {}
    assert report.rows == len(medieval.rows)
    assert report.as_dict()["rows"] == len(medieval.rows)


@pytest.mark.parametrize(("damage", "check"), DAMAGES, ids=[damage.__name__ for damage, _ in DAMAGES])
def test_a_damage_is_found_by_its_check_and_by_no_other(
    medieval: Built, damaged: Callable[[list[Row]], Path], damage: Damage, check: str
) -> None:
    rows = medieval.table.to_pylist()
    expected = damage(rows)
    report = validate_medieval(medieval.workspace, medieval.connection, damaged(rows))
    found = [line for line in report.disagreements if line["check"] in label_checks()]
    # One damage may break a check by several paths, as a pair that two patterns relate.
    assert {line["check"] for line in found} == {check}
    assert len({line["id"] for line in found}) == 1
    assert len(found) >= expected
    assert all(set(line) == {"check", "id", "found", "expected"} for line in found)


def test_a_second_admission_of_a_patient_is_found(medieval: Built, damaged: Callable[[list[Row]], Path]) -> None:
    """The row then also speaks of a note that it is not of, so that other checks may fail beside this one."""
    rows = medieval.table.to_pylist()
    rows[0]["hadm_id"] = next(row["hadm_id"] for row in rows if row["subject_id"] != rows[0]["subject_id"])
    report = validate_medieval(medieval.workspace, medieval.connection, damaged(rows))
    assert report.by_check["a patient has one admission"] == 1


def test_spans_outside_the_context_are_found(medieval: Built, damaged: Callable[[list[Row]], Path]) -> None:
    rows = medieval.table.to_pylist()
    of_admission = [row for row in rows if row["hadm_id"] == rows[0]["hadm_id"]]
    for row in of_admission:
        row["context"] = "Nothing of it."
    report = validate_medieval(medieval.workspace, medieval.connection, damaged(rows))
    assert report.by_check == {
        "a span is the text of its mention": sum(len(row["support_spans"]) for row in of_admission)
    }


def test_a_span_that_the_note_negates_is_found(medieval: Built, damaged: Callable[[list[Row]], Path]) -> None:
    rows = medieval.table.to_pylist()
    row = first(rows, "Q1")
    negated = medieval.connection.execute(
        "select begin_offset, end_offset, text from ground.mention where hadm_id = ? and assertion = 'absent' "
        "order by begin_offset",
        [row["hadm_id"]],
    ).fetchone()
    assert negated is not None
    begin, end, text = negated
    row["support_spans"][0].update(begin_offset=begin, end_offset=end, text=text)
    row["context"] += text
    report = validate_medieval(medieval.workspace, medieval.connection, damaged(rows))
    assert report.by_check["a span is the text of its mention"] == 1


def test_how_many_patients_are_checked_at_once_and_by_how_many_workers_changes_nothing(
    medieval: Built, damaged: Callable[[list[Row]], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = medieval.table.to_pylist()
    for damage in (called_true, called_supported, span_moved, pair_in_two_fact_splits, id_twice):
        damage(rows)
    folder = damaged(rows)
    at_once = validate_medieval(medieval.workspace, medieval.connection, folder)
    monkeypatch.setattr(validation, "PATIENTS_AT_ONCE", 3)
    by_three = validate_medieval(medieval.workspace, medieval.connection, folder)
    shared = Workspace(medieval.workspace.root, Settings(run=RunSettings(workers=2)))
    by_two_workers = validate_medieval(shared, medieval.connection, folder)
    assert at_once == by_three == by_two_workers
    assert len(at_once.by_check) >= 4


def test_every_check_of_a_label_has_a_damage_here() -> None:
    assert label_checks() == {check for _, check in DAMAGES} | {"a patient has one admission"}


def test_labels_that_the_warehouse_no_longer_bears_out_are_found(staged: Path, medieval: Built, tmp_path: Path) -> None:
    """The mentions of one admission are gone from the warehouse, the dataset is as it was."""
    workspace = copied(staged, tmp_path / "work")
    connection = connect(workspace.warehouse)
    hadm_id = medieval.rows[0]["hadm_id"]
    connection.execute("delete from ground.mention where hadm_id = ?", [hadm_id])
    report = validate_medieval(workspace, connection, medieval.folder)
    connection.close()
    of_admission = {row["id"] for row in medieval.rows if row["hadm_id"] == hadm_id}
    assert {line["id"] for line in report.disagreements} == of_admission
    assert "an end that the statement is supported by is attested" in report.by_check


def test_a_folder_without_a_manifest_is_no_dataset(warehouse: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a dataset folder") as caught:
        validate_medieval(Workspace(tmp_path), warehouse, tmp_path / "nothing")
    assert caught.value.file == str(tmp_path / "nothing")
    assert "build medieval" in str(caught.value)


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"settings": {}}', '{"settings": null}'])
def test_a_manifest_that_says_nothing_is_refused(
    warehouse: duckdb.DuckDBPyConnection, tmp_path: Path, text: str
) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(InputError, match="not a dataset folder"):
        validate_medieval(Workspace(tmp_path), warehouse, tmp_path)


def test_a_dataset_without_rows_is_refused(
    medieval: Built, warehouse: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    shutil.copy(medieval.folder / "manifest.json", tmp_path)
    with pytest.raises(InputError, match="no rows"):
        validate_medieval(Workspace(tmp_path), warehouse, tmp_path)


def test_rows_of_another_version_are_called_so(
    medieval: Built, warehouse: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    shutil.copy(medieval.folder / "manifest.json", tmp_path)
    (tmp_path / "data").mkdir()
    pq.write_table(medieval.table.drop_columns(["fold"]).slice(0, 4), tmp_path / "data" / "train.parquet")
    with pytest.raises(InputError, match="columns are missing") as caught:
        validate_medieval(Workspace(tmp_path), warehouse, tmp_path)
    assert caught.value.found == "no fold"


def test_the_settings_of_the_dataset_count_not_those_of_today(
    medieval: Built, damaged: Callable[[list[Row]], Path]
) -> None:
    """A dataset that took only stated facts for true has none of another tier."""
    folder = damaged(medieval.table.to_pylist())
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["settings"]["build"]["truth_tiers"] = ["stated"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    report = validate_medieval(medieval.workspace, medieval.connection, folder)
    others = {row["id"] for row in medieval.rows if row["tier"] in ("equivalent", "inherited")}
    assert others
    assert {line["id"] for line in report.disagreements} == others
    assert set(report.by_check) == {"a true statement has a path of its tier"}
