"""Calculators over a whole table of labels: what each row's features give, beside nothing that its note says."""

from __future__ import annotations

import polars as pl

from ontoground.errors import InputError
from stewardship.calculators.registry import Version, calculate, calculators

__all__ = ["VERSIONS", "run_calculators"]

VERSIONS: tuple[Version, ...] = ("corrected", "v1.0")


def run_calculators(rows: pl.DataFrame, only: frozenset[int] | None = None) -> pl.DataFrame:
    """Compute every row's score from its features.

    Args:
        rows: with text columns ``uid``, ``stratum_id`` (number of the calculator) and ``features``, as
            `stewardship.tables.LabelTable.frame` has them.
        only: numbers of the calculators to run; all where left out.

    Returns:
        *shape* (n, 6), in the order of the rows: ``uid``, ``calculator_id`` (int), ``corrected``, ``v1.0`` (labels as
        text; ``N/A`` is an abstention), ``reason`` (why the corrected version abstained, or null), ``assumptions``.

    Raises:
        InputError: a column is missing, or a row is of no calculator.
    """
    if missing := [name for name in ("uid", "stratum_id", "features") if name not in rows.columns]:
        raise InputError("the table has no features of calculators", expected=", ".join(missing))
    known = {str(one.id) for one in calculators()}
    found: list[dict[str, object]] = []
    for uid, number, features in rows.select("uid", "stratum_id", "features").iter_rows():
        if str(number).strip() not in known:
            raise InputError("a row is of no known calculator", found=f"{number} in row {uid}")
        if only is not None and int(number) not in only:
            continue
        corrected, old = (calculate(int(number), features or "", version) for version in VERSIONS)
        found.append(
            {
                "uid": uid,
                "calculator_id": int(number),
                "corrected": corrected.value.text(),
                "v1.0": old.value.text(),
                "reason": corrected.reason or None,
                "assumptions": "; ".join(corrected.assumptions) or None,
            }
        )
    columns = ("uid", "corrected", "v1.0", "reason", "assumptions")
    schema = {"uid": pl.String, "calculator_id": pl.Int64} | dict.fromkeys(columns[1:], pl.String)
    return pl.DataFrame(found, schema=schema)
