"""Row contracts of MedHal and MedVAL: the Python types and the Arrow schemas say the same."""

from __future__ import annotations

import types
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

import pyarrow as pa
import pytest

from ground.contracts.rows_text import (
    MEDHAL_SCHEMA,
    MEDHAL_TASKS,
    MEDVAL_CATEGORIES,
    MEDVAL_DELTAS,
    MEDVAL_ERROR,
    MEDVAL_SCHEMA,
    MEDVAL_TASKS,
    RISK_LEVELS,
    ErrorCategory,
    MedhalRow,
    MedhalTask,
    MedvalErrorRow,
    MedvalRow,
    MedvalTask,
    RiskLevel,
)


def plain(hint: Any) -> tuple[Any, bool]:
    """Return the type without None and Literal, and whether it may be null."""
    nullable = False
    if get_origin(hint) in (Union, types.UnionType):
        members = [member for member in get_args(hint) if member is not type(None)]
        nullable = len(members) < len(get_args(hint))
        hint = members[0]
    if get_origin(hint) is Literal:
        hint = type(get_args(hint)[0])
    return hint, nullable


def assert_fields_agree(row: Any, fields: list[pa.Field]) -> None:
    hints = get_type_hints(row)
    assert list(hints) == [field.name for field in fields]
    tests = {
        str: pa.types.is_string,
        bool: pa.types.is_boolean,
        int: pa.types.is_integer,
        float: pa.types.is_floating,
    }
    for field in fields:
        hint, nullable = plain(hints[field.name])
        assert nullable == field.nullable, field.name
        if get_origin(hint) is list:
            item = get_args(hint)[0]
            assert is_typeddict(item)
            assert_fields_agree(item, list(field.type.value_type))
        else:
            assert tests[hint](field.type), field.name


@pytest.mark.parametrize(
    ("row", "fields"),
    [(MedhalRow, list(MEDHAL_SCHEMA)), (MedvalRow, list(MEDVAL_SCHEMA)), (MedvalErrorRow, list(MEDVAL_ERROR))],
)
def test_python_type_and_arrow_schema_agree(row: Any, fields: list[pa.Field]) -> None:
    assert_fields_agree(row, fields)


def test_lists_of_names_follow_their_types() -> None:
    assert get_args(MedhalTask) == MEDHAL_TASKS
    assert get_args(MedvalTask) == MEDVAL_TASKS
    assert get_args(ErrorCategory) == MEDVAL_CATEGORIES
    assert get_args(RiskLevel) == RISK_LEVELS == tuple(MEDVAL_DELTAS)


def test_a_risk_level_stands_for_its_perturbation() -> None:
    for level, delta in MEDVAL_DELTAS.items():
        assert level == pytest.approx(1 + 3 * delta)


def test_a_row_of_each_kind_fits_its_schema() -> None:
    medhal: MedhalRow = {
        "id": "a",
        "pair_id": "p",
        "context": None,
        "statement": "Metformin treats diabetes.",
        "label": True,
        "explanation": None,
        "inner_id": "7",
        "source": "medqa",
        "task": "question_answering",
        "synthetic": True,
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
