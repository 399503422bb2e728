"""A small open world taken through the whole flow, for the tests of the MediEval builder and its validator."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from builders.concepts import map_codes
from builders.medieval.build import BuildReport
from ehr.notes import find_mentions, split_notes
from ehr.sources.mimic import load_mimic
from ground.storage.warehouse import connect
from ground.storage.workspace import Workspace
from kg.build import build_graph
from kg.load import load_rxnorm, load_umls
from openworld import World

Row = dict[str, Any]
INVERSE = {"may_be_treated_by": "treats", "may_be_diagnosed_by": "diagnoses"}
SYMMETRIC = {"related_to", "associated_with", "co-occurs_with"}


@dataclass(frozen=True)
class Built:
    """A built dataset, and where it was built; the connection is open."""

    workspace: Workspace
    connection: duckdb.DuckDBPyConnection
    report: BuildReport

    @property
    def folder(self) -> Path:
        """The dataset's folder."""
        return self.workspace.dataset("medieval")

    @cached_property
    def table(self) -> pa.Table:
        """All rows, split after split."""
        return table_of(self.folder)

    @cached_property
    def rows(self) -> list[Row]:
        """All rows as plain values."""
        rows: list[Row] = self.table.to_pylist()
        return rows

    @cached_property
    def groups(self) -> dict[str, dict[str, Row]]:
        """Rows by group and quadrant."""
        groups: dict[str, dict[str, Row]] = defaultdict(dict)
        for row in self.rows:
            groups[row["group_id"]][row["quadrant"]] = row
        return groups


def first(rows: list[Row], quadrant: str) -> Row:
    """Return the first row of a quadrant."""
    return next(row for row in rows if row["quadrant"] == quadrant)


def data_files(folder: Path) -> list[Path]:
    """Return the files of rows of a dataset."""
    return sorted((folder / "data").glob("*.parquet"))


def table_of(folder: Path) -> pa.Table:
    """Return all rows of a dataset."""
    return pa.concat_tables([pq.read_table(file) for file in data_files(folder)])


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Return the content of every Parquet file of a dataset by its path in it."""
    return {f.relative_to(folder).as_posix(): f.read_bytes() for f in sorted(folder.rglob("*.parquet"))}


def run_stages(connection: duckdb.DuckDBPyConnection, workspace: Workspace, world: World) -> None:
    """Run every stage before the builder on a rendered world."""
    settings = workspace.settings
    load_umls(connection, world.meta, settings.load)
    load_rxnorm(connection, world.rxnorm, settings.load)
    load_mimic(connection, world.mimic, settings.load)
    build_graph(connection, workspace.graph, settings.load)
    map_codes(connection)
    split_notes(connection, settings)
    find_mentions(connection, settings)


def stage(root: Path, world: World, settings: str) -> Path:
    """Make a workspace in which all stages before the builder are done, and close it."""
    root.mkdir(mode=0o700)
    (root / "ontoground.toml").write_text(settings)
    workspace = Workspace.create(root)
    connection = connect(workspace.warehouse, workspace.settings.run)
    run_stages(connection, workspace, world)
    connection.close()
    return root


def copied(staged: Path, root: Path, settings: str | None = None) -> Workspace:
    """Return a copy of a workspace, with other settings where they are given."""
    shutil.copytree(staged, root)
    if settings is not None:
        (root / "ontoground.toml").write_text(settings)
    return Workspace.create(root)


class Truth:
    """What the open world says of itself, with the closures of docs/definitions.md#tier, found without the builder."""

    def __init__(self, folder: Path) -> None:
        with (folder / "facts.tsv").open(encoding="utf-8") as file:
            lines = list(csv.DictReader(file, delimiter="\t"))
        self.facts = {(line["head_cui"], line["predicate"], line["tail_cui"]) for line in lines}
        self.up: dict[str, set[str]] = defaultdict(set)
        self.forms: dict[str, set[str]] = defaultdict(set)
        for head, predicate, tail in self.facts:
            if predicate in ("is_a", "classified_as", "has_pharmacologic_class"):
                self.up[head].add(tail)
            if predicate in ("tradename_of", "form_of"):
                self.forms[head].add(tail)
                self.forms[tail].add(head)
        with gzip.open(folder / "notes.jsonl.gz", "rt", encoding="utf-8") as file:
            self.notes: dict[int, Row] = {note["hadm_id"]: note for note in map(json.loads, file)}

    def same(self, cui: str) -> set[str]:
        """Return a concept and its brands and salts."""
        return _reached([cui], self.forms)

    def above(self, cui: str) -> set[str]:
        """Return a concept, its forms and all their classes."""
        return _reached(self.same(cui), self.up)

    def below(self, cui: str) -> set[str]:
        """Return a concept, what it is a class of, and their forms."""
        down: dict[str, set[str]] = defaultdict(set)
        for one, others in (*self.up.items(), *self.forms.items()):
            for other in others:
                down[other].add(one)
                if other in self.forms[one]:
                    down[one].add(other)
        return _reached([cui], down)

    def holds(self, head: str, predicate: str, tail: str) -> bool:
        """Tell whether a relation holds between the concepts or their forms, or follows from the head's classes."""
        if predicate in INVERSE:
            head, predicate, tail = tail, INVERSE[predicate], head
        if predicate in ("classified_as", "has_pharmacologic_class"):
            return bool(self.above(head) & self.same(tail) - self.same(head))
        return self._fact(self.above(head), predicate, self.same(tail)) or (
            predicate in SYMMETRIC and self._fact(self.same(tail), predicate, self.same(head))
        )

    def states(self, head: str, predicate: str, tail: str) -> bool:
        """Tell whether the world has exactly this fact, or its inverse."""
        if predicate in INVERSE:
            head, predicate, tail = tail, INVERSE[predicate], head
        return (head, predicate, tail) in self.facts or (
            predicate in SYMMETRIC and (tail, predicate, head) in self.facts
        )

    def _fact(self, heads: Iterable[str], predicate: str, tails: Iterable[str]) -> bool:
        tails = set(tails)
        return any((head, predicate, tail) in self.facts for head in heads for tail in tails)


def _reached(start: Iterable[str], edges: dict[str, set[str]]) -> set[str]:
    found, open_ = set(start), list(start)
    while open_:
        for other in edges.get(open_.pop(), ()):
            if other not in found:
                found.add(other)
                open_.append(other)
    return found


def deny_what_others_have(world: World) -> None:
    """Add to each note that the patient has not what other patients have, one sentence for each name.

    Every fifth one says that a drug is given though it is contraindicated, as the world's patients never do.
    """
    with gzip.open(world.truth / "notes.jsonl.gz", "rt", encoding="utf-8") as file:
        mentions = [mention for line in file for mention in json.loads(line)["mentions"]]
    had = sorted(
        {
            mention["text"].lower()
            for mention in mentions
            if mention["type"] in ("disorder", "finding") and mention["assertion"] == "present"
        }
    )
    path = world.mimic / "note" / "discharge.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        notes = list(csv.DictReader(file))
    for number, note in enumerate(notes):
        if number % 5 == 0:
            note["text"] = note["text"].replace(
                "CHRONIC ISSUES:\n", "CHRONIC ISSUES:\n# Asthma: Continued nadolol.\n", 1
            )
        text = " ".join(note["text"].lower().split())
        free = [name for name in had if not any(word in text for word in name.split())]
        denied = "".join(f"No {name}.\n" for name in free)
        note["text"] = note["text"].replace("ACTIVE ISSUES:\n", f"{denied}\nACTIVE ISSUES:\n", 1)
    with gzip.open(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(notes[0]))
        writer.writeheader()
        writer.writerows(notes)
