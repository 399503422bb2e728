"""``ontoground steward ...``: labels that are audited, recomputed, adjudicated and released."""

from __future__ import annotations

from ontoground.cli.steward import adopt, ask, audit, calculators, effect, grade, labels, report, sheets, versions

__all__ = ["adopt", "ask", "audit", "calculators", "effect", "grade", "labels", "report", "sheets", "versions"]
