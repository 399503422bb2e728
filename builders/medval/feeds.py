"""Where a build's inputs come from: which sources give which tasks, what is there, and what the engine cannot do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

import duckdb

from builders.medval.items import Item
from builders.medval.records import missing_tables, read_records
from builders.medval.sources import READERS
from builders.texts.inputs import file_inputs
from builders.texts.origin import Tally
from builders.texts.sources import NamedTexts, TextSource, text_sources
from ground import ROOT
from ground.contracts.rows_text import MedvalTask
from ground.contracts.taxonomy import resolve_tasks
from ground.errors import InputError, UsageError
from ground.flow.manifest import LicenceTier, inputs, licence_tier, own_licence
from ground.storage.tables import read_table
from ground.storage.workspace import Workspace
from kg.graph import ConceptGraph

__all__ = ["Engine", "Feed", "Plan", "check_asked", "plan_feeds"]

Engine = Literal["rules", "lm"]
ENGINES = ROOT / "builders" / "data" / "medval_engines.tsv"
WORKSPACE = "workspace"


@dataclass(frozen=True)
class Feed:
    """One source's inputs for one task.

    Attributes:
        tier: of the inputs; the graph's own licence is another matter.
        licence: as the rows name it.
        inputs: files that are read, for the manifest; empty for the workspace, whose files it lists once.
        items: begins to read; the same items in the same order each time.
    """

    source: TextSource
    task: MedvalTask
    tier: LicenceTier
    licence: str
    inputs: Sequence[Mapping[str, Any]]
    items: Callable[[Tally], Iterator[Item]]


@dataclass(frozen=True)
class Plan:
    """What is built, and tasks that are left out with the reason."""

    feeds: tuple[Feed, ...]
    left_out: tuple[tuple[MedvalTask, str], ...]


def plan_feeds(
    tasks: Sequence[str],
    engine: Engine,
    texts: NamedTexts,
    workspace: Workspace,
    connection: duckdb.DuckDBPyConnection | None,
) -> Plan:
    """Return the feeds of a build, in the order of tasks and sources.

    Args:
        tasks: as the user names them; none mean every task that the engine can do and whose inputs are there.
        engine: who generates and judges.
        texts: the folder that holds the text sources' folders, and further sources.
        workspace: whose graph is read with the records.
        connection: the warehouse; None where there is none.

    Raises:
        UsageError: a task is unknown, or the engine cannot do it.
        InputError: the folder of texts, or the inputs of a task that was named, are not there.
    """
    check_asked(tasks, engine, texts)
    feeds: list[Feed] = []
    left_out: list[tuple[MedvalTask, str]] = []
    for task in cast("tuple[MedvalTask, ...]", resolve_tasks(tasks, "medval")):
        refused = _why_not(task) if engine == "rules" else None
        of_task = [] if refused else _feeds_of(task, texts, workspace, connection)
        if not of_task and tasks:
            raise _no_inputs(task, texts.folder)
        feeds += of_task
        if not of_task:
            left_out.append((task, refused or "no inputs"))
    if not feeds:
        raise InputError(
            "there is nothing to build from",
            found="; ".join(f"{task}: {reason}" for task, reason in left_out),
            expected="a folder of texts, or notes in the workspace",
            do="name the folder of text sources with --texts DIR, or load notes with `ontoground load mimic DIR`",
        )
    return Plan(tuple(feeds), tuple(left_out))


def check_asked(tasks: Sequence[str], engine: Engine, texts: NamedTexts) -> None:
    """Check what can be known before anything is read: an earlier stage may take hours.

    Raises:
        UsageError: a task is unknown, or the engine cannot do it.
        InputError: there is no such folder of texts, or one that is named for a source has no file of its layout.
    """
    if texts.folder is not None and not texts.folder.is_dir():
        expected = "a folder with one folder a source: meqsum, ..."
        raise InputError("the folder of texts is not there", file=texts.folder, expected=expected)
    for source, folder in texts.sources.items():
        if not READERS[source.layout].files(folder):
            expected = f"the files of {source.layout} (docs/medval.md)"
            raise InputError(f"there is no text of {source.source} here", file=folder, expected=expected)
    for task in cast("tuple[MedvalTask, ...]", resolve_tasks(tasks, "medval")) if tasks else ():
        if engine == "rules" and (why := _why_not(task)):
            raise _refused(task, why)


def _why_not(task: MedvalTask) -> str | None:
    rows = read_table(ENGINES, ("task", "rules", "why", "source"))
    return next((row["why"] for row in rows if row["task"] == task and row["rules"] != "yes"), None)


def _refused(task: MedvalTask, why: str) -> UsageError:
    able = [row["task"] for row in read_table(ENGINES, ("task", "rules", "why", "source")) if row["rules"] == "yes"]
    return UsageError(
        f"the engine rules cannot make {task}",
        found=why,
        expected=", ".join(able),
        do="leave the task out, or use a language model: --engine lm --endpoint URL --endpoint-model NAME",
    )


def _sources_of(task: MedvalTask) -> list[TextSource]:
    return [source for source in text_sources().values() if source.dataset == "medval" and task in source.tasks]


def _no_inputs(task: MedvalTask, texts: Path | None) -> InputError:
    expected = [
        "notes in the workspace" if source.layout == WORKSPACE else f"{source.folder}/ ({source.name}) below --texts"
        for source in _sources_of(task)
    ]
    return InputError(
        f"there are no inputs for {task}",
        file=texts,
        found="none of its sources" if texts else "no folder of texts",
        expected=" or ".join(expected),
        do="name the folder with --texts DIR, or load notes with `ontoground load mimic DIR`, or leave the task out",
    )


def _feeds_of(
    task: MedvalTask, texts: NamedTexts, workspace: Workspace, connection: duckdb.DuckDBPyConnection | None
) -> list[Feed]:
    feeds = []
    folders = {source: texts.folder / source.folder for source in _sources_of(task) if texts.folder is not None}
    for source in dict.fromkeys([*_sources_of(task), *(source for source in texts.sources if task in source.tasks)]):
        folder = texts.sources.get(source, folders.get(source))
        if source.layout == WORKSPACE:
            if connection is not None and not missing_tables(connection, task):
                feeds.append(_records(source, task, workspace, connection))
        elif folder is not None and (files := READERS[source.layout].files(folder)):
            feeds.append(_files(source, task, folder, files))
    return feeds


def _files(source: TextSource, task: MedvalTask, folder: Path, files: Sequence[Path]) -> Feed:
    items = partial(READERS[source.layout].read, folder, source, task)
    return Feed(source, task, source.tier, source.licence, file_inputs(source.source, folder, files), items)


def _records(source: TextSource, task: MedvalTask, workspace: Workspace, connection: duckdb.DuckDBPyConnection) -> Feed:
    tier = licence_tier(connection)
    graph = ConceptGraph.open(workspace.graph) if task == "course2diagnosis" else None
    licence = own_licence(connection, source.licence)
    files = [*inputs(connection), *workspace.rules.inputs()]
    return Feed(source, task, tier, licence, files, partial(read_records, connection, graph, source, task))
