"""Extracted values: the sentence of each kind, where a note says a value, and what a note lacks where it is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import numpy as np

from ehr.assertion import assert_arrays
from ehr.certainty import ASSERTIONS
from ehr.characters import codes_of
from ehr.segments import segment_arrays
from ehr.spans import Assertion, Section
from ground import ROOT
from ground.storage.tables import read_table

__all__ = ["Note", "Slot", "Value", "layout", "normal_words", "note_of", "read_value", "word_table"]

FOLDER = ROOT / "builders" / "data"
NONE = "-"
STOP = "."
"""The token that ends a sentence or a line."""
TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[a-zà-öø-ÿµμ]+|[.;!?\n]")
NO_PHRASE = re.compile(r'[;:?!"\n]|\. ')
ARTICLES = {"a", "an", "the"}
TENS = {str(number) for number in range(20, 100, 10)}
LEADS = re.compile(r"^(?:(?:for|over|during|the|past|last) )+", re.IGNORECASE)
"""Words before a time that a note may leave out."""
LONGEST = 8
"""Words of a value that rules say, at most."""
LONGEST_SYNONYM = 6
STEM = 6
NEAR = 40
"""Words between a value and what it is about, at most."""
NOTES_AT_ONCE = 64
STATED = {Assertion.PRESENT, Assertion.HISTORICAL, Assertion.GIVEN, Assertion.DISCONTINUED, Assertion.ALLERGY}


@dataclass(frozen=True, slots=True)
class Slot:
    """A kind of information in a note, a line of ``builders/data/extraction_layout.tsv``.

    Attributes:
        reference: the concept of the same entry that says what a value is about; None where it stands alone.
        value_type: values of one type may be swapped.
        kind: ``phrase``, ``quantity`` (with a number) or ``sex``; None where values are too free for rules.
        sentence: with ``{value}`` and perhaps ``{reference}``; None where rules say nothing.
    """

    reference: str | None
    value_type: str
    kind: str | None
    sentence: str | None


@dataclass(frozen=True, slots=True)
class Value:
    """A value as rules read it.

    Attributes:
        text: as a sentence says it.
        words: its normal words.
        kind: that of its slot; None where it is too free for rules.
        group: values of one type and group may be swapped: a dose in mg per day only for another one.
        marks: what a text must lack for the value to be wrong there; empty where nothing tells it apart. Of a quantity
            its numbers alone: a note may write the unit once for several ("10, 20 and 40 mg").
        regions: parts of the body that it names.
        size: the first number of a quantity.
    """

    text: str
    words: tuple[str, ...]
    kind: str | None
    group: str
    marks: tuple[str, ...]
    regions: frozenset[str] = frozenset()
    size: float | None = None

    @property
    def opposite(self) -> str | None:
        """The other value of an attribute that has two, None for every other attribute."""
        return {"male": "female", "female": "male"}.get(self.text) if self.kind == "sex" else None


@cache
def layout() -> Mapping[tuple[str, str], Slot]:
    """Return the slots by category and concept."""
    columns = ("category", "concept", "reference", "value_type", "kind", "sentence", "source")
    rows = read_table(FOLDER / "extraction_layout.tsv", columns)
    cells = ({name: None if cell == NONE else cell for name, cell in row.items()} for row in rows)
    return {
        (row["category"], row["concept"]): Slot(cell["reference"], row["value_type"], cell["kind"], cell["sentence"])
        for row, cell in zip(rows, cells, strict=True)
    }


@cache
def word_table(kind: str) -> Mapping[str, str]:
    """Return the words of a kind with what they mean, from ``builders/data/extraction_words.tsv``."""
    rows = read_table(FOLDER / "extraction_words.tsv", ("kind", "word", "means", "source"))
    return {row["word"]: row["means"] for row in rows if row["kind"] == kind}


@lru_cache(maxsize=50_000)
def read_value(category: str, concept: str, value: str) -> Value:
    """Read a value as its slot asks."""
    text = " ".join(value.split()).rstrip(".").strip()
    text = f"{text} years old" if concept == "age" and text.isdigit() else text
    slot = layout().get((category, concept))
    kind = slot.kind if slot is not None else None
    text = LEADS.sub("", text) if kind == "quantity" else text
    words = tuple(normal_words(text))
    regions = frozenset(word_table("region")[word] for word in words if word in word_table("region"))
    if kind == "sex" and (sex := word_table("sex").get(" ".join(words))):
        return Value(sex, (sex,), kind, kind, ())
    if kind in ("phrase", "quantity") and len(words) <= LONGEST and NO_PHRASE.search(text) is None:
        numbers = [word for word in words if word[0].isdigit()]
        if kind == "quantity" and numbers:
            pattern = " ".join("#" if word in numbers else word for word in words)
            return Value(text, words, kind, pattern, tuple(sorted({*numbers})), regions, float(numbers[0]))
        if kind == "phrase" and (marks := _marks(words)):
            return Value(text, words, kind, kind, marks, regions)
    return Value(text, words, None, "", _marks(words), regions)


def normal_words(text: str) -> list[str]:
    """Return a text's words in lower case and singular, numbers in digits, articles left out; ``STOP`` ends a sentence.

    >>> normal_words("Twenty-five years old") == normal_words("25-year-old")
    True
    """
    return [word for word, _, _ in _placed_words(text)]


def _placed_words(text: str) -> list[tuple[str, int, int]]:
    """Return the normal words of a text with where they begin and end."""
    numbers, placed = word_table("number"), list[tuple[str, int, int]]()
    for match in TOKEN.finditer(text.lower()):
        token, begin, end = match[0], *match.span()
        if token in ARTICLES:
            continue
        if token in ".;!?\n":
            word = STOP
        elif token in numbers:
            word = numbers[token]
            if placed and placed[-1][0] in TENS and int(word) < 10:
                tens, begin, _ = placed.pop()
                word = str(int(tens) + int(word))
        else:
            word = token.replace(",", "") if token[0].isdigit() else _singular(token)
        placed.append((word, begin, end))
    return placed


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@cache
def _synonyms() -> dict[tuple[str, ...], list[str]]:
    return {tuple(normal_words(word)): normal_words(means) for word, means in word_table("synonym").items()}


def _canonical(words: Sequence[str]) -> Iterator[str]:
    """Yield words with what means the same said in the same way."""
    place = 0
    while place < len(words):
        for size in range(min(LONGEST_SYNONYM, len(words) - place), 0, -1):
            if (same := _synonyms().get(tuple(words[place : place + size]))) is not None:
                yield from same
                place += size
                break
        else:
            yield words[place]
            place += 1


def _stem(word: str) -> str:
    return word if word[0].isdigit() else word[:STEM]


def _marks(words: Sequence[str]) -> tuple[str, ...]:
    """Return the stems of the words that tell a value apart."""
    general = word_table("general")
    telling = [word for word in _canonical([word for word in words if word not in general]) if word not in general]
    return tuple(sorted({_stem(word) for word in telling if len(word) > 2 or word[0].isdigit()}))


class Note:
    """A document, read once for all values that were extracted of it."""

    def __init__(self, text: str) -> None:
        self._text = text
        placed = list(_placed_words(text))
        self._words = [word for word, _, _ in placed]
        self._spans = [(begin, end) for _, begin, end in placed]
        self._spoken = f" {' '.join(self._words)} "

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its words, and of what means the same."""
        return frozenset(map(_stem, (*self._words, *_canonical(self._words))))

    def lacks(self, value: Value) -> bool:
        """Tell whether the note has none of a value's marks, so that the value is wrong of it."""
        return bool(value.marks) and self.stems.isdisjoint(value.marks)

    def doubt(self, value: Value, reference: str | None) -> str | None:
        """Return why the note does not clearly state a value of a reference, None where it does.

        Returns:
            ``value_not_in_text``, ``reference_not_in_text``, ``value_far_from_reference`` or ``text_says_otherwise``.
        """
        if value.kind == "sex":
            sex = next((word_table("sex")[word] for word in self._words if word in word_table("sex")), None)
            return None if sex == value.text else "text_says_otherwise"
        places = self._stated(self._places(value.words), len(value.words))
        if not places:
            return "value_not_in_text"
        if reference is None:
            return None
        references = self._places(normal_words(reference))
        if not references:
            return "reference_not_in_text"
        nearest = min(abs(place - other) for place in places for other in references)
        return None if nearest <= NEAR else "value_far_from_reference"

    def _places(self, phrase: Sequence[str]) -> list[int]:
        """Return the places, in words, at which the note has a phrase."""
        wanted, places = f" {' '.join(phrase)} ", []
        begin = self._spoken.find(wanted) if phrase else -1
        while begin >= 0:
            places.append(self._spoken.count(" ", 0, begin))
            begin = self._spoken.find(wanted, begin + 1)
        return places

    def _stated(self, places: Sequence[int], size: int) -> list[int]:
        """Return the places whose last words the note neither denies nor doubts."""
        if not places:
            return []
        begin, end = np.array([self._spans[place + size - 1] for place in places], dtype=np.int32).T
        codes = codes_of(self._text)
        whole = Section("unknown", "", 0, len(self._text))
        kind = np.zeros(len(places), dtype=np.int32)
        segments = segment_arrays(codes, [whole])
        assertions, _ = assert_arrays(codes, [0], [whole.section], [False], segments, begin, end, kind).tolist()
        return [place for place, at in zip(places, assertions, strict=True) if ASSERTIONS[at] in STATED]


@lru_cache(maxsize=NOTES_AT_ONCE)
def note_of(text: str) -> Note:
    """Return a document as a note; the values of one document mostly come together."""
    return Note(text)
