"""Two runs on the same rows: McNemar's test for each class and overall (Bonferroni), and differences of metrics."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from evaluation.quadrants.compare import mcnemar_p
from evaluation.text.classes import Classes
from evaluation.text.counts import Counted, estimate_of
from evaluation.text.predictions import Answers
from evaluation.text.rates import RATES, drawn_rates

__all__ = ["ALPHA", "OVERALL", "compare_runs"]

ALPHA = 0.05
OVERALL = "overall"
DIFFERENCES = {
    "medhal": ("non_factual_f1", "factual_f1", "accuracy"),
    "medval": ("macro_f1", "unsafe_f1", "unsafe_sensitivity", "unsafe_specificity", "accuracy"),
}
P_DIGITS = 6


def compare_runs(runs: list[Answers], labels: list[str], counted: Counted, classes: Classes) -> list[dict[str, Any]]:
    """Compare every run with those after it.

    McNemar's test takes the rows of one class (or all) and asks whether one run is right more often where the two
    differ; it takes rows for independent. Bonferroni's correction is for all tests of the report together (MedVAL,
    supplement S2.3). Differences are first minus second, over the same resamples.

    Args:
        runs: M of them.
        labels: *shape* (M,), how they are called.
        counted: their answers, in the same order.
        classes: of the labels.

    Returns:
        For each pair ``a``, ``b``, ``tests`` (``of``, ``rows``, ``only_a``, ``only_b``, ``p``, ``exact``,
        ``p_bonferroni``, ``significant``) and ``differences``.
    """
    from statsmodels.stats.multitest import multipletests

    found: list[dict[str, Any]] = [
        {
            "a": labels[a],
            "b": labels[b],
            "tests": [_test(counted, a, b, None, OVERALL)]
            + [_test(counted, a, b, code, name) for code, name in enumerate(classes.names)],
            "differences": _differences(counted, a, b, classes),
        }
        for a, b in combinations(range(len(runs)), 2)
    ]
    tests = [test for one in found for test in one["tests"]]
    if tests:
        corrected = multipletests([test["p"] for test in tests], alpha=ALPHA, method="bonferroni")
        for test, rejected, p in zip(tests, corrected[0], corrected[1], strict=True):
            test |= {
                "p": float(f"{test['p']:.{P_DIGITS}g}"),
                "p_bonferroni": float(f"{p:.{P_DIGITS}g}"),
                "significant": bool(rejected),
            }
    return found


def _test(counted: Counted, a: int, b: int, code: int | None, name: str) -> dict[str, Any]:
    rows = counted.observed * (1 if code is None else counted.gold == code)
    right_a, right_b = (counted.answers[run] == counted.gold for run in (a, b))
    table = np.array(
        [[(rows * x * y).sum() for y in (right_b, ~right_b)] for x in (right_a, ~right_a)], dtype=np.float64
    ).astype(np.int64)
    p, exact = mcnemar_p(table)
    return {
        "of": name,
        "rows": int(rows.sum()),
        "only_a": int(table[0, 1]),
        "only_b": int(table[1, 0]),
        "p": p,
        "exact": exact,
    }


def _differences(counted: Counted, a: int, b: int, classes: Classes) -> dict[str, Any]:
    (observed_a, resampled_a), (observed_b, resampled_b) = (counted.tables(run) for run in (a, b))
    point_a, point_b = (RATES[classes.kind](table) for table in (observed_a, observed_b))
    drawn_a = drawn_rates(classes.kind, resampled_a, observed_a)
    drawn_b = drawn_rates(classes.kind, resampled_b, observed_b)
    n = counted.clusters()
    return {
        name: estimate_of(float(point_a[name][0] - point_b[name][0]), drawn_a[name] - drawn_b[name], n)
        for name in DIFFERENCES[classes.kind]
    }
