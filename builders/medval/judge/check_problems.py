"""Checks of problems: which ones, whether they are there, how certain and how strong."""

from __future__ import annotations

import re
from collections.abc import Sequence

from builders.medval.judge.comparison import Comparison, Finding, quoted
from builders.medval.judge.degrees import denies, doubts, hedged, is_somebodys, qualifier_after, word_before
from builders.medval.judge.denials import Denials
from builders.medval.judge.tables import diagnosis_groups, words
from builders.medval.judge.view import LONG, stem
from builders.medval.judge.wording import stands_alone
from builders.medval.reading import Seen

__all__ = ["certainties", "gradings", "modifiers", "polarities", "problems", "strange_subject"]

_TELLING = 4
# Where a question names no concept, so many of its telling words must stand in the input.
_MOST = 2 / 3
# Of the ranks of a grade, what is neither mild nor severe.
_MIDDLE = 2
_BEFORE, _AFTER = 8, 16
# The nouns of a name around a mention, up to words that link it to the question.
_LINKS = (
    r"(?:an?|the|and|or|for|of|on|about|with|without|to|from|in|by|after|before|during|is|are|be|I|"
    r"my|his|her|their|your|you|he|she|we|they|have|has|had|having|treat(?:ing)?|prevent(?:ing)?|cur(?:e|ing)|causes?|does)"
)
_NO_NOUN = rf"(?!{_LINKS}\b|(?:when|if|that|as|do|can|will|should|could)\b)"
_NOUNS_BEFORE = re.compile(rf"\b{_LINKS} (?P<nouns>(?:{_NO_NOUN}[\w'’-]+ ){{1,3}})$", re.IGNORECASE)
_NAME_ENDS = r"(?:syndrome|disease|disorder|deficiency|failure|tumor|cancer|fever)s?"
_NOUNS_AFTER = re.compile(rf"(?P<nouns>(?: {_NO_NOUN}[\w'’-]+){{0,2}} {_NAME_ENDS})\b", re.IGNORECASE)
_DEFINITE = re.compile(r"\b(definite(?:ly)?)\b", re.IGNORECASE)
# What is looked out for is not there.
_AHEAD = re.compile(r" (?:symptoms|signs|risks?|precautions|screen\w*|prevention|prophylaxis)\b", re.IGNORECASE)
_DENIED = frozenset({"no", "not", "denies", "denied", "any", "or", "and", "nor", "without"})
_PARTLY = re.compile(r",? (?:in|of|on|with|when|at|since|after|recent\w*|currently|today|anymore|down|over)\b")
_OVER = re.compile(r"\b(?:gone|resolved|settled|stopped|after|when|until|improv\w+)\b", re.I)
_DOUBT = re.compile(r"\b(?:possible|possibly|suspected|questionable|presumed)\s+$", re.IGNORECASE)


def problems(c: Comparison) -> list[Finding]:
    """Problems that the input does not hold."""
    found = []
    for one in c.made.problems():
        mention = one.mention
        if one.polarity == "absent" or not mention.cuis:
            continue
        if _is_opposite(c, one):
            text = "the output names the opposite of the disorder that the input names"
            found.append(quoted("opposite_diagnosis", text, c, mention.begin, mention.end, "problem, opposite"))
            continue
        if _is_sibling(c, one):
            text = "the output names another diagnosis of the group than the input"
            found.append(quoted("sibling_diagnosis", text, c, mention.begin, mention.end, "problem, sibling"))
            continue
        if c.supported(one) or c.may_mean(one) or c.specified(one):
            continue
        place = _whole_name(c, one)
        serious = c.knowledge.is_serious(mention, c.output[slice(*place)])
        replaces = c.task == "query2question" and _replaces(c)
        if mention.kind != "disorder" and not replaces:
            continue
        if c.task != "query2question" and (c.hinted(one) or _is_risk(c, one)):
            continue
        if serious and c.task == "query2question":
            text = "the output asks about a grave problem that the input does not name"
            found.append(quoted("wrong_subject", text, c, *place))
        elif serious:
            text = "the output names a grave diagnosis that the input does not hold"
            found.append(quoted("invented_diagnosis", text, c, *place, _evidence(c, one)))
        elif c.task != "query2question":
            text = "the output names a problem that the input does not name"
            found.append(quoted("fabricated", text, c, *place, _evidence(c, one)))
        elif replaces:
            lost = _lost_subject(c)
            instead = f", not about {lost}" if lost else ""
            text = f"the output asks about a problem that the input does not name{instead}"
            found.append(quoted("lost_subject" if lost else "fabricated", text, c, *place))
    return found


def _evidence(c: Comparison, one: Seen) -> str:
    """Return how a note names a problem that its conversation does not."""
    if one.mention.text.isupper():
        return f"abbreviated {one.mention.kind}, unheard"
    segment = c.segment(one)
    if doubts(c.output, segment.begin, segment.end) or _AHEAD.match(c.output, one.mention.end):
        return f"doubted {one.mention.kind}, unheard"
    return f"{one.mention.kind}, unheard, {'alone' if stands_alone(c, segment) else 'beside'}"


def _whole_name(c: Comparison, one: Seen) -> tuple[int, int]:
    """Return where the name of a question's subject begins and ends: "pott's puffy tumor", not "tumor" alone."""
    begin, end = one.mention.begin, one.mention.end
    if c.task != "query2question":
        return begin, end
    before, after = _NOUNS_BEFORE.search(c.output, 0, begin), _NOUNS_AFTER.match(c.output, end)
    return (before.start("nouns") if before else begin), (after.end("nouns") if after else end)


def _replaces(c: Comparison) -> bool:
    """Tell whether the message names a disorder that its question does not.

    Without one the message may mean what the question is about in words of its own.
    """
    lost = (other for other in c.given.problems() if other.mention.kind == "disorder" and other.mention.cuis)
    return any(not other.family & c.made_families for other in lost)


def _lost_subject(c: Comparison) -> str | None:
    """Return the grave problem of a message whose question names none of the message's disorders."""
    theirs = [one for one in c.given.problems() if one.mention.cuis and one.polarity != "absent"]
    if any(one.family & c.made_families for one in theirs if one.mention.kind == "disorder"):
        return None
    return next((one.mention.text for one in theirs if c.knowledge.is_serious(one.mention)), None)


def strange_subject(c: Comparison, found: list[Finding]) -> bool:
    """Tell whether a question is about something that the input holds by no concept and no word, and no error says so.

    What the two are to each other (another name, or another thing) is more than rules can tell.
    """
    if c.task != "query2question":
        return False
    if not c.made.problems() and not c.made.drugs() and not found:
        about = [
            word
            for word in c.made.words - c.knowledge.plain.frequent - words("neutral").keys()
            if len(word) >= _TELLING
        ]
        return sum(c.worded(word) for word in about) < _MOST * len(about)
    named = {finding.quote for finding in found if finding.quoted_from == "output"}
    return any(
        not (c.supported(one) or any(one.mention.text in (quote or "") for quote in named))
        for one in (*c.made.problems(), *c.made.drugs())
    )


def _is_risk(c: Comparison, one: Seen) -> bool:
    """Tell whether a problem is spoken of as what may come."""
    begin = max(c.output.rfind(stop, 0, one.mention.begin) for stop in (".", "\n"))
    return (
        re.search(r"\b(?:risks?|complications?|if|prevent)\b", c.output[begin + 1 : one.mention.begin], re.I)
        is not None
    )


def _is_sibling(c: Comparison, one: Seen) -> bool:
    """Tell whether a diagnosis stands in the place of another of its group: the input has that one, the output not."""
    name = one.mention.text
    return _stands_for(c, one, diagnosis_groups().get(name.lower(), ())) and not c.half_said(name)


def _is_opposite(c: Comparison, one: Seen) -> bool:
    """Tell whether a problem stands in the place of its opposite, whose name differs in one prefix only."""
    name = one.mention.text.lower()
    pairs = [pair for written in words("opposite").items() for pair in (written, written[::-1])]
    swapped = {re.sub(rf"\b{prefix}", other, name) for prefix, other in pairs if prefix in name} - {name}
    return _stands_for(c, one, sorted(swapped))


def _stands_for(c: Comparison, one: Seen, names: Sequence[str]) -> bool:
    """Tell whether the input names one of these, and in no words the problem of the output itself."""
    if not names or one.family & (c.given_families | c.given.unclear):
        return False
    text = one.mention.text
    if c.has(text) or c.abbreviated(text):
        return False
    kin = {cui for found in c.knowledge.concepts_of(names) for cui in found[:1]}
    return any(
        other.family & kin
        and other.polarity != "absent"
        # A question or a list names a thing once: what it still names was not replaced.
        and (c.task not in {"query2question", "course2diagnosis"} or not other.family & c.made_families)
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
        # The same words say the same, however the rest of their sentence was read.
        if c.output[max(0, one.mention.begin - _BEFORE) : one.mention.end + _AFTER].lower() in c.given.lower:
            continue
        text = (
            "the output denies a problem that the input says is there"
            if one.polarity == "absent"
            else "the output says that a problem is there which the input denies"
        )
        rule = "negation" if c.knowledge.is_serious(one.mention) else "symptom_negation"
        evidence = "denied, there" if one.polarity == "absent" else "there, denied"
        evidence = evidence if c.is_note and _is_plain(c, one) else "denial, reversed"
        found.append(quoted(rule, text, c, one.mention.begin, one.mention.end, evidence))
    return found


def _is_plain(c: Comparison, one: Seen) -> bool:
    """Tell whether note and conversation leave no doubt whether a problem is there, however far a negation reaches.

    A note denies it as such, not in one place or at one time; one that says that it is there denies nothing before it
    in the sentence, and does not say that it is over. A conversation that denies it does so wherever it has a word of
    the name; one that says that it is there denies nothing near.
    """
    theirs = [other.mention.begin for other in c.given.like(one.family)]
    if one.polarity == "absent":
        before = word_before(c.made, one)
        whole = (before is None or before[0] in _DENIED) and not _PARTLY.match(c.output, one.mention.end)
        return whole and Denials(c).differ(theirs, ours=True)
    segment = c.segment(one)
    words_of_it = re.findall(r"\w{4,}", one.mention.text.lower())
    theirs += [m.start() for word in words_of_it for m in re.finditer(rf"\b{stem(word)}", c.given.lower)]
    whole = _PARTLY.match(c.output, one.mention.end) is None
    over = _OVER.search(c.output, segment.begin, segment.end)
    return (
        whole
        and not over
        and not denies(c.output, segment.begin, one.mention.begin)
        and Denials(c).differ(theirs, ours=False)
    )


def gradings(c: Comparison) -> list[Finding]:
    """Problems that the output calls stronger or milder than the input, or grades where the input has no such word."""
    found = []
    for one in c.made.problems():
        said = word_before(c.made, one)
        rank = _rank(said)
        theirs = c.given.like(one.family)
        if said is None or not rank or not theirs or one.polarity == "absent":
            continue
        ranks = {_rank(word_before(c.given, seen)) for seen in theirs} - {0}
        # A grade that does not stand right before the problem may be anywhere.
        if rank in (ranks or {_rank((word, 0)) for word in c.given.words}):
            continue
        over = rank > max(ranks, default=_MIDDLE - 1)
        text = f"the output calls {said[0]} what the input does not call so"
        found.append(
            quoted(f"{'over' if over else 'under'}state_slightly", text, c, said[1], one.mention.end, "grade, another")
        )
    return found


def _rank(said: tuple[str, int] | None) -> int:
    return int(words("grade").get(said[0].removesuffix("ly"), 0)) if said else 0


def certainties(c: Comparison) -> list[Finding]:
    """Certainty that the input does not have, and doubt where the input has none."""
    found = []
    for match in _DEFINITE.finditer(c.output):
        if not any(word.startswith(match.group(1).lower()[:6]) for word in c.given.words):
            text = "the output is more certain than the input"
            found.append(quoted("overstate_certainty", text, c, match.start(), match.end()))
    for one in c.made.problems():
        doubt = _DOUBT.search(c.output, max(0, one.mention.begin - 16), one.mention.begin)
        theirs = c.given.like(one.family)
        if doubt is None or not theirs or any(hedged(c.given, other) for other in theirs):
            continue
        if c.task == "query2question" and not any(is_somebodys(c.given, other) for other in theirs):
            continue
        text = "the output doubts what the input states"
        found.append(quoted("understate_certainty", text, c, doubt.start(), one.mention.end))
    return found


def modifiers(c: Comparison) -> list[Finding]:
    """Words that qualify a problem wherever the input names it, and that the output leaves out."""
    found = []
    for one in c.made.problems():
        if one.polarity == "absent" or (one.mention.kind != "finding" and c.task != "query2question"):
            continue
        theirs = c.given.like(one.family)
        if c.task == "query2question":
            found += _left_out(c, theirs)
            if not theirs and one.mention.cuis and (kin := c.more_exact(one)):
                text = "the output names the problem less exactly than the input"
                found.append(Finding("omit_modifier", text, kin.mention.text, "input"))
        said = [word_before(c.given, other) for other in theirs]
        first = said[0] if said else None
        if first is None or any(word is None or word[0] != first[0] for word in said):
            continue
        if not _rank(first) and c.knowledge.plain.qualifies(first[0]) and stem(first[0]) not in c.made.stems:
            text = "the output leaves out a word that qualifies the problem in the input"
            found.append(Finding("omit_modifier", text, c.input[first[1] : theirs[0].mention.end], "input"))
    return found


def _left_out(c: Comparison, theirs: list[Seen]) -> list[Finding]:
    """Words that qualify a problem wherever the input names it, and of which one stands nowhere in the output."""
    said = [qualifier_after(c.given, other) for other in theirs]
    told = [{stem(word) for word in one.split()[1:] if len(word) >= LONG} for one in said]
    if not told or not set.intersection(*told) - c.made.stems:
        return []
    text = "the output leaves out words that qualify the problem in the input"
    end = theirs[0].mention.end + len(said[0])
    return [Finding("omit_modifier", text, c.input[theirs[0].mention.begin : end], "input")]
