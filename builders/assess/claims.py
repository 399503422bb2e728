"""What a statement claims: its two ends, and which relation its words mean. What is not read is refused, never guessed.

The words of relations are those of the graph itself: the sentences of predicates, the names of the release's relations
(``is_treatment_for``, ``due_to``), the definitions of the Semantic Network and lexical units of FrameNet. Which end is
the head is told by the semantic groups that a predicate demands, or else by the order in which such a sentence has
them.

What stands with a treatment and a disorder and speaks of no harm, no denial, no time and no other relation claims a
benefit in some way. Where words are not those of a benefit, or a number or a class is named too, a statement may be
false, but is not told to be true.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import NamedTuple

from ehr.reading import ReadMention, TextReading
from ground import ROOT
from ground.storage.tables import read_table
from kg.graph import ConceptGraph
from kg.predicates import ANY, Predicate, data_folder, read_relation_lines, read_vocabulary

__all__ = ["Alternative", "Claim", "Reading", "Unread", "claim_of"]

NAMING = frozenset(["a", "an", "one", "due"])
"""Words that name a relation though they have no content: "is a", "is one of", "due to"."""
BENEFIT = ("treats", "prevents")
"""What "for" or "in" says between what is used and a disorder."""
CLASS = "has_pharmacologic_class"
MOST_CANDIDATES = 5
"""Concepts that a name may mean, at most: what is told must hold of each."""
FAR = 3
"""Steps of the hierarchy within which two names of a statement are one thing and a kind of it."""
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*|\d+")
_KIND = re.compile(r",? which (?:is|are) an? (?:type|kind|form) of ", re.IGNORECASE)
_ENDINGS = ("ations", "ation", "ions", "ion", "ments", "ment", "ings", "ing", "ied", "ies", "ed", "es", "is", "s", "e")


@dataclass(frozen=True)
class Unread:
    """Why a statement is not judged."""

    reason: str


class Alternative(NamedTuple):
    """One relation that the words may mean, in the direction of its predicate."""

    head: str
    predicate: str
    tail: str


class Reading(NamedTuple):
    """What a statement claims if its names mean these concepts.

    Attributes:
        ends: concepts, in the order of the statement.
        alternatives: one of them is claimed.
    """

    ends: tuple[str, str]
    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True)
class Claim:
    """What a statement claims.

    Attributes:
        words: what it calls its ends.
        candidates: concepts that each end may mean.
        readings: one for each choice among them.
        kinds: (concept, class) of "..., which is a type of ...".
        negated: it denies all that is claimed.
        whole: nothing more is claimed; else it may be false, but is never true.
        is_one_thing: the candidates of each end have the same name.
    """

    words: tuple[str, str]
    candidates: tuple[tuple[str, ...], tuple[str, ...]]
    readings: tuple[Reading, ...]
    kinds: tuple[tuple[str, str], ...] = ()
    negated: bool = False
    whole: bool = True
    is_one_thing: bool = False


class _Phrase(NamedTuple):
    predicate: str
    backward: bool
    words: tuple[str, ...]


class _Named(NamedTuple):
    """A name of a statement, where it stands, and the concepts that it may mean."""

    begin: int
    end: int
    text: str
    cuis: tuple[str, ...]


def _stem(word: str) -> str:
    """Return a word without its ending: "treated", "treatment" and "treats" are one."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


@cache
def _kinds() -> dict[str, str]:
    rows = read_table(ROOT / "builders" / "data" / "statement_words.tsv", ("word", "kind", "source"))
    return {row["word"]: row["kind"] for row in rows}


@cache
def _kind(word: str) -> str:
    """Return the kind of a word that names no relation, or nothing; one that carries a statement stands in any form."""
    stems = {_stem(carrier) for carrier, kind in _kinds().items() if kind == "carrier"}
    return _kinds().get(word) or ("carrier" if _stem(word) in stems else "")


@cache
def _stems(*, of_benefit: bool) -> frozenset[str]:
    """Return the stems of words that say a benefit, or of those that may say something else."""
    phrases = (phrase for phrase in _phrases() if (phrase.predicate in BENEFIT) == of_benefit)
    harm = {_stem(word) for word, kind in _kinds().items() if kind == "other" and not of_benefit}
    return frozenset(harm.union(*(_content(phrase.words) for phrase in phrases)))


@cache
def _phrases() -> tuple[_Phrase, ...]:
    """Return what may stand between two ends, and the predicate that it means."""
    verbalised = {line.predicate: line for line in read_vocabulary().predicates if line.statement != "no"}
    lines = [(line.predicate, False, line.sentence) for line in verbalised.values()]
    lines += [(line.predicate, True, line.inverse_sentence) for line in verbalised.values()]
    lines += [
        (row["predicate"], row["direction"] == "inverse", row["rela"].replace("_", " "))
        for row in read_relation_lines()
    ]
    words = read_table(data_folder() / "relation_words.tsv", ("predicate", "words", "source"))
    lines += [(row["predicate"], False, row["words"]) for row in words]
    return tuple(
        dict.fromkeys(
            _Phrase(predicate, backward, tuple(_WORD.findall(re.sub(r"\{\w+\}", "", form.lower()))))
            for predicate, backward, text in lines
            if predicate in verbalised
            for form in {re.sub(r"\w+ or ", "", text), re.sub(r" or \w+", "", text)} - {""}
        )
    )


def _plain(text: str) -> str:
    """Return words in small letters, a negation apart from its verb, without the ending of what belongs to whom."""
    return re.sub(r"[’']s\b", "", re.sub(r"n[’']t\b|(?<=can)not\b", " not", text.lower()))


def _content(words: Sequence[str]) -> frozenset[str]:
    return frozenset(_stem(word) for word in words if _kind(word) in ("", "other"))


def _core(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words that tell which end does what: voice and prepositions, not articles or what is possible."""
    kept = (word for word in words if _kind(word) not in ("article", "auxiliary", "degree"))
    return tuple(word if _kind(word) else _stem(word) for word in kept)


def _fits(graph: ConceptGraph, line: Predicate, head: str, tail: str) -> bool:
    groups = graph.groups(head), graph.groups(tail)
    return all(
        wanted == (ANY,) or set(wanted) & set(own)
        for wanted, own in zip((line.head_groups, line.tail_groups), groups, strict=True)
    ) and (not line.same_group or bool(set(groups[0]) & set(groups[1])))


def _alternatives(
    graph: ConceptGraph, ends: tuple[str, str], words: Sequence[str], between: Sequence[str]
) -> Iterator[Alternative]:
    """Yield the relations that the words of a statement mean."""
    content = _content(words)
    lines = {line.predicate: line for line in read_vocabulary().predicates}
    first, second = ends
    if not content and {"for", "in"} & {*between}:
        yield from (Alternative(first, name, second) for name in BENEFIT if _fits(graph, lines[name], first, second))
    for phrase in _phrases():
        line = lines[phrase.predicate]
        exact = _core(phrase.words) == _core(between)
        if _content(phrase.words) != content or not (content or (exact and ({*between} & NAMING))):
            continue
        orders = {order for order in ((first, second), (second, first)) if _fits(graph, line, *order)}
        by_words = (second, first) if phrase.backward else (first, second)
        if len(orders) == 2 and not line.symmetric:
            orders = orders & {by_words} if exact else set()
        yield from (Alternative(head, line.predicate, tail) for head, tail in sorted(orders))


def _benefits(graph: ConceptGraph, ends: tuple[str, str]) -> Iterator[Alternative]:
    """Yield that one end does the other any good."""
    lines = {line.predicate: line for line in read_vocabulary().predicates}
    pairs = (pair for pair in (ends, ends[::-1]) if _fits(graph, lines[BENEFIT[0]], *pair))
    yield from (Alternative(head, name, tail) for head, tail in pairs for name in BENEFIT)


def _names(statement: str, reading: TextReading, graph: ConceptGraph) -> list[_Named]:
    """Return the names of concepts; a class of a drug that is named, too, may be called by a part of its own name."""
    # What has no concept stays a word.
    names = [
        _Named(mention.begin, mention.end, mention.text, _meant(mention, graph))
        for mention in reading.mentions
        if mention.cuis and all(cui in graph for cui in mention.cuis)
    ]
    classes: dict[tuple[int, int], list[str]] = {}
    for cui in dict.fromkeys(cui for name in names for cui in name.cuis if "CHEM" in graph.groups(cui)):
        own = (edge["tail_cui"] for form in (cui, *graph.equivalents(cui)) for edge in graph.neighbours(form, CLASS))
        for group in dict.fromkeys(own):
            for match in _class_pattern(graph.name(group)).finditer(statement):
                classes.setdefault(match.span(), []).append(group)
    for (begin, end), groups in classes.items():
        if not any(name.begin <= begin and end <= name.end for name in names):
            names = [name for name in names if not (begin <= name.begin and name.end <= end)]
            names.append(_Named(begin, end, statement[begin:end], tuple(dict.fromkeys(groups))))
    return sorted(names)


def _meant(mention: ReadMention, graph: ConceptGraph) -> tuple[str, ...]:
    """Return what a name may mean: of things of one kind those that are called so first of all."""
    called = tuple(cui for cui in mention.cuis if graph.name(cui).lower() == mention.text.lower())
    alike = len({graph.groups(cui) for cui in mention.cuis}) == 1
    return called if called and alike else mention.cuis


@cache
def _class_pattern(name: str) -> re.Pattern[str]:
    """Return what is found where a class is called by its name or a part of it, one or many.

    "Beta-lactam, Cephalosporins" are cephalosporins, "Diuretics, Loop" loop diuretics, and "Angiotensin-converting
    Enzyme (ACE) Inhibitors" ACE inhibitors. A stroke names two classes of which it may be either.
    """
    parts = name.split(", ")
    forms = {name, *parts, " ".join(reversed(parts))}
    forms |= {re.sub(r" *\([^)]*\)", "", form) for form in forms}
    forms |= {" ".join(match.groups()) for form in forms for match in re.finditer(r"\((\w+)\) (.+)", form)}
    many = (form for form in sorted(forms) if form.endswith("s") and "/" not in form)
    known = "|".join("[ -]".join(re.findall(r"\w+", form)) + "?" for form in many)
    return re.compile(rf"\b(?:{known or '(?!)'})\b", re.IGNORECASE)


def _kin(graph: ConceptGraph, named: _Named, other: _Named) -> bool:
    """Tell whether a name may mean the same as another one, or something above it."""
    above = {cui for own in other.cuis for cui in (own, *graph.equivalents(own), *graph.ancestors(own, FAR))}
    return bool(above & set(named.cuis))


def _is_class(graph: ConceptGraph, named: _Named) -> bool:
    """Tell whether a name is one of a class of drugs."""
    return any(
        "CHEM" in graph.groups(cui) and (graph.neighbours(cui, "pharmacologic_class_of") or graph.descendants(cui, 1))
        for cui in named.cuis
    )


def _two_ends(graph: ConceptGraph, names: list[_Named]) -> tuple[list[_Named], bool]:
    """Leave out names of what another name is a kind of, and then of classes that say what a drug is.

    Returns:
        The names that are left, and whether nothing that was left out claims anything.
    """
    names = [name for name in names if _content(_WORD.findall(name.text.lower()))]
    if len(names) > 2:
        names = [
            name
            for at, name in enumerate(names)
            if not any(
                _kin(graph, name, other) and (at > place or not _kin(graph, other, name))
                for place, other in enumerate(names)
                if place != at
            )
        ]
    if len(names) < 3:
        return names, True
    return [name for name in names if not _is_class(graph, name)], False


def claim_of(statement: str, reading: TextReading, graph: ConceptGraph) -> Claim | Unread:
    """Return what a statement claims, or why it is not read.

    Args:
        statement: one sentence.
        reading: of it, without headers.
        graph: the concept graph.
    """
    names = _names(statement, reading, graph)
    kinds: tuple[tuple[str, str], ...] = ()
    if len(names) == 3 and _KIND.fullmatch(statement[names[1].end : names[2].begin]):
        kinds = ((names[1].cuis[0], names[2].cuis[0]),)
    elif len(names) == 3 and _KIND.fullmatch(statement[names[0].end : names[1].begin]):
        kinds = ((names[0].cuis[0], names[1].cuis[0]),)
    all_names, described = names, None
    if kinds:
        described = next(name for name in names[1:] if name.cuis[0] == kinds[0][1])
        names, whole = [name for name in names if name is not described], True
    else:
        names, whole = _two_ends(graph, names)
    if len(names) != 2:
        known = ", ".join(f"'{name.text}'" for name in names) or "none"
        return Unread(f"two concepts are needed; read in it: {known}")
    if many := [name.text for name in names if len(name.cuis) > MOST_CANDIDATES]:
        return Unread(f"'{many[0]}' may mean more than {MOST_CANDIDATES} things")
    return _claim(statement, (names[0], names[1]), all_names, kinds, whole, graph)


def _claim(
    statement: str,
    ends: tuple[_Named, _Named],
    names: Sequence[_Named],
    kinds: tuple[tuple[str, str], ...],
    whole: bool,
    graph: ConceptGraph,
) -> Claim | Unread:
    masked = list(statement)
    for name in names:
        masked[name.begin : name.end] = " " * (name.end - name.begin)
    text = _KIND.sub(lambda match: " " * len(match[0]), "".join(masked)) if kinds else "".join(masked)
    first, second = ends
    parts = (text[: first.begin], text[first.end : second.begin], text[second.end :])
    before, between, after = (_WORD.findall(_plain(part)) for part in parts)
    words = [*before, *between, *after]
    negations = [word for word in words if _kind(word) == "negation"]
    if len(negations) > 1 or (negations and negations[0] not in between):
        return Unread("what is denied is not clear")
    words = [word for word in words if _kind(word) != "negation"]
    between = [word for word in between if _kind(word) != "negation"]
    pairs = [pair for pair in product(ends[0].cuis, ends[1].cuis) if pair[0] != pair[1]]
    readings = [Reading(pair, tuple(dict.fromkeys(_alternatives(graph, pair, words, between)))) for pair in pairs]
    content = _content(words)
    is_good = bool(content) and not negations and not content & _stems(of_benefit=False)
    if is_good and not any(reading.alternatives for reading in readings):
        whole = whole and content <= _stems(of_benefit=True)
        readings = [Reading(pair, tuple(_benefits(graph, pair))) for pair in pairs]
    if not readings or not all(reading.alternatives for reading in readings):
        unread = sorted({word for word in words if _kind(word) in ("", "other")})
        said = f"'{' '.join(unread)}' is none that the graph has of such concepts" if unread else "none is said"
        return Unread(f"no relation of the two is read: {said}")
    return Claim(
        (first.text, second.text),
        (ends[0].cuis, ends[1].cuis),
        tuple(readings),
        kinds,
        negated=bool(negations),
        whole=whole and not any(word.isdigit() for word in words),
        is_one_thing=all(len({graph.name(cui).lower() for cui in end.cuis}) == 1 for end in ends),
    )
