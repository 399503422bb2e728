"""Finds the mentions of one note: names, own terms in their context, abbreviations that the note defines."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from ehr.abbreviations import Definition, Surroundings, defined_abbreviations
from ehr.characters import CodeArray, IntArray, codes_of
from ehr.lexicon import Lexicon
from ehr.matching import UPPER, Matches, Tokens, tokenise
from ehr.misspellings import SHORTEST, Speller
from ehr.sections import UNKNOWN
from ehr.spans import KINDS, Kind, Section

__all__ = ["Mention", "note_mentions"]

# Release forms belong to the name of a drug: "Metformin XR".
_RELEASE = re.compile(r"[ -](?:XL|XR|ER|SR|CR|LA|CD|EC|DR)\b")
_DRUG = KINDS.index("drug")

Reason = Literal["", "ambiguous", "examination_sign", "study_title", "routine_test", "inside_name", "ordinary_word"]
# Signs of the examination and titles of studies are not asserted problems or treatments of the admission.
_REASONS: dict[tuple[str, Kind], Reason] = {
    ("physical_exam", "finding"): "examination_sign",
    ("physical_exam", "procedure"): "examination_sign",
    ("pertinent_results", "finding"): "study_title",
    ("pertinent_results", "procedure"): "study_title",
}


class Mention(NamedTuple):
    """A mention before its assertion is known; ``reason`` says why it is left unclear (empty: it is not)."""

    begin: int
    end: int
    kind: Kind
    cuis: tuple[str, ...]
    section: str
    reason: Reason
    denied: bool = False


@lru_cache(maxsize=4096)
def _as_written(header: str) -> re.Pattern[str]:
    """Return what matches a header where it stands, with its colon if it has one of its own."""
    words = r"\s+".join(re.escape(word) for word in header.split())
    return re.compile(rf"\s*{words}(?:[ \t]*(?:\([^()\n]{{1,24}}\)[ \t]*)?:)?")


def _header_end(text: str, section: Section) -> int:
    """Return where the header of a section ends; a problem heading is text like any other."""
    if not section.header or section.header.startswith("#"):
        return section.begin
    written = _as_written(section.header).match(text, section.begin, section.end)
    return written.end() if written else section.begin


def _reason(kind: Kind, section: str, *, ordinary: bool = False) -> Reason:
    return _REASONS.get((section, kind), "ordinary_word" if ordinary else "")


def _repaired(text: str, tokens: Tokens, lexicon: Lexicon, speller: Speller) -> IntArray:
    """Return the numbers of the tokens, misspelled words with the number of the word that is meant."""
    numbers = lexicon.trie.token_numbers(tokens.hash)
    unknown = np.flatnonzero((numbers < 0) & (tokens.end - tokens.begin >= SHORTEST) & (tokens.shape != UPPER))
    for index in unknown.tolist():
        word = speller.repair(text[tokens.begin[index] : tokens.end[index]].lower())
        if word is not None:
            numbers[index] = lexicon.trie.token_numbers(tokenise(codes_of(word)).hash)[0]
    return numbers


def _inside(
    tokens: Tokens, lexicon: Lexicon, matches: Matches, known: IntArray, sections: Sequence[Section]
) -> list[Mention]:
    """Return names inside longer ones, each once: "nicotine dependence" speaks of nicotine, and does not say more."""
    entries = lexicon.trie.entry[matches.node]
    kinds = lexicon.kind[entries]
    _, first = np.unique(matches.node, return_index=True)
    kept = np.sort(first[(kinds[first] >= 0) & ~np.isin(matches.node[first], known)])
    begins, ends = tokens.begin[matches.first[kept]], tokens.end[matches.last[kept]]
    starts = [section.begin for section in sections]
    return [
        Mention(begin, end, KINDS[kind], cuis, _section_at(begin, starts, sections), "inside_name")
        for begin, end, kind, cuis in zip(
            begins.tolist(), ends.tolist(), kinds[kept].tolist(), lexicon.candidates(entries[kept]), strict=True
        )
    ]


def _section_at(offset: int, starts: Sequence[int], sections: Sequence[Section]) -> str:
    return sections[bisect_right(starts, offset) - 1].section if sections else UNKNOWN


def _by_names(
    text: str, codes: CodeArray, sections: Sequence[Section], lexicon: Lexicon, speller: Speller | None
) -> tuple[list[Mention], list[Mention]]:
    """Return the mentions, and the names that stand inside of their names."""
    tokens = tokenise(codes)
    numbers = _repaired(text, tokens, lexicon, speller) if speller else lexicon.trie.token_numbers(tokens.hash)
    matches = lexicon.trie.find(tokens, numbers)
    entries = lexicon.trie.entry[matches.node]
    begins, ends = tokens.begin[matches.first], tokens.end[matches.last]
    kinds, terms, ordinary = lexicon.kind[entries], lexicon.term[entries], lexicon.ordinary[entries]
    starts = np.array([section.begin for section in sections], dtype=np.int32)
    ends_of_headers = [_header_end(text, section) for section in sections]
    bodies = np.array([*ends_of_headers[-1:], *ends_of_headers] or [-1], dtype=np.int32)
    places = np.searchsorted(starts, begins, side="right")
    kept = np.flatnonzero(((kinds >= 0) | (terms >= 0)) & (begins >= bodies[places]))
    names = [section.section for section in (*sections[-1:], *sections)] or [UNKNOWN]
    # A name that stands by itself as well is a mention already.
    known = matches.node[kept[kinds[kept] >= 0]]
    inside = _inside(tokens, lexicon, lexicon.trie.find_inside(tokens, matches, numbers), known, sections)
    found = []
    for begin, end, place, kind, is_ordinary, term, cuis in zip(
        begins[kept].tolist(),
        ends[kept].tolist(),
        places[kept].tolist(),
        kinds[kept].tolist(),
        ordinary[kept].tolist(),
        terms[kept].tolist(),
        lexicon.candidates(entries[kept]),
        strict=True,
    ):
        section = names[place]
        release = _RELEASE.match(text, end) if kind == _DRUG else None
        end = release.end() if release else end  # noqa: PLW2901
        if term >= 0:
            mention = _by_term(text, begin, end, section, lexicon, term)
            if mention is not None:
                found.append(mention)
        else:
            name = KINDS[kind]
            found.append(Mention(begin, end, name, cuis, section, _reason(name, section, ordinary=is_ordinary)))
    return found, inside


def _by_term(text: str, begin: int, end: int, section: str, lexicon: Lexicon, number: int) -> Mention | None:
    """Return the mention of an own term; none where it is not a mention.

    It is marked ambiguous if no sense holds, or if the release has names for other senses but not for the one that
    holds.
    """
    term = lexicon.terms[number]
    place = Surroundings(text, begin, end, section)
    for sense, cuis in zip(term.senses, lexicon.sense_cuis[number], strict=True):
        if sense.holds(place):
            if sense.kind == "none":
                return None
            if not cuis and any(lexicon.sense_cuis[number]):
                break
            if sense.kind == "test":
                return Mention(begin, end, "procedure", cuis, section, "routine_test")
            return Mention(begin, end, sense.kind, cuis, section, _reason(sense.kind, section), sense.denied)
    kinds: list[Kind] = [
        "procedure" if sense.kind == "test" else sense.kind for sense in term.senses if sense.kind != "none"
    ]
    cuis = tuple(dict.fromkeys(cui for candidates in lexicon.sense_cuis[number] for cui in candidates))
    return Mention(begin, end, kinds[0], cuis, section, "ambiguous") if kinds else None


def _places_of(word: str, text: str) -> list[tuple[int, int]]:
    """Return where a word that begins with a letter stands, as the pattern ``\\bword\\b`` finds it."""
    places = []
    begin = text.find(word)
    while begin >= 0:
        end = begin + len(word)
        if not _is_word(text[begin - 1 : begin]) and _is_word(text[end - 1]) != _is_word(text[end : end + 1]):
            places.append((begin, end))
            begin = text.find(word, end)
        else:
            begin = text.find(word, begin + 1)
    return places


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _by_definitions(
    text: str, found: list[Mention], definitions: Sequence[Definition], sections: Sequence[Section]
) -> list[Mention]:
    """Give every occurrence of a defined abbreviation the concept of its long form; drop it where that has none.

    Begins and ends of ``found`` ascend, and go on to do so.
    """
    starts = [section.begin for section in sections]
    begins = [mention.begin for mention in found]
    changes, given = 0, dict[str, tuple[Mention, int]]()
    for definition in definitions:
        long = _ending_at(definition.long_end, found, begins)
        if long is None:
            continue
        ordinary = long.reason == "ordinary_word"
        said = long._replace(begin=0, end=0, section="", reason="ordinary_word" if ordinary else "")
        if given.get(definition.short) == (said, changes):
            continue  # defined as before, and nothing has changed since
        places = _places_of(definition.short, text)
        removed, added = [], []
        for begin, end in places:
            index = bisect_left(begins, begin)
            if index < len(found) and begins[index] == begin and found[index].end == end:
                removed.append(found.pop(index))
                del begins[index]
        for begin, end in places:
            index = bisect_left(begins, end)
            if index and found[index - 1].end > begin:
                continue
            section = _section_at(begin, starts, sections)
            reason = _reason(long.kind, section, ordinary=ordinary)
            added.append(long._replace(begin=begin, end=end, section=section, reason=reason))
            found.insert(index, added[-1])
            begins.insert(index, begin)
        changes += removed != added
        given[definition.short] = (said, changes)
    return found


def _ending_at(end: int, found: Sequence[Mention], begins: Sequence[int]) -> Mention | None:
    """Return the first mention that ends there."""
    index = bisect_left(begins, end) - 1
    while index > 0 and found[index - 1].end >= end:
        index -= 1
    while index >= 0 and index < len(found) and begins[index] < end:
        if found[index].end == end:
            return found[index]
        index += 1
    return None


def note_mentions(
    text: str,
    sections: Sequence[Section],
    lexicon: Lexicon,
    speller: Speller | None = None,
    detect: Callable[[str], list[Definition]] = defined_abbreviations,
    codes: CodeArray | None = None,
) -> list[Mention]:
    """Return the mentions of a note in order, not overlapping, those left unclear among them; then names in names.

    Args:
        text: the note.
        sections: its sections, in order.
        lexicon: the names.
        speller: repairs misspellings, where wanted.
        detect: finds the abbreviations that the note defines.
        codes: the note as code points, where they are known.
    """
    found, inside = _by_names(text, codes_of(text) if codes is None else codes, sections, lexicon, speller)
    definitions = detect(text)
    return [*(_by_definitions(text, found, definitions, sections) if definitions else found), *inside]
