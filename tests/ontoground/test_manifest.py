"""The manifest says what a dataset was made from; the same content is the same text."""

from __future__ import annotations

import json

import duckdb
import pytest

from ontoground.manifest import dropped, inputs, licence_tier, manifest_of, to_json
from ontoground.settings import RunSettings, Settings
from ontoground.warehouse import count_drop


def load(connection: duckdb.DuckDBPyConnection, source: str, file: str, release: str | None) -> None:
    connection.execute(
        "insert into ground.load values (?, ?, 10, 'abc', 3, 1, ?, now()::timestamp)", [source, file, release]
    )


def test_equal_content_is_equal_text() -> None:
    assert to_json({"b": 1, "a": [2]}) == to_json({"a": [2], "b": 1})
    assert to_json({"a": "é"}).endswith("\n")
    assert "é" in to_json({"a": "é"})


def test_inputs_are_sorted_and_complete(warehouse: duckdb.DuckDBPyConnection) -> None:
    load(warehouse, "umls", "MRREL.RRF", "2026AA")
    load(warehouse, "mimic", "hosp/patients.csv.gz", None)
    load(warehouse, "umls", "MRCONSO.RRF", "2026AA")
    found = inputs(warehouse)
    assert [line["source"] for line in found] == ["mimic", "umls", "umls"]
    assert [line["file"].split("/")[-1] for line in found] == ["patients.csv.gz", "MRCONSO.RRF", "MRREL.RRF"]
    assert found[1] == {
        "source": "umls",
        "file": "MRCONSO.RRF",
        "bytes": 10,
        "sha256": "abc",
        "rows_read": 3,
        "rows_rejected": 1,
        "release": "2026AA",
    }


def test_no_input_gives_no_line(warehouse: duckdb.DuckDBPyConnection) -> None:
    assert inputs(warehouse) == []


def test_reasons_are_added_up_by_stage(warehouse: duckdb.DuckDBPyConnection) -> None:
    count_drop(warehouse, "medieval", "b", 1)
    count_drop(warehouse, "medieval", "b", 2)
    count_drop(warehouse, "medieval", "a", 4)
    count_drop(warehouse, "graph", "a", 8)
    assert list(dropped(warehouse, "medieval").items()) == [("a", 4), ("b", 3)]


@pytest.mark.parametrize(
    ("releases", "tier"),
    [
        ([], "credentialed"),
        (["openworld", "openworld"], "open"),
        (["openworld", None], "credentialed"),
        (["openworld", "2026AA"], "credentialed"),
        (["2026AA"], "credentialed"),
        ([None], "credentialed"),
    ],
)
def test_only_what_is_all_open_is_open(
    warehouse: duckdb.DuckDBPyConnection, releases: list[str | None], tier: str
) -> None:
    for n, release in enumerate(releases):
        load(warehouse, "umls", f"F{n}", release)
    assert licence_tier(warehouse) == tier


def test_how_the_machine_was_used_is_not_in_it(warehouse: duckdb.DuckDBPyConnection) -> None:
    load(warehouse, "umls", "MRREL.RRF", "2026AA")
    one = manifest_of(warehouse, Settings(), "medieval", {"rows": 4})
    two = manifest_of(warehouse, Settings(run=RunSettings(threads=1, workers=3)), "medieval", {"rows": 4})
    assert to_json(one) == to_json(two)
    assert json.loads(to_json(one))["rows"] == {"rows": 4}
    assert one["seed"] == one["settings"]["build"]["seed"]
    assert {"dataset", "inputs", "settings", "seed", "software", "rows", "dropped", "licence_tier"} <= set(one)
    assert "finished_at" not in to_json(one)
