"""What of all judged pairs is kept, and which versions it belongs to (MedHal, section 3.8).

An index of some fifty bytes for each pair stands for the rows, which are on disk by then; all is decided on whole
columns.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from builders.shards import SPLITS, Split
from ground.contracts.rows_text import MEDHAL_TASKS, MedhalTask
from ground.contracts.taxonomy import medhal_tasks
from ground.stable import stable_hash

__all__ = ["NO_CONTEXT", "NO_EXCHANGE", "PairIndex", "Selection", "content_hash", "select"]

Bools = npt.NDArray[np.bool_]
Hashes = npt.NDArray[np.uint64]

# Hashes of content depend on no setting.
CONTENT = 0
NO_CONTEXT = 0
NO_EXCHANGE = 0
LONE = 1
"""Pairs more that may go one way: what stands once teaches nothing, and most exchanges are as rare."""


def content_hash(*parts: str) -> int:
    """Return 64 bits that depend on the texts only."""
    return stable_hash(CONTENT, *parts)


def _hashes() -> array[int]:
    return array("Q")


def _codes() -> array[int]:
    return array("H")


@dataclass
class PairIndex:
    """One entry for each pair, in the order in which pairs were written; hashes stand for texts.

    Attributes:
        pair: of the pair's id.
        document: of source and document.
        context: of the context; NO_CONTEXT where there is none.
        factual, wrong: of context and statement.
        lot: decides which pairs stay where a task has too many.
        task, source, split: places in the lists of tasks, sources and splits.
        short: 1 where context and statement of both rows have less than the limit.
        exchange: of what the rows exchange, the same both ways; NO_EXCHANGE where that is nothing.
        way: 1 or 0, in which direction.
    """

    sources: tuple[str, ...]
    pair: array[int] = field(default_factory=_hashes)
    document: array[int] = field(default_factory=_hashes)
    context: array[int] = field(default_factory=_hashes)
    factual: array[int] = field(default_factory=_hashes)
    wrong: array[int] = field(default_factory=_hashes)
    lot: array[int] = field(default_factory=_hashes)
    task: array[int] = field(default_factory=_codes)
    source: array[int] = field(default_factory=_codes)
    split: array[int] = field(default_factory=_codes)
    short: array[int] = field(default_factory=_codes)
    exchange: array[int] = field(default_factory=_hashes)
    way: array[int] = field(default_factory=_codes)

    def __len__(self) -> int:
        return len(self.pair)

    def add(
        self,
        *,
        pair: int,
        document: int,
        context: int,
        factual: int,
        wrong: int,
        lot: int,
        task: MedhalTask,
        source: str,
        split: Split,
        short: bool,
        exchange: tuple[int, bool] = (NO_EXCHANGE, False),
    ) -> None:
        """Append a pair."""
        self.pair.append(pair)
        self.document.append(document)
        self.context.append(context)
        self.factual.append(factual)
        self.wrong.append(wrong)
        self.lot.append(lot)
        self.task.append(MEDHAL_TASKS.index(task))
        self.source.append(self.sources.index(source))
        self.split.append(SPLITS.index(split))
        self.short.append(short)
        self.exchange.append(exchange[0])
        self.way.append(exchange[1])


@dataclass(frozen=True)
class Selection:
    """One entry for each pair of the index.

    Attributes:
        kept: the pair is in the dataset.
        length_filtered, balanced: the versions that it belongs to.
        dropped: pairs left out, by source and reason.
    """

    kept: Bools
    length_filtered: Bools
    balanced: Bools
    dropped: Counter[tuple[str, str]]


def select(index: PairIndex) -> Selection:
    """Leave out what repeats or contradicts another pair, and name the versions of the rest.

    - ``repeated_id``: a pair of this id was there before (a source whose ids are not unique).
    - ``conflicting_labels``: context and statement of one of its rows occur with the other label too.
    - ``repeated_pair``: another pair has the same rows.
    - ``repeated_elsewhere``: another document has one of its rows; it could stand in another split.
    - ``context_in_other_split``: another document has its context and stands in another split.
    - ``one_way_exchange``: what it exchanges is exchanged more often this way than the other way in its source, so that
      the words would tell the label; the pairs of the lowest lots stay, and one more than there are the other way. It
      looks at what is left after all else.
    """
    kept = np.ones(len(index), dtype=np.bool_)
    source = _codes_of(index.source)
    dropped: Counter[tuple[str, str]] = Counter()

    def leave_out(reason: str, found: Bools) -> None:
        counts = np.bincount(source[found & kept], minlength=len(index.sources))
        dropped.update({(name, reason): int(n) for name, n in zip(index.sources, counts, strict=True) if n})
        kept[found] = False

    leave_out("repeated_id", _repeated(_column(index.pair)))
    leave_out("conflicting_labels", _conflicting(index))
    leave_out("repeated_pair", _repeated_pair(index))
    leave_out("repeated_elsewhere", _repeated_elsewhere(index))
    leave_out("context_in_other_split", _context_in_other_split(index))
    leave_out("one_way_exchange", _one_way(index, kept))
    short = kept & (_codes_of(index.short) == 1)
    return Selection(kept, short, _balanced(index, short), dropped)


def _column(values: array[int]) -> Hashes:
    return np.array(values, dtype=np.uint64)


def _codes_of(values: array[int]) -> npt.NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


def _repeated(pair: Hashes) -> Bools:
    bad = np.ones(len(pair), dtype=np.bool_)
    bad[np.unique(pair, return_index=True)[1]] = False
    return bad


def _conflicting(index: PairIndex) -> Bools:
    factual, wrong = _column(index.factual), _column(index.wrong)
    both = np.intersect1d(factual, wrong)
    return np.asarray(np.isin(factual, both) | np.isin(wrong, both))


def _repeated_pair(index: PairIndex) -> Bools:
    """Mark all but the pair of the lowest id among those that have the same two rows."""
    order = np.lexsort((_column(index.pair), _column(index.wrong), _column(index.factual)))
    factual, wrong = _column(index.factual)[order], _column(index.wrong)[order]
    bad = np.zeros(len(index), dtype=np.bool_)
    bad[order[1:]] = (factual[1:] == factual[:-1]) & (wrong[1:] == wrong[:-1])
    return bad


def _repeated_elsewhere(index: PairIndex) -> Bools:
    """Mark pairs with a row that a document of a lower hash has too."""
    document = _column(index.document)
    bad = np.zeros(len(index), dtype=np.bool_)
    for rows in (_column(index.factual), _column(index.wrong)):
        bad |= document != document[_owners(rows, document)]
    return bad


def _context_in_other_split(index: PairIndex) -> Bools:
    """Mark pairs whose context a document of a lower hash has too, in another split."""
    context, split = _column(index.context), _codes_of(index.split)
    owners = _owners(context, _column(index.document))
    return np.asarray((context != NO_CONTEXT) & (split != split[owners]))


def _one_way(index: PairIndex, kept: Bools) -> Bools:
    """Mark, of the pairs with one exchange in a source, those that go one way more often than others the other way."""
    exchange, way, source = _column(index.exchange), _codes_of(index.way), _codes_of(index.source)
    places = np.flatnonzero(kept & (exchange != NO_EXCHANGE))
    _, cell = np.unique(np.stack([exchange[places], source[places].astype(np.uint64)]), axis=1, return_inverse=True)
    side = 2 * cell.reshape(-1) + way[places]
    counts = np.bincount(side, minlength=2 * (int(cell.max()) + 1) if len(places) else 0)
    order = np.lexsort((_column(index.pair)[places], _column(index.lot)[places], side))
    rank = np.empty(len(places), dtype=np.int64)
    rank[order] = np.arange(len(places)) - (np.cumsum(counts) - counts)[side[order]]
    bad = np.zeros(len(index), dtype=np.bool_)
    bad[places[rank >= counts[side ^ 1] + LONE]] = True
    return bad


def _owners(values: Hashes, document: Hashes) -> npt.NDArray[np.int64]:
    """Return for each pair the place of the pair of the lowest document hash among those of the same value."""
    order = np.lexsort((document, values))
    ordered = values[order]
    first = np.concatenate(([True], ordered[1:] != ordered[:-1])) if len(ordered) else np.zeros(0, np.bool_)
    owners = np.empty(len(order), dtype=np.int64)
    owners[order] = order[np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))]
    return owners


def _balanced(index: PairIndex, short: Bools) -> Bools:
    """Keep of each task the pairs of the lowest lots, as many as the smallest task of the paper's ablation has."""
    task = _codes_of(index.task)
    sizes = np.bincount(task[short], minlength=len(MEDHAL_TASKS))
    compared = [MEDHAL_TASKS.index(row["task"]) for row in medhal_tasks() if row["in_ablation"] == "yes"]
    limits = [int(sizes[code]) for code in compared if sizes[code]]
    balanced = short.copy()
    if not limits:
        return balanced
    lots = np.stack([_column(index.lot), _column(index.pair)])
    for code in range(len(MEDHAL_TASKS)):
        places = np.flatnonzero(short & (task == code))
        if len(places) > min(limits):
            order = places[np.lexsort((lots[1][places], lots[0][places]))]
            balanced[order[min(limits) :]] = False
    return balanced
