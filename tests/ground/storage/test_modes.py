"""Nothing that a process of ours writes can be read by another user, however the process ends."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ground.errors import InputError
from ground.flow.executors import Processes
from ground.storage.files import keep_private, private_directory
from ontoground.cli.main import invoke

KILLED = """
import os, signal
from pathlib import Path
{what}
os.kill(os.getpid(), signal.SIGKILL)
"""
GROWING = """
from ground.storage.warehouse import connect
connection = connect(Path("warehouse.duckdb"))
connection.execute("create table ground.invented as select range as n from range(1000)")
"""
WRITING = """
from ground.storage.files import atomic_path
block = atomic_path(Path("answer.csv"))
block.__enter__().write_text("invented")
"""
COPYING = """
from ground.storage.warehouse import open_database
open_database().execute("copy (select 1) to 'rows.parquet'")
"""


def open_to_others(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.stat().st_mode & 0o077)


@pytest.mark.parametrize("what", [GROWING, WRITING, COPYING], ids=["log of the warehouse", "part file", "copy"])
def test_what_a_killed_process_leaves_is_its_owners_only(tmp_path: Path, what: str) -> None:
    tmp_path.chmod(0o755)
    subprocess.run([sys.executable, "-c", KILLED.format(what=what)], cwd=tmp_path, umask=0, check=False)
    assert list(tmp_path.iterdir())
    assert open_to_others(tmp_path) == []


def _write(_state: object, path: Path) -> int:
    path.write_text("invented")
    return stat.S_IMODE(path.stat().st_mode)


def _no_state() -> None:
    return None


def test_workers_write_for_their_owner_only(tmp_path: Path) -> None:
    assert list(Processes(1).in_order(_no_state, _write, [tmp_path / "a"])) == [0o600]


def test_a_workspace_that_others_could_enter_is_narrowed_with_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "warehouse.duckdb").write_text("")
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets" / "rows.parquet").write_text("")
    for path in (tmp_path, *tmp_path.rglob("*")):
        path.chmod(0o755)
    invoke(["status", "--workspace", str(tmp_path)])
    assert "could be opened by other users" in capsys.readouterr().err
    assert open_to_others(tmp_path) == [] and tmp_path.stat().st_mode & 0o077 == 0
    invoke(["status", "--workspace", str(tmp_path)])
    assert "could be opened" not in capsys.readouterr().err


def test_a_folder_of_all_users_is_refused(tmp_path: Path) -> None:
    shared = private_directory(tmp_path / "shared")
    shared.chmod(0o1777)
    with pytest.raises(InputError, match="all users"):
        keep_private(shared)
