"""Questions to the warehouse on the other road: which relations hold, and what an admission's texts say of a concept.

All by SQL (``sql/stewardship``) over ``kg.edge``, ``kg.pattern``, ``kg.name``, the release's own tables, and the texts:
neither the concept graph nor the mentions, assertions and code maps of the builders are read. What is shared with them
is the load of the release: a relation that it holds in error is true on both roads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import polars as pl

from ground import ROOT
from ground.storage.tables import read_table
from ground.storage.warehouse import connect, run_sql, set_table, set_variables, table_exists
from ground.storage.workspace import Workspace

__all__ = [
    "DATA",
    "Truth",
    "frame_of",
    "known_names",
    "near_concepts",
    "opened",
    "script",
    "supports",
    "truths",
]

DATA = ROOT / "stewardship" / "data"
PAIRS_AT_ONCE = 4_000
ADMISSIONS_AT_ONCE = 400

Truth = pl.DataFrame
"""*columns*: head_cui, predicate, tail_cui, is_true (null: cannot be said), why."""


@contextmanager
def opened(workspace: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the workspace's warehouse for reading, with the macros of the other road and the tiers that make true."""
    found = Workspace.existing(workspace)
    connection = connect(found.warehouse, found.settings.run, read_only=True)
    try:
        script(connection, "macros")
        set_variables(connection, {"steward_tiers": list(found.settings.build.truth_tiers)})
        yield connection
    finally:
        connection.close()


def truths(connection: duckdb.DuckDBPyConnection, asked: pl.DataFrame) -> Truth:
    """Say for each relation whether the graph makes it true, makes it false, or leaves it open.

    True: a path of a tier of ``build.truth_tiers`` whose composition is the predicate, and, where the predicate asserts
    a benefit, no contraindication between what is above the two. False: no path of any tier or predicate in either
    direction, and no row of MRREL that relates the two. Else open (docs/definitions.md#false).

    Args:
        connection: of `opened`.
        asked: *columns* head_cui, predicate, tail_cui.
    """
    wanted = asked.select("head_cui", "predicate", "tail_cui").unique()
    pairs = wanted.select("head_cui", "tail_cui").unique()
    turned = pairs.select(head_cui="tail_cui", tail_cui="head_cui")
    every = pl.concat([pairs, turned]).unique().sort("head_cui", "tail_cui")
    script(connection, "trie", "step")
    found, forbidden, raw = [], [], []
    for part in every.iter_slices(PAIRS_AT_ONCE):
        set_table(connection, "steward_pair", part.to_arrow())
        script(connection, "relation", "forbidden")
        found.append(frame_of(connection, "from steward_relation"))
        forbidden.append(frame_of(connection, "select distinct head_cui, tail_cui from steward_forbidden"))
        if table_exists(connection, "umls.mrrel"):
            script(connection, "raw_relation")
            raw.append(frame_of(connection, "from steward_raw"))
    set_table(connection, "steward_relation_all", pl.concat(found).to_arrow())
    set_table(connection, "steward_forbidden_all", pl.concat(forbidden).to_arrow())
    nothing = pl.DataFrame(schema=dict.fromkeys(("head_cui", "tail_cui", "relation"), pl.String))
    set_table(connection, "steward_raw_all", (pl.concat(raw) if raw else nothing).to_arrow())
    set_table(connection, "steward_question", wanted.to_arrow())
    script(connection, "truth")
    return frame_of(connection, "from steward_truth order by all")


def supports(connection: duckdb.DuckDBPyConnection, asked: pl.DataFrame, contexts: pl.DataFrame) -> pl.DataFrame:
    """Say for each admission and concept whether the texts attest it.

    Args:
        connection: of `opened`.
        asked: *columns* hadm_id, cui, name (what the statement calls it).
        contexts: *columns* hadm_id, context: one row an admission.

    Returns:
        *columns*: hadm_id, cui, attested, named, coded, said (``sql/stewardship/support.sql``).
    """
    admissions = asked["hadm_id"].unique().sort()
    _tables(connection)
    found = []
    for part in admissions.to_frame().iter_slices(ADMISSIONS_AT_ONCE):
        here = asked.join(part, on="hadm_id", how="semi").select("cui", "name", text_id="hadm_id").unique()
        set_table(connection, "steward_asked", here.select("text_id", "cui").unique().to_arrow())
        set_table(connection, "steward_end", here.select("cui", "name").unique().to_arrow())
        set_table(connection, "steward_admission", part.select(text_id="hadm_id", hadm_id="hadm_id").to_arrow())
        texts = contexts.join(part, on="hadm_id", how="semi").select(text_id="hadm_id", body="context")
        set_table(connection, "steward_context", texts.to_arrow())
        script(connection, "text", "word", "phrase", "name", "hit", "code", "meaning", "support")
        found.append(frame_of(connection, "from steward_support"))
    return pl.concat(found).rename({"text_id": "hadm_id"})


def known_names(connection: duckdb.DuckDBPyConnection, names: list[str]) -> pl.DataFrame:
    """Return the concepts of each name (whatever its case), preferred ones first: *columns* name, cui, preferred."""
    set_table(
        connection,
        "steward_wanted_name",
        pl.DataFrame({"name": sorted(set(names))}, schema={"name": pl.String}).to_arrow(),
    )
    return frame_of(
        connection,
        "select wanted.name, known.cui, bool_or(known.is_preferred) as preferred from steward_wanted_name as wanted "
        "inner join kg.name as known on lower(wanted.name) = lower(known.name) group by all "
        "order by wanted.name, preferred desc, known.cui",
    )


def near_concepts(connection: duckdb.DuckDBPyConnection, pairs: list[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Return for pairs of concepts that share a class how many steps above them it is: 0, 1 or 2."""
    schema = dict.fromkeys(("head_cui", "tail_cui"), pl.String)
    set_table(connection, "steward_pair", pl.DataFrame(pairs, schema=schema, orient="row").to_arrow())
    script(connection, "near")
    return {(one, other): int(steps) for one, other, steps in connection.execute("from steward_near").fetchall()}


def _tables(connection: duckdb.DuckDBPyConnection) -> None:
    """Load the reader's own words and cues."""
    cues = pl.DataFrame(read_table(DATA / "assertion_cues.tsv", ("cue", "reading", "side", "reach", "source")))
    set_table(connection, "steward_cue_line", cues.to_arrow())
    connection.execute(
        "create or replace temp table steward_cue as "
        "select distinct steward_key(cue) as key, reading, side, reach::integer as reach from steward_cue_line"
    )
    # Titles of codes are optional among MIMIC's tables.
    titles = "select icd_code, icd_version, long_title from mimiciv_hosp.d_icd_diagnoses"
    if not table_exists(connection, "mimiciv_hosp.d_icd_diagnoses"):
        titles = "select '' as icd_code, 0 as icd_version, '' as long_title where false"
    connection.execute(f"create or replace temp view steward_title as {titles}")
    words = pl.DataFrame(read_table(DATA / "reader_words.tsv", ("written", "means", "source")))
    set_table(connection, "steward_reader", words.to_arrow())


def script(connection: duckdb.DuckDBPyConnection, *names: str) -> None:
    """Run SQL files of ``sql/stewardship``, in this order."""
    for name in names:
        run_sql(connection, f"stewardship/{name}")


def frame_of(connection: duckdb.DuckDBPyConnection, query: str) -> pl.DataFrame:
    """Return what a query selects."""
    found: pl.DataFrame = connection.sql(query).pl()
    return found
