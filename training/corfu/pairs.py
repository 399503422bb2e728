"""Preference pairs from dataset rows: a supported truth (Q1) is preferred to statements of other quadrants.

Regimes are those of MediEval, section 4.3: pairwise, mixed (one pool of Q2, Q3 and Q4), and curriculum (three stages).
Sections 3.3 and 4.3 do not say which statements of an admission meet: here a loser comes from the winner's own group
(the statements made from one fact of the record) where it has one, else from the same admission.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

from ground.errors import InputError
from ground.stable import stable_hash
from training.packing.plan import Item

__all__ = ["REGIMES", "Regime", "Stage", "StagePairs", "pair_items", "stage_pairs"]

Regime = Literal["q1_q2", "q1_q3", "q1_q4", "mixed", "curriculum"]

WINNER = "Q1"


@dataclass(frozen=True)
class Stage:
    """One stage of a regime: its name and the quadrants that lose against Q1."""

    name: str
    losers: tuple[str, ...]


Q1_Q2, Q1_Q3, Q1_Q4 = (Stage(f"q1_{quadrant.lower()}", (quadrant,)) for quadrant in ("Q2", "Q3", "Q4"))

REGIMES: Mapping[Regime, tuple[Stage, ...]] = {
    "q1_q2": (Q1_Q2,),
    "q1_q3": (Q1_Q3,),
    "q1_q4": (Q1_Q4,),
    "mixed": (Stage("mixed", ("Q2", "Q3", "Q4")),),
    "curriculum": (Q1_Q2, Q1_Q3, Q1_Q4),
}


@dataclass(frozen=True)
class StagePairs:
    """The pairs of one stage, and what was left without one.

    ``table`` has a row a pair, ordered by winner and loser: winner_id, loser_id, hadm_id, winner and loser (their
    texts), loser_quadrant, same_group.
    """

    stage: Stage
    table: pl.DataFrame
    winners: int
    without_loser: int

    def counts(self) -> dict[str, int]:
        """Return numbers of pairs: all, of the same group, by the loser's quadrant; and of winners without a pair."""
        by_quadrant = self.table["loser_quadrant"].value_counts().sort("loser_quadrant").iter_rows()
        return {
            "pairs": self.table.height,
            "same_group": int(self.table["same_group"].sum()),
            **{f"against_{quadrant.lower()}": n for quadrant, n in by_quadrant},
            "winners": self.winners,
            "winners_without_loser": self.without_loser,
        }


def _hashed(rows: pl.DataFrame, seed: int, part: str) -> pl.DataFrame:
    hashes = [stable_hash(seed, part, name) for name in rows["id"]]
    return rows.with_columns(pl.Series("hash", hashes, dtype=pl.UInt64))


def _draw(winners: pl.DataFrame, losers: pl.DataFrame, key: str, most: int) -> pl.DataFrame:
    """Give each winner up to ``most`` losers with the same ``key``, without a product of the two.

    The losers of a key stand in a ring, ordered by hash; a winner's hash says where on the ring it begins.
    """
    ring = losers.with_columns(place=pl.col("hash").rank("ordinal").over(key).cast(pl.UInt64) - 1)
    sizes = losers.group_by(key).agg(size=pl.len().cast(pl.UInt64))
    turns = pl.DataFrame({"turn": pl.Series(range(most), dtype=pl.UInt64)})
    seats = (
        winners.join(sizes, on=key)
        .join(turns, how="cross")
        .filter(pl.col("turn") < pl.col("size"))
        .with_columns(place=(pl.col("hash") % pl.col("size") + pl.col("turn")) % pl.col("size"))
    )
    return seats.join(ring, on=[key, "place"], suffix="_loser", coalesce=False).select(
        winner_id="id",
        loser_id="id_loser",
        hadm_id="hadm_id",
        winner="statement",
        loser="statement_loser",
        loser_quadrant="quadrant_loser",
        same_group=pl.col("group_id") == pl.col("group_id_loser"),
        turn="turn",
    )


def stage_pairs(rows: pl.DataFrame, stage: Stage, *, pairs_per_winner: int, seed: int) -> StagePairs:
    """Choose the pairs of a stage; the choice depends on ids and seed, not on the order of the rows.

    Args:
        rows: the rows of one split (id, group_id, hadm_id, statement, quadrant).
        stage: which quadrants lose.
        pairs_per_winner: losers of one winner, at most; the winner's own group is drawn from first.
        seed: of the choice.

    Raises:
        InputError: no winner finds a loser.
    """
    columns = rows.select("id", "group_id", "hadm_id", "statement", "quadrant")
    winners = _hashed(columns.filter(pl.col("quadrant") == WINNER), seed, f"{stage.name} winner")
    losers = _hashed(columns.filter(pl.col("quadrant").is_in(stage.losers)), seed, f"{stage.name} loser")
    of_group = losers.group_by("group_id").len()["len"].max()
    # A group's own losers take places in the admission's ring too: so many more turns reach all others.
    reach = pairs_per_winner + (int(of_group) if isinstance(of_group, int) else 0)
    own = _draw(winners, losers, "group_id", pairs_per_winner)
    others = _draw(winners, losers, "hadm_id", reach).filter(pl.col("same_group").not_())
    table = (
        pl.concat([own, others])
        .filter(pl.col("winner") != pl.col("loser"))
        .sort(pl.col("same_group").not_(), "turn", "winner_id")
        .filter(pl.int_range(pl.len()).over("winner_id") < pairs_per_winner)
        .drop("turn")
        .sort("winner_id", "loser_id")
    )
    if table.is_empty():
        raise InputError(
            f"stage {stage.name} has no pair",
            found=f"{winners.height} Q1 statements, {losers.height} of {', '.join(stage.losers)}",
            expected="admissions with both",
        )
    without = winners.height - table["winner_id"].n_unique()
    return StagePairs(stage, table, winners=winners.height, without_loser=without)


def pair_items(pairs: StagePairs, contexts: Mapping[int, int], statements: Mapping[str, int]) -> list[Item]:
    """Return pairs as items of packed rows, (winner, loser) each, in the order of ``pairs.table``.

    ``contexts`` and ``statements`` have the index of each admission's context and of each distinct statement.
    """
    columns = pairs.table.select("winner_id", "loser_id", "hadm_id", "winner", "loser").iter_rows()
    return [
        Item(f"{winner_id} over {loser_id}", contexts[hadm_id], (statements[winner], statements[loser]))
        for winner_id, loser_id, hadm_id, winner, loser in columns
    ]
