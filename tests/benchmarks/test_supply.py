"""What is installed with us is pinned, and its licence known and permissive enough."""

from __future__ import annotations

import re
from importlib.metadata import Distribution

import pytest

from benchmarks.supply import CONSTRAINTS, PAGE, constraints, installed, licence_of, page

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


def test_no_licence_is_strong_copyleft_and_the_table_has_them_all(packages: dict[str, Distribution]) -> None:
    assert [name for name, one in packages.items() if STRONG.search(licence_of(one))] == []
    assert PAGE.read_text() == page(packages)
