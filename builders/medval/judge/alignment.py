"""Where a conversation says what a note says: what qualifies a claim must be said beside it, not anywhere.

The words of a claim may all be said and the claim may still be none of the conversation's: its number may be another
thing's, its side the other knee's, its illness the mother's, its finding denied. So each qualifier of a note's sentence
(number with its unit, dose, side, person, grade, what is done, cause, denial) is looked for near the places where the
conversation says the sentence's other words. What is not found there is not read.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from builders.medval.judge.check_details import AGE, slightly_off
from builders.medval.judge.comparison import Comparison
from builders.medval.judge.denials import Denials
from builders.medval.judge.quantities import SIDE, Number
from builders.medval.judge.tables import words
from builders.medval.judge.view import stem
from builders.medval.judge.wording import LIST_MARK
from ehr.spans import Segment

__all__ = ["Alignment"]

# What qualifies a word is said within so many characters of it: some turns of a conversation.
_NEAR = 300
# A word that is said so often stands nowhere in particular.
_OFTEN = 8
# The part of the body stands within so many characters after its side.
_PART = 24
# What a time may be said in, beside its own unit.
_LARGER = {
    "second": ("minute",), "minute": ("hour",), "hour": ("day",), "day": ("week", "fortnight"),
    "week": ("fortnight",), "month": ("year",),
}  # fmt: skip
# What people say for once a day.
_ONCE = re.compile(r"\bin the (?:morning|evening)\b|\b(?:at|before) (?:night|bed)|\b(?:a|per|each) day\b|\bnightly\b")
# "Between ages nine and eleven".
_AGED = re.compile(r"\b(?:age[sd]? (?:[\w-]+ ){0,4}|(?:turn(?:ed|ing)?|he's|she's|i'm|i am) (?:(?:about|now|just) )?)$")
_BEFORE = 30
_HOW_OFTEN = ("marked", "frequent", "occasional")
# How much is said within so many characters after a drug.
_DOSE = 160
_UNIT = re.compile(r"(?<![/\w])(?P<unit>hour|day|week|month|year)s?\b(?![- ]old)", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]{3,}")
_TIME = re.compile(r"[\s-]*(?:or (?:so )?)?(?P<unit>second|minute|hour|day|week|month|year)s?\b", re.IGNORECASE)
_SAID_TIME = re.compile(
    r"(?:[\s,-]+(?:to|or|and|so|a|half|more|\w+(?:teen|ty)|two|three|four|five|six|seven|eight|nine|ten|twelve|\d+)){0,3}"
    r"[\s-]*(?P<unit>second|minute|hour|day|week|month|year|fortnight)",
    re.IGNORECASE,
)
_SIDE = re.compile(rf"\b(?:{SIDE}|bilateral(?:ly)?|both)\b", re.IGNORECASE)
# "Both" is a side before a part that is two: not in "both improved", "both of them".
_TWO = re.compile(r" (?:of )?(?:(?:his|her|the) )?(?:\w+s|feet)\b", re.IGNORECASE)
_PERSON = re.compile(
    r"\b(?:(?:grand|step)?(?P<who>mother|father|brother|sister|aunt|uncle|cousin|son|daughter|wife|husband|parent)s?)\b",
    re.IGNORECASE,
)
_ANY_PERSON = re.compile(
    r"\b\w*(?:mother|mom|mum|mama|father|dad|papa|brother|sister|aunt|uncle|cousin|son|boy|kid|daughter|girl|wife|husband"
    r"|parent)s?\b"
)
# A person of whom something is said is named within so many characters of it.
_PERSONS = 200
_CAUSE = re.compile(r"\b(?:due to|secondary to|because of|caused by|attributed to|related to)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Alignment:
    """A note beside a conversation."""

    c: Comparison

    def is_borne_out(self) -> bool:
        """Tell whether all that qualifies the claims of a note is said beside them."""
        return next(self.unread(), None) is None

    def unread(self) -> Iterator[tuple[str, int]]:
        """Yield what qualifies a claim of the note and is not said beside it: its kind, and where it stands."""
        for segment in self.c.made.segments:
            places = self._places(segment.begin, segment.end)
            yield from self._numbers(segment, places)
            yield from self._units(segment)
            yield from self._sides(segment, places)
            yield from self._actions(segment, places)
            yield from self._persons(segment, places)
            yield from self._grades(segment, places)
            yield from self._causes(segment)
            yield from self._denied(segment)
        yield from self._doses()

    # ---- places

    def _places_of(self, word: str) -> list[int]:
        found = self.c.given.said.get(stem(word), [])
        return found if len(found) <= _OFTEN else []

    def _places(self, begin: int, end: int) -> list[int]:
        """Return where the conversation says words of a part of the note that tell something, or names its concepts."""
        frequent = self.c.knowledge.plain.frequent
        told = [word.lower() for word in _WORD.findall(self.c.output[begin:end])]
        found = [at for word in told if word not in frequent for at in self._places_of(word)]
        inside = (one for one in self.c.made.seen if begin <= one.mention.begin < end)
        found += [other.mention.begin for one in inside for other in self.c.given.like(one.family)]
        return sorted(set(found))

    # ---- what qualifies

    @cached_property
    def _passed(self) -> frozenset[int]:
        """Where numbers stand that are parts of names, or count the parts of a list."""
        named = {at for one in self.c.made.seen for at in range(one.mention.begin, one.mention.end)}
        return frozenset(named | {match.start("number") for match in LIST_MARK.finditer(self.c.output)})

    def _numbers(self, segment: Segment, places: Sequence[int]) -> Iterator[tuple[str, int]]:
        rates = [one for one in self.c.made.measures if one.base == "day"]
        for rate in rates:
            if segment.begin <= rate.begin < segment.end:
                theirs = [o.begin for o in self.c.given.measures if o.base == "day" and o.values & rate.values]
                theirs += [one.start() for one in _ONCE.finditer(self.c.given.lower)] if 1.0 in rate.values else []
                if not any(not places or _near(places, at) for at in theirs):
                    yield "rate", rate.begin
        for number in self.c.made.numbers:
            inside = segment.begin <= number.begin < segment.end and number.begin not in self._passed
            if not inside or any(one.begin <= number.begin < one.end for one in rates):
                continue
            # An age is often said without its unit, and far from what else is said of the patient.
            if AGE.match(self.c.output, number.end):
                # One that is slightly off, and said of nothing else, weighs as such.
                slight = slightly_off(self.c, number) and not number.values & self.c.given.values
                if self._ages and not number.values & self._ages and not slight:
                    yield "age", number.begin
                continue
            said = [one for one in self.c.given.told_numbers if one.values & number.values]
            if said and (unit := _TIME.match(self.c.output, number.end)):
                said = [one for one in said if self._is_time(one, unit["unit"].lower())]
                if not said:
                    yield "time", number.begin
            if said and places and number.values != {1.0} and not any(_near(places, one.begin) for one in said):
                yield "number", number.begin

    @cached_property
    def _ages(self) -> frozenset[float]:
        """The ages that the conversation says as such: of the patient, or of others."""
        low = self.c.given.lower
        said = (
            one
            for one in self.c.given.numbers
            if AGE.match(low, one.end) or _AGED.search(low, max(0, one.begin - _BEFORE), one.begin)
        )
        return frozenset[float]().union(*(one.values for one in said))

    def _is_time(self, one: Number, unit: str) -> bool:
        """Tell whether a number of the conversation counts a unit of time, or larger ones that it was made of."""
        larger = (unit, *_LARGER.get(unit, ()))
        if any(word in self.c.given.lower[one.begin : one.end] for word in larger):
            return True
        if unit == "year" and _AGED.search(self.c.given.lower, max(0, one.begin - _BEFORE), one.begin):
            return True
        match = _SAID_TIME.match(self.c.given.lower, one.end)
        return match is not None and match["unit"] in (unit, "fortnight")

    def _units(self, segment: Segment) -> Iterator[tuple[str, int]]:
        for match in _UNIT.finditer(self.c.output, segment.begin, segment.end):
            unit = match["unit"].lower()
            if not any(one in self.c.given.lower for one in (unit, *_LARGER.get(unit, ()))):
                yield "unit", match.start()

    def _doses(self) -> Iterator[tuple[str, int]]:
        """Yield how much of a drug is taken where the conversation says so of no drug of that name."""
        for dose in self.c.made.doses:
            drug, measure = dose.drug, dose.measure
            values = {value for one in self.c.made.numbers if one.begin == measure.begin for value in one.values}
            at = [other.mention.begin for other in self.c.given.like(drug.family)]
            theirs = (one.begin for one in self.c.given.told_numbers if one.values & values)
            if (
                measure.base != "day"
                and at
                and not any(-_PART < said - place < _DOSE for said in theirs for place in at)
            ):
                yield "dose", measure.begin

    def _sides(self, segment: Segment, places: Sequence[int]) -> Iterator[tuple[str, int]]:
        for match in _SIDE.finditer(self.c.output, segment.begin, segment.end):
            side = match.group().lower()[:5]
            if side == "both" and not _TWO.match(self.c.output, match.end()):
                continue
            parts = _WORD.findall(self.c.output[match.end() : match.end() + _PART])[:2]
            at = [place for part in parts for place in self.c.given.said.get(stem(part), ())]
            said = "both|bilateral|each" if side in {"both", "bilat"} else side
            theirs = self.c.given.places_of(said)
            near = sorted([*places, *at])
            spoken = match.group().lower() + self.c.output[match.end() : match.end() + _PART].lower()
            same = " ".join(spoken.split()[:2]) in self.c.given.spaced
            if (
                (not same and self.is_other_side(said, at))
                or not theirs
                or (near and not any(_near(near, one) for one in theirs))
            ):
                yield "side", match.start()

    def is_other_side(self, said: str, parts: Sequence[int]) -> bool:
        """Tell whether sides stand right before a part in the conversation, and never that of the note."""
        sides = {
            one.group() for place in parts for one in _SIDE.finditer(self.c.given.lower, max(0, place - _PART), place)
        }
        return bool(sides) and not any(re.match(said, one) for one in sides)

    def _actions(self, segment: Segment, places: Sequence[int]) -> Iterator[tuple[str, int]]:
        """Yield what is done where the conversation has no word for it near."""
        for match in _doing().finditer(self.c.output, segment.begin, segment.end):
            said = next(said for done, said in words("done").items() if re.fullmatch(done, match.group(), re.I))
            if not self._has(said, places):
                yield "action", match.start()

    def _persons(self, segment: Segment, places: Sequence[int]) -> Iterator[tuple[str, int]]:
        """Yield relatives of whom the conversation says something else."""
        named = [*_PERSON.finditer(self.c.output, segment.begin, segment.end)]
        for place, match in enumerate(named):
            end = named[place + 1].start() if place + 1 < len(named) else segment.end
            said = _said_person(match["who"])
            about = self._places(match.end(), end) or places
            if not self._has(said, about) or not any(self._is_of(said, at) for at in about):
                yield "person", match.start()

    def _is_of(self, said: str, at: int) -> bool:
        """Tell whether the last person who is named before a place, or the first after it, is the one that is meant."""
        before = [*_ANY_PERSON.finditer(self.c.given.lower, max(0, at - _PERSONS), at)]
        after = _ANY_PERSON.search(self.c.given.lower, at, at + _PERSONS)
        near = [one.group() for one in (*before[-1:], *([after] if after else ()))]
        return any(re.search(said, one) for one in near)

    def _has(self, said: str, places: Sequence[int]) -> bool:
        """Tell whether a conversation says something near some places; anywhere where there is no place."""
        theirs = self.c.given.places_of(said)
        return any(_near(places, at) for at in theirs) if places else bool(theirs)

    def _grades(self, segment: Segment, places: Sequence[int]) -> Iterator[tuple[str, int]]:
        for match in _WORD.finditer(self.c.output, segment.begin, segment.end):
            word = match.group().lower()
            rank = words("grade").get(word.removesuffix("ly"))
            # A grade right before a problem has a check of its own.
            graded = any(one.mention.begin == match.end() + 1 for one in self.c.made.problems())
            if rank is None or graded or word.startswith(_HOW_OFTEN):
                continue
            # Where the grade itself is said is no place of what it grades.
            beside = sorted(set(places) - set(self._places_of(word)))
            if not self._has("|".join(other for other, theirs in words("grade").items() if theirs == rank), beside):
                yield "grade", match.start()

    def _causes(self, segment: Segment) -> Iterator[tuple[str, int]]:
        """Yield where a cause and its effect are said apart."""
        for match in _CAUSE.finditer(self.c.output, segment.begin, segment.end):
            before = self._places(segment.begin, match.start())
            after = self._places(match.end(), segment.end)
            if before and after and not any(_near(before, at) for at in after):
                yield "cause", match.start()

    def _denied(self, segment: Segment) -> Iterator[tuple[str, int]]:
        """Yield what the note says is there and the conversation only denies, or the reverse; names and other words."""
        named = (one for one in self.c.made.problems() if segment.begin <= one.mention.begin < segment.end)
        inside = set[int]()
        for one in named:
            theirs = [other.mention.begin for other in self.c.given.like(one.family)]
            if theirs or one.polarity == "unknown":
                # What the conversation says by no such name is compared word by word.
                inside |= set(range(one.mention.begin, one.mention.end))
            theirs = theirs or self.c.lay_places(one.mention.text)
            ours = one.polarity == "absent" or self._denials.ours(one.mention.begin, segment.begin)
            if one.polarity != "unknown" and theirs and self._denials.differ(theirs, ours=ours):
                yield "polarity", one.mention.begin
        frequent = self.c.knowledge.plain.frequent
        for match in _WORD.finditer(self.c.output, segment.begin, segment.end):
            word = match.group().lower()
            if match.start() in inside or word in frequent or word in words("neutral"):
                continue
            theirs = self._places_of(word)
            if theirs and self._denials.differ(theirs, ours=self._denials.ours(match.start(), segment.begin)):
                yield "denial", match.start()

    @cached_property
    def _denials(self) -> Denials:
        return Denials(self.c)


def _near(places: Sequence[int], at: int) -> bool:
    return bisect_right(places, at + _NEAR) > bisect_left(places, at - _NEAR)


@cache
def _doing() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(words('done'))})\b", re.IGNORECASE)


def _said_person(who: str) -> str:
    """Return how people call a relative (regex)."""
    return words("person").get(who.lower(), who.lower())
