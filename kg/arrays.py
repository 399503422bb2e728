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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ground.errors import InputError
from kg.predicates import Pattern, Predicate, Vocabulary

__all__ = ["MANIFEST", "GraphArrays", "evidence_counts", "is_written", "open_arrays"]

MANIFEST = "manifest.json"
COUNTED_ROWS = 1 << 15
"""Edges whose sources are counted at once: a flag for each edge and source has to stay in a cache."""


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
        names = [name for name, kind in GraphArrays.__annotations__.items() if kind.startswith("NDArray")]
        # Plain arrays over the same pages: indexing a memmap makes a new one each time.
        arrays = {name: np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r")) for name in names}
    except (OSError, ValueError) as error:
        raise InputError(
            "the arrays of the graph are incomplete",
            file=folder,
            found=str(error),
            do="run `ontoground graph build` again",
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
    for start in range(0, m, COUNTED_ROWS):
        begins = arrays.evidence_begin[start : start + COUNTED_ROWS + 1]
        edge = np.repeat(np.arange(len(begins) - 1) * n_sabs, np.diff(begins))
        states = np.zeros((len(begins) - 1) * n_sabs, bool)
        states[edge + arrays.sab[begins[0] : begins[-1]]] = True
        stated = np.flatnonzero(states)
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


def _vocabulary_from(manifest: dict[str, Any]) -> Vocabulary:
    predicates = [
        Predicate(**{**row, "head_groups": tuple(row["head_groups"]), "tail_groups": tuple(row["tail_groups"])})
        for row in manifest["predicates"]
    ]
    patterns = [Pattern(**{**row, "steps": tuple(row["steps"])}) for row in manifest["patterns"]]
    return Vocabulary(tuple(predicates), tuple(patterns))
