"""``ontoground steward ...``: labels that are audited, recomputed, adjudicated and released."""

from __future__ import annotations

from ontoground.cli.steward import (
    adopt,
    audit,
    board,
    calculators,
    diff,
    finalise,
    grade,
    history,
    read,
    release,
    report,
    rule,
    sheets,
    triage,
)

__all__ = [
    "adopt",
    "audit",
    "board",
    "calculators",
    "diff",
    "finalise",
    "grade",
    "history",
    "read",
    "release",
    "report",
    "rule",
    "sheets",
    "triage",
]
