"""Which wrong option a question gives: one whose words are as often right, so that words alone tell no label.

Of a likely diagnosis and an unlikely one the likely one is more often right. So a wrong option is drawn by the ratio
of how often its words stand in right options to how often they stand in wrong ones (importance sampling, naive
Bayes), to a power: the one that balances words as much as chance would. Below it, what is right in some questions is
right in others; above it, it is wrong in others, which tells the label as well.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from heapq import nsmallest

from builders.medhal.items import QaItem
from builders.medhal.question_tables import words
from ground.stable import stable_hash, stable_unit

__all__ = ["Odds"]

WORD = re.compile(r"[^\W_]+")
LONG = re.compile(r"[a-z]{7,}")
PRIOR = 1.0
"""Options of either kind that every word is taken to have stood in besides."""
HALVINGS = 7
"""Of the powers from 0 to 1, until one is taken."""
MEASURED = 4_000
"""Questions, of the lowest hashes, by which the power is found."""


class Odds:
    """How many right and how many wrong options each word stands in, and the power; the order of items changes nothing.

    Attributes:
        spelt: long words that two questions or more write, or an explanation, and genera.

    Args:
        items: all questions, read once.
        seed: of the draw.
    """

    def __init__(self, items: Iterable[QaItem], seed: int) -> None:
        self.right: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.power = 0.0
        self._seed = seed
        self._options = self._questions = 0
        self._written: Counter[str] = Counter()
        measured = nsmallest(
            MEASURED, self._counted(items), lambda item: stable_hash(seed, "odds", item.origin.inner_id)
        )
        turns = [(item, self._turns(item, _wrong_places(item))) for item in measured if len(item.options) > 1]
        for halving in range(1, HALVINGS + 1):
            power = self.power + 0.5**halving
            pairs = [(item.options[item.answer], item.options[_sorted(turn, power)[0]]) for item, turn in turns]
            self.power = power if _told(pairs) > 0 else self.power
        genera = {word.lower() for word in words("genus")}
        self.spelt = frozenset(word for word, n in self._written.items() if n > 1) | genera

    def _counted(self, items: Iterable[QaItem]) -> Iterator[QaItem]:
        for item in items:
            self.right.update(words_of(item.options[item.answer]))
            for at in _wrong_places(item):
                self.wrong.update(words_of(item.options[at]))
            self._written.update({*LONG.findall(" ".join((item.question, *item.options)).lower())})
            explained = " ".join((item.why or "", *(why for _, why in item.why_not)))
            self._written.update(dict.fromkeys(LONG.findall(explained.lower()), 2))
            self._options += len(item.options)
            self._questions += 1
            yield item

    def order(self, item: QaItem, places: Iterable[int]) -> list[int]:
        """Return wrong options in the order in which they are tried: first each as often as its odds say."""
        return _sorted(self._turns(item, places), self.power)

    def _turns(self, item: QaItem, places: Iterable[int]) -> dict[int, tuple[float, float]]:
        """Return by place the lot of an option, and how much likelier its words are in right options than in wrong
        ones, as a logarithm."""
        times = self._options / self._questions - 1
        return {
            at: (
                -math.log(stable_unit(self._seed, "wrong option", item.origin.source, item.origin.inner_id, at)),
                # The order of a set is another in each process: the sum is exact, so that it does not depend on it.
                math.fsum(
                    math.log((self.right[word] + PRIOR) / (self.wrong[word] / times + PRIOR))
                    for word in words_of(item.options[at])
                ),
            )
            for at in places
        }


def _sorted(turns: dict[int, tuple[float, float]], power: float) -> list[int]:
    return sorted(turns, key=lambda at: turns[at][0] / math.exp(power * turns[at][1]))


def _told(pairs: list[tuple[str, str]]) -> float:
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
