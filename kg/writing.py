"""Writing a graph's arrays (``kg.arrays`` describes them), and its edges to the warehouse."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ground.storage.files import atomic_directory
from ground.storage.warehouse import arrow_batches, number_of
from kg.arrays import MANIFEST
from kg.edges import Concepts, EdgeRows, Records, sort_edges, texts_of
from kg.packing import fill_adjacency, pack_rows, sort_names
from kg.predicates import Vocabulary
from kg.sorting import fill_edges, fill_evidence

__all__ = ["adjacency_of", "write_arrays"]

BATCH_ROWS = 1 << 20
EDGE_SCHEMA = pa.schema(
    {
        "head": pa.int32(),
        "predicate": pa.uint8(),
        "tail": pa.int32(),
        "kind": pa.uint16(),
        "forward": pa.bool_(),
        "rui": pa.string(),
    }
)


def write_arrays(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    vocabulary: Vocabulary,
    graph_fingerprint: str,
    concepts: Concepts,
    rows: EdgeRows,
) -> None:
    """Write the graph as arrays, whole or not at all, and its edges to ``kg.edge_code``.

    Memory is bounded by the edges' numbers (some 40 bytes a row that makes an edge, 40 an edge); names pass through in
    batches, in a thread of their own.

    Args:
        connection: the warehouse, with ``kg.concept``, ``kg.name`` and an empty ``kg.edge_code``.
        folder: where to.
        vocabulary: what the numbers of predicates mean.
        graph_fingerprint: what the graph was made of.
        concepts: the nodes.
        rows: what MRREL says.
    """
    kinds = _Kinds.of(connection)
    with (
        atomic_directory(folder) as part,
        _rows_in_order(connection),
        connection.cursor() as beside,
        ThreadPoolExecutor(max_workers=1, thread_name_prefix="names") as pool,
    ):
        named = pool.submit(_write_names, beside, part, concepts)
        records = sort_edges(rows, vocabulary, kinds.rank, len(concepts))
        (relas, rela_of), (sabs, sab_of) = (kinds.numbers(texts, records.kinds) for texts in (kinds.rela, kinds.sab))
        edges = _write_edges(part, records)
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="adjacency") as sorting:
            sorted_too = sorting.submit(_write_adjacency, part, edges, vocabulary, len(concepts))
            evidence = _write_evidence(part, records, rows, rela_of, sab_of)
            _insert_edges(connection, edges, evidence)
            sorted_too.result()
        named.result()
        manifest = {
            "fingerprint": graph_fingerprint,
            "nodes": len(concepts),
            "edges": len(edges.head),
            "evidence": len(evidence.kind),
            "group_names": _group_names(connection),
            "rela_names": relas,
            "sab_names": sabs,
            "predicates": [asdict(line) for line in vocabulary.predicates],
            "patterns": [asdict(line) for line in vocabulary.patterns],
        }
        (part / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


@contextmanager
def _rows_in_order(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Let queries return rows in the order in which their tables were written; all connections do while this lasts."""
    connection.execute("set preserve_insertion_order = true")
    try:
        yield
    finally:
        connection.execute("set preserve_insertion_order = false")


def _array(folder: Path, name: str, dtype: str, length: int) -> NDArray[Any]:
    """Create an array on disk; one of no length cannot be mapped and is written at once."""
    path = folder / f"{name}.npy"
    if length == 0:
        np.save(path, np.empty(0, dtype))
        return np.empty(0, dtype)
    mapped: NDArray[Any] = np.lib.format.open_memmap(  # type: ignore[no-untyped-call]
        path, mode="w+", dtype=np.dtype(dtype), shape=(length,)
    )
    if hasattr(os, "posix_fallocate"):
        # A full disk is an error now: met while the map is written, it would end the process by a signal.
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    return mapped


def _write_names(connection: duckdb.DuckDBPyConnection, folder: Path, concepts: Concepts) -> None:
    """Write what concepts are called, and their groups; ``kg.concept`` and ``kg.name`` are in the order of the CUIs."""
    width = concepts.cui.shape[1]
    np.save(folder / "cui.npy", concepts.cui.view(f"S{width}")[:, 0])
    np.save(folder / "groups.npy", concepts.groups)
    size = number_of(connection, "select sum(strlen(name)) from kg.concept")
    begins, letters = _array(folder, "name_begin", "int64", len(concepts) + 1), _array(folder, "name", "uint8", size)
    row = place = 0
    begins[0] = 0
    for batch in arrow_batches(connection, "select coalesce(name, '') as name from kg.concept", BATCH_ROWS):
        begin, data = texts_of(batch.column(0))
        begins[row : row + len(begin)] = begin - begin[0] + np.int64(place)
        letters[place : place + int(begin[-1] - begin[0])] = data[begin[0] : begin[-1]]
        row, place = row + batch.num_rows, int(begins[row + batch.num_rows])
    _write_labels(connection, folder, concepts, (begins, letters))


def _whole_concepts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield the rows of batches so that those of one concept, which are neighbours, stay together."""
    rest: list[pa.RecordBatch] = []
    for batch in batches:
        table = pa.Table.from_batches([*rest, batch]).combine_chunks()
        cuis = table["cui"]
        begun = pc.index(cuis, cuis[-1]).as_py()
        yield table.slice(0, begun)
        rest = table.slice(begun).to_batches()
    if rest:
        yield pa.Table.from_batches(rest)


def _write_labels(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    concepts: Concepts,
    preferred: tuple[NDArray[np.int64], NDArray[np.uint8]],
) -> None:
    """Write the other names of each concept, in alphabetical order."""
    counts = np.zeros(len(concepts), np.int64)
    begins: list[NDArray[np.int64]] = []
    letters: list[NDArray[np.uint8]] = []
    size = 0
    for table in _whole_concepts(arrow_batches(connection, "select cui, name from kg.name", BATCH_ROWS)):
        nodes, (begin, data) = (texts_of(table[name].combine_chunks()) for name in ("cui", "name"))
        kept_begin, kept = np.empty(table.num_rows, np.int64), np.empty(int(begin[-1] - begin[0]), np.uint8)
        names, added = sort_names(concepts.nodes(*nodes), begin, data, *preferred, counts, kept_begin, kept)
        begins.append(kept_begin[:names] + size)
        letters.append(kept[:added])
        size += added
    np.save(folder / "label_first.npy", np.concatenate(([0], np.cumsum(counts))))
    np.save(folder / "label_begin.npy", np.concatenate([*begins, np.array([size], np.int64)]))
    np.save(folder / "label.npy", np.concatenate([*letters, np.empty(0, np.uint8)]))


def _group_names(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the names of the groups' bits."""
    query = "select distinct semantic_group from kg.semantic_group order by semantic_group"
    return [str(name) for (name,) in connection.execute(query).fetchall()]


@dataclass(frozen=True)
class _Kinds:
    """Kinds of rows of MRREL by number; shapes: (n_kinds,)"""

    rela: list[str]
    sab: list[str]
    rank: NDArray[np.uint16]

    @classmethod
    def of(cls, connection: duckdb.DuckDBPyConnection) -> _Kinds:
        rows = connection.execute(
            "select distinct kind, rela, sab, evidence_rank from edge_kind order by kind"
        ).fetchall()
        return cls([row[1] for row in rows], [row[2] for row in rows], np.array([row[3] for row in rows], np.uint16))

    def numbers(self, texts: list[str], used: NDArray[np.int64]) -> tuple[list[str], NDArray[np.uint16]]:
        """Return the texts of the kinds that edges carry, sorted, and the place among them of each kind's text."""
        names = sorted({texts[kind] for kind in used})
        numbers = np.zeros(len(self.rank), np.uint16)
        numbers[used] = [names.index(texts[kind]) for kind in used]
        return names, numbers


@dataclass(frozen=True)
class _Edges:
    """Canonical edges, and where the evidence of each begins; shapes: (n_edges,), ``begin`` one more."""

    head: NDArray[np.int32]
    predicate: NDArray[np.uint8]
    tail: NDArray[np.int32]
    begin: NDArray[np.int64]


@dataclass(frozen=True)
class _Evidence:
    """What is said for edges, as the warehouse keeps it; shapes: (n_records,), ``rui`` (n_records, width)."""

    kind: NDArray[np.uint16]
    forward: NDArray[np.bool_]
    rui: NDArray[np.uint8]


def _write_edges(folder: Path, records: Records) -> _Edges:
    """Write canonical edges."""
    m = records.edges
    head, tail = _array(folder, "head", "int32", m), _array(folder, "tail", "int32", m)
    predicate = _array(folder, "predicate", "uint8", m)
    begin = _array(folder, "evidence_begin", "int64", m + 1)
    fill_edges(records.begin, records.key, head, predicate, tail, begin)
    return _Edges(*(np.asarray(array) for array in (head, predicate, tail, begin)))


def _write_evidence(
    folder: Path, records: Records, rows: EdgeRows, rela_of: NDArray[np.uint16], sab_of: NDArray[np.uint16]
) -> _Evidence:
    """Write the evidence of edges; ``rela_of`` and ``sab_of`` are the numbers of each kind's texts."""
    k, width = len(records.key), max(1, records.rui_width)
    rela, sab, kind = _array(folder, "rela", "uint16", k), _array(folder, "sab", "uint16", k), np.empty(k, np.uint16)
    rui = _array(folder, "rui", f"S{width}", k).view(np.uint8).reshape(k, width)
    values: list[Any] = [records.row_of, rows.rui, rows.kind, rela_of, sab_of, kind, rela, sab, rui]
    fill_evidence(*values)
    return _Evidence(kind, (records.key & 32768) == 0, rui)


def _evidence_batches(edges: _Edges, evidence: _Evidence) -> Iterator[pa.RecordBatch]:
    """Yield the rows of ``kg.edge_code``."""
    width = evidence.rui.shape[1]
    for first in range(0, len(edges.head), BATCH_ROWS):
        some = slice(first, first + BATCH_ROWS)
        begins = edges.begin[first : first + BATCH_ROWS + 1]
        pieces = slice(int(begins[0]), int(begins[-1]))
        rui = evidence.rui[pieces]
        offsets, data = np.empty(len(rui) + 1, np.int32), np.empty(len(rui) * width, np.uint8)
        pack_rows(rui, offsets, data)
        texts = pa.StringArray.from_buffers(len(rui), pa.py_buffer(offsets), pa.py_buffer(data))
        stated = np.diff(begins)
        columns = [np.repeat(column[some], stated) for column in (edges.head, edges.predicate, edges.tail)]
        columns += [evidence.kind[pieces], evidence.forward[pieces]]
        yield pa.record_batch([*map(pa.array, columns), texts], schema=EDGE_SCHEMA)


def _insert_edges(connection: duckdb.DuckDBPyConnection, edges: _Edges, evidence: _Evidence) -> None:
    """Fill ``kg.edge_code``; a RUI that the release does not have is null."""
    rows = pa.RecordBatchReader.from_batches(EDGE_SCHEMA, _evidence_batches(edges, evidence))
    connection.register("edge_row", rows)
    connection.execute("insert into kg.edge_code select * replace (nullif(rui, '') as rui) from edge_row")
    connection.unregister("edge_row")


def adjacency_of(
    head: NDArray[np.int32], tail: NDArray[np.int32], predicate: NDArray[np.uint8], vocabulary: Vocabulary, n_nodes: int
) -> dict[str, NDArray[Any]]:
    """Turn canonical edges into one adjacency of all steps, both directions.

    Args:
        head, tail, predicate: the edges. Shape: (m,)
        vocabulary: whose predicates the numbers mean.
        n_nodes: number of concepts.

    Returns:
        ``indptr``, ``step``, ``neighbour`` and ``edge`` as ``kg.arrays`` describes them.
    """
    m = head.shape[0]
    back = np.array([2 * code + (not line.symmetric) for code, line in enumerate(vocabulary.predicates)], np.uint8)
    indptr = np.zeros(n_nodes + 1, np.int64)
    step, neighbour, edge = np.empty(2 * m, np.uint8), np.empty(2 * m, np.int32), np.empty(2 * m, np.int32)
    fill_adjacency(head, tail, predicate, back, indptr, step, neighbour, edge)
    return {"indptr": indptr, "step": step, "neighbour": neighbour, "edge": edge}


def _write_adjacency(folder: Path, edges: _Edges, vocabulary: Vocabulary, n_nodes: int) -> None:
    for name, array in adjacency_of(edges.head, edges.tail, edges.predicate, vocabulary, n_nodes).items():
        np.save(folder / f"{name}.npy", array)
