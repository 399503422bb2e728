"""A graph whose degrees are skewed like those of the real release, made of numbers: for benchmarks of queries.

The open world's filler has no hubs. Here ranks of concepts are drawn from power laws, so that a few classes have many
thousands of children, a few drugs and problems most of the relations, and a cohort meets mostly those.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kg.arrays import GraphArrays
from kg.predicates import Vocabulary, read_vocabulary
from kg.writing import adjacency_of

__all__ = ["CONCEPTS", "cohort", "open_skewed", "write_skewed"]

CONCEPTS = 3_400_000
"""Concepts of the real release."""

SHARES = {"DISO": 0.4, "CHEM": 0.2, "PROC": 0.12, "ANAT": 0.08, "PHYS": 0.03, "DEVI": 0.02, "LIVB": 0.15}
"""Of each semantic group; kinds stand one after another, the most popular concept of each first."""


@dataclass(frozen=True)
class _Kind:
    """How edges of a predicate are drawn: groups of the ends, edges for each concept, how skewed the ends are."""

    predicate: str
    head: str
    tail: str
    edges: float
    head_skew: float = 2.0
    tail_skew: float = 2.0


# A rank is n u^skew for u uniform on (0, 1]: at skew 3 half of the draws fall on the first eighth.
KINDS = (
    _Kind("treats", "CHEM", "DISO", 0.03, 3, 3),
    _Kind("treats", "PROC", "DISO", 0.01, 2.5, 2.5),
    _Kind("prevents", "CHEM", "DISO", 0.003, 3, 3),
    _Kind("diagnoses", "PROC", "DISO", 0.002, 3, 3),
    _Kind("contraindicated_with", "CHEM", "DISO", 0.02, 3, 3),
    _Kind("causes", "DISO", "DISO", 0.1, 1.5, 2),
    _Kind("causes", "LIVB", "DISO", 0.02, 2, 1.5),
    _Kind("associated_with", "DISO", "DISO", 0.2, 1.25, 1.75),
    _Kind("associated_with", "DISO", "CHEM", 0.05, 1.5, 2),
    _Kind("related_to", "CHEM", "DISO", 0.03, 2.5, 2),
    _Kind("co-occurs_with", "DISO", "DISO", 0.02, 2, 2),
    _Kind("classified_as", "DISO", "DISO", 0.1, 1, 3.5),
    _Kind("has_pharmacologic_class", "CHEM", "CHEM", 0.02, 2, 5),
    _Kind("has_mechanism", "CHEM", "CHEM", 0.01, 2, 5),
    _Kind("has_physiologic_effect", "CHEM", "PHYS", 0.01, 2, 3.5),
    _Kind("manifestation_of", "DISO", "DISO", 0.03, 2, 2),
    _Kind("sign_or_symptom_of", "DISO", "DISO", 0.01, 2.5, 2),
    _Kind("defining_characteristic_of", "DISO", "DISO", 0.02, 2, 1.5),
    _Kind("part_of", "ANAT", "ANAT", 0.1, 1, 2),
    _Kind("subset_includes", "DISO", "DISO", 0.02, 4.5, 1),
    _Kind("finding_site", "DISO", "ANAT", 0.3, 1, 2),
    _Kind("procedure_site", "PROC", "ANAT", 0.1, 1, 2),
    _Kind("has_focus", "PROC", "DISO", 0.03, 1.5, 2),
    _Kind("drug_form_of", "CHEM", "CHEM", 0.06, 1, 2.5),
    _Kind("contains_drug", "CHEM", "CHEM", 0.05, 1, 2.5),
    _Kind("has_ingredient", "CHEM", "CHEM", 0.08, 1, 2.5),
    _Kind("has_dose_form", "CHEM", "DEVI", 0.04, 1, 5),
    _Kind("loosely_related", "DISO", "DISO", 0.2, 1.5, 1.5),
)
COHORT_SKEW = 4.0
COHORT = {"DISO": 0.5, "CHEM": 0.4, "PROC": 0.1}

Integers = NDArray[np.int64]


def write_skewed(folder: Path, concepts: int, seed: int) -> int:
    """Write the arrays of a graph of so many concepts, and return how many edges it has."""
    vocabulary = read_vocabulary()
    rng = np.random.default_rng(seed)
    begin, size = _kinds(concepts)
    parts = [_drawn(rng, kind, begin, size, vocabulary, concepts) for kind in KINDS]
    parts += _hierarchy(rng, begin, size, vocabulary)
    edges = np.unique(np.concatenate(parts, axis=1).T, axis=0)
    arrays = _arrays(vocabulary, concepts, edges[edges[:, 0] != edges[:, 2]], begin, size)
    folder.mkdir(parents=True, exist_ok=True)
    for field in fields(GraphArrays):
        value = getattr(arrays, field.name)
        if isinstance(value, np.ndarray):
            np.save(folder / f"{field.name}.npy", value)
    (folder / "names.json").write_text(json.dumps([arrays.rela_names, arrays.sab_names, arrays.group_names]))
    return int(arrays.predicate.shape[0])


def open_skewed(folder: Path) -> GraphArrays:
    """Map the arrays that ``write_skewed`` wrote."""
    relas, sabs, groups = (tuple(names) for names in json.loads((folder / "names.json").read_text()))
    arrays = {file.stem: np.load(file, mmap_mode="r") for file in folder.glob("*.npy")}
    return GraphArrays(**arrays, rela_names=relas, sab_names=sabs, group_names=groups, vocabulary=read_vocabulary())


def cohort(arrays: GraphArrays, admissions: int, each: int, seed: int) -> list[list[str]]:
    """Return the concepts of some admissions, drawn with the skew of a hospital: shape (admissions, up to each)."""
    rng = np.random.default_rng(seed)
    begin, size = _kinds(len(arrays.cui))
    kinds = list(COHORT)
    kind = rng.choice(len(kinds), (admissions, each), p=list(COHORT.values()))
    starts, sizes = (np.array([of[name] for name in kinds]) for of in (begin, size))
    nodes = starts[kind] + _ranks(rng, sizes[kind], COHORT_SKEW)
    cuis = np.asarray(arrays.cui)[nodes].astype(str)
    return [sorted(set(row)) for row in cuis.tolist()]


def _kinds(concepts: int) -> tuple[dict[str, int], dict[str, int]]:
    """Return where each group's concepts begin, and how many it has."""
    size = {name: max(2, int(share * concepts)) for name, share in SHARES.items()}
    size["LIVB"] = concepts - sum(size[name] for name in size if name != "LIVB")
    ends = np.cumsum(list(size.values()))
    return {name: int(end) - size[name] for name, end in zip(size, ends, strict=True)}, size


def _ranks(rng: np.random.Generator, size: Integers | int, skew: float) -> Integers:
    """Draw ranks below ``size``, skewed towards 0; the shape is that of ``size``."""
    return np.asarray(size * rng.random(np.shape(size)) ** skew, np.int64)


def _step(vocabulary: Vocabulary, predicate: str) -> int:
    return vocabulary.step_of(predicate) // 2


def _rows(vocabulary: Vocabulary, predicate: str, head: Integers, tail: Integers) -> Integers:
    """Return edges (head, predicate, tail); of a symmetric predicate the smaller end is the head. Shape: (3, n)"""
    number = _step(vocabulary, predicate)
    if vocabulary.predicates[number].symmetric:
        head, tail = np.minimum(head, tail), np.maximum(head, tail)
    return np.stack([head, np.full(head.size, number), tail])


def _drawn(
    rng: np.random.Generator, kind: _Kind, begin: dict[str, int], size: dict[str, int], vocabulary: Vocabulary, n: int
) -> Integers:
    count = int(kind.edges * n)
    head = begin[kind.head] + _ranks(rng, np.full(count, size[kind.head]), kind.head_skew)
    tail = begin[kind.tail] + _ranks(rng, np.full(count, size[kind.tail]), kind.tail_skew)
    return _rows(vocabulary, kind.predicate, head, tail)


def _hierarchy(
    rng: np.random.Generator, begin: dict[str, int], size: dict[str, int], vocabulary: Vocabulary
) -> list[Integers]:
    """Return is_a (each concept below one or two more popular ones), narrower_than, and broader, which holds both."""
    parts = []
    for name, count in size.items():
        child = np.arange(1, count)
        child = np.concatenate([child, child[rng.random(child.size) < 0.5]])
        is_a = begin[name] + np.stack([child, _ranks(rng, child, 3.0)])
        child = rng.integers(1, count, count // 7)
        narrower = begin[name] + np.stack([child, _ranks(rng, child, 4.0)])
        parts += [_rows(vocabulary, "is_a", *is_a), _rows(vocabulary, "narrower_than", *narrower)]
        parts += [_rows(vocabulary, "broader", *ends) for ends in (is_a, narrower)]
    return parts


def _arrays(
    vocabulary: Vocabulary, n: int, edges: Integers, begin: dict[str, int], size: dict[str, int]
) -> GraphArrays:
    """Return sorted edges as arrays; concepts are named by their CUIs, and each edge has one piece of evidence."""
    head, predicate, tail = edges[:, 0].astype(np.int32), edges[:, 1].astype(np.uint8), edges[:, 2].astype(np.int32)
    names = tuple(sorted({group for line in vocabulary.predicates for group in (*line.head_groups, *line.tail_groups)}))
    groups = np.zeros(n, np.int64)
    for kind, start in begin.items():
        groups[start : start + size[kind]] = 1 << names.index(kind) if kind in names else 0
    cui = np.char.add(b"C", np.char.zfill(np.arange(n).astype("S7"), 7)).astype("S8")
    zeros = np.zeros(n + 1, np.int64)
    return GraphArrays(
        cui=cui,
        groups=groups,
        name_begin=np.arange(n + 1) * 8,
        name=cui.view(np.uint8),
        label_first=zeros,
        label_begin=np.zeros(1, np.int64),
        label=np.zeros(1, np.uint8),
        head=head,
        tail=tail,
        predicate=predicate,
        evidence_begin=np.arange(len(edges) + 1),
        rela=np.zeros(len(edges), np.uint16),
        sab=np.zeros(len(edges), np.uint16),
        rui=np.char.add(b"R", np.arange(len(edges)).astype("S8")),
        rela_names=("",),
        sab_names=("TEST",),
        group_names=names,
        vocabulary=vocabulary,
        **adjacency_of(head, tail, predicate, vocabulary, n),
    )
