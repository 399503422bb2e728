"""A MediEval dataset of a small open world, built once for all tests of the builder and the validator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from builders.medieval.build import build_medieval
from ground.storage.warehouse import connect
from ground.storage.workspace import Workspace
from openworld import World, render
from tests.builders.medieval_world import Built, Truth, copied, deny_what_others_have, stage

PATIENTS = 16
# With this seed the patients fall into all three splits; one trial of balance, because that is measured elsewhere.
SETTINGS = "[build]\nseed = 47\nbalance_trials = 1\n"


@pytest.fixture(scope="session")
def open_world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A rendered open world."""
    return render(tmp_path_factory.mktemp("medieval-world") / "world", PATIENTS)


@pytest.fixture(scope="session")
def staged(open_world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed workspace in which all stages before the builder are done: to copy, not to change."""
    return stage(tmp_path_factory.mktemp("medieval-staged") / "work", open_world, SETTINGS)


@pytest.fixture(scope="session")
def medieval(staged: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    """The dataset; tests must leave its folder and its warehouse as they are."""
    workspace = copied(staged, tmp_path_factory.mktemp("medieval") / "work")
    connection = connect(workspace.warehouse, workspace.settings.run)
    report = build_medieval(workspace, connection)
    yield Built(workspace, connection, report)
    connection.close()


@pytest.fixture
def no_baselines(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one side alone tells is not measured, which takes a third of a build."""
    monkeypatch.setattr("builders.medieval.build._baselines", lambda *_: [])


@pytest.fixture(scope="session")
def truth(open_world: World) -> Truth:
    """What the open world says of itself."""
    return Truth(open_world.truth)


@pytest.fixture(scope="session")
def denying(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    """The dataset of a world whose notes deny much of what other patients have."""
    root = tmp_path_factory.mktemp("denying")
    # Fewer patients leave nothing that balances.
    world = render(root / "world", 2 * PATIENTS)
    deny_what_others_have(world)
    workspace = Workspace.create(stage(root / "work", world, SETTINGS))
    connection = connect(workspace.warehouse, workspace.settings.run)
    report = build_medieval(workspace, connection)
    yield Built(workspace, connection, report)
    connection.close()
