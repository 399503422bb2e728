"""``ontoground steward ...``: labels that are audited, recomputed, adjudicated and released."""

from __future__ import annotations

from ontoground.cli.steward import adopt, audit, board, calculators, diff, grade, history, release, review, rule, triage

__all__ = ["adopt", "audit", "board", "calculators", "diff", "grade", "history", "release", "review", "rule", "triage"]
