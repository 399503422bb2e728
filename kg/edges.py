"""Edges of MRREL as numbers: read in one pass, what they say of drugs taken in, sorted by edge.

Numbers instead of texts from the first moment on: a CUI becomes its node in a table of numbers (``kg.sorting``), the
kind of a row (RELA, REL, SAB) one number. A row of MRREL that makes an edge takes some 25 bytes, its record 12 more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ground.compiled import read_only
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import arrow_batches, arrow_of, number_of, run_sql
from kg.composition import ROUTES, resolve_drugs
from kg.packing import fill_rows
from kg.predicates import Vocabulary, read_chemical_trees
from kg.sorting import NOT_AN_EDGE, count_records, find_texts, number_texts, place_records, read_rows, sort_records

__all__ = ["EVERY_NODE", "Concepts", "EdgeRows", "Records", "read_concepts", "read_edges", "sort_edges", "texts_of"]

BATCH_ROWS = 1 << 17
EVERY_NODE = 1 << 62
"""A bit that all concepts share: it answers a line that asks for no group."""
NOT_A_CLASS = 7
REASONS = 8
SLOTS = 1 << 24
"""Enough for the numbers of all CUIs of seven digits, which then have a slot each."""


@dataclass(frozen=True)
class Concepts:
    """The nodes of the graph.

    Attributes:
        cui: sorted texts, rows that end with zeros. Shape: (n_nodes, width)
        groups: bits of their semantic groups. Shape: (n_nodes,)
        slots: where the node of a CUI is found (``kg.sorting.number_texts``).
    """

    cui: NDArray[np.uint8]
    groups: NDArray[np.int64]
    slots: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.cui)

    def nodes(self, begin: NDArray[np.int32], data: NDArray[np.uint8]) -> NDArray[np.int32]:
        """Return the nodes of CUIs, laid out as by ``texts_of``; -1 where there is none. Shape: (n,)"""
        found = np.empty(len(begin) - 1, np.int32)
        find_texts(begin, data, self.cui, self.slots, found)
        return found


@dataclass
class EdgeRows:
    """Rows of MRREL as edges; where one row makes two edges it is here twice.

    Attributes:
        head, tail: nodes. Shape: (n,)
        predicate: number of the predicate, ``NOT_AN_EDGE`` where the row has been refused. Shape: (n,)
        kind: number of RELA, REL and SAB (``kg.evidence_kind``). Shape: (n,)
        forward: whether the row itself reads from head to tail. Shape: (n,)
        rui: texts, rows that end with zeros; no text is a missing RUI. Shape: (n, width)
        implied: the predicate that the edge implies, else ``NOT_AN_EDGE``. Shape: (n,)
        refused: how many rows make no edge, by reason (kg/edge_refused) and predicate. Shape: (8, 256)
    """

    head: NDArray[np.int32]
    tail: NDArray[np.int32]
    predicate: NDArray[np.uint8]
    kind: NDArray[np.uint16]
    forward: NDArray[np.bool_]
    rui: NDArray[np.uint8]
    implied: NDArray[np.uint8]
    refused: NDArray[np.int64]


@dataclass(frozen=True)
class Records:
    """Evidence in the order of the arrays, each piece once.

    Attributes:
        begin: where the records of each head begin. Shape: (n_nodes + 1,)
        key: predicate, tail and rank (``kg.sorting``). Shape: (n_records,)
        row_of: the row of ``EdgeRows``. Shape: (n_records,)
        kinds: the kinds that edges are of, ascending. Shape: (n_used,)
        edges: number of edges.
        rui_width: length of the longest RUI.
    """

    begin: NDArray[np.int64]
    key: NDArray[np.int64]
    row_of: NDArray[np.int32]
    kinds: NDArray[np.int64]
    edges: int
    rui_width: int


def texts_of(column: pa.Array) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Return where each text begins and ends among the bytes of all, and these; a missing one is empty."""
    encoded = column.cast(pa.binary())
    if encoded.null_count:
        encoded = encoded.fill_null(b"")
    offsets = np.frombuffer(encoded.buffers()[1], np.int32)[encoded.offset : encoded.offset + len(encoded) + 1]
    # Whether they could be written hangs on how the column came about.
    return read_only(offsets), read_only(np.frombuffer(encoded.buffers()[2] or b"", np.uint8))


def _fixed(column: pa.Array) -> NDArray[np.uint8]:
    """Return texts as rows of bytes that end with zeros. Shape: (n, length of the longest)"""
    begin, data = texts_of(column)
    fixed = np.zeros((len(column), max(1, int(np.diff(begin).max(initial=0)))), np.uint8)
    fill_rows(fixed, begin, data)
    return fixed


def read_concepts(connection: duckdb.DuckDBPyConnection) -> Concepts:
    """Read ``kg.node``."""
    table = arrow_of(connection, "select cui, group_bits from kg.node order by node")
    columns = [table[name].combine_chunks() for name in ("cui", "group_bits")]
    cui = _fixed(columns[0])
    slots = np.full(max(SLOTS, 1 << (2 * len(cui)).bit_length()), -1, np.int32)
    number_texts(cui, slots)
    return Concepts(cui, columns[1].to_numpy(), slots)


def read_edges(connection: duckdb.DuckDBPyConnection, concepts: Concepts, vocabulary: Vocabulary) -> EdgeRows:
    """Read the rows of MRREL that make edges, and take in what they say together about drugs and classes."""
    rows = _read_rows(connection, concepts)
    links, link_of, linked = _composition(rows, vocabulary)
    _refuse_classes(rows, links, vocabulary, len(concepts))
    _place_chemicals(connection, rows, links, vocabulary, concepts)
    _resolve(connection, rows, links, link_of, linked, vocabulary, len(concepts))
    return rows


def sort_edges(rows: EdgeRows, vocabulary: Vocabulary, ranks: NDArray[np.uint16], n_nodes: int) -> Records:
    """Sort what rows state by head, predicate, tail, direction and rank of the kind, RUI and kind.

    Args:
        rows: what MRREL says.
        vocabulary: what the numbers of predicates mean.
        ranks: the order of the kinds (by SAB and RELA). Shape: (n_kinds,)
        n_nodes: number of concepts.
    """
    both_ways = _of_predicates([line.symmetric and line.implies == "broader" for line in vocabulary.predicates])
    edges = (rows.head, rows.tail, rows.predicate, rows.implied, both_ways)
    begin, kinds = np.zeros(n_nodes + 1, np.int64), np.zeros(len(ranks), np.int64)
    count_records(*edges, rows.kind, begin, kinds)
    key, row_of = np.empty(begin[-1], np.int64), np.empty(begin[-1], np.int32)
    place_records(*edges, rows.kind, rows.forward, ranks, begin[:-1].copy(), key, row_of)
    sizes = np.zeros(3, np.int64)
    sort_records(begin, key, row_of, rows.rui, rows.kind, sizes)
    return Records(begin, key[: sizes[1]], row_of[: sizes[1]], np.flatnonzero(kinds), int(sizes[0]), int(sizes[2]))


def _of_predicates(flags: list[bool]) -> NDArray[np.bool_]:
    """Return flags of predicates by number; shape: (256,)"""
    return np.array(flags + [False] * (256 - len(flags)))


def _lines(connection: duckdb.DuckDBPyConnection) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the lines of each kind begin, and the lines. Shapes: (n_kinds + 1,), (n_lines, 6)"""
    rows = connection.execute(
        "select one.kind, one.predicate, one.forward, one.symmetric, one.head_bits, one.tail_bits, one.same_bits "
        "from edge_kind as one order by one.kind, one.predicate, one.forward"
    ).fetchall()
    table = np.array(rows, np.int64).reshape(-1, 7)
    kinds = int(table[-1, 0]) + 1 if len(table) else 0
    return np.searchsorted(table[:, 0], np.arange(kinds + 1)), table[:, 1:].copy()


def _read_rows(connection: duckdb.DuckDBPyConnection, concepts: Concepts) -> EdgeRows:
    """Read MRREL in batches. The arrays are as long as they could become; memory that is not written is not taken."""
    known = (concepts.groups | EVERY_NODE, *_lines(connection))
    capacity = number_of(connection, "select sum(n) from kg.relation_use where predicate is not null")
    width = max(1, number_of(connection, "select max(strlen(rui)) from umls.mrrel"))
    made: list[NDArray[Any]] = [np.empty(capacity, name) for name in ("int32", "int32", "uint8", "uint16", "bool")]
    made.append(np.zeros((capacity, width), np.uint8))
    refused = np.zeros((REASONS, 256), np.int64)
    at = 0
    for batch in arrow_batches(connection, sql_text("kg/relation_row"), BATCH_ROWS):
        kinds, suppressed = (batch.column(name).to_numpy() for name in ("kind", "suppressed"))
        one, two, ruis = (texts_of(batch.column(name)) for name in ("cui1", "cui2", "rui"))
        nodes = [concepts.nodes(*ends) for ends in (one, two)]
        values: list[Any] = [kinds, suppressed, *nodes, *one, *two, *ruis, *known, *made, refused, at]
        at = read_rows(*values)
    head, tail, predicate, kind, forward, rui = (array[:at] for array in made)
    return EdgeRows(head, tail, predicate, kind, forward, rui, np.full(at, NOT_AN_EDGE, np.uint8), refused)


def _composition(
    rows: EdgeRows, vocabulary: Vocabulary
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Return the links between drugs and what they hold, the link of each row that states one, and these rows.

    Shapes: (n_links, 2), (n,), (n,)
    """
    holds = _of_predicates([line.implies == "contains_drug" for line in vocabulary.predicates])
    linked = np.flatnonzero(holds[rows.predicate])
    keys = (rows.head[linked].astype(np.int64) << 32) | rows.tail[linked]
    pairs, link_of = np.unique(keys, return_inverse=True)
    return np.stack([pairs >> 32, pairs & 0xFFFFFFFF], axis=1).astype(np.int32), link_of, linked


def _refuse_classes(rows: EdgeRows, links: NDArray[np.int32], vocabulary: Vocabulary, n_nodes: int) -> None:
    """Refuse parents that are no pharmacologic classes: a substance that products hold, as the base above its salt.

    Seen in USPMG, where a salt stands below its base.
    """
    code = vocabulary.step_of("has_pharmacologic_class") // 2
    is_part = np.zeros(n_nodes, bool)
    is_part[links[:, 1]] = True
    stated = np.flatnonzero(rows.predicate == code)
    wrong = stated[is_part[rows.tail[stated]]]
    rows.predicate[wrong] = NOT_AN_EDGE
    rows.refused[NOT_A_CLASS, code] += wrong.size


def _products(
    connection: duckdb.DuckDBPyConnection, rows: EdgeRows, vocabulary: Vocabulary
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Return the concepts that have a dose form, and where that acts (``composition.ROUTES``). Shape: (n_products,)"""
    stated = np.flatnonzero(rows.predicate == vocabulary.step_of("has_dose_form") // 2)
    connection.register("dose_form_link", pa.table({"head": rows.head[stated], "tail": rows.tail[stated]}))
    run_sql(connection, "kg/product_route")
    connection.unregister("dose_form_link")
    table = arrow_of(connection, "select node, route from product_route order by node")
    return table["node"].to_numpy(), np.array([ROUTES[route] for route in table["route"].to_pylist()], np.uint8)


def _place_chemicals(
    connection: duckdb.DuckDBPyConnection,
    rows: EdgeRows,
    links: NDArray[np.int32],
    vocabulary: Vocabulary,
    concepts: Concepts,
) -> None:
    """Make placed_under of is_a between chemicals that says no kind.

    Such are trees of structures and of therapeutic classes, and a parent that is an ingredient itself: what treats is
    said of chloroquine is not true of hydroxychloroquine. A parent that holds another one is no ingredient but a form.
    """
    code = {line.predicate: number for number, line in enumerate(vocabulary.predicates)}
    quoted = ", ".join(f"'{sab}'" for sab in read_chemical_trees())
    query = f"select kind from kg.evidence_kind where rela is null and sab in ({quoted})"
    trees = np.zeros(1 << 16, bool)
    trees[[row[0] for row in connection.execute(query).fetchall()]] = True
    is_ingredient = np.zeros(len(concepts), bool)
    is_ingredient[links[:, 1]] = True
    is_ingredient[links[:, 0]] = False
    groups = connection.execute("select distinct semantic_group from kg.semantic_group order by 1").fetchall()
    chemical = concepts.groups >> groups.index(("CHEM",)) & 1 == 1
    stated = np.flatnonzero(rows.predicate == code["is_a"])
    head, tail = rows.head[stated], rows.tail[stated]
    placed = chemical[head] & chemical[tail] & (trees[rows.kind[stated]] | is_ingredient[tail])
    rows.predicate[stated[placed]] = code["placed_under"]


def _resolve(
    connection: duckdb.DuckDBPyConnection,
    rows: EdgeRows,
    links: NDArray[np.int32],
    link_of: NDArray[np.int64],
    linked: NDArray[np.int64],
    vocabulary: Vocabulary,
    n_nodes: int,
) -> None:
    """Say which edges imply others, once it is known which drugs are the same.

    Drugs that are only put on the skin do not inherit from the same drug taken by mouth: there is_a becomes
    narrower_than. A link whose whole is a form of its part joins two names of the same drug (drug_form_of); any other
    says what holds what (contains_drug).
    """
    code = {line.predicate: number for number, line in enumerate(vocabulary.predicates)}
    product, route = _products(connection, rows, vocabulary)
    drugs = resolve_drugs(links[:, 0].copy(), links[:, 1].copy(), product, route, n_nodes)
    stated = np.flatnonzero(rows.predicate == code["is_a"])
    lower = (drugs.local & ~drugs.systemic)[rows.head[stated]] & (drugs.local & drugs.systemic)[rows.tail[stated]]
    rows.predicate[stated[lower]] = code["narrower_than"]
    broader = _of_predicates([line.implies == "broader" for line in vocabulary.predicates])
    rows.implied[broader[rows.predicate]] = code["broader"]
    rows.implied[linked] = np.where(drugs.same[link_of], code["drug_form_of"], code["contains_drug"])
