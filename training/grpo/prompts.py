"""Rows of arms and of evaluation, read from Parquet files, the same in every arm and in one order; what is asked.

An arm's file has the columns ``uid``, ``prompt``, ``label``, ``lower`` and ``upper``, all text; that of the evaluation
has ``set`` before them. One system prompt for all rows and arms lets the policy abstain (paper, appendix E).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ground import ROOT
from ground.contracts.grading import Reference
from ground.contracts.labels import parse_label
from ground.errors import InputError, UsageError
from ground.lm.sampling import unmarked
from ground.stable import stable_hash
from ground.storage.foreign import read_foreign

__all__ = [
    "Row",
    "encode",
    "messages",
    "order_sha256",
    "planned_order",
    "read_rows",
    "read_sets",
    "system_prompt",
]

SYSTEM = ROOT / "training" / "data" / "grpo_system.txt"
COLUMNS = ("uid", "prompt", "label", "lower", "upper")


@dataclass(frozen=True)
class Row:
    """A prompt and the label that answers to it are graded against."""

    uid: str
    prompt: str
    reference: Reference


def read_rows(file: Path, categories: Sequence[str] = ()) -> list[Row]:
    """Read an arm's rows; `InputError`: no such file, a column or label is missing, or a row occurs twice."""
    rows = _rows(read_foreign(file, "the table of rows", COLUMNS), file, categories)
    if len({row.uid for row in rows}) < len(rows):
        raise InputError("a row occurs twice", file=file)
    return rows


def read_sets(file: Path, categories: Sequence[str] = ()) -> dict[str, list[Row]]:
    """Read the rows of evaluation by set of labels, with the errors of `read_rows`; a row has one prompt in all."""
    frame = read_foreign(file, "the table of rows", ("set", *COLUMNS))
    sets = {str(name): _rows(rows, file, categories) for (name,), rows in frame.group_by("set", maintain_order=True)}
    if frame.select(pl.struct("uid", "prompt").n_unique()).item() != frame["uid"].n_unique():
        raise InputError("a row has two prompts", file=file)
    return sets


def _rows(frame: pl.DataFrame, file: Path, categories: Sequence[str]) -> list[Row]:
    rows = []
    for row in frame.iter_rows(named=True):
        value, low, high = (parse_label(row[name], categories=categories) for name in ("label", "lower", "upper"))
        if not (value.answered and low.answered and high.answered):
            raise InputError("a label or limit cannot be read", file=file, found=f"row {row['uid']}")
        rows.append(Row(row["uid"], row["prompt"], Reference(value, low, high)))
    return rows


def planned_order(uids: Sequence[str], seed: int, epochs: int, per_step: int) -> list[str]:
    """Return the rows of all steps, one after another: ``per_step`` distinct ones a step, the same in every arm.

    The order of an epoch is a stable hash of seed, epoch and row. Rows that do not fill an epoch's last step are left
    out of that epoch, and fewer rows than a step needs are refused.
    """
    if len(uids) < per_step:
        raise UsageError(
            "a step needs more rows than there are",
            found=f"{len(uids)} rows, prompts_per_step {per_step}",
            do="lower prompts_per_step",
        )
    kept = len(uids) - len(uids) % per_step
    return [
        uid
        for epoch in range(epochs)
        for uid in sorted(uids, key=lambda uid: (stable_hash(seed, "grpo-order", epoch, uid), uid))[:kept]
    ]


def order_sha256(order: Sequence[str]) -> str:
    """Return a hash that stands for an order of rows."""
    return hashlib.sha256("\n".join(order).encode()).hexdigest()


NUMBERS = "a number, a date as MM/DD/YYYY, or weeks and days as (W weeks, D days)"
NUMBER_EXAMPLES = "<answer>22.86</answer>, <answer>03/21/2006</answer>, <answer>unknown</answer>"


def system_prompt(categories: Sequence[str] = ()) -> str:
    """Return the system prompt; with ``categories`` the answer is one of their names."""
    system = SYSTEM.read_text(encoding="utf-8").rstrip("\n")
    if not categories:
        return system.format(forms=NUMBERS, examples=NUMBER_EXAMPLES)
    examples = f"<answer>{categories[0]}</answer>, <answer>unknown</answer>"
    return system.format(forms=f"one of {', '.join(categories)}", examples=examples)


def messages(tokenizer: Any, prompt: str, categories: Sequence[str] = ()) -> Any:
    """Return a row's prompt as trl takes it: a conversation, or text where the tokenizer has no chat template."""
    system, prompt = system_prompt(categories), unmarked(tokenizer, prompt)
    if tokenizer.chat_template:
        return [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
    return f"{system}\n\n{prompt}\n\n"


def encode(tokenizer: Any, prompts: Sequence[Any], *, thinking: bool) -> list[list[int]]:
    """Return the tokens of prompts, as `messages` made them, exactly as trl encodes them."""
    if not prompts:
        return []
    if isinstance(prompts[0], str):
        return [list(ids) for ids in tokenizer(text=list(prompts))["input_ids"]]
    encoded = tokenizer.apply_chat_template(
        conversation=list(prompts),
        add_generation_prompt=True,
        tokenize=True,
        return_dict=True,
        enable_thinking=thinking,
    )
    return [list(ids) for ids in encoded["input_ids"]]
