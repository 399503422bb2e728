"""Reads any text in memory: its sections, segments and mentions with what the text asserts of them.

The stage that reads notes (``ehr.notes``) and readers of other texts share ``TextReader.judge``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ehr.abbreviations import TERM_COLUMNS, Definition, defined_abbreviations, scispacy_abbreviations
from ehr.assertion import assert_arrays
from ehr.certainty import (
    ASSERTIONS,
    DOUBT_OF,
    LEARNED,
    MISSPELLED,
    NOTHING_AGAINST,
    SAID_OTHERWISE,
    UNSURE,
    in_words,
    named_in,
    reasons_of,
)
from ehr.characters import IndexArray, IntArray, codes_of, plain
from ehr.learned import inputs_of, load_model, spoken_against
from ehr.learned_scan import NO_MENTION
from ehr.mentions import Mentions, SectionArrays, Texts, find_mentions, join_texts
from ehr.sections import UNKNOWN, split_sections
from ehr.segments import SegmentArrays, segment_arrays, segments_of
from ehr.spans import KINDS, REASONS, Assertion, Kind, Reason, Section, Segment
from ground.compiled import read_only
from ground.storage.own_rules import NO_RULES, OwnRules

if TYPE_CHECKING:
    import duckdb

    from ehr.learned_scan import Model
    from ehr.lexicon import Lexicon
    from ehr.misspellings import Speller
    from ground.settings import NoteSettings

__all__ = ["Detector", "Judged", "ReadMention", "TextReader", "TextReading", "UnclearMention", "cut", "in_arrays"]

Detector = Callable[[str], list[Definition]]
# Texts that are read together; more would hardly be faster.
_TOGETHER = 64
# A reason that holds however likely the rest of the text makes the mention.
_KEPT = 1 << UNSURE.index(SAID_OTHERWISE) | 1 << UNSURE.index(MISSPELLED)
_OTHER_MEANING = REASONS.index("other_meaning")
_PRESENT, _ABSENT = ASSERTIONS.index(Assertion.PRESENT), ASSERTIONS.index(Assertion.ABSENT)


@dataclass(frozen=True, slots=True)
class ReadMention:
    """A mention with its assertion.

    Attributes:
        begin, end: half-open, in code points of the text; ``text`` is what stands there.
        cuis: candidate concepts, best first; none where the release lacks the concept.
        section: canonical name of the section; ``unknown`` in a text that is not split into sections.
        unsure: why the assertion is unsure; empty where it is certain.
    """

    begin: int
    end: int
    text: str
    cuis: tuple[str, ...]
    kind: Kind
    assertion: Assertion
    section: str
    unsure: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnclearMention:
    """A mention that is left out, and why."""

    begin: int
    end: int
    cuis: tuple[str, ...]
    kind: Kind
    section: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class TextReading:
    """The sections, segments and mentions of one text."""

    sections: tuple[Section, ...]
    segments: tuple[Segment, ...]
    mentions: tuple[ReadMention, ...]
    unclear: tuple[UnclearMention, ...]


class Judged(NamedTuple):
    """What stands in texts that are read together: ``assertion`` (places in ``ASSERTIONS``) and ``unsure`` (bits of
    ``UNSURE`` and ``LEARNED``; 0: certain) are those of the ``clear`` mentions. ``against`` is what was learned that
    speaks against them, in words."""

    clear: Mentions
    assertion: IndexArray
    unsure: IndexArray
    against: pa.StringArray
    unclear: Mentions


class TextReader:
    """Reads texts with one lexicon; nothing is written."""

    def __init__(
        self,
        lexicon: Lexicon,
        speller: Speller | None = None,
        detect: Detector | None = None,
        own: OwnRules = NO_RULES,
        model: Model | None = None,
    ) -> None:
        self.lexicon = lexicon
        self._own = own
        own_terms = own.rows("clinical_synonyms", TERM_COLUMNS)
        self._own_terms = frozenset(spelling.lower() for row in own_terms for spelling in row["term"].split("|"))
        self._model = model
        self._speller = speller
        self._detect = detect or defined_abbreviations

    @classmethod
    def open(
        cls,
        connection: duckdb.DuckDBPyConnection,
        settings: NoteSettings | None = None,
        own: OwnRules = NO_RULES,
        *,
        of_notes: bool = True,
    ) -> TextReader:
        """Open the lexicon of the release in a warehouse, which may be opened read-only.

        Args:
            connection: the warehouse.
            settings: of the reading of notes.
            own: the user's rules.
            of_notes: False for questions and answers, in which unsure mentions keep what the rules say: which
                assertion is the likeliest was learned from notes.

        Raises:
            InputError: the concept graph with its names is not built, or an own rule cannot be read.
        """
        from ehr.lexicon import open_lexicon
        from ground.settings import NoteSettings

        settings = settings or NoteSettings()
        # A cursor of its own, so that open results of the caller are not lost.
        with connection.cursor() as cursor:
            lexicon = open_lexicon(cursor, own)
        reader = cls.of(lexicon, settings, own)
        if reader._model is not None and not of_notes:
            reader._model = reader._model._replace(choice=read_only(np.zeros_like(reader._model.choice)))
        return reader

    @classmethod
    def of(cls, lexicon: Lexicon, settings: NoteSettings, own: OwnRules = NO_RULES) -> TextReader:
        """Return the reader that the settings describe."""
        speller = lexicon.speller if settings.fuzzy else None
        model = load_model() if settings.certainty == "learned" else None
        detect = scispacy_abbreviations if settings.abbreviation_detector == "scispacy" else defined_abbreviations
        return cls(lexicon, speller, detect, own, model)

    def judge(self, texts: Texts) -> Judged:
        """Read texts for a table of mentions; those of a text come one after another."""
        mentions, inside, repaired = find_mentions(texts, self.lexicon, self._speller, self._detect)
        is_clear = mentions.reason == 0
        clear, unclear = mentions.take(is_clear), Mentions.together([mentions.take(~is_clear), inside])
        kind = self.lexicon.kind[clear.entry].astype(np.int32)
        sections = texts.sections
        names = [sections.names[name] for name in sections.name.tolist()]
        headed = [bool(header) for header in sections.header]
        scanned = (texts.codes, sections.begin, names, headed, texts.segments, clear.begin, clear.end, kind)
        by_rules, doubts = assert_arrays(*scanned, self.lexicon.rules)
        assertion = np.where(self.lexicon.denied[clear.entry] & (by_rules == _PRESENT), _ABSENT, by_rules)
        best = self.lexicon.best[clear.entry]
        is_repaired = np.searchsorted(repaired, clear.begin) < np.searchsorted(repaired, clear.end)
        named = named_in(clear.owner, best)
        unsure = reasons_of(named, kind, names, clear.section, assertion, doubts, is_repaired)
        judged = Judged(clear, assertion, unsure, NOTHING_AGAINST, unclear.in_order())
        if self._model is None:
            return judged
        is_own = self._named_by_user(texts, clear)
        if self._own.only("context_rules").texts:
            is_own |= by_rules != assert_arrays(*scanned, self.lexicon.package)[0]
        inputs = inputs_of(texts, clear, self.lexicon, named, assertion, unsure)
        return _learned(judged, is_own, *spoken_against(texts, inputs, self._model, ~is_own))

    def _named_by_user(self, texts: Texts, mentions: Mentions) -> npt.NDArray[np.bool_]:
        """Tell which mentions have a name that the user gave."""
        own = np.zeros(mentions.begin.size, dtype=np.bool_)
        if self._own_terms:
            places = zip(mentions.begin.tolist(), mentions.end.tolist(), strict=True)
            own[:] = [" ".join(texts.joined[begin:end].lower().split()) in self._own_terms for begin, end in places]
        return own

    def read(self, text: str, *, headers: bool = True) -> TextReading:
        """Read one text; without ``headers`` it is one section ``unknown``, as a question or a dialogue is."""
        return self.read_all([text], headers=headers)[0]

    def read_all(self, texts: Sequence[str], *, headers: bool = True) -> list[TextReading]:
        """Read texts as `read` does, some of them together."""
        groups = (texts[begin : begin + _TOGETHER] for begin in range(0, len(texts), _TOGETHER))
        return [reading for group in groups for reading in self._read(group, headers)]

    def join(
        self, texts: Sequence[str], *, headers: bool = True
    ) -> tuple[Texts, list[list[Section]], list[SegmentArrays]]:
        """Return texts as `judge` takes them, and the sections and segments of each."""
        sections, segments = cut(texts, self._own, headers=headers)
        return join_texts(texts, *in_arrays(sections, segments)), sections, segments

    def _read(self, texts: Sequence[str], headers: bool) -> Iterator[TextReading]:
        joined, parts, segments = self.join(texts, headers=headers)
        judged = self.judge(joined)
        reasons = in_words(judged.unsure, judged.against).to_pylist()
        judgements = zip(judged.assertion.tolist(), map(tuple, reasons), strict=True)
        mentions: list[list[ReadMention]] = [[] for _ in texts]
        for (owner, begin, end, cuis, kind, section, _), (assertion, unsure) in zip(
            self._values(judged.clear, joined), judgements, strict=True
        ):
            text = texts[owner][begin:end]
            mentions[owner].append(ReadMention(begin, end, text, cuis, kind, ASSERTIONS[assertion], section, unsure))
        unclear: list[list[UnclearMention]] = [[] for _ in texts]
        for owner, begin, end, cuis, kind, section, reason in self._values(judged.unclear, joined):
            unclear[owner].append(UnclearMention(begin, end, cuis, kind, section, reason))
        for own, cut, clear, left in zip(parts, segments, mentions, unclear, strict=True):
            yield TextReading(tuple(own), tuple(segments_of(cut)), tuple(clear), tuple(left))

    def _values(
        self, mentions: Mentions, texts: Texts
    ) -> Iterator[tuple[int, int, int, tuple[str, ...], Kind, str, Reason]]:
        """Yield text, offsets in it, concepts, kind, section and reason of each mention."""
        moved = texts.begin[mentions.owner]
        entries, place = np.unique(mentions.entry, return_inverse=True)
        # Of an array, pyarrow would ask pandas, whose import takes longer than a short text.
        concepts = [tuple(self.lexicon.concepts[entry].as_py()) for entry in entries.tolist()]
        columns = (
            mentions.owner.tolist(),
            (mentions.begin - moved).tolist(),
            (mentions.end - moved).tolist(),
            [concepts[at] for at in place.tolist()],
            self.lexicon.kind[mentions.entry].tolist(),
            texts.sections.name[mentions.section].tolist(),
            mentions.reason.tolist(),
        )
        names = texts.sections.names
        for owner, begin, end, cuis, kind, section, reason in zip(*columns, strict=True):
            yield owner, begin, end, cuis, KINDS[kind], names[section], REASONS[reason]


def _learned(
    judged: Judged,
    is_own: npt.NDArray[np.bool_],
    is_against: npt.NDArray[np.bool_],
    likeliest: IndexArray,
    against: pa.StringArray,
) -> Judged:
    """Return what the rules judged, changed by what was learned; ``is_own``: what the user's own rules judged."""
    # What the rules say is a doubt of another assertion.
    unsure = judged.unsure | np.where(likeliest == judged.assertion, 0, DOUBT_OF[judged.assertion])
    is_mention = likeliest != NO_MENTION
    others, assertion = judged.clear.take(~is_mention), likeliest[is_mention]
    others = others._replace(reason=np.full_like(others.reason, _OTHER_MEANING))
    against = against.filter(pa.array(is_mention[is_against]))
    unsure, is_own, is_against = unsure[is_mention], is_own[is_mention], is_against[is_mention]
    # Nothing was learned of the user's own words: what they decide is as certain as by the rules. Words that speak
    # against a mention come with all that the rules doubt.
    unsure = np.where(is_own | is_against, unsure & ~DOUBT_OF[assertion], unsure & _KEPT) | LEARNED * is_against
    unclear = Mentions.together([judged.unclear, others]).in_order()
    return Judged(judged.clear.take(is_mention), assertion, unsure, against, unclear)


def cut(
    texts: Sequence[str], own: OwnRules, *, headers: bool = True
) -> tuple[list[list[Section]], list[SegmentArrays]]:
    """Return the sections and segments of each text; without ``headers`` it is one section."""
    if headers:
        sections = [split_sections(text, own) for text in texts]
    else:
        sections = [[Section(UNKNOWN, "", 0, len(text))] if text else [] for text in texts]
    return sections, [segment_arrays(codes_of(plain(text)), parts) for text, parts in zip(texts, sections, strict=True)]


def in_arrays(
    parts: Sequence[Sequence[Section]], segments: Sequence[SegmentArrays]
) -> tuple[SectionArrays, SegmentArrays, IntArray]:
    """Return the sections and segments of texts one after another, and the text of each segment."""
    names = list(dict.fromkeys(part.section for own in parts for part in own))
    place = {name: number for number, name in enumerate(names)}
    rows = [(owner, place[part.section], part.begin, part.end) for owner, own in enumerate(parts) for part in own]
    owner, name, begin, end = np.array(rows, dtype=np.int32).reshape(-1, 4).T
    sections = SectionArrays(owner, name, begin, end, [part.header for own in parts for part in own], names)
    of_segments = np.repeat(np.arange(len(segments), dtype=np.int32), [of_text.begin.size for of_text in segments])
    return sections, SegmentArrays(*map(np.concatenate, zip(*segments, strict=True))), of_segments
