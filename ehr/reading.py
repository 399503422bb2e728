"""Reads any text in memory: its sections, segments and mentions with what the text asserts of them.

The stage that reads notes (``ehr.notes``) and readers of other texts share the one function ``read_text``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ehr.abbreviations import Definition, defined_abbreviations, scispacy_abbreviations
from ehr.assertion import assert_arrays
from ehr.certainty import reasons_of
from ehr.characters import CodeArray, codes_of
from ehr.context_arrays import ASSERTIONS
from ehr.mentions import Mention, note_mentions
from ehr.sections import UNKNOWN, split_sections
from ehr.segments import SegmentArrays, segment_arrays, segments_of
from ehr.spans import KINDS, Assertion, Kind, Section, Segment
from ground.storage.own_rules import NO_RULES, OwnRules

if TYPE_CHECKING:
    import duckdb

    from ehr.lexicon import Lexicon
    from ehr.misspellings import Speller
    from ground.settings import NoteSettings

__all__ = [
    "Detector",
    "JudgedText",
    "ReadMention",
    "TextReader",
    "TextReading",
    "detector_of",
    "judge_text",
    "read_text",
]

Detector = Callable[[str], list[Definition]]
_KIND_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}


@dataclass(frozen=True, slots=True)
class ReadMention:
    """A mention with what the text asserts of it.

    Attributes:
        begin, end: half-open, in code points of the text; ``text`` is what stands there.
        cuis: candidate concepts, best first; none where the release lacks the concept.
        section: canonical name of the section; ``unknown`` in a text that is not split into sections.
    """

    begin: int
    end: int
    text: str
    cuis: tuple[str, ...]
    kind: Kind
    assertion: Assertion
    section: str


@dataclass(frozen=True, slots=True)
class TextReading:
    """What stands in one text; ``unclear`` are mentions that are left out, each with its reason."""

    sections: tuple[Section, ...]
    segments: tuple[Segment, ...]
    mentions: tuple[ReadMention, ...]
    unclear: tuple[Mention, ...]


class JudgedText(NamedTuple):
    """The same in the form that is made first, for many texts; ``assertions`` and ``reasons`` (why they are
    unsure) are those of the ``clear`` mentions."""

    sections: tuple[Section, ...]
    segments: SegmentArrays
    clear: tuple[Mention, ...]
    assertions: list[Assertion]
    unclear: tuple[Mention, ...]
    reasons: list[tuple[str, ...]]


def read_text(
    text: str,
    lexicon: Lexicon,
    speller: Speller | None = None,
    detect: Detector = defined_abbreviations,
    *,
    sections: Sequence[Section] | None = None,
    own: OwnRules = NO_RULES,
) -> TextReading:
    """Read one text.

    Args:
        text: any text.
        lexicon: the names.
        speller: repairs misspellings, where wanted.
        detect: finds the abbreviations that the text defines.
        sections: its sections, where they are known or where headers are not wanted; None splits at headers.
        own: rules that join those of the package.
    """
    read = judge_text(text, lexicon, speller, detect, sections=sections, own=own)
    mentions = tuple(
        ReadMention(m.begin, m.end, text[m.begin : m.end], m.cuis, m.kind, assertion, m.section)
        for m, assertion in zip(read.clear, read.assertions, strict=True)
    )
    return TextReading(read.sections, tuple(segments_of(read.segments)), mentions, read.unclear)


def judge_text(
    text: str,
    lexicon: Lexicon,
    speller: Speller | None = None,
    detect: Detector = defined_abbreviations,
    *,
    sections: Sequence[Section] | None = None,
    own: OwnRules = NO_RULES,
) -> JudgedText:
    """Read one text as ``read_text`` does."""
    parts = split_sections(text, own) if sections is None else list(sections)
    codes = codes_of(text)
    segments = segment_arrays(codes, parts)
    found = note_mentions(text, parts, lexicon, speller, detect, codes)
    clear = tuple(mention for mention in found if not mention.reason)
    unclear = tuple(mention for mention in found if mention.reason)
    assertions, doubts = _assertions(codes, parts, segments, clear, own)
    concepts = [mention.cuis[0] if mention.cuis else "" for mention in clear]
    kinds, places = [mention.kind for mention in clear], [mention.section for mention in clear]
    reasons = reasons_of(concepts, kinds, places, assertions, doubts)
    return JudgedText(tuple(parts), segments, clear, assertions, unclear, reasons)


def _assertions(
    codes: CodeArray,
    sections: Sequence[Section],
    segments: SegmentArrays,
    mentions: Sequence[Mention],
    own: OwnRules,
) -> tuple[list[Assertion], list[int]]:
    if not mentions:
        return [], []
    begin = np.array([mention.begin for mention in mentions], dtype=np.int32)
    end = np.array([mention.end for mention in mentions], dtype=np.int32)
    kind = np.array([_KIND_NUMBERS[mention.kind] for mention in mentions], dtype=np.int32)
    judged, doubts = assert_arrays(codes, sections, segments, begin, end, kind, own).tolist()
    found = [ASSERTIONS[number] for number in judged]
    assertions = [
        Assertion.ABSENT if mention.denied and assertion is Assertion.PRESENT else assertion
        for mention, assertion in zip(mentions, found, strict=True)
    ]
    return assertions, doubts


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
        from ehr.misspellings import Speller
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
        chosen = settings or NoteSettings()
        speller = Speller(lexicon.words.tolist()) if chosen.fuzzy else None
        return cls(lexicon, speller, detector_of(chosen.abbreviation_detector), own)

    def judge(self, text: str) -> JudgedText:
        """Read one text for a table of mentions."""
        return judge_text(text, self.lexicon, self._speller, self._detect, own=self._own)

    def read(self, text: str, *, headers: bool = True) -> TextReading:
        """Read one text; without ``headers`` it is one section ``unknown``, as a question or a dialogue is."""
        whole = None if headers else ([Section(UNKNOWN, "", 0, len(text))] if text else [])
        return read_text(text, self.lexicon, self._speller, self._detect, sections=whole, own=self._own)
