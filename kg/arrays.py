"""The graph on disk: immutable arrays in a folder with a manifest, memory-mapped when opened.

===================  ==========  =====================================================================
file                 shape       meaning
===================  ==========  =====================================================================
cui.npy              (n,)        CUIs as bytes, sorted; a node is a position here
groups.npy           (n,)        bit mask of semantic groups, bits as in the manifest
name_begin.npy       (n + 1,)    where each preferred name begins in name.npy
name.npy             (bytes,)    preferred names, UTF-8
indptr.npy           (n + 1,)    adjacency of a node: begin and end in step.npy, neighbour.npy, edge.npy
step.npy             (2 m,)      step of each adjacency entry (2 i: predicate i forwards, 2 i + 1: backwards)
neighbour.npy        (2 m,)      the node at the other end; sorted within a node by step, then neighbour
edge.npy             (2 m,)      the canonical edge behind the entry
head, tail, predicate (m,)       canonical edges, sorted
evidence_begin.npy   (m + 1,)    evidence of an edge: begin and end in rela.npy, sab.npy, rui.npy
rela, sab.npy        (k,)        numbers of names in the manifest; the first is what a path shows
rui.npy              (k,)        RUIs as bytes
===================  ==========  =====================================================================
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kg.predicates import Pattern, Predicate, Vocabulary
from ontoground.errors import InputError
from ontoground.files import atomic_directory

__all__ = ["GraphArrays", "is_written", "open_arrays", "write_arrays"]

MANIFEST = "manifest.json"
BATCH_ROWS = 1 << 20
ARRAY_NAMES = (
    "cui", "groups", "name_begin", "name", "indptr", "step", "neighbour", "edge",
    "head", "tail", "predicate", "evidence_begin", "rela", "sab", "rui",
)  # fmt: skip


@dataclass(frozen=True)
class GraphArrays:
    """The memory-mapped arrays of a graph (shapes: see the module) and what its manifest says."""

    cui: NDArray[np.bytes_]
    groups: NDArray[np.int64]
    name_begin: NDArray[np.int64]
    name: NDArray[np.uint8]
    indptr: NDArray[np.int64]
    step: NDArray[np.uint8]
    neighbour: NDArray[np.int32]
    edge: NDArray[np.int32]
    head: NDArray[np.int32]
    tail: NDArray[np.int32]
    predicate: NDArray[np.uint8]
    evidence_begin: NDArray[np.int64]
    rela: NDArray[np.uint16]
    sab: NDArray[np.uint16]
    rui: NDArray[np.bytes_]
    rela_names: tuple[str, ...]
    sab_names: tuple[str, ...]
    group_names: tuple[str, ...]
    vocabulary: Vocabulary


def is_written(folder: Path, expected: str) -> bool:
    """Tell whether the folder holds a graph with this fingerprint."""
    path = folder / MANIFEST
    return path.is_file() and json.loads(path.read_text(encoding="utf-8")).get("fingerprint") == expected


def open_arrays(folder: Path) -> GraphArrays:
    """Map a graph's arrays into memory; nothing is read yet.

    Raises:
        InputError: the folder holds no graph, or an incomplete one.
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError("there is no graph here", file=path, do="run `ontoground graph build` first")
    manifest = json.loads(path.read_text(encoding="utf-8"))
    try:
        arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ARRAY_NAMES}
    except (OSError, ValueError) as error:
        raise InputError(
            "the graph's arrays are incomplete", file=folder, found=str(error), do="run `ontoground graph build` again"
        ) from error
    return GraphArrays(
        **arrays,
        rela_names=tuple(manifest["rela_names"]),
        sab_names=tuple(manifest["sab_names"]),
        group_names=tuple(manifest["group_names"]),
        vocabulary=_vocabulary_from(manifest),
    )


def write_arrays(
    connection: duckdb.DuckDBPyConnection, folder: Path, vocabulary: Vocabulary, graph_fingerprint: str
) -> None:
    """Write the graph of ``kg.node``, ``kg.concept`` and ``kg.edge`` as arrays, whole or not at all.

    Memory is bounded by the edges' numbers (some 40 bytes an edge); evidence and names pass through in batches.
    """
    with atomic_directory(folder) as part:
        group_names = _write_nodes(connection, part)
        relas, sabs = (_distinct(connection, column) for column in ("rela", "sab"))
        _write_edges(connection, part, vocabulary)
        _write_adjacency(part, vocabulary)
        manifest = {
            "fingerprint": graph_fingerprint,
            "nodes": int(np.load(part / "cui.npy", mmap_mode="r").shape[0]),
            "edges": int(np.load(part / "head.npy", mmap_mode="r").shape[0]),
            "evidence": int(np.load(part / "rela.npy", mmap_mode="r").shape[0]),
            "group_names": group_names,
            "rela_names": relas,
            "sab_names": sabs,
            "predicates": [asdict(line) for line in vocabulary.predicates],
            "patterns": [asdict(line) for line in vocabulary.patterns],
        }
        (part / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def _vocabulary_from(manifest: dict[str, Any]) -> Vocabulary:
    predicates = [
        Predicate(**{**row, "head_groups": tuple(row["head_groups"]), "tail_groups": tuple(row["tail_groups"])})
        for row in manifest["predicates"]
    ]
    patterns = [Pattern(**{**row, "steps": tuple(row["steps"])}) for row in manifest["patterns"]]
    return Vocabulary(tuple(predicates), tuple(patterns))


def _distinct(connection: duckdb.DuckDBPyConnection, column: str) -> list[str]:
    rows = connection.execute(f"select distinct coalesce({column}, '') as value from kg.edge order by value").fetchall()
    return [str(value) for (value,) in rows]


def _batches(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[pa.RecordBatch]:
    yield from connection.sql(query).to_arrow_reader(BATCH_ROWS)


def _count(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    ((value,),) = connection.execute(query).fetchall()
    return int(value or 0)


def _array(folder: Path, name: str, dtype: str, length: int) -> NDArray[Any]:
    """Create an array on disk; one of no length cannot be mapped and is written at once."""
    path = folder / f"{name}.npy"
    if length == 0:
        np.save(path, np.empty(0, dtype))
        return np.empty(0, dtype)
    mapped: NDArray[Any] = np.lib.format.open_memmap(path, mode="w+", dtype=np.dtype(dtype), shape=(length,))
    return mapped


def _write_nodes(connection: duckdb.DuckDBPyConnection, folder: Path) -> list[str]:
    n = _count(connection, "select count(*) from kg.concept")
    width = max(1, _count(connection, "select max(strlen(cui)) from kg.concept"))
    name_bytes = _count(connection, "select sum(strlen(name)) from kg.concept")
    names = [str(row[0]) for row in connection.execute(
        "select distinct semantic_group from kg.semantic_group order by semantic_group"
    ).fetchall()]  # fmt: skip
    cui, groups = _array(folder, "cui", f"S{width}", n), _array(folder, "groups", "int64", n)
    begins, text = _array(folder, "name_begin", "int64", n + 1), _array(folder, "name", "uint8", name_bytes)
    row, place = 0, 0
    query = (
        "select cui, coalesce(name, '') as name, coalesce(list_sum([1::bigint << (list_position($1, g) - 1) "
        "for g in groups]), 0)::bigint as mask from kg.concept order by cui"
    )
    for batch in connection.sql(query, params=[names]).to_arrow_reader(BATCH_ROWS):
        end = row + batch.num_rows
        cui[row:end] = batch.column(0).to_numpy(zero_copy_only=False).astype(f"S{width}")
        groups[row:end] = batch.column(2).to_numpy()
        encoded = pa.array(batch.column(1)).cast(pa.large_binary())
        offsets = np.frombuffer(encoded.buffers()[1], np.int64)[encoded.offset : encoded.offset + len(encoded) + 1]
        size = int(offsets[-1] - offsets[0])
        if size:
            text[place : place + size] = np.frombuffer(encoded.buffers()[2], np.uint8)[offsets[0] : offsets[-1]]
        begins[row : end + 1] = offsets - offsets[0] + place
        row, place = end, place + size
    return names


EDGE_QUERY = """
    select
        head.node as head,
        code.code as predicate,
        tail.node as tail,
        rela.number as rela,
        sab.number as sab,
        coalesce(edge.rui, '') as rui
    from kg.edge as edge
    inner join predicate_code as code on edge.predicate = code.predicate
    inner join kg.node as head on edge.head_cui = head.cui
    inner join kg.node as tail on edge.tail_cui = tail.cui
    inner join rela_number as rela on coalesce(edge.rela, '') = rela.value
    inner join sab_number as sab on coalesce(edge.sab, '') = sab.value
    order by head.node, code.code, tail.node, edge.direction, edge.sab, edge.rela, edge.rui, edge.rel
"""


def _number_names(connection: duckdb.DuckDBPyConnection, vocabulary: Vocabulary) -> None:
    for column in ("rela", "sab"):
        values = _distinct(connection, column)
        connection.register(
            f"{column}_number",
            pa.table({"value": pa.array(values, pa.string()), "number": pa.array(range(len(values)), pa.uint16())}),
        )
    names = [line.predicate for line in vocabulary.predicates]
    connection.register(
        "predicate_code", pa.table({"predicate": names, "code": pa.array(range(len(names)), pa.uint8())})
    )


def _write_edges(connection: duckdb.DuckDBPyConnection, folder: Path, vocabulary: Vocabulary) -> None:
    """Write canonical edges and their evidence in one sorted pass."""
    _number_names(connection, vocabulary)
    k = _count(connection, "select count(*) from kg.edge")
    m = _count(connection, "select count(*) from (select distinct head_cui, predicate, tail_cui from kg.edge)")
    width = max(1, _count(connection, "select max(strlen(rui)) from kg.edge"))
    rela, sab = _array(folder, "rela", "uint16", k), _array(folder, "sab", "uint16", k)
    rui = _array(folder, "rui", f"S{width}", k)
    edges = {
        "head": _array(folder, "head", "int32", m),
        "predicate": _array(folder, "predicate", "uint8", m),
        "tail": _array(folder, "tail", "int32", m),
    }
    begins = _array(folder, "evidence_begin", "int64", m + 1)
    row, edge, last = 0, 0, (-1, -1, -1)
    for batch in _batches(connection, EDGE_QUERY):
        end = row + batch.num_rows
        keys = [batch.column(name).to_numpy().astype(np.int64) for name in ("head", "predicate", "tail")]
        rela[row:end], sab[row:end] = batch.column("rela").to_numpy(), batch.column("sab").to_numpy()
        rui[row:end] = batch.column("rui").to_numpy(zero_copy_only=False).astype(f"S{width}")
        is_new = np.zeros(batch.num_rows, bool)
        for key, before in zip(keys, last, strict=True):
            is_new |= key != np.concatenate(([before], key[:-1]))
        starts = np.flatnonzero(is_new)
        for name, key in zip(edges, keys, strict=True):
            edges[name][edge : edge + starts.size] = key[starts]
        begins[edge : edge + starts.size] = starts + row
        row, edge, last = end, edge + starts.size, tuple(int(key[-1]) for key in keys)  # type: ignore[assignment]
    begins[m] = k
    for name in ("rela_number", "sab_number", "predicate_code"):
        connection.unregister(name)


def _write_adjacency(folder: Path, vocabulary: Vocabulary) -> None:
    """Turn canonical edges into one adjacency of all steps, both directions."""
    head, tail = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("head", "tail"))
    code = np.load(folder / "predicate.npy", mmap_mode="r").astype(np.uint8)
    n = np.load(folder / "cui.npy", mmap_mode="r").shape[0]
    m = head.shape[0]
    backwards = np.array([0 if line.symmetric else 1 for line in vocabulary.predicates], np.uint8)
    source = np.concatenate((head, tail))
    target = np.concatenate((tail, head))
    step = np.concatenate((2 * code, 2 * code + backwards[code]))
    key = (source.astype(np.int64) << 38) | (step.astype(np.int64) << 30)
    order = np.argsort(key.astype(np.uint64) + target.astype(np.uint64), kind="stable")
    np.save(folder / "step.npy", step[order])
    np.save(folder / "neighbour.npy", target[order].astype(np.int32))
    np.save(folder / "edge.npy", (order % max(m, 1)).astype(np.int32))
    indptr = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(source, minlength=n), out=indptr[1:])
    np.save(folder / "indptr.npy", indptr)
