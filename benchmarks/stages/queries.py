"""Queries of the concept graph: all paths between two concepts, and the facts of a cohort.

The pairs are two concepts of one admission each, drawn by a stable hash; the cohort is the concepts of some
admissions.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import numpy as np

from benchmarks.measures import Check, Result, at_most
from benchmarks.measuring import Done, Inputs, Watch, run_apart, stopwatch
from ground.errors import InputError
from ground.stable import stable_hash
from ground.storage.workspace import Workspace

__all__ = ["facts", "measure", "pairs_singly"]

SEED = 7
PAIRS = 2_000
COHORT = 1_000
"""Concepts whose facts are looked for."""
MEDIAN = "median, microseconds"
MICROSECONDS = 100
CONCEPTS = """
select hadm_id, list(distinct cui order by cui) as cuis
from ground.admission_concept group by hadm_id having count(distinct cui) > 1 order by hadm_id
"""


def _admissions(root: Path) -> list[tuple[int, list[str]]]:
    """Return the concepts of each admission, those that are in the graph."""
    from ground.storage.warehouse import connect
    from kg.graph import ConceptGraph

    workspace = Workspace.existing(root)
    graph = ConceptGraph.open(workspace.graph)
    with connect(workspace.warehouse, read_only=True) as connection:
        rows = connection.execute(CONCEPTS).fetchall()
    return [(hadm, [cui for cui in cuis if cui in graph]) for hadm, cuis in rows]


def _pairs(root: Path, count: int) -> list[tuple[str, str]]:
    """Return pairs of concepts, each of one admission.

    Raises:
        InputError: no admission has two concepts.
    """
    admissions = [(hadm, cuis) for hadm, cuis in _admissions(root) if len(cuis) > 1]
    if not admissions:
        raise InputError("no admission has two concepts", file=root)
    pairs = []
    for number in range(count):
        hadm, cuis = admissions[number % len(admissions)]
        head, tail = sorted(cuis, key=lambda cui: stable_hash(SEED, number, hadm, cui))[:2]
        pairs.append((head, tail))
    return pairs


def pairs_singly(root: Path, count: int) -> Done:
    """Ask for the paths of one pair after another."""
    from kg.graph import ConceptGraph

    graph, pairs = ConceptGraph.open(Workspace.existing(root).graph), _pairs(root, count)
    for pair in pairs:
        graph.relations(*pair)  # the search is compiled, or read from its cache, and pages are read
    times, cpu = [], time.process_time()
    for pair in pairs:
        begin = time.perf_counter()
        graph.relations(*pair)
        times.append(time.perf_counter() - begin)
    watch = Watch(sum(times), time.process_time() - cpu)
    figures = {MEDIAN: statistics.median(times) * 1e6, "99th percentile, microseconds": _high(times) * 1e6}
    return Done(len(pairs), "pairs", watch, figures=figures)


def _high(times: list[float]) -> float:
    return float(np.quantile(times, 0.99))


def facts(root: Path, count: int) -> Done:
    """Find the facts of all pairs of a cohort's concepts."""
    from kg.graph import ConceptGraph

    graph = ConceptGraph.open(Workspace.existing(root).graph)
    concepts = sorted({cui for _, cuis in _admissions(root) for cui in cuis}, key=lambda cui: stable_hash(SEED, cui))
    cohort = sorted(concepts[:count])
    list(graph.fact_tables(cohort[:1]))
    with stopwatch() as watch:
        rows = sum(table.num_rows for table in list(graph.fact_tables(cohort)))
    return Done(rows, "facts", watch, figures={"concepts": float(len(cohort))})


def measure(inputs: Inputs) -> Result:
    """Ask the workspace's graph."""
    singly = run_apart(pairs_singly, inputs.workspace, PAIRS)
    cohort = run_apart(facts, inputs.workspace, COHORT, name=f"facts of {COHORT:,} concepts")
    return Result(
        "queries",
        [singly, cohort],
        [
            at_most("median of relations(h, t), microseconds", singly.figures[MEDIAN], MICROSECONDS),
            Check("facts a second and core", round(cohort.rows_per_core_second)),
        ],
    )
