"""A dataset's texts as token ids: statements, and contexts cut into windows, which never look at what a row asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import polars as pl

from evaluation.predictions import label_codes
from training.packing.tokens import WITHOUT_MARKS

__all__ = ["EncodedRows", "context_windows", "tile", "tokenize_rows"]


@dataclass(frozen=True)
class EncodedRows:
    """Rows of a dataset as a model reads them, in the order that they came in.

    Attributes:
        statements: token ids of each statement, with marks.
        texts: the statements themselves.
        admissions: the admission of each row.
        labels: 0 to 3 for Q1 to Q4.
        windows: token ids of the windows of each admission, with marks.
        contexts: the contexts themselves.
    """

    statements: list[tuple[int, ...]]
    texts: list[str]
    admissions: list[int]
    labels: list[int]
    windows: dict[int, list[tuple[int, ...]]]
    contexts: dict[int, str]

    def __len__(self) -> int:
        return len(self.statements)


def _token_ids(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Tokenise without marks; long texts are meant to be long, so no warning."""
    ids: list[list[int]] = tokenizer(list(texts), verbose=False, **WITHOUT_MARKS)["input_ids"]
    return ids


def tile(n_tokens: int, size: int, overlap: int) -> list[slice]:
    """Cover ``n_tokens`` with the fewest windows of at most ``size`` tokens that share at least ``overlap``.

    The windows are of nearly equal length, so that a batch of them has little padding. A window depends on the length
    of the context only: choosing windows by a row's evidence would give the label away.

    Returns:
        Slices in order, the first starting at 0 and the last ending at ``n_tokens``; one empty slice for no tokens.

    >>> tile(10, 6, 2)
    [slice(0, 6, None), slice(4, 10, None)]
    """
    if n_tokens <= size:
        return [slice(0, n_tokens)]
    count = -(-(n_tokens - overlap) // (size - overlap))
    # Lengths before the overlap, spread evenly: the first start at 0, the last end at n_tokens.
    body = n_tokens - overlap
    edges = [body * i // count for i in range(count + 1)]
    return [slice(start, end + overlap) for start, end in pairwise(edges)]


def context_windows(
    tokenizer: Any, contexts: Sequence[str], window_tokens: int, overlap_tokens: int
) -> list[list[tuple[int, ...]]]:
    """Tokenise contexts and cut each into windows that tile it, each with its marks."""
    first, last = tokenizer.cls_token_id, tokenizer.sep_token_id
    return [
        [(first, *ids[part], last) for part in tile(len(ids), window_tokens - 2, overlap_tokens)]
        for ids in _token_ids(tokenizer, contexts)
    ]


def tokenize_rows(
    tokenizer: Any, rows: pl.DataFrame, contexts: pl.DataFrame, window_tokens: int, overlap_tokens: int
) -> EncodedRows:
    """Tokenise rows and the contexts that they need, in windows of so many tokens, marks included.

    Of ``rows`` the columns ``statement``, ``hadm_id`` and ``quadrant`` are read; ``contexts`` has ``hadm_id`` and
    ``context``, one row an admission. Neighbouring windows share ``overlap_tokens``.
    """
    needed = contexts.filter(pl.col("hadm_id").is_in(rows["hadm_id"].unique().to_list())).sort("hadm_id")
    first, last, texts = tokenizer.cls_token_id, tokenizer.sep_token_id, rows["statement"].to_list()
    cut = context_windows(tokenizer, needed["context"].to_list(), window_tokens, overlap_tokens)
    return EncodedRows(
        # What goes beyond a window is cut off.
        statements=[(first, *ids[: window_tokens - 2], last) for ids in _token_ids(tokenizer, texts)],
        texts=texts,
        admissions=rows["hadm_id"].to_list(),
        labels=label_codes(rows["quadrant"], "quadrants").to_list(),
        windows=dict(zip(needed["hadm_id"], cut, strict=True)),
        contexts=dict(needed.select("hadm_id", "context").iter_rows()),
    )
