"""Pairs of ends as bits: what is counted and marked is what plain loops say, however much is looked at together."""

from __future__ import annotations

from functools import partial
from itertools import product
from pathlib import Path

import networkx
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.medieval import coding, facts, groups, hierarchy, judging
from builders.medieval.build import build_medieval
from builders.medieval.kernels import Shard, Terms, Verdicts, candidates_of, mark_related
from builders.medieval.records import FEWEST_TOGETHER, lifted, together
from ground.compiled import read_only
from ground.settings import RunSettings, Settings
from ground.storage.warehouse import connect
from ground.storage.workspace import Workspace
from kg.graph import HIERARCHY_STEPS, ConceptGraph
from tests.builders.medieval_world import Built, bytes_of, copied

CONCEPTS = 12
ADMISSIONS = st.lists(st.sets(st.integers(0, CONCEPTS - 1)), max_size=8)


def _columns(admissions: list[set[int]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return admissions and the concepts that they hold."""
    rows = [(number, code) for number, held in enumerate(admissions) for code in sorted(held)]
    admission, code = np.array(rows, np.int64).reshape(-1, 2).T
    return admission, code.astype(np.int32)


@settings(max_examples=40, deadline=None)
@given(ADMISSIONS)
def test_of_pairs_it_is_counted_how_many_admissions_hold_both(admissions: list[set[int]]) -> None:
    wanted = [(one, other) for one, other in product(range(0, CONCEPTS, 2), range(CONCEPTS)) if one <= other]
    counts = np.zeros(len(wanted), np.int64)

    place, n = together(*_columns(admissions), np.array([one * CONCEPTS + other for one, other in wanted]), CONCEPTS)

    counts[place] = n
    assert counts.tolist() == [sum(held >= set(pair) for held in admissions) for pair in wanted]


@settings(max_examples=40, deadline=None)
@given(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4))))
def test_a_path_relates_the_twins_of_both_ends_either_way(paths: set[tuple[int, int]]) -> None:
    twins = [[0], [1, 2], [2, 1], [9], []]
    begin = np.cumsum([0, *map(len, twins)]).astype(np.int32)
    twin = np.array([code for codes in twins for code in codes], np.int32)
    head, tail = (np.array([path[side] for path in sorted(paths)], np.int32) for side in (0, 1))
    related = coding.bits(CONCEPTS, CONCEPTS)

    mark_related(head, tail, begin, twin, related)

    expected = {(one, other) for path in paths for one in twins[path[0]] for other in twins[path[1]]}
    found = np.argwhere(np.unpackbits(related, axis=1, count=CONCEPTS, bitorder="little"))
    assert {tuple(pair) for pair in found.tolist()} == expected | {(other, one) for one, other in expected}


@pytest.mark.parametrize(("unclear", "relatives"), [([], [2]), ([2], [3, 4]), ([2, 3], [4]), ([2, 3, 4], [])])
def test_a_child_of_a_grandparent_stands_in_only_where_none_of_a_parent_will(
    unclear: list[int], relatives: list[int]
) -> None:
    """Concept 0 is replaced beside 1; 2 shares a parent with it, 3 and 4 are children of a grandparent."""
    concepts, siblings = 5, 3
    none, flags, zero = np.zeros(0, np.int32), np.zeros(1, np.uint8), np.zeros(1, np.int32)
    terms = Terms(
        original=zero,
        kept=np.array([1], np.int32),
        argument=zero,
        pair=zero,
        first_bucket=np.array([0, 1], np.int32),
        bucket_begin=np.zeros(2, np.int32),
        bucket=none,
        known=np.ones((1, concepts), np.uint8),
        taxonomic=flags,
        of_head=flags,
        mask=read_only(np.ones(concepts, np.int64)),
        names_class=np.ones(concepts, np.uint8),
        has_members=np.zeros(concepts, np.uint8),
        sibling_begin=np.array([0, *[siblings] * concepts], np.int32),
        sibling=np.array([2, 3, 4], np.int32),
        of_grandparent=np.array([0, 1, 1], np.uint8),
        frame_sibling_begin=np.array([0, siblings]),
        cover_begin=np.array([0, len(unclear)], np.int32),
        cover=np.array(unclear, np.int32),
        by_code=np.ones(len(unclear), np.uint8),
    )
    own, nothing = np.array([0, 1], np.int32), np.zeros(2, np.int32)
    shard = Shard(own, zero, zero, own, zero, flags, nothing, none, none, nothing, none)
    verdicts = Verdicts(coding.bits(1, concepts), np.ones(siblings, np.uint8), np.zeros(concepts + 1, np.int64), none)

    counts = np.zeros((1, 3), np.int32)
    found = candidates_of(terms, shard, verdicts, np.ones(1, np.bool_), True, counts)

    assert (found.tolist(), counts.tolist()) == (relatives, [[len(relatives), 0, 0]])


PAIRS = st.lists(st.tuples(st.integers(0, CONCEPTS - 1), st.integers(0, 5)), max_size=20)


def _set_bits(matrix: npt.NDArray[np.uint8]) -> set[tuple[int, int]]:
    return {(row, column) for row, column in np.argwhere(np.unpackbits(matrix, axis=1, bitorder="little")).tolist()}


@settings(max_examples=40, deadline=None)
@given(PAIRS, PAIRS, st.sets(st.integers(0, CONCEPTS - 1), min_size=1))
def test_ends_share_what_both_sides_are_known_for(
    own: list[tuple[int, int]], others: list[tuple[int, int]], kept: set[int]
) -> None:
    sides = [judging._Side(*np.array(sorted(set(pairs)), np.int64).reshape(-1, 2).T) for pairs in (own, others)]
    wanted = sorted(kept)

    found = judging._sharing(np.array(wanted), sides[0], sides[1], CONCEPTS)

    expected = {(wanted.index(one), other) for one, key in own if one in kept for other, its in others if its == key}
    assert _set_bits(found) == expected


@settings(max_examples=40, deadline=None)
@given(ADMISSIONS, st.sampled_from([0.5, 1.0, 1.5]))
def test_what_stands_together_more_often_than_chance_is_marked(admissions: list[set[int]], most: float) -> None:
    # The last admission decides how many there are, and one that holds nothing is not known of.
    admissions = [held for held in admissions if held]

    def held(*codes: int) -> int:
        return sum(one >= set(codes) for one in admissions)

    expected = {
        (one, other)
        for one in range(CONCEPTS)
        for other in range(CONCEPTS)
        if held(one, other) >= FEWEST_TOGETHER and held(one, other) * len(admissions) / (held(one) * held(other)) > most
    }
    assert _set_bits(lifted(*_columns(admissions), CONCEPTS, most)) == expected


def with_two_workers(settings: Settings) -> Settings:
    return settings.model_copy(update={"run": RunSettings(workers=2)})


@pytest.mark.usefixtures("no_baselines")
def test_how_much_is_looked_at_together_and_by_how_many_workers_changes_nothing(
    medieval: Built, staged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "AT_ONCE", 1)
    monkeypatch.setattr(hierarchy, "STARTS_AT_ONCE", 3)
    monkeypatch.setattr(coding, "SHARDS_AT_ONCE", 2)
    for module in (coding, groups):
        monkeypatch.setattr(module, "SHARD_SIZE", 9)
    workspace = Workspace(copied(staged, tmp_path / "work").root, with_two_workers(medieval.workspace.settings))
    connection = connect(workspace.warehouse, workspace.settings.run)
    report = build_medieval(workspace, connection)
    reasons = connection.execute("select reason from false_reason where n > 0").fetchall()
    connection.close()

    assert len(reasons) > len(judging.REASONS) / 2
    assert report.dropped == medieval.report.dropped
    assert bytes_of(workspace.dataset("medieval")) == bytes_of(medieval.folder)


def test_closures_of_all_concepts_at_once_are_those_of_each(medieval: Built) -> None:
    graph = ConceptGraph.open(medieval.workspace.graph)
    concepts = [*list(graph)[::9], "C0000000"]
    expected = {("C0000000", "C0000000", "self", 0)}
    for cui in concepts[:-1]:
        forms = [cui, *graph.equivalents(cui)]
        held = {other for form in forms for other in (*graph.ingredients(form), *graph.products(form))}
        expected |= {(cui, cui, "self", 0), *((cui, other, "equivalent", 0) for other in forms[1:])}
        expected |= {(cui, other, "composition", 0) for other in held.difference(forms)}
        for relation, reach in (("ancestor", graph.ancestors), ("descendant", partial(graph.descendants, max_depth=2))):
            for other in {other for form in forms for other in reach(form)}.difference(forms):
                nearest = min(reach(form)[other] for form in forms if other in reach(form))
                expected.add((cui, other, relation, nearest))

    found = facts.closure_of(graph, sorted(concepts))

    rows = list(zip(*(column.to_pylist() for column in found.columns), strict=True))
    assert rows == sorted(expected)
    assert {relation for _, _, relation, _ in rows} == set(facts.RELATIONS)


def test_distances_of_many_pairs_agree_with_networkx(medieval: Built) -> None:
    graph = ConceptGraph.open(medieval.workspace.graph)
    concepts = list(graph)[::40]
    pairs = [(one, other) for one in concepts for other in concepts]
    one, other = (graph.numbers_of([pair[side] for pair in pairs]) for side in (0, 1))

    found = hierarchy.distances(graph, one, other, 4)

    edges = [
        (edge["head_cui"], edge["tail_cui"])
        for cui in graph
        for step in HIERARCHY_STEPS
        for edge in graph.neighbours(cui, step)
    ]
    near = dict(networkx.all_pairs_shortest_path_length(networkx.Graph(edges), cutoff=4))
    expected = [0 if one == other else near.get(one, {}).get(other) for one, other in pairs]
    assert [None if steps < 0 else steps for steps in found.tolist()] == expected
    assert {0, 2, 3, 4, None} <= set(expected)
