"""Small graphs for the tests of ``kg``: from rows of MRREL through the build, and from plain edges without it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from ground.settings import LoadSettings
from ground.storage.warehouse import connect
from kg.arrays import GraphArrays
from kg.build import GraphReport, build_graph
from kg.facts import FACT_SCHEMA
from kg.graph import ConceptGraph
from kg.predicates import Vocabulary
from kg.writing import adjacency_of
from tests.kg.rrf_files import columns_of

TYPES = {"CHEM": ("T121", "Pharmacologic Substance"), "DISO": ("T047", "Disease or Syndrome"),
         "PROC": ("T061", "Therapeutic or Preventive Procedure"), "CONC": ("T170", "Intellectual Product"),
         "ANAT": ("T023", "Body Part, Organ, or Organ Component")}  # fmt: skip


def _fill(connection: duckdb.DuckDBPyConnection, table: str, rows: list[dict[str, str]]) -> None:
    columns = columns_of(table.upper())
    connection.execute(f"create or replace table umls.{table} ({', '.join(f'{name} varchar' for name in columns)})")
    if rows:
        values = [[row.get(name) or None for name in columns] for row in rows]
        connection.executemany(f"insert into umls.{table} values ({', '.join('?' * len(columns))})", values)


def atom(cui: str, name: str, **more: str) -> dict[str, str]:
    """Return one row of MRCONSO, preferred unless told otherwise."""
    row = {"CUI": cui, "LAT": "ENG", "TS": "P", "STT": "PF", "ISPREF": "Y", "SAB": "MTH", "TTY": "PN", "SUPPRESS": "N"}
    return {**row, "AUI": f"A{cui[1:]}{name[:2]}", "CODE": cui, "STR": name, **more}


def rel(cui2: str, rela: str, cui1: str, sab: str = "NDFRT", **more: str) -> dict[str, str]:
    """Return one row of MRREL that reads ``cui2 rela cui1``."""
    row = {"CUI1": cui1, "REL": "RO", "CUI2": cui2, "RELA": rela, "SAB": sab, "SUPPRESS": "N"}
    return {**row, "RUI": f"R{cui2[1:]}{cui1[1:]}{rela[:8]}{sab}{more.get('REL', '')}", **more}


class Release:
    """A warehouse with a UMLS release of a few rows."""

    def __init__(self, folder: Path, concepts: dict[str, str], rows: list[dict[str, str]]) -> None:
        """Make a release of concepts, each given as CUI: "GROUP name", and of rows of MRREL."""
        self.folder = folder
        self.connection = connect(folder / "warehouse.duckdb")
        split = {cui: text.split(" ", 1) for cui, text in concepts.items()}
        self.atoms = [atom(cui, name) for cui, (_, name) in split.items()]
        types = [{"CUI": cui, "TUI": TYPES[group][0], "STY": TYPES[group][1]} for cui, (group, _) in split.items()]
        _fill(self.connection, "mrsty", types)
        self.set_atoms(self.atoms)
        self.set_rows(rows)

    def set_atoms(self, atoms: list[dict[str, str]], ranks: list[dict[str, str]] | None = None) -> None:
        """Replace MRCONSO and MRRANK."""
        _fill(self.connection, "mrconso", atoms)
        _fill(self.connection, "mrrank", ranks or [])

    def set_rows(self, rows: list[dict[str, str]]) -> None:
        """Replace MRREL."""
        _fill(self.connection, "mrrel", rows)

    def build(self, settings: LoadSettings | None = None) -> GraphReport:
        """Build the graph."""
        return build_graph(self.connection, self.folder / "graph", settings or LoadSettings())

    def graph(self) -> ConceptGraph:
        """Open the graph."""
        return ConceptGraph.open(self.folder / "graph")

    def triples(self, *predicates: str) -> set[tuple[str, str, str]]:
        """Return the edges of some predicates."""
        return set(
            self.connection.execute(
                "select head_cui, predicate, tail_cui from kg.edge where list_contains($wanted, predicate)",
                {"wanted": list(predicates)},
            ).fetchall()
        )


def plain_graph(vocabulary: Vocabulary, n_nodes: int, edges: set[tuple[int, int, int]]) -> ConceptGraph:
    """Return a graph of canonical edges (head, predicate number, tail), all concepts of all groups."""
    sorted_edges = np.array(sorted(edges), np.int64).reshape(-1, 3)
    head, predicate, tail = (
        sorted_edges[:, 0].astype(np.int32), sorted_edges[:, 1].astype(np.uint8), sorted_edges[:, 2].astype(np.int32),
    )  # fmt: skip
    m = len(edges)
    adjacency = adjacency_of(head, tail, predicate, vocabulary, n_nodes)
    groups = sorted({group for line in vocabulary.predicates for group in (*line.head_groups, *line.tail_groups)})
    arrays = GraphArrays(
        cui=np.array([f"C{node:07d}" for node in range(n_nodes)], "S8"),
        groups=np.full(n_nodes, (1 << len(groups)) - 1, np.int64),
        name_begin=np.zeros(n_nodes + 1, np.int64),
        name=np.empty(0, np.uint8),
        label_first=np.zeros(n_nodes + 1, np.int64),
        label_begin=np.zeros(1, np.int64),
        label=np.empty(0, np.uint8),
        head=head,
        tail=tail,
        predicate=predicate,
        evidence_begin=np.arange(m + 1, dtype=np.int64),
        rela=np.zeros(m, np.uint16),
        sab=np.zeros(m, np.uint16),
        rui=np.array([f"R{number}" for number in range(m)] or [""], "S8")[:m],
        rela_names=("",),
        sab_names=("TEST",),
        group_names=tuple(groups),
        vocabulary=vocabulary,
        **adjacency,
    )
    for array in vars(arrays).values():
        if isinstance(array, np.ndarray):
            array.flags.writeable = False  # as if mapped: functions are compiled once more for others
    return ConceptGraph(arrays)


def facts_of(graph: ConceptGraph, concepts: Any, *arguments: Any, **options: Any) -> pa.Table:
    """Return all facts as one table."""
    tables = graph.fact_tables(concepts, *arguments, **options)
    return pa.concat_tables([FACT_SCHEMA.empty_table(), *tables]).combine_chunks()


def other_names(graph: ConceptGraph, cui: str) -> list[str]:
    """Return the names of a concept besides its preferred one."""
    arrays, (node,) = graph.arrays, graph.numbers_of([cui])
    first, last = arrays.label_first[node : node + 2]
    begins = arrays.label_begin[first : last + 1]
    return [bytes(arrays.label[begin:end]).decode() for begin, end in pairwise(begins)]
