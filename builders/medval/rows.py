"""From triples to rows: the two rows of a kept triple, their chat form, and the line of the audit table."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import cache
from typing import Any

import pyarrow as pa

from builders.medval.algorithm import Triple, triple_id
from builders.medval.items import Judgement, Output
from builders.texts.origin import Seeds
from ground.contracts.prompts import medval_answer, medval_prompt
from ground.contracts.rows_text import MEDVAL_DELTAS, MEDVAL_ERROR, RISK_LEVELS, MedvalRow, MedvalTask
from ground.contracts.taxonomy import medval_tasks

__all__ = ["CHAT_SCHEMA", "TRIPLE_SCHEMA", "chat_table", "data_rows", "instruction_of", "triple_table"]

EDIT = pa.struct(
    [
        pa.field("rule", pa.string(), nullable=False),
        pa.field("category", pa.string()),
        pa.field("before", pa.string(), nullable=False),
        pa.field("after", pa.string(), nullable=False),
        pa.field("begin", pa.int32(), nullable=False),
        pa.field("evidence", pa.string(), nullable=False),
    ]
)


def _side(name: str) -> list[pa.Field]:
    """Return the columns of the clean or the perturbed side: its text, its edits, what the validator said of it."""
    return [
        pa.field(f"{name}_output", pa.string()),
        pa.field(f"{name}_edits", pa.list_(EDIT)),
        pa.field(f"{name}_level", pa.int8()),
        pa.field(f"{name}_score", pa.float64()),
        pa.field(f"{name}_reasoning", pa.string()),
        pa.field(f"{name}_errors", pa.list_(MEDVAL_ERROR)),
    ]


TRIPLE_SCHEMA = pa.schema(
    [
        pa.field("triple_id", pa.string(), nullable=False),
        pa.field("task", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("inner_id", pa.string(), nullable=False),
        pa.field("subject_id", pa.int64()),
        pa.field("split", pa.string(), nullable=False),
        pa.field("input_sha256", pa.string(), nullable=False),
        pa.field("drawn_level", pa.int8(), nullable=False),
        pa.field("level", pa.int8(), nullable=False),
        pa.field("delta", pa.float64(), nullable=False),
        *_side("clean"),
        *_side("perturbed"),
        pa.field("consistency", pa.float64()),
        pa.field("kept", pa.bool_(), nullable=False),
        pa.field("refusal", pa.string()),
    ]
)
"""One row for each input that reached the generator, kept or not; what comes after a refusal is null."""

MESSAGE = pa.struct([pa.field("role", pa.string(), nullable=False), pa.field("content", pa.string(), nullable=False)])
CHAT_SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("messages", pa.list_(MESSAGE), nullable=False),
        pa.field("split", pa.string(), nullable=False),
    ]
)
"""The same rows as conversations: the prompt that a validator is asked with, and the answer that it should give."""


@cache
def instruction_of(task: MedvalTask) -> str:
    """Return what the output of a task was asked for with."""
    return next(row["instruction"] for row in medval_tasks() if row["task"] == task)


def data_rows(triples: Sequence[Triple], licence: str, engine: str, seeds: Seeds) -> Iterator[MedvalRow]:
    """Yield the clean and the perturbed row of each kept triple.

    Errors, reasoning and risk level are the validator's; ``delta`` is what the generator was asked for, and
    ``label_basis`` says whether the two agree where levels are known by construction.

    Args:
        triples: of one source.
        licence: of that source.
        engine: who judged.
        seeds: of the splits of documents and of patients.
    """
    for triple in triples:
        if not triple.kept:
            continue
        item, name = triple.item, triple_id(triple.item)
        sides = (
            ("clean", triple.clean, triple.judged_clean, RISK_LEVELS[0]),
            ("perturbed", triple.perturbed, triple.judged_perturbed, triple.level),
        )
        for variant, output, judgement, level in sides:
            assert output is not None and judgement is not None
            yield MedvalRow(
                id=f"{name}-{variant}",
                triple_id=name,
                task=item.task,
                variant=variant,  # type: ignore[typeddict-item]
                instruction=instruction_of(item.task),
                input=item.input,
                output=output.text,
                reasoning=judgement.reasoning or None,
                errors=list(judgement.errors),
                risk_level=judgement.risk_level,
                label_basis=triple.label_basis(level, judgement),
                delta=MEDVAL_DELTAS[level],
                consistency=triple.consistency,
                engine=engine,  # type: ignore[typeddict-item]
                inner_id=item.origin.inner_id,
                source=item.origin.source,
                licence=licence,
                subject_id=item.origin.subject_id,
                split=seeds.split(item.origin),
            )


def chat_table(rows: Sequence[MedvalRow]) -> pa.Table:
    """Return rows as conversations of two turns."""
    return pa.Table.from_pylist(
        [
            {
                "id": row["id"],
                "messages": [
                    {"role": "user", "content": medval_prompt(row)},
                    {"role": "assistant", "content": medval_answer(row).text},
                ],
                "split": row["split"],
            }
            for row in rows
        ],
        schema=CHAT_SCHEMA,
    )


def triple_table(triples: Sequence[Triple], seeds: Seeds) -> pa.Table:
    """Return triples as lines of the audit table, kept or not; the input is named by its hash."""
    return pa.Table.from_pylist(
        [
            {
                "triple_id": triple_id(triple.item),
                "task": triple.item.task,
                "source": triple.item.origin.source,
                "inner_id": triple.item.origin.inner_id,
                "subject_id": triple.item.origin.subject_id,
                "split": seeds.split(triple.item.origin),
                "input_sha256": hashlib.sha256(triple.item.input.encode()).hexdigest(),
                "drawn_level": triple.drawn,
                "level": triple.level,
                "delta": triple.delta,
                **_side_of("clean", triple.clean, triple.judged_clean),
                **_side_of("perturbed", triple.perturbed, triple.judged_perturbed),
                "consistency": triple.consistency,
                "kept": triple.kept,
                "refusal": triple.refusal,
            }
            for triple in triples
        ],
        schema=TRIPLE_SCHEMA,
    )


def _side_of(name: str, output: Output | None, judgement: Judgement | None) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if output is not None:
        values |= {"output": output.text, "edits": [asdict(edit) for edit in output.edits]}
    if judgement is not None:
        values |= {
            "level": judgement.risk_level,
            "score": judgement.score,
            "reasoning": judgement.reasoning or None,
            "errors": list(judgement.errors),
        }
    return {f"{name}_{key}": value for key, value in values.items()}
