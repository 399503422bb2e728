"""Models on the same rows: McNemar's tests, corrected for the tests of a report, and differences with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evaluation.classes import Kind
from evaluation.intervals import Counted
from evaluation.numbers import Model, model_draws
from evaluation.rates import differences

__all__ = ["FEW_DISCORDANT", "compare"]

FEW_DISCORDANT = 25
"""Below this number of discordant rows the chi-square approximation is not used."""
ALPHA = 0.05
P_DIGITS = 6
OVERALL = "overall"
DIFFERENCES: Mapping[Kind, tuple[str, ...]] = {
    "medhal": ("non_factual_f1", "factual_f1", "accuracy"),
    "medval": ("macro_f1", "unsafe_f1", "unsafe_sensitivity", "unsafe_specificity", "accuracy"),
}
"""Of quadrants every metric."""

Mask = npt.NDArray[np.bool_]


def mcnemar_p(table: npt.NDArray[np.int64]) -> tuple[float, bool]:
    """Return the two-sided p of McNemar's test and whether it is exact.

    Args:
        table: *shape* (2, 2), rows A right or wrong, columns B right or wrong.
    """
    from statsmodels.stats.contingency_tables import mcnemar

    discordant = int(table[0, 1] + table[1, 0])
    exact = discordant < FEW_DISCORDANT
    return float(mcnemar(table, exact=exact, correction=True).pvalue) if discordant else 1.0, exact


def _mcnemar(counted: Counted, a: int, b: int, of: str, mask: Mask) -> dict[str, Any]:
    """Compare two runs by the rows of a mask on which one alone is right; the test takes rows for independent."""
    rows = counted.observed * mask
    right_a, right_b = (counted.answers[run] == counted.gold for run in (a, b))
    table = np.array([[rows @ (x * y) for y in (right_b, ~right_b)] for x in (right_a, ~right_a)]).astype(np.int64)
    p, exact = mcnemar_p(table)
    cells = dict(zip(("both", "only_a", "only_b", "neither"), table.ravel().tolist(), strict=True))
    return {"of": of, "rows": int(table.sum()), **cells, "p": p, "exact": exact}


def compare(
    models: Sequence[Model],
    counted: Counted,
    correction: Literal["holm", "bonferroni"],
    *,
    by_class: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Compare every model with those after it, baselines with models only.

    McNemar's test asks whether one is right more often on the rows where the two differ, over all rows and over those
    of each class that is named; p is corrected for all tests together. Differences are the first minus the second, over
    the same resamples.

    Returns:
        For each pair ``a``, ``b``; ``seed_a``, ``seed_b``, the seeds whose rows the test counts: the lowest that both
        have, else each one's first; ``tests`` (``of``, ``rows``; ``both``, ``only_a``, ``only_b``, ``neither``: rows
        that are right in each; ``p``, ``exact``, the corrected p, ``significant``) and ``differences``.
    """
    from statsmodels.stats.multitest import multipletests

    parts = {OVERALL: np.ones_like(counted.gold, dtype=np.bool_)}
    parts |= {name: counted.gold == code for code, name in enumerate(by_class)}
    drawn = [(model, model_draws(model, counted)) for model in models]
    pairs: list[dict[str, Any]] = []
    for (a, of_a), (b, of_b) in combinations(drawn, 2):
        if a.kind == "baseline":
            continue
        shared = sorted(({*a.seeds} & {*b.seeds}) - {None}, key=lambda seed: seed or 0)
        at_a, at_b = (model.seeds.index(shared[0]) if shared else 0 for model in (a, b))
        runs = a.runs[at_a], b.runs[at_b]
        pairs.append(
            {
                "a": a.name,
                "b": b.name,
                "seed_a": a.seeds[at_a],
                "seed_b": b.seeds[at_b],
                "tests": [_mcnemar(counted, *runs, name, mask) for name, mask in parts.items()],
                "differences": differences(of_a, of_b, counted.clusters(), DIFFERENCES.get(a.rows_kind)),
            }
        )
    tests = [test for pair in pairs for test in pair["tests"]]
    corrected = multipletests([test["p"] for test in tests], alpha=ALPHA, method=correction)[1] if tests else ()
    for test, p in zip(tests, corrected, strict=True):
        test |= {"p": float(f"{test['p']:.{P_DIGITS}g}"), f"p_{correction}": float(f"{p:.{P_DIGITS}g}")}
        test["significant"] = test[f"p_{correction}"] <= ALPHA
    return pairs
