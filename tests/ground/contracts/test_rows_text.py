"""Row contracts of MedHal and MedVAL: the Python types and the Arrow schemas say the same."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from ground.contracts.rows_text import (
    MEDHAL_SCHEMA,
    MEDVAL_DELTAS,
    MEDVAL_ERROR,
    MEDVAL_SCHEMA,
    RISK_LEVELS,
    MedhalRow,
    MedvalErrorRow,
    MedvalRow,
)
from tests.ground.contracts.agreement import assert_fields_agree


@pytest.mark.parametrize(
    ("row", "fields"),
    [(MedhalRow, list(MEDHAL_SCHEMA)), (MedvalRow, list(MEDVAL_SCHEMA)), (MedvalErrorRow, list(MEDVAL_ERROR))],
)
def test_python_type_and_arrow_schema_agree(row: Any, fields: list[pa.Field]) -> None:
    assert_fields_agree(row, fields)


def test_a_risk_level_stands_for_its_perturbation() -> None:
    assert tuple(MEDVAL_DELTAS) == RISK_LEVELS
    for level, delta in MEDVAL_DELTAS.items():
        assert level == pytest.approx(1 + 3 * delta)


def test_a_row_of_each_kind_fits_its_schema() -> None:
    medhal: MedhalRow = {
        "id": "a",
        "pair_id": "p",
        "context": None,
        "statement": "Metformin treats diabetes.",
        "label": True,
        "falsity": None,
        "explanation": None,
        "inner_id": "7",
        "source": "medqa",
        "task": "question_answering",
        "synthetic": True,
        "wording": "smooth",
        "licence": "MIT",
        "subject_id": None,
        "in_length_filtered": True,
        "in_balanced": False,
        "split": "train",
    }
    error: MedvalErrorRow = {"category": "missing_claim", "text": "x", "quote": None, "quoted_from": None}
    medval: MedvalRow = {
        "id": "a",
        "triple_id": "t",
        "task": "report2impression",
        "variant": "perturbed",
        "instruction": "Summarize.",
        "input": "Findings.",
        "output": "Impression.",
        "reasoning": None,
        "errors": [error],
        "risk_level": 3,
        "delta": 2 / 3,
        "label_basis": "validator",
        "consistency": 0.95,
        "engine": "rules",
        "inner_id": "7",
        "source": "open_i",
        "licence": "CC0",
        "subject_id": None,
        "split": "train",
    }
    assert pa.Table.from_pylist([medhal], schema=MEDHAL_SCHEMA).to_pylist() == [medhal]
    assert pa.Table.from_pylist([medval], schema=MEDVAL_SCHEMA).to_pylist() == [medval]
