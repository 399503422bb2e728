"""Join the concepts of all ontologies, and make the release that the graph reads: ``release.mrconso`` and its like.

UMLS is taken as it is; what other ontologies add stands beside it in the same columns. An identifier of an ontology
becomes a CUI, or one with another ontology's, where a cross-reference says so and no vocabulary would be in one concept
twice. Without UMLS, RxNorm's own concepts are part of the release.
"""

from __future__ import annotations

from collections.abc import Iterable

import duckdb
import pyarrow as pa

from ground import ROOT
from ground.flow.fingerprints import code_digest, fingerprint, is_current, load_fingerprint, mark_done
from ground.storage.tables import read_table
from ground.storage.warehouse import count_drop, has_rows, reset_drops, run_sql, set_table, table_exists
from kg.ontology.content import CUI, code_systems, make_tables
from kg.predicates import read_semantic_groups

__all__ = ["RELEASE_SOURCES", "join_release"]

STAGE = "release"
RELEASE_SOURCES = ("umls", "rxnorm", "ontology")
"""Loads of which the release is made; any of them makes one."""
BRANCHES = ROOT / "kg" / "data" / "branch_types.tsv"
TABLES = ("mrconso", "mrsty", "mrrel")
VIEWS: dict[str, tuple[str, dict[str, str], str]] = {
    "umls_atom": ("umls.mrconso", {name: name for name in ("cui", "sab", "code", "str")}, "true"),
    "umls_type": ("umls.mrsty", {"cui": "cui"}, "true"),
    "rxnorm_atom": (
        "rxnorm.rxnconso",
        {name: name for name in ("rxcui", "sab", "tty", "code", "str")} | {"suppress": "coalesce(suppress, 'N')"},
        "{alone} and lat = 'ENG'",
    ),
    "rxnorm_type": ("rxnorm.rxnsty", {"cui": "'RXNORM:' || rxcui", "tui": "tui"}, "{alone}"),
    "rxnorm_relation": (
        "rxnorm.rxnrel",
        {"id1": "'RXNORM:' || rxcui1", "id2": "'RXNORM:' || rxcui2", "suppress": "coalesce(suppress, 'N')"}
        | {name: name for name in ("rel", "rela", "rui", "sab")},
        "{alone} and rxcui1 <> '' and rxcui2 <> ''",
    ),
}
"""What the SQL reads of UMLS and, where there is no UMLS, of RxNorm: table, columns, condition."""
STEPS = ("concept", "type", "relation")


def join_release(connection: duckdb.DuckDBPyConnection) -> None:
    """Make ``release.mrconso``, ``mrsty`` and ``mrrel`` of all that is loaded; what is current stays."""
    connection.execute("create schema if not exists release; create schema if not exists ontology")
    parts = {source: load_fingerprint(connection, source) for source in RELEASE_SOURCES}
    if parts["ontology"] or (parts["rxnorm"] and not has_rows(connection, "umls.mrconso")):
        _join(connection, fingerprint({**parts, "code": code_digest(("kg/ontology", "kg/data", "sql/kg/ontology"))}))
    for table in TABLES:
        parts_of = [name for schema in ("umls", "ontology") if table_exists(connection, name := f"{schema}.{table}")]
        if parts_of:
            union = " union all by name ".join(f"select * from {name}" for name in parts_of)
            connection.execute(f"create or replace view release.{table} as {union}")


def _join(connection: duckdb.DuckDBPyConnection, expected: str) -> None:
    if is_current(connection, STAGE, expected) and table_exists(connection, "ontology.mrrel"):
        return
    # Not in one transaction: DuckDB does not know how large tables are that it makes, and joins them in a bad order. A
    # release that was stopped in the middle is made again.
    connection.execute(f"delete from ground.stage where stage = '{STAGE}'")
    if not table_exists(connection, "ontology.class"):
        make_tables(connection)
    _register(connection)
    run_sql(connection, "kg/ontology/link")
    _unite(connection)
    for step in STEPS:
        run_sql(connection, f"kg/ontology/{step}")
    mark_done(connection, STAGE, expected)


def _register(connection: duckdb.DuckDBPyConnection) -> None:
    """Put the data tables, and what UMLS and RxNorm have, under the names that the SQL reads."""
    tables = {
        "code_system": [{**row, "place": place} for place, row in enumerate(code_systems())],
        "branch_type": read_table(BRANCHES, ("branch", "tui", "source")),
        "semantic_type": read_semantic_groups(),
    }
    for name, rows in tables.items():
        set_table(connection, name, pa.Table.from_pylist(rows))
    alone = "false" if has_rows(connection, "umls.mrconso") else "true"
    for view, (table, columns, condition) in VIEWS.items():
        names = [f"{expression} as {name}" for name, expression in columns.items()]
        body = f"select {', '.join(names)} from {table} where {condition.format(alone=alone)}"
        if not table_exists(connection, table):
            body = f"select {', '.join(f'null::varchar as {name}' for name in columns)} where false"
        connection.execute(f"create or replace temp view {view} as {body}")


def _unite(connection: duckdb.DuckDBPyConnection) -> None:
    """Make ``joined``: by identifier, the identifier of its concept."""
    links = connection.execute("select one, other from link").fetchall()
    classes = {id for (id,) in connection.execute("select distinct id from ontology.class").fetchall()}
    concepts, refused = united(links)
    rows = [{"id": id, "cui": _name_of(members, classes)} for members in concepts for id in members]
    set_table(connection, "joined", pa.Table.from_pylist(rows, pa.schema([("id", pa.string()), ("cui", pa.string())])))
    reset_drops(connection, STAGE)
    count_drop(connection, STAGE, "cross-reference that would put two of one vocabulary into one concept", refused)


def united(links: Iterable[tuple[str, str]]) -> tuple[list[list[str]], int]:
    """Unite identifiers by links, in their order; no vocabulary is in one concept twice.

    Returns:
        The concepts, each as its identifiers, and how many links were refused.
    """
    concept_of: dict[str, list[str]] = {}
    refused = 0
    for one, other in links:
        ours, theirs = concept_of.setdefault(one, [one]), concept_of.setdefault(other, [other])
        if ours is theirs:
            continue
        if {_vocabulary(id) for id in ours} & {_vocabulary(id) for id in theirs}:
            refused += 1
            continue
        ours += theirs
        concept_of.update(dict.fromkeys(theirs, ours))
    return list({id(members): sorted(members) for members in concept_of.values()}.values()), refused


def _vocabulary(id: str) -> str:
    return "UMLS" if CUI.fullmatch(id) else id.partition(":")[0]


def _name_of(members: list[str], classes: set[str]) -> str:
    """Return the identifier of a concept: its CUI, else its class of the vocabulary that comes first."""
    places = {row["prefix"]: place for place, row in enumerate(code_systems())}
    return min(
        members,
        key=lambda id: (not CUI.fullmatch(id), id not in classes, places.get(_vocabulary(id), len(places)), id),
    )
