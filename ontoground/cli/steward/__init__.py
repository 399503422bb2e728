"""``ontoground steward ...``: labels that are audited, recomputed, adjudicated and released."""

from __future__ import annotations

from ontoground.cli.steward import adopt, audit, calculators, grade, labels, review, triage
from ontoground.cli.steward.group import group

__all__ = ["adopt", "audit", "calculators", "grade", "group", "labels", "review", "triage"]
