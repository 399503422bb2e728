"""What the graph and the release say: which relations hold, and what a mention must mean to attest a concept.

All by SQL over ``kg.edge``, ``kg.pattern``, ``kg.name`` and the release's own tables; the graph's arrays are not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import polars as pl

from ground.storage.warehouse import connect, number_of, run_sql, set_table, set_variables, table_exists
from ground.storage.workspace import Workspace

__all__ = ["RELATION", "claim_facts", "find_paths", "known_names", "opened", "truths"]

SQL = "stewardship/second_road/graph"
RELATION = ("head_cui", "predicate", "tail_cui")

STARTS_AT_ONCE = 4_000
"""Concepts that walks of up to three steps are begun from at once: these grow with concepts, not with patients."""


@contextmanager
def opened(workspace: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the workspace's warehouse for reading, with the tiers that make a statement true."""
    existing = Workspace.existing(workspace)
    connection = connect(existing.warehouse, existing.settings.run, read_only=True)
    try:
        set_variables(connection, {"tiers": list(existing.settings.build.truth_tiers)})
        yield connection
    finally:
        connection.close()


def claim_facts(connection: duckdb.DuckDBPyConnection, facts: pl.DataFrame) -> None:
    """Make ``claim`` and ``claim_end`` of facts that no dataset has to claim.

    Args:
        connection: of `opened`.
        facts: *columns* head_cui, head_name, predicate, tail_cui, tail_name.
    """
    ends = pl.concat([facts.select(cui=f"{end}_cui", name=f"{end}_name") for end in ("head", "tail")])
    set_table(connection, "claim", facts.select(*RELATION).unique().to_arrow())
    set_table(connection, "claim_end", ends.unique().to_arrow())


def find_paths(connection: duckdb.DuckDBPyConnection) -> None:
    """Make ``related_pair``: what the graph says of the pairs of all claims, in both directions."""
    set_variables(connection, {"starts_at_once": STARTS_AT_ONCE})
    for table in ("walk", "step", "pair"):
        run_sql(connection, f"{SQL}/{table}")
    for lot in range(number_of(connection, "select coalesce(max(lot) + 1, 0) from start_pair")):
        set_variables(connection, {"lot": lot})
        run_sql(connection, f"{SQL}/related")


def truths(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """Say for each claim whether the graph makes it true, makes it false, or leaves it open.

    True: a path of a tier of ``build.truth_tiers`` whose composition is the predicate, and, where the predicate asserts
    a benefit, no contraindication between what is above the two. False: no path of any tier or predicate in either
    direction, and no row of MRREL that relates the two. Else open (docs/definitions.md#false).

    Args:
        connection: of `opened`, with what `find_paths` makes.

    Returns:
        *columns*: head_cui, predicate, tail_cui, is_true (null: cannot be said), why.
    """
    connection.execute(
        "create or replace temp table release_relation (head_cui varchar, tail_cui varchar, relation varchar)"
    )
    if table_exists(connection, "release.mrrel"):
        run_sql(connection, f"{SQL}/release_relation")
    for table in ("contraindicated", "truth"):
        run_sql(connection, f"{SQL}/{table}")
    return connection.sql("from truth order by all").pl()


def known_names(connection: duckdb.DuckDBPyConnection, names: list[str]) -> pl.DataFrame:
    """Return the concepts of each name (whatever its case), preferred ones first: *columns* name, cui, preferred."""
    wanted = pl.DataFrame({"name": sorted(set(names))}, schema={"name": pl.String})
    set_table(connection, "wanted_name", wanted.to_arrow())
    return connection.sql(
        "select wanted.name, known.cui, bool_or(known.is_preferred) as preferred from wanted_name as wanted "
        "inner join kg.name as known on lower(wanted.name) = lower(known.name) group by all "
        "order by wanted.name, preferred desc, known.cui"
    ).pl()
