"""Build the concept graph: edges of MRREL in one canonical direction, in the warehouse and as arrays on disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from ground.errors import InputError
from ground.flow.fingerprints import code_digest, fingerprint, is_current, load_fingerprint, mark_done
from ground.json_record import JsonRecord
from ground.progress import progress
from ground.settings import LoadSettings
from ground.storage.own_rules import NO_RULES, OwnRules
from ground.storage.warehouse import (
    arrow_of,
    count_drop,
    number_of,
    reset_drops,
    run_sql,
    set_table,
    table_exists,
    transaction,
)
from kg.arrays import evidence_counts, is_written, open_arrays
from kg.load import require_types
from kg.ontology.joining import RELEASE_SOURCES, join_release
from kg.predicates import (
    ANY,
    Vocabulary,
    read_chemical_trees,
    read_dose_form_words,
    read_relation_lines,
    read_semantic_groups,
    read_vocabulary,
)
from kg.writing import write_arrays

__all__ = ["GraphReport", "build_graph"]

STAGE = "graph"
RELEASE = ("release.mrconso", "release.mrrel", "release.mrsty")
ARRAY_FORMAT = 2
STEPS = ("node", "name", "concept", "relation_use", "edge_kind", "edge_row", "product_route", "drug", "edge_refused",
         "edge_code", "edge")  # fmt: skip
EVERY_NODE = 1 << 62
"""A bit that all concepts share: it answers a line that asks for no group."""


@dataclass(frozen=True)
class GraphReport(JsonRecord):
    """What a build made: counts, and the relations of the release that no line covers."""

    concepts: int
    names: int
    edges: int
    edges_by_predicate: dict[str, int]
    evidence_by_sab: dict[str, dict[str, int]]
    refused: dict[str, int]
    uncovered: list[dict[str, str | int]] = field(default_factory=list)
    skipped: bool = False


def build_graph(
    connection: duckdb.DuckDBPyConnection, folder: Path, settings: LoadSettings, own: OwnRules = NO_RULES
) -> GraphReport:
    """Build ``kg.*`` in the warehouse and the arrays in ``folder``; a graph that is current is left as it is.

    Raises:
        InputError: no ontology is loaded, or a data table or own rule is malformed.
    """
    join_release(connection)
    for table in RELEASE:
        if not table_exists(connection, table):
            raise InputError(
                "the graph needs an ontology",
                found=f"no table {table}",
                expected="UMLS with MRCONSO, MRREL and MRSTY, or ontologies",
                do="run `ontoground load umls META` or `ontoground load ontology FILE...` first",
            )
    if table_exists(connection, "umls.mrconso"):
        require_types(connection, settings)
    expected = _fingerprint(connection, settings, own)
    if is_current(connection, STAGE, expected) and is_written(folder, expected):
        return _report(connection, folder, skipped=True)
    vocabulary = read_vocabulary(own=own)
    with progress("graph", len(STEPS)) as advance:
        with transaction(connection):
            # Until the arrays are written: what other stages keep of these tables goes by this mark.
            mark_done(connection, STAGE, "")
            _register(connection, vocabulary, settings)
            if number_of(
                connection, "select count(*) from duckdb_tables where schema_name = 'kg' and table_name = 'edge'"
            ):
                connection.execute("drop table kg.edge")  # An earlier version's; now it is a view.
            for name in STEPS:
                run_sql(connection, f"kg/{name}")
                advance(1)
            _count_drops(connection)
        write_arrays(connection, folder, vocabulary, expected)
        run_sql(connection, "kg/staging_drop")
    mark_done(connection, STAGE, expected)
    return _report(connection, folder, skipped=False)


def _fingerprint(connection: duckdb.DuckDBPyConnection, settings: LoadSettings, own: OwnRules) -> str:
    rows = [connection.execute(f"select count(*) from {table}").fetchall() for table in RELEASE]
    return fingerprint(
        {
            **{source: load_fingerprint(connection, source) for source in RELEASE_SOURCES},
            "rows": str(rows),
            "data": code_digest(("kg/data", "sql/kg")),
            "languages": settings.languages,
            "suppress": settings.suppress,
            "format": ARRAY_FORMAT,
            "rules": own.digests(STAGE),
        }
    )


def _register(connection: duckdb.DuckDBPyConnection, vocabulary: Vocabulary, settings: LoadSettings) -> None:
    """Put the data tables and the settings that the SQL needs into the warehouse."""
    groups = [
        {"tui": row["tui"], "name": row["name"], "semantic_group": row["group"]} for row in read_semantic_groups()
    ]
    rows: dict[str, Sequence[Mapping[str, Any]]] = {
        "kg.predicate": [vars(line) for line in vocabulary.predicates],
        "kg.pattern": [{**vars(line), "hops": line.hops} for line in vocabulary.patterns],
        "kg.relation_map": read_relation_lines(),
        "kg.semantic_group": groups,
        "kg.dose_form_word": read_dose_form_words(),
    }
    tables = {
        **{name: pa.Table.from_pylist(lines) for name, lines in rows.items()},
        "kg.predicate_code": _predicate_codes(vocabulary, [row["semantic_group"] for row in groups]),
        "kg.language": pa.table({"lat": pa.array(settings.languages, pa.string())}),
        "kg.suppressed": pa.table({"suppress": pa.array(settings.suppress, pa.string())}),
    }
    for name, table in tables.items():
        set_table(connection, name, table, kept=True)
    set_table(connection, "chemical_source", pa.table({"sab": pa.array(read_chemical_trees(), pa.string())}))
    ranked = table_exists(connection, "umls.mrrank")
    rank_source = "umls.mrrank" if ranked else "(select null as sab, null as tty, null as rank limit 0)"
    connection.execute(
        "create or replace table kg.atom_rank as "
        f"select sab, tty, max(try_cast(rank as integer)) as rank from {rank_source} group by all"
    )


def _predicate_codes(vocabulary: Vocabulary, groups: Iterable[str]) -> pa.Table:
    """Return each predicate with its number and, as bits, the groups that its ends may have (bit i: i-th by name).

    Where any group will do the bits are that of ``EVERY_NODE``, which all concepts share, those without a group too.
    """
    bit = {group: 1 << place for place, group in enumerate(sorted(set(groups)))} | {ANY: EVERY_NODE}
    rows = [
        {
            "code": code,
            "predicate": line.predicate,
            "implies": line.implies,
            "symmetric": line.symmetric,
            "head_bits": sum(bit[group] for group in line.head_groups),
            "tail_bits": sum(bit[group] for group in line.tail_groups),
            "same_bits": EVERY_NODE - 1 if line.same_group else EVERY_NODE,
        }
        for code, line in enumerate(vocabulary.predicates)
    ]
    table = pa.Table.from_pylist(rows)
    return table.set_column(0, "code", table["code"].cast(pa.uint8()))


def _count_drops(connection: duckdb.DuckDBPyConnection) -> None:
    reset_drops(connection, STAGE)
    for reason, n in connection.execute("select reason, sum(n) from kg.edge_refused group by reason").fetchall():
        count_drop(connection, STAGE, f"relation_{reason}", int(n))
    count_drop(connection, STAGE, "relation_uncovered", number_of(connection, "select sum(n) from kg.uncovered"))


def _report(connection: duckdb.DuckDBPyConnection, folder: Path, *, skipped: bool) -> GraphReport:
    def pairs(query: str) -> dict[str, int]:
        return {str(key): int(n) for key, n in connection.execute(query).fetchall()}

    by_predicate, by_sab = evidence_counts(open_arrays(folder))
    uncovered = "select rela, rel, sab, n from kg.uncovered order by n desc, rela, rel, sab"
    return GraphReport(
        concepts=number_of(connection, "select count(*) from kg.concept"),
        names=number_of(connection, "select count(*) from kg.name"),
        edges=sum(by_predicate.values()),
        edges_by_predicate=by_predicate,
        evidence_by_sab=by_sab,
        refused=pairs("select reason, sum(n) from kg.edge_refused group by reason order by reason"),
        uncovered=arrow_of(connection, uncovered).to_pylist(),
        skipped=skipped,
    )
