"""The folder of a dataset: card, croissant.json, manifest, and the libraries that open them."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders.medieval import files
from builders.medieval.build import build_medieval
from ground.contracts.rows import MEDIEVAL_SCHEMA
from ground.flow.executors import Processes
from ground.storage.warehouse import connect
from tests.builders.conftest import SETTINGS
from tests.builders.medieval_world import Built, copied, data_files

needs_datasets = pytest.mark.skipif(find_spec("datasets") is None, reason="the package datasets is not installed")
needs_croissant = pytest.mark.skipif(find_spec("mlcroissant") is None, reason="mlcroissant is not installed")
needs_yaml = pytest.mark.skipif(find_spec("yaml") is None, reason="PyYAML is not installed")

PREDICATES = 'predicates = ["treats", "may_be_treated_by", "classified_as", "has_pharmacologic_class"]\n'
LOAD = """
import json, sys
from datasets import load_dataset
found = load_dataset(sys.argv[1])
statements = load_dataset(sys.argv[1], "statements")
print(json.dumps({
    "rows": {name: len(split) for name, split in found.items()},
    "columns": found["train"].column_names,
    "path": found["train"][0]["path"],
    "statements": len(statements["train"]),
}))
"""


@pytest.fixture(scope="module")
def manifest(medieval: Built) -> dict[str, Any]:
    """The manifest of the dataset."""
    found: dict[str, Any] = json.loads((medieval.folder / "manifest.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def card(medieval: Built) -> str:
    """The dataset card."""
    return (medieval.folder / "README.md").read_text(encoding="utf-8")


def test_the_folder_holds_what_the_design_lists_and_nothing_else(medieval: Built) -> None:
    names = {f.relative_to(medieval.folder).as_posix() for f in medieval.folder.rglob("*") if f.is_file()}
    data = {f"data/{split}-00000-of-00001.parquet" for split in ("train", "validation", "test")}
    apart = {name for name in names if name.startswith("contraindicated/")}
    assert bool(apart) == (medieval.report.contraindicated > 0)
    assert names - apart == data | {"README.md", "croissant.json", "manifest.json", "statements.parquet"}


def test_only_the_owner_can_open_the_folder(medieval: Built) -> None:
    assert stat.S_IMODE(medieval.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(medieval.folder.parent.stat().st_mode) == 0o700


@needs_datasets
def test_datasets_opens_the_folder_without_a_network(medieval: Built, tmp_path: Path) -> None:
    """In a process of its own: the library reads its environment when it is imported."""
    environment = os.environ | {
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "HF_HOME": str(tmp_path / "home"),
        "HF_DATASETS_CACHE": str(tmp_path / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(medieval.folder)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found["rows"] == medieval.report.by_split
    assert found["columns"] == MEDIEVAL_SCHEMA.names
    assert {tuple(edge) for edge in found["path"]} <= {("head_cui", "predicate", "rela", "tail_cui", "sab", "rui")}
    assert found["statements"] == json.loads((medieval.folder / "manifest.json").read_text())["rows"]["statements"]


@needs_croissant
def test_croissant_is_valid(medieval: Built) -> None:
    dataset = import_module("mlcroissant").Dataset(jsonld=medieval.folder / "croissant.json")
    assert not dataset.metadata.ctx.issues.errors
    fields = {field.name: field for field in dataset.metadata.record_sets[0].fields}
    assert [*fields] == MEDIEVAL_SCHEMA.names and all(field.description for field in fields.values())
    edge = [part.name for part in fields["path"].sub_fields]
    assert edge == [f"path/{name}" for name in ("head_cui", "predicate", "rela", "tail_cui", "sab", "rui")]
    read = {row["rows/id"].decode(): row for row in dataset.records("rows")}
    for row in medieval.rows:
        said = [
            {name.rpartition("/")[2]: value for name, value in edge.items()} for edge in read[row["id"]]["rows/path"]
        ]
        assert said == [{name: value.encode() for name, value in edge.items()} for edge in row["path"]]


@needs_yaml
def test_the_front_matter_of_the_card_is_yaml_and_names_the_files(medieval: Built, card: str) -> None:
    _, front, _ = card.split("---\n", 2)
    values = import_module("yaml").safe_load(front)
    default = next(config for config in values["configs"] if config.get("default"))
    for line in default["data_files"]:
        assert list(medieval.folder.glob(line["path"])), line
    assert {line["split"] for line in default["data_files"]} == set(medieval.report.by_split)
    assert values["license_name"] == "open"
    assert values["size_categories"] == ["n<1K" if medieval.report.rows < 1000 else "1K<n<10K"]


def test_the_card_tells_counts_baselines_and_everything_left_out(medieval: Built, card: str) -> None:
    assert f"| {medieval.report.rows} |" in card and f"- groups: {medieval.report.groups}, complete" in card
    for predicate, counts in medieval.report.by_predicate.items():
        assert f"| {predicate} | {' | '.join(str(counts[q]) for q in ('Q1', 'Q2', 'Q3', 'Q4'))} |" in card
    for reason, n in medieval.report.dropped.items():
        assert f"| {reason} | {n} |" in card
    for auc in medieval.report.baselines:
        assert f"| {auc['view']} | {auc['label']} | {auc['how']} | {auc['n']} | {auc['auc']:.3f} |" in card
    assert "## Limits" in card


def test_the_card_reports_the_baselines_that_the_design_asks_for(medieval: Built) -> None:
    found = {(auc["view"], auc["label"]) for auc in medieval.report.baselines}
    assert found == {
        ("statement", "is_supported"),
        ("statement", "is_true"),
        ("context", "is_supported"),
        ("context", "is_true"),
    }
    hows = {a["how"] for a in medieval.report.baselines if (a["view"], a["label"]) == ("statement", "is_true")}
    assert {"split", "fact_split"} <= hows


def test_the_context_alone_tells_nothing(medieval: Built) -> None:
    """Every admission has as many rows of each label, so this is exact."""
    for auc in medieval.report.baselines:
        if auc["view"] == "context":
            assert (auc["auc"], auc["low"], auc["high"]) == (0.5, 0.5, 0.5)


def test_the_manifest_names_every_input_with_its_digest(
    manifest: dict[str, Any], medieval: Built, open_world: Any
) -> None:
    files = {
        path.name: path
        for folder in (open_world.meta, open_world.rxnorm, open_world.mimic)
        for path in folder.rglob("*")
        if path.is_file() and path.suffix in (".RRF", ".gz")
    }
    listed = {line["file"].split("/")[-1]: line for line in manifest["inputs"]}
    assert {"MRCONSO.RRF", "MRREL.RRF", "RXNCONSO.RRF", "discharge.csv.gz", "prescriptions.csv.gz"} <= set(listed)
    for name, line in listed.items():
        content = files[name].read_bytes()
        assert line["sha256"] == hashlib.sha256(content).hexdigest(), name
        assert line["bytes"] == len(content)
        assert line["rows_read"] >= 0
        assert line["release"]


def test_the_manifest_has_settings_seed_software_and_licence(manifest: dict[str, Any], medieval: Built) -> None:
    assert manifest["seed"] == 47
    assert manifest["settings"]["build"]["seed"] == 47
    assert manifest["settings"]["build"] == json.loads(medieval.workspace.settings.build.model_dump_json())
    assert "run" not in manifest["settings"]
    assert {"python", "duckdb", "numpy", "pyarrow"} <= set(manifest["software"])
    assert all(manifest["software"].values())
    assert manifest["licence_tier"] == "open"
    assert manifest["dataset"] == "medieval"


def test_the_manifest_counts_rows_and_what_was_left_out_and_digests_files(
    manifest: dict[str, Any], medieval: Built
) -> None:
    assert manifest["rows"]["rows"] == medieval.report.rows
    digests = {
        file.relative_to(medieval.folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in medieval.folder.rglob("*.parquet")
    }
    assert manifest["rows"]["files"] == digests
    stored = dict(medieval.connection.execute("select reason, n from ground.drop where stage = 'medieval'").fetchall())
    assert stored
    assert all(n > 0 for n in stored.values())
    assert manifest["dropped"] == medieval.report.dropped == stored


def test_no_file_beside_the_rows_names_a_patient_or_quotes_a_note(medieval: Built) -> None:
    ids = {str(row[name]) for row in medieval.rows for name in ("subject_id", "hadm_id")}
    for name in ("README.md", "croissant.json", "manifest.json"):
        text = (medieval.folder / name).read_text(encoding="utf-8")
        assert not any(found in text for found in ids), name
        assert "History of Present Illness" not in text


def test_the_warehouse_holds_the_same_rows(medieval: Built) -> None:
    stored = medieval.connection.execute("select id, quadrant from ground.medieval order by id").fetchall()
    assert stored == sorted((row["id"], row["quadrant"]) for row in medieval.rows)


@pytest.fixture(scope="module")
def groups_of_four(staged: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    """A dataset without contraindications, the tables of whose rows would be in the place of these."""
    workspace = copied(staged, tmp_path_factory.mktemp("four") / "work", SETTINGS + PREDICATES)
    connection = connect(workspace.warehouse, workspace.settings.run)
    yield Built(workspace, connection, build_medieval(workspace, connection))
    connection.close()


def test_workers_make_the_same_files(groups_of_four: Built) -> None:
    setup = partial(pa.array, [], pa.int64())
    made = list(Processes(2).in_order(setup, files.file_of, files.file_shards(groups_of_four.connection)))
    assert {one.name: one.content.to_pybytes() for one in made} == {
        file.name: file.read_bytes() for file in data_files(groups_of_four.folder)
    }


def test_smaller_files_hold_the_same_rows(groups_of_four: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file may end within the rows of a patient."""
    monkeypatch.setattr(files, "ROWS_PER_SHARD", 137)
    medieval = groups_of_four
    patients = sorted({row["subject_id"] for row in medieval.rows})[:3]
    made = [files.file_of(pa.array(patients, pa.int64()), shard) for shard in files.file_shards(medieval.connection)]
    assert len(made) > 3
    assert {one.name for one in made} == {
        f"{split}-{k:05d}-of-{n:05d}.parquet"
        for split, n in ((split, -(-rows // 137)) for split, rows in medieval.report.by_split.items())
        for k in range(n)
    }
    found = pa.concat_tables([pq.read_table(pa.BufferReader(one.content)) for one in made])
    assert found.sort_by("id").equals(medieval.table.sort_by("id"))
    seen = pa.concat_tables([one.measured for one in made])
    assert seen.column_names == list(files.MEASURED)
    assert seen.num_rows == sum(row["subject_id"] in patients for row in medieval.rows)
