"""Codes to concepts: diagnoses, procedures and drug orders of the records get the CUIs of the ontology.

The rules are the SQL files named in ``STEPS``; the words that are left out of a drug's name, the second names of
drugs and the semantic types are tables in ``builders/data``. Everything works on distinct codes, so that the cost
hardly grows with the number of orders.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import duckdb

from ehr.sources.contract import loaded_source, make_views
from ground import ROOT
from ground.errors import InputError
from ground.storage.tables import read_table
from ground.storage.warehouse import count_drop, reset_drops, run_sql, table_exists, transaction
from kg.ontology.joining import join_release

__all__ = ["DATA_FILES", "CodeCount", "ConceptReport", "SourceShare", "define_macros", "map_codes"]

DATA = ROOT / "builders" / "data"
DATA_FILES = {
    "drug_word": (DATA / "drug_words.tsv", ("word", "kind", "means", "source")),
    "drug_alias": (DATA / "drug_aliases.tsv", ("name", "means", "source")),
    "concept_type": (DATA / "concept_types.tsv", ("tui", "kind", "source")),
}

REQUIRED = (
    ("release.mrconso", "ontoground load umls META"),
    ("release.mrsty", "ontoground load umls META"),
)

# Tables that a release may lack, with the columns that the steps read.
OPTIONAL = {
    "umls.mrmap": "mapsetcui mapsetsab fromexpr fromtype rel rela toexpr totype maptype mapatn mapatv",
    "umls.mrsat": "cui stype code atn sab atv suppress",
    "release.mrrel": "cui1 cui2 rela sab suppress",
    "rxnorm.rxnconso": "rxcui sab tty str suppress",
    "rxnorm.rxnrel": "rxcui1 rxcui2 rela sab suppress",
    "rxnorm.rxnsat": "rxcui atn sab atv suppress",
    "rxnorm.rxnatomarchive": "sab str merged_to_rxcui",
}

LACKING = {"none": "whose code has no concept", "no_code": "that state no code (0)"}
"""What rows of a count that led to no concept have in common."""

# In order: each makes the table that its name says.
STEPS = (
    "source_code",
    "procedure_concept",
    "icd_atom",
    "lost_zero",
    "icd_map",
    "icd_candidate",
    "rxnorm_node",
    "drug_step",
    "node_ingredient",
    "code_candidate",
    "drug_variant",
    "drug_name",
    "drug_name_candidate",
    "ndc_candidate",
    "code_map",
    "event",
    "code_use",
    "unmapped_code",
    "drug_ingredient",
    "admission_concept",
)
KEPT = frozenset({"code_map", "event", "code_use", "unmapped_code", "drug_ingredient", "admission_concept"})


@dataclass(frozen=True)
class CodeCount:
    """Distinct codes of one source that were mapped by one method, and rows that use them.

    ``none``: not mapped; ``no_code``: the code is 0, which states none.
    """

    source: str
    method: str
    codes: int
    rows: int


@dataclass(frozen=True)
class SourceShare:
    """Share of one source table's rows that have a concept; an order counts by its code or by its drug's name."""

    source_table: str
    rows: int
    mapped_rows: int

    @property
    def share(self) -> float:
        """Mapped rows over rows; 0 where there are no rows."""
        return self.mapped_rows / self.rows if self.rows else 0.0


@dataclass(frozen=True)
class ConceptReport:
    """What was mapped, and how."""

    counts: tuple[CodeCount, ...]
    shares: tuple[SourceShare, ...]
    n_ambiguous: int
    admission_concepts: int

    def share(self, source_table: str) -> float:
        """Return the mapped share of ``diagnoses_icd``, ``procedures_icd`` or ``prescriptions``."""
        return next(share.share for share in self.shares if share.source_table == source_table)

    def as_dict(self) -> dict[str, object]:
        """Return the report for ``--json`` output."""
        return {
            "counts": [asdict(count) for count in self.counts],
            "shares": [{**asdict(share), "share": round(share.share, 4)} for share in self.shares],
            "n_ambiguous": self.n_ambiguous,
            "admission_concepts": self.admission_concepts,
        }


def map_codes(connection: duckdb.DuckDBPyConnection) -> ConceptReport:
    """Make the tables and the view of ``KEPT`` in the schema ``ground``, whole or not at all.

    Reads ``ehr.*`` and ``umls.*``; ``rxnorm.*``, MRMAP, MRSAT and MRREL where they were loaded.

    Raises:
        InputError: the records or the ontology were not loaded, or MRCONSO is empty.
    """
    make_views(connection)
    join_release(connection)
    _check_inputs(connection)
    define_macros(connection)
    _read_data(connection)
    with transaction(connection):
        _optional_views(connection)
        for step in STEPS:
            run_sql(connection, f"builders/concepts/{step}")
        report = _report(connection)
        _count_unmapped(connection, report)
    _forget(connection)
    return report


def define_macros(connection: duckdb.DuckDBPyConnection) -> None:
    """Define the temporary macros ``dotted_icd``, ``ndc11`` and ``plain_name`` (``code_macros.sql``)."""
    run_sql(connection, "builders/concepts/code_macros")


def _check_inputs(connection: duckdb.DuckDBPyConnection) -> None:
    for table, verb in REQUIRED:
        if not table_exists(connection, table):
            raise InputError(f"codes cannot be mapped without {table}", found="no such table", do=f"run `{verb}` first")
    if loaded_source(connection) is None:
        raise InputError("codes cannot be mapped without records", do="run `ontoground load mimic DIR` first")
    if connection.execute("select 1 from release.mrconso limit 1").fetchone() is None:
        raise InputError("codes cannot be mapped: the release has no names", do="run `ontoground load umls META` again")


def _read_data(connection: duckdb.DuckDBPyConnection) -> None:
    for table, (path, columns) in DATA_FILES.items():
        rows = read_table(path, columns)
        names = ", ".join(f"{column} varchar" for column in columns)
        connection.execute(f"create or replace temp table {table} ({names})")
        marks = ", ".join("?" for _ in columns)
        connection.executemany(f"insert into {table} values ({marks})", [list(row.values()) for row in rows])


def _optional_views(connection: duckdb.DuckDBPyConnection) -> None:
    for table, columns in OPTIONAL.items():
        name = table.split(".")[1]
        if table_exists(connection, table):
            body = f"select {', '.join(columns.split())} from {table}"
        else:
            body = f"select {', '.join(f'null::varchar as {column}' for column in columns.split())} where false"
        connection.execute(f"create or replace temp view source_{name} as {body}")


def _forget(connection: duckdb.DuckDBPyConnection) -> None:
    for table in OPTIONAL:
        connection.execute(f"drop view source_{table.split('.')[1]}")
    for step in (*STEPS, *DATA_FILES):
        if step not in KEPT:
            connection.execute(f"drop table {step}")


def _count_unmapped(connection: duckdb.DuckDBPyConnection, report: ConceptReport) -> None:
    reset_drops(connection, "concepts")
    for count in report.counts:
        if lacking := LACKING.get(count.method):
            count_drop(connection, "concepts", f"rows of {count.source} {lacking}", count.rows)
    for reason, _, rows in run_sql(connection, "builders/concepts/lost_zero_count").fetchall():
        count_drop(connection, "concepts", reason, rows)


def _report(connection: duckdb.DuckDBPyConnection) -> ConceptReport:
    counts = run_sql(connection, "builders/concepts/code_count").fetchall()
    shares = run_sql(connection, "ontoground/queries/coverage_by_volume").fetchall()
    ambiguous, admissions = connection.execute(
        "select (select count(distinct (source, code, vocabulary)) from ground.code_map where n_candidates > 1),"
        " (select count(*) from ground.admission_concept)"
    ).fetchall()[0]
    return ConceptReport(
        counts=tuple(CodeCount(*row) for row in counts),
        shares=tuple(SourceShare(source, rows, mapped) for source, rows, mapped, _ in shares),
        n_ambiguous=ambiguous,
        admission_concepts=admissions,
    )
