"""What is of unknown provenance is credentialed; open is what someone says, and never what stands among the notes."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from ehr.sources.contract import make_views
from ground.errors import InputError
from ground.flow.manifest import tier_of
from ground.storage.warehouse import connect
from ontoground.cli.main import invoke
from stewardship.benchmark.folder import Benchmark
from stewardship.datasets.provenance import noted_rows
from tests.manifests import write_manifest

NOTE = (
    "The patient was brought in by her daughter after three days of fever and a new productive cough.\n"
    "On arrival she was alert, febrile to 38.9, and needed two litres of oxygen by nasal cannula to stay above 92%."
)
OPEN = ["--licence", "open", "--why", "it is on the web"]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with one note of a release that is not the open world."""
    folder = tmp_path / "work"
    folder.mkdir()
    with connect(folder / "warehouse.duckdb") as connection:
        connection.execute("create or replace table mimiciv_note.discharge (hadm_id bigint, text varchar)")
        connection.execute("insert into mimiciv_note.discharge values (95000001, ?)", [NOTE])
        make_views(connection)
        connection.execute("insert into ground.load values ('mimic', 'd', 1, 'a', 1, 0, '3.1', now()::timestamp)")
    return folder


def table(tmp_path: Path, context: str) -> Path:
    file = tmp_path / "rows.csv"
    pl.DataFrame({"uid": ["1", "2"], "label": ["3", "4"], "context": ["short", context]}).write_csv(file)
    return file


def adopt(workspace: Path, file: Path, *more: str) -> int:
    columns = [part for role in ("uid", "label", "context") for part in ("--column", f"{role}={role}")]
    return invoke(["steward", "adopt", str(file), *columns, *more, "--workspace", str(workspace)])


def test_a_table_is_credentialed_unless_someone_says_why_not(tmp_path: Path) -> None:
    file = table(tmp_path, "invented")
    assert adopt(tmp_path / "a", file) == 0
    assert Benchmark.open(tmp_path / "a").licence_tier == "credentialed"
    assert adopt(tmp_path / "b", file, "--licence", "open") == 2
    assert adopt(tmp_path / "c", file, *OPEN) == 0
    benchmark = Benchmark.open(tmp_path / "c")
    assert benchmark.licence_tier == "open"
    assert {event.evidence["open_because"] for event in benchmark.history.events} == {"it is on the web"}


def test_what_was_said_cannot_be_said_by_an_editor(tmp_path: Path) -> None:
    assert adopt(tmp_path, table(tmp_path, "invented")) == 0
    folder = tmp_path / "stewardship" / "rows"
    record = json.loads((folder / "benchmark.json").read_text()) | {"licence_tier": "open"}
    (folder / "benchmark.json").write_text(json.dumps(record))
    assert Benchmark.open(tmp_path).licence_tier == "credentialed"
    lines = (folder / "history.jsonl").read_text().replace('"evidence":{', '"evidence":{"open_because":"me",')
    (folder / "history.jsonl").write_text(lines)
    with pytest.raises(InputError):
        _ = Benchmark.open(tmp_path).licence_tier


@pytest.mark.parametrize("copied", [NOTE, NOTE.upper().replace("\n", "  "), f"Before. {NOTE[20:190]} After."])
def test_rows_among_the_notes_are_never_open(
    tmp_path: Path, workspace: Path, copied: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = table(tmp_path, copied)
    assert adopt(workspace, file, *OPEN) == 4
    errors = capsys.readouterr().err
    assert "1 of 2 rows" in errors and "daughter" not in errors.lower()
    assert not list((workspace / "stewardship").glob("*/benchmark.json"))
    assert adopt(workspace, file) == 0


def test_other_words_are_not_among_the_notes(tmp_path: Path, workspace: Path) -> None:
    other = "A woman of 70 was brought in by her daughter with fever; she was alert and needed oxygen by nasal cannula."
    assert noted_rows(workspace, pl.read_csv(table(tmp_path, other), infer_schema=False)) == 0
    assert adopt(workspace, table(tmp_path, other), *OPEN) == 0


def test_notes_that_are_loaded_later_count_too(tmp_path: Path, workspace: Path) -> None:
    warehouse = workspace / "warehouse.duckdb"
    warehouse.rename(tmp_path / "later")
    assert adopt(workspace, table(tmp_path, NOTE), *OPEN) == 0
    (tmp_path / "later").rename(warehouse)
    asked = ["--endpoint", "https://models.example/v1", "--endpoint-model", "m", "--workspace", str(workspace)]
    assert invoke(["steward", "recompute", *asked]) == 4


def test_a_dataset_is_open_only_as_it_was_built(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    rows = tmp_path / "data" / "train-0.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(rows)
    assert tier_of(tmp_path) == "credentialed"
    built = write_manifest(tmp_path, "medieval").read_text()
    assert tier_of(tmp_path) == "open"
    credentialed = write_manifest(tmp_path, "medieval", "credentialed").read_text()
    (tmp_path / "manifest.json").write_text(credentialed.replace('"credentialed"', '"open"'))
    assert tier_of(tmp_path) == "credentialed"
    (tmp_path / "manifest.json").write_text(built)
    pl.DataFrame({"a": [2]}).write_parquet(rows)
    assert tier_of(tmp_path) == "credentialed"
