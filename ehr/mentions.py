"""Finds the mentions of one note: names, own terms in their context, abbreviations that the note defines."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ehr.abbreviations import Definition, defined_abbreviations
from ehr.lexicon import KINDS, Lexicon
from ehr.matching import UPPER, IntArray, Tokens, codes_of, tokenise
from ehr.misspellings import SHORTEST, Speller
from ehr.sections import UNKNOWN
from ehr.spans import Kind, Section

__all__ = ["Mention", "note_mentions"]

# Release forms belong to the name of a drug: "Metformin XR".
_RELEASE = re.compile(r"[ -](?:XL|XR|ER|SR|CR|LA|CD|EC|DR)\b")
_DRUG = KINDS.index("drug")

Reason = Literal["", "ambiguous", "examination_sign", "study_title"]


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention before its assertion is known; ``reason`` says why it is left unclear (empty: it is not)."""

    begin: int
    end: int
    kind: Kind
    cuis: tuple[str, ...]
    section: str
    reason: Reason
    denied: bool = False


def _header_end(text: str, section: Section) -> int:
    """Return where the header of a section ends; a problem heading is text like any other."""
    if not section.header or section.header.startswith("#"):
        return section.begin
    colon = text.find(":", section.begin, min(section.end, section.begin + len(section.header) + 40))
    return colon + 1 if colon >= 0 else section.begin + len(section.header)


def _reason(kind: Kind, section: str) -> Reason:
    """Signs of the examination and titles of studies are not asserted problems or treatments of the admission."""
    if section == "physical_exam" and kind in {"finding", "procedure"}:
        return "examination_sign"
    if section == "pertinent_results" and kind in {"finding", "procedure"}:
        return "study_title"
    return ""


def _repaired(text: str, tokens: Tokens, lexicon: Lexicon, speller: Speller) -> IntArray:
    """Return the numbers of the tokens, misspelled words with the number of the word that is meant."""
    numbers = lexicon.trie.token_numbers(tokens.hash)
    unknown = np.flatnonzero((numbers < 0) & (tokens.end - tokens.begin >= SHORTEST) & (tokens.shape != UPPER))
    for index in unknown.tolist():
        word = speller.repair(text[tokens.begin[index] : tokens.end[index]].lower())
        if word is not None:
            numbers[index] = lexicon.trie.token_numbers(tokenise(codes_of(word)).hash)[0]
    return numbers


def _by_names(text: str, sections: Sequence[Section], lexicon: Lexicon, speller: Speller | None) -> list[Mention]:
    tokens = tokenise(codes_of(text))
    matches = lexicon.trie.find(tokens, _repaired(text, tokens, lexicon, speller) if speller else None)
    entries = lexicon.trie.entry[matches.node]
    kinds = lexicon.kind[entries].tolist()
    terms = lexicon.term[entries].tolist()
    starts = [section.begin for section in sections]
    bodies = [_header_end(text, section) for section in sections]
    found = []
    for begin, end, entry, kind, term in zip(
        tokens.begin[matches.first].tolist(),
        tokens.end[matches.last].tolist(),
        entries.tolist(),
        kinds,
        terms,
        strict=True,
    ):
        place = bisect_right(starts, begin) - 1
        section = sections[place].section if sections else UNKNOWN
        release = _RELEASE.match(text, end) if kind == _DRUG else None
        end = release.end() if release else end  # noqa: PLW2901
        if sections and begin < bodies[place]:
            continue
        if term >= 0:
            mention = _by_term(text, begin, end, section, lexicon, term)
            if mention is not None:
                found.append(mention)
        elif kind >= 0:
            name = KINDS[kind]
            found.append(Mention(begin, end, name, lexicon.concepts(entry), section, _reason(name, section)))
    return found


def _by_term(text: str, begin: int, end: int, section: str, lexicon: Lexicon, number: int) -> Mention | None:
    """Return the mention of an own term; none where it is not a mention.

    It is marked ambiguous where no sense holds, or where the release has no name for the one that does, but for others.
    """
    term = lexicon.terms[number]
    for sense, cuis in zip(term.senses, lexicon.sense_cuis[number], strict=True):
        if sense.holds(text, begin, end, section):
            if sense.kind == "none":
                return None
            if not cuis and any(lexicon.sense_cuis[number]):
                break
            return Mention(begin, end, sense.kind, cuis, section, _reason(sense.kind, section), sense.denied)
    kinds = [sense.kind for sense in term.senses if sense.kind != "none"]
    cuis = tuple(dict.fromkeys(cui for candidates in lexicon.sense_cuis[number] for cui in candidates))
    return Mention(begin, end, kinds[0], cuis, section, "ambiguous") if kinds else None


def _by_definitions(
    text: str, found: list[Mention], definitions: Sequence[Definition], sections: Sequence[Section]
) -> list[Mention]:
    """Give every occurrence of a defined abbreviation the concept of its long form; drop it where that has none."""
    starts = [section.begin for section in sections]
    for definition in definitions:
        long = [m for m in found if m.begin < definition.long_end and m.end == definition.long_end]
        if not long:
            continue
        places = [match.span() for match in re.finditer(rf"\b{re.escape(definition.short)}\b", text)]
        taken = set(places)
        found = [m for m in found if (m.begin, m.end) not in taken]
        covered = [(m.begin, m.end) for m in found]
        for begin, end in places:
            if any(b < end and e > begin for b, e in covered):
                continue
            section = sections[bisect_right(starts, begin) - 1].section if sections else UNKNOWN
            reason = _reason(long[0].kind, section)
            found.append(replace(long[0], begin=begin, end=end, section=section, reason=reason))
    return sorted(found, key=lambda m: (m.begin, m.end))


def note_mentions(
    text: str,
    sections: Sequence[Section],
    lexicon: Lexicon,
    speller: Speller | None = None,
    detect: Callable[[str], list[Definition]] = defined_abbreviations,
) -> list[Mention]:
    """Return the mentions of a note in their order, not overlapping, those left unclear among them.

    Args:
        text: the note.
        sections: its sections, in order.
        lexicon: the names.
        speller: repairs misspellings, where wanted.
        detect: finds the abbreviations that the note defines.
    """
    found = _by_names(text, sections, lexicon, speller)
    definitions = detect(text)
    return _by_definitions(text, found, definitions, sections) if definitions else found
