"""Writing a graph's arrays (``kg.arrays`` describes them) from the warehouse, batch by batch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ground.storage.files import atomic_directory
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import arrow_batches, number_of
from kg.arrays import MANIFEST
from kg.predicates import Vocabulary

__all__ = ["adjacency_of", "write_arrays"]

BATCH_ROWS = 1 << 20


def write_arrays(
    connection: duckdb.DuckDBPyConnection, folder: Path, vocabulary: Vocabulary, graph_fingerprint: str
) -> None:
    """Write the graph as arrays, whole or not at all.

    Memory is bounded by the edges' numbers (some 50 bytes an edge); all else passes through in batches.

    Args:
        connection: the warehouse, with ``kg.node``, ``kg.concept``, ``kg.name`` and ``kg.edge_code``.
        folder: where to.
        vocabulary: what the numbers of predicates mean.
        graph_fingerprint: what the graph was made of.
    """
    with atomic_directory(folder) as part, _rows_in_order(connection):
        n_nodes = _write_concepts(connection, part)
        _write_labels(connection, part, n_nodes)
        relas, sabs = _write_edges(connection, part)
        head, tail, predicate = (np.load(part / f"{name}.npy") for name in ("head", "tail", "predicate"))
        adjacency = adjacency_of(head, tail, predicate, vocabulary, n_nodes)
        for name, array in adjacency.items():
            np.save(part / f"{name}.npy", array)
        groups = connection.execute("select distinct semantic_group from kg.semantic_group order by 1").fetchall()
        manifest = {
            "fingerprint": graph_fingerprint,
            "nodes": n_nodes,
            "edges": len(adjacency["edge"]) // 2,
            "evidence": number_of(connection, "select count(*) from kg.edge_code"),
            "group_names": [group for (group,) in groups],
            "rela_names": relas,
            "sab_names": sabs,
            "predicates": [vars(line) for line in vocabulary.predicates],
            "patterns": [vars(line) for line in vocabulary.patterns],
        }
        (part / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


@contextmanager
def _rows_in_order(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Let queries return rows in the order in which their tables were written."""
    connection.execute("set preserve_insertion_order = true")
    try:
        yield
    finally:
        connection.execute("set preserve_insertion_order = false")


class _Arrays:
    """Arrays of a folder that are written piece by piece; their lengths are known at the end."""

    def __init__(self, folder: Path, **dtypes: str) -> None:
        self._dtypes = {name: np.dtype(kind) for name, kind in dtypes.items()}
        self._files = {name: (folder / f"{name}.npy").open("wb") for name in dtypes}
        self.sizes = dict.fromkeys(dtypes, 0)

    def __enter__(self) -> _Arrays:
        for name in self._files:
            self._write_header(name)
        return self

    def __exit__(self, *_: object) -> None:
        for name, file in self._files.items():
            file.seek(0)
            self._write_header(name)
            file.close()

    def _write_header(self, name: str) -> None:
        # numpy leaves room in a header for the first axis to grow.
        header = {"descr": self._dtypes[name].str, "fortran_order": False, "shape": (self.sizes[name],)}
        write: Any = np.lib.format.write_array_header_1_0
        write(self._files[name], header)

    def add(self, **values: NDArray[Any]) -> None:
        """Append to some arrays."""
        for name, array in values.items():
            self._files[name].write(np.ascontiguousarray(array, self._dtypes[name]).data)
            self.sizes[name] += len(array)

    def add_texts(self, name: str, texts: pa.Array) -> None:
        """Append texts to an array of letters, and where each begins to another."""
        lengths, letters = _bytes_of(texts)
        self.add(**{f"{name}_begin": self.sizes[name] + np.cumsum(lengths) - lengths, name: letters})


def _bytes_of(column: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return how many bytes each text has, and the bytes of all. Shapes: (n,), (bytes,)"""
    texts = column.cast(pa.large_binary())
    _, offsets, data = texts.buffers()
    begin = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return np.diff(begin), np.frombuffer(data or b"", np.uint8)[begin[0] : begin[-1]]


def _padded(column: pa.Array, width: int) -> NDArray[np.bytes_]:
    """Return texts as bytes of one width, filled up with zeros; a missing one is empty. Shape: (n,)"""
    filled = pc.ascii_rpad(column.fill_null(""), width, "\0").cast(pa.large_binary())
    return np.frombuffer(_bytes_of(filled)[1], f"S{width}")


def _width(connection: duckdb.DuckDBPyConnection, table: str, column: str) -> int:
    """Return the length of the longest text of a column, at least 1."""
    return max(1, number_of(connection, f"select max(strlen({column})) from {table}"))


def _write_concepts(connection: duckdb.DuckDBPyConnection, folder: Path) -> int:
    """Write CUIs, groups and preferred names in the order of the nodes; return how many there are."""
    width = _width(connection, "kg.node", "cui")
    query = (
        "select node.cui, node.group_bits, coalesce(concept.name, '') as name from kg.node as node "
        "left join kg.concept as concept on node.cui = concept.cui order by node.node"
    )
    with _Arrays(folder, cui=f"S{width}", groups="int64", name_begin="int64", name="uint8") as arrays:
        for batch in arrow_batches(connection, query, BATCH_ROWS):
            arrays.add(cui=_padded(batch.column("cui"), width), groups=batch.column("group_bits").to_numpy())
            arrays.add_texts("name", batch.column("name"))
        arrays.add(name_begin=np.array([arrays.sizes["name"]]))
    return arrays.sizes["cui"]


def _write_labels(connection: duckdb.DuckDBPyConnection, folder: Path, n_nodes: int) -> None:
    """Write the other names of each concept, in alphabetical order."""
    counts = np.zeros(n_nodes, np.int64)
    with _Arrays(folder, label_begin="int64", label="uint8") as arrays:
        for batch in arrow_batches(connection, sql_text("kg/label"), BATCH_ROWS):
            counts += np.bincount(batch.column("node").to_numpy(), minlength=n_nodes)
            arrays.add_texts("label", batch.column("name"))
        arrays.add(label_begin=np.array([arrays.sizes["label"]]))
    np.save(folder / "label_first.npy", np.concatenate(([0], np.cumsum(counts))))


def _names_of_kinds(connection: duckdb.DuckDBPyConnection, column: str) -> tuple[list[str], NDArray[np.uint16]]:
    """Return the texts of the kinds that edges carry, sorted, and the place among them of each kind's text."""
    used = {kind for (kind,) in connection.execute("select distinct kind from kg.edge_code").fetchall()}
    query = f"select kind, coalesce({column}, '') from kg.evidence_kind"
    texts = {kind: text for kind, text in connection.execute(query).fetchall() if kind in used}
    names = sorted(set(texts.values()))
    numbers = np.zeros(max(used, default=0) + 1, np.uint16)
    for kind, text in texts.items():
        numbers[kind] = names.index(text)
    return names, numbers


def _write_edges(connection: duckdb.DuckDBPyConnection, folder: Path) -> tuple[list[str], list[str]]:
    """Write canonical edges and their evidence; return the names of relations and sources that evidence has."""
    (relas, rela_of), (sabs, sab_of) = (_names_of_kinds(connection, column) for column in ("rela", "sab"))
    width, last = _width(connection, "kg.edge_code", "rui"), np.full((3, 1), -1)
    edge = {"head": "int32", "predicate": "uint8", "tail": "int32", "evidence_begin": "int64"}
    with _Arrays(folder, **edge, rela="uint16", sab="uint16", rui=f"S{width}") as arrays:
        query = "select head, predicate, tail, kind, rui from kg.edge_code"
        for batch in arrow_batches(connection, query, BATCH_ROWS):
            head, predicate, tail, kind = (batch.column(place).to_numpy() for place in range(4))
            ends = np.concatenate((last, np.stack((head, predicate, tail))), axis=1)
            begun, last = np.flatnonzero((np.diff(ends) != 0).any(axis=0)), ends[:, -1:]
            rows = arrays.sizes["rui"]
            arrays.add(head=head[begun], predicate=predicate[begun], tail=tail[begun], evidence_begin=rows + begun)
            arrays.add(rela=rela_of[kind], sab=sab_of[kind], rui=_padded(batch.column("rui"), width))
        arrays.add(evidence_begin=np.array([arrays.sizes["rui"]]))
    return relas, sabs


def adjacency_of(
    head: NDArray[np.int32], tail: NDArray[np.int32], predicate: NDArray[np.uint8], vocabulary: Vocabulary, n_nodes: int
) -> dict[str, NDArray[Any]]:
    """Turn canonical edges into one adjacency of all steps, both directions, as compressed sparse rows.

    Args:
        head, tail, predicate: the edges. Shape: (m,)
        vocabulary: whose predicates the numbers mean.
        n_nodes: number of concepts.

    Returns:
        ``indptr``, ``step``, ``neighbour`` and ``edge`` as ``kg.arrays`` describes them.
    """
    m, n_steps = head.shape[0], len(vocabulary.step_names)
    back = np.array([2 * code + (not line.symmetric) for code, line in enumerate(vocabulary.predicates)])
    # One number for source, step and neighbour: three sorts in one.
    key = np.empty(2 * m, np.int64)
    key[:m] = (head.astype(np.int64) * n_steps + 2 * predicate) * n_nodes + tail
    key[m:] = (tail.astype(np.int64) * n_steps + back[predicate]) * n_nodes + head
    order = np.argsort(key)
    key = key[order]
    indptr = np.searchsorted(key, np.arange(n_nodes + 1) * (n_steps * n_nodes))
    key %= max(1, n_steps * n_nodes)
    return {
        "indptr": indptr,
        "step": (key // max(1, n_nodes)).astype(np.uint8),
        "neighbour": (key % max(1, n_nodes)).astype(np.int32),
        "edge": (order % max(1, m)).astype(np.int32),
    }
