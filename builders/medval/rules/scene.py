"""What a rule of the generator sees, and how it says what it would change."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from builders.medval.items import Edit, Item
from builders.medval.reading import Concepts, Seen, View
from builders.medval.rules.edit_tables import weight_of, words
from builders.medval.rules.gravity import Gravity
from builders.texts.edits.model import with_article

__all__ = ["Entry", "Scene", "apply_edit", "entries_of"]

# A labelled line whose entries semicolons part.
_LISTED_LINE = re.compile(r"^[A-Z][a-z]+ (?:diagnos[ei]s|medications?): (?P<list>[^\n]+?)\.?[ \t]*$", re.MULTILINE)
_PART = re.compile(r"[^;\s](?:[^;]*[^;\s])?")


@dataclass(frozen=True, slots=True)
class Entry:
    """One of several entries in a line, which begins at ``line``."""

    begin: int
    text: str
    line: int

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.begin + len(self.text)


@dataclass(frozen=True)
class Scene:
    """An item with its clean output, both read."""

    item: Item
    text: str
    concepts: Concepts
    gravity: Gravity

    @cached_property
    def input_view(self) -> View:
        """The input."""
        return self.concepts.view(self.item.task, self.item.input, given=True)

    @cached_property
    def output_view(self) -> View:
        """The clean output."""
        return self.concepts.view(self.item.task, self.text, given=False)

    @cached_property
    def entries(self) -> list[Entry]:
        """The entries of the clean output's lists."""
        return entries_of(self.text)

    @cached_property
    def may_be_given(self) -> frozenset[str]:
        """All concepts that the input names, or that an ambiguous word of it may mean."""
        return self.input_view.families | self.input_view.unclear

    @cached_property
    def known(self) -> frozenset[str]:
        """All concepts that either text names, or that the input may mean, and those above them by few steps."""
        return frozenset[str]().union(*map(self.concepts.above, self.may_be_given | self.output_view.families))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The beginnings of the words of both texts."""
        return self.input_view.stems | self.output_view.stems

    def in_input(self, named: Seen) -> bool:
        """Tell whether the input names what a mention of the output names."""
        return bool(named.family & self.input_view.families)

    def weighs(self, cuis: Iterable[str]) -> bool:
        """Tell whether a problem is grave; or a drug, by its class or by what it treats or is forbidden in here."""
        return self.gravity.weighs(cuis, self.input_view.families)

    def is_grave(self, named: Seen) -> bool:
        """Tell the same of a mention."""
        return self.weighs(named.mention.cuis[:1])

    def stands_alone(self, named: Seen) -> bool:
        """Tell whether a mention may be replaced whole: no noun beside it belongs to it ("food poisoning")."""
        begin = named.mention.begin
        if not self._ends_name(named):
            return False
        before = _LAST_WORD.search(self.text, max(0, begin - 30), begin)
        if before is None:
            return not self.text[max(0, begin - 1) : begin].strip("\n (")
        word = before.group(1)
        return word.lower() in words("function") or not word[-1].isalnum()

    def _ends_name(self, named: Seen) -> bool:
        """Tell whether no noun follows that a mention belongs to ("HPV vaccine")."""
        end = named.mention.end
        following = _NEXT_WORD.match(self.text, end)
        if following:
            return following.group(1).lower() in words("function")
        return self.text[end:].lstrip(" ")[:1] not in {"-", "'", "’", "/"}

    @property
    def name(self) -> tuple[str, str]:
        """What a choice is about: source and input."""
        return self.item.origin.source, self.item.origin.inner_id

    def edit(self, rule: str, begin: int, end: int, after: str, evidence: str) -> Edit:
        """Return the change of ``text[begin:end]`` into ``after``, with the article before it made to suit."""
        if end > begin:
            begin, after = with_article(self.text, begin, after)
        return Edit(rule, weight_of(rule).category, self.text[begin:end], after, begin, evidence)


def entries_of(text: str) -> list[Entry]:
    """Return the entries of a text's labelled lines."""
    return [
        Entry(part.start(), part.group(), line.start())
        for line in _LISTED_LINE.finditer(text)
        for part in _PART.finditer(text, line.start("list"), line.end("list"))
    ]


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
