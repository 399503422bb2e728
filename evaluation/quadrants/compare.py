"""Two models on the same rows: McNemar's test, and intervals of the differences by patient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evaluation.intervals import Bootstrap, Estimate, ModelRuns, estimate, model_draws

__all__ = ["FEW_DISCORDANT", "Comparison", "compare", "compare_all", "mcnemar_p"]

# Below this number of discordant rows the chi-square approximation is not used.
FEW_DISCORDANT = 25


@dataclass(frozen=True)
class Comparison:
    """What model A does differently from model B.

    Attributes:
        a, b: names.
        seed_a, seed_b: the seeds whose rows McNemar's test counts: the lowest that both have, else each one's lowest.
        both, only_a, only_b, neither: rows that are right in both, in one, in none.
        p: two-sided p of McNemar's test, which takes rows for independent.
        p_holm: the same, corrected for the number of comparisons of one report (Holm); None for a single one.
        exact: by the binomial distribution, else by chi-square with continuity correction.
        differences: A minus B for each metric, with intervals over patients.
    """

    a: str
    b: str
    seed_a: int | None
    seed_b: int | None
    both: int
    only_a: int
    only_b: int
    neither: int
    p: float
    p_holm: float | None
    exact: bool
    differences: dict[str, Estimate]


def mcnemar_p(table: npt.NDArray[np.int64]) -> tuple[float, bool]:
    """Return the two-sided p of McNemar's test and whether it is exact.

    Args:
        table: *shape* (2, 2), rows A right or wrong, columns B right or wrong.
    """
    from statsmodels.stats.contingency_tables import mcnemar

    discordant = int(table[0, 1] + table[1, 0])
    if not discordant:
        return 1.0, True
    exact = discordant < FEW_DISCORDANT
    return float(mcnemar(table, exact=exact, correction=True).pvalue), exact


def _seed_index(a: ModelRuns, b: ModelRuns) -> tuple[int, int]:
    shared = sorted({seed for seed in a.seeds if seed is not None} & {seed for seed in b.seeds if seed is not None})
    return (a.seeds.index(shared[0]), b.seeds.index(shared[0])) if shared else (0, 0)


def compare(a: ModelRuns, b: ModelRuns, bootstrap: Bootstrap) -> Comparison:
    """Compare two models on the same rows; both see the same resamples of patients."""
    at_a, at_b = _seed_index(a, b)
    right_a, right_b = a.right[at_a], b.right[at_b]
    table = np.array([[(x & y).sum() for y in (right_b, ~right_b)] for x in (right_a, ~right_a)], dtype=np.int64)
    p, exact = mcnemar_p(table)
    points_a, drawn_a = model_draws(a.confusion, a.calibration, bootstrap)
    points_b, drawn_b = model_draws(b.confusion, b.calibration, bootstrap)
    differences = {
        name: estimate(
            np.array([points_a[name].mean() - points_b[name].mean()]),
            drawn_a[name] - drawn_b[name],
            bootstrap.n_patients,
        )
        for name in points_a
    }
    return Comparison(
        a=a.name,
        b=b.name,
        seed_a=a.seeds[at_a],
        seed_b=b.seeds[at_b],
        both=int(table[0, 0]),
        only_a=int(table[0, 1]),
        only_b=int(table[1, 0]),
        neither=int(table[1, 1]),
        p=p,
        p_holm=None,
        exact=exact,
        differences=differences,
    )


def compare_all(models: Sequence[ModelRuns], bootstrap: Bootstrap) -> list[Comparison]:
    """Compare every model with the models after it and with every baseline; p is corrected for their number (Holm)."""
    from statsmodels.stats.multitest import multipletests

    pairs = [(a, b) for at, a in enumerate(models) for b in models[at + 1 :] if a.kind == "model"]
    found = [compare(a, b, bootstrap) for a, b in pairs]
    if len(found) < 2:
        return found
    corrected = multipletests([one.p for one in found], method="holm")[1]
    return [replace(one, p_holm=float(p)) for one, p in zip(found, corrected, strict=True)]
