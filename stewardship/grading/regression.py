"""A linear probability model of right answers on the policy that gave them (paper, appendix E.2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from ground.errors import InputError

__all__ = ["linear_probability"]


def linear_probability(rows: pl.DataFrame, reference: str) -> list[dict[str, Any]]:
    """Regress ``correct`` on the policy, with indicators of benchmark and decoding; errors clustered by row.

    Args:
        rows: ``benchmark``, ``uid``, ``policy``, ``temperature``, ``correct``, one for each response.
        reference: the policy that others are compared with.

    Returns:
        For each other policy ``policy``, ``value``, ``low``, ``high``, ``p`` and ``n`` (responses in all).

    Raises:
        InputError: no policy beside the reference, or fewer than two rows.
    """
    import statsmodels.api as sm

    policies = [name for name in rows["policy"].unique(maintain_order=True) if name != reference]
    clusters = rows.select(pl.struct("benchmark", "uid").rank("dense")).to_series().to_numpy()
    if not policies or len(np.unique(clusters)) < 2:
        raise InputError(
            "there is nothing to compare", found=f"{rows.height} responses", expected="two policies or more"
        )
    controls = [(name, value) for name in ("benchmark", "temperature") for value in sorted(rows[name].unique())[1:]]
    indicators = [(rows["policy"] == name).to_numpy() for name in policies]
    indicators += [(rows[name] == value).to_numpy() for name, value in controls]
    design = np.column_stack([np.ones(rows.height), *indicators]).astype(np.float64)
    model = sm.OLS(rows["correct"].to_numpy().astype(np.float64), design)
    fitted = model.fit(cov_type="cluster", cov_kwds={"groups": clusters})
    low, high = fitted.conf_int().T
    return [
        {
            "policy": name,
            "value": float(fitted.params[at]),
            "low": float(low[at]),
            "high": float(high[at]),
            "p": float(fitted.pvalues[at]),
            "n": rows.height,
        }
        for at, name in enumerate(policies, 1)
    ]
