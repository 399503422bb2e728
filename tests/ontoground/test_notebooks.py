"""The notebooks of the docs run on the demo, and what is kept in them is what they show."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

from ground import ROOT
from tests.ontoground.conftest import Demo

FOLDER = ROOT / "docs" / "notebooks"
MOST_BYTES = 150_000


def shown(notebook: Any) -> list[set[str]]:
    """Return of each cell the kinds of what it shows."""
    return [{kind for one in cell.get("outputs", ()) for kind in one.get("data", ())} for cell in notebook.cells]


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.ipynb")), ids=lambda file: file.stem)
def test_a_notebook_runs_and_shows_what_is_kept_in_it(
    file: Path, demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "demo").symlink_to(demo.workspace)
    own = tmp_path / "docs" / "notebooks"
    own.mkdir(parents=True)
    kept = nbformat.read(file, as_version=4)  # type: ignore[no-untyped-call]
    ran = deepcopy(kept)
    kernel = KernelManager(kernel_name="python3", transport="ipc", ip=str(tmp_path / "kernel"))
    client = NotebookClient(ran, km=kernel, timeout=300, resources={"metadata": {"path": str(own)}})
    client.execute(cleanup_kc=True)  # or the kernel, with all that it holds, stays until the tests end
    assert shown(ran) == shown(kept)
    assert any(kind != "text/plain" for kinds in shown(kept) for kind in kinds)
    assert file.stat().st_size < MOST_BYTES
