"""Contradicted rows: the note names the end and denies it, and nothing but reading tells them from their partners."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders.medieval.circuits import circuits_of
from evaluation.datasets import MedievalDataset
from ground.contracts.rows import CONTRADICTED_SCHEMA
from tests.builders.medieval_world import Built, Row

LOAD = """
import json, sys
from datasets import load_dataset
found = load_dataset(sys.argv[1], "contradicted")
print(json.dumps({name: [len(split), split.column_names] for name, split in found.items()}))
"""

Edges = list[tuple[int, int]]


@pytest.fixture(scope="session")
def rows(denying: Built) -> list[Row]:
    """All rows of the configuration."""
    files = sorted((denying.folder / "contradicted").glob("*.parquet"))
    found: list[Row] = pa.concat_tables([pq.read_table(file) for file in files]).to_pylist()
    return found


def chosen(edges: Edges) -> npt.NDArray[np.int32]:
    source, goal = np.array(sorted(edges), np.int32).reshape(-1, 2).T
    return circuits_of(np.ascontiguousarray(source), np.ascontiguousarray(goal), 8)


def test_a_contraindication_is_stated_in_pairs_that_are_true_and_never_called_false(denying: Built) -> None:
    files = sorted((denying.folder / "contraindicated").glob("*.parquet"))
    found: list[Row] = pa.concat_tables([pq.read_table(file) for file in files]).to_pylist()
    assert len(found) == denying.report.contraindicated > 0
    assert {(row["quadrant"], row["is_true"], row["predicate"], row["fact_split"]) for row in found} == {
        (quadrant, True, "contraindicated_with", None) for quadrant in ("Q1", "Q2")
    }
    assert {row["tier"] for row in found} <= {"stated", "equivalent"}
    card = (denying.folder / "README.md").read_text()
    assert all(f"contraindicated/{split}-*.parquet" in card for split in {row["split"] for row in found})
    assert set(Counter(row["group_id"] for row in found).values()) == {2}
    assert "Nadolol is contraindicated in asthma." in {row["statement"] for row in found if row["is_supported"]}
    assert "contraindicated_with" not in {row["predicate"] for row in denying.rows}
    assert not {row["id"] for row in found} & {row["id"] for row in denying.rows}


@pytest.mark.parametrize("seed", range(40))
def test_each_circuit_leads_into_every_node_as_often_as_out_and_none_is_left(seed: int) -> None:
    drawn = np.random.default_rng(seed).integers(0, 8, (seed, 2))
    edges = [(one, other) for one, other in drawn.tolist() if one != other]
    circuit = chosen(edges)
    source, goal = np.array(sorted(edges), np.int32).reshape(-1, 2).T
    for one in range(circuit.max(initial=-1) + 1):
        held = circuit == one
        assert held.any()
        assert sorted(source[held]) == sorted(goal[held])
    left = {node: set(goal[(circuit < 0) & (source == node)].tolist()) for node in range(8)}
    while ends := {node for node in left if not left[node]}:
        left = {node: goals - ends for node, goals in left.items() if node not in ends}
    assert not left


def test_two_circuits_that_share_a_node_are_both_taken() -> None:
    assert (chosen([*pairwise([0, 1, 2, 0]), *pairwise([0, 3, 4, 0]), (5, 0)]) >= 0).sum() == 6


def test_rows_keep_the_contract(denying: Built, rows: list[Row]) -> None:
    for file in (denying.folder / "contradicted").glob("*.parquet"):
        assert pq.read_schema(file).remove_metadata() == CONTRADICTED_SCHEMA
    assert len(rows) == denying.report.contradicted > 0
    manifest = json.loads((denying.folder / "manifest.json").read_text())
    assert manifest["rows"]["contradicted"] == len(rows)
    assert {name for name in manifest["rows"]["files"] if name.startswith("contradicted/")}


def test_statements_and_admissions_stand_on_both_sides_alike(rows: list[Row]) -> None:
    for key in (
        lambda row: (row["split"], row["statement"]),
        lambda row: row["hadm_id"],
    ):
        sides = [Counter(key(row) for row in rows if row["is_supported"] == side) for side in (True, False)]
        assert sides[0] == sides[1]
    assert len({row["id"] for row in rows}) == len(rows)


def test_supported_rows_are_copies_and_data_has_no_contradicted_row(denying: Built, rows: list[Row]) -> None:
    held = {row["id"]: row for row in denying.rows}
    assert "contradicted" not in {row["support_level"] for row in denying.rows}
    assert MedievalDataset.open(denying.folder).rows.height == len(denying.rows)
    for row in rows:
        if row["is_supported"]:
            assert row == held[row["id"]] | {"denied_spans": []}
        else:
            assert row["id"] not in held


def test_a_contradicted_end_is_denied_wherever_the_note_names_it(denying: Built, rows: list[Row]) -> None:
    """The sentences that were added say so; everything else of the world is asserted as its truth has it."""
    for row in rows:
        if row["is_supported"]:
            continue
        assert (row["quadrant"], row["support_level"]) == ("Q2" if row["is_true"] else "Q4", "contradicted")
        (kept,) = row["support_spans"]
        note = denying.connection.execute(
            "select text from mimiciv_note.discharge where hadm_id = ? order by note_seq desc", [row["hadm_id"]]
        ).fetchall()[0][0]
        for span in row["denied_spans"]:
            assert note[span["begin_offset"] : span["end_offset"]] == span["text"]
            assert span["text"] in row["context"]
            assert {kept["role"], span["role"]} == {"head", "tail"}
            assert span["cui"] == row[f"{span['role']}_cui"]
        said = denying.connection.execute(
            "select distinct assertion from ground.mention where hadm_id = ? and list_contains(cuis, ?)",
            [row["hadm_id"], row["denied_spans"][0]["cui"]],
        ).fetchall()
        assert {one for (one,) in said} <= {"absent", "family", "allergy", "historical", "planned", "hypothetical"}


def test_a_code_or_another_mention_of_the_end_speaks_against(denying: Built) -> None:
    """No contradicted end stands among the admission's codes, though the notes deny some that do."""
    found = denying.connection.execute(
        "select count(*) from contradiction inner join wording using (wording, role) inner join nameable "
        "on wording.denied = nameable.code inner join admission using (number) "
        "inner join ground.admission_concept as held on held.hadm_id = admission.hadm_id and held.cui = nameable.cui"
    ).fetchone()
    assert found == (0,)
    reasons = dict(denying.connection.execute("select reason, count(*) from denial group by reason").fetchall())
    assert {None, "another mention may mean it"} <= set(reasons)


def test_names_statements_and_contexts_tell_nothing(denying: Built, rows: list[Row]) -> None:
    manifest = json.loads((denying.folder / "manifest.json").read_text())
    baselines = {(line["view"], line["how"]): line for line in manifest["contradicted_baselines"]}
    for key in (("statement", "fitted on the same rows"), ("context", "fitted on the same rows")):
        assert baselines[key]["auc"] == pytest.approx(0.5, abs=1e-9)
    assert baselines["overlap", "names of both ends"]["auc"] == pytest.approx(0.5, abs=0.02)
    assert {line["n"] for line in baselines.values()} == {len(rows)}


def test_the_card_describes_the_configuration_and_says_where_there_is_none(denying: Built, medieval: Built) -> None:
    card = (denying.folder / "README.md").read_text()
    assert "config_name: contradicted" in card
    assert "| overlap | is_supported | names of both ends |" in card
    if not medieval.report.contradicted:
        without = (medieval.folder / "README.md").read_text()
        assert "config_name: contradicted" not in without
        assert "This build has none" in without
        assert not (medieval.folder / "contradicted").exists()


@pytest.mark.skipif(find_spec("datasets") is None, reason="the package datasets is not installed")
def test_datasets_opens_the_configuration_by_its_name(denying: Built, rows: list[Row], tmp_path: Path) -> None:
    """In a process of its own: the library reads its environment when it is imported."""
    folders = {"HF_HOME": str(tmp_path / "home"), "HF_DATASETS_CACHE": str(tmp_path / "cache")}
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", **folders}
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(denying.folder)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert {name: n for name, (n, _) in found.items()} == dict(Counter(row["split"] for row in rows))
    assert all(columns == CONTRADICTED_SCHEMA.names for _, columns in found.values())
