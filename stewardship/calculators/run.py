"""Calculators over a whole table of labels: what each row's features give, and where a label says something else."""

from __future__ import annotations

from typing import get_args

import polars as pl

from ground.contracts.grading import LimitsRule, OutputType, Reference, within
from ground.contracts.labels import parse_label
from ground.errors import InputError
from stewardship.calculators.registry import Version, calculate, calculators

__all__ = ["VERSIONS", "compare", "run_calculators"]

VERSIONS: tuple[Version, ...] = get_args(Version)
WRITTEN: dict[str, OutputType] = {
    "decimal": "decimal",
    "integer": "integer",
    "date": "date",
    "weeks_days": "integer",
}
"""Output type of a calculator, as limits go by it."""
SCORES: dict[str, pl.DataType | type[pl.DataType]] = {
    "uid": pl.String,
    "calculator_id": pl.Int64,
    "corrected": pl.String,
    "v1.0": pl.String,
    "reason": pl.String,
    "unread": pl.List(pl.String),
    "assumptions": pl.String,
}


def run_calculators(rows: pl.DataFrame, only: frozenset[int] | None = None) -> pl.DataFrame:
    """Compute every row's score from its features.

    Args:
        rows: with text columns ``uid``, ``stratum_id`` (number of the calculator) and ``features``, as
            `stewardship.benchmark.tables.LabelTable.frame` has them.
        only: numbers of the calculators to run; all where left out.

    Returns:
        *shape* (n, 7), in the order of the rows: ``uid``, ``calculator_id`` (int), ``corrected``, ``v1.0`` (labels as
        text; ``N/A`` is an abstention), ``reason`` (why the corrected version abstained, or null), ``unread`` (list:
        names of features that are not known, or null), ``assumptions``.

    Raises:
        InputError: a column is missing, or a row is of no calculator.
    """
    if missing := [name for name in ("uid", "stratum_id", "features") if name not in rows.columns]:
        raise InputError("the table has no features of calculators", expected=", ".join(missing))
    known = {str(calculator.id): calculator.id for calculator in calculators()}
    results: list[tuple[str | int | list[str] | None, ...]] = []
    for uid, number, features in rows.select("uid", "stratum_id", "features").iter_rows():
        which = known.get(str(number).strip())
        if which is None:
            raise InputError("a row belongs to no known calculator", found=f"{number} in row {uid}")
        if only is not None and which not in only:
            continue
        corrected, old = (calculate(which, features or "", version) for version in VERSIONS)
        texts = corrected.value.text(), old.value.text(), corrected.reason or None
        results.append((uid, which, *texts, list(corrected.unread) or None, "; ".join(corrected.assumptions) or None))
    return pl.DataFrame(results, schema=SCORES, orient="row")


def compare(scores: pl.DataFrame, labels: pl.DataFrame, version: Version, rule: LimitsRule) -> pl.DataFrame:
    """Say of each row that has a label whether a calculator gives it.

    Args:
        scores: of `run_calculators`.
        labels: with text columns ``uid`` and ``label``.
        rule: of the limits about a label within which a score agrees: of MedCalc-Bench v1.0 or of the corrected labels.

    Returns:
        *shape* (m, 5), in the order of the rows found: ``uid``, ``calculator_id``, ``ours``, ``theirs``, ``agrees``.
    """
    both = scores.join(labels.drop_nulls("label").select("uid", "label"), on="uid", maintain_order="left")
    types: dict[int, OutputType] = {calculator.id: WRITTEN[calculator.output_type] for calculator in calculators()}
    agrees = [
        within(parse_label(ours), Reference.of(parse_label(theirs), rule, types[which]))
        for which, ours, theirs in both.select("calculator_id", version, "label").iter_rows()
    ]
    return both.select(
        "uid", "calculator_id", pl.col(version).alias("ours"), pl.col("label").alias("theirs"), agrees=pl.Series(agrees)
    )
