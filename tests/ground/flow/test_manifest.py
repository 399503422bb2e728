"""The manifest says what a dataset was made from; the same content is the same text."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from ground.errors import InputError
from ground.flow.manifest import (
    dropped,
    inputs,
    licence_tier,
    manifest_of,
    own_licence,
    read_manifest,
    replacing,
    state_licence,
    to_json,
)
from ground.storage.warehouse import count_drop


def load(connection: duckdb.DuckDBPyConnection, source: str, file: str, release: str | None) -> None:
    connection.execute(
        "insert into ground.load values (?, ?, 10, 'abc', 3, 1, ?, now()::timestamp)", [source, file, release]
    )


def test_what_an_ontology_says_of_itself_opens_nothing(warehouse: duckdb.DuckDBPyConnection) -> None:
    load(warehouse, "mimic", "patients.csv.gz", "openworld")
    assert licence_tier(warehouse) == "open"
    load(warehouse, "ontology", "small.obo", "openworld")
    assert licence_tier(warehouse) == "credentialed"


def test_equal_content_is_equal_text() -> None:
    assert to_json({"b": 1, "a": [2]}) == to_json({"a": [2], "b": 1})
    assert to_json({"a": "é"}).endswith("\n")
    assert "é" in to_json({"a": "é"})


def test_inputs_are_sorted_and_complete(warehouse: duckdb.DuckDBPyConnection) -> None:
    assert inputs(warehouse) == []
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


def test_a_source_is_open_as_long_as_the_settings_say_so(warehouse: duckdb.DuckDBPyConnection) -> None:
    load(warehouse, "mimic", "notes", "openworld")
    load(warehouse, "ontology", "doid.obo", None)
    for licence, tier, release in (("CC0", "open", ", open by the settings: CC0"), (None, "credentialed", None)):
        state_licence(warehouse, "ontology", licence)
        assert licence_tier(warehouse) == tier
        assert own_licence(warehouse, "theirs") == (f"open, by the settings: {licence}" if licence else "theirs")
        assert warehouse.execute("select release from ground.load where source = 'ontology'").fetchall() == [(release,)]


def test_a_manifest_says_what_went_in_and_what_came_out(warehouse: duckdb.DuckDBPyConnection) -> None:
    load(warehouse, "umls", "MRREL.RRF", "2026AA")

    def made() -> str:
        manifest = manifest_of(
            "medieval", inputs=inputs(warehouse), settings={"build": {"seed": 7}}, seed=7, kept={"rows": 4},
            dropped={"no_path": 2}, tier=licence_tier(warehouse),
        )  # fmt: skip
        return to_json(manifest)

    read = json.loads(made())
    assert made() == made()
    assert read["rows"] == {"rows": 4}
    assert read["dropped"] == {"no_path": 2}
    assert [file["file"] for file in read["inputs"]] == ["MRREL.RRF"]
    assert read["licence_tier"] == "credentialed"
    assert read["software"]["duckdb"] == duckdb.__version__


def test_a_manifest_is_read_where_there_is_one_and_is_json(tmp_path: Path) -> None:
    assert read_manifest(tmp_path) == {}
    file = tmp_path / "manifest.json"
    file.write_text(to_json({"dataset": "medieval"}))
    assert read_manifest(tmp_path) == {"dataset": "medieval"}
    file.write_text("[1]")
    assert read_manifest(tmp_path) == {}
    file.write_text("{")
    with pytest.raises(InputError, match=r"manifest\.json"):
        read_manifest(tmp_path)


def test_what_a_replaced_dataset_was_built_with_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folds in (None, None, 5, 2):
        with replacing(tmp_path):
            (tmp_path / "manifest.json").write_text(to_json({"settings": {"build": {"folds": folds, "seed": 1}}}))
    (unset, five) = capsys.readouterr().err.splitlines()
    assert "(build.folds unset)" in unset and "(build.folds 5)" in five and "--workspace" in five
