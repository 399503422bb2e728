"""The workspace: one private folder with names that others rely on."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from ground.errors import InputError, OntogroundError, UsageError
from ground.storage.outputs import answer_file
from ground.storage.warehouse import connect
from ground.storage.workspace import Workspace


def test_it_is_made_for_its_owner_only(tmp_path: Path) -> None:
    Workspace.create(tmp_path / "a" / "work")
    for folder in (tmp_path / "a", tmp_path / "a" / "work"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_paths_are_those_of_the_contract(tmp_path: Path) -> None:
    workspace = Workspace.create(tmp_path)
    assert workspace.warehouse == tmp_path / "warehouse.duckdb"
    assert workspace.graph == tmp_path / "graph"
    assert workspace.dataset("medieval") == tmp_path / "datasets" / "medieval"


def test_wrong_settings_are_refused_when_it_is_opened(tmp_path: Path) -> None:
    (tmp_path / "ontoground.toml").write_text("[build]\nseed = 5\n")
    assert Workspace.create(tmp_path).settings.build.seed == 5
    (tmp_path / "ontoground.toml").write_text("[build]\nsed = 5\n")
    with pytest.raises(UsageError, match=r"unknown setting build\.sed"):
        Workspace.create(tmp_path)


def test_one_that_is_not_there_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no warehouse") as caught:
        Workspace.existing(tmp_path / "nothing")
    assert "ontoground load" in (caught.value.do or "")
    assert not (tmp_path / "nothing").exists()


def test_settings_that_are_no_file_are_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "ontoground.toml").mkdir()
    with pytest.raises(UsageError, match=r"cannot be read"):
        Workspace.create(tmp_path)
    (tmp_path / "ontoground.toml").rmdir()
    (tmp_path / "ontoground.toml").symlink_to("gone")
    with pytest.raises(UsageError):
        Workspace.create(tmp_path)
    (tmp_path / "ontoground.toml").unlink()
    (tmp_path / "ontoground.toml").write_text(f"a = {'[' * 20_000}")
    with pytest.raises(UsageError, match="not TOML"):
        Workspace.create(tmp_path)


@pytest.mark.parametrize("name", ["warehouse.duckdb", "ontoground.toml", "datasets/medieval/data/a.parquet", "graph"])
def test_no_answer_takes_the_place_of_a_part_of_it(tmp_path: Path, name: str) -> None:
    workspace = Workspace.create(tmp_path / "work")
    connect(workspace.warehouse).close()
    link = tmp_path / "link.csv"
    link.symlink_to(workspace.root / name)
    for path in (workspace.root / name, link):
        with pytest.raises(UsageError, match="part of the workspace"):
            answer_file(path)
    assert answer_file(workspace.root / "rows.csv") == workspace.root / "rows.csv"


@pytest.mark.parametrize("name", ["ontoground.toml", "warehouse.duckdb"])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(OntogroundError, match=r"is no file|cannot be read"):
        connect(Workspace.create(tmp_path).warehouse)
