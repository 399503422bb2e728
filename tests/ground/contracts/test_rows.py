"""Row contracts: the Python types, and the Arrow schemas say the same."""

from __future__ import annotations

import types
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

import pyarrow as pa
import pytest

from ground.contracts.rows import (
    MEDIEVAL_SCHEMA,
    PATH_EDGE,
    QUADRANTS,
    STATEMENT_SCHEMA,
    SUPPORT_SPAN,
    MedievalRow,
    PathEdgeRow,
    Quadrant,
    StatementRow,
    SupportSpanRow,
)

CONTRACT = (
    "id group_id subject_id hadm_id context statement quadrant is_true is_supported predicate head_cui head_name "
    "tail_cui tail_name hops tier support_level path support_spans replaced_end replaced_cui distance why_false "
    "split fact_split"
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


def agrees(hint: Any, kind: pa.DataType) -> bool:
    if get_origin(hint) is list:
        return pa.types.is_list(kind) and agrees(get_args(hint)[0], kind.value_type)
    if is_typeddict(hint):
        names = [kind.field(n).name for n in range(kind.num_fields)]
        hints = get_type_hints(hint)
        return list(hints) == names and all(agrees(plain(hints[n])[0], kind.field(n).type) for n in names)
    tests = {str: pa.types.is_string, bool: pa.types.is_boolean, int: pa.types.is_integer}
    return bool(tests[hint](kind))


def names_of(kind: pa.DataType) -> str:
    return " ".join(kind.field(n).name for n in range(kind.num_fields))


@pytest.mark.parametrize(("row", "schema"), [(MedievalRow, MEDIEVAL_SCHEMA), (StatementRow, STATEMENT_SCHEMA)])
def test_python_type_and_arrow_schema_agree(row: Any, schema: pa.Schema) -> None:
    hints = get_type_hints(row)
    assert list(hints) == schema.names
    for field in schema:
        hint, nullable = plain(hints[field.name])
        assert agrees(hint, field.type), field.name
        assert nullable == field.nullable, field.name


@pytest.mark.parametrize(("row", "kind"), [(PathEdgeRow, PATH_EDGE), (SupportSpanRow, SUPPORT_SPAN)])
def test_nested_rows_agree_with_their_structs(row: Any, kind: pa.DataType) -> None:
    assert agrees(row, kind)


def test_the_columns_are_those_of_the_contract() -> None:
    assert " ".join(MEDIEVAL_SCHEMA.names) == CONTRACT
    assert names_of(PATH_EDGE) == "head_cui predicate rela tail_cui sab rui"
    assert names_of(SUPPORT_SPAN) == "role cui begin_offset end_offset text section"


def test_identifiers_are_wide_and_offsets_are_numbers() -> None:
    assert MEDIEVAL_SCHEMA.field("subject_id").type == pa.int64()
    assert MEDIEVAL_SCHEMA.field("hadm_id").type == pa.int64()
    assert MEDIEVAL_SCHEMA.field("is_true").type == pa.bool_()


def test_only_what_may_be_unknown_is_nullable() -> None:
    nullable = {field.name for field in MEDIEVAL_SCHEMA if field.nullable}
    assert nullable == {"tier", "replaced_cui", "distance", "why_false", "fact_split"}


def test_quadrants_are_listed_once_in_order() -> None:
    assert QUADRANTS == get_args(Quadrant) == ("Q1", "Q2", "Q3", "Q4")
