"""The graph on disk: immutable arrays in a folder with a manifest, memory-mapped when opened.

===================  ==========  =====================================================================
file                 shape       meaning
===================  ==========  =====================================================================
cui.npy              (n,)        CUIs as bytes, sorted; a node is a position here
groups.npy           (n,)        bit mask of semantic groups, bits as in the manifest
name_begin.npy       (n + 1,)    where each preferred name begins in name.npy
name.npy             (bytes,)    preferred names, UTF-8
label_first.npy      (n + 1,)    where the other names of each concept begin in label_begin.npy
label_begin.npy      (l + 1,)    where each other name begins in label.npy
label.npy            (bytes,)    other names, UTF-8
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
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kg.packing import fill_adjacency, fill_rows
from kg.predicates import Pattern, Predicate, Vocabulary
from ontoground.errors import InputError
from ontoground.files import atomic_directory
from ontoground.warehouse import run_sql

__all__ = [
    "GraphArrays",
    "RepeatedRowsError",
    "adjacency_of",
    "evidence_counts",
    "is_written",
    "open_arrays",
    "write_arrays",
]

MANIFEST = "manifest.json"
BATCH_ROWS = 1 << 20
ARRAY_NAMES = (
    "cui", "groups", "name_begin", "name", "label_first", "label_begin", "label", "indptr", "step", "neighbour", "edge",
    "head", "tail", "predicate", "evidence_begin", "rela", "sab", "rui",
)  # fmt: skip
EDGE_ARRAYS = ("head", "predicate", "tail", "evidence_begin")


class RepeatedRowsError(Exception):
    """Evidence that is the same in all: it would be counted twice."""


@dataclass(frozen=True)
class GraphArrays:
    """The memory-mapped arrays of a graph (shapes: see the module) and what its manifest says."""

    cui: NDArray[np.bytes_]
    groups: NDArray[np.int64]
    name_begin: NDArray[np.int64]
    name: NDArray[np.uint8]
    label_first: NDArray[np.int64]
    label_begin: NDArray[np.int64]
    label: NDArray[np.uint8]
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


def evidence_counts(arrays: GraphArrays) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    """Count edges by predicate, and by predicate and source; an edge counts once for each source that states it."""
    names = [line.predicate for line in arrays.vocabulary.predicates]
    n_sabs, m = len(arrays.sab_names), arrays.predicate.shape[0]
    pairs = np.zeros(len(names) * max(n_sabs, 1), np.int64)
    for start in range(0, m, BATCH_ROWS):
        begins = arrays.evidence_begin[start : start + BATCH_ROWS + 1]
        edge = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
        stated = np.unique(edge * n_sabs + arrays.sab[begins[0] : begins[-1]])
        predicate = arrays.predicate[start + stated // n_sabs].astype(np.int64)
        pairs += np.bincount(predicate * n_sabs + stated % n_sabs, minlength=len(pairs))
    edges = np.bincount(arrays.predicate, minlength=len(names))
    by_sab: dict[str, dict[str, int]] = {}
    for place in np.flatnonzero(pairs):
        by_sab.setdefault(names[place // n_sabs], {})[arrays.sab_names[place % n_sabs]] = int(pairs[place])
    ordered = sorted(range(len(names)), key=names.__getitem__)
    return (
        {names[code]: int(edges[code]) for code in ordered if edges[code]},
        {name: by_sab[name] for name in sorted(by_sab)},
    )


def write_arrays(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    vocabulary: Vocabulary,
    graph_fingerprint: str,
    *,
    distinct: bool = False,
) -> None:
    """Write the graph of ``kg.node``, ``kg.concept``, ``kg.name`` and ``kg.edge_code`` as arrays, whole or not at all.

    Memory is bounded by the edges' numbers (some 40 bytes an edge); evidence and names pass through in batches, names
    in a thread of their own.

    Args:
        connection: the warehouse.
        folder: where to.
        vocabulary: what the numbers of predicates mean.
        graph_fingerprint: what the graph was made of.
        distinct: no row of ``kg.edge_code`` stands there twice; otherwise this is looked at.

    Raises:
        RepeatedRowsError: a row of ``kg.edge_code`` stands there twice.
    """
    with (
        atomic_directory(folder) as part,
        _rows_in_order(connection),
        connection.cursor() as beside,
        ThreadPoolExecutor(max_workers=1, thread_name_prefix="names") as pool,
    ):
        named = pool.submit(_write_names, beside, part)
        relas, sabs = _write_edges(connection, part, distinct=distinct)
        _write_adjacency(part, vocabulary, _count(connection, "select count(*) from kg.node"))
        group_names = named.result()
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


@contextmanager
def _rows_in_order(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Let queries return rows in the order in which their tables were written; all connections do while this lasts."""
    connection.execute("set preserve_insertion_order = true")
    try:
        yield
    finally:
        connection.execute("set preserve_insertion_order = false")


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
    mapped: NDArray[Any] = np.lib.format.open_memmap(  # type: ignore[no-untyped-call]
        path, mode="w+", dtype=np.dtype(dtype), shape=(length,)
    )
    return mapped


class _Texts:
    """Texts one after another in ``<name>.npy``, with where each begins in ``<name>_begin.npy``."""

    def __init__(self, folder: Path, name: str, texts: int, size: int) -> None:
        self.begins = _array(folder, f"{name}_begin", "int64", texts + 1)
        self.bytes = _array(folder, name, "uint8", size)
        self.row = self.place = 0
        self.begins[0] = 0

    def add(self, column: pa.Array) -> None:
        """Append the texts of one batch."""
        encoded = column.cast(pa.large_binary())
        offsets = np.frombuffer(encoded.buffers()[1], np.int64)[encoded.offset : encoded.offset + len(encoded) + 1]
        size = int(offsets[-1] - offsets[0])
        if size:
            data = np.frombuffer(encoded.buffers()[2], np.uint8)
            self.bytes[self.place : self.place + size] = data[offsets[0] : offsets[-1]]
        self.begins[self.row : self.row + len(encoded) + 1] = offsets - offsets[0] + self.place
        self.row, self.place = self.row + len(encoded), self.place + size


def _write_names(connection: duckdb.DuckDBPyConnection, folder: Path) -> list[str]:
    """Write what concepts are called, and return the names of the groups' bits."""
    group_names = _write_nodes(connection, folder)
    run_sql(connection, "kg/label")
    _write_labels(connection, folder)
    return group_names


def _write_nodes(connection: duckdb.DuckDBPyConnection, folder: Path) -> list[str]:
    """Write CUIs, groups and preferred names, and return the names of the groups' bits."""
    names = [
        str(row[0])
        for row in connection.execute(
            "select distinct semantic_group from kg.semantic_group order by semantic_group"
        ).fetchall()
    ]
    n = _count(connection, "select count(*) from kg.concept")
    width = max(1, _count(connection, "select max(strlen(cui)) from kg.concept"))
    cui, groups = _array(folder, "cui", f"S{width}", n), _array(folder, "groups", "int64", n)
    texts = _Texts(folder, "name", n, _count(connection, "select sum(strlen(name)) from kg.concept"))
    row = 0
    query = (
        "select concept.cui, coalesce(concept.name, '') as name, node.group_bits "
        "from kg.concept as concept inner join kg.node as node on concept.cui = node.cui order by node.node"
    )
    for batch in _batches(connection, query):
        end = row + batch.num_rows
        cui[row:end] = _fixed(batch.column(0), width)
        groups[row:end] = batch.column(2).to_numpy()
        texts.add(batch.column(1))
        row = end
    return names


def _write_labels(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Write the other names of each concept, in alphabetical order."""
    n = _count(connection, "select count(*) from kg.concept")
    size = _count(connection, "select sum(strlen(name)) from label")
    texts = _Texts(folder, "label", _count(connection, "select count(*) from label"), size)
    counts = np.zeros(n, np.int64)
    for batch in _batches(connection, "select node, name from label"):
        counts += np.bincount(batch.column(0).to_numpy(), minlength=n)
        texts.add(batch.column(1))
    np.save(folder / "label_first.npy", np.concatenate(([0], np.cumsum(counts))))


def _kind_numbers(connection: duckdb.DuckDBPyConnection, column: str) -> tuple[list[str], NDArray[np.uint16]]:
    """Return the names of RELA or SAB that edges carry, sorted, and the place among them of each kind's name."""
    used = "select distinct kind from kg.edge_code"
    rows = connection.execute(
        f"select kind, coalesce({column}, '') as value from kg.evidence_kind where kind in ({used})"
    ).fetchall()
    names = sorted({str(value) for _, value in rows})
    numbers = np.zeros(max((kind for kind, _ in rows), default=0) + 1, np.uint16)
    for kind, value in rows:
        numbers[kind] = names.index(value)
    return names, numbers


def _fixed(column: pa.Array, width: int) -> NDArray[np.bytes_]:
    """Return texts as bytes of one width; null is empty."""
    encoded = column.cast(pa.large_binary()).fill_null(b"")
    offsets = np.frombuffer(encoded.buffers()[1], np.int64)[encoded.offset : encoded.offset + len(encoded) + 1]
    fixed = np.zeros((len(encoded), width), np.uint8)
    data = encoded.buffers()[2]
    if data is not None:
        fill_rows(fixed, offsets, np.frombuffer(data, np.uint8))
    return fixed.view(f"S{width}")[:, 0]


def _changes(columns: Sequence[NDArray[Any]], before: Sequence[Any] | None) -> NDArray[np.bool_]:
    """Tell which rows differ from the row above them in any column; ``before`` is the row above the first."""
    changed = np.zeros(columns[0].shape[0], bool)
    for place, column in enumerate(columns):
        changed[1:] |= column[1:] != column[:-1]
        changed[:1] |= True if before is None else column[:1] != before[place]
    return changed


def _write_edges(connection: duckdb.DuckDBPyConnection, folder: Path, *, distinct: bool) -> tuple[list[str], list[str]]:
    """Write canonical edges and their evidence in one pass, and return the names of RELA and of SAB.

    Raises:
        RepeatedRowsError: rows are not known to be distinct, and one is the same as the one before it.
    """
    (relas, rela_of), (sabs, sab_of) = (_kind_numbers(connection, column) for column in ("rela", "sab"))
    k = _count(connection, "select count(*) from kg.edge_code")
    width = max(1, _count(connection, "select max(strlen(rui)) from kg.edge_code"))
    rela, sab = _array(folder, "rela", "uint16", k), _array(folder, "sab", "uint16", k)
    rui = _array(folder, "rui", f"S{width}", k)
    row, before, parts = 0, None, []
    for batch in _batches(connection, "select head, predicate, tail, kind, forward, rui from kg.edge_code"):
        end = row + batch.num_rows
        keys = [batch.column(name).to_numpy() for name in ("head", "predicate", "tail")]
        kind, forward = (batch.column(name).to_numpy(zero_copy_only=False) for name in ("kind", "forward"))
        ruis = _fixed(batch.column("rui"), width)
        rela[row:end], sab[row:end], rui[row:end] = rela_of[kind], sab_of[kind], ruis
        is_new = _changes(keys, before and before[:3])
        evidence = (kind, forward, ruis)
        if not distinct and not (is_new | _changes(evidence, before and before[3:])).all():
            raise RepeatedRowsError
        starts = np.flatnonzero(is_new)
        parts.append([*(key[starts] for key in keys), starts + row])
        row, before = end, [column[-1] for column in (*keys, *evidence)]
    begins = np.array([k], np.int64)
    edges = zip(*parts, strict=True) if parts else ([np.empty(0, np.int64)] for _ in range(4))
    for name, dtype, arrays in zip(EDGE_ARRAYS, ("int32", "uint8", "int32", "int64"), edges, strict=True):
        whole = [*arrays, begins] if name == "evidence_begin" else arrays
        np.save(folder / f"{name}.npy", np.concatenate(whole).astype(dtype))
    return relas, sabs


def adjacency_of(
    head: NDArray[np.int32], tail: NDArray[np.int32], predicate: NDArray[np.uint8], vocabulary: Vocabulary, n_nodes: int
) -> dict[str, NDArray[Any]]:
    """Turn canonical edges into one adjacency of all steps, both directions.

    Args:
        head, tail, predicate: the edges. Shape: (m,)
        vocabulary: whose predicates the numbers mean.
        n_nodes: number of concepts.

    Returns:
        ``indptr``, ``step``, ``neighbour`` and ``edge`` as the module describes them.
    """
    m = head.shape[0]
    back = np.array([2 * code + (not line.symmetric) for code, line in enumerate(vocabulary.predicates)], np.uint8)
    indptr = np.zeros(n_nodes + 1, np.int64)
    step, neighbour, edge = np.empty(2 * m, np.uint8), np.empty(2 * m, np.int32), np.empty(2 * m, np.int32)
    fill_adjacency(head, tail, predicate, back, indptr, step, neighbour, edge)
    return {"indptr": indptr, "step": step, "neighbour": neighbour, "edge": edge}


def _write_adjacency(folder: Path, vocabulary: Vocabulary, n_nodes: int) -> None:
    head, tail, predicate = (np.load(folder / f"{name}.npy") for name in ("head", "tail", "predicate"))
    for name, array in adjacency_of(head, tail, predicate, vocabulary, n_nodes).items():
        np.save(folder / f"{name}.npy", array)
