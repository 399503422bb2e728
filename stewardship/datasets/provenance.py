"""Whether rows that are said to be open stand among the notes of the workspace: those are never open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

import duckdb
import numpy as np
import numpy.typing as npt
import polars as pl

from ground.errors import InputError, RefusedError
from ground.flow.manifest import licence_tier
from ground.settings import read_settings
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import arrow_batches, connect, table_exists

__all__ = ["RUN", "noted_rows", "require_not_noted"]

Uids: TypeAlias = npt.NDArray[np.object_]
Runs: TypeAlias = npt.NDArray[np.uint64]
NONE: Runs = np.zeros(0, dtype=np.uint64)
FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, its bits well mixed
TEXTS_AT_ONCE = 2048
RUN = 12
"""Words in a row that two texts have in common by chance only where they are phrases that everybody writes."""


def noted_rows(workspace: Path, rows: pl.DataFrame) -> int:
    """Count rows of which a run of words stands in a credentialed note of the workspace.

    Memory: runs of the rows are held, the notes pass by. A copy is found whatever its case, spaces and line ends, where
    twice `RUN` words of it are as in the note.

    Args:
        workspace: whose notes are looked through; one without a warehouse has none.
        rows: *shape* (n, columns), text: a column ``uid`` and others.

    Raises:
        InputError: another program uses the warehouse, or it lacks the views of the records.
    """
    warehouse = workspace / "warehouse.duckdb"
    if not warehouse.is_file():
        return 0
    cells = rows.unpivot(index="uid", variable_name="column", value_name="text").drop_nulls("text")
    with closing(connect(warehouse, read_settings(workspace / "ontoground.toml").run, read_only=True)) as connection:
        if licence_tier(connection) == "open":
            return 0
        if not table_exists(connection, "ehr.note"):
            raise InputError(
                "the notes of this workspace cannot be looked through",
                file=warehouse,
                found="a workspace of an earlier version",
                do="run `ontoground notes sections`, which makes the views of the records",
            )
        connection.register("steward_cell", cells.to_arrow())
        cell_runs = list(_runs(connection, "select uid as id, text from steward_cell", RUN))
        runs = np.unique(np.concatenate([NONE, *(runs_of for _, runs_of in cell_runs)]))
        seen = np.zeros(len(runs), dtype=bool)
        for _, noted in _runs(connection, "select '' as id, text from ehr.note", 1) if len(runs) else ():
            place = np.minimum(np.searchsorted(runs, noted), len(runs) - 1)
            seen[place[runs[place] == noted]] = True
    return len({uid for uids, runs_of in cell_runs for uid in uids[seen[np.searchsorted(runs, runs_of)]]})


def _runs(connection: duckdb.DuckDBPyConnection, texts: str, step: int) -> Iterator[tuple[Uids, Runs]]:
    """Yield runs of words as numbers, one at every ``step`` words of a text, with the ids of their texts."""
    connection.execute(f"create or replace temp view steward_text as {texts}")
    for batch in arrow_batches(connection, sql_text("stewardship/words"), TEXTS_AT_ONCE):
        words, lengths = batch["words"].flatten().to_numpy(), batch["words"].value_lengths().to_numpy()
        places = np.arange(len(words)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        starts = np.flatnonzero((places % step == 0) & (places + RUN <= np.repeat(lengths, lengths)))
        mixed = np.zeros(len(starts), dtype=np.uint64)
        for ahead in range(RUN):
            mixed = mixed * FACTOR + words[starts + ahead]
        texts_of = np.repeat(np.arange(len(lengths)), lengths)[starts]
        yield batch["id"].to_numpy(zero_copy_only=False)[texts_of], mixed


def require_not_noted(workspace: Path, rows: pl.DataFrame) -> None:
    """Refuse rows that are said to be open and stand among the notes of the workspace; errors as in `noted_rows`.

    Raises:
        RefusedError: there are such rows; they are counted, not named.
    """
    if noted := noted_rows(workspace, rows):
        raise RefusedError(
            "rows that quote notes of this workspace are not open, whatever --licence says",
            found=f"{noted:,} of {rows.height:,} rows have {RUN} words in a row of a note",
            do="adopt them as credentialed: such rows go to models on this machine only",
        )
