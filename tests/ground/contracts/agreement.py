"""Whether a row's Python type and its Arrow fields say the same."""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

import pyarrow as pa


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


def assert_fields_agree(row: Any, fields: Iterable[pa.Field], *, nested: bool = False) -> None:
    """Of a nested row, fields may be nullable that never are."""
    hints, fields = get_type_hints(row), list(fields)
    assert list(hints) == [field.name for field in fields]
    tests = {
        str: pa.types.is_string,
        bool: pa.types.is_boolean,
        int: pa.types.is_integer,
        float: pa.types.is_floating,
    }
    for field in fields:
        hint, nullable = plain(hints[field.name])
        assert field.nullable == nullable or (nested and field.nullable), field.name
        if get_origin(hint) is list:
            item = get_args(hint)[0]
            assert is_typeddict(item)
            assert_fields_agree(item, field.type.value_type, nested=True)
        else:
            assert tests[hint](field.type), field.name
