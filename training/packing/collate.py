"""Tensors of one packed row: tokens, restarted positions, who sees whom, and where predictions are read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from training.packing.plan import Item, RowPlan
from training.packing.tokens import EncodedTexts

__all__ = ["PAD", "PackedRow", "RunData", "collate_row", "packed_row"]

PAD = -1
"""The context number of padding, which sees nothing but itself and is seen by none."""


@dataclass(frozen=True)
class RunData:
    """What a run reads: encoded texts, the items of the loss and their weights. *Shape:* ``weights`` (n_items,)."""

    contexts: EncodedTexts
    statements: EncodedTexts
    items: list[Item]
    weights: npt.NDArray[np.float64]
    pad_id: int = 0

    @classmethod
    def alike(cls, contexts: EncodedTexts, statements: EncodedTexts, items: list[Item], pad_id: int = 0) -> RunData:
        """Return items that all weigh the same."""
        return cls(contexts, statements, items, np.ones(len(items)), pad_id)


@dataclass(frozen=True)
class PackedRow:
    """One packed row of ``n`` tokens with ``k`` statements of ``t`` tokens together.

    Attributes:
        input_ids: *Shape:* (1, n).
        position_ids: positions, restarted after the context for each statement. *Shape:* (1, n).
        context_of: which context a token belongs to, `PAD` for padding. *Shape:* (n,).
        segment_of: 0 for a context's tokens, else the number of the statement. *Shape:* (n,).
        predictors: row positions whose states predict the statements' tokens: the last context position for a first
            token, the position before for the others. *Shape:* (t,).
        targets: token ids that are predicted. *Shape:* (t,).
        statement_of: which statement (0 to k - 1) each target belongs to. *Shape:* (t,).
        last: row position of each statement's last token. *Shape:* (k,).
        contexts: how many tokens each context has, in the order of the row.
    """

    input_ids: torch.Tensor
    position_ids: torch.Tensor
    context_of: torch.Tensor
    segment_of: torch.Tensor
    predictors: torch.Tensor
    targets: torch.Tensor
    statement_of: torch.Tensor
    last: torch.Tensor
    contexts: tuple[int, ...]

    def to(self, device: torch.device | str) -> PackedRow:
        """Move every tensor."""
        moved: dict[str, Any] = {name: value.to(device) for name, value in vars(self).items() if torch.is_tensor(value)}
        return replace(self, **moved)


def packed_row(
    groups: list[tuple[npt.NDArray[np.int64], list[npt.NDArray[np.int64]]]], *, multiple: int = 1, pad_id: int = 0
) -> PackedRow:
    """Lay contexts and their statements out in one row, padded to a multiple of so many tokens.

    ``groups`` are pairs of a context's ids and the ids of its statements, in the order of the row.
    """
    pieces = [piece for context, statements in groups for piece in (context, *statements)]
    sizes = np.array([len(piece) for piece in pieces])
    starts, first = np.cumsum(sizes) - sizes, np.cumsum([0, *(1 + len(statements) for _, statements in groups)])[:-1]
    # Of each piece: its context, and whether it is one; of each token: its piece, and its place in it.
    of_group = np.repeat(np.arange(len(groups)), np.diff([*first, len(pieces)]))
    own = first[of_group]
    is_statement = own != np.arange(len(pieces))
    piece = np.repeat(np.arange(len(pieces)), sizes)
    place = np.arange(len(piece)) - starts[piece]
    asked = np.flatnonzero(is_statement[piece])
    context_ends = (starts + sizes)[own[piece[asked]]] - 1
    segments = np.where(is_statement, np.cumsum(is_statement), 0)

    def whole(values: npt.NDArray[np.int64], padding: int) -> torch.Tensor:
        return torch.from_numpy(np.pad(values, (0, -len(piece) % multiple), constant_values=padding))

    return PackedRow(
        input_ids=whole(np.concatenate(pieces).astype(np.int64), pad_id)[None],
        position_ids=whole(place + np.where(is_statement, sizes[own], 0)[piece], 0)[None],
        context_of=whole(of_group[piece], PAD),
        segment_of=whole(segments[piece], 0),
        predictors=torch.from_numpy(np.where(place[asked] == 0, context_ends, asked - 1)),
        targets=torch.from_numpy(np.concatenate(pieces)[asked].astype(np.int64)),
        statement_of=torch.from_numpy(segments[piece[asked]] - 1),
        last=torch.from_numpy((starts + sizes - 1)[is_statement]),
        contexts=tuple(len(context) for context, _ in groups),
    )


def collate_row(plan: RowPlan, data: RunData, *, multiple: int = 1) -> tuple[PackedRow, list[int], torch.Tensor]:
    """Make the tensors of a planned row; a statement that several items of a block share is encoded once.

    Returns:
        The row; the indices of its items; and for each the places of its statements in the row.
        *Shape:* (n_items, statements of an item).
    """
    groups, places = [], []
    order: list[int] = []
    at = 0
    for block in plan.blocks:
        used = list(dict.fromkeys(s for index in block.items for s in data.items[index].statements))
        place = {statement: at + offset for offset, statement in enumerate(used)}
        groups.append((data.contexts[block.context], [data.statements[statement] for statement in used]))
        order += block.items
        places += [[place[statement] for statement in data.items[index].statements] for index in block.items]
        at += len(used)
    row = packed_row(groups, multiple=multiple, pad_id=data.pad_id)
    return row, order, torch.tensor(places, dtype=torch.int64)
