"""``ontoground steward ...``: labels that are audited, recomputed, adjudicated and released."""

from __future__ import annotations

from ontoground.cli.steward import (
    adopt,
    audit,
    calculators,
    finalise,
    grade,
    labels,
    read,
    recompute,
    report,
    sample,
    sheets,
    triage,
)
from ontoground.cli.steward.group import group

__all__ = [
    "adopt",
    "audit",
    "calculators",
    "finalise",
    "grade",
    "group",
    "labels",
    "read",
    "recompute",
    "report",
    "sample",
    "sheets",
    "triage",
]
