"""Which wrong option a question gives: one whose words are as often right, so that words alone tell no label.

Of a likely diagnosis and an unlikely one the likely one is more often right. So a wrong option is drawn by the ratio
of how often its words stand in right options to how often they stand in wrong ones (importance sampling, naive
Bayes): what is drawn is worded as right options of other questions are. The question's own options do not count.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable

from builders.medhal.items import QaItem
from ground.stable import stable_unit

__all__ = ["Odds", "odds_of"]

WORD = re.compile(r"[^\W_]+")
PRIOR = 1.0
"""Options of either kind that every word is taken to have stood in besides."""
STEEPEST = 3.0
"""Logarithm of the largest ratio: beyond it a few words would decide alone."""
TOGETHER = 0.3
"""What each word's ratio counts for, as words go together; fitted to half of MedQA's test questions by hash."""
WHOLE = 2520
"""What the wrong options of a question count together: divided by up to ten options it stays a whole number, so that
sums do not depend on their order."""


class Odds:
    """How often words stand in right options and, of each question's wrong ones, in what share."""

    def __init__(self) -> None:
        self.right: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()

    def add(self, item: QaItem) -> None:
        """Count the options of a question."""
        self.right.update(words_of(item.options[item.answer]))
        self.wrong.update(_shares(item))

    def log_ratio(self, item: QaItem, place: int) -> float:
        """Return the logarithm of how much likelier the words of an option are in right options than in wrong ones."""
        own, shares = words_of(item.options[item.answer]), _shares(item)
        ratios = (
            (self.right[word] - (word in own) + PRIOR) / ((self.wrong[word] - shares[word]) / WHOLE + PRIOR)
            for word in words_of(item.options[place])
        )
        # The order of a set is another in each process: the sum is exact, so that it does not depend on it.
        return max(-STEEPEST, min(STEEPEST, TOGETHER * math.fsum(map(math.log, ratios))))

    def order(self, item: QaItem, places: Iterable[int], seed: int) -> list[int]:
        """Return wrong options in the order in which they are tried: first each as often as its ratio says."""
        name = (item.origin.source, item.origin.inner_id)
        wait = {
            at: -math.log(stable_unit(seed, "wrong option", *name, at)) / math.exp(self.log_ratio(item, at))
            for at in places
        }
        return sorted(wait, key=wait.__getitem__)


def odds_of(items: Iterable[QaItem]) -> Odds:
    """Return the counts of all questions; their order changes nothing."""
    odds = Odds()
    for item in items:
        odds.add(item)
    return odds


def words_of(option: str) -> frozenset[str]:
    """Return the words of an option in lower case."""
    return frozenset(WORD.findall(option.lower()))


def _shares(item: QaItem) -> Counter[str]:
    wrong = [option for place, option in enumerate(item.options) if place != item.answer]
    counts = Counter(word for option in wrong for word in words_of(option))
    return Counter({word: n * WHOLE // len(wrong) for word, n in counts.items()})
