"""Small MedHal and MedVAL dataset folders with tiny models, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ground.contracts.prompts import medhal_answer, medhal_prompt, medval_answer, medval_prompt
from ground.contracts.rows_text import MEDHAL_SCHEMA, MEDVAL_SCHEMA, MedhalRow, MedvalRow
from ground.lm.tiny import tiny_decoder, tiny_tokenizer
from tests.manifests import write_manifest

DRUGS = ("metformin", "lisinopril", "warfarin", "insulin", "aspirin", "heparin", "digoxin", "codeine")


def medhal_rows(n: int, split: Any = "train", task: Any = "question_answering") -> list[MedhalRow]:
    """Pairs about one drug each: the factual row says what the context says, its partner names another drug."""
    rows: list[MedhalRow] = []
    for number in range(n):
        drug, other = DRUGS[number // 2 % len(DRUGS)], DRUGS[(number // 2 + 1) % len(DRUGS)]
        label = number % 2 == 0
        rows.append(
            {
                "id": f"{split}-{task}-{number}",
                "pair_id": f"{split}-{task}-{number // 2}",
                "context": f"Takes {drug}.",
                "statement": f"The patient takes {drug if label else other}.",
                "label": label,
                "falsity": None if label else "contradicted",
                "explanation": None if label or task == "nli" else f"Takes {drug}.",
                "inner_id": str(number),
                "source": "made",
                "task": task,
                "synthetic": True,
                "wording": "smooth",
                "licence": "CC0",
                "subject_id": None,
                "in_length_filtered": True,
                "in_balanced": True,
                "split": split,
            }
        )
    return rows


def medval_rows(n: int, split: Any = "train", task: Any = "report2impression") -> list[MedvalRow]:
    """Clean and perturbed outputs by turns; a perturbed one misses a drug."""
    rows: list[MedvalRow] = []
    for number in range(n):
        drug = DRUGS[number // 2 % len(DRUGS)]
        clean = number % 2 == 0
        rows.append(
            {
                "id": f"{split}-{task}-{number}",
                "triple_id": f"{split}-{task}-{number // 2}",
                "task": task,
                "variant": "clean" if clean else "perturbed",
                "instruction": "Summarize.",
                "input": f"Takes {drug}.",
                "output": f"Takes {drug}." if clean else "Takes nothing.",
                "reasoning": "The texts agree." if clean else "A drug is missing.",
                "errors": []
                if clean
                else [{"category": "missing_claim", "text": f"no {drug}", "quote": drug, "quoted_from": "input"}],
                "risk_level": 1 if clean else 3,
                "delta": 0.0 if clean else 2 / 3,
                "label_basis": "validator",
                "consistency": 1.0,
                "engine": "rules",
                "inner_id": str(number),
                "source": "made",
                "licence": "CC0",
                "subject_id": None,
                "split": split,
            }
        )
    return rows


def write_dataset(folder: Path, rows: list[Any], schema: pa.Schema) -> Path:
    """Write a dataset folder as a builder does: one file a split, and a manifest."""
    (folder / "data").mkdir(parents=True)
    for split in sorted({row["split"] for row in rows}):
        table = pa.Table.from_pylist([row for row in rows if row["split"] == split], schema=schema)
        pq.write_table(table, folder / "data" / f"{split}-00000.parquet")
    write_manifest(folder, "medval")
    return folder


def medhal_dataset(folder: Path, rows: list[MedhalRow]) -> Path:
    return write_dataset(folder, rows, MEDHAL_SCHEMA)


def medval_dataset(folder: Path, rows: list[MedvalRow]) -> Path:
    return write_dataset(folder, rows, MEDVAL_SCHEMA)


def tiny_model(folder: Path, kind: Any = "llama", chat: bool = False, hidden: int = 32) -> Path:
    """A decoder whose tokenizer has learnt the words of the prompts and of the rows above."""
    texts = [medhal_prompt(row) + medhal_answer(row).text for row in medhal_rows(16)]
    texts += [medval_prompt(row) + medval_answer(row).text for row in medval_rows(16)]
    tokenizer = tiny_tokenizer(texts, folder, chat=chat, vocab_size=1000)
    return tiny_decoder(kind, tokenizer, folder, hidden=hidden)
