"""Packed rows: [context][s1][s2]...[sk], planned for a whole run so that an optimizer step mixes admissions.

An *item* is what the loss counts: a statement for a classifier, a pair of statements for CoRFu. Items of one admission
are encoded behind one copy of its context. Which items meet in a step depends on the seed, the epoch and the items
only; how they are packed into rows, and how rows are dealt to processes, changes no loss.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ground.errors import UsageError
from ground.stable import stable_hash

__all__ = ["Block", "Item", "RowPlan", "Step", "apart", "first_fit", "plan_epochs", "plan_rows"]

Lengths = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Item:
    """A unit of the loss: its name (for the hash), its context's index, and the indices of its statements."""

    name: str
    context: int
    statements: tuple[int, ...]


@dataclass(frozen=True)
class Block:
    """A context once, and the items that share it (indices into the run's items)."""

    context: int
    items: tuple[int, ...]


@dataclass(frozen=True)
class RowPlan:
    """What is encoded in one forward pass."""

    blocks: tuple[Block, ...]

    @property
    def items(self) -> list[int]:
        """The row's items, in order."""
        return [index for block in self.blocks for index in block.items]


@dataclass(frozen=True)
class Step:
    """One optimizer step: the rows that it takes."""

    rows: tuple[RowPlan, ...]

    @property
    def items(self) -> list[int]:
        """The items of all rows, in order."""
        return [index for row in self.rows for index in row.items]


def _by_context(indices: Iterable[int], items: Sequence[Item]) -> dict[int, list[int]]:
    of_context: dict[int, list[int]] = {}
    for index in indices:
        of_context.setdefault(items[index].context, []).append(index)
    return of_context


def _chunks(items: Sequence[Item], seed: int, epoch: int, most: int) -> list[list[int]]:
    """Deal each context's items into chunks of at most ``most``, and shuffle the chunks, by stable hashes."""
    order = sorted(range(len(items)), key=lambda i: stable_hash(seed, "item", epoch, items[i].name))
    of_context = _by_context(order, items).values()
    chunks = [indices[at : at + most] for indices in of_context for at in range(0, len(indices), most)]
    return sorted(chunks, key=lambda chunk: stable_hash(seed, "chunk", epoch, items[chunk[0]].name))


def _fill(
    context: int, indices: Sequence[int], items: Sequence[Item], lengths: tuple[Lengths, Lengths], budget: int
) -> list[tuple[Block, int]]:
    """Cut one context's items into blocks that fit a row; returns each with its tokens."""
    of_context, statements = int(lengths[0][context]), lengths[1]
    blocks: list[tuple[Block, int]] = []
    here: list[int] = []
    packed: set[int] = set()
    tokens = of_context
    for index in indices:
        own = set(items[index].statements)
        more = sum(int(statements[statement]) for statement in own - packed)
        if here and tokens + more > budget:
            blocks.append((Block(context, tuple(here)), tokens))
            here, packed, tokens = [], set(), of_context
            more = sum(int(statements[statement]) for statement in own)
        if tokens + more > budget:
            raise UsageError(
                "an item does not fit a packed row",
                found=f"{tokens + more} tokens",
                expected=f"at most packing.tokens_per_row = {budget}",
                do="raise packing.tokens_per_row, or lower packing.max_length",
            )
        here.append(index)
        packed |= own
        tokens += more
    return [*blocks, (Block(context, tuple(here)), tokens)]


def first_fit(lengths: Sequence[int], room: int) -> list[list[int]]:
    """Return which of some lengths share a row of ``room``, the longest first; a longer one has a row of its own."""
    rows: list[list[int]] = []
    left: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        at = next((at for at, free in enumerate(left) if lengths[i] <= free), len(rows))
        if at == len(rows):
            rows.append([])
            left.append(room)
        rows[at].append(i)
        left[at] -= lengths[i]
    return rows


def plan_rows(
    indices: Sequence[int],
    items: Sequence[Item],
    contexts: Lengths,
    statements: Lengths,
    tokens_per_row: int,
    *,
    join_contexts: bool = False,
) -> tuple[RowPlan, ...]:
    """Pack items into rows of at most ``tokens_per_row`` tokens, the largest block first (first fit, decreasing).

    Args:
        indices: the items to pack.
        items: all items of the run.
        contexts: tokens of each context. *Shape:* (n_contexts,).
        statements: tokens of each statement. *Shape:* (n_statements,).
        tokens_per_row: the budget; a context with one item that exceeds it is refused.
        join_contexts: whether a row may hold several contexts, which pays where the attention skips what is masked
            (FlexAttention) and costs where it does not.
    """
    blocks = [
        block
        for context, own in _by_context(indices, items).items()
        for block in _fill(context, own, items, (contexts, statements), tokens_per_row)
    ]
    blocks.sort(key=lambda block: (-block[1], block[0].context, block[0].items))
    tokens = [own for _, own in blocks]
    rows = first_fit(tokens, tokens_per_row) if join_contexts else [[at] for at in range(len(blocks))]
    return tuple(RowPlan(tuple(blocks[at][0] for at in row)) for row in rows)


def plan_epochs(
    items: Sequence[Item],
    contexts: Lengths,
    statements: Lengths,
    *,
    batch_size: int,
    max_per_context: int,
    tokens_per_row: int,
    epochs: float,
    seed: int,
    join_contexts: bool = False,
) -> list[Step]:
    """Plan every optimizer step of a run.

    Each step but an epoch's last holds exactly ``batch_size`` items; no admission gives more than ``max_per_context``
    of them in a row of the order, so that a step mixes admissions. A broken number of epochs ends within one. The rest
    is as of `plan_rows`.
    """
    plan: list[Step] = []
    for epoch in range(int(np.ceil(epochs))):
        order = [index for chunk in _chunks(items, seed, epoch, max_per_context) for index in chunk]
        steps = [order[at : at + batch_size] for at in range(0, len(order), batch_size)]
        kept = steps if epoch + 1 <= epochs else steps[: max(1, round(len(steps) * (epochs - epoch)))]
        plan += [
            Step(plan_rows(step, items, contexts, statements, tokens_per_row, join_contexts=join_contexts))
            for step in kept
        ]
    return plan


def apart(indices: Iterable[int], items: Sequence[Item]) -> tuple[RowPlan, ...]:
    """Return a row for each item, for decoders that cannot share contexts."""
    return tuple(RowPlan((Block(items[index].context, (index,)),)) for index in indices)
