"""Token ids of contexts and statements, encoded apart in every engine so that all engines see the same tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ground.errors import UsageError
from ground.json_record import JsonRecord
from training.packing.contexts import context_sections, kept_tokens

__all__ = [
    "WITHOUT_MARKS",
    "EncodedTexts",
    "Truncation",
    "encode_contexts",
    "encode_statements",
    "kept_parts",
    "special_token",
]

Ids = npt.NDArray[np.int64]

# The words around a context and a statement; each is encoded apart from the texts, so that cutting a context cannot
# cut them.
BEFORE_CONTEXT = "Patient record:\n"
AFTER_CONTEXT = "\n\nStatement:"
PLACE = "\x00context\x00"
# A note that has a special token's text in it ends nothing by it.
WITHOUT_MARKS = {"add_special_tokens": False, "split_special_tokens": True, "return_attention_mask": False}


@dataclass(frozen=True)
class Truncation(JsonRecord):
    """What cutting the contexts cost: how many of them, and how many of their tokens."""

    contexts: int
    truncated: int
    tokens: int
    tokens_cut: int


@dataclass(frozen=True)
class EncodedTexts:
    """Token ids of many texts in one array.

    *Shapes:* ``ids`` (n_tokens,), ``offsets`` (n_texts + 1,).
    """

    ids: Ids
    offsets: Ids

    @classmethod
    def of(cls, texts: Sequence[Ids]) -> EncodedTexts:
        """Join the ids of several texts."""
        lengths = np.array([len(ids) for ids in texts], dtype=np.int64)
        ids = np.concatenate([np.empty(0, np.int64), *texts])
        return cls(ids=ids, offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> Ids:
        return self.ids[self.offsets[index] : self.offsets[index + 1]]

    @property
    def lengths(self) -> Ids:
        """Tokens of each text. *Shape:* (n_texts,)."""
        return np.diff(self.offsets)


def special_token(tokenizer: Any, name: str) -> list[int]:
    """Return the id of ``bos`` or ``eos`` in a list, empty where the tokenizer has none."""
    number = getattr(tokenizer, f"{name}_token_id")
    return [] if number is None else [int(number)]


def _bare_ids(tokenizer: Any, texts: list[str]) -> list[Ids]:
    return [np.asarray(ids, dtype=np.int64) for ids in tokenizer(texts, **WITHOUT_MARKS)["input_ids"]]


def encode_statements(tokenizer: Any, statements: Sequence[str], *, end: bool) -> EncodedTexts:
    """Encode statements; with ``end`` the end-of-text token closes each (a policy must say where it stops)."""
    tail = np.asarray(special_token(tokenizer, "eos") if end else [], dtype=np.int64)
    encoded = _bare_ids(tokenizer, [f" {statement}" for statement in statements])
    return EncodedTexts.of([np.concatenate([ids, tail]) for ids in encoded])


def _frame(tokenizer: Any, *, chat: bool) -> tuple[Ids, Ids]:
    """Return the tokens before and after a context; with ``chat`` those of the template's turns, too."""
    if not chat:
        before = np.concatenate([special_token(tokenizer, "bos"), *_bare_ids(tokenizer, [BEFORE_CONTEXT])])
        return before.astype(np.int64), _bare_ids(tokenizer, [AFTER_CONTEXT])[0]
    if not tokenizer.chat_template:
        raise UsageError("the tokenizer has no chat template", do="set packing.chat_template to false")
    messages = [{"role": "user", "content": f"{BEFORE_CONTEXT}{PLACE}{AFTER_CONTEXT}"}]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, enable_thinking=False)
    parts = tokenizer(text.split(PLACE), add_special_tokens=False)["input_ids"]
    return np.asarray(parts[0], dtype=np.int64), np.asarray(parts[1], dtype=np.int64)


def kept_parts(
    tokenizer: Any, contexts: Sequence[str], budget: int
) -> Iterator[tuple[Ids, npt.NDArray[np.int64], npt.NDArray[np.bool_]]]:
    """Yield each context's tokens, where they stand in it, and which of them are kept under a budget.

    *Shapes:* (n_tokens,), (n_tokens, 2) half-open code points, (n_tokens,). `UsageError`: a slow tokenizer, which gives
    no offsets.
    """
    if not getattr(tokenizer, "is_fast", False):
        raise UsageError(
            "the tokenizer gives no offsets",
            found=type(tokenizer).__name__,
            expected="a fast tokenizer (tokenizer.json)",
            do="use a model folder that has tokenizer.json",
        )
    encoded = tokenizer(list(contexts), return_offsets_mapping=True, **WITHOUT_MARKS)
    for context, ids, offsets in zip(contexts, encoded["input_ids"], encoded["offset_mapping"], strict=True):
        spans = np.array(offsets, dtype=np.int64).reshape(-1, 2)
        kept = kept_tokens(spans[:, 0], context_sections(context), budget)
        yield np.asarray(ids, dtype=np.int64), spans, kept


def encode_contexts(
    tokenizer: Any, contexts: Sequence[str], *, max_tokens: int, chat: bool = False
) -> tuple[EncodedTexts, Truncation]:
    """Encode contexts with the words around them, each cut to at most ``max_tokens`` by section priority.

    With ``chat`` the context is what the user says in the tokenizer's chat template, and the statement behind it what
    the model answers.

    Raises:
        UsageError: the tokenizer is a slow one (offsets are needed), it has no chat template, or ``max_tokens`` leaves
            no room for a context.
    """
    before, after = _frame(tokenizer, chat=chat)
    budget = max_tokens - len(before) - len(after)
    if budget < 1:
        raise UsageError(
            "max_length leaves no room for a context",
            found=f"{max_tokens} tokens beside the longest statement",
            expected=f"at least {len(before) + len(after) + 1}",
            do="raise packing.max_length",
        )
    texts, cut, total = [], [], 0
    for ids, _, kept in kept_parts(tokenizer, contexts, budget):
        texts.append(np.concatenate([before, ids[kept], after]))
        cut.append(int((~kept).sum()))
        total += len(ids)
    return EncodedTexts.of(texts), Truncation(len(texts), sum(n > 0 for n in cut), total, sum(cut))
