"""Checks of drugs: which ones, how much, how often, and what is done with them."""

from __future__ import annotations

import math
import re
from functools import lru_cache

from builders.medval.judge.comparison import Comparison, Finding, quoted
from builders.medval.reading import Dose, Seen, View

__all__ = ["actions", "doses", "drugs", "other_doses", "stops_alone"]

# Decades, with what rounding takes.
_TENFOLD = 1 - 1e-6
# Characters before a drug in which a verb says what is done with it.
_REACH = 60
_KINDS = {
    "on": "continue continued continuing resume resumed start started restart initiate prescribe prescribed begin",
    "off": "stop stopped discontinue discontinued discontinuing avoid withhold held hold",
    "up": "increase increased",
    "down": "decrease decreased reduce reduced lower",
}
_VERBS = {verb: kind for kind, verbs in _KINDS.items() for verb in verbs.split()}
_VERBS |= {"taken off": "off", "told to stop": "off"}
_OPPOSITE = {"on": "off", "off": "on", "up": "down", "down": "up"}
# What is stopped with "it" is another drug than the one that comes next.
_ANY_VERB = "|".join(sorted(map(re.escape, _VERBS), key=len, reverse=True))
_VERB = re.compile(rf"(?<!not )(?<!n't )\b({_ANY_VERB})\b(?! (?:it|that|this|them|and)\b)", re.IGNORECASE)


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


def _actions(view: View, drug: Seen) -> list[tuple[str, int]]:
    """Return what is done with a drug by the words right before it, nearest last."""
    begin = max(0, drug.mention.begin - _REACH)
    before = view.text[begin : drug.mention.begin]
    # A verb before another drug is about that one.
    ends = (other.mention.end - begin for other in view.drugs if begin < other.mention.end <= drug.mention.begin)
    cut = max(*(before.rfind(stop) for stop in (".", "\n", ";", "?")), *ends)
    return [(_VERBS[match[1].lower()], begin + match.start()) for match in _VERB.finditer(before, cut + 1)]


def _compared_actions(c: Comparison) -> list[tuple[Seen, str, int, set[str]]]:
    """Return each drug of the output with what is done with it and where, and what the input does with it."""
    compared = []
    for drug in c.output_view.drugs:
        if ours := _actions(c.output_view, drug):
            theirs = {action for other in c.input_view.like(drug.family) for action, _ in _actions(c.input_view, other)}
            compared.append((drug, *ours[-1], theirs))
    return compared


def actions(c: Comparison) -> list[Finding]:
    """Drugs that the output stops where the input goes on with them, or the reverse."""
    text = "the output reverses what the input says is done with this drug"
    findings = []
    for drug, action, begin, theirs in _compared_actions(c):
        if _OPPOSITE[action] in theirs and action not in theirs:
            rule = "critical_action" if c.severity.is_critical(drug.mention) else "action"
            findings.append(quoted(rule, text, c, begin, drug.mention.end))
    return findings


def stops_alone(c: Comparison) -> bool:
    """Tell whether the output stops a drug of which the input says no such thing."""
    return any(action == "off" and "off" not in theirs for _, action, _, theirs in _compared_actions(c))
