"""``ontoground steward ...``: labels that are audited, recomputed, adjudicated and released."""

from __future__ import annotations

from ontoground.cli.steward import adopt, audit, calculators, finalise, grade, labels, read, report, sheets, triage

__all__ = ["adopt", "audit", "calculators", "finalise", "grade", "labels", "read", "report", "sheets", "triage"]
