"""Queries of the concept graph: all paths between two concepts, and the facts of a cohort.

Paths stand beside the same typed search over networkx, on the neighbourhood of all pairs that are asked (extracted
before the clock starts), and beside one recursive query in DuckDB; all must give the same paths. Each returns them in
its own form: networkx a Python tuple for each path (predicate, pattern, concepts as numbers), DuckDB rows of Python
numbers; ``ConceptGraph.relations``, asked of one pair after another, a sequence that has found all paths and makes a
Python row when it is read, which the clock does not see; ``ConceptGraph.relations_of_pairs`` one Arrow table for all
pairs (predicate, pattern, tier, CUIs of the path), which it does see. Neither of ours makes a Python object for a path.
All pairs are asked before any answer is read, by every search: reading is no part of the question, and what it leaves
in the caches would be. Pairs a second are those of the same list of pairs, from CUIs to answers. The graph is made of
numbers with the skew of the real release (``benchmarks.skewed``), since the open world's filler has no hubs.

The facts are those of all pairs of concepts of a cohort, with all that is done to them: found and named in Arrow, head
after head; where it says so, those of each head also sorted, as ``ConceptGraph.facts`` gives them. "Edges visited" are
reads of an entry to look at its neighbour, those that lead nowhere included: of the adjacency in the first two steps of
a walk, of the index of the targets' own edges in the last one. An entry is counted as often as it is read: for each
head, each state of the search, and in the last step each limit of fan that a pattern sets. Steps that no pattern takes
are passed over by their bounds and not counted, nor are the headers of the index. A second cohort of a fifth of the
admissions shows what time grows with.

Two measures show what the machine gives in the same run: random reads (an entry of the adjacency anywhere, then where
its neighbour's own entries begin), and what remains to be done with facts once they are found: as many numbers as
``ROWS`` sorted by numpy, a head's facts at a time, and laid out in the columns of the answer.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.command import run
from benchmarks.measures import Check, Measure, Result, at_least, at_most
from benchmarks.measuring import Done, Inputs, Watch, run_apart, stage_main
from benchmarks.skewed import CONCEPTS, cohort, open_skewed, write_skewed
from benchmarks.typed_search import NetworkxSearch, SqlSearch, Walk
from ground.errors import InputError
from ground.stable import stable_hash

__all__ = ["facts", "measure", "paths", "paths_networkx", "paths_of_pairs", "paths_sql", "random_reads", "sorted_rows"]

SEED = 7
DEFAULT_SCALE = 0.1
ADMISSIONS, CONCEPTS_EACH = 10_000, 30
PAIRS, NETWORKX_PAIRS, SQL_PAIRS = 2000, 100, 10
RANDOM_READS = 20_000_000
ROWS, ROWS_OF_HEAD = 20_000_000, 4096
"""A head of the larger cohort has some 3,200 facts on the average."""

TRUTH = ("stated", "equivalent", "inherited")
CPU, MEDIAN, ANSWERS = "microseconds of a core, mean", "median, microseconds", "answers, as a number"


def _pairs(folder: Path, count: int) -> list[tuple[str, str]]:
    """Return pairs of concepts, each of one admission."""
    rows = cohort(open_skewed(folder), 2 * count, CONCEPTS_EACH, SEED)
    ends = [
        (row[stable_hash(SEED, number, "head") % len(row)], row[stable_hash(SEED, number, "tail") % len(row)])
        for number, row in enumerate(rows)
    ]
    return [pair for pair in ends if pair[0] != pair[1]][:count]


def _numbers(found: Sequence[Sequence[Walk]]) -> dict[str, float]:
    """Return how many paths the pairs have, and all of them as one number."""
    numbers = [stable_hash(SEED, repr(sorted(walks))) for walks in found]
    return {"paths": float(sum(map(len, found))), ANSWERS: float(stable_hash(SEED, *numbers) % 2**48)}


def _asked(pairs: Sequence[Any], ask: Callable[[Any], Any], read: Callable[[Any], list[Walk]]) -> Done:
    """Ask of every pair, and time the asking only; the answers are read at the end."""
    times, answers, cpu = [], [], 0.0
    for pair in pairs:
        begin, begin_cpu = time.perf_counter(), time.process_time()
        raw = ask(pair)
        times.append(time.perf_counter() - begin)
        cpu += time.process_time() - begin_cpu
        answers.append(raw)
    found = [read(raw) for raw in answers]
    figures = {
        CPU: cpu / len(pairs) * 1e6,
        MEDIAN: statistics.median(times) * 1e6,
        "99th percentile, microseconds": float(np.quantile(times, 0.99)) * 1e6,
        **_numbers(found),
    }
    return Done(len(pairs), "pairs", Watch(sum(times), cpu), figures=figures)


def _node(cui: str) -> int:
    return int(cui[1:])


def paths(folder: Path, count: int) -> Done:
    """Ask ``ConceptGraph.relations``."""
    from kg.graph import ConceptGraph

    graph = ConceptGraph(open_skewed(folder))
    pairs = _pairs(folder, count)
    for pair in pairs:  # compiled, or read from the cache, and the pages as warm as those of the others
        graph.relations(*pair)

    def read(raw: Any) -> list[Walk]:
        return [
            (one.predicate, one.pattern, (_node(one.path[0]["head_cui"]), *(_node(e["tail_cui"]) for e in one.path)))
            for one in raw
        ]

    return _asked(pairs, lambda pair: graph.relations(*pair), read)


def paths_of_pairs(folder: Path, count: int) -> Done:
    """Ask ``ConceptGraph.relations_of_pairs`` of all pairs at once."""
    from kg.graph import ConceptGraph

    graph = ConceptGraph(open_skewed(folder))
    pairs = _pairs(folder, count)
    graph.relations_of_pairs(pairs).table()  # compiled, or read from the cache, and the pages as warm as the others'
    begin, cpu = time.perf_counter(), time.process_time()
    table = graph.relations_of_pairs(pairs).table()
    watch = Watch(time.perf_counter() - begin, time.process_time() - cpu)
    found: list[list[Walk]] = [[] for _ in pairs]
    for row in table.to_pylist():
        found[row["pair"]].append((row["predicate"], row["pattern"], tuple(map(_node, row["concepts"]))))
    return Done(len(pairs), "pairs", watch, figures={CPU: watch.cpu_seconds / count * 1e6, **_numbers(found)})


def paths_networkx(folder: Path, count: int) -> Done:
    """Ask networkx."""
    search = NetworkxSearch(open_skewed(folder))
    nodes = [(_node(head), _node(tail)) for head, tail in _pairs(folder, count)]
    graph = search.neighbourhood(sorted({node for pair in nodes for node in pair}))
    return _asked(nodes, lambda pair: search.search(graph, *pair), list)


def paths_sql(folder: Path, count: int) -> Done:
    """Ask DuckDB."""
    from ground.storage.warehouse import open_database

    with open_database(config={"threads": 1, "memory_limit": "4GB"}) as connection:
        search = SqlSearch(connection, open_skewed(folder))
        nodes = [(_node(head), _node(tail)) for head, tail in _pairs(folder, count)]
        return _asked(nodes, lambda pair: search.search(*pair), search.walks)


def facts(folder: Path, admissions: int, tiers: Sequence[str] | None, ordered: bool = True) -> Done:
    """Find the facts of all pairs of concepts of a cohort, batch by batch; those of each head also sorted, or not."""
    from kg.facts import FactSearch
    from kg.graph import ConceptGraph
    from kg.numbers import VocabularyNumbers

    arrays = open_skewed(folder)
    graph = ConceptGraph(arrays)
    concepts = {cui for row in cohort(arrays, admissions, CONCEPTS_EACH, SEED) for cui in row}
    nodes = np.array(sorted(map(_node, concepts)), np.int32)
    graph.facts([min(concepts)])  # compiled, or read from the cache
    begin, cpu = time.perf_counter(), time.process_time()
    chosen = [
        number
        for number, pattern in enumerate(arrays.vocabulary.patterns)
        if not pattern.extends and (tiers is None or pattern.tier in tiers)
    ]
    search = FactSearch(arrays, VocabularyNumbers(arrays.vocabulary, arrays.group_names), nodes, chosen, ordered)
    rows = sum(table.num_rows for table in search.tables(nodes))
    watch = Watch(time.perf_counter() - begin, time.process_time() - cpu)
    figures = {"concepts": float(nodes.size), "pairs": float(nodes.size**2), "facts": float(rows)}
    return Done(search.visited, "edges visited", watch, figures=figures)


def random_reads(folder: Path, count: int) -> Done:
    """Read entries of the adjacency in no order, and where the entries of their neighbours begin."""
    arrays = open_skewed(folder)
    neighbour, indptr = np.array(arrays.neighbour), np.array(arrays.indptr)
    places = np.random.default_rng(SEED).integers(0, neighbour.size, count)
    begin, cpu = time.perf_counter(), time.process_time()
    indptr.take(neighbour.take(places))
    return Done(count, "random edges", Watch(time.perf_counter() - begin, time.process_time() - cpu))


def sorted_rows(folder: Path, count: int) -> Done:
    """Sort numbers of the width of a fact's key by numpy, a head's at a time, and lay them out in columns."""
    heads = np.random.default_rng(SEED).integers(0, 1 << 33, (count // ROWS_OF_HEAD, ROWS_OF_HEAD))
    widths = (5, 18, 10)
    begin, cpu = time.perf_counter(), time.process_time()
    for first in range(0, len(heads), 32):
        keys = heads[first : first + 32]
        keys.sort(axis=1)
        columns, shift = np.empty((6, keys.size), np.int32), 0
        for column, width in enumerate(reversed(widths)):
            columns[column] = (keys >> shift & ((1 << width) - 1)).ravel()
            shift += width
        columns[3:] = columns[0]
        columns[5].astype(np.int8)
    return Done(heads.size, "rows", Watch(time.perf_counter() - begin, time.process_time() - cpu))


def _made(folder: Path, concepts: int) -> Done:
    return Done(write_skewed(folder, concepts, SEED), "edges")


def _ratio(
    folder: Path, work: Callable[[Path, int], Done], count: int, name: str
) -> tuple[list[Measure], float, float]:
    """Measure a yardstick, and how many times as fast we answer the same pairs: all at once, and one after another.

    Raises:
        InputError: the answers differ.
    """
    theirs = run_apart(work, folder, count, name=name)
    single = run_apart(paths, folder, count, name=f"ontoground, {count} pairs, one after another")
    at_once = run_apart(paths_of_pairs, folder, count, name=f"ontoground, {count} pairs at once")
    for mine in (single, at_once):
        if mine.figures[ANSWERS] != theirs.figures[ANSWERS]:
            raise InputError(f"{name} finds other paths", found=str(theirs.figures), expected=str(mine.figures))
    return (
        [theirs, at_once, single],
        theirs.figures[CPU] / at_once.figures[CPU],
        theirs.figures[CPU] / single.figures[CPU],
    )


def measure(inputs: Inputs) -> Result:
    """Measure paths and facts on a skewed graph of the world's scale."""
    folder = inputs.scratch("queries") / "graph"
    concepts = round(CONCEPTS * (inputs.scale or DEFAULT_SCALE))
    run_apart(_made, folder, concepts, name="generator")
    mine = run_apart(paths, folder, PAIRS)
    networkx, faster, faster_singly = _ratio(folder, paths_networkx, NETWORKX_PAIRS, "networkx")
    sql, faster_than_sql, _ = _ratio(folder, paths_sql, SQL_PAIRS, "recursive SQL in DuckDB")
    small, large = (
        run_apart(facts, folder, admissions, None, False, name=f"facts of {admissions} admissions, all tiers")
        for admissions in (ADMISSIONS // 5, ADMISSIONS)
    )
    in_order = run_apart(facts, folder, ADMISSIONS, None, name=f"sorted facts of {ADMISSIONS} admissions, all tiers")
    anywhere = run_apart(random_reads, folder, RANDOM_READS, name="random reads of the adjacency")
    rows = run_apart(sorted_rows, folder, ROWS, name="numpy, rows sorted and laid out")
    true = run_apart(facts, folder, ADMISSIONS, TRUTH, name=f"sorted facts of {ADMISSIONS} admissions, true ones")
    grown = (large.cpu_seconds / small.cpu_seconds) / (large.rows / small.rows)
    return Result(
        "graph queries",
        [mine, *networkx, *sql, small, large, in_order, true, anywhere, rows],
        [
            at_most("median of relations(h, t), microseconds", mine.figures[MEDIAN], 100),
            at_least("pairs a second, all at once, times networkx's", faster, 300),
            at_least("pairs a second, one after another, times networkx's", faster_singly, 300),
            at_least("pairs a second, times the recursive SQL's", faster_than_sql, 50),
            at_least("edges visited a second per core", large.rows_per_core_second, 20e6),
            Check("edges visited a second per core, where facts are sorted", in_order.rows_per_core_second),
            Check("facts for each edge visited", large.figures["facts"] / large.rows),
            Check("facts a second of a core", large.figures["facts"] / large.cpu_seconds),
            Check("rows a second of a core that numpy sorts and lays out", rows.rows_per_core_second),
            Check("random edges read a second of a core", anywhere.rows_per_core_second),
            at_most("time of a cohort five times as large, times what its edges visited grew by", grown, 1.3),
            Check("its pairs of concepts grew by", large.figures["pairs"] / small.figures["pairs"]),
        ],
        f"A graph of {concepts} concepts; true facts: {true.rows_per_core_second / 1e6:.1f} million edges a second.",
    )


if __name__ == "__main__":
    run(stage_main(__doc__, measure))
