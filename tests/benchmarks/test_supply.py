"""What is installed with us is pinned, and its licence known and permissive enough."""

from __future__ import annotations

import re
from importlib.metadata import Distribution, PathDistribution
from pathlib import Path

import pytest

from benchmarks.supply import CONSTRAINTS, HASHES, PAGE, constraints, installed, licence_of, page
from ground.errors import UsageError

# Strong copyleft in what users need would bind them too; LGPL and MPL bind the package's own files only.
STRONG = re.compile(r"\bA?GPL|GNU (Affero )?General", re.IGNORECASE)


@pytest.fixture(scope="module")
def packages() -> dict[str, Distribution]:
    """What is installed here; the files are of the set for a CPU, which `CONSTRAINTS=` leaves."""
    found = installed()
    if not found["torch"].version.endswith("+cpu"):
        pytest.skip("another set than the one that is pinned is installed")
    return found


def test_every_package_is_pinned_to_the_version_that_is_tried(packages: dict[str, Distribution]) -> None:
    assert len(packages) > 150 and "duckdb" in packages
    assert CONSTRAINTS.read_text() == constraints(packages)
    # The same versions are there with the hash of the one file that was taken.
    pinned = [re.split(" ;|$", line)[0] for line in CONSTRAINTS.read_text().splitlines() if line[0] != "#"]
    hashed = re.findall(r"^(\S+) --hash=sha256:[0-9a-f]{64}$", HASHES.read_text(), re.MULTILINE)
    assert hashed == pinned


def test_no_licence_is_strong_copyleft_and_the_table_has_them_all(packages: dict[str, Distribution]) -> None:
    assert [name for name, one in packages.items() if STRONG.search(licence_of(one))] == []
    assert PAGE.read_text() == page(packages)


def test_a_torch_of_another_machine_makes_no_constraints(tmp_path: Path) -> None:
    folder = tmp_path / "torch.dist-info"
    folder.mkdir()
    torch: dict[str, Distribution] = {"torch": PathDistribution(folder)}
    (folder / "METADATA").write_text("Metadata-Version: 2.4\nName: torch\nVersion: 2.99.0+cpu\n")
    assert constraints(torch).endswith("\ntorch==2.99.0\n")
    (folder / "METADATA").write_text("Metadata-Version: 2.4\nName: torch\nVersion: 2.99.0\n")
    with pytest.raises(UsageError, match="no build for one"):
        constraints(torch)
