"""Finds the mentions of texts: names, own terms in their context, abbreviations that a text defines.

Many texts are read together, in arrays: one after another, with blank lines between them that no name goes over.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ehr.abbreviations import Around, Definition, around, defined_abbreviations
from ehr.characters import CodeArray, IndexArray, IntArray, codes_of, plain
from ehr.lexicon import Lexicon
from ehr.matching import UPPER, Tokens, may_be_tested, tokenise
from ehr.misspellings import SHORTEST, Speller
from ehr.segments import SegmentArrays
from ehr.spans import KINDS, REASONS, Kind, Reason

__all__ = ["Mentions", "SectionArrays", "Texts", "as_written", "find_mentions", "join_texts"]

# Release forms belong to the name of a drug: "Metformin XR".
_RELEASE = re.compile(r"[ -](?:XL|XR|ER|SR|CR|LA|CD|EC|DR)\b")
_RELEASE_LETTERS = codes_of("XESCLD")
_DRUG = KINDS.index("drug")
# A drug that a culture was tested against is not one that was given: "sensitive to A and B", "A <=1 S, B R".
_TESTED = re.compile(
    r"\b(?:(?:(?i:sensitive|resistant|susceptible|intermediate)(?: to|:)|[RSI] to)|[RSI] ?[-=:]) "
    r"(?:(?:[\w/-]+ )?[\w/-]+(?:, and |, | and | or |/))*$"
)
_RESULT = re.compile(r"[-:= ]{0,20}(?:[<>=]{0,2} ?\d[\d./]* ?)?[SRI](?= ?[,;.)/\n]|$)")
_NEAR = 80

_BETWEEN = "\n\n\n\n"

_CLEAR, _ORDINARY, _INSIDE = (REASONS.index(reason) for reason in ("", "ordinary_word", "inside_name"))
# Signs of the examination and titles of studies are not asserted problems or treatments of the admission.
_OF_SECTION: dict[tuple[str, Kind], Reason] = {
    ("physical_exam", "finding"): "examination_sign",
    ("physical_exam", "procedure"): "examination_sign",
    ("pertinent_results", "finding"): "study_title",
    ("pertinent_results", "procedure"): "study_title",
}


class SectionArrays(NamedTuple):
    """Sections of texts, in order: the text of each, the place of its name in ``names``, its offsets and header."""

    owner: IntArray
    name: IntArray
    begin: IntArray
    end: IntArray
    header: Sequence[str]
    names: Sequence[str]


class Texts(NamedTuple):
    """Texts that are read together; all offsets are those in ``joined``, where ``begin`` says where each begins.

    All of them are in plain characters (`ehr.characters.plain`).
    ``sections`` are as they were given, but for the offsets; ``body`` is where the header of each ends. The blocks of
    ``segments`` are numbered through.
    """

    texts: Sequence[str]
    joined: str
    codes: CodeArray
    begin: IntArray
    sections: SectionArrays
    body: IntArray
    segments: SegmentArrays


class Mentions(NamedTuple):
    """Mentions before their assertion is known: of each its text, offsets, entry of the lexicon, section and reason.

    A section is its place in ``SectionArrays``, a reason one in ``REASONS``. shape of each: (mentions,)
    """

    owner: IntArray
    begin: IntArray
    end: IntArray
    entry: IntArray
    section: IntArray
    reason: IntArray

    @classmethod
    def together(cls, parts: Sequence[Mentions]) -> Mentions:
        """Return the mentions of all parts."""
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def in_order(self) -> Mentions:
        """Return them sorted by text and offsets."""
        return self.take(np.lexsort((self.end, self.begin, self.owner)))

    def take(self, which: npt.NDArray[np.bool_] | IndexArray) -> Mentions:
        """Return some of them."""
        return Mentions(*(column[which] for column in self))


class _Row(NamedTuple):
    """A mention."""

    owner: int
    begin: int
    end: int
    entry: int
    section: int
    reason: int


class _Edited:
    """Mentions in order, not overlapping, of which some are taken out and others put in."""

    def __init__(self, mentions: Mentions) -> None:
        self.begins, self.ends = mentions.begin.tolist(), mentions.end.tolist()
        self._known, self._new = mentions, list[_Row]()
        # Places among the known, counted from their end, and then among the new.
        self._order = list(range(-len(self.begins), 0))

    def row(self, index: int) -> _Row:
        place = self._order[index]
        return _Row(*(int(column[place]) for column in self._known)) if place < 0 else self._new[place]

    def remove(self, index: int) -> _Row:
        row = self.row(index)
        del self.begins[index], self.ends[index], self._order[index]
        return row

    def insert(self, index: int, row: _Row) -> None:
        self.begins.insert(index, row.begin)
        self.ends.insert(index, row.end)
        self._order.insert(index, len(self._new))
        self._new.append(row)

    def mentions(self) -> Mentions:
        """Return them as they are now."""
        new = Mentions(*np.array(self._new, dtype=np.int32).reshape(-1, len(Mentions._fields)).T)
        return Mentions.together([new, self._known]).take(np.array(self._order, dtype=np.int64))


def as_written(texts: Sequence[str]) -> CodeArray:
    """Return the code points of texts as they were given, by the offsets of ``Texts.joined``."""
    return codes_of(_BETWEEN.join(texts))


def join_texts(
    texts: Sequence[str], sections: SectionArrays, segments: SegmentArrays, segment_owner: IntArray
) -> Texts:
    """Return texts one after another; the offsets that are given count from the beginning of each."""
    texts = [plain(text) for text in texts]
    joined = _BETWEEN.join(texts)
    lengths = np.fromiter(map(len, texts), dtype=np.int32, count=len(texts)) + len(_BETWEEN)
    begin = (np.cumsum(lengths) - lengths).astype(np.int32)
    moved = sections._replace(begin=sections.begin + begin[sections.owner], end=sections.end + begin[sections.owner])
    body = [
        _header_end(joined, *section)
        for section in zip(sections.header, moved.begin.tolist(), moved.end.tolist(), strict=True)
    ]
    blocks = int(segments.block.max(initial=0)) + 1
    further = begin[segment_owner]
    one_after_another = SegmentArrays(
        segments.kind, segments.begin + further, segments.end + further, segments.block + segment_owner * blocks
    )
    return Texts(texts, joined, codes_of(joined), begin, moved, np.array(body, dtype=np.int32), one_after_another)


@lru_cache(maxsize=4096)
def _as_written(header: str) -> re.Pattern[str]:
    """Return what matches a header where it stands, with its colon if it has one of its own."""
    words = r"\s+".join(re.escape(word) for word in header.split())
    return re.compile(rf"\s*{words}(?:[ \t]*(?:\([^()\n]{{1,24}}\)[ \t]*)?:)?")


def _header_end(text: str, header: str, begin: int, end: int) -> int:
    """Return where the header of a section ends; a problem heading is text like any other."""
    if not header or header[0] == "#":
        return begin
    if text.startswith(f"{header}:", begin, end):
        return begin + len(header) + 1
    written = _as_written(header).match(text, begin, end)
    return written.end() if written else begin


def _repair(texts: Texts, tokens: Tokens, numbers: IntArray, lexicon: Lexicon, speller: Speller | None) -> IndexArray:
    """Give misspelled words among the tokens the numbers of the words that are meant; return where these begin."""
    if speller is None:
        return np.zeros(0, dtype=np.int64)
    unknown = np.flatnonzero((numbers < 0) & (tokens.end - tokens.begin >= SHORTEST) & (tokens.shape != UPPER))
    which, words = speller.repairs(texts.joined, texts.codes, tokens.begin[unknown], tokens.end[unknown])
    numbers[unknown[which]] = lexicon.trie.token_numbers(tokenise(codes_of(" ".join(words))).hash)
    begins: IndexArray = tokens.begin[unknown[which]]
    return begins


def _by_names(texts: Texts, lexicon: Lexicon, speller: Speller | None) -> tuple[Mentions, Mentions, IndexArray]:
    """Return the mentions, and the names that stand inside of their names or are a part of what is not known.

    Last come the places of the misspelled words.

    Each of these counts once in a text: "nicotine dependence" speaks of nicotine, and does not say more. One that
    stands by itself as well is a mention already.
    """
    tokens, numbers = lexicon.trie.unglued(tokenise(texts.codes))
    repaired = _repair(texts, tokens, numbers, lexicon, speller)
    matches, parts = lexicon.trie.find(tokens, numbers, lexicon.kind == _DRUG)
    nodes = lexicon.trie.entry.size

    def placed(first: IntArray, last: IntArray, node: IntArray) -> tuple[Mentions, IndexArray]:
        begin = tokens.begin[first]
        owner = (np.searchsorted(texts.begin, begin, side="right") - 1).astype(np.int32)
        section = (np.searchsorted(texts.sections.begin, begin, side="right") - 1).astype(np.int32)
        candidates = Mentions(owner, begin, tokens.end[last], lexicon.trie.entry[node], section, np.zeros_like(begin))
        return candidates, owner.astype(np.int64) * nodes + node

    mentions, known = placed(matches.first, matches.last, matches.node)
    kind, term = lexicon.kind[mentions.entry], lexicon.term[mentions.entry]
    kept = ((kind >= 0) | (term >= 0)) & (mentions.begin >= texts.body[mentions.section])
    inside = lexicon.trie.find_inside(tokens, matches, numbers)
    within = zip(*((each.first, each.last, each.node) for each in (inside, parts)), strict=True)
    shorter, named = placed(*(np.concatenate(column) for column in within))
    _, first = np.unique(named, return_index=True)
    once = np.sort(first[(lexicon.kind[shorter.entry[first]] >= 0) & ~np.isin(named[first], known[kept & (kind >= 0)])])
    shorter = shorter.take(once)._replace(reason=np.full(once.size, _INSIDE, dtype=np.int32))
    return mentions.take(kept), shorter, repaired


def _meant(texts: Texts, mentions: Mentions, lexicon: Lexicon, unclear_in: IntArray) -> Mentions:
    """Return the mentions with what the terms among them mean where they stand, without those that are no mention."""
    end, entry = mentions.end.copy(), mentions.entry.copy()
    drugs = np.flatnonzero(lexicon.kind[entry] == _DRUG)
    begins_form = np.isin(texts.codes.take(end[drugs] + 1, mode="clip"), _RELEASE_LETTERS)
    for index in drugs[begins_form]:
        release = _RELEASE.match(texts.joined, end[index])
        end[index] = release.end() if release else end[index]
    tested = _tested(texts, drugs, mentions.begin[drugs], end[drugs])
    term = lexicon.term[entry]
    which = np.flatnonzero(term >= 0)
    owners = mentions.owner[which]
    columns = (owners, mentions.begin[which] - texts.begin[owners], end[which] - texts.begin[owners], term[which])
    names = [texts.sections.names[name] for name in texts.sections.name[mentions.section[which]].tolist()]
    # lower() turns this one letter into two.
    lowered = [text.replace("\u0130", " ").lower() for text in texts.texts]
    entry[which] = [
        _sense(lexicon, term, around(lowered[owner], begin, stop, section))
        for owner, begin, stop, term, section in zip(*(column.tolist() for column in columns), names, strict=True)
    ]
    in_result = mentions.reason.copy()
    in_result[tested] = _INSIDE
    mentions = mentions._replace(end=end, entry=entry, reason=in_result).take(lexicon.kind[entry] >= 0)
    reason = np.maximum(lexicon.reason[mentions.entry], mentions.reason)
    of_section = unclear_in[mentions.section, lexicon.kind[mentions.entry]]
    return mentions._replace(reason=np.where((reason <= _ORDINARY) & (of_section != _CLEAR), of_section, reason))


def _tested(texts: Texts, drugs: IndexArray, begin: IntArray, end: IntArray) -> IndexArray:
    """Return which drugs a culture was tested against; a drug is read only where signs of a test are near."""
    near = np.flatnonzero(may_be_tested(texts.codes, begin, end, _NEAR))
    places = zip(begin[near].tolist(), end[near].tolist(), strict=True)
    is_tested = [_is_tested(texts.joined, first, last) for first, last in places]
    tested: IndexArray = drugs[near[np.array(is_tested, dtype=np.bool_)]]
    return tested


def _is_tested(text: str, begin: int, end: int) -> bool:
    """Tell whether a drug is one that a culture was tested against."""
    before = text[max(0, begin - _NEAR) : begin]
    return _RESULT.match(text, end) is not None or (
        any(sign in before for sign in (" to ", "=", ":", " - ")) and _TESTED.search(before) is not None
    )


def _sense(lexicon: Lexicon, term: int, place: Around) -> int:
    """Return the entry of what a term means where it stands."""
    entries = lexicon.senses[term]
    for entry, sense in zip(entries, lexicon.terms[term].senses, strict=False):
        if sense.holds(place):
            return entry
    return entries[-1]


def _unclear_in(sections: SectionArrays) -> IntArray:
    """Return why a mention is unclear for the section in which it stands. shape: (sections, kinds)"""
    by_name = [[REASONS.index(_OF_SECTION.get((name, kind), "")) for kind in KINDS] for name in sections.names]
    return np.array(by_name, dtype=np.int32).reshape(-1, len(KINDS))[sections.name]


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


def _define(
    edited: _Edited, definitions: Sequence[Definition], text: str, base: int, moved: Callable[[_Row, int, int], _Row]
) -> None:
    """Give every occurrence of a defined abbreviation the concept of its long form; drop it where that has none.

    ``base`` is where the text begins among all; ``moved`` returns a mention as it would be in another place.
    """
    begins, ends = edited.begins, edited.ends
    changes, given = 0, dict[str, tuple[int, bool, int]]()
    for definition in definitions:
        index = bisect_left(ends, base + definition.long_end)
        if index == len(ends) or ends[index] != base + definition.long_end:
            continue
        long = edited.row(index)
        meaning = (long.entry, long.reason == _ORDINARY)
        if given.get(definition.short) == (*meaning, changes):
            continue  # defined as before, and nothing has changed since
        places = [(base + begin, base + end) for begin, end in _places_of(definition.short, text)]
        removed, added = [], []
        for begin, end in places:
            index = bisect_left(begins, begin)
            if index < len(begins) and begins[index] == begin and ends[index] == end:
                removed.append(edited.remove(index))
        for begin, end in places:
            index = bisect_left(begins, end)
            if index and ends[index - 1] > begin:
                continue
            added.append(moved(long, begin, end))
            edited.insert(index, added[-1])
        changes += removed != added
        given[definition.short] = (*meaning, changes)


def _with_definitions(
    texts: Texts, mentions: Mentions, lexicon: Lexicon, unclear_in: IntArray, detect: Callable[[str], list[Definition]]
) -> Mentions:
    """Return the mentions as they are after the abbreviations that each text defines."""

    def moved(row: _Row, begin: int, end: int) -> _Row:
        section = int(np.searchsorted(texts.sections.begin, begin, side="right")) - 1
        reason = int(unclear_in[section, lexicon.kind[row.entry]]) or row.reason * (row.reason == _ORDINARY)
        return _Row(row.owner, begin, end, row.entry, section, reason)

    edited = _Edited(mentions)
    for text, base in zip(texts.texts, texts.begin.tolist(), strict=True):
        _define(edited, detect(text), text, base, moved)
    return edited.mentions()


def find_mentions(
    texts: Texts,
    lexicon: Lexicon,
    speller: Speller | None = None,
    detect: Callable[[str], list[Definition]] = defined_abbreviations,
) -> tuple[Mentions, Mentions, IndexArray]:
    """Return the mentions of texts in order, not overlapping, those left unclear among them; and the names in names.

    Last come the places of misspelled words that were repaired, ascending.

    Args:
        texts: with their sections.
        lexicon: the names.
        speller: repairs misspellings, where wanted.
        detect: finds the abbreviations that a text defines.
    """
    unclear_in = _unclear_in(texts.sections)
    mentions, inside, repaired = _by_names(texts, lexicon, speller)
    mentions = _meant(texts, mentions, lexicon, unclear_in)
    return _with_definitions(texts, mentions, lexicon, unclear_in, detect), inside, repaired
