"""``ontoground build medhal`` from texts on disk to a dataset folder, under both engines."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from builders.texts.origin import Origin, split_of
from ground.contracts.rows_text import MEDHAL_SCHEMA
from ontoground.cli.main import invoke
from tests.builders.medhal.feed_world import digests, rows_of
from tests.builders.medhal.question_files import medmcqa_row, write_lines
from tests.builders.medhal.texts_world import ALL, write_texts
from tests.ground.lm.server import Reply, completion, scripted_server
from tests.ontoground.cli.schemas import checked
from tests.served import Served

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-c", "from ontoground.cli.main import main; main()"]
CONCURRENCY = 4
RANDOM_REASONS = {f"lm_{name}" for name in ("truncated", "no_words", "several_lines", "empty", "markup", "question")}


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve items of every source, in its layout."""
    return write_texts(tmp_path_factory.mktemp("texts"), 12)


def build(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> dict[str, Any]:
    """Run the verb and return what it printed."""
    assert invoke(["build", "medhal", *map(str, arguments), "--json"]) == 0
    return checked(capsys.readouterr().out, "build-medhal")


def failure(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, dict[str, Any]]:
    """Run the verb, which must fail, and return its exit code and error."""
    code = invoke(["build", "medhal", *map(str, arguments), "--json"])
    return code, checked(capsys.readouterr().out, "error")["error"]


def test_every_source_on_disk_gives_pairs_by_rules(
    texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = build(capsys, "--texts", texts, "--workspace", tmp_path)
    assert [one["source"] for one in printed["sources"]] == list(ALL)
    assert all(one["factual"] == one["non_factual"] > 0 for one in printed["sources"])
    judges = {one["source"]: one["judge"] for one in printed["sources"]}
    assert judges == {name: None if name in ("mednli", "nli4ct") else "rules" for name in ALL}
    assert printed["licence_tier"] == "credentialed" and printed["dropped"]["medqa: other_split"] == 5
    table = rows_of(tmp_path / "datasets" / "medhal")
    assert table.schema.equals(MEDHAL_SCHEMA) and table.num_rows == printed["rows"] == printed["dataset"]["rows"]
    for row in table.to_pylist():
        explained = row["label"] or row["task"] == "nli"
        assert (row["explanation"] is None) == explained and row["context"] != ""
    assert not any(path.name.startswith(".") for path in (tmp_path / "datasets").iterdir())


def test_the_same_texts_give_the_same_bytes_however_they_are_named(
    texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = tmp_path / "elsewhere" / "questions"
    moved.parent.mkdir()
    moved.symlink_to(texts / "medqa")
    build(capsys, "--texts", texts, "--sources", "medqa,acm,sumpubmed", "--workspace", tmp_path / "one")
    build(capsys, "--texts", texts, "--sources", f"sumpubmed,medqa={moved},acm", "--workspace", tmp_path / "two")
    one, two = (digests(tmp_path / name / "datasets" / "medhal") for name in ("one", "two"))
    assert one == two and "README.md" in one


def test_all_splits_are_used_where_asked_and_the_card_says_so(
    texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--texts", texts, "--sources", "medqa", "--splits", "all", "--workspace", tmp_path)
    printed = build(capsys, *arguments)
    assert printed["source_splits"] == "all" and printed["sources"][0]["items"] == 17
    card = (tmp_path / "datasets" / "medhal" / "README.md").read_text()
    assert "This build used `--splits all`" in card and "| MedQA (USMLE) | no | 12723 | 17 | 18680 |" in card


def test_a_person_sees_rows_shares_and_reasons(texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["build", "medhal", "--texts", str(texts), "--workspace", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "mednli: neutral" in said and "100.0%" in said and "length filtered" in said
    assert f"in {tmp_path / 'datasets' / 'medhal'}" in said


@pytest.mark.xdist_group("demo")
def test_own_facts_are_a_source_and_status_lists_the_dataset(
    demo_copy: Callable[[], Path], texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = demo_copy()
    printed = build(capsys, "--texts", texts, "--sources", "sumpubmed,mimic", "--workspace", workspace)
    texts_counts, own = printed["sources"]
    assert (own["source"], own["judge"]) == ("mimic", "graph") and own["factual"] > 0 and own["kept_share"] > 0.9
    assert printed["licence_tier"] == "open" and texts_counts["source"] == "sumpubmed"
    manifest = json.loads((workspace / "datasets" / "medhal" / "manifest.json").read_text())
    assert [one["file"] for one in manifest["inputs"] if one["source"] == "mimic"] == [
        "datasets/medieval/manifest.json"
    ]
    quadrants = rows_of(workspace / "datasets" / "medieval")
    by_patient = dict(zip(quadrants["subject_id"].to_pylist(), quadrants["split"].to_pylist(), strict=True))
    for row in rows_of(workspace / "datasets" / "medhal").to_pylist():
        assert (row["subject_id"] is not None) == (row["source"] == "mimic")
        assert row["subject_id"] is None or row["split"] == by_patient[row["subject_id"]]
    assert invoke(["status", "--workspace", str(workspace), "--json"]) == 0
    listed = {one["name"]: one["rows"] for one in checked(capsys.readouterr().out, "status")["datasets"]}
    assert listed["medhal"] == printed["rows"]


@pytest.mark.xdist_group("demo")
def test_what_is_found_is_built_where_no_source_is_named(
    demo_copy: Callable[[], Path], texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    only = tmp_path / "only"
    only.mkdir()
    (only / "medqa").symlink_to(texts / "medqa")
    printed = build(capsys, "--texts", only, "--workspace", demo_copy())
    assert [one["source"] for one in printed["sources"]] == ["medqa", "mimic"]
    printed = build(capsys, "--texts", only, "--workspace", tmp_path / "no-warehouse")
    assert [one["source"] for one in printed["sources"]] == ["medqa"]


def test_a_folder_of_the_users_own_is_read_in_a_layout_that_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """MedMCQA as published: no choice_type, a picture, options that overlap, a frame that leaves several answers."""
    options = ("Gout", "Lupus", "Rickets", "Measles")
    asked = {
        "Drug of choice for gout is": ("Colchicine", "Insulin", "Digoxin", "Heparin"),
        "The instrument shown in fig is used for": options,
        "Superior parathyroid develops from": ("4th arch", "4&6 arch", "3&4 arch", "4 arch"),
        "Morphine can cause": ("Paradoxical excitement", "Miosis", "Cough", "Fever"),
        "Incubation period of chickenpox is": ("2-3 weeks", "15 days", "20 days", "1 day"),
        "Bone pain is found in": options,
    }
    rows = [medmcqa_row(str(at), *one, 1 + 3 * (at == 5)) for at, one in enumerate(asked.items())]
    write_lines(tmp_path / "own" / "dev.json", [{k: v for k, v in row.items() if k != "choice_type"} for row in rows])
    printed = build(capsys, "--texts", f"mine={tmp_path}/own:medmcqa", "--splits", "all", "--workspace", tmp_path / "w")
    assert [one["source"] for one in printed["sources"]] == ["mine"] and printed["licence_tier"] == "credentialed"
    reasons = ("needs_image", "no_wrong_option_alike", "relation_not_exclusive")
    assert printed["dropped"] == {f"mine: {reason}": 1 for reason in reasons}
    rows = rows_of(tmp_path / "w" / "datasets" / "medhal").to_pylist()
    assert len(rows) == 6 and {row["wording"] for row in rows} == {"framed"}
    named = ("--texts", f"mine={tmp_path}/own:medmcqa", "--splits", "all", "--workspace", tmp_path / "w2")
    again = build(capsys, *named, "--sources", "mine")
    assert again["sources"] == printed["sources"]
    assert invoke(["build", "medhal", *map(str, named), "--sources", f"mine={tmp_path}/own"]) == 2
    assert "named twice" in capsys.readouterr().err
    assert invoke(["build", "medhal", *map(str, named), "--set", "medhal.framed=false"]) == 3
    assert "mine: framed (3)" in capsys.readouterr().err
