"""Which wrong option a question gives: one whose words are as often right, so that words alone tell no label.

Of a likely diagnosis and an unlikely one the likely one is more often right. So a wrong option is drawn by the ratio
of how often its words stand in right options to how often they stand in wrong ones (importance sampling, naive
Bayes), to a power: the one that balances words as much as chance would. Below it, what is right in some questions is
right in others; above it, it is wrong in others, which tells the label as well. A question's own options do not count.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest

from builders.medhal.items import QaItem
from ground.stable import stable_hash, stable_unit

__all__ = ["Odds", "odds_of"]

WORD = re.compile(r"[^\W_]+")
PRIOR = 1.0
"""Options of either kind that every word is taken to have stood in besides."""
HALVINGS = 7
"""Of the powers from 0 to 1, until one is taken."""
MEASURED = 4_000
"""Questions, of the lowest hashes, by which the power is found."""


class Odds:
    """How many right and how many wrong options each word stands in, and the power of its odds."""

    def __init__(self) -> None:
        self.right: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.power = 0.0
        self._options = self._questions = 0

    def add(self, item: QaItem) -> None:
        """Count the options of a question."""
        self.right.update(words_of(item.options[item.answer]))
        self.wrong.update(_wrong_words(item))
        self._options += len(item.options) - 1
        self._questions += 1

    def turns(self, item: QaItem, places: Iterable[int], seed: int) -> dict[int, tuple[float, float]]:
        """Return by the place of a wrong option the hash's lot and the logarithm of how much likelier its words are
        in right options than in wrong ones: the lot divided by their power says when it is tried."""
        own, others = words_of(item.options[item.answer]), _wrong_words(item)
        times = self._options / self._questions
        return {
            at: (
                -math.log(stable_unit(seed, "wrong option", item.origin.source, item.origin.inner_id, at)),
                # The order of a set is another in each process: the sum is exact, so that it does not depend on it.
                math.fsum(
                    math.log(self.right[word] - (word in own) + PRIOR)
                    - math.log((self.wrong[word] - others[word]) / times + PRIOR)
                    for word in words_of(item.options[at])
                ),
            )
            for at in places
        }

    def order(self, item: QaItem, places: Iterable[int], seed: int) -> list[int]:
        """Return wrong options in the order in which they are tried: first each as often as its odds say."""
        return _sorted(self.turns(item, places, seed), self.power)


def odds_of(items: Iterable[QaItem], seed: int) -> Odds:
    """Return the counts of all questions, and the power that they call for; their order changes nothing."""
    odds = Odds()

    def counted() -> Iterator[QaItem]:
        for item in items:
            odds.add(item)
            yield item

    measured = nsmallest(MEASURED, counted(), lambda item: stable_hash(seed, "odds", item.origin.inner_id))
    measured = [item for item in measured if len(item.options) > 1]
    turns = [odds.turns(item, _wrong_places(item), seed) for item in measured]
    for halving in range(1, HALVINGS + 1):
        power = odds.power + 0.5**halving
        drawn = [_sorted(turn, power)[0] for turn in turns]
        pairs = [(one.options[one.answer], one.options[at]) for one, at in zip(measured, drawn, strict=True)]
        odds.power = power if _told(pairs) > 0 else odds.power
    return odds


def _sorted(turns: dict[int, tuple[float, float]], power: float) -> list[int]:
    return sorted(turns, key=lambda at: turns[at][0] / math.exp(power * turns[at][1]))


def _told(pairs: Sequence[tuple[str, str]]) -> float:
    """Return how alike pairs differ: 0 where chance says which of their options is right.

    The sum, over every two pairs, of the product of what their options differ in; rare words count for more.
    """
    right = Counter(word for one, other in pairs for word in words_of(one) - words_of(other))
    wrong = Counter(word for one, other in pairs for word in words_of(other) - words_of(one))
    counts = (right + wrong).items()
    return math.fsum(math.log(2 * len(pairs) / n) * ((right[word] - wrong[word]) ** 2 - n) for word, n in counts)


def words_of(option: str) -> frozenset[str]:
    """Return the words of an option in lower case."""
    return frozenset(WORD.findall(option.lower()))


def _wrong_places(item: QaItem) -> list[int]:
    return [at for at in range(len(item.options)) if at != item.answer]


def _wrong_words(item: QaItem) -> Counter[str]:
    return Counter(word for at in _wrong_places(item) for word in words_of(item.options[at]))
