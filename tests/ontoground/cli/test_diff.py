"""`ontoground diff`: rows, columns and manifests of two builds, and what is no two builds of one dataset."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from tests.ontoground.cli.medieval_folder import medieval_folder
from tests.ontoground.cli.schemas import Answer, answer_to


@pytest.fixture
def before(tmp_path: Path) -> Path:
    folder = medieval_folder(tmp_path / "before")
    manifest = {"dataset": "medieval", "seed": 1, "inputs": [{"source": "umls", "file": "MRREL.RRF", "sha256": "a"}]}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


@pytest.fixture
def after(before: Path) -> Path:
    """The same but for one row that is gone, one that is new, and two that say something else."""
    folder = before.with_name("after")
    shutil.copytree(before, folder)
    file = next((folder / "data").glob("train-*.parquet"))
    rows = pl.read_parquet(file).sort("id")
    first, second = rows["id"][:2]
    moved = pl.col("id").is_in([first, second])
    rows = rows[:-1].with_columns(
        statement=pl.when(moved).then(pl.lit("Another statement.")).otherwise(pl.col("statement")),
        hops=pl.when(pl.col("id") == first).then(pl.col("hops") + 1).otherwise(pl.col("hops")),
    )
    pl.concat([rows, rows[5:6].with_columns(id=pl.lit("new"))]).write_parquet(file)
    manifest = {"dataset": "medieval", "seed": 2, "inputs": [{"source": "umls", "file": "MRREL.RRF", "sha256": "b"}]}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def _diff(before: Path, after: Path, *options: str | Path) -> Answer:
    return answer_to("diff", before, after, "--workspace", before.parent, *options)


def test_a_build_does_not_differ_from_itself(before: Path) -> None:
    payload = _diff(before, before, "--json").payload("diff")
    assert payload["same"] == payload["rows_before"] == payload["rows_after"] > 0
    assert (payload["changed"], payload["added"], payload["removed"]) == (0, 0, 0)
    assert (payload["by_column"], payload["manifest"]) == ({}, [])


def test_rows_columns_and_manifests_are_told_apart(before: Path, after: Path) -> None:
    listed = before.parent / "rows.csv"
    payload = _diff(before, after, "--json", "--output", listed).payload("diff")
    assert (payload["changed"], payload["added"], payload["removed"]) == (2, 1, 1)
    assert payload["by_column"] == {"statement": 2, "hops": 1}
    assert payload["rows_before"] == payload["rows_after"] == payload["same"] + 3
    splits = {one["split"]: (one["changed"], one["added"], one["removed"]) for one in payload["by_split"]}
    assert splits == {"train": (2, 1, 1), "test": (0, 0, 0)}
    assert payload["manifest"] == [
        {"key": "inputs.umls/MRREL.RRF.sha256", "before": "a", "after": "b"},
        {"key": "seed", "before": 1, "after": 2},
    ]
    rows = pl.read_csv(listed)
    assert sorted(rows["change"]) == ["added", "changed", "changed", "removed"]
    assert set(rows.filter(pl.col("change") == "changed")["changed_columns"]) == {"hops statement", "statement"}
    assert "Another statement" not in listed.read_text()


def test_a_person_reads_tables(before: Path, after: Path) -> None:
    tables = _diff(before, after).out
    assert "changed rows that differ in it" in tables and "manifests differ in" in tables
    assert "Another statement" not in tables


def test_columns_that_came_or_went_are_named(before: Path, after: Path) -> None:
    shutil.rmtree(after / "data")
    (after / "data").mkdir()
    for file in (before / "data").glob("*.parquet"):
        pl.read_parquet(file).rename({"tier": "grade"}).write_parquet(after / "data" / file.name)
    payload = _diff(before, after, "--json").payload("diff")
    assert (payload["columns_added"], payload["columns_removed"], payload["changed"]) == (["grade"], ["tier"], 0)


def test_two_datasets_are_not_compared(before: Path, after: Path) -> None:
    (after / "manifest.json").write_text('{"dataset": "medhal"}')
    refused = _diff(before, after)
    assert refused.code == 2 and "medieval and medhal" in refused.err


def test_an_identifier_of_two_rows_is_bad_input(before: Path, after: Path) -> None:
    file = next((after / "data").glob("test-*.parquet"))
    rows = pl.read_parquet(file)
    pl.concat([rows, rows[:1]]).write_parquet(file)
    refused = _diff(before, after)
    assert refused.code == 3 and "found: 1 rows too many" in refused.err


@pytest.mark.parametrize(("option", "code"), [("rows.txt", 2), ("no/rows.csv", 3)])
def test_a_file_that_cannot_be_written_is_said_so(before: Path, after: Path, option: str, code: int) -> None:
    output = before.parent / option
    assert _diff(before, after, "--output", output).code == code
    assert not output.exists()


def test_a_folder_without_rows_is_no_dataset(before: Path, tmp_path: Path) -> None:
    assert _diff(before, tmp_path).code == 3
