"""Workspaces that the tests of the command line share."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from ground.storage.warehouse import connect
from ground.storage.workspace import Workspace
from ontoground.cli.main import invoke

PATIENTS = 12
# One trial in place of many: what is tested here is the way, not how well the balance comes out.
SETTINGS = "[build]\nbalance_trials = 1\n"


@dataclass(frozen=True)
class Demo:
    """A workspace in which the demo ran, and what the demo printed."""

    workspace: Path
    exit_code: int
    out: str
    err: str


@pytest.fixture
def empty_workspace(tmp_path: Path) -> Path:
    """A workspace with a warehouse and nothing in it."""
    workspace = Workspace.create(tmp_path / "empty-workspace")
    connect(workspace.warehouse).close()
    return workspace.root


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """The demo, run once on a small open world; tests must leave its workspace as it is."""
    root = tmp_path_factory.mktemp("demo") / "work"
    root.mkdir(mode=0o700)
    (root / "ontoground.toml").write_text(SETTINGS)
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = invoke(["demo", "--no-train", "--patients", str(PATIENTS), "--workspace", str(root), "--json"])
    assert code in (0, 1), err.getvalue() + out.getvalue()
    before = sorted(root.glob("*/*"))
    yield Demo(root, code, out.getvalue(), err.getvalue())
    assert sorted(root.glob("*/*")) == before, "a test wrote into the demo's workspace: give it a copy"


@pytest.fixture
def demo_copy(demo: Demo, tmp_path: Path) -> Callable[[], Path]:
    """Make a copy of the demo's workspace that a test may change."""

    def copy() -> Path:
        return shutil.copytree(demo.workspace, tmp_path / "copy")

    return copy
