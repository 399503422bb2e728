"""Workspaces that the tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest

from ontoground.warehouse import connect
from ontoground.workspace import Workspace


@pytest.fixture
def empty_workspace(tmp_path: Path) -> Path:
    """A workspace with a warehouse and nothing in it."""
    workspace = Workspace.create(tmp_path / "empty-workspace")
    connect(workspace.warehouse).close()
    return workspace.root
