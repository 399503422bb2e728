"""Two runs on the same rows: McNemar's test, and its correction for the number of tests of a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evaluation.intervals import Counted

__all__ = ["ALPHA", "FEW_DISCORDANT", "correct", "mcnemar", "mcnemar_p"]

FEW_DISCORDANT = 25
"""Below this number of discordant rows the chi-square approximation is not used."""
ALPHA = 0.05
P_DIGITS = 6


def mcnemar_p(table: npt.NDArray[np.int64]) -> tuple[float, bool]:
    """Return the two-sided p of McNemar's test and whether it is exact.

    Args:
        table: *shape* (2, 2), rows A right or wrong, columns B right or wrong.
    """
    from statsmodels.stats.contingency_tables import mcnemar as test

    discordant = int(table[0, 1] + table[1, 0])
    if not discordant:
        return 1.0, True
    exact = discordant < FEW_DISCORDANT
    return float(test(table, exact=exact, correction=True).pvalue), exact


def mcnemar(counted: Counted, a: int, b: int, mask: npt.NDArray[np.bool_] | None = None) -> dict[str, Any]:
    """Compare two runs by the rows on which one alone is right; the test takes rows for independent.

    Returns:
        ``both``, ``only_a``, ``only_b``, ``neither`` (rows that are right in each), ``p`` and ``exact``.
    """
    rows = counted.observed if mask is None else counted.observed * mask
    right_a, right_b = (counted.answers[run] == counted.gold for run in (a, b))
    sums = [[(rows * x * y).sum() for y in (right_b, ~right_b)] for x in (right_a, ~right_a)]
    table = np.array(sums, dtype=np.float64).astype(np.int64)
    p, exact = mcnemar_p(table)
    names = ("both", "only_a", "only_b", "neither")
    return {**dict(zip(names, table.ravel().tolist(), strict=True)), "p": p, "exact": exact}


def correct(tests: Sequence[dict[str, Any]], method: Literal["holm", "bonferroni"]) -> None:
    """Round each test's ``p``, and write beside it, as ``p_holm`` or ``p_bonferroni``, the one that is corrected."""
    from statsmodels.stats.multitest import multipletests

    found = multipletests([test["p"] for test in tests], alpha=ALPHA, method=method)[1] if tests else ()
    for test, p in zip(tests, found, strict=True):
        test |= {"p": float(f"{test['p']:.{P_DIGITS}g}"), f"p_{method}": float(f"{p:.{P_DIGITS}g}")}
