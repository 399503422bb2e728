"""Fixtures that all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from ontoground.warehouse import connect

if TYPE_CHECKING:
    from tests.served import Served
    from tests.stores import Store

# Tests run side by side: threads that wait for one another on busy cores make a test many times slower. Subprocesses
# inherit it; what has not loaded torch yet takes it from here.
os.environ.setdefault("OMP_NUM_THREADS", "1")

REAL = Path(os.environ.get("ONTOGROUND_REAL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests marked ``real`` where the real inputs are not on disk."""
    if REAL.is_dir():
        return
    skip = pytest.mark.skip(reason="the real open inputs are not on this machine")
    for item in items:
        if "real" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of the real open inputs."""
    return REAL


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty warehouse with its schemas and bookkeeping tables."""
    connection = connect(tmp_path / "warehouse.duckdb")
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A real server with a tiny random model; tests that use it share the xdist group ``transformers_serve``."""
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    from tests.served import serving

    with serving(tmp_path_factory.mktemp("served")) as running:
        yield running


@pytest.fixture(scope="session")
def store() -> Iterator[Store]:
    """A real S3 server; tests that use it share the xdist group ``object_storage``."""
    from tests.stores import serving_store

    with serving_store() as running:
        yield running
