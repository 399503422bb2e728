"""Row contracts: the Python types, and the Arrow schemas say the same."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from ground.contracts.rows import (
    CONTRADICTED_SCHEMA,
    DENIED_SPAN,
    MEDIEVAL_SCHEMA,
    PATH_EDGE,
    STATEMENT_SCHEMA,
    SUPPORT_SPAN,
    ContradictedRow,
    DeniedSpanRow,
    MedievalRow,
    PathEdgeRow,
    StatementRow,
    SupportSpanRow,
)
from tests.ground.contracts.agreement import assert_fields_agree

CONTRACT = (
    "id group_id subject_id hadm_id context statement quadrant is_true is_supported predicate head_cui head_name "
    "tail_cui tail_name hops tier support_level path support_spans replaced_end replaced_cui distance why_false "
    "split fact_split given fold"
)


def names_of(kind: pa.DataType) -> str:
    return " ".join(kind.field(n).name for n in range(kind.num_fields))


@pytest.mark.parametrize(
    ("row", "schema"),
    [(MedievalRow, MEDIEVAL_SCHEMA), (ContradictedRow, CONTRADICTED_SCHEMA), (StatementRow, STATEMENT_SCHEMA)],
)
def test_python_type_and_arrow_schema_agree(row: Any, schema: pa.Schema) -> None:
    assert_fields_agree(row, schema)


@pytest.mark.parametrize(
    ("row", "kind"), [(PathEdgeRow, PATH_EDGE), (SupportSpanRow, SUPPORT_SPAN), (DeniedSpanRow, DENIED_SPAN)]
)
def test_nested_rows_agree_with_their_structs(row: Any, kind: pa.DataType) -> None:
    assert_fields_agree(row, kind, nested=True)


def test_the_columns_are_those_of_the_contract() -> None:
    assert " ".join(MEDIEVAL_SCHEMA.names) == CONTRACT
    assert names_of(PATH_EDGE) == "head_cui predicate rela tail_cui sab rui"
    assert names_of(SUPPORT_SPAN) == "role cui begin_offset end_offset text section"


def test_only_what_may_be_unknown_is_nullable() -> None:
    nullable = {field.name for field in MEDIEVAL_SCHEMA if field.nullable}
    assert nullable == {"tier", "replaced_cui", "distance", "why_false", "fact_split"}
