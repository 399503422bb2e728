"""A stage is current while what it was made from is the same."""

from __future__ import annotations

import duckdb
from hypothesis import given
from hypothesis import strategies as st

from ground.flow.fingerprints import fingerprint, is_current, load_fingerprint, mark_done, stage_fingerprint

PARTS = st.dictionaries(st.text(max_size=5), st.none() | st.booleans() | st.integers() | st.text(max_size=5))


@given(PARTS)
def test_a_fingerprint_does_not_depend_on_order(parts: dict[str, str | int | bool | None]) -> None:
    assert fingerprint(parts) == fingerprint(dict(reversed(parts.items())))


@given(PARTS, st.text(max_size=5))
def test_a_fingerprint_changes_with_a_part(parts: dict[str, str | int | bool | None], key: str) -> None:
    assert fingerprint({**parts, key: "one"}) != fingerprint({**parts, key: "two"})


def test_a_fingerprint_is_short_text() -> None:
    assert len(fingerprint({})) == 16
    assert fingerprint({"a": ("x", "y")}) == fingerprint({"a": ["x", "y"]})


def test_a_stage_is_current_until_something_else_is_expected(warehouse: duckdb.DuckDBPyConnection) -> None:
    assert stage_fingerprint(warehouse, "graph") == "" and not is_current(warehouse, "graph", "abc")
    mark_done(warehouse, "graph", "abc")
    assert is_current(warehouse, "graph", "abc")
    assert not is_current(warehouse, "graph", "abd")
    assert not is_current(warehouse, "mentions", "abc")
    mark_done(warehouse, "graph", "abd")
    assert is_current(warehouse, "graph", "abd")
    assert warehouse.execute("select count(*) from ground.stage").fetchone() == (1,)


def load(connection: duckdb.DuckDBPyConnection, file: str, sha256: str, rows: int = 1) -> None:
    connection.execute(
        "insert into ground.load values ('umls', ?, 1, ?, ?, 0, null, now()::timestamp)", [file, sha256, rows]
    )


def test_a_load_is_known_by_its_files_not_by_their_order_or_time(warehouse: duckdb.DuckDBPyConnection) -> None:
    assert load_fingerprint(warehouse, "umls") == ""
    load(warehouse, "A", "1")
    load(warehouse, "B", "2")
    before = load_fingerprint(warehouse, "umls")
    warehouse.execute("delete from ground.load")
    load(warehouse, "B", "2")
    load(warehouse, "A", "1")
    assert load_fingerprint(warehouse, "umls") == before
    assert load_fingerprint(warehouse, "rxnorm") == ""
    warehouse.execute("update ground.load set sha256 = '3' where file = 'A'")
    assert load_fingerprint(warehouse, "umls") != before
