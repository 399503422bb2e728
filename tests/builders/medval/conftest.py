"""The rules engine over the open world, opened once."""

from __future__ import annotations

from pathlib import Path

import pytest

from ground.storage.workspace import Workspace
from tests.builders.medval.rules_world import Engine


@pytest.fixture(scope="session")
def rules(staged: Path) -> Engine:
    """Generator and validator; nothing is written."""
    return Engine(Workspace.existing(staged))
