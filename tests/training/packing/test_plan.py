"""The plan of optimizer steps: every item once an epoch, full batches, admissions mixed, independent of row order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ground.errors import UsageError
from training.packing.collate import RunData, collate_row
from training.packing.plan import Item, Step, plan_epochs, plan_rows
from training.packing.tokens import EncodedTexts
from training.runs.settings import PackingSettings

CONTEXTS = np.array([30, 12, 50, 8], dtype=np.int64)
STATEMENTS = np.array([3 + i % 5 for i in range(40)], dtype=np.int64)


def items_of(counts: list[int]) -> list[Item]:
    return [
        Item(f"c{context}-{number}", context, ((7 * number) % 40, (7 * number + context + 1) % 40))
        for context, count in enumerate(counts)
        for number in range(count)
    ]


def names(step: Step, items: list[Item]) -> list[str]:
    return sorted(items[index].name for row in step.rows for block in row.blocks for index in block.items)


def plan(items: list[Item], **changed: float) -> list[Step]:
    options = {"batch_size": 6, "max_per_context": 3, "tokens_per_row": 80, "epochs": 1, "seed": 5} | changed
    return plan_epochs(items, CONTEXTS, STATEMENTS, **options)  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 15), min_size=4, max_size=4),
    st.integers(1, 9),
    st.integers(1, 6),
    st.integers(66, 300),
    st.booleans(),
)
def test_an_epoch_has_every_item_once_in_full_batches_and_rows_within_budget(
    counts: list[int], batch: int, most: int, tokens: int, join: bool
) -> None:
    items = items_of(counts)
    steps = plan(items, batch_size=batch, max_per_context=most, tokens_per_row=tokens, join_contexts=join)
    assert sorted(name for step in steps for name in names(step, items)) == sorted(item.name for item in items)
    assert all(len(step.items) == batch for step in steps[:-1])
    for step in steps:
        assert len(step.items) == len(names(step, items))
        for row in step.rows:
            assert join or len(row.blocks) == 1
            used = 0
            for block in row.blocks:
                assert {items[index].context for index in block.items} == {block.context}
                used += int(CONTEXTS[block.context])
                used += sum(int(STATEMENTS[s]) for s in {s for index in block.items for s in items[index].statements})
            assert used <= tokens


@given(st.permutations(range(24)))
def test_the_order_of_items_changes_no_step(order: list[int]) -> None:
    items = items_of([6, 6, 6, 6])
    shuffled = [items[index] for index in order]
    assert [names(step, items) for step in plan(items)] == [names(step, shuffled) for step in plan(shuffled)]


def test_steps_mix_admissions_and_epochs_differ() -> None:
    items = items_of([12, 12, 12, 12])
    steps = plan(items, epochs=2, batch_size=12)
    assert len(steps) == 8
    for step in steps:
        assert len({name[:2] for name in names(step, items)}) >= 2
    assert [names(step, items) for step in steps[:4]] != [names(step, items) for step in steps[4:]]


def test_a_broken_number_of_epochs_stops_within_one() -> None:
    items = items_of([12, 12, 12, 12])
    assert len(plan(items, epochs=1.5)) == 12
    assert len(plan(items, epochs=0.01)) == 1


def test_an_item_that_fits_no_row_is_an_error_that_names_the_setting() -> None:
    with pytest.raises(UsageError, match="does not fit a packed row") as error:
        plan(items_of([0, 0, 2, 0]), tokens_per_row=40)
    assert "packing.tokens_per_row" in str(error.value)


def test_contexts_share_rows_only_where_they_may() -> None:
    items = items_of([2, 2, 2, 2])
    apart = plan_rows(range(8), items, CONTEXTS, STATEMENTS, 300)
    joined = plan_rows(range(8), items, CONTEXTS, STATEMENTS, 300, join_contexts=True)
    assert (len(apart), len(joined)) == (4, 1)


def test_a_statement_that_several_pairs_share_is_encoded_once() -> None:
    items = [Item("one", 0, (0, 1)), Item("two", 0, (0, 2))]
    contexts = EncodedTexts.of([np.array([7, 8, 9])])
    statements = EncodedTexts.of([np.array([1, 2]), np.array([3]), np.array([4, 5])])
    (row,) = plan_rows([0, 1], items, contexts.lengths, statements.lengths, 100)
    tensors, order, places = collate_row(row, RunData(contexts, statements, items, np.ones(len(items))))
    assert tensors.input_ids.tolist() == [[7, 8, 9, 1, 2, 3, 4, 5]]
    assert order == [0, 1]
    assert places.tolist() == [[0, 1], [0, 2]]
    assert tensors.targets.tolist() == [1, 2, 3, 4, 5]
    assert tensors.statement_of.tolist() == [0, 0, 1, 2, 2]


def test_by_default_sixteen_statements_share_the_longest_context() -> None:
    packing, statement = PackingSettings(), 60
    contexts, statements = np.array([packing.max_length - statement]), np.full(16, statement)
    items = [Item(str(at), 0, (at,)) for at in range(16)]
    assert len(plan_rows(range(16), items, contexts, statements, packing.tokens_per_row)) == 1
