"""The same world as other sources have it gives the same statements."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from builders.concepts import map_codes
from builders.medieval.build import build_medieval
from ehr.notes import find_mentions
from ehr.sources.tables import schemas
from ground.storage.warehouse import connect
from ontoground.flow.pipeline import LOADERS
from openworld import World
from tests.builders.medieval_world import Built, bytes_of, copied
from tests.builders.record_forms import FORMS


@pytest.fixture(scope="module")
def mimic(open_world: World) -> Iterator[duckdb.DuckDBPyConnection]:
    """The world's files of MIMIC-IV as views."""
    with duckdb.connect() as connection:
        for file in sorted(open_world.mimic.glob("*/*.csv.gz")):
            name = file.name.removesuffix(".csv.gz")
            connection.execute(f"create view {name} as from read_csv('{file}', all_varchar = true, header = true)")
        yield connection


@pytest.mark.usefixtures("no_baselines")
@pytest.mark.parametrize("source", FORMS)
def test_the_same_world_gives_the_same_statements(
    mimic: duckdb.DuckDBPyConnection, medieval: Built, staged: Path, tmp_path: Path, source: str
) -> None:
    (tmp_path / "records").mkdir()
    FORMS[source](mimic, tmp_path / "records")
    workspace = copied(staged, tmp_path / "work")
    with connect(workspace.warehouse, workspace.settings.run) as connection:
        for schema in schemas("mimic"):
            connection.execute(f"drop schema {schema} cascade")
        for table in ("load", "load_origin"):
            connection.execute(f"delete from ground.{table} where source = 'mimic'")
        LOADERS[source](connection, tmp_path / "records", workspace.settings.load, workspace.settings.remote)
        map_codes(connection)
        find_mentions(connection, workspace.settings)
        build_medieval(workspace, connection)
    assert bytes_of(workspace.dataset("medieval")) == bytes_of(medieval.folder)
