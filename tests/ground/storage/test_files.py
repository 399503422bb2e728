"""Files appear whole or not at all, and only their owner reads them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ground.errors import InputError
from ground.storage.files import atomic_directory, atomic_path, private_directory, write_text


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_every_new_parent_is_private_and_an_old_one_is_left(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    private_directory(tmp_path / "work" / "demo")
    modes = [path.stat().st_mode & 0o777 for path in (tmp_path, tmp_path / "work", tmp_path / "work" / "demo")]
    assert modes == [0o755, 0o700, 0o700]


def test_a_file_that_fails_leaves_the_old_one_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    write_text(target, "old")
    with pytest.raises(RuntimeError), atomic_path(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert target.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_a_folder_that_fails_leaves_the_old_one_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "data"
    for content in ("one", "two"):
        with atomic_directory(target) as temporary:
            (temporary / "x").write_text(content)
    with pytest.raises(RuntimeError), atomic_directory(target) as temporary:
        (temporary / "x").write_text("half")
        raise RuntimeError
    assert (target / "x").read_text() == "two"
    assert names(tmp_path) == ["data"]


def test_a_link_stays_a_link_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "disk" / "graph").mkdir(parents=True)
    (tmp_path / "graph").symlink_to("disk/graph")
    (tmp_path / "a.txt").symlink_to("disk/a.txt")
    with atomic_directory(tmp_path / "graph") as temporary:
        (temporary / "x").write_text("new")
    write_text(tmp_path / "a.txt", "new")
    assert (tmp_path / "graph").is_symlink() and (tmp_path / "a.txt").is_symlink()
    assert (tmp_path / "disk" / "graph" / "x").read_text() == (tmp_path / "disk" / "a.txt").read_text() == "new"
    assert names(tmp_path) == ["a.txt", "disk", "graph"] and names(tmp_path / "disk") == ["a.txt", "graph"]


def test_what_a_killed_process_left_is_swept_and_what_a_living_one_writes_is_not(tmp_path: Path) -> None:
    dead, alive = dead_process(), os.getppid()
    (tmp_path / f".data.{dead}.part").mkdir()
    (tmp_path / f".data.{alive}.part").mkdir()
    (tmp_path / f".other.{dead}.part").mkdir()
    with atomic_directory(tmp_path / "data"):
        pass
    assert names(tmp_path) == sorted([f".data.{alive}.part", f".other.{dead}.part", "data"])


def test_a_folder_that_was_moved_aside_by_a_killed_process_comes_back(tmp_path: Path) -> None:
    aside = tmp_path / f".data.{dead_process()}.old"
    aside.mkdir()
    (aside / "x").write_text("kept")
    with pytest.raises(RuntimeError), atomic_directory(tmp_path / "data"):
        raise RuntimeError
    assert (tmp_path / "data" / "x").read_text() == "kept"


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_what_is_no_file_is_not_replaced(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "page.html"
    os.mkfifo(target) if kind == "pipe" else target.mkdir()
    mode = target.stat().st_mode
    with pytest.raises(InputError, match="no ordinary file"):
        write_text(target, "text")
    assert target.stat().st_mode == mode
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
