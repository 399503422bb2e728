"""What stands in one text, as the rules compare it: mentions with polarity, doses, frequencies, sides, words."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, cast

from builders.medval.rules.knowledge import Knowledge
from builders.medval.rules.quantities import (
    Number,
    Side,
    frequency_pattern,
    numbers_of,
    per_day,
    sides_of,
    unit_at,
)
from ehr.reading import ReadMention, TextReading
from ehr.spans import Assertion, Segment
from ground.contracts.rows_text import MedvalTask

__all__ = ["Amount", "Polarity", "Rate", "Seen", "View", "input_view", "output_view"]

Polarity = Literal["present", "absent", "unknown"]

KEPT_VIEWS = 2048
"""Views that are kept at a time: some batches, whatever the size of a source."""

# A dose or frequency stands within so many characters after its drug.
_REACH = 90
_TURN = re.compile(
    r"^[ \t]*\[?(doctor|patient|guest_\w+|nurse|family\w*|clinician)\]?[ \t]*:?", re.IGNORECASE | re.MULTILINE
)
_NO = re.compile(
    r"^[\s,.\-]*(?:(?:um|uh|well|oh|hm+|doctor|ah)[\s,.]*)*(?:no\b|nope|nah|none|never|negative"
    r"|not (?:really|at all|that)|i don't|i do not|i haven't|i have not|he doesn't|she doesn't|he hasn't|she hasn't"
    r"|i didn't|i deny|uh-uh)",
    re.IGNORECASE,
)
_YES = re.compile(
    r"^[\s,.\-]*(?:(?:um|uh|well|oh|hm+|doctor|ah)[\s,.]*)*(?:yes|yeah|yep|yup|correct|i do\b|i have\b|i did\b"
    r"|sure|right|exactly|mm-hmm|absolutely|definitely|he does|she does|that's (?:right|correct))",
    re.IGNORECASE,
)
_STOP = re.compile(r"[.?!]")
_OR = re.compile(r"\bor\b")
_SPOKEN_NOT = re.compile(r"n't\b|\b(?:not|no|never|without|if|could|might|maybe|worried|risk)\b", re.IGNORECASE)
_YET = re.compile(r"\b(?:but|except|just|only|some|sometimes|little|bit)\b", re.IGNORECASE)
_WORDS = re.compile(r"[a-z][a-z'-]+")
_ABSENT = frozenset({Assertion.ABSENT})
_PRESENT = frozenset({Assertion.PRESENT, Assertion.HISTORICAL})


@dataclass(frozen=True, slots=True)
class Seen:
    """A mention as it is compared: with its family of concepts and its polarity."""

    mention: ReadMention
    family: frozenset[str]
    polarity: Polarity


@dataclass(frozen=True, slots=True)
class Amount:
    """A strength that stands with a drug."""

    drug: Seen
    number: Number
    unit: str
    end: int


@dataclass(frozen=True, slots=True)
class Rate:
    """How often a drug is taken."""

    drug: Seen
    begin: int
    end: int
    per_day: float


@dataclass(frozen=True)
class View:
    """One text as the rules compare it."""

    text: str
    seen: tuple[Seen, ...]
    segments: tuple[Segment, ...]
    unclear: frozenset[str]
    """Concepts that an ambiguous word may mean."""
    over_lines: bool = False
    """What belongs to a drug may stand in the next line."""

    # What few comparisons need is looked for when it is asked for.

    @cached_property
    def families(self) -> frozenset[str]:
        """All concepts that are named."""
        return frozenset[str]().union(*(one.family for one in self.seen))

    @cached_property
    def numbers(self) -> list[Number]:
        """The numbers, in digits or words."""
        return numbers_of(self.text)

    @cached_property
    def values(self) -> frozenset[float]:
        """What the numbers may mean."""
        return frozenset(value for number in self.numbers for value in number.values)

    @cached_property
    def sides(self) -> list[Side]:
        """Where a side of the body is named."""
        return sides_of(self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words in lower case."""
        return frozenset(_WORDS.findall(self.text.lower()))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The beginnings of the words."""
        return frozenset(word[:5] for word in self.words)

    @cached_property
    def _near_drugs(self) -> tuple[list[Amount], list[Rate]]:
        drugs = self.drugs()
        return _of_drugs(self.text, drugs, self.numbers, self.over_lines) if drugs else ([], [])

    @property
    def amounts(self) -> list[Amount]:
        """The strengths that stand with drugs."""
        return self._near_drugs[0]

    @property
    def rates(self) -> list[Rate]:
        """How often drugs are taken."""
        return self._near_drugs[1]

    def drugs(self) -> list[Seen]:
        """Return the mentions of drugs."""
        return [one for one in self.seen if one.mention.kind == "drug"]

    def problems(self) -> list[Seen]:
        """Return the mentions of disorders and findings."""
        return [one for one in self.seen if one.mention.kind in {"disorder", "finding"}]

    def like(self, family: frozenset[str]) -> list[Seen]:
        """Return the mentions that share a concept with a family."""
        return [one for one in self.seen if one.family & family]


def input_view(knowledge: Knowledge, task: MedvalTask, text: str) -> View:
    """Return the view of an input; in a dialogue an answer decides what a question names."""
    return _kept(knowledge, ("input", task, text), lambda: _input_view(knowledge, task, text))


def _kept(knowledge: Knowledge, key: tuple[str, str, str], make: Callable[[], View]) -> View:
    """Return a view that was made before, or make it: a text is read once, whoever asks."""
    views = knowledge.views
    if key in views:
        views.move_to_end(key)
        return cast(View, views[key])
    view = views[key] = make()
    if len(views) > KEPT_VIEWS:
        views.popitem(last=False)
    return view


def _input_view(knowledge: Knowledge, task: MedvalTask, text: str) -> View:
    reading = knowledge.read(text, headers=task == "course2diagnosis")
    turns = [match.start() for match in _TURN.finditer(text)] if task == "dialogue2note" else []
    polarities = (
        [_in_dialogue(text, turns, mention) for mention in reading.mentions]
        if len(turns) > 1
        else [_plain(mention) for mention in reading.mentions]
    )
    return _view(knowledge, text, polarities, reading, over_lines=len(turns) > 1)


def output_view(knowledge: Knowledge, task: MedvalTask, text: str) -> View:
    """Return the view of an output."""
    return _kept(knowledge, ("output", task, text), lambda: _output_view(knowledge, task, text))


def _output_view(knowledge: Knowledge, task: MedvalTask, text: str) -> View:
    reading = knowledge.read(text, headers=task != "query2question")
    polarities = [_plain(mention) for mention in reading.mentions]
    return _view(knowledge, text, polarities, reading, over_lines=False)


def _plain(mention: ReadMention) -> Polarity:
    if mention.assertion in _ABSENT:
        return "absent"
    return "present" if mention.assertion in _PRESENT else "unknown"


def _in_dialogue(text: str, turns: list[int], mention: ReadMention) -> Polarity:
    """A question leaves open what it names; a short answer that begins with yes or no decides it."""
    following = bisect_right(turns, mention.begin)
    end = turns[following] if following < len(turns) else len(text)
    stop = _STOP.search(text, mention.end, end)
    if stop is None or stop.group() != "?":
        said = text[turns[following - 1] if following else 0 : end]
        # What was asked is often repeated in an answer that is not a plain sentence.
        before = text[max(text.rfind("\n", 0, mention.begin) + 1, mention.begin - 70) : mention.begin]
        # Spoken negations ("it does n't look like") are often not what the reader's rules know.
        if mention.assertion not in _ABSENT and _SPOKEN_NOT.search(before.rsplit(" . ", 1)[-1]):
            return "unknown"
        return "unknown" if mention.assertion in _ABSENT and _OR.search(said) else _plain(mention)
    if following >= len(turns):
        return "unknown"
    opening = _TURN.match(text, turns[following])
    after = turns[following + 1] if following + 1 < len(turns) else len(text)
    answer = text[opening.end() if opening else turns[following] : after].replace(" n't", "n't")
    if _NO.match(answer) and not _YET.search(answer):
        return "absent"
    # "Yes" to a list of things leaves open to which.
    question = text[turns[following - 1] if following else 0 : end]
    listed = "," in question or " or " in question
    return "present" if _YES.match(answer) and not listed else "unknown"


def _view(
    knowledge: Knowledge,
    text: str,
    polarities: list[Polarity],
    reading: TextReading,
    *,
    over_lines: bool,
) -> View:
    seen = tuple(
        Seen(mention, knowledge.family_of(mention), polarity)
        for mention, polarity in zip(reading.mentions, polarities, strict=True)
    )
    unclear = frozenset(cui for mention in reading.unclear for cui in mention.cuis)
    return View(text, seen, reading.segments, unclear, over_lines)


def _of_drugs(text: str, drugs: list[Seen], numbers: list[Number], over_lines: bool) -> tuple[list[Amount], list[Rate]]:
    """Return strengths and frequencies that stand after each drug, before the next one."""
    amounts: list[Amount] = []
    rates: list[Rate] = []
    pattern = frequency_pattern()
    for place, drug in enumerate(drugs):
        begin = drug.mention.end
        end = min(begin + _REACH, drugs[place + 1].mention.begin if place + 1 < len(drugs) else len(text))
        if not over_lines:
            line = text.find("\n", begin, end)
            end = line if line >= 0 else end
        for number in numbers:
            if number.begin >= end:
                break
            if number.begin >= begin and (unit := unit_at(text, number.end)):
                amounts.append(Amount(drug, number, unit[0], unit[1]))
        rates += [
            Rate(drug, match.start(), match.end(), per_day(match.group()))
            for match in pattern.finditer(text, begin, max(begin, end))
        ]
    return amounts, rates
