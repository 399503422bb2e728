"""Samples by stratum: in proportion, none left out, the same whatever the order."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ground.errors import UsageError
from stewardship.runs.sampling import allot, stratified_sample

SIZES = st.dictionaries(st.text("abcdef", min_size=1, max_size=3), st.integers(1, 60), min_size=1, max_size=12)


@given(SIZES, st.integers(1, 500))
def test_every_stratum_gives_its_share_and_one_at_least(sizes: dict[str, int], rows: int) -> None:
    given_rows = allot(sizes, rows)
    wanted = min(rows, sum(sizes.values()))
    assert sum(given_rows.values()) == wanted
    assert all(given_rows[name] <= size for name, size in sizes.items())
    assert all(given_rows.values()) or wanted < len(sizes)
    shares = {name: wanted * size / sum(sizes.values()) for name, size in sizes.items()}
    if all(share >= 1 for share in shares.values()):
        assert all(math.floor(shares[name]) <= given_rows[name] <= math.ceil(shares[name]) for name in sizes)


def test_largest_remainders_get_the_rows_that_are_left() -> None:
    assert allot({"a": 50, "b": 30, "c": 20}, 7) == {"a": 4, "b": 2, "c": 1}
    assert allot({"a": 990, "b": 5, "c": 5}, 100) == {"a": 98, "b": 1, "c": 1}
    assert allot({"a": 5, "b": 9, "c": 7}, 2) == {"a": 0, "b": 1, "c": 1}


@given(SIZES, st.integers(1, 80), st.integers(0, 3))
def test_the_order_of_the_table_does_not_matter(sizes: dict[str, int], rows: int, seed: int) -> None:
    strata = {f"{name}-{number}": name for name, size in sizes.items() for number in range(size)}
    drawn = stratified_sample(strata, rows, seed=seed)
    assert drawn == stratified_sample(dict(reversed(strata.items())), rows, seed=seed)
    assert len(drawn) == min(rows, len(strata)) and drawn <= set(strata)


def test_another_seed_draws_other_rows() -> None:
    strata = dict.fromkeys(map(str, range(200)), "a")
    assert stratified_sample(strata, 20, seed=1) != stratified_sample(strata, 20, seed=2)


def test_no_row_is_no_sample() -> None:
    with pytest.raises(UsageError):
        stratified_sample({"1": "a"}, 0, seed=1)
