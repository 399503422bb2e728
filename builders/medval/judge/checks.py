"""What the validator checks, each check one kind of disagreement between input and output."""

from __future__ import annotations

from collections.abc import Callable

from builders.medval.judge import check_claims, check_details, check_drugs, check_problems, check_whole, unheard
from builders.medval.judge.comparison import Comparison, Finding

__all__ = ["CHECKS", "LAST", "Check"]

Check = Callable[[Comparison], list[Finding]]

CHECKS: tuple[Check, ...] = (
    check_drugs.drugs,
    check_drugs.doses,
    check_drugs.actions,
    check_problems.problems,
    check_problems.polarities,
    check_problems.certainties,
    check_problems.gradings,
    check_problems.modifiers,
    check_details.sides,
    check_details.measured,
    check_details.aspects,
    check_details.parts,
    check_details.groups,
    check_claims.claims,
    check_claims.stopped_treatment,
    unheard.unheard,
)
"""All checks but the last; their order changes nothing but the order of errors of one level."""
LAST: Check = check_whole.whole
"""The check of each word of a note, which is asked for where no other finds an unsafe error: words take longest."""
