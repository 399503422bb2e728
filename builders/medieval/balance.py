"""Draw the statements of each group so that the names in them do not tell whether they are supported.

Equal counts of supported and unsupported uses are not enough. If a concept is supported in the training rows, it would
then have to be unsupported in the test rows, and a model can learn that. So counts must vary as those of a fair coin.
How much they must vary depends on how unevenly a cohort uses its concepts, so this is found by measuring.

Truth is not kept at chance: it can be known from medicine. But no name should tell it by itself. So Q2, which has the
fewest candidates, is drawn first, about as often as a concept stands in Q1; Q3 follows Q2, and Q4 makes up the rest.
"""

from __future__ import annotations

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from builders.medieval.baselines import cross_validated_point
from builders.medieval.facts import run_steps
from builders.medieval.pool import Pool
from ground.settings import BuildSettings
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import arrow_of, set_table

__all__ = ["REPLACED", "draw_statements"]

MEASURED_GROUPS = 5_000
"""Complete groups, of four statements each, that one measurement looks at, at most."""

HIGHEST_WEIGHT = 1e6
WIDEST = 4.0
"""Square root of the largest spread that is tried."""
REPLACED = ("Q2", "Q3", "Q4")
Q2, Q3, Q4 = range(3)

Floats = npt.NDArray[np.float64]


def _choices(pool: Pool, groups: npt.NDArray[np.intp], quadrants: tuple[int, ...]) -> pa.Table:
    """Return (group_no, quadrant, code) of some groups."""
    return pa.table(
        {
            "group_no": np.repeat(groups, len(quadrants)),
            "quadrant": np.tile([REPLACED[quadrant] for quadrant in quadrants], groups.size),
            "code": pool.choice[groups][:, list(quadrants)].reshape(-1),
        }
    )


def _targets(connection: duckdb.DuckDBPyConnection, spread: float, concepts: int) -> Floats:
    """Return how often each concept should be drawn, NaN for those that no supported statement has."""
    connection.execute(f"set variable spread = {spread}")
    counts = arrow_of(connection, sql_text("builders/medieval/groups/target"))
    target = np.full(concepts, np.nan)
    target[counts["code"].to_numpy()] = counts["expected"].to_numpy()
    return target


def _fitted(pool: Pool, target: Floats, quadrant: int, rounds: int) -> Floats:
    """Return weights by iterative proportional fitting of the expected counts of a quadrant. Shape: (concepts,)"""
    weight = np.where(np.isnan(target), pool.floor, np.maximum(pool.floor, target))
    for _ in range(rounds):
        expected = pool.expected(weight, quadrant)
        moved = ~np.isnan(target) & (expected > 0)
        factor = np.ones(weight.size)
        factor[moved] = np.sqrt(target[moved] / expected[moved])
        weight = np.minimum(HIGHEST_WEIGHT, np.maximum(pool.floor, weight * factor))
    return weight


def _draw_with(connection: duckdb.DuckDBPyConnection, pool: Pool, spread: float, rounds: int) -> None:
    """Draw Q4 again, with chances fitted to what targets that spread this much leave after Q2."""
    pool.choice[:, Q4] = -1
    target = _targets(connection, spread, pool.name_no.size)
    pool.draw(_fitted(pool, np.maximum(target - pool.drawn(Q2), 0), Q4, rounds), Q4)


def _shortcut(connection: duckdb.DuckDBPyConnection, pool: Pool, seed: int) -> float:
    """Return the AUC of support from the statement alone, less one half."""
    set_table(connection, "drafted", _choices(pool, pool.complete()[:MEASURED_GROUPS], (Q2, Q3, Q4)))
    draft = arrow_of(connection, sql_text("builders/medieval/groups/draft"))
    labels = np.array(draft["is_supported"].to_pylist(), dtype=np.bool_)
    patients = draft["subject_id"].to_numpy()
    # Cuts of its own: the card's baselines measure with others.
    return cross_validated_point(draft["text"].to_pylist(), labels, patients, seed + 1) - 0.5


def draw_statements(connection: duckdb.DuckDBPyConnection, pool: Pool, settings: BuildSettings) -> None:
    """Make ``choice`` and cut ``fact_group`` to the complete groups.

    The spread is found by halving an interval of its square root (with more spread, names tell more); the best one
    seen is used. Cohorts of a few patients need much.

    Args:
        connection: with the tables of the groups.
        pool: candidates of the groups.
        settings: seed, rounds and trials.
    """
    replaced = pool.replaced()
    pool.draw(_fitted(pool, replaced, Q2, settings.balance_rounds), Q2)
    pool.draw(_fitted(pool, np.where(np.isnan(replaced), np.nan, pool.drawn(Q2)), Q3, settings.balance_rounds), Q3)
    set_table(connection, "choice_code", _choices(pool, np.flatnonzero(pool.choice[:, Q3] >= 0), (Q3,)))
    run_steps(connection, "groups", ["supported_use"])
    low, high, best = 0.0, WIDEST, (np.inf, np.inf)
    for _ in range(settings.balance_trials):
        middle = (low + high) / 2
        _draw_with(connection, pool, middle * middle, settings.balance_rounds)
        shortcut = _shortcut(connection, pool, settings.seed)
        low, high = (low, middle) if shortcut > 0 else (middle, high)
        if (abs(shortcut), middle) < best:
            best, drawn = (abs(shortcut), middle), pool.choice[:, Q4].copy()
    pool.choice[:, Q4] = drawn
    set_table(connection, "choice_code", _choices(pool, pool.complete(), (Q2, Q3, Q4)))
    run_steps(connection, "groups", ["choice"])
