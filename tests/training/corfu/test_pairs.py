"""Preference pairs: who meets whom, whatever the order of the rows."""

from __future__ import annotations

import polars as pl
import pytest

from ground.errors import InputError
from training.corfu.pairs import REGIMES, Stage, StagePairs, pair_items, stage_pairs

Q1_Q2 = REGIMES["q1_q2"][0]
MIXED = REGIMES["mixed"][0]


def row(hadm: int, group: int, quadrant: str, number: int = 0) -> dict[str, object]:
    name = f"{hadm}-{group}-{quadrant}-{number}"
    return {"id": name, "group_id": f"{hadm}-{group}", "hadm_id": hadm, "statement": name, "quadrant": quadrant}


def full(hadms: int = 6, groups: int = 5) -> pl.DataFrame:
    """Groups with one statement of each quadrant, as the builder makes them."""
    return pl.DataFrame([row(h, g, f"Q{q}") for h in range(hadms) for g in range(groups) for q in range(1, 5)])


def pairs(rows: pl.DataFrame, stage: Stage = Q1_Q2, most: int = 1, seed: int = 42) -> StagePairs:
    return stage_pairs(rows, stage, pairs_per_winner=most, seed=seed)


@pytest.mark.parametrize("quadrant", ["Q2", "Q3", "Q4"])
def test_a_winner_meets_the_loser_of_its_own_group(quadrant: str) -> None:
    found = pairs(full(), Stage("pair", (quadrant,)))
    assert found.table.height == 30
    assert found.table["loser_quadrant"].unique().to_list() == [quadrant]
    assert (found.table["winner_id"] == found.table["loser_id"].str.replace(quadrant, "Q1")).all()
    assert found.table["same_group"].all()


def test_a_winner_whose_group_has_no_loser_meets_one_of_its_admission() -> None:
    rows = pl.DataFrame([row(1, 1, "Q1"), row(1, 2, "Q1"), row(1, 2, "Q2"), row(2, 1, "Q2"), row(3, 1, "Q1")])
    found = pairs(rows)
    assert found.table.select("winner_id", "loser_id", "same_group").rows() == [
        ("1-1-Q1-0", "1-2-Q2-0", False),
        ("1-2-Q1-0", "1-2-Q2-0", True),
    ]
    assert found.counts() == {
        "pairs": 2, "same_group": 1, "against_q2": 2, "winners": 3, "winners_without_loser": 1,
    }  # fmt: skip


@pytest.mark.parametrize("most", [1, 2, 3, 7])
@pytest.mark.parametrize("stage", [Q1_Q2, MIXED])
def test_a_winner_meets_so_many_losers_as_there_are_up_to_the_limit(stage: Stage, most: int) -> None:
    table = pairs(full(), stage, most).table
    per_winner = table.group_by("winner_id").agg(pl.len(), pl.col("loser_id").n_unique().alias("distinct"))
    there = 5 * len(stage.losers)
    assert per_winner["len"].unique().to_list() == [min(most, there)]
    assert (per_winner["distinct"] == per_winner["len"]).all()
    own = table.group_by("winner_id").agg(pl.col("same_group").sum())["same_group"].unique().to_list()
    assert own == [min(most, len(stage.losers))]


@pytest.mark.parametrize("stage", [Q1_Q2, MIXED])
def test_the_order_of_rows_changes_no_pair(stage: Stage) -> None:
    ragged = full().filter(pl.col("id").hash(seed=1) % 3 > 0)
    expected = pairs(ragged, stage, 2).table
    for seed in range(3):
        shuffled = ragged.sample(fraction=1, shuffle=True, seed=seed)
        assert pairs(shuffled, stage, 2).table.equals(expected)


def test_the_mixed_pool_gives_each_quadrant_its_share_and_seeds_draw_apart() -> None:
    rows = full(hadms=200)
    one, other = pairs(rows, MIXED, seed=1), pairs(rows, MIXED, seed=2)
    assert one.table["same_group"].all()
    for found in (one, other):
        shares = found.table["loser_quadrant"].value_counts(normalize=True)["proportion"]
        assert len(shares) == 3
        assert shares.min() > 0.29  # type: ignore[operator]
    assert not one.table.equals(other.table)


def test_losers_of_an_admission_are_drawn_evenly() -> None:
    """Winners in groups of their own; if the ring had a bias, some losers would be drawn by most winners."""
    rows = pl.DataFrame([row(1, g, "Q1") for g in range(400)] + [row(1, 1000 + g, "Q2") for g in range(10)])
    drawn = pairs(rows).table["loser_id"].value_counts()["count"]
    assert len(drawn) == 10
    assert 20 < drawn.min() <= drawn.max() < 65  # type: ignore[operator]


def test_a_statement_never_meets_its_own_text() -> None:
    rows = pl.DataFrame([row(1, 1, "Q1"), row(1, 1, "Q2"), row(1, 2, "Q2")]).with_columns(
        statement=pl.Series(["same", "same", "another"])
    )
    assert pairs(rows).table["loser"].to_list() == ["another"]


def test_a_stage_without_any_pair_is_refused() -> None:
    with pytest.raises(InputError, match="stage q1_q2 has no pair"):
        pairs(pl.DataFrame([row(1, 1, "Q1"), row(2, 1, "Q2")]))


def test_a_curriculum_goes_from_unsupported_truth_to_unsupported_falsehood() -> None:
    met = [pairs(full(), stage).table["loser_quadrant"].unique().to_list() for stage in REGIMES["curriculum"]]
    assert met == [["Q2"], ["Q3"], ["Q4"]]


def test_a_statement_that_several_pairs_share_is_one_index() -> None:
    found = pairs(full(hadms=1, groups=2), Q1_Q2, most=2)
    texts = sorted({*found.table["winner"], *found.table["loser"]})
    items = pair_items(found, {0: 7}, {text: index for index, text in enumerate(texts)})
    assert len(items) == 4
    assert {item.context for item in items} == {7}
    assert {index for item in items for index in item.statements} == set(range(4))
    assert [tuple(texts[s] for s in item.statements) for item in items] == found.table.select("winner", "loser").rows()
    assert len({item.name for item in items}) == 4
