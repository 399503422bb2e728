"""From the reviewed rows to the whole benchmark (docs/stewardship.md#test-wide-estimate)."""

from __future__ import annotations

from stewardship.adjudication.agreement import Estimate

__all__ = ["smape_bound", "whole_test"]


def smape_bound(rel_err: float = 0.05) -> float:
    """Return the largest sMAPE, in percent, of two numbers that are at most ``rel_err`` apart: 200 d / (2 - d).

    For \\|a\\| >= \\|b\\| and rel.err <= d: \\|a - b\\| <= d \\|a\\| and \\|b\\| >= (1 - d) \\|a\\|. It is the reached
    maximum up to d = 1; from there on the bound is 200, which opposite signs reach.
    """
    return 200.0 if rel_err >= 1 else 200 * rel_err / (2 - rel_err)


def whole_test(flagged: Estimate, weight: float, unflagged: float) -> Estimate:
    """Mix the sMAPE of the flagged rows with one that is supposed for the unflagged: w s + (1 - w) u, at both ends too.

    The interval holds the weight and the supposed value for fixed: it is that of the flagged rows' sMAPE alone.

    Args:
        flagged: sMAPE of the reviewed rows, taken to stand for all flagged ones.
        weight: w, the share of flagged rows.
        unflagged: u, sMAPE supposed on the others: 0 for the original labels, `smape_bound` for the recomputed ones.
    """
    if flagged.value is None or flagged.low is None or flagged.high is None:
        return Estimate(None, None, None, flagged.n)
    value, low, high = (weight * end + (1 - weight) * unflagged for end in (flagged.value, flagged.low, flagged.high))
    return Estimate(value, low, high, flagged.n)
