"""A writer waits for a reader that is there for a moment, as a page is."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ground.errors import InputError
from ground.storage.workspace import Workspace
from ontoground.flow import session
from ontoground.flow.session import writing

READER = (
    "import sys, duckdb; c = duckdb.connect(sys.argv[1], read_only=True); print('open', flush=True); sys.stdin.read()"
)


def reader_of(workspace: Path) -> subprocess.Popen[str]:
    """Start a program that keeps the warehouse open until its input ends."""
    command = [sys.executable, "-c", READER, str(workspace / "warehouse.duckdb")]
    reader = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert reader.stdout is not None and reader.stdout.readline() == "open\n"
    return reader


def test_a_writer_waits_for_a_reader(empty_workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with reader_of(empty_workspace) as reader:
        assert reader.stdin is not None
        threading.Timer(0.5, reader.stdin.close).start()
        with writing(Workspace.existing(empty_workspace)) as connection:
            connection.execute("create table kg.mine (n integer)")
    assert "waiting" in capsys.readouterr().err


def test_a_reader_that_stays_is_named(empty_workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "WAIT_SECONDS", 0.0)
    with reader_of(empty_workspace) as reader:
        with pytest.raises(InputError, match="another program"), writing(Workspace.existing(empty_workspace)):
            pass
        reader.communicate()
