"""The graph, or a part of it, for other tools: networkx, RDF, KGX tables, GraphML.

Rows pass through DuckDB in batches, so that what is in memory does not grow with the edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ground.errors import InputError
from ground.storage.files import atomic_directory, atomic_path
from ground.storage.sqlfiles import quoted
from ground.storage.tables import read_table
from ground.storage.warehouse import open_database, run_sql
from kg.arrays import GraphArrays
from kg.graph import ConceptGraph
from kg.predicates import data_folder

if TYPE_CHECKING:
    import duckdb
    import networkx
    import rdflib

__all__ = ["CONCEPT_BASE", "FILES", "PREDICATE_BASE", "WHOLE", "Format", "Part", "part_of", "to_networkx", "to_rdf",
           "write_graph"]  # fmt: skip

Format = Literal["kgx", "jsonl", "graphml", "rdf", "nquads"]
Numbers = NDArray[np.int64]

# As sql/kg/export/rdf.sql has them.
CONCEPT_BASE = "https://uts.nlm.nih.gov/uts/umls/concept/"
PREDICATE_BASE = "urn:ontoground:predicate:"
NAMED_THING = "biolink:NamedThing"
CHUNK = 1 << 17
FILES: dict[Format, dict[str, str]] = {
    "kgx": {"nodes.tsv": "kgx_nodes", "edges.tsv": "kgx_edges"},
    "jsonl": {"nodes.jsonl": "kgx_node", "edges.jsonl": "kgx_edge"},
    "graphml": {"graph.graphml": "graphml"},
    "rdf": {"graph.ttl": "triples"},
    "nquads": {"graph.nq": "nquads"},
}
"""The files of each format, and the view of ``sql/kg/export`` that each holds; several go into a folder."""
COPIED = {
    "kgx": "header, delimiter '\t', quote '', escape ''",
    "jsonl": "format json",
}
LINES = "header false, delimiter '\x01', quote '', escape ''"
TEXTS = pa.list_(pa.string())
EVIDENCE = pa.struct([("sab", pa.string()), ("rela", pa.string()), ("rui", pa.string())])
NODES = pa.schema([("cui", pa.string()), ("name", pa.large_string()), ("synonyms", pa.large_list(pa.large_string())),
                   ("groups", TEXTS), ("category", TEXTS), ("types", TEXTS)])  # fmt: skip
EDGES = pa.schema([("edge", pa.int64()), ("head", pa.string()), ("predicate", pa.string()), ("inverse", pa.string()),
                   ("biolink", pa.string()), ("tail", pa.string()), ("evidence", pa.large_list(EVIDENCE))])  # fmt: skip


@dataclass(frozen=True)
class Part:
    """Concepts and canonical edges by number, sorted. Shapes: (n,), (m,). None: all of them, without ``broader``."""

    nodes: Numbers | None = None
    edges: Numbers | None = None


WHOLE = Part()


def part_of(
    graph: ConceptGraph,
    concepts: Iterable[str] | None = None,
    hops: int = 1,
    predicates: Iterable[str] | None = None,
) -> Part:
    """Return the part of a graph around some concepts, or of some predicates.

    Args:
        graph: the graph.
        concepts: CUIs; without them every concept that an edge of the predicates has at an end.
        hops: how many edges away from the concepts others may be.
        predicates: only edges of these, named in either direction, are walked and kept; where left out all but
            ``broader``, which says what other edges say.

    Raises:
        InputError: the release has no such concept, or the graph no such predicate.
    """
    arrays = graph.arrays
    if concepts is None and predicates is None:
        return WHOLE
    head, tail = arrays.head, arrays.tail
    if predicates is not None:
        is_kept = np.isin(arrays.predicate, [arrays.vocabulary.step_of(name) // 2 for name in predicates])
    else:
        is_kept = _said(arrays, arrays.predicate)
    is_inside = np.zeros(len(graph), bool)
    if concepts is not None:
        is_inside[graph.nodes(concepts)] = True
    for _ in range(hops if concepts is not None else 1):
        reached = is_kept & (is_inside[head] | is_inside[tail]) if concepts is not None else is_kept
        is_inside[head[reached]] = is_inside[tail[reached]] = True
    return Part(np.flatnonzero(is_inside), np.flatnonzero(is_kept & is_inside[head] & is_inside[tail]))


def to_networkx(graph: ConceptGraph, part: Part) -> networkx.MultiDiGraph:
    """Return a part of the graph, edges in their canonical direction and keyed by predicate.

    Nodes carry ``name``, ``groups`` and ``category`` (Biolink). Edges carry ``biolink``, and ``rela``, ``sab`` and
    ``rui`` of their evidence; what is several is joined by ``|``, so that networkx can write it in each of its formats.
    """
    import networkx

    network = networkx.MultiDiGraph()
    for batch in _node_batches(graph.arrays, part, None):
        for row in batch.to_pylist():
            groups, category = ("|".join(row[name]) for name in ("groups", "category"))
            network.add_node(row["cui"], name=row["name"], groups=groups, category=category)
    for batch in _edge_batches(graph.arrays, part):
        for row in batch.to_pylist():
            evidence = {
                name: "|".join(dict.fromkeys(piece[name] for piece in row["evidence"]))
                for name in ("rela", "sab", "rui")
            }
            network.add_edge(row["head"], row["tail"], key=row["predicate"], biolink=row["biolink"], **evidence)
    return network


def to_rdf(graph: ConceptGraph, part: Part, types: pa.Array | None = None) -> rdflib.Graph:
    """Return a part of the graph as ``write_graph`` writes it, with prefixes for SPARQL: umls, kg, skos, biolink."""
    import rdflib
    from rdflib.namespace import SKOS

    triples = rdflib.Graph()
    spaces = {"skos": SKOS, "umls": CONCEPT_BASE, "kg": PREDICATE_BASE, "biolink": "https://w3id.org/biolink/vocab/"}
    for prefix, space in spaces.items():
        triples.bind(prefix, space)
    with _queries(graph, part, types) as connection:
        lines = connection.execute("from triples").fetchall()
    return triples.parse(data="\n".join(line for (line,) in lines), format="nt")


def write_graph(
    graph: ConceptGraph, target: Path, file_format: Format, part: Part = WHOLE, types: pa.Array | None = None
) -> None:
    """Write a part of the graph, whole or not at all, in the order of concepts and edges.

    ===========  ===========================================================================================
    kgx          ``nodes.tsv`` and ``edges.tsv``; ``relation`` keeps our predicate beside the Biolink one
    jsonl        the same as KGX JSON Lines, with lists
    graphml      one file
    rdf          N-Triples, which Turtle contains: SKOS, both directions of an edge, its evidence as rdf:Statement
    nquads       the same; what is said of an edge stands in the graph of each of its sources
    ===========  ===========================================================================================

    Args:
        graph: the graph.
        target: a file, or the folder of two files; what is there is replaced.
        file_format: one of ``FILES``.
        part: what to write.
        types: semantic types (TUIs) of each concept of the graph, in the order of CUIs; none where left out.

    Raises:
        InputError: the table of Biolink terms is malformed, or ``types`` are of another graph.
    """
    files, options = FILES[file_format], COPIED.get(file_format, LINES)
    whole = atomic_directory(target) if len(files) > 1 else atomic_path(target)
    with _queries(graph, part, types) as connection, whole as written:
        for name, view in files.items():
            path = written / name if len(files) > 1 else written
            connection.execute(f"copy (from {view}) to {quoted(str(path))} ({options})")


@contextmanager
def _queries(graph: ConceptGraph, part: Part, types: pa.Array | None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a database with the views of ``sql/kg/export``, each to be read once."""
    if types is not None and len(types) != len(graph):
        raise InputError(
            "the graph is of another release than the warehouse",
            found=f"{len(types)} concepts",
            expected=str(len(graph)),
            do="run `ontoground graph build` first",
        )
    with open_database() as connection:
        nodes, edges = _node_batches(graph.arrays, part, types), _edge_batches(graph.arrays, part)
        connection.register("graph_node", pa.RecordBatchReader.from_batches(NODES, nodes))
        connection.register("graph_edge", pa.RecordBatchReader.from_batches(EDGES, edges))
        for name in ("kgx", "rdf", "graphml"):
            run_sql(connection, f"kg/export/{name}")
        yield connection


def _terms(kind: str) -> dict[str, str]:
    rows = read_table(data_folder() / "kgx.tsv", ("kind", "name", "biolink", "source"))
    return {row["name"]: row["biolink"] for row in rows if row["kind"] == kind}


def _chunks(numbers: Numbers | None, n: int) -> Iterator[Numbers]:
    for begin in range(0, n if numbers is None else len(numbers), CHUNK):
        yield np.arange(begin, min(begin + CHUNK, n)) if numbers is None else numbers[begin : begin + CHUNK]


def _ranges(begins: Numbers, places: Numbers) -> tuple[Numbers, Numbers]:
    """Return where each range begins once they stand one after another, (n + 1,), and all that is in them."""
    lengths = begins[places + 1] - begins[places]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return offsets, np.arange(offsets[-1]) + np.repeat(begins[places] - offsets[:-1], lengths)


def _texts(begins: Numbers, data: NDArray[np.uint8], places: Numbers) -> pa.Array:
    offsets, index = _ranges(begins, places)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data[index])]
    return pa.Array.from_buffers(pa.large_string(), len(places), buffers)


def _ascii(texts: NDArray[np.bytes_]) -> pa.Array:
    return pa.array(np.char.decode(texts, "ascii"), pa.string())


def _node_batches(arrays: GraphArrays, part: Part, types: pa.Array | None) -> Iterator[pa.RecordBatch]:
    masks, biolink = np.unique(arrays.groups), _terms("group")
    named = [[name for bit, name in enumerate(arrays.group_names) if int(mask) >> bit & 1] for mask in masks]
    categories = [sorted({biolink.get(name, NAMED_THING) for name in names}) or [NAMED_THING] for names in named]
    groups, category = pa.array(named, TEXTS), pa.array(categories, TEXTS)
    for nodes in _chunks(part.nodes, len(arrays.cui)):
        first, labels = _ranges(arrays.label_first, nodes)
        mask = np.searchsorted(masks, arrays.groups[nodes])
        columns = [
            _ascii(arrays.cui[nodes]),
            _texts(arrays.name_begin, arrays.name, nodes),
            pa.LargeListArray.from_arrays(first, _texts(arrays.label_begin, arrays.label, labels)),
            groups.take(pa.array(mask)),
            category.take(pa.array(mask)),
            pa.nulls(len(nodes), TEXTS) if types is None else types.take(pa.array(nodes)).cast(TEXTS),
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=NODES)


def _said(arrays: GraphArrays, predicates: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Tell which edges, by their predicates, say something of their own: all but those of ``broader``."""
    is_said: NDArray[np.bool_] = predicates != arrays.vocabulary.step_of("broader") // 2
    return is_said


def _edge_batches(arrays: GraphArrays, part: Part) -> Iterator[pa.RecordBatch]:
    lines, terms = arrays.vocabulary.predicates, _terms("predicate")
    words = [
        pa.array([line.predicate for line in lines]),
        pa.array([line.inverse for line in lines]),
        pa.array([terms.get(line.predicate, "biolink:related_to") for line in lines]),
    ]
    sabs, relas = (pa.array(names, pa.string()) for names in (arrays.sab_names, arrays.rela_names))
    for chunk in _chunks(part.edges, len(arrays.head)):
        edges = chunk if part.edges is not None else chunk[_said(arrays, arrays.predicate[chunk])]
        first, pieces = _ranges(arrays.evidence_begin, edges)
        sab, rela = sabs.take(pa.array(arrays.sab[pieces])), relas.take(pa.array(arrays.rela[pieces]))
        evidence = pa.StructArray.from_arrays([sab, rela, _ascii(arrays.rui[pieces])], fields=list(EVIDENCE))
        predicate, inverse, biolink = (column.take(pa.array(arrays.predicate[edges])) for column in words)
        head, tail = _ascii(arrays.cui[arrays.head[edges]]), _ascii(arrays.cui[arrays.tail[edges]])
        columns = [
            pa.array(edges), head, predicate, inverse, biolink, tail, pa.LargeListArray.from_arrays(first, evidence),
        ]  # fmt: skip
        yield pa.RecordBatch.from_arrays(columns, schema=EDGES)
