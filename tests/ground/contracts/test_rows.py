"""Row contracts: names, types and nullability of the columns that Arrow schemas get from the Python types."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ground.contracts.rows import (
    CONTRADICTED_SCHEMA,
    DENIED_SPAN,
    MEDIEVAL_SCHEMA,
    PATH_EDGE,
    STATEMENT_SCHEMA,
    SUPPORT_SPAN,
)
from ground.contracts.rows_text import MEDHAL_SCHEMA, MEDVAL_DELTAS, MEDVAL_ERROR, MEDVAL_SCHEMA, RISK_LEVELS

MEDIEVAL = (
    "id group_id subject_id:int64 hadm_id:int64 context statement quadrant is_true:bool is_supported:bool predicate "
    "head_cui head_name tail_cui tail_name hops:int32 tier? support_level path:list support_spans:list replaced_end "
    "replaced_cui? distance:int32? why_false? split fact_split? given fold:int32"
)
SPAN = "role? cui? begin_offset:int32? end_offset:int32? text? section?"


def columns_of(fields: pa.Schema | pa.DataType) -> str:
    """Write fields as ``name:type?``: text where no type is given, ``?`` where null is allowed."""
    return " ".join(
        field.name
        + ("" if field.type == pa.string() else ":list" if pa.types.is_list(field.type) else f":{field.type}")
        + "?" * field.nullable
        for field in fields
    )


@pytest.mark.parametrize(
    ("fields", "columns"),
    [
        (MEDIEVAL_SCHEMA, MEDIEVAL),
        (CONTRADICTED_SCHEMA, f"{MEDIEVAL} denied_spans:list"),
        (STATEMENT_SCHEMA, "statement predicate head_cui tail_cui is_true:bool n_samples:int64"),
        (PATH_EDGE, "head_cui? predicate? rela? tail_cui? sab? rui?"),
        (SUPPORT_SPAN, SPAN),
        (DENIED_SPAN, f"{SPAN} assertion?"),
        (
            MEDHAL_SCHEMA,
            "id pair_id context? statement label:bool falsity? explanation? inner_id source task synthetic:bool "
            "wording licence subject_id:int64? in_length_filtered:bool in_balanced:bool split",
        ),
        (
            MEDVAL_SCHEMA,
            "id triple_id task variant instruction input output reasoning? errors:list risk_level:int8 label_basis? "
            "delta:double? consistency:double? engine inner_id source licence subject_id:int64? split",
        ),
        (MEDVAL_ERROR, "category text quote? quoted_from?"),
    ],
)
def test_the_columns_are_those_of_the_contract(fields: pa.Schema | pa.DataType, columns: str) -> None:
    assert columns_of(fields) == columns


@pytest.mark.parametrize(
    ("schema", "column", "item"),
    [
        (MEDIEVAL_SCHEMA, "path", PATH_EDGE),
        (MEDIEVAL_SCHEMA, "support_spans", SUPPORT_SPAN),
        (CONTRADICTED_SCHEMA, "denied_spans", DENIED_SPAN),
        (MEDVAL_SCHEMA, "errors", MEDVAL_ERROR),
    ],
)
def test_lists_hold_the_structs_of_the_contract(schema: pa.Schema, column: str, item: pa.DataType) -> None:
    assert schema.field(column).type == pa.list_(item)


def test_a_risk_level_stands_for_its_perturbation() -> None:
    assert tuple(MEDVAL_DELTAS) == RISK_LEVELS
    for level, delta in MEDVAL_DELTAS.items():
        assert level == pytest.approx(1 + 3 * delta)
