"""Sources on disk as feeds: reader by layout, transformation by task, the engine's writer and judge."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, cast

from builders.medhal.engines import Engine
from builders.medhal.feeds import Feed
from builders.medhal.items import Pair
from builders.medhal.rows import Stamp
from builders.medhal.sources import READERS
from builders.medhal.transform.ie import SwapPool, extraction_pairs, stated_extractions
from builders.medhal.transform.nli import nli_pairs
from builders.medhal.transform.odds import Odds
from builders.medhal.transform.qa import qa_pairs
from builders.medhal.transform.summary import summary_pairs
from builders.medhal.writers import Writer
from builders.texts.inputs import file_inputs
from builders.texts.origin import OTHER_SPLIT, Tally
from builders.texts.sources import TextSource
from ground.contracts.rows_text import MedhalTask
from ground.settings import MedhalSettings

__all__ = ["text_feed"]


def text_feed(source: TextSource, folder: Path, engine: Engine, settings: MedhalSettings, tally: Tally) -> Feed:
    """Return the feed of one source.

    Args:
        source: its line of the source table.
        folder: where its files are.
        engine: who writes and judges.
        settings: what decides the rows.
        tally: counts what is read and left out.

    Raises:
        InputError: when it is read: the folder holds no file of the layout, or one of another.
    """
    reader = READERS[source.layout]
    task = cast(MedhalTask, source.tasks[0])

    def items() -> Iterator[Any]:
        for item in reader.read(folder, source, tally):
            if settings.splits in ("all", item.origin.split):
                yield item
            else:
                tally.drop(source.source, OTHER_SPLIT)

    def pairs() -> Iterator[Pair]:
        return _pairs(task, items(), engine.writer, settings, tally)

    return Feed(
        source=source,
        stamp=Stamp(source.source, task, source.licence),
        pairs=pairs,
        judge=engine.judges.get(task),
        inputs=file_inputs(source.source, folder, reader.files(folder)),
    )


def _pairs(
    task: MedhalTask, items: Iterator[Any], writer: Writer, settings: MedhalSettings, tally: Tally
) -> Iterator[Pair]:
    if task == "question_answering":
        return _question_pairs(items, writer, settings, tally)
    if task == "information_extraction":
        return _extraction_pairs(items, writer, settings, tally)
    if task == "nli":
        return nli_pairs(items, settings, tally)
    return summary_pairs(items, writer, settings, tally)


def _question_pairs(items: Iterator[Any], writer: Writer, settings: MedhalSettings, tally: Tally) -> Iterator[Pair]:
    """Yield the pairs of questions, which wait in a file until it is counted what all their options say."""
    with TemporaryFile() as waiting:
        odds = Odds(_kept(items, waiting), settings.seed)
        waiting.seek(0)
        for pair in qa_pairs(_read_again(waiting), writer, tally, odds):
            if pair.factual.framed and not settings.framed:
                tally.drop(pair.origin.source, "framed")
            else:
                yield pair


def _extraction_pairs(items: Iterator[Any], writer: Writer, settings: MedhalSettings, tally: Tally) -> Iterator[Pair]:
    """Yield the pairs of extractions, which wait in a file until all values that may be swapped in are known."""
    with TemporaryFile() as waiting:
        pool = SwapPool(_kept(stated_extractions(items, tally), waiting), settings.seed)
        waiting.seek(0)
        yield from extraction_pairs(_read_again(waiting), writer, tally, pool)


def _kept(items: Iterable[Any], file: IO[bytes]) -> Iterator[Any]:
    for item in items:
        pickle.dump(item, file)
        yield item


def _read_again(file: IO[bytes]) -> Iterator[Any]:
    while True:
        try:
            yield pickle.load(file)
        except EOFError:
            return
