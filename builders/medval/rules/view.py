"""What the generator looks for in a text beyond its mentions: doses, frequencies, sides, numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from builders.medval.reading import Seen, TextView
from builders.medval.rules.knowledge import CANDIDATES, Knowledge
from builders.medval.rules.quantities import (
    Number,
    Side,
    frequency_pattern,
    numbers_of,
    per_day,
    sides_of,
    unit_at,
)
from ground.contracts.rows_text import MedvalTask

__all__ = ["Amount", "Rate", "View", "input_view", "output_view"]

# A dose or frequency stands within so many characters after its drug.
_REACH = 90


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
class View(TextView):
    """One text as the rules see it; what few rules need is looked for when it is asked for."""

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


def input_view(knowledge: Knowledge, task: MedvalTask, text: str) -> View:
    """Return the view of an input."""
    return knowledge.view(View, task, text, given=True, candidates=CANDIDATES)


def output_view(knowledge: Knowledge, task: MedvalTask, text: str) -> View:
    """Return the view of an output."""
    return knowledge.view(View, task, text, given=False, candidates=CANDIDATES)


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
