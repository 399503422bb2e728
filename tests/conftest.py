"""Fixtures that all tests share."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest
from hypothesis import HealthCheck, settings

from ground.storage.warehouse import connect

if TYPE_CHECKING:
    from tests.builders.real_world import Real
    from tests.served import Served
    from tests.stores import Store

# Tests run side by side: threads that wait for one another on busy cores make a test many times slower. Subprocesses
# inherit it; what has not loaded torch yet takes it from here.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Tables are as wide as the terminal of whoever runs the tests, if nothing says otherwise.
os.environ["COLUMNS"] = "80"

# Libraries ask for whole collections (statsmodels at each comparison), and imports set off many more: a look
# through all of torch takes a second.
gc.set_threshold(20_000, 20, 20)

# No test measures time, which other work on the machine takes.
settings.register_profile("untimed", deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

REAL = Path(os.environ.get("ONTOGROUND_REAL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


# What is costly to make is made once: tests that use it share a group, and a group runs on one worker. Where a test
# uses several, the first counts: the pages have a `denying` of their own, which is made of the demo.
SHARED = {
    "demo": "demo",
    "open_world": "medieval",
    "denying": "medieval",
    "real": "real",
    "served": "transformers_serve",
    "store": "object_storage",
    "cluster": "ray",
}
# Long ones begin first, so that no worker is left with one at the end.
LONG = ("demo", "medieval", "real", "ray", "tests/training/", "tests/ontoground/cli/")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests marked ``real`` where the real inputs are not on disk; group the others, long groups first."""
    if not REAL.is_dir():
        skip = pytest.mark.skip(reason="the real open inputs are not on this machine")
        for item in items:
            if "real" in item.keywords:
                item.add_marker(skip)
    items.sort(key=lambda item: _place(_group(item), item.nodeid))


def _group(item: pytest.Item) -> str:
    """Return the group of a test, marked for xdist: that of what it shares, or its own file."""
    marked = item.get_closest_marker("xdist_group")
    if marked is not None:
        return str(marked.args[0])
    names = getattr(item, "fixturenames", ())
    shared = [group for name, group in SHARED.items() if name in names]
    group = shared[0] if shared else str(item.path)
    item.add_marker(pytest.mark.xdist_group(group))
    return group


def _place(group: str, test: str) -> int:
    return next((place for place, long in enumerate(LONG) if group == long or test.startswith(long)), len(LONG))


left_to_end = ExitStack()
"""What ends with the group that shares it, since it takes the processor's time while nobody asks."""


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """End what a group shared behind its last test."""
    if nextitem is None or _group(nextitem) != _group(item):
        left_to_end.close()


frozen: set[str] = set()
"""Modules that the garbage collector does not look through."""


def pytest_collection_finish() -> None:
    """Take all that was imported out of the garbage collector's sight."""
    _freeze()


def pytest_runtest_setup() -> None:
    """Do so again where tests have imported more."""
    if len(sys.modules) > len(frozen) + 100:
        _freeze()


def _freeze() -> None:
    gc.collect()
    gc.freeze()
    frozen.update(sys.modules)


def pytest_unconfigure() -> None:
    """Let Python see everything again while it ends."""
    gc.unfreeze()


@pytest.fixture(scope="module")
def no_ink() -> Iterator[None]:
    """Pictures are composed and not drawn, which takes most of a report's time; test_figures.py looks at them."""

    def blank(_figure: object, path: Path, **_: object) -> None:
        path.write_bytes(b"\x89PNG")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("matplotlib.figure.Figure.savefig", blank)
        yield


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of the real open inputs."""
    return REAL


@pytest.fixture(scope="session")
def real(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Real:
    """What comes out of the real inputs."""
    from tests.builders.real_world import real_world

    return real_world(real_data, tmp_path_factory.mktemp("real") / "work")


@pytest.fixture(scope="session")
def new_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a new warehouse."""
    path = tmp_path_factory.mktemp("new") / "warehouse.duckdb"
    connect(path).close()
    return path


@pytest.fixture
def warehouse(new_warehouse: Path, tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty warehouse with its schemas and bookkeeping tables."""
    connection = connect(Path(shutil.copy(new_warehouse, tmp_path)))
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
def cluster() -> str:
    """The address of a cluster of Ray: two nodes with a CPU each; tests that use it share the xdist group ``ray``."""
    pytest.importorskip("ray")
    # Names of sockets are short: pytest's own folders are too deep.
    folder = tempfile.mkdtemp(prefix="og-", dir="/tmp")
    left_to_end.callback(shutil.rmtree, folder, ignore_errors=True)
    environment = left_to_end.enter_context(pytest.MonkeyPatch.context())
    environment.setenv("RAY_USAGE_STATS_ENABLED", "0")
    environment.setenv("RAY_TMPDIR", folder)
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "include_log_monitor": False}
    running = Cluster(initialize_head=True, head_node_args={"include_dashboard": False} | node)
    left_to_end.callback(running.shutdown)
    running.add_node(**node)
    return str(running.address)


@pytest.fixture(scope="session")
def store() -> Iterator[Store]:
    """A real S3 server; tests that use it share the xdist group ``object_storage``."""
    from tests.stores import serving_store

    with serving_store() as running:
        yield running
