"""Parts of the graph for other tools: networkx, RDF (SKOS and our own predicates), KGX tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ground.storage.files import atomic_directory
from ground.storage.sqlfiles import quoted, sql_text
from ground.storage.tables import read_table
from ground.storage.warehouse import open_database
from kg.arrays import GraphArrays
from kg.graph import ConceptGraph
from kg.predicates import data_folder

if TYPE_CHECKING:
    import networkx
    import rdflib

__all__ = ["CONCEPT_BASE", "PREDICATE_BASE", "to_kgx", "to_networkx", "to_rdf"]

CONCEPT_BASE = "https://uts.nlm.nih.gov/uts/umls/concept/"
PREDICATE_BASE = "urn:ontoground:predicate:"
NAMED_THING = "biolink:NamedThing"
CHUNK = 1 << 20

NODE_SCHEMA = pa.schema([("node", pa.int64()), ("cui", pa.string()), ("name", pa.large_string()), ("mask", pa.int64())])
EDGE_SCHEMA = pa.schema(
    [
        ("edge", pa.int64()),
        ("head", pa.int64()),
        ("tail", pa.int64()),
        ("head_cui", pa.string()),
        ("code", pa.uint8()),
        ("tail_cui", pa.string()),
        ("sab", pa.uint16()),
        ("rui", pa.string()),
    ]
)


def to_networkx(graph: ConceptGraph, cuis: Iterable[str]) -> networkx.MultiDiGraph:
    """Return the canonical edges between some concepts, keyed by predicate.

    Nodes carry ``name`` and ``groups``; edges carry ``rela``, ``sab`` and ``rui`` of their first evidence.

    Raises:
        InputError: the release has no such concept.
    """
    import networkx

    chosen = sorted(set(cuis))
    network = networkx.MultiDiGraph()
    for cui in chosen:
        network.add_node(cui, name=graph.name(cui), groups=graph.groups(cui))
    for edge in graph.edges_between(chosen, canonical=True):
        network.add_edge(edge.head, edge.tail, key=edge.predicate, rela=edge.rela, sab=edge.sab, rui=edge.rui)
    return network


def to_rdf(graph: ConceptGraph, cuis: Iterable[str]) -> rdflib.Graph:
    """Return some concepts as SKOS: preferred and other names, ``skos:broader`` for is_a, our predicates otherwise.

    Every edge stands in both directions under its two names; names are ``skos:prefLabel`` and ``skos:altLabel``.

    Raises:
        InputError: the release has no such concept.
    """
    import rdflib
    from rdflib.namespace import RDF, SKOS

    chosen = sorted(set(cuis))
    concept, predicate = rdflib.Namespace(CONCEPT_BASE), rdflib.Namespace(PREDICATE_BASE)
    triples = rdflib.Graph()
    triples.bind("skos", SKOS)
    triples.bind("umls", concept)
    triples.bind("kg", predicate)
    for cui in chosen:
        triples.add((concept[cui], RDF.type, SKOS.Concept))
        preferred, *others = graph.names(cui)
        triples.add((concept[cui], SKOS.prefLabel, rdflib.Literal(preferred, lang="en")))
        for other in others:
            triples.add((concept[cui], SKOS.altLabel, rdflib.Literal(other, lang="en")))
        triples.add((concept[cui], SKOS.notation, rdflib.Literal(cui)))
    for edge in graph.edges_between(chosen):
        head, tail = concept[edge.head], concept[edge.tail]
        triples.add((head, predicate[edge.predicate], tail))
        if edge.predicate == "is_a":
            triples.add((head, SKOS.broader, tail))
        if edge.predicate == "has_subtype":
            triples.add((head, SKOS.narrower, tail))
    return triples


def _terms(kind: str) -> dict[str, str]:
    rows = read_table(data_folder() / "kgx.tsv", ("kind", "name", "biolink", "source"))
    return {row["name"]: row["biolink"] for row in rows if row["kind"] == kind}


def _texts(begins: NDArray[np.int64], data: NDArray[np.uint8]) -> pa.Array:
    """Return texts that stand one after another as an Arrow array."""
    offsets = np.ascontiguousarray(begins) - begins[0]
    text = np.ascontiguousarray(data[int(begins[0]) : int(begins[-1])])
    buffers = [None, pa.py_buffer(offsets.astype(np.int64)), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)


def _cuis(arrays: GraphArrays, nodes: NDArray[np.int64]) -> pa.Array:
    return pa.array(np.char.decode(arrays.cui[nodes], "ascii"), pa.string())


def _chunks(n: int) -> Iterator[NDArray[np.int64]]:
    for begin in range(0, n, CHUNK):
        yield np.arange(begin, min(begin + CHUNK, n), dtype=np.int64)


def _node_batches(arrays: GraphArrays) -> Iterator[pa.RecordBatch]:
    for nodes in _chunks(arrays.cui.shape[0]):
        names = _texts(arrays.name_begin[nodes[0] : nodes[-1] + 2], arrays.name)
        columns = [pa.array(nodes), _cuis(arrays, nodes), names, pa.array(arrays.groups[nodes])]
        yield pa.RecordBatch.from_arrays(columns, schema=NODE_SCHEMA)


def _edge_batches(arrays: GraphArrays) -> Iterator[pa.RecordBatch]:
    for edges in _chunks(arrays.head.shape[0]):
        head, tail = arrays.head[edges].astype(np.int64), arrays.tail[edges].astype(np.int64)
        first = arrays.evidence_begin[edges]
        columns = [
            pa.array(edges),
            pa.array(head),
            pa.array(tail),
            _cuis(arrays, head),
            pa.array(arrays.predicate[edges], pa.uint8()),
            _cuis(arrays, tail),
            pa.array(arrays.sab[first], pa.uint16()),
            pa.array(np.char.decode(arrays.rui[first], "ascii"), pa.string()),
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=EDGE_SCHEMA)


def _kgx_tables(arrays: GraphArrays, nodes: NDArray[np.int32] | None) -> dict[str, pa.Table]:
    groups, predicates = _terms("group"), _terms("predicate")
    names = [line.predicate for line in arrays.vocabulary.predicates]
    masks = np.unique(arrays.groups)
    categories = [
        "|".join(
            sorted({groups.get(name, NAMED_THING) for bit, name in enumerate(arrays.group_names) if mask >> bit & 1})
        )
        or NAMED_THING
        for mask in (int(mask) for mask in masks)
    ]
    wanted = np.arange(arrays.cui.shape[0]) if nodes is None else nodes
    return {
        "category": pa.table({"mask": masks, "category": categories}),
        "predicate": pa.table(
            {
                "code": pa.array(range(len(names)), pa.uint8()),
                "predicate": names,
                "biolink": [predicates.get(name, "biolink:related_to") for name in names],
            }
        ),
        "source": pa.table(
            {
                "number": pa.array(range(len(arrays.sab_names)), pa.uint16()),
                "sab": pa.array(arrays.sab_names, pa.string()),
            }
        ),
        "wanted": pa.table({"node": pa.array(wanted, pa.int64())}),
    }


def to_kgx(graph: ConceptGraph, folder: Path, cuis: Iterable[str] | None = None) -> Path:
    """Write ``nodes.tsv`` and ``edges.tsv`` in the KGX format, whole or not at all.

    Edges stand once, in their canonical direction, with the SAB and RUI of their first evidence; the column
    ``relation`` keeps our own predicate beside the Biolink one. Rows pass through DuckDB in batches.

    Args:
        graph: the graph.
        folder: where the two files go; a folder that is there is replaced.
        cuis: only these concepts and the edges between them; all where left out.

    Raises:
        InputError: the table of Biolink terms is malformed, or the release has no such concept.
    """
    arrays, nodes = graph.arrays, None if cuis is None else graph.nodes(cuis)
    readers = {
        "node": pa.RecordBatchReader.from_batches(NODE_SCHEMA, _node_batches(arrays)),
        "edge": pa.RecordBatchReader.from_batches(EDGE_SCHEMA, _edge_batches(arrays)),
    }
    with atomic_directory(folder) as part, open_database() as connection:
        for name, rows in {**_kgx_tables(arrays, nodes), **readers}.items():
            connection.register(name, rows)
        for kind in ("nodes", "edges"):
            target = quoted(str(part / f"{kind}.tsv"))
            query = sql_text(f"kg/export/kgx_{kind}").rstrip().rstrip(";")
            connection.execute(f"copy ({query}) to {target} (header, delimiter '\t', quote '', escape '')")
    return folder
