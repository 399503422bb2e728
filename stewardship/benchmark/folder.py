"""A benchmark under stewardship: its rows, what is known of them, and the history of their labels, in one folder."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from ground.contracts.labels import LabelValue, parse_label
from ground.errors import InputError, UsageError
from ground.flow.manifest import LicenceTier
from ground.stable import stable_hash
from ground.storage.files import atomic_directory, write_text
from stewardship.benchmark.tables import LabelTable
from stewardship.history.log import Event, History, Role

__all__ = ["FOLDER", "Benchmark"]

FOLDER = "stewardship"
RECORD = "benchmark.json"
ITEMS = "items.parquet"
OPEN = "open_because"
NAME = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
LABELS: dict[str, Role] = {
    "label": "original",
    "original": "original",
    "recomputed": "recomputed",
    "physician": "physician",
    "final": "final",
}
"""Roles of columns that hold labels, and whose label each is."""
STATUSES: dict[Role, str] = {
    "original": "published",
    "recomputed": "high_confidence",
    "physician": "labelled",
    "final": "finalised",
}


@dataclass(frozen=True)
class Benchmark:
    """A benchmark's folder ``{workspace}/stewardship/{name}``.

    Attributes:
        folder: the folder; beside what is here it has ``runs/``, ``sheets/`` and ``releases/``.
        items: *shape* (n, roles), text: the rows as in `LabelTable.frame`, without columns of labels.
        categories: names that labels can be; empty where labels are numbers, dates and abstentions.
        record: what ``benchmark.json`` holds besides: the files taken up, with layout and SHA-256.
    """

    folder: Path
    name: str
    items: pl.DataFrame
    categories: tuple[str, ...] = ()
    record: dict[str, Any] | None = None

    @property
    def licence_tier(self) -> LicenceTier:
        """Decides whether a language model off this machine may be asked: open where whoever adopted it said why.

        The history holds what was said, with each of the first labels, and cannot be edited unseen; what lacks the word
        is credentialed.
        """
        events = self.history.events
        adopted = [event for event in events if event.batch == events[0].batch]
        return "open" if adopted and all(event.evidence.get(OPEN) for event in adopted) else "credentialed"

    @property
    def history(self) -> History:
        """The history of the labels, up to what is on disk now.

        Raises:
            InputError: it is not as it was written.
        """
        return self._history.refresh()

    def parse(self, text: str | None) -> LabelValue:
        """Return a text as a label of this benchmark."""
        return parse_label(text, categories=self.categories)

    def column(self, name: str) -> dict[str, str]:
        """Return a column of the rows by uid, without empty cells; empty where the benchmark lacks it."""
        if name not in self.items.columns:
            return {}
        return dict(self.items.select("uid", name).drop_nulls(name).iter_rows())

    @functools.cached_property
    def _history(self) -> History:
        return History(self.folder, self.categories)

    def prompts(self, count: int = 0, seed: int = 0) -> dict[str, str]:
        """Return what a model is asked about each row, by uid; with ``count`` about so many, drawn by seed.

        Raises:
            InputError: the rows have neither context nor question.
        """
        if not {"context", "question"} & set(self.items.columns):
            raise InputError("the benchmark has neither context nor question", file=self.folder)
        record, question = (self.column(name) for name in ("context", "question"))
        uids = sorted(self.items["uid"], key=lambda uid: (stable_hash(seed, "asked", uid), uid))[: count or None]
        asked = set(uids)
        return {
            uid: (f"Record of the patient:\n{record[uid]}\n\n" if record.get(uid) else "")
            + f"Question: {question.get(uid, '')}"
            for uid in self.items["uid"]
            if uid in asked
        }

    @classmethod
    def open(cls, workspace: Path, name: str | None = None) -> Benchmark:
        """Open a benchmark of a workspace; the only one where no name is given.

        Raises:
            InputError: the workspace has none, or none of this name.
            UsageError: it has several and none is named.
        """
        root = workspace / FOLDER
        known = sorted(path.parent.name for path in root.glob(f"*/{RECORD}"))
        if not known or (name is not None and name not in known):
            raise InputError(
                "no such benchmark in this workspace" if known else "this workspace has no benchmark yet",
                file=root,
                found=name,
                expected=", ".join(known) or None,
                do="adopt one with `ontoground steward adopt TABLE`",
            )
        if name is None and len(known) > 1:
            raise UsageError("there are several benchmarks", expected=f"--benchmark one of {', '.join(known)}")
        folder = root / (name or known[0])
        try:
            record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
            items = pl.read_parquet(folder / ITEMS, glob=False)
        except (ValueError, OSError, pl.exceptions.PolarsError) as error:
            raise InputError("the benchmark cannot be read", file=folder, found=type(error).__name__) from error
        return cls(folder, folder.name, items, tuple(record["categories"]), record)

    @classmethod
    def adopt(
        cls,
        workspace: Path,
        name: str,
        tables: Sequence[LabelTable],
        *,
        open_because: str = "",
        categories: Sequence[str] = (),
        beside: Mapping[str, str] | None = None,
    ) -> Benchmark:
        """Take up tables of labels: the rows of the first, and the labels of all, as events of the history.

        A later table may hold fewer rows than the first, and none that it lacks. Columns that the first lacks are taken
        from the later ones.

        Args:
            workspace: where the benchmark is written.
            open_because: why the rows may be given to anyone, such as their licence; credentialed where left out.
            beside: further files of the folder, name to text.

        Raises:
            UsageError: a benchmark of this name is there already, or it is no name of a folder.
            InputError: there is no row; a later table has a row that the first lacks, or gives one another original
                label.
        """
        if not NAME.fullmatch(name):
            raise UsageError(
                "this cannot be the name of a benchmark",
                found=name,
                expected="letters and digits, after the first also . _ -",
            )
        folder = workspace / FOLDER / name
        if (folder / RECORD).is_file():
            raise UsageError("a benchmark of this name is there already", file=folder, do="name another with --name")
        items = _items(tables)
        if items.is_empty():
            raise InputError("the table has no rows", file=tables[0].file, expected="a row for each label")
        files = [
            {"file": item.file.name, "layout": item.layout, "rows": len(item), "sha256": item.sha256} for item in tables
        ]
        record = {"name": name, "categories": list(categories), "files": files}
        benchmark = cls(folder, name, items, tuple(categories), record)
        # Whole or not at all: a folder without its record is none that was taken up, and is replaced.
        with atomic_directory(folder) as part:
            items.write_parquet(part / ITEMS)
            history = replace(benchmark, folder=part).history
            for table in tables:
                if events := _events(table, history, open_because.strip()):
                    history.append(events)
            for file, text in {**(beside or {}), RECORD: json.dumps(record, indent=2) + "\n"}.items():
                write_text(part / file, text)
        return benchmark


def _items(tables: Sequence[LabelTable]) -> pl.DataFrame:
    first, *others = tables
    items = first.frame.drop(LABELS, strict=False)
    for table in others:
        if lost := table.frame.join(items, on="uid", how="anti").height:
            raise InputError(
                "a table has rows that the first one lacks",
                file=table.file,
                found=f"{lost} rows",
                expected=f"keys of {first.file}",
            )
        more = [name for name in table.frame.columns if name not in items.columns and name not in LABELS]
        if more:
            items = items.join(table.frame.select("uid", *more), on="uid", how="left", maintain_order="left")
    return items


def _events(table: LabelTable, history: History, open_because: str) -> list[Event]:
    """Return what a table says that the history does not say yet: the first spelling of a label stays."""
    events: list[Event] = []
    comments = table.frame["comment"] if "comment" in table.frame.columns else [None] * len(table)
    evidence = {"file": table.file.name, "sha256": table.sha256}
    evidence |= {OPEN: open_because} if open_because else {}
    for column, role in LABELS.items():
        if column not in table.frame.columns:
            continue
        known = history.labels(role)
        read = (
            Event(
                uid=uid,
                role=role,
                value=value,
                status=STATUSES[role],
                by=table.file.name,
                why=(comment or "") if role == "physician" else f"read from column {column}",
                evidence={**evidence},
            )
            for uid, value, comment in zip(table.frame["uid"], table.frame[column], comments, strict=True)
            if value is not None
        )
        added = [event for event in read if history.label(event) != known.get(event.uid)]
        if role == "original" and (other := [event.uid for event in added if event.uid in known]):
            raise InputError(
                "a table gives rows another original label than the tables before it",
                file=table.file,
                found=f"{len(other)} rows, row {other[0]} first",
                do="name it a recomputed or a final label, or leave the table out",
            )
        events += added
    return events
