"""A reader of the pages, as a browser of this machine is one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from ground.storage.workspace import Workspace
from ontoground.pages.app import application
from ontoground.pages.guard import STEERING
from tests.ontoground.conftest import Demo

TOKEN = "a-token-of-this-test"
PORT = 8765
OWN = f"http://127.0.0.1:{PORT}"

Reader = Callable[[Path], TestClient]


@pytest.fixture(scope="session")
def reader() -> Reader:
    """Open the pages of a workspace with the start address."""

    def open_pages(workspace: Path) -> TestClient:
        app = application(Workspace.existing(workspace), {TOKEN: STEERING}, PORT)
        client = TestClient(app, base_url=OWN, headers={"origin": OWN})
        assert client.get("/start", params={"token": TOKEN}).status_code == 200
        return client

    return open_pages


@pytest.fixture(scope="module")
def pages(reader: Reader, demo: Demo) -> TestClient:
    """The pages of the demo's workspace."""
    return reader(demo.workspace)
