"""Every column that is written has one meaning, and nothing else has."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from builders.medval.rows import CHAT_SCHEMA, TRIPLE_SCHEMA
from ground.contracts.dictionary import columns_of, described_tables
from ground.contracts.rows import CONTRADICTED_SCHEMA, MEDIEVAL_SCHEMA, STATEMENT_SCHEMA
from ground.contracts.rows_text import MEDHAL_SCHEMA, MEDVAL_SCHEMA

SCHEMAS = {
    "medieval": MEDIEVAL_SCHEMA,
    "medieval_contradicted": CONTRADICTED_SCHEMA,
    "medieval_statements": STATEMENT_SCHEMA,
    "medhal": MEDHAL_SCHEMA,
    "medval": MEDVAL_SCHEMA,
    "medval_chat": CHAT_SCHEMA,
    "medval_triples": TRIPLE_SCHEMA,
}


def names_of(fields: Iterator[pa.Field], above: str = "") -> Iterator[str]:
    """Yield the columns of a schema, those of lists of structs behind them."""
    for field in fields:
        yield above + field.name
        kind = field.type.value_type if pa.types.is_list(field.type) else field.type
        if pa.types.is_struct(kind):
            yield from names_of(iter(kind), f"{field.name}.")


@pytest.mark.parametrize("table", SCHEMAS)
def test_every_column_of_a_dataset_has_a_meaning(table: str) -> None:
    assert list(columns_of(table)) == list(names_of(iter(SCHEMAS[table])))


def test_no_other_dataset_is_described() -> None:
    assert {name for name in described_tables() if not name.startswith("ground.")} == set(SCHEMAS)
    assert columns_of("ground.nothing") == {}
    assert all(meaning and "|" not in meaning for table in described_tables().values() for meaning in table.values())
