"""One text as the judge sees it: what was read, with its numbers and the doses that stand with drugs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from builders.medval.judge.quantities import Measure, Number, implied_in, measures_of, numbers_of
from builders.medval.reading import Seen, TextView

__all__ = ["Dose", "View"]

# A dose stands within so many characters after its drug.
_REACH = 90
_END = re.compile(r"\n|[.;] ")


@dataclass(frozen=True, slots=True)
class Dose:
    """How much of a drug, or how often."""

    drug: Seen
    measure: Measure


@dataclass(frozen=True)
class View(TextView):
    """One text; what few comparisons need is looked for when it is asked for."""

    @cached_property
    def numbers(self) -> list[Number]:
        """The numbers, in digits or words."""
        return numbers_of(self.text)

    @cached_property
    def values(self) -> frozenset[float]:
        """What the numbers may mean."""
        return frozenset(value for number in self.numbers for value in number.values) | implied_in(self.text)

    @cached_property
    def doses(self) -> list[Dose]:
        """Each quantity with the nearest drug before it."""
        drugs = self.drugs()
        found = []
        for measure in measures_of(self.text, self.numbers) if drugs else ():
            drug = max((one for one in drugs if one.mention.end <= measure.begin), key=_end, default=None)
            if drug is not None and self._near(drug.mention.end, measure.begin):
                found.append(Dose(drug, measure))
        return found

    def _near(self, begin: int, end: int) -> bool:
        return end - begin < _REACH and (self.over_lines or _END.search(self.text, begin, end) is None)


def _end(one: Seen) -> int:
    return one.mention.end
