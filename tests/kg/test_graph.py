"""The search agrees with brute force on random typed graphs, and hierarchy queries agree with networkx."""

from __future__ import annotations

from itertools import product
from typing import Any

import networkx
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ground.errors import InputError
from kg.graph import ConceptGraph
from kg.numbers import pattern_name
from kg.predicates import TIERS, Pattern, Predicate, Vocabulary, read_vocabulary
from tests.kg.graphs import facts_of, plain_graph


def _predicate(name: str, inverse: str) -> Predicate:
    ends = (("*",), ("*",), False, name == inverse, False, "yes", "", "", "", "")
    return Predicate(name, inverse, *ends)


def _pattern(text: str, tier: str, extends: str = "", max_fan: int = 0, predicate: str = "treats") -> Pattern:
    return Pattern(text, tuple(text.split(" . ")), extends, predicate, tier, max_fan, "")


VOCABULARY = Vocabulary(
    predicates=(
        _predicate("is_a", "has_subtype"),
        _predicate("treats", "may_be_treated_by"),
        _predicate("same", "same"),
    ),
    patterns=(
        _pattern("treats", "stated"),
        _pattern("treats", "equivalent", extends="is_a"),
        _pattern("same . treats", "equivalent"),
        _pattern("same . same . treats", "equivalent"),
        _pattern("is_a . treats", "inherited"),
        _pattern("is_a . has_subtype . treats", "plausible"),
        _pattern("is_a . has_subtype . treats", "plausible", predicate="same"),
        _pattern("treats . is_a . has_subtype", "plausible", max_fan=2),
        _pattern("treats . may_be_treated_by . treats", "plausible", max_fan=1),
        _pattern("may_be_treated_by", "stated", predicate="may_be_treated_by"),
        _pattern("is_a . is_a . is_a", "inherited", predicate="is_a"),
        _pattern("same . is_a", "plausible", predicate="is_a", extends="treats"),
    ),
)

NODES = 7
EDGES = st.sets(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, 2), st.integers(0, NODES - 1)).filter(
        lambda edge: edge[0] != edge[2] and (edge[1] != 2 or edge[0] < edge[2])
    ),
    max_size=26,
)
CUIS = [f"C{node:07d}" for node in range(NODES)]


def _steps(edges: set[tuple[int, int, int]]) -> dict[tuple[str, str], list[str]]:
    """Return the sorted neighbours of (concept, step name)."""
    found: dict[tuple[str, str], set[str]] = {}
    for head, number, tail in edges:
        line = VOCABULARY.predicates[number]
        found.setdefault((CUIS[head], line.predicate), set()).add(CUIS[tail])
        found.setdefault((CUIS[tail], line.inverse), set()).add(CUIS[head])
    return {key: sorted(value) for key, value in found.items()}


def _brute_paths(steps: dict[tuple[str, str], list[str]], pattern: Pattern, head: str, tail: str) -> list[list[str]]:
    """Return the paths of a pattern as lists of concepts, by trying every walk."""
    walks = [[head]]
    for step in pattern.steps:
        longer = []
        for walk in walks:
            near = steps.get((walk[-1], step), [])
            if not pattern.max_fan or len(near) <= pattern.max_fan:
                longer += [[*walk, other] for other in near if other not in walk]
        walks = longer
    paths = [walk for walk in walks if walk[-1] == tail]
    if pattern.extends:
        more = [other for other in steps.get((tail, pattern.extends), []) if other != head]
        paths = [[*walk, more[0]] for walk in paths] if more else []
    return paths


def _brute(edges: set[tuple[int, int, int]], head: str, tail: str) -> list[tuple[str, str, str, list[str]]]:
    steps = _steps(edges)
    ordered = sorted(VOCABULARY.patterns, key=lambda p: (TIERS.index(p.tier), p.hops, p.predicate, pattern_name(p)))
    return [
        (pattern.predicate, pattern_name(pattern), pattern.tier, path)
        for pattern in ordered
        for path in _brute_paths(steps, pattern, head, tail)
    ]


def _concepts(relation: Any) -> list[str]:
    return [relation.path[0]["head_cui"], *(edge["tail_cui"] for edge in relation.path)]


@settings(max_examples=15, deadline=None)
@given(EDGES)
def test_relations_equal_a_brute_force_search(edges: set[tuple[int, int, int]]) -> None:
    graph = plain_graph(VOCABULARY, NODES, edges)
    for head, tail in product(CUIS, CUIS):
        found = [
            (relation.predicate, relation.pattern, relation.tier, _concepts(relation))
            for relation in graph.relations(head, tail, extended=True)
        ]
        assert found == (_brute(edges, head, tail) if head != tail else [])


@settings(max_examples=10, deadline=None)
@given(EDGES, st.permutations(CUIS), st.sets(st.sampled_from(CUIS)))
def test_facts_are_the_union_of_relations_and_ignore_the_order_of_concepts(
    edges: set[tuple[int, int, int]], order: list[str], targets: set[str]
) -> None:
    graph = plain_graph(VOCABULARY, NODES, edges)
    heads = order[:4]
    expected = {
        (head, relation.predicate, tail, relation.pattern, relation.tier, relation.hops)
        for head, tail in product(heads, targets)
        for relation in graph.relations(head, tail, extended=True)
    }
    table = facts_of(graph, heads, targets=targets, extended=True)
    rows = [tuple(row.values()) for row in table.to_pylist()]
    assert set(rows) == expected
    assert len(rows) == len(expected)
    assert facts_of(graph, sorted(heads), targets=sorted(targets), extended=True).equals(table)
    assert facts_of(graph, order).to_pylist() == facts_of(graph, order, targets=CUIS).to_pylist()


def test_facts_of_a_head_with_many_ways_are_those_of_its_pairs() -> None:
    """More is reached by one first step, and more is found for one head, than the search takes at once."""
    heads, parents, children, tails = range(3), range(3, 83), range(83, 1683), range(1683, 3000)
    edges = {(head, 0, parent) for head in heads for parent in parents}
    edges |= {(children[(61 * parent + 7 * n) % 1600], 0, parent) for parent in parents for n in range(60)}
    edges |= {(child, 1, tails[(13 * child + 331 * n) % 1317]) for child in children for n in range(4)}
    graph = plain_graph(VOCABULARY, 3000, edges)
    pairs = [(f"C{head:07d}", f"C{tail:07d}") for head in heads for tail in tails]
    expected = {
        (*pair, relation.predicate, relation.pattern, relation.tier)
        for pair in pairs
        for relation in graph.relations(*pair, paths_per_pattern=1)
    }
    facts = facts_of(graph, [head for head, _ in pairs], targets=[tail for _, tail in pairs])
    columns = ("head_cui", "tail_cui", "predicate", "pattern", "tier")
    found = list(zip(*(facts.column(name).to_pylist() for name in columns), strict=True))
    assert set(found) == expected
    assert len(found) == len(expected)
    assert len(found) > 3 * 2048


@settings(max_examples=20, deadline=None)
@given(EDGES)
def test_fewer_hops_and_fewer_tiers_give_a_part_of_the_facts(edges: set[tuple[int, int, int]]) -> None:
    graph = plain_graph(VOCABULARY, NODES, edges)
    by_hops = [{tuple(row.values()) for row in facts_of(graph, CUIS, max_hops=k).to_pylist()} for k in (1, 2, 3)]
    assert by_hops[0] <= by_hops[1] <= by_hops[2]
    stated = {tuple(row.values()) for row in facts_of(graph, CUIS, tiers=["stated"]).to_pylist()}
    assert stated == {row for row in by_hops[2] if row[4] == "stated"}
    treats = {tuple(row.values()) for row in facts_of(graph, CUIS, predicates=["treats"]).to_pylist()}
    assert treats == {row for row in by_hops[2] if row[1] == "treats"}


@settings(max_examples=20, deadline=None)
@given(EDGES, st.integers(1, 3))
def test_a_limit_keeps_the_first_paths_of_each_pattern(edges: set[tuple[int, int, int]], limit: int) -> None:
    graph = plain_graph(VOCABULARY, NODES, edges)
    for head, tail in product(CUIS[:4], CUIS[3:]):
        kept: dict[tuple[str, str], int] = {}
        expected = []
        for relation in graph.relations(head, tail):
            key = (relation.predicate, relation.pattern)
            kept[key] = kept.get(key, 0) + 1
            expected += [relation] * (kept[key] <= limit)
        assert graph.relations(head, tail, paths_per_pattern=limit) == expected


def test_facts_come_some_heads_at_a_time_and_are_sorted_throughout(monkeypatch: pytest.MonkeyPatch) -> None:
    edges = {
        (head, number, tail) for head in range(NODES) for tail in range(NODES) for number in range(2) if head < tail
    }
    graph = plain_graph(VOCABULARY, NODES, edges)
    whole = facts_of(graph, CUIS, extended=True)
    monkeypatch.setattr("kg.facts.HEADS_AT_ONCE", 2)
    tables = list(graph.fact_tables(CUIS, extended=True))
    assert len(tables) == 4
    assert [row for table in tables for row in table.to_pylist()] == whole.to_pylist()
    rows = [(r["head_cui"], r["predicate"], r["tail_cui"], r["hops"], TIERS.index(r["tier"]), r["pattern"])
            for r in whole.to_pylist()]  # fmt: skip
    assert rows == sorted(rows)
    assert len(rows) > 100
    found = pa.concat_tables(graph.fact_tables(CUIS, extended=True, ordered=False))
    assert found["head_cui"].to_pylist() == whole["head_cui"].to_pylist()
    assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, whole.to_pylist()))


@settings(max_examples=20, deadline=None)
@given(EDGES)
def test_path_is_the_first_relation_of_its_pattern(edges: set[tuple[int, int, int]]) -> None:
    graph = plain_graph(VOCABULARY, NODES, edges)
    for head, tail in product(CUIS[:3], CUIS[3:]):
        first: dict[str, Any] = {}
        for relation in graph.relations(head, tail, extended=True):
            first.setdefault(relation.pattern, list(relation.path))
        for pattern in VOCABULARY.patterns:
            assert graph.path(head, tail, pattern_name(pattern)) == first.get(pattern_name(pattern), [])


@settings(max_examples=20, deadline=None)
@given(EDGES)
def test_the_hierarchy_agrees_with_networkx(edges: set[tuple[int, int, int]]) -> None:
    graph = plain_graph(VOCABULARY, NODES, edges)
    parents = networkx.DiGraph()
    parents.add_nodes_from(CUIS)
    parents.add_edges_from((CUIS[head], CUIS[tail]) for head, number, tail in edges if number == 0)
    for cui in CUIS:
        above = networkx.single_source_shortest_path_length(parents, cui)
        assert graph.ancestors(cui) == {other: depth for other, depth in above.items() if other != cui}
        assert graph.ancestors(cui, 1) == {other: depth for other, depth in above.items() if depth == 1}
        below = networkx.single_source_shortest_path_length(parents.reverse(), cui)
        assert graph.descendants(cui) == {other: depth for other, depth in below.items() if other != cui}


@settings(max_examples=30, deadline=None)
@given(EDGES)
def test_neighbours_hold_every_edge_in_both_directions(edges: set[tuple[int, int, int]]) -> None:
    graph = plain_graph(VOCABULARY, NODES, edges)
    found = {(edge["head_cui"], edge["predicate"], edge["tail_cui"]) for cui in CUIS for edge in graph.neighbours(cui)}
    wanted = {(cui, step, other) for (cui, step), near in _steps(edges).items() for other in near}
    assert found == wanted


def test_a_walk_that_returns_is_no_path() -> None:
    # 0 same 1, 0 treats 2: the walk 0 - 1 - 0 - 2 passes 0 twice and is no equivalent path of two drug links.
    graph = plain_graph(VOCABULARY, NODES, {(0, 2, 1), (0, 1, 2)})
    assert [relation.pattern for relation in graph.relations(CUIS[0], CUIS[2])] == ["treats"]


@pytest.fixture(scope="module")
def small() -> ConceptGraph:
    return plain_graph(VOCABULARY, NODES, {(0, 1, 1)})


def test_a_concept_that_is_not_there_is_an_input_error_that_names_it(small: ConceptGraph) -> None:
    assert "C9999999" not in small
    assert "" not in small
    assert "C00000001" not in small
    for query in (
        lambda: small.name("C9999999"),
        lambda: small.neighbours("C9999999"),
        lambda: small.relations(CUIS[0], "C9999999"),
        lambda: facts_of(small, [CUIS[0], "C9999999"]),
        lambda: small.ancestors("C9999999"),
    ):
        with pytest.raises(InputError, match="C9999999"):
            query()


def test_wrong_questions_are_input_errors(small: ConceptGraph) -> None:
    with pytest.raises(InputError, match="hops"):
        small.relations(CUIS[0], CUIS[1], max_hops=4)
    with pytest.raises(InputError, match="tier"):
        facts_of(small, CUIS, tiers=["certain"])
    with pytest.raises(InputError, match="predicate"):
        facts_of(small, CUIS, predicates=["cures"])
    with pytest.raises(InputError, match="predicate"):
        small.neighbours(CUIS[0], "cures")
    with pytest.raises(InputError, match="hops"):
        small.path(CUIS[0], CUIS[1], "treats . is_a . is_a . is_a")


def test_an_empty_cohort_has_no_facts(small: ConceptGraph) -> None:
    assert facts_of(small, []).num_rows == 0
    assert facts_of(small, CUIS, targets=[]).num_rows == 0


def test_the_shipped_patterns_run_on_a_graph_without_edges() -> None:
    vocabulary = read_vocabulary()
    graph = plain_graph(vocabulary, 3, set())
    assert facts_of(graph, [f"C{node:07d}" for node in range(3)], extended=True).num_rows == 0
