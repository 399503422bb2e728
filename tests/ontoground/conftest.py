"""Workspaces that the tests of the command line share."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ontoground
from ground.contracts.rows import CONTRADICTED_SCHEMA
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
    before = sorted(root.glob("[!c]*/*"))
    yield Demo(root, code, out.getvalue(), err.getvalue())
    # All but the cache.
    assert sorted(root.glob("[!c]*/*")) == before, "a test wrote into the demo's workspace: give it a copy"


@pytest.fixture
def demo_copy(demo: Demo, tmp_path: Path) -> Callable[[], Path]:
    """Make a copy of the demo's workspace that a test may change."""

    def copy() -> Path:
        return shutil.copytree(demo.workspace, tmp_path / "copy")

    return copy


@pytest.fixture(scope="session")
def denying(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's workspace with one contradicted row, and the copy of a supported one that makes the statement."""
    folder = tmp_path_factory.mktemp("denying") / "work"
    shutil.copytree(demo.workspace, folder, copy_function=os.link, ignore=shutil.ignore_patterns("cache", "runs"))
    copy = ontoground.open(folder).statements(quadrant="Q1").sort("id").head(1).collect().to_dicts()[0]
    tail = next(span for span in copy["support_spans"] if span["role"] == "tail")
    denied = {"id": "1-0-h-denied-Q2", "quadrant": "Q2", "is_supported": False, "support_level": "contradicted"}
    denied |= {"denied_spans": [tail | {"assertion": "absent"}], "support_spans": copy["support_spans"][:1]}
    rows = [copy | {"denied_spans": []}, copy | denied]
    (folder / "datasets" / "medieval" / "contradicted").mkdir(exist_ok=True)
    pq.write_table(
        pa.Table.from_pylist(rows, schema=CONTRADICTED_SCHEMA),
        folder / "datasets" / "medieval" / "contradicted" / "train-00000-of-00001.parquet",
    )
    return folder
