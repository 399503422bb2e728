"""Which wrong option a question gives: one that reads as right ones do, so that what it says tells no label.

Of a likely diagnosis and an unlikely one the likely one is more often right. So a wrong option is drawn by the ratio
of how often the runs of letters in its words stand in right options to how often they stand in wrong ones (importance
sampling, naive Bayes), to a power: the one at which pairs differ no more alike than by chance. Below it, what is right
in some questions is right in others; above it, it is wrong in others, which tells the label as well. Runs say what
words, stems and endings say; a word counts as much as its runs do on average, since they overlap.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest
from typing import Any

import numpy as np

from builders.medhal.items import QaItem
from builders.medhal.transform.overlap import overlap
from ground.stable import stable_hash, stable_unit

__all__ = ["Odds"]

WORD = re.compile(r"[^\W_]+")
LONG = re.compile(r"[a-z]{7,}")
SENTENCE_END = re.compile(r"[.?!:]\s")
RUNS = (3, 5)
"""Letters of a run, at least and at most; the blanks around a word count as letters."""
PRIOR = 1.0
"""Added to how many right and how many wrong options each run stands in."""
HALVINGS = 7
"""Of the powers from 0 to 1, until one is taken."""
MEASURED = 4_000
"""Questions, of the lowest hashes, by which the power is found."""


class Odds:
    """How many right and how many wrong options each word stands in, and the power; the order of items changes nothing.

    Attributes:
        spelt: long words that two questions or more write, or an explanation.

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
        self._likelier: dict[str, float] = {}
        self._measured: dict[QaItem, dict[int, tuple[float, float]]] = {}
        measured = nsmallest(
            MEASURED, self._counted(items), lambda item: stable_hash(seed, "odds", item.origin.inner_id)
        )
        self.spelt = frozenset(word for word, n in self._written.items() if n > 1)
        if self.right and self.wrong:
            self._find_power(measured)

    def _counted(self, items: Iterable[QaItem]) -> Iterator[QaItem]:
        for item in items:
            self.right.update(words_of(item.options[item.answer]))
            for at, option in enumerate(item.options):
                if at != item.answer:
                    self.wrong.update(words_of(option))
            self._written.update({*LONG.findall(" ".join((item.question, *item.options)).lower())})
            explained = " ".join((item.why or "", *(why for _, why in item.why_not)))
            self._written.update(dict.fromkeys(LONG.findall(explained.lower()), 2))
            self._options += len(item.options)
            self._questions += 1
            yield item

    def _find_power(self, items: Sequence[QaItem]) -> None:
        """Find what each word's runs say, and the power at which pairs of these questions differ as by chance."""
        from sklearn.feature_extraction.text import CountVectorizer

        written = sorted(self.right | self.wrong)
        letters = CountVectorizer(analyzer="char_wb", ngram_range=RUNS, binary=True, dtype=np.float64)
        runs = letters.fit_transform(written)
        right, wrong = (np.array([count[word] for word in written]) @ runs for count in (self.right, self.wrong))
        times = self._options / self._questions - 1
        ratios = runs @ np.log((right + PRIOR) / (wrong / times + PRIOR)) / np.diff(runs.indptr)
        self._likelier = dict(zip(written, ratios.tolist(), strict=True))
        self._measured = {item: self._turns(item) for item in items}
        turns = [(item, places) for item, places in self._measured.items() if places]
        options = _read([item for item, _ in turns], written) @ runs
        options.sort_indices()  # for the differences: once, not for each power
        firsts = np.cumsum([0] + [len(item.options) for item, _ in turns])[:-1]
        answers = firsts + [item.answer for item, _ in turns]
        for halving in range(1, HALVINGS + 1):
            power = self.power + 0.5**halving
            drawn = firsts + [_sorted(places, power)[0] for _, places in turns]
            self.power = power if _likeness(options[answers] - options[drawn]) > 0 else self.power

    def order(self, item: QaItem) -> list[int]:
        """Return the wrong options that do not overlap the right one in the order in which they are tried: first each
        as often as its odds say."""
        return _sorted(self._measured.get(item) or self._turns(item), self.power)

    def _turns(self, item: QaItem) -> dict[int, tuple[float, float]]:
        """Return by place the lot of an option, and how much likelier its words are in right options than in wrong
        ones; both as logarithms."""
        right = item.options[item.answer]
        return {
            at: (
                -math.log(stable_unit(self._seed, "wrong option", item.origin.source, item.origin.inner_id, at)),
                # The order of a set is another in each process: the sum is exact, so that it does not depend on it.
                math.fsum(self._likelier[word] for word in words_of(option)),
            )
            for at, option in enumerate(item.options)
            if at != item.answer and not overlap(option, right)
        }


def _sorted(turns: dict[int, tuple[float, float]], power: float) -> list[int]:
    return sorted(turns, key=lambda at: turns[at][0] / math.exp(power * turns[at][1]))


def _read(items: Sequence[QaItem], written: Sequence[str]) -> Any:
    """Return which words options have, weighed by their share of what a statement says: a long question hides them.

    Shape: (options, words)
    """
    from scipy.sparse import csr_matrix

    place = {word: at for at, word in enumerate(written)}
    option_words = [sorted(place[word] for word in words_of(option)) for item in items for option in item.options]
    asked = [len(SENTENCE_END.split(item.question)[-1]) for item in items]
    letters = [length + len(option) for item, length in zip(items, asked, strict=True) for option in item.options]
    sizes = [len(words) for words in option_words]
    weights = np.repeat(1 / np.sqrt(letters), sizes)
    ends = np.cumsum([0, *sizes])
    return csr_matrix(
        (weights, [at for words in option_words for at in words], ends), (len(option_words), len(written))
    )


def _likeness(differences: Any) -> float:
    """Return how alike pairs differ: 0 where chance says which of their options is right.

    The sum, over every two pairs, of the product of what their options differ in. Shape: (pairs, runs)
    """
    return float(np.square(differences.sum(axis=0)).sum() - differences.power(2).sum())


def words_of(option: str) -> frozenset[str]:
    """Return the words of an option in lower case."""
    return frozenset(WORD.findall(option.lower()))
