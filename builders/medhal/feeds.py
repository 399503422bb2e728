"""What a build takes from a source: its pairs as a stream, its task and licence, its judge, its files.

Texts on disk have a reader by layout, a transformation by task, and the engine's writer and judge. The workspace's own
facts are MediEval's statements, judged by the graph.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, cast

import duckdb

from builders.medhal.engines import Engine
from builders.medhal.facts import fact_pairs
from builders.medhal.items import Pair
from builders.medhal.judge_graph import GraphJudge
from builders.medhal.judges import Judge
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
from ground.storage.files import sha256_of
from ground.storage.workspace import Workspace

__all__ = ["Feed", "own_feed", "text_feed"]


@dataclass(frozen=True)
class Feed:
    """One source of a build.

    Attributes:
        source: its line of the source table.
        task: of its rows.
        licence: of its rows.
        pairs: begins to read; the same pairs in the same order each time.
        judge: confirms labels; None where they are an expert's own and the engine has no check.
        inputs: files that it reads, for the manifest.
    """

    source: TextSource
    task: MedhalTask
    licence: str
    pairs: Callable[[], Iterator[Pair]]
    judge: Judge | None
    inputs: Sequence[Mapping[str, Any]]


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
        task=task,
        licence=source.licence,
        pairs=pairs,
        judge=engine.judges.get(task),
        inputs=file_inputs(source.source, folder, reader.files(folder)),
    )


def own_feed(
    source: TextSource, licence: str, workspace: Workspace, connection: duckdb.DuckDBPyConnection, tally: Tally
) -> Feed:
    """Return the feed of the workspace's own facts; its MediEval dataset must be there.

    All of its splits are used: they are our own, and a patient keeps the split.
    """

    manifest = workspace.dataset("medieval") / "manifest.json"
    return Feed(
        source=source,
        task="record_facts",
        licence=licence,
        pairs=partial(fact_pairs, workspace, connection, tally),
        judge=GraphJudge(workspace, connection),
        inputs=[
            {
                "source": source.source,
                "file": "datasets/medieval/manifest.json",
                "bytes": manifest.stat().st_size,
                "sha256": sha256_of(manifest),
            },
            *workspace.rules.inputs(),
        ],
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
