"""Temporary files lie in the workspace and end with their owner, after a kill at the next start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from ground.storage.files import private_directory
from ground.storage.scratch import scratch_folder, temporary_files_in
from ground.storage.warehouse import connect
from ontoground.cli.main import invoke

HOLDING = """
import os, signal, sys, tempfile
from pathlib import Path
from ground.storage.files import atomic_path
from ground.storage.scratch import temporary_files_in
with temporary_files_in(Path(".")):
    Path(tempfile.mkdtemp(), "names").write_text("invented")
    atomic_path(Path("datasets.csv")).__enter__().write_text("invented")
    print("ready", flush=True)
    if sys.argv[1] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    sys.stdin.read()
"""


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_it_is_there_for_the_block_only(tmp_path: Path) -> None:
    with scratch_folder(tmp_path / "s") as folder:
        assert folder.is_dir() and not folder.stat().st_mode & 0o077
    assert list((tmp_path / "s").iterdir()) == []


def test_what_a_killed_process_left_is_swept_and_what_a_living_one_holds_is_not(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", HOLDING, "kill"], cwd=tmp_path, check=False, stdout=subprocess.DEVNULL)
    assert len(files(tmp_path)) == 2
    command = [sys.executable, "-c", HOLDING, "wait"]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as living:
        assert living.stdout is not None and living.stdout.readline() == "ready\n"
        with temporary_files_in(tmp_path):
            assert tempfile.gettempdir().startswith(str(tmp_path)) and os.environ["TMPDIR"] == tempfile.gettempdir()
        assert files(tmp_path) == [f".datasets.csv.{living.pid}.part", "names"]
        living.communicate("")
    with temporary_files_in(tmp_path):
        pass
    assert files(tmp_path) == []
    assert not tempfile.gettempdir().startswith(str(tmp_path))


def test_a_verb_keeps_its_temporary_files_in_the_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = private_directory(tmp_path / "work")
    connect(work / "warehouse.duckdb").close()
    (work / "cache" / "tmpkilled").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "not-there"))
    query = "select value from duckdb_settings() where name = 'temp_directory'"
    assert invoke(["sql", "-c", query, "--workspace", str(work), "--format", "json", "--output", f"{work}/a"]) == 0
    assert json.loads((work / "a").read_text())[0]["value"].startswith(str(work / "cache" / "scratch"))
    assert list((work / "cache" / "scratch").iterdir()) == []
    connect(work / "warehouse.duckdb").close()
    assert not (work / "cache" / "tmpkilled").exists()
