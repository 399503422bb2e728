"""Draw the statements of each group so that the names in them do not tell whether they are supported.

Equal counts of supported and unsupported uses are not enough: a concept that is supported here would then be
unsupported in what a model learns from, and a model can turn that round. Counts must spread as those of a fair coin do.
How much spread that takes depends on how unevenly a cohort uses its concepts, so it is found by measuring.
"""

from __future__ import annotations

from typing import cast

import duckdb
import numpy as np

from builders.medieval.baselines import cross_validated_point
from builders.medieval.facts import run_steps
from ontoground.settings import BuildSettings
from ontoground.sqlfiles import sql_text
from ontoground.warehouse import arrow_of

__all__ = ["draw_statements"]

MEASURED_ROWS = 20_000
"""Statements that one measurement looks at, at most."""


def _choose(connection: duckdb.DuckDBPyConnection, quadrants: str) -> None:
    """Draw the statements of some quadrants, in rounds, until no group finds a new one."""
    connection.execute(f"set variable quadrants = {quadrants}")
    before, chosen = -1, 0
    while chosen != before:
        before = chosen
        connection.execute(sql_text("builders/choice"))
        chosen = cast("tuple[int]", connection.execute("select count(*) from choice").fetchone())[0]


def _draw_with(connection: duckdb.DuckDBPyConnection, spread: float, rounds: int) -> None:
    """Draw Q2 and Q4 anew, their chances fitted to targets that spread this much."""
    connection.execute("delete from choice where quadrant != 'Q3'")
    connection.execute(f"set variable spread = {spread}")
    connection.execute(sql_text("builders/target"))
    for _ in range(rounds):
        connection.execute(sql_text("builders/weight"))
    _choose(connection, "['Q2', 'Q4']")


def _shortcut(connection: duckdb.DuckDBPyConnection, seed: int) -> float:
    """Return the AUC of support from the statement alone, less one half."""
    draft = arrow_of(connection, sql_text("builders/draft")).slice(0, MEASURED_ROWS)
    labels = np.array(draft["is_supported"].to_pylist(), dtype=np.bool_)
    patients = draft["subject_id"].to_numpy()
    # Cuts of its own: the card's baselines measure with others.
    return cross_validated_point(draft["text"].to_pylist(), labels, patients, seed + 1) - 0.5


def draw_statements(connection: duckdb.DuckDBPyConnection, settings: BuildSettings) -> None:
    """Make ``choice`` and cut ``fact_group`` to the complete groups.

    The spread is halved in on (more spread makes names tell more) and the best one seen is used.
    """
    connection.execute(sql_text("builders/first_weight"))
    _choose(connection, "['Q3']")
    low, high, seen = 0.0, 2.0, dict[float, float]()
    for _ in range(settings.balance_trials):
        spread = (low + high) / 2
        _draw_with(connection, spread, settings.balance_rounds)
        seen[spread] = _shortcut(connection, settings.seed)
        low, high = (low, spread) if seen[spread] > 0 else (spread, high)
    best = min(seen, key=lambda spread: (abs(seen[spread]), spread))
    if best != spread:
        _draw_with(connection, best, settings.balance_rounds)
    run_steps(connection, ["complete_choice"])
