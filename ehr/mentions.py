"""Finds the mentions of texts: names, own terms in their context, abbreviations that a text defines.

Many texts are read together, in arrays: one after another, with blank lines between them that no name goes over.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ehr.abbreviations import Around, Definition, around, defined_abbreviations
from ehr.characters import ByteArray, CodeArray, HashArray, IndexArray, IntArray, codes_of, plain
from ehr.lexicon import Lexicon
from ehr.matching import HARD, HYPHEN, LOWER, SOFT, UPPER, Matches, Tokens, tokenise
from ehr.misspellings import SHORTEST, Speller
from ehr.segments import SegmentArrays
from ehr.spans import KINDS, REASONS, Kind, Reason
from ground import ROOT
from ground.storage.tables import read_table

__all__ = ["Mentions", "SectionArrays", "Texts", "as_written", "find_mentions", "join_texts"]

PHRASE_HEADS = ROOT / "ehr" / "data" / "phrase_heads.tsv"
# What a word is beside a name; last: nothing that matters.
_ROLES = ("head", "head_of_problems", "loose", "")
_DRUG = KINDS.index("drug")
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

    def spans(self) -> IndexArray:
        """Return a number for the offsets of each, the same for the same offsets."""
        return self.begin.astype(np.int64) << 32 | self.end

    def in_order(self) -> Mentions:
        """Return them sorted by text and offsets."""
        return self.take(np.lexsort((self.end, self.begin, self.owner)))

    def take(self, which: npt.NDArray[np.bool_] | IndexArray) -> Mentions:
        """Return some of them."""
        return Mentions(*(column[which] for column in self))


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
    which, words = speller.repairs(texts.joined, tokens.begin[unknown], tokens.end[unknown])
    numbers[unknown[which]] = lexicon.trie.token_numbers(tokenise(codes_of(" ".join(words))).hash)
    begins: IndexArray = tokens.begin[unknown[which]]
    return begins


@cache
def _roles() -> tuple[HashArray, ByteArray]:
    """Return the words that have a role beside names, as tokens are hashed, in order of that, and their roles."""
    rows = read_table(PHRASE_HEADS, ("word", "role", "source"))
    role = {word: _ROLES.index(row["role"]) for row in rows for word in row["word"].split("|")}
    hashes = tokenise(codes_of(" ".join(role))).hash
    order = np.argsort(hashes)
    return hashes[order], np.array(list(role.values()), dtype=np.uint8)[order]


def _in_compounds(tokens: Tokens, matches: Matches, is_drug: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Tell which names are a part of what is not known.

    They stand before the head of a phrase (asthma clinic), or a hyphen joins them to a word that is no name
    (non-diabetic, steroid-sparing). A capital behind it begins another field: "Chest pain-Mild".
    """
    hashes, roles = _roles()
    after = np.minimum(matches.last + 1, tokens.hash.size - 1)
    gap = np.where(after > matches.last, tokens.gap[after], HARD)
    place = np.minimum(np.searchsorted(hashes, tokens.hash[after]), hashes.size - 1)
    role = np.where(hashes[place] == tokens.hash[after], roles[place], _ROLES.index(""))
    is_head = (role == _ROLES.index("head")) | ((role == _ROLES.index("head_of_problems")) & ~is_drug)
    is_word = (tokens.end - tokens.begin > 1) & (tokens.codes[tokens.begin] > ord("9"))
    is_small = (tokens.shape[after] == LOWER) | ((tokens.shape[after] == UPPER) & (tokens.shape[matches.last] == UPPER))
    # Two names with a hyphen are a list.
    is_listed = matches.first[1:] == matches.last[:-1] + 1
    ahead = (gap == HYPHEN) & is_word[after] & is_small & (role != _ROLES.index("loose")) & ~np.append(is_listed, False)
    behind = (tokens.gap[matches.first] == HYPHEN) & is_word[matches.first - 1] & ~np.append(False, is_listed)
    in_compound: npt.NDArray[np.bool_] = (is_head & ((gap == SOFT) | (gap == HYPHEN))) | ahead | behind
    return in_compound


def _by_names(texts: Texts, lexicon: Lexicon, speller: Speller | None) -> tuple[Mentions, Mentions, IndexArray]:
    """Return the mentions, of which some are a part of something else, and the names that stand inside of their names.

    Last come the places of the misspelled words.

    Each of these counts once in a text: "nicotine dependence" speaks of nicotine, and does not say more. One that
    stands by itself as well is a mention already.
    """
    tokens = tokenise(texts.codes)
    numbers = lexicon.trie.token_numbers(tokens.hash)
    repaired = _repair(texts, tokens, numbers, lexicon, speller)
    matches = lexicon.trie.find(tokens, numbers)
    nodes = lexicon.trie.entry.size

    def placed(first: IntArray, last: IntArray, node: IntArray) -> tuple[Mentions, IndexArray]:
        begin = tokens.begin[first]
        owner = (np.searchsorted(texts.begin, begin, side="right") - 1).astype(np.int32)
        section = (np.searchsorted(texts.sections.begin, begin, side="right") - 1).astype(np.int32)
        candidates = Mentions(owner, begin, tokens.end[last], lexicon.trie.entry[node], section, np.zeros_like(begin))
        return candidates, owner.astype(np.int64) * nodes + node

    mentions, known = placed(matches.first, matches.last, matches.node)
    kind, term = lexicon.kind[mentions.entry], lexicon.term[mentions.entry]
    is_inside = _in_compounds(tokens, matches, kind == _DRUG)
    mentions = mentions._replace(reason=np.where(is_inside, _INSIDE, _CLEAR).astype(np.int32))
    kept = ((kind >= 0) | (term >= 0)) & (mentions.begin >= texts.body[mentions.section])
    inside = lexicon.trie.find_inside(tokens, matches, numbers)
    shorter, named = placed(inside.first, inside.last, inside.node)
    _, first = np.unique(named, return_index=True)
    once = np.sort(first[(lexicon.kind[shorter.entry[first]] >= 0) & ~np.isin(named[first], known[kept & (kind >= 0)])])
    shorter = shorter.take(once)._replace(reason=np.full(once.size, _INSIDE, dtype=np.int32))
    return mentions.take(kept), shorter, repaired


def _meant(texts: Texts, mentions: Mentions, lexicon: Lexicon, unclear_in: IntArray) -> Mentions:
    """Return the mentions with what the terms among them mean where they stand, without those that are no mention."""
    entry = mentions.entry.copy()
    which = np.flatnonzero(lexicon.term[entry] >= 0)
    owners = mentions.owner[which]
    moved = texts.begin[owners]
    columns = (owners, mentions.begin[which] - moved, mentions.end[which] - moved, lexicon.term[entry[which]])
    names = [texts.sections.names[name] for name in texts.sections.name[mentions.section[which]].tolist()]
    # lower() turns this one letter into two.
    lowered = [text.replace("\u0130", " ").lower() for text in texts.texts]
    entry[which] = [
        _sense(lexicon, term, around(lowered[owner], begin, stop, section))
        for owner, begin, stop, term, section in zip(*(column.tolist() for column in columns), names, strict=True)
    ]
    mentions = mentions._replace(entry=entry).take(lexicon.kind[entry] >= 0)
    reason = np.maximum(lexicon.reason[mentions.entry], mentions.reason)
    of_section = unclear_in[mentions.section, lexicon.kind[mentions.entry]]
    return mentions._replace(reason=np.where((reason <= _ORDINARY) & (of_section != _CLEAR), of_section, reason))


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


def _with_definitions(
    texts: Texts, mentions: Mentions, lexicon: Lexicon, unclear_in: IntArray, detect: Callable[[str], list[Definition]]
) -> Mentions:
    """Return the mentions, every abbreviation that its text defines with the concept of the long form that it has last.

    A long form is known where a mention ends as it does.
    """
    places = list[tuple[int, int, int]]()
    known = mentions.end.tolist()
    for text, base in zip(texts.texts, texts.begin.tolist(), strict=True):
        meant = dict[str, int]()
        for definition in detect(text):
            long_form = bisect_left(known, base + definition.long_end)
            if known[long_form : long_form + 1] == [base + definition.long_end]:
                meant[definition.short] = long_form
        for short, long_form in meant.items():
            occurrences = re.finditer(rf"\b{re.escape(short)}\b", text)
            places += [(base + match.start(), base + match.end(), long_form) for match in occurrences]
    if not places:
        return mentions
    begin, end, long = np.array(sorted(places), dtype=np.int32).T
    section = (np.searchsorted(texts.sections.begin, begin, side="right") - 1).astype(np.int32)
    given = mentions.take(long)._replace(begin=begin, end=end, section=section)
    of_section = unclear_in[section, lexicon.kind[given.entry]]
    of_name = np.where(given.reason == _ORDINARY, _ORDINARY, _CLEAR)
    given = given._replace(reason=np.where(of_section != _CLEAR, of_section, of_name).astype(np.int32))
    others = mentions.take(~np.isin(mentions.spans(), given.spans()))
    next_begin = np.append(others.begin, np.iinfo(np.int32).max)[np.searchsorted(others.end, begin, side="right")]
    is_free = next_begin >= end
    is_free[1:] &= begin[1:] >= np.maximum.accumulate(end)[:-1]
    return Mentions.together([others, given.take(is_free)]).in_order()


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
