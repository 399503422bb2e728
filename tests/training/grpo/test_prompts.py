"""Rows of arms: the same prompts in the same order, read strictly."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ground.errors import InputError, UsageError
from tests.training.grpo.words import write_rows
from training.grpo.prompts import order_sha256, planned_order, read_rows, read_sets


@given(st.integers(1, 30), st.integers(1, 8), st.integers(1, 4), st.integers(0, 5), st.randoms())
def test_every_step_has_distinct_rows_and_the_order_depends_on_rows_and_seed_alone(
    rows: int, per_step: int, epochs: int, seed: int, draw: object
) -> None:
    uids = [str(n) for n in range(rows)]
    if rows < per_step:
        with pytest.raises(UsageError, match="more rows than there are"):
            planned_order(uids, seed, epochs, per_step)
        return
    order = planned_order(uids, seed, epochs, per_step)
    assert len(order) == epochs * (rows - rows % per_step)
    assert all(len(set(order[n : n + per_step])) == per_step for n in range(0, len(order), per_step))
    shuffled = [*uids]
    draw.shuffle(shuffled)  # type: ignore[attr-defined]
    assert planned_order(shuffled, seed, epochs, per_step) == order
    assert order_sha256(order) == order_sha256(planned_order(uids, seed, epochs, per_step))


def test_epochs_differ_in_order_and_another_seed_is_another_order() -> None:
    uids = [str(n) for n in range(32)]
    order = planned_order(uids, 1, 2, 8)
    assert order[:32] != order[32:] and sorted(order[:32]) == sorted(order[32:]) == sorted(uids)
    assert planned_order(uids, 2, 2, 8) != order


def test_rows_are_graded_within_the_limits_of_their_labels(tmp_path: Path) -> None:
    one = read_rows(write_rows(tmp_path / "one.parquet", {"1": "100", "2": "7"}))
    other = read_rows(write_rows(tmp_path / "other.parquet", {"1": "N/A", "2": "8"}))
    assert [row.reference.lower.text() for row in one + other] == ["95", "6.6499999999999995", "N/A", "7.6"]


def test_rows_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not there"):
        read_rows(tmp_path / "none.parquet")
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match="cannot be read"):
        read_rows(tmp_path / "damaged.parquet")
    good = pl.read_parquet(write_rows(tmp_path / "a.parquet", {"1": "100"}))
    for frame, what in (
        (good.drop("lower"), "a column is missing"),
        (good.with_columns(label=pl.lit("4,4")), "cannot be read"),
        (good.with_columns(upper=pl.lit(None, pl.String)), "cannot be read"),
        (pl.concat([good, good]), "twice"),
    ):
        frame.write_parquet(tmp_path / "b.parquet")
        with pytest.raises(InputError, match=what):
            read_rows(tmp_path / "b.parquet")
    sets = good.select(pl.lit("x").alias("set"), pl.all())
    changed = sets.with_columns(pl.lit("y").alias("set"), pl.lit("another").alias("prompt"))
    pl.concat([sets, changed]).write_parquet(tmp_path / "c.parquet")
    with pytest.raises(InputError, match="two prompts"):
        read_sets(tmp_path / "c.parquet")


def test_labels_that_are_names_are_read_as_such(tmp_path: Path) -> None:
    row = {"uid": "1", "prompt": "p", "label": "q2", "lower": "Q2", "upper": "Q2"}
    pl.DataFrame([row]).write_parquet(tmp_path / "a.parquet")
    assert read_rows(tmp_path / "a.parquet", ("Q1", "Q2"))[0].reference.value.text() == "Q2"
    with pytest.raises(InputError, match="cannot be read"):
        read_rows(tmp_path / "a.parquet", ("Q1",))
