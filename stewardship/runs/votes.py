"""Phase 1: the verdicts of several audits of one label, counted (docs/stewardship.md#phase-1-audit)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["LIKELY_ERROR", "PASSED", "Audit", "AuditSummary", "Verdict", "audit", "parse_verdict", "summarise"]

LIKELY_ERROR, PASSED = "likely_error", "passed"
"""Statuses of an audited label."""
# A tag that prose names before is not opened by it: no tag stands inside.
ANSWER = re.compile(r"<answer>((?:(?!</?answer>).)*)</answer>", re.IGNORECASE | re.DOTALL)


class Verdict(StrEnum):
    """What one audit says of a label."""

    SUSPICIOUS = "suspicious"
    PASS = "pass"
    NONE = "none"


WORDS = {
    "suspicious": Verdict.SUSPICIOUS,
    "no": Verdict.SUSPICIOUS,
    "pass": Verdict.PASS,
    "passed": Verdict.PASS,
    "yes": Verdict.PASS,
}


def parse_verdict(text: str | None) -> Verdict:
    """Read one audit's answer.

    The last closed ``<answer>`` decides, else the whole text if it is one word. ``No`` means that the reference answer
    is not right, ``Yes`` that it is (assumed: docs/stewardship.md#what-is-assumed). All else is no verdict.
    """
    body = text or ""
    tagged = ANSWER.findall(body)
    return WORDS.get((tagged[-1] if tagged else body).strip().strip(".").casefold(), Verdict.NONE)


@dataclass(frozen=True)
class Audit:
    """What the verdicts on one label come to.

    Attributes:
        status: ``likely_error`` or ``passed``.
        runs: runs in all.
    """

    status: str
    suspicious: int
    answered: int
    runs: int


def audit(verdicts: Sequence[Verdict], *, quorum: int = 4) -> Audit:
    """Count verdicts: ``likely_error`` from ``quorum`` Suspicious on.

    A run without a verdict is no flag, and the quorum stays what it is (assumed).
    """
    suspicious = sum(verdict is Verdict.SUSPICIOUS for verdict in verdicts)
    answered = sum(verdict is not Verdict.NONE for verdict in verdicts)
    return Audit(LIKELY_ERROR if suspicious >= quorum else PASSED, suspicious, answered, len(verdicts))


@dataclass(frozen=True)
class AuditSummary:
    """Phase 1 over a benchmark (paper 3.1: 279 of 1,047 = 26.6%, in 40 of 55 calculators).

    Attributes:
        rate: flagged / n; None without rows.
    """

    n: int
    flagged: int
    rate: float | None
    strata: int
    strata_touched: int


def summarise(statuses: Mapping[str, str], strata: Mapping[str, str]) -> AuditSummary:
    """Sum up the statuses of audits.

    Args:
        statuses: uid to ``likely_error`` or ``passed``.
        strata: uid to stratum (a calculator).
    """
    flagged = [uid for uid, status in statuses.items() if status == LIKELY_ERROR]
    return AuditSummary(
        n=len(statuses),
        flagged=len(flagged),
        rate=len(flagged) / len(statuses) if statuses else None,
        strata=len({strata[uid] for uid in statuses if uid in strata}),
        strata_touched=len({strata[uid] for uid in flagged if uid in strata}),
    )
