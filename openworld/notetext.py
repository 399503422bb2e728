"""Text that knows its mentions: phrases are filled in, paragraphs wrapped, and every mention keeps its offsets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ground.storage.tables import grouped, read_table
from openworld.dice import Dice
from openworld.world import DATA, Knowledge

__all__ = ["WIDTH", "Item", "Mention", "NoteText", "Values", "phrases", "wrap"]

WIDTH = 78
SLOT = re.compile(r"\{(?P<name>\w+)(?::(?P<join>or|,))?(?:\|(?P<assertion>\w+))?\}")
MISSPELLED = 0.006
LONG_WORD = 10


@dataclass(frozen=True, slots=True)
class Item:
    """A concept that is to be written; ``surface`` fixes the wording, otherwise one of its names is chosen."""

    concept: str
    surface: str = ""


@dataclass(slots=True)
class Mention:
    """A concept that was written: half-open offsets in code points."""

    start: int
    end: int
    concept: str
    written: str
    assertion: str
    section: str


Values = Mapping[str, "str | Sequence[Item]"]


@lru_cache(maxsize=1)
def phrases() -> dict[str, tuple[str, ...]]:
    """Return slot -> phrasings."""
    return grouped(read_table(DATA / "phrases.tsv", ("slot", "text", "source")), "slot", "text")


@lru_cache(maxsize=4096)
def _slots(text: str) -> tuple[tuple[tuple[str, str, str, str], ...], str]:
    """Return (text before it, name, join, assertion) of each slot of a template, and what follows the last one."""
    slots, place = [], 0
    for match in SLOT.finditer(text):
        slots.append(
            (text[place : match.start()], match["name"], match["join"] or "and", match["assertion"] or "present")
        )
        place = match.end()
    return tuple(slots), text[place:]


def wrap(text: str) -> str:
    """Break lines at spaces, so that no character moves; lines that have breaks already keep them."""
    lines = []
    for whole in text.split("\n"):
        line, start = whole, 0
        while len(line) - start > WIDTH:
            cut = line.rfind(" ", start, start + WIDTH + 1)
            if cut <= start:
                break
            line = f"{line[:cut]}\n{line[cut + 1 :]}"
            start = cut + 1
        lines.append(line)
    return "\n".join(lines)


@dataclass(slots=True)
class NoteText:
    """A note in the making."""

    known: Knowledge
    dice: Dice
    parts: list[str] = field(default_factory=list)
    length: int = 0
    section: str = ""
    mentions: list[Mention] = field(default_factory=list)
    _paragraph: list[str] = field(default_factory=list)
    _paragraph_length: int = 0
    _written: int = 0

    def header(self, section: str, title: str) -> None:
        """Start a section: the blank line before it holds one space, as in MIMIC."""
        self.section = section
        self.raw(f" \n{title}")

    def raw(self, text: str) -> None:
        """Add text that has no mention and is not wrapped."""
        self.flush()
        self.parts.append(text)
        self.length += len(text)

    def add(self, text: str) -> None:
        """Add plain text to the paragraph."""
        self._paragraph.append(text)
        self._paragraph_length += len(text)

    def flush(self) -> None:
        """End the paragraph."""
        if self._paragraph:
            self.parts.append(wrap("".join(self._paragraph)))
            self.length += self._paragraph_length
            self._paragraph.clear()
            self._paragraph_length = 0

    def line(self) -> None:
        """End the paragraph and the line."""
        self.flush()
        self.raw("\n")

    @property
    def place(self) -> int:
        """Offset at which the next character stands."""
        return self.length + self._paragraph_length

    def tail(self) -> str:
        """Return the last characters."""
        if self._paragraph_length:
            last = self._paragraph[-1]
            return last[-2:] if len(last) > 1 else "".join(self._paragraph)[-2:]
        return self.parts[-1][-2:] if self.parts else ""

    def starts_sentence(self) -> bool:
        """Return whether the next word begins a sentence."""
        tail = self.tail()
        return not self._paragraph or tail.endswith("\n") or tail in (". ", "? ", "- ")

    def mention(self, item: Item, assertion: str = "present") -> None:
        """Write a concept and note where."""
        self._written += 1
        surface = item.surface or self.surface(item.concept)
        written = surface
        if self.starts_sentence() and surface[0].islower():
            written = surface[0].upper() + surface[1:]
        if not item.surface:
            written = self._misspelled(written)
        start = self.place
        self.add(written)
        self.mentions.append(Mention(start, start + len(written), item.concept, surface, assertion, self.section))

    def surface(self, concept: str) -> str:
        """Choose one of the names of a concept: its own name half the time."""
        names = list(self.known.surfaces(concept))
        if len(names) == 1 or self.dice.chance(0.45, "name", concept, self._written):
            return names[0]
        return self.dice.pick(names[1:], "other name", concept, self._written)

    def _misspelled(self, written: str) -> str:
        if len(written) < LONG_WORD or " " in written or not self.dice.chance(MISSPELLED, "slip", self._written):
            return written
        place = self.dice.integer(3, len(written) - 4, "slip at", self._written)
        return written[:place] + written[place + 1] + written[place] + written[place + 2 :]

    def phrase(self, slot: str, values: Values, *label: str | int) -> str:
        """Add one phrasing of a slot to the paragraph and return the text that it made."""
        text = self.dice.pick(phrases()[slot], slot, *label)
        before = len(self._paragraph)
        self.template(text, values)
        return "".join(self._paragraph[before:])

    def sentence(self, slot: str, values: Values, *label: str | int) -> str:
        """Add a phrasing as a sentence, with a space before it where the paragraph goes on."""
        if self._paragraph and not self.tail().endswith((" ", "\n")):
            self.add(" ")
        return self.phrase(slot, values, *label)

    def template(self, text: str, values: Values) -> None:
        """Fill in a template."""
        slots, rest = _slots(text)
        for before, name, join, assertion in slots:
            self.add(before)
            value = values[name]
            if isinstance(value, str):
                capital = self.starts_sentence() and value[:1].islower()
                self.add(value[:1].upper() + value[1:] if capital else value)
            else:
                self._list(value, join, assertion)
        self.add(rest)

    def _list(self, items: Sequence[Item], join: str, assertion: str) -> None:
        for number, item in enumerate(items):
            if number:
                last = number == len(items) - 1 and join != ","
                self.add(f" {join} " if last else ", ")
            self.mention(item, assertion)

    def text(self) -> str:
        """Return the whole note."""
        self.flush()
        return "".join(self.parts)
