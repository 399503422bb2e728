"""Checks of drugs: which ones, how much, how often, and what is done with them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache

from builders.medval.judge.comparison import Comparison, Finding, quoted
from builders.medval.judge.knowledge import Knowledge
from builders.medval.judge.quantities import Measure
from builders.medval.judge.tables import contraindications, drug_groups
from builders.medval.judge.view import Dose, View
from builders.medval.reading import Seen

__all__ = ["actions", "doses", "drugs", "other_doses", "stops_unheard"]

# Decades, with what rounding takes.
_TENFOLD = 1 - 1e-6
_GIVEN = frozenset({"present", "planned", "hypothetical"})


def doses(c: Comparison) -> list[Finding]:
    """Strengths and frequencies that the input does not give for the drug."""
    found = []
    other = other_doses(c)
    for dose, _ in other:
        drug, measure = dose.drug, dose.measure
        rule, kind = ("frequency", "frequency") if measure.base == "day" else ("dose", "strength")
        # Strength and frequency together make the daily dose.
        decades = sum(more for another, more in other if another.drug is drug)
        harmful = decades >= _TENFOLD or (decades <= -_TENFOLD and _treats_serious(c, drug))
        rule = "critical_dose" if c.knowledge.is_critical(drug.mention) or harmful else rule
        text = f"the output gives another {kind} for this drug than the input"
        found.append(quoted(rule, text, c, drug.mention.begin, measure.end, f"{kind}, another"))
    return found


def _treats_serious(c: Comparison, drug: Seen) -> bool:
    """Tell whether a drug treats a serious problem that the input names: too little of it harms."""
    treated = frozenset[str]().union(*(c.knowledge.treated_by(cui) for cui in drug.family))
    return any(one.family & treated and c.knowledge.is_serious(one.mention) for one in c.given.problems())


@lru_cache(maxsize=2)
def other_doses(c: Comparison) -> list[tuple[Dose, float]]:
    """Return the quantities that the input does not give for their drug, each with how many decades it is off."""
    found = []
    for dose in c.made.doses:
        measure, family = dose.measure, dose.drug.family
        theirs = [o.measure for o in c.given.doses if o.measure.base == measure.base and o.drug.family & family]
        if not theirs or any(other.values & measure.values for other in theirs) or _elsewhere(c, dose, theirs):
            continue
        given = [value for other in theirs for value in other.values if value > 0]
        off = (math.log10(ours / value) for ours in measure.values if ours > 0 for value in given)
        found.append((dose, min(off, key=abs, default=0.0)))
    return found


def _elsewhere(c: Comparison, dose: Dose, theirs: Sequence[Measure]) -> bool:
    """Tell whether one text says far from the drug's name what the other says beside it."""
    if dose.measure.base == "day":
        # The output gives the input's frequency in another place: a change is told.
        ours = (o.measure.values for o in c.made.doses if o.drug.family & dose.drug.family and o.measure.base == "day")
        if any(values & other.values for values in ours for other in theirs):
            return True
    if c.task != "dialogue2note":
        return False
    taken = {o.measure.begin for o in c.given.doses}
    if dose.measure.base == "day":
        rates = (one for one in c.given.measures if one.base == "day")
        return any(dose.measure.values & rate.values and rate.begin not in taken for rate in rates)
    # What the conversation says beside the drug stands nowhere in the note.
    if not any(other.values & one.values for other in theirs for one in c.made.measures):
        return False
    said = {value for number in c.made.numbers if number.begin == dose.measure.begin for value in number.values}
    return any(said & number.values and number.begin not in taken for number in c.given.told_numbers)


def drugs(c: Comparison) -> list[Finding]:
    """Drugs that the input does not name, or that its problems or allergies forbid."""
    found = []
    for one in c.made.drugs():
        mention = one.mention
        if mention.assertion.value == "allergy" or not mention.cuis:
            continue
        if one.family & c.given_families:
            if _allergic(c, one) and not (c.spoken and not _is_given(c, one)):
                text = "the output gives a drug that the input says the patient is allergic to"
                found.append(quoted("allergic_drug", text, c, mention.begin, mention.end, "drug, allergic"))
            continue
        # Of everyday words ("mom") and names of classes a conversation has others.
        everyday = mention.text.lower() in c.knowledge.plain or _is_class(c, one)
        if c.supported(one) or (c.spoken and everyday and not c.knowledge.is_critical(mention)):
            continue
        rule, text = _stranger_drug(c, one)
        if rule:
            found.append(quoted(rule, text, c, mention.begin, mention.end, _evidence(c, one)))
    return found


def _is_given(c: Comparison, one: Seen) -> bool:
    """Tell whether a note says how much of a drug is taken, or that it is."""
    return any(dose.drug is one for dose in c.made.doses) or any(done == "on" for done, _ in _actions(c.made, one, 50))


def _evidence(c: Comparison, one: Seen) -> str:
    """Return how a note names a drug that its conversation does not name: people say parts of a name, and classes."""
    name, graph = one.mention.text, c.knowledge.graph
    if one.polarity == "absent":
        return "denied drug, unheard"
    if name.isupper() or any(sign.isdigit() for sign in name):
        return "abbreviated drug, unheard"
    names = {name.lower(), *(graph.name(cui).lower() for cui in one.family if cui in graph)}
    # What a product's name adds to the drug's is of its form: "tablet" names no drug.
    bare = [whole for whole in names if not any(part in whole for part in names - {whole})]
    return f"drug, {'said in part' if any(map(c.begun, bare)) or c.called(one) else 'unheard'}"


def _allergic(c: Comparison, one: Seen) -> bool:
    theirs = [other.mention.assertion.value for other in c.given.like(one.family)]
    return bool(theirs) and all(value == "allergy" for value in theirs) and one.mention.assertion.value in _GIVEN


def _stranger_drug(c: Comparison, one: Seen) -> tuple[str, str]:
    for problem in c.given.problems():
        if problem.polarity == "present" and _forbids(c.knowledge, problem) & one.family:
            return "contraindicated_drug", "the output gives a drug that a problem of the input forbids"
    name = one.mention.text.lower()
    for other in c.given.drugs():
        if other.family & c.made_families or other.mention.assertion.value == "allergy":
            continue
        if name in {kin.lower() for kin in drug_groups().get(other.mention.text.lower(), ((), False))[0]}:
            return "sibling_drug", "the output names another drug of the class than the input"
        if name in drug_groups() and _siblings(c, one) & other.family:
            return "sibling_drug", "the output names another drug of the class than the input"
    if c.task == "query2question" and (lost := _lost_drug(c)):
        return "lost_subject", f"the output asks about a drug that the input does not name, not about {lost}"
    asks = "asks about" if c.task == "query2question" else "names"
    rule = "invented_drug" if c.knowledge.is_critical(one.mention) else "fabricated"
    return rule, f"the output {asks} a drug that the input does not name"


def _lost_drug(c: Comparison) -> str | None:
    """Return the drug of narrow margin of a message whose question names none of the message's drugs."""
    theirs = c.given.drugs()
    if any(one.family & c.made_families for one in theirs):
        return None
    return next((one.mention.text for one in theirs if c.knowledge.is_critical(one.mention)), None)


def _forbids(knowledge: Knowledge, problem: Seen) -> frozenset[str]:
    """Return the drugs that a problem forbids, by the table or by an edge of the graph from a grave problem itself."""
    return frozenset[str]().union(*(_forbidden(knowledge).get(cui, frozenset()) for cui in problem.mention.cuis[:1]))


@lru_cache(maxsize=4)
def _forbidden(knowledge: Knowledge) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    problems = knowledge.concepts_of([line.problem for line in contraindications()])
    drugs = knowledge.concepts_of([line.drug for line in contraindications()])
    for problem, drug in zip(problems, drugs, strict=True):
        for cui in problem[:1]:
            found[cui] = found.get(cui, frozenset()) | set(drug[:1])
    for cui in knowledge.serious:
        if cui in knowledge.graph:
            edges = knowledge.graph.neighbours(cui, "has_contraindicated_drug")
            found[cui] = found.get(cui, frozenset()) | {edge.tail for edge in edges}
    return found


def _is_class(c: Comparison, one: Seen) -> bool:
    """Tell whether a name stands for many drugs ("antibiotics")."""
    graph = c.knowledge.graph
    cuis = [cui for cui in one.mention.cuis[:2] if cui in graph]
    return not any(graph.equivalents(cui) for cui in cuis)


def _siblings(c: Comparison, one: Seen) -> set[str]:
    return set().union(*(c.knowledge.siblings(cui) for cui in one.mention.cuis[:1]))


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


def _actions(view: View, one: Seen, reach: int) -> list[tuple[str, int]]:
    """Return what is said to be done with a drug in the words right before it, nearest last."""
    begin = max(0, one.mention.begin - reach)
    before = view.text[begin : one.mention.begin]
    cut = max(before.rfind(stop) for stop in (".", "\n", ";", "?"))
    # A verb before another drug is about that one.
    ends = [other.mention.end - begin for other in view.drugs() if begin < other.mention.end <= one.mention.begin]
    cut = max(cut, *ends) if ends else cut
    return [(_VERBS[m.group(1).lower()], begin + m.start()) for m in _VERB.finditer(before, cut + 1)]


def actions(c: Comparison) -> list[Finding]:
    """Drugs that the output stops where the input goes on with them, or the reverse."""
    found = []
    for one in c.made.drugs():
        ours = _actions(c.made, one, 50)
        if not ours:
            continue
        kind, begin = ours[-1]
        theirs = {done for other in c.given.like(one.family) for done, _ in _actions(c.given, other, 60)}
        if _OPPOSITE[kind] in theirs and kind not in theirs:
            rule = "critical_action" if c.knowledge.is_critical(one.mention) else "action"
            text = "the output reverses what the input says is done with this drug"
            found.append(quoted(rule, text, c, begin, one.mention.end, "action, reversed"))
    return found


def stops_unheard(c: Comparison) -> bool:
    """Tell whether the output stops a drug of which the input says no such thing."""
    for one in c.made.drugs():
        ours = _actions(c.made, one, 50)
        if ours and ours[-1][0] == "off":
            theirs = {done for other in c.given.like(one.family) for done, _ in _actions(c.given, other, 60)}
            if "off" not in theirs:
                return True
    return False
