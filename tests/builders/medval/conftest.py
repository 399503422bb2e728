"""The rules engine over the open world, opened once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders.medval.rules_world import Engine, open_engine


@pytest.fixture(scope="session")
def rules(staged: Path) -> Iterator[Engine]:
    """Generator and validator; nothing is written."""
    engine = open_engine(staged)
    yield engine
    engine.connection.close()
