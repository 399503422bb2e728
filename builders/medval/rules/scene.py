"""What a rule of the generator sees, and how it says what it would change."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from builders.medval.items import Edit, Item
from builders.medval.reading import Seen
from builders.medval.rules.edit_tables import weight_of, words
from builders.medval.rules.knowledge import Knowledge
from builders.medval.rules.view import View, input_view, output_view
from ehr.spans import Segment

if TYPE_CHECKING:
    from builders.medval.rules.pool import Pool

__all__ = ["Entry", "Scene", "apply_edit", "entries_of"]

_ENTRY = re.compile(
    r"^(?P<mark>[ \t]*(?:\(?(?P<number>\d{1,2})[.)]|[-*•#])[ \t]*)(?P<body>\S[^\n]*?)[ \t\r]*$", re.MULTILINE
)
_LISTED_LINE = re.compile(r"^[A-Z][a-z]+ (?:diagnos[ei]s|medications?): (?P<list>[^\n]+?)\.?[ \t]*$", re.MULTILINE)
_PART = re.compile(r"[^;\s](?:[^;]*[^;\s])?")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a list, a line with a mark (``3. ``, ``- ``) or one of several in a line, parted by semicolons.

    Attributes:
        begin: where its mark begins; of an entry in a line, where its words begin.
        inline: it shares its line, whose entries share ``line`` (where the line begins).
    """

    begin: int
    end: int
    body_begin: int
    body: str
    number: int | None
    inline: bool = False
    line: int = -1


@dataclass(frozen=True)
class Scene:
    """An item with its clean output, both read; ``pool`` is what the references of its source say."""

    item: Item
    text: str
    knowledge: Knowledge
    pool: Pool

    @cached_property
    def given(self) -> View:
        """The input."""
        return input_view(self.knowledge, self.item.task, self.item.input)

    @cached_property
    def made(self) -> View:
        """The clean output."""
        return output_view(self.knowledge, self.item.task, self.text)

    @cached_property
    def entries(self) -> list[Entry]:
        """The lines of lists of the clean output."""
        return entries_of(self.text)

    @cached_property
    def given_families(self) -> frozenset[str]:
        """All concepts that the input names."""
        return self.given.families

    @cached_property
    def may_be_given(self) -> frozenset[str]:
        """All concepts that the input names, or that an ambiguous word of it may mean."""
        return self.given_families | self.given.unclear

    @cached_property
    def known(self) -> frozenset[str]:
        """All concepts that either text names, or that the input may mean, and those above them by few steps."""
        return frozenset[str]().union(*map(self.knowledge.above, self.may_be_given | self.made.families))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The beginnings of the words of both texts."""
        return self.given.stems | self.made.stems

    def in_input(self, one: Seen) -> bool:
        """Tell whether the input names what a mention of the output names."""
        return bool(one.family & self.given_families)

    def is_grave(self, one: Seen) -> bool:
        """Tell whether a problem is grave; or a drug, by its class or by what it treats or is forbidden in here."""
        return self.weighs(one.mention.cuis[:1])

    def weighs(self, cuis: Iterable[str]) -> bool:
        """Tell the same of the concepts of a name."""
        knowledge = self.knowledge
        return any(knowledge.is_grave(cui) or bool(knowledge.bears_on(cui) & self.given_families) for cui in cuis)

    def stands_alone(self, one: Seen) -> bool:
        """Tell whether a mention may be replaced whole: no noun before it belongs to it ("food poisoning")."""
        if not self.ends_name(one):
            return False
        before = _LAST_WORD.search(self.text, max(0, one.mention.begin - 30), one.mention.begin)
        if before is None:
            return not self.text[max(0, one.mention.begin - 1) : one.mention.begin].strip("\n (")
        word = before.group(1)
        return word.lower() in words("function") or not word[-1].isalnum()

    def ends_name(self, one: Seen) -> bool:
        """Tell whether no noun follows that a mention belongs to ("HPV vaccine")."""
        following = _NEXT_WORD.match(self.text, one.mention.end)
        if following:
            return following.group(1).lower() in words("function")
        return self.text[one.mention.end :].lstrip(" ")[:1] not in {"-", "'", "’", "/"}

    def is_risk(self, one: Seen) -> bool:
        """Tell whether a problem is spoken of as what may come."""
        segment = self.segment(one.mention.begin)
        return segment is not None and _RISK.search(self.text, segment.begin, one.mention.begin) is not None

    @property
    def name(self) -> tuple[str, str]:
        """What a choice is about: source and input."""
        return self.item.origin.source, self.item.origin.inner_id

    def segment(self, place: int) -> Segment | None:
        """Return the segment of the output that a place is in."""
        return next((part for part in self.made.segments if part.begin <= place < part.end), None)

    def edit(self, rule: str, begin: int, end: int, after: str, evidence: str) -> Edit:
        """Return the change of ``text[begin:end]`` into ``after``, with the article before it made to suit."""
        begin, after = _with_article(self.text, begin, end, after)
        return Edit(rule, weight_of(rule).category, self.text[begin:end], after, begin, evidence)


def entries_of(text: str) -> list[Entry]:
    """Return the entries of a text's lists in their order: marked lines, and labelled lines with semicolons."""
    found = [
        Entry(m.start(), m.end(), m.start("body"), m["body"], int(m["number"]) if m["number"] else None)
        for m in _ENTRY.finditer(text)
    ]
    for line in _LISTED_LINE.finditer(text):
        found += [
            Entry(part.start(), part.end(), part.start(), part.group(), None, True, line.start())
            for part in _PART.finditer(text, line.start("list"), line.end("list"))
        ]
    return sorted(found, key=lambda entry: entry.begin)


def apply_edit(text: str, edits: Iterable[Edit]) -> str:
    """Return a clean output with edits put in place, which do not overlap.

    >>> apply_edit("no fever", [Edit("negation", None, "no ", "", 0, "")])
    'fever'
    """
    done, place = [], 0
    for edit in sorted(edits, key=lambda edit: edit.begin):
        done += [text[place : edit.begin], edit.after]
        place = edit.begin + len(edit.before)
    return "".join([*done, text[place:]])


_LAST_WORD = re.compile(r"(\S+)\s+$")
_NEXT_WORD = re.compile(r" ([A-Za-z]+)")
_RISK = re.compile(r"\b(?:risks?|complications?|if|prevent|side effects?)\b", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(an?) $", re.IGNORECASE)


def _sounds_vowel(words: str) -> bool:
    if len(words) > 1 and words[:2].isupper():
        return words[0] in "AEFHILMNORSX"
    return words[:1].lower() in "aeio" or bool(re.match(r"u(?!ni|s|r[ei])", words.lower()))


def _with_article(text: str, begin: int, end: int, after: str) -> tuple[int, str]:
    """Widen a change to the article before it where another is needed."""
    match = _ARTICLE.search(text, max(0, begin - 4), begin)
    if match is None or not after or not text[begin:end]:
        return begin, after
    article = match.group(1)
    wanted = "an" if _sounds_vowel(after) else "a"
    if article.lower() == wanted:
        return begin, after
    wanted = wanted.capitalize() if article[0].isupper() else wanted
    return match.start(), f"{wanted} {after}"
