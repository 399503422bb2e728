"""Rows of Q1 against links of the gold: what agrees, what does not, and what cannot be told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.gold_links import Concepts, judged, main, read_gold
from ground.errors import InputError
from ground.storage.workspace import Workspace
from kg.graph import ConceptGraph
from ontoground.flow.session import reading
from tests.benchmarks.small_dataset import ADMISSION, sample, workspace_with

LISINOPRIL, ZESTRIL, HYPERTENSION, VASCULAR, GOUT, COLCHICINE, RENAL = (f"C000000{number}" for number in range(1, 8))


def gold_file(path: Path, *links: tuple[str, str], mentions: tuple[tuple[str, str], ...] = ()) -> Path:
    line = {
        "hadm_id": ADMISSION,
        "treats": [{"drug": drug, "disorder": disorder, "evidence": ""} for drug, disorder in links],
        "mentions": [{"text": text, "concept": concept} for text, concept in mentions],
    }
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    rows = [
        sample(1, "Q1", LISINOPRIL, "treats", HYPERTENSION),
        sample(2, "Q1", GOUT, "may_be_treated_by", COLCHICINE, support_level="co_mentioned"),
        sample(3, "Q2", COLCHICINE, "treats", GOUT, support_level="silent"),
    ]
    return workspace_with(tmp_path_factory.mktemp("gold") / "work", rows)


def verdict(workspace: Workspace, gold: Path, head: str, predicate: str, tail: str, **more: object) -> str:
    marked = read_gold(gold)
    with reading(workspace) as connection:
        concepts = Concepts(connection, ConceptGraph.open(workspace.graph), marked)
    return judged([sample(1, "Q1", head, predicate, tail, **more)], marked, concepts)[0].verdict


def test_a_brand_stands_for_its_drug_and_a_disorder_for_its_neighbours_in_the_hierarchy(
    workspace: Workspace, tmp_path: Path
) -> None:
    gold = gold_file(tmp_path / "gold.jsonl", ("Zestril", "Hypertension"))
    assert verdict(workspace, gold, LISINOPRIL, "treats", HYPERTENSION) == "linked"
    assert verdict(workspace, gold, VASCULAR, "may_be_treated_by", ZESTRIL) == "linked"
    assert verdict(workspace, gold, LISINOPRIL, "prevents", RENAL) == "linked"
    assert verdict(workspace, gold, COLCHICINE, "treats", HYPERTENSION) == "not linked"
    assert verdict(workspace, gold, LISINOPRIL, "treats", GOUT) == "not linked"


def test_two_steps_of_the_hierarchy_are_too_far(workspace: Workspace, tmp_path: Path) -> None:
    gold = gold_file(tmp_path / "gold.jsonl", ("lisinopril", "renal hypertension"))
    assert verdict(workspace, gold, LISINOPRIL, "treats", HYPERTENSION) == "linked"
    assert verdict(workspace, gold, LISINOPRIL, "treats", VASCULAR) == "not linked"


def test_both_ends_must_be_of_one_link(workspace: Workspace, tmp_path: Path) -> None:
    gold = gold_file(tmp_path / "gold.jsonl", ("lisinopril", "hypertension"), ("colchicine", "gout"))
    assert verdict(workspace, gold, LISINOPRIL, "treats", GOUT) == "not linked"


def test_a_link_with_an_unknown_end_leaves_open_only_what_it_could_be(workspace: Workspace, tmp_path: Path) -> None:
    gold = gold_file(tmp_path / "gold.jsonl", ("lisinopril", "an illness that nobody named"))
    assert verdict(workspace, gold, LISINOPRIL, "treats", HYPERTENSION) == "not decidable"
    assert verdict(workspace, gold, COLCHICINE, "treats", GOUT) == "not linked"
    assert verdict(workspace, gold, COLCHICINE, "treats", GOUT, hadm_id=ADMISSION + 1) == "not decidable"


def test_an_unknown_name_goes_by_the_words_of_its_mentions(workspace: Workspace, tmp_path: Path) -> None:
    mentions = (("Hypertension", "high blood pressure"),)
    gold = gold_file(tmp_path / "gold.jsonl", ("lisinopril", "high blood pressure"), mentions=mentions)
    assert verdict(workspace, gold, LISINOPRIL, "treats", HYPERTENSION) == "linked"


def test_the_program_counts_each_level_apart_and_lists_what_is_not_linked(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = gold_file(tmp_path / "gold.jsonl", ("lisinopril", "hypertension"))
    assert main([str(workspace.root), str(gold), "--list"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["stated", "all", "1", "0", "0", "1.000"] in lines
    assert ["co_mentioned", "all", "0", "1", "0", "0.000"] in lines
    assert [line[0] for line in lines if line and line[0].startswith("sample-")] == ["sample-2"]


def test_a_line_of_another_shape_is_named(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_text('{"hadm_id": 1, "treats": [], "mentions": []}\n{"hadm_id": 2}\n', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_gold(path)
    assert caught.value.line == 2
