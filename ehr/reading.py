"""Reads any text in memory: its sections, segments and mentions with what the text asserts of them.

The stage that reads notes (``ehr.notes``) and readers of other texts share ``TextReader.judge``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ehr.abbreviations import Definition, defined_abbreviations, scispacy_abbreviations
from ehr.assertion import assert_arrays
from ehr.certainty import ASSERTIONS, reason_lists, reasons_of
from ehr.characters import IndexArray, codes_of
from ehr.mentions import Mentions, SectionArrays, Texts, find_mentions, join_texts
from ehr.sections import UNKNOWN, split_sections
from ehr.segments import segment_arrays, segments_of
from ehr.spans import KINDS, REASONS, Assertion, Kind, Reason, Section, Segment
from ground.storage.own_rules import NO_RULES, OwnRules

if TYPE_CHECKING:
    import duckdb

    from ehr.lexicon import Lexicon
    from ehr.misspellings import Speller
    from ground.settings import NoteSettings

__all__ = ["Detector", "Judged", "ReadMention", "TextReader", "TextReading", "UnclearMention", "detector_of"]

Detector = Callable[[str], list[Definition]]
_PRESENT, _ABSENT = ASSERTIONS.index(Assertion.PRESENT), ASSERTIONS.index(Assertion.ABSENT)


@dataclass(frozen=True, slots=True)
class ReadMention:
    """A mention with what the text asserts of it.

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
    """What stands in one text."""

    sections: tuple[Section, ...]
    segments: tuple[Segment, ...]
    mentions: tuple[ReadMention, ...]
    unclear: tuple[UnclearMention, ...]


class Judged(NamedTuple):
    """What stands in texts that are read together: ``assertion`` (places in ``ASSERTIONS``) and ``unsure`` (places in
    ``reason_lists()``) are those of the ``clear`` mentions."""

    clear: Mentions
    assertion: IndexArray
    unsure: IndexArray
    unclear: Mentions


def detector_of(name: Literal["own", "scispacy"]) -> Detector:
    """Return the detector of abbreviations that a setting names."""
    return scispacy_abbreviations if name == "scispacy" else defined_abbreviations


class TextReader:
    """Reads texts with one lexicon; nothing is written."""

    def __init__(
        self,
        lexicon: Lexicon,
        speller: Speller | None = None,
        detect: Detector | None = None,
        own: OwnRules = NO_RULES,
    ) -> None:
        self.lexicon = lexicon
        self._own = own
        self._speller = speller
        self._detect = detect or defined_abbreviations

    @classmethod
    def open(
        cls,
        connection: duckdb.DuckDBPyConnection,
        settings: NoteSettings | None = None,
        own: OwnRules = NO_RULES,
    ) -> TextReader:
        """Build the lexicon from the release in a warehouse, which may be opened read-only.

        Raises:
            InputError: the concept graph with its names is not built, or an own rule cannot be read.
        """
        from ehr.lexicon import build_lexicon
        from ground.errors import InputError
        from ground.settings import NoteSettings
        from ground.storage.warehouse import table_exists

        # Cursors of their own: results that a query of the caller has not read yet stay as they are.
        with connection.cursor() as cursor:
            has_names = table_exists(cursor, "kg.name")
        if not has_names:
            raise InputError(
                "the release's names are not in the warehouse", expected="kg.name", do="run `ontoground graph build`"
            )
        with connection.cursor() as cursor:
            lexicon = build_lexicon(cursor, own)
        return cls.of(lexicon, settings or NoteSettings(), own)

    @classmethod
    def of(cls, lexicon: Lexicon, settings: NoteSettings, own: OwnRules = NO_RULES) -> TextReader:
        """Return the reader that the settings describe."""
        from ehr.misspellings import Speller

        speller = Speller(lexicon.words.tolist()) if settings.fuzzy else None
        return cls(lexicon, speller, detector_of(settings.abbreviation_detector), own)

    def judge(self, texts: Texts) -> Judged:
        """Read texts for a table of mentions; those of a text come one after another."""
        found, inside = find_mentions(texts, self.lexicon, self._speller, self._detect)
        is_clear = found.reason == 0
        clear, unclear = found.take(is_clear), Mentions.together([found.take(~is_clear), inside])
        kind = self.lexicon.kind[clear.entry].astype(np.int32)
        sections = texts.sections
        names = [sections.names[name] for name in sections.name.tolist()]
        headed = [bool(header) for header in sections.header]
        assertion, doubts = assert_arrays(
            texts.codes, sections.begin, names, headed, texts.segments, clear.begin, clear.end, kind, self._own
        )
        assertion = np.where(self.lexicon.denied[clear.entry] & (assertion == _PRESENT), _ABSENT, assertion)
        best = self.lexicon.best[clear.entry]
        unsure = reasons_of(clear.owner, best, kind, names, clear.section, assertion, doubts)
        return Judged(clear, assertion, unsure, unclear.in_order())

    def read(self, text: str, *, headers: bool = True) -> TextReading:
        """Read one text; without ``headers`` it is one section ``unknown``, as a question or a dialogue is."""
        parts = split_sections(text, self._own) if headers else [Section(UNKNOWN, "", 0, len(text))] if text else []
        segments = segment_arrays(codes_of(text), parts)
        begin, end = np.array([(part.begin, part.end) for part in parts], dtype=np.int32).reshape(-1, 2).T
        places = np.arange(len(parts), dtype=np.int32)
        names, written = [part.section for part in parts], [part.header for part in parts]
        sections = SectionArrays(np.zeros_like(places), places, begin, end, written, names)
        judged = self.judge(join_texts([text], sections, segments, np.zeros_like(segments.block)))
        clear, unclear = (self._values(mentions, names) for mentions in (judged.clear, judged.unclear))
        said = zip(clear, judged.assertion.tolist(), judged.unsure.tolist(), strict=True)
        mentions = tuple(
            ReadMention(begin, end, text[begin:end], cuis, kind, ASSERTIONS[assertion], section, reason_lists()[unsure])
            for (begin, end, cuis, kind, section, _), assertion, unsure in said
        )
        return TextReading(
            tuple(parts), tuple(segments_of(segments)), mentions, tuple(UnclearMention(*values) for values in unclear)
        )

    def _values(
        self, mentions: Mentions, names: Sequence[str]
    ) -> list[tuple[int, int, tuple[str, ...], Kind, str, Reason]]:
        """Return offsets, concepts, kind, section and reason of each mention of one text."""
        return [
            (begin, end, tuple(cuis), KINDS[kind], names[section], REASONS[reason])
            for begin, end, cuis, kind, section, reason in zip(
                mentions.begin.tolist(),
                mentions.end.tolist(),
                self.lexicon.concepts.take(mentions.entry).to_pylist(),
                self.lexicon.kind[mentions.entry].tolist(),
                mentions.section.tolist(),
                mentions.reason.tolist(),
                strict=True,
            )
        ]
