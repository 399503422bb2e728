"""Checks of drugs: which ones, how much and how often."""

from __future__ import annotations

import math
from functools import lru_cache

from builders.medval.judge.comparison import Comparison, Finding, quoted
from builders.medval.reading import Dose, Seen

__all__ = ["doses", "drugs", "other_doses"]

# Decades, with what rounding takes.
_TENFOLD = 1 - 1e-6


def doses(c: Comparison) -> list[Finding]:
    """Strengths and frequencies that the input does not give for the drug."""
    findings = []
    others = other_doses(c)
    for dose, _ in others:
        drug, quantity = dose.drug, dose.quantity
        rule, kind = ("frequency", "frequency") if quantity.base == "day" else ("dose", "strength")
        # Strength and frequency together make the daily dose.
        decades = sum(more for other, more in others if other.drug is drug)
        rule = "critical_dose" if c.severity.is_critical(drug.mention) or decades >= _TENFOLD else rule
        text = f"the output gives another {kind} for this drug than the input"
        findings.append(quoted(rule, text, c, drug.mention.begin, quantity.end))
    return findings


@lru_cache(maxsize=2)
def other_doses(c: Comparison) -> list[tuple[Dose, float]]:
    """Return the quantities that the input does not give for their drug, each with how many decades it is off."""
    others = []
    for dose in c.output_view.doses:
        value, theirs = dose.quantity.value, c.input_view.amounts_of(dose)
        if theirs and value not in theirs:
            off = (math.log10(value / other) for other in theirs if value > 0 and other > 0)
            others.append((dose, min(off, key=abs, default=0.0)))
    return others


def drugs(c: Comparison) -> list[Finding]:
    """Drugs that the input does not name."""
    findings = []
    for drug in c.output_view.drugs:
        mention = drug.mention
        if mention.assertion.value == "allergy" or not mention.cuis or c.supported(drug):
            continue
        # A message has other words for everyday ones ("mom") and for classes of drugs.
        everyday = c.is_question and (mention.text.lower() in c.concepts.words or _is_class(c, drug))
        if not everyday or c.severity.is_critical(mention):
            findings.append(quoted(*_stranger(c, drug), c, mention.begin, mention.end))
    return findings


def _stranger(c: Comparison, drug: Seen) -> tuple[str, str]:
    """Return the rule and the words for a drug that the input does not name."""
    if c.is_question and (lost := _lost_drug(c)):
        return "lost_subject", f"the output asks about a drug that the input does not name, not about {lost}"
    asks = "asks about" if c.is_question else "names"
    rule = "invented_drug" if c.severity.is_critical(drug.mention) else "fabricated"
    return rule, f"the output {asks} a drug that the input does not name"


def _lost_drug(c: Comparison) -> str | None:
    """Return the drug of narrow margin of a message whose question names none of the message's drugs."""
    if any(drug.family & c.output_view.families for drug in c.input_view.drugs):
        return None
    return next((drug.mention.text for drug in c.input_view.drugs if c.severity.is_critical(drug.mention)), None)


def _is_class(c: Comparison, drug: Seen) -> bool:
    """Tell whether a name stands for many drugs ("antibiotics")."""
    graph = c.concepts.graph
    return not any(graph.equivalents(cui) for cui in drug.mention.cuis[:2] if cui in graph)
