"""`import ontoground` and `python -m ontoground` beside packages of the user's that have the names of our rooms."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ground import ROOT, __version__

FOREIGN = {
    "a module": ("training.py", "training"),
    "a package": ("kg/__init__.py", "kg"),
    "another package": ("stewardship/__init__.py", "stewardship"),
}


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(params=sorted(FOREIGN))
def foreign(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    """A folder of the user's with something of a room's name in it: the file, and the room."""
    name, room = FOREIGN[request.param]
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("raise RuntimeError('this is not ontoground')\n")
    return file, room


def test_the_import_names_what_stands_in_the_way(foreign: tuple[Path, str], tmp_path: Path) -> None:
    file, room = foreign
    done = python(tmp_path, "-c", "import ontoground")
    assert done.returncode == 1
    assert f"cannot find its own package {room!r}" in done.stderr
    assert f"found: {file.resolve()}" in done.stderr and f"expected: {ROOT / room}" in done.stderr
    assert "this is not ontoground" not in done.stderr


def test_the_module_runs_there_all_the_same(foreign: tuple[Path, str], tmp_path: Path) -> None:
    assert python(tmp_path, "-m", "ontoground", "--version").stdout.strip() == f"ontoground {__version__}"
    listed = python(tmp_path, "-m", "ontoground", "steward", "calculators", "--json")
    assert listed.returncode == 0 and '"verb": "steward calculators"' in listed.stdout


def test_a_folder_that_is_no_package_is_not_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "kg").mkdir()
    (tmp_path / "kg" / "notes.txt").write_text("mine")
    done = python(tmp_path, "-c", "import ontoground; print(ontoground.__version__)")
    assert done.stdout.strip() == __version__, done.stderr
