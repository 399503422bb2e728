"""A note in which extracted values are looked for: does it say this, of whom, and where."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

from builders.medhal.rules.extraction_tables import word_sets, word_tables
from builders.medhal.rules.reading import features_of, normal_words, places_of, spoken
from builders.medhal.rules.values import Value

__all__ = ["Note", "note_of"]

NEAR = 40
"""Words between a value and what it is about, at most."""
NOTES_AT_ONCE = 64


class Note:
    """A document, read once for all values that were extracted of it."""

    def __init__(self, text: str) -> None:
        self._text = text
        words = normal_words(text)
        self._words = words
        self._spoken = spoken(words)
        self.features = features_of(words)

    def doubt(self, value: Value, reference: str | None) -> str | None:
        """Return why the note does not plainly say a value of a reference, None where it does.

        Returns:
            ``value_not_in_text``, ``reference_not_in_text``, ``value_far_from_reference`` or ``text_says_otherwise``.
        """
        if value.shape == "sex":
            return None if self._sex() == value.said else "text_says_otherwise"
        places = self._places(value)
        if not places:
            return "value_not_in_text"
        if reference is None:
            return None
        about = places_of(normal_words(reference), self._spoken)
        if not about:
            return "reference_not_in_text"
        nearest = min(abs(place - other) for place in places for other in about)
        return None if nearest <= NEAR else "value_far_from_reference"

    def _places(self, value: Value) -> list[int]:
        """Return where the note says a value, in words."""
        if value.shape != "age":
            return places_of(value.words, self._spoken)
        # "The 56-year-old", "aged 56"; not the age of a child, or of a disease.
        number, unit = value.words
        forms = [(number, unit, "old"), ("aged", number), ("age", "of", number)] if unit == "year" else []
        if not forms:
            forms = [(number, unit, "old")]
        return [place for form in forms for place in places_of(form, self._spoken)][:1]

    def _sex(self) -> str | None:
        """Return the sex that the note first names, None where it names both before long or none."""
        table = word_tables()["sex"]
        return next((table[word] for word in self._words if word in table), None)

    @cached_property
    def _inner_words(self) -> frozenset[str]:
        """The words that the note writes after a small letter or a comma."""
        return frozenset(re.findall(r"(?<=[a-z,] )[^\W\d_]+\b", self._text))

    def as_inside(self, text: str) -> str:
        """Return a value as it is written inside a sentence: its first letter is small unless it is a name's.

        A capital stays in an abbreviation, and in a word that the note writes with a capital after a small letter.
        """
        first = re.match(r"[^\W\d_]+", text)
        if first is None:
            return text
        word = first.group()
        if len(word) == 1 or not word[1:].islower() or not word[0].isupper():
            return text
        if word in self._inner_words or word.lower() in word_sets().get("name", ()):
            return text
        return text[0].lower() + text[1:]


@lru_cache(maxsize=NOTES_AT_ONCE)
def note_of(text: str) -> Note:
    """Return a document as a note; the values of one document mostly come together."""
    return Note(text)
