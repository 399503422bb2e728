"""Choices by hash are the same in Python and in SQL."""

from __future__ import annotations

import duckdb
from hypothesis import given
from hypothesis import strategies as st

from ground.stable import stable_hash, stable_unit

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\x00\x1f"), min_size=1)


@given(st.integers(0, 2**31), WORDS, WORDS)
def test_hash_equals_duckdbs(seed: int, first: str, second: str) -> None:
    row = duckdb.execute(
        "select md5_number_upper(concat_ws(chr(31), $seed, $first, $second))",
        {"seed": seed, "first": first, "second": second},
    ).fetchone()
    assert row == (stable_hash(seed, first, second),)


@given(st.integers(), WORDS)
def test_unit_lies_in_half_open_interval(seed: int, part: str) -> None:
    assert 0 < stable_unit(seed, part) <= 1


def test_parts_are_not_joined_by_accident() -> None:
    assert stable_hash(1, "ab", "c") != stable_hash(1, "a", "bc")
