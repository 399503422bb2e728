"""What the validator checks, each check one kind of disagreement between input and output."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from rapidfuzz import process
from rapidfuzz.distance import OSA

from builders.medval.rules.knowledge import Knowledge
from builders.medval.rules.minor import graded, is_kept, modifier_before, tells_age, word_before
from builders.medval.rules.moderate import is_open
from builders.medval.rules.quantities import measured_of
from builders.medval.rules.tables import diagnosis_groups, drug_groups, words
from builders.medval.rules.view import Amount, Rate, Seen, View, input_view, output_view, stem
from ontoground.rows_text import MedvalTask

__all__ = ["CHECKS", "Check", "Comparison", "Finding"]

_LONG = 4
_SPELT = 7
_LETTERS = re.compile(r"[A-Za-z][A-Za-z'-]+")
_GIVEN = frozenset({"present", "planned", "hypothetical"})


@dataclass(frozen=True, slots=True)
class Finding:
    """One error: the rule whose weight it has, what is wrong in words, and the words it is about."""

    rule: str
    text: str
    quote: str | None
    quoted_from: Literal["input", "output"] | None


@dataclass(frozen=True)
class Comparison:
    """An input and an output, both read."""

    task: MedvalTask
    input: str
    output: str
    knowledge: Knowledge

    @cached_property
    def given(self) -> View:
        """The input."""
        return input_view(self.knowledge, self.task, self.input)

    @cached_property
    def made(self) -> View:
        """The output."""
        return output_view(self.knowledge, self.task, self.output)

    @cached_property
    def given_families(self) -> frozenset[str]:
        """All concepts of the input."""
        return self.given.families

    @cached_property
    def made_families(self) -> frozenset[str]:
        """All concepts of the output."""
        return self.made.families

    @cached_property
    def lower(self) -> str:
        """The input in lower case."""
        return self.input.lower()

    @cached_property
    def vocabulary(self) -> list[str]:
        """The longer words of the input, sorted."""
        return sorted(word for word in self.given.words if len(word) >= _LONG)

    def worded(self, text: str) -> bool:
        """Tell whether the input has the telling words of a phrase, in some form or spelling."""
        if re.sub(r"\W", "", text.lower()) in self.squeezed:
            return True
        long = [word.lower() for word in _LETTERS.findall(text) if len(word) >= _LONG]
        telling = [word for word in long if word not in words("general")] or long
        return bool(telling) and all(self._has_word(word) for word in telling)

    @cached_property
    def squeezed(self) -> str:
        """The input in lower case without anything but letters and digits."""
        return re.sub(r"\W", "", self.lower)

    def _has_word(self, word: str) -> bool:
        if stem(word) in self.given.stems:
            return True
        cutoff = 1 if len(word) < _SPELT else 2
        return process.extractOne(word, self.vocabulary, scorer=OSA.distance, score_cutoff=cutoff) is not None

    def abbreviated(self, text: str) -> bool:
        """Tell whether the input has the first letters of a phrase of several words."""
        letters = "".join(word[0] for word in re.split(r"[\s-]+", text) if word).upper()
        return len(letters) > 1 and re.search(rf"\b{re.escape(letters)}\b", self.input) is not None

    def in_lay_words(self, one: Seen) -> bool:
        """Tell whether the input speaks of a problem in words that name no concept ("your sugars")."""
        name = one.mention.text.lower()
        for words_of, lay in words("lay").items():
            if re.search(rf"\b(?:{words_of})", name) and re.search(rf"\b(?:{lay})", self.lower):
                return True
        return False

    def supported(self, one: Seen) -> bool:
        """Tell whether the input names what a mention of the output names, by concept or by its words."""
        text = one.mention.text
        if one.family & self.given_families or text.lower() in self.lower or one.family & self.given.unclear:
            return True
        if "-" in (
            self.output[one.mention.begin - 1 : one.mention.begin],
            self.output[one.mention.end : one.mention.end + 1],
        ):
            return True
        if one.mention.kind != "drug" and self.knowledge.akin(one.mention.cuis[:2], self.given_families):
            return True
        return self.worded(text) or self.abbreviated(text)


_GROUP = re.compile(
    r"\b(?:in|for) (?:older |young |elderly )?(?:adults|children|infants|women|men|teenagers)\b", re.IGNORECASE
)
_DEFINITE = re.compile(r"\b(definite(?:ly)?)\b", re.IGNORECASE)
_DOUBT = re.compile(r"\b(?:possible|possibly|suspected|questionable|presumed)\s+$", re.IGNORECASE)
_HEDGE = re.compile(
    r"\b(?:possibl\w+|suspect\w*|question\w*|likely|probabl\w+|may|might|maybe|could|concern\w*|think|rule|versus|vs|presumed|seems?|"
    r"evaluate|assess|guess|if)\b|\?",
    re.IGNORECASE,
)

Check = Callable[[Comparison], list[Finding]]


def _output(rule: str, text: str, comparison: Comparison, begin: int, end: int) -> Finding:
    return Finding(rule, text, comparison.output[begin:end], "output")


# ---- drugs


def strengths(c: Comparison) -> list[Finding]:
    """Strengths that the input does not give for the drug."""
    found = []
    for amount in c.made.amounts:
        theirs = [other for other in c.given.amounts if other.drug.family & amount.drug.family]
        value = amount.number.values[0]
        if not theirs or any(value in other.number.values for other in theirs) or _spoken_of(c, value):
            continue
        rule = "critical_dose" if _tenfold(c, amount, theirs) else "dose"
        text = "the output gives another strength for this drug than the input"
        found.append(_output(rule, text, c, amount.drug.mention.begin, amount.end))
    return found


def _spoken_of(c: Comparison, value: float) -> bool:
    """In a conversation a strength may stand far from the drug's name."""
    return c.task == "dialogue2note" and value in c.given.values


def _tenfold(c: Comparison, amount: Amount, theirs: list[Amount]) -> bool:
    return c.knowledge.is_critical(amount.drug.mention)


def frequencies(c: Comparison) -> list[Finding]:
    """Frequencies that the input does not give for the drug."""
    found = []
    for rate in c.made.rates:
        theirs = [other for other in c.given.rates if other.drug.family & rate.drug.family]
        if theirs and all(other.per_day != rate.per_day for other in theirs) and not _other_rate(c, rate):
            rule = "critical_dose" if c.knowledge.is_critical(rate.drug.mention) else "frequency"
            text = "the output gives another frequency for this drug than the input"
            found.append(_output(rule, text, c, rate.drug.mention.begin, rate.end))
    return found


def _other_rate(c: Comparison, rate: Rate) -> bool:
    """The output itself gives the input's frequency for the drug in another place: a change of dose is told."""
    theirs = {other.per_day for other in c.given.rates if other.drug.family & rate.drug.family}
    return any(other.per_day in theirs for other in c.made.rates if other.drug.family & rate.drug.family)


def drugs(c: Comparison) -> list[Finding]:
    """Drugs that the input does not name, or that its problems or allergies forbid."""
    found = []
    for one in c.made.drugs():
        mention = one.mention
        if mention.assertion.value == "allergy" or not mention.cuis:
            continue
        if one.family & c.given_families:
            if _allergic(c, one):
                text = "the output gives a drug that the input says the patient is allergic to"
                found.append(_output("allergic_drug", text, c, mention.begin, mention.end))
            continue
        if c.supported(one) or (_is_class(c, one) and not c.knowledge.is_critical(mention)):
            continue
        rule, text = _stranger_drug(c, one)
        if rule:
            found.append(_output(rule, text, c, mention.begin, mention.end))
    return found


def _allergic(c: Comparison, one: Seen) -> bool:
    theirs = [other.mention.assertion.value for other in c.given.like(one.family)]
    return bool(theirs) and all(value == "allergy" for value in theirs) and one.mention.assertion.value in _GIVEN


def _stranger_drug(c: Comparison, one: Seen) -> tuple[str, str]:
    for problem in c.given.problems():
        if problem.polarity == "present" and c.knowledge.contraindicates(one.mention, problem.mention):
            return "contraindicated_drug", "the output gives a drug that a problem of the input forbids"
    name = one.mention.text.lower()
    for other in c.given.drugs():
        if other.family & c.made_families or other.mention.assertion.value == "allergy":
            continue
        if name in {kin.lower() for kin in drug_groups().get(other.mention.text.lower(), ((), False))[0]}:
            return "sibling_drug", "the output names another drug of the class than the input"
        if name in drug_groups() and _siblings(c, one) & other.family:
            return "sibling_drug", "the output names another drug of the class than the input"
    if c.task == "query2question":
        if c.knowledge.is_critical(one.mention):
            return "wrong_subject", "the output asks about a drug that the input does not name"
        return "fabricated", "the output asks about a drug that the input does not name"
    return "fabricated", "the output names a drug that the input does not name"


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
_VERB = re.compile(rf"(?<!not )\b({'|'.join(sorted(map(re.escape, _VERBS), key=len, reverse=True))})\b", re.IGNORECASE)


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
            found.append(_output(rule, text, c, begin, one.mention.end))
    return found


# ---- problems


def problems(c: Comparison) -> list[Finding]:
    """Problems that the input does not hold."""
    found = []
    for one in c.made.problems():
        mention = one.mention
        if one.polarity == "absent" or not mention.cuis:
            continue
        if _is_sibling(c, one):
            text = "the output names another diagnosis of the group than the input"
            found.append(_output("sibling_diagnosis", text, c, mention.begin, mention.end))
            continue
        if mention.kind != "disorder" or c.supported(one):
            continue
        if c.task != "query2question" and (one.polarity != "present" or c.in_lay_words(one) or _is_risk(c, one)):
            continue
        if c.knowledge.is_serious(mention) and c.task == "query2question":
            text = "the output asks about a grave problem that the input does not name"
            found.append(_output("wrong_subject", text, c, mention.begin, mention.end))
        elif c.knowledge.is_serious(mention):
            text = "the output names a grave diagnosis that the input does not hold"
            found.append(_output("invented_diagnosis", text, c, mention.begin, mention.end))
    return found


def _is_risk(c: Comparison, one: Seen) -> bool:
    """Tell whether a problem is spoken of as what may come."""
    begin = max(c.output.rfind(stop, 0, one.mention.begin) for stop in (".", "\n"))
    return (
        re.search(r"\b(?:risks?|complications?|if|prevent)\b", c.output[begin + 1 : one.mention.begin], re.I)
        is not None
    )


def _is_sibling(c: Comparison, one: Seen) -> bool:
    """Tell whether a diagnosis stands in the place of another of its group: the input has that one, the output not."""
    name = one.mention.text.lower()
    if name not in diagnosis_groups() or one.family & (c.given_families | c.given.unclear):
        return False
    if re.sub(r"\W", "", name) in c.squeezed or c.abbreviated(one.mention.text) or c.in_lay_words(one):
        return False
    kin = {cui for other in diagnosis_groups()[name] for cui in c.knowledge.concepts(other)[:1]}
    return any(
        other.family & kin and not other.family & c.made_families and other.polarity != "absent"
        for other in c.given.problems()
    )


def polarities(c: Comparison) -> list[Finding]:
    """Problems that one text says are there and the other says are not."""
    found = []
    if c.task == "query2question":
        return []
    for one in c.made.problems():
        theirs = {other.polarity for other in c.given.like(one.family)}
        if c.output[: one.mention.begin].endswith(" for "):
            continue
        if one.polarity == "unknown" or "unknown" in theirs or not theirs or one.polarity in theirs:
            continue
        serious = c.knowledge.is_serious(one.mention)
        if not serious and one.mention.kind != "finding":
            continue
        text = (
            "the output denies a problem that the input says is there"
            if one.polarity == "absent"
            else "the output says that a problem is there which the input denies"
        )
        found.append(
            _output("negation" if serious else "symptom_negation", text, c, one.mention.begin, one.mention.end)
        )
    return found


def intensities(c: Comparison) -> list[Finding]:
    """Symptoms that the output makes stronger or milder than the input."""
    found = []
    for one in c.made.problems():
        ours = modifier_before(c.made, one, "intensity")
        if ours is None or one.polarity == "absent":
            continue
        theirs = {
            near[0].lower()
            for other in c.given.like(one.family)
            if (near := modifier_before(c.given, other, "intensity"))
        }
        word = ours[0].lower()
        if not theirs or word in theirs or words("intensity")[word] not in theirs:
            continue
        over = word in words("stronger")
        rule = "overstate_slightly" if over else "understate_slightly"
        text = f"the output makes the symptom {'stronger' if over else 'milder'} than the input does"
        found.append(_output(rule, text, c, ours[1], one.mention.end))
    return found


# ---- details


def sides(c: Comparison) -> list[Finding]:
    """Parts of the body on the other side."""
    found = []
    for side in c.made.sides:
        theirs = {other.side for other in c.given.sides if set(other.stems) & set(side.stems)}
        if theirs and side.side not in theirs:
            text = "the output puts this on the other side of the body than the input"
            found.append(_output("laterality", text, c, side.begin, side.end))
    return found


def measured(c: Comparison) -> list[Finding]:
    """Measured values that the input does not have."""
    found = []
    aged = re.search(r"\byears?[- ]old\b", c.lower) is not None
    for one in measured_of(c.output):
        if re.match(r"[- ]year[- ]old", c.output[one.end :]) and not aged:
            continue
        if not set(one.values) <= c.given.values:
            text = "the output gives a value that the input does not have"
            found.append(_output("number", text, c, one.begin, one.end))
    return found


# ---- questions


def aspects(c: Comparison) -> list[Finding]:
    """A question that asks something else than the input does."""
    if c.task != "query2question":
        return []
    for phrase, asked in words("aspect_phrase").items():
        if c.output.startswith(phrase + " "):
            cued = {aspect for aspect, cue in words("aspect").items() if _cue(cue).search(c.input)}
            if cued and asked not in cued and not is_open(c.input):
                text = "the output asks something else about the problem than the input"
                return [_output("other_question", text, c, 0, len(phrase))]
    return []


def _cue(cue: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{cue})\b", re.IGNORECASE)


# ---- certainty


def groups(c: Comparison) -> list[Finding]:
    """A question about a group that the input does not speak of."""
    if c.task != "query2question" or tells_age(c.input):
        return []
    found = _GROUP.search(c.output)
    text = "the output asks about a group that the input does not speak of"
    return [_output("added_group", text, c, found.start(), found.end())] if found else []


def certainties(c: Comparison) -> list[Finding]:
    """Certainty that the input does not have, and doubt where the input has none."""
    found = []
    for match in _DEFINITE.finditer(c.output):
        if not any(word.startswith(match.group(1).lower()[:6]) for word in c.given.words):
            text = "the output is more certain than the input"
            found.append(_output("overstate_certainty", text, c, match.start(), match.end()))
    for one in c.made.problems():
        doubt = _DOUBT.search(c.output, max(0, one.mention.begin - 16), one.mention.begin)
        theirs = c.given.like(one.family)
        if (
            doubt is None
            or not theirs
            or c.task == "query2question"
            or any(_hedged(c.given, other) for other in theirs)
        ):
            continue
        text = "the output doubts what the input states"
        found.append(_output("understate_certainty", text, c, doubt.start(), one.mention.end))
    return found


def _hedged(view: View, one: Seen) -> bool:
    """Tell whether a text speaks of a problem without certainty."""
    around = view.text[max(0, one.mention.begin - 80) : one.mention.end + 40]
    return one.polarity != "present" or _HEDGE.search(around) is not None


def gradings(c: Comparison) -> list[Finding]:
    """Problems that the output calls mild or severe where the input says nothing of how strong they are."""
    found = []
    for one in c.made.problems():
        word = word_before(c.made, one)
        if word is None or word[0].lower() not in {"mild", "severe"} or one.polarity == "absent":
            continue
        theirs = c.given.like(one.family)
        if theirs and not any(graded(c.given, other) for other in theirs):
            text = f"the output calls {word[0].lower()} what the input does not grade"
            found.append(_output("added_intensity", text, c, word[1], one.mention.end))
    return found


# ---- omissions


def modifiers(c: Comparison) -> list[Finding]:
    """Words that qualify a symptom wherever the input names it, and that the output leaves out."""
    found = []
    for one in c.made.problems():
        if one.mention.kind != "finding" or one.polarity == "absent" or modifier_before(c.made, one, "modifier"):
            continue
        theirs = c.given.like(one.family)
        qualified = [modifier_before(c.given, other, "modifier") for other in theirs]
        first = qualified[0] if qualified else None
        if first is None or any(word is None or word[0].lower() != first[0].lower() for word in qualified):
            continue
        if stem(first[0]) in c.made.stems:
            continue
        text = "the output leaves out a word that qualifies the symptom in the input"
        found.append(Finding("omit_modifier", text, c.input[first[1] : theirs[0].mention.end], "input"))
    return found


def missing_drugs(c: Comparison) -> list[Finding]:
    """Supplements and symptomatic drugs that a hospital course goes on with and that the output does not list."""
    if c.task != "course2diagnosis":
        return []
    found = []
    for one in c.given.drugs():
        theirs = c.given.like(one.family)
        if one.family & c.made_families or not c.knowledge.is_minor(one.mention):
            continue
        if all(other.polarity == "present" and is_kept(c.given, other) for other in theirs):
            text = "the output does not list a supplement or symptomatic drug of the input"
            found.append(Finding("omit_minor_drug", text, one.mention.text, "input"))
    return found


CHECKS: tuple[Check, ...] = (
    drugs,
    strengths,
    frequencies,
    actions,
    problems,
    polarities,
    intensities,
    sides,
    measured,
    aspects,
    certainties,
    gradings,
    groups,
    modifiers,
    missing_drugs,
)
