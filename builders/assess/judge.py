"""Quadrants of any statements about any notes, by tables and rules of the builder of MediEval's rows.

The notes become the records of a warehouse in memory, whose graph is the workspace's. Truth is asked of the graph and
support of the notes. Falsehood needs what the builder asks for; the workspace's own records are looked at, too. What
neither side says for sure is not told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import duckdb
import pyarrow as pa

from builders.assess.claims import BENEFIT, CLASS, Alternative, Claim, Reading, Unread, claim_of
from builders.medieval.bare_text import find_names
from builders.medieval.facts import find_true, read_knowledge, read_support, run_steps
from builders.medieval.groups import TYING
from builders.medieval.judging import related_ends
from builders.medieval.records import FEWEST_TOGETHER, LINKED_SHARE
from ehr.notes import note_tables
from ground.flow.executors import open_threads
from ground.json_record import JsonRecord
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import add_rows, arrow_of, run_sql, set_table, set_variables
from kg.graph import ConceptGraph

if TYPE_CHECKING:
    from ehr.reading import TextReader
    from ground.storage.workspace import Workspace

__all__ = ["Assessed", "assess"]

QUADRANTS = {(True, True): "Q1", (True, False): "Q2", (False, True): "Q3", (False, False): "Q4"}
RECORDS = ("ehr.admission", "ground.mention", "ground.segment", "ground.admission_concept")
"""What is looked at of the workspace's own records."""


@dataclass(frozen=True)
class Assessed(JsonRecord):
    """What is told of one statement (docs/schemas/assess.json).

    Attributes:
        statement: as it was given.
        quadrant: Q1 to Q4, or None: it cannot be told.
        is_true, is_supported: None where that is not known.
        why: in words, what the answer rests on, or why there is none.
        claim: the relation that was read, in the words of the graph.
        path: what makes it true, as rows have it.
        ends: what the note says of each end, with the words of the note.
    """

    statement: str
    quadrant: str | None
    is_true: bool | None
    is_supported: bool | None
    why: str
    claim: str | None = None
    path: list[dict[str, Any]] = field(default_factory=list)
    ends: list[dict[str, Any]] = field(default_factory=list)


def assess(
    connection: duckdb.DuckDBPyConnection,
    workspace: Workspace,
    reader: TextReader,
    graph: ConceptGraph,
    notes: Sequence[str],
    asked: Sequence[tuple[int, str]],
) -> list[Assessed]:
    """Return what is told of statements.

    Args:
        connection: to the workspace's warehouse; nothing in it is changed.
        workspace: whose release and records are asked.
        reader: of texts with the names of its release.
        graph: of the release.
        notes: texts.
        asked: number of the note, and the statement.
    """
    readings = reader.read_all([statement for _, statement in asked], headers=False)
    claims = [claim_of(statement, reading, graph) for (_, statement), reading in zip(asked, readings, strict=True)]
    read = [(note, claim) for (note, _), claim in zip(asked, claims, strict=True) if isinstance(claim, Claim)]
    told: list[Assessed] = []
    if read:
        with _world(connection, workspace, reader, notes):
            judged = _Judged(connection, graph, workspace, read)
            told = [judged.of(note, claim) for note, claim in read]
    next_told = iter(told)
    answers = (
        Assessed("", None, None, None, claim.reason) if isinstance(claim, Unread) else next(next_told)
        for claim in claims
    )
    return [replace(answer, statement=statement) for answer, (_, statement) in zip(answers, asked, strict=True)]


@contextmanager
def _world(
    connection: duckdb.DuckDBPyConnection, workspace: Workspace, reader: TextReader, notes: Sequence[str]
) -> Iterator[None]:
    """Make a warehouse in memory the current one: note n is of admission n, the graph is the workspace's."""
    (outer,) = connection.execute("select current_database()").fetchone() or ("",)
    tables = connection.execute(
        "select table_schema, table_name from information_schema.tables where table_catalog = $1 "
        "and (table_schema = 'kg' or list_contains($2, table_schema || '.' || table_name))",
        [outer, list(RECORDS)],
    ).fetchall()
    # A name of its own: threads share what is attached to one file.
    name = f"notes_{uuid4().hex}"
    connection.execute(f"attach ':memory:' as {name} (read_write)")
    try:
        connection.execute(f"use {name}")
        connection.execute(sql_text("builders/assess/notes"))
        number = pa.array(range(len(notes)), pa.int64())
        texts = pa.table({"note_id": number.cast(pa.string()), "hadm_id": number, "text": pa.array(notes, pa.string())})
        sections = workspace.settings.build.context_sections
        written = {f"ground.{of}": rows for of, rows in note_tables(reader, texts, workspace.rules, sections).items()}
        for table, rows in {**written, "ehr.note": texts}.items():
            add_rows(connection, table, rows)
        for schema, table in tables:
            into = "kg" if schema == "kg" else "records"
            connection.execute(f'create view {into}."{table}" as from {outer}.{schema}."{table}"')
        for absent in {*RECORDS} - {f"{schema}.{table}" for schema, table in tables}:
            connection.execute(f"create view records.{absent.partition('.')[2]} as from {absent} where false")
        yield
    finally:
        connection.execute(f"use {outer}")
        connection.execute(f"detach {name}")


def _table(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return pa.table({name: pa.array(column) for name, column in zip(names, columns, strict=True)})


def _by_claim(connection: duckdb.DuckDBPyConnection, query: str) -> dict[Alternative, str]:
    """Return claim -> what a query of (head, predicate, tail, text) says of it first."""
    texts: dict[Alternative, str] = {}
    for *claim, text in connection.execute(query).fetchall():
        texts.setdefault(Alternative(*claim), text)
    return texts


def _agreed(values: set[bool | None], claim: Claim, *, sure: bool) -> bool | None:
    """Return what holds whatever the names mean; sources split what is known of one thing among several concepts."""
    if claim.is_one_thing and values == {sure, None}:
        return sure
    return values.pop() if len(values) == 1 else None


class _Judged:
    """What graph and notes say of all claims."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        graph: ConceptGraph,
        workspace: Workspace,
        read: Sequence[tuple[int, Claim]],
    ) -> None:
        self._graph, settings = graph, workspace.settings.build
        asked = sorted({(*each,) for _, claim in read for reading in claim.readings for each in reading.alternatives})
        ends = sorted({cui for _, claim in read for candidates in claim.candidates for cui in candidates})
        # Not the cohort's size: all notes are asked about.
        read_support(connection, graph, settings.model_copy(update={"admissions": None}), ends)
        set_table(connection, "asked_claim", _table(("head_cui", "predicate", "tail_cui"), asked))
        of_notes = sorted(
            {(note, cui, ",".join(sorted(each))) for note, claim in read for each in claim.candidates for cui in each}
        )
        set_table(connection, "asked_end_of", _table(("number", "cui", "term"), of_notes))
        connection.execute("insert into fact_end select distinct number, cui, 0 from asked_end_of")
        connection.execute("insert into admission_fact select hadm_id, number, 0 from admission")
        set_variables(
            connection,
            {
                # A person's falsehood is none of close relatives, as those of rows are: one edge is knowledge enough.
                "known_edges": 1,
                "company": 3,
                "max_area_share": settings.max_area_share,
                "max_lift": settings.max_lift,
                "tying": list(TYING),
                "fewest_together": FEWEST_TOGETHER,
                "linked_share": LINKED_SHARE,
            },
        )
        read_knowledge(connection)
        run_steps(connection, "truth", ["twin", "near_fact"])
        find_true(connection, graph, settings, ends, among="asked_claim")
        run_sql(connection, "builders/assess/asked")
        run_steps(connection, "groups", ["nameable", "cover"])
        connection.execute("create or replace temp table asked_concept as select code from nameable")
        set_table(connection, "related_end", related_ends(connection, graph, ends))
        run_steps(connection, "groups", ["false_ground"])
        run_sql(connection, "builders/assess/together")
        self._name_codes(connection, graph, workspace)
        self._true = _by_claim(connection, "select head_cui, predicate, tail_cui, pattern from true_fact order by all")
        self._against = _by_claim(connection, sql_text("builders/assess/against"))
        said = arrow_of(connection, sql_text("builders/assess/said")).to_pylist()
        self._said = {(row["number"], row["cui"], row["term"]): row for row in said}

    def _name_codes(self, connection: duckdb.DuckDBPyConnection, graph: ConceptGraph, workspace: Workspace) -> None:
        """Make ``named_code``: what names in the bare text of each note leave unclear."""
        meant = find_names(connection, graph, open_threads(workspace.settings.run), radiology=False)
        named = arrow_of(connection, "select number, name from named")
        rows = [
            (number, code)
            for number, name in zip(*(column.to_pylist() for column in named.columns), strict=True)
            for code in meant.concept[meant.begin[name] : meant.begin[name + 1]].tolist()
        ]
        set_table(connection, "named_code", _table(("number", "code"), rows))

    def of(self, note: int, claim: Claim) -> Assessed:
        """Return what is told of one statement: what holds of each thing that its names may mean."""
        each = [self._told(note, claim, reading) for reading in claim.readings]
        is_true = _agreed({told.is_true for told in each}, claim, sure=not claim.negated)
        is_supported = _agreed({told.is_supported for told in each}, claim, sure=True)
        first = max(each, key=lambda told: (told.is_true is is_true, told.is_supported is is_supported))
        if (first.is_true, first.is_supported) == (is_true, is_supported):
            return first
        why = f"a name may mean several things, of which not the same holds: {first.why}"
        return replace(first, quadrant=None, is_true=is_true, is_supported=is_supported, why=why)

    def _told(self, note: int, claim: Claim, reading: Reading) -> Assessed:
        is_true, why, path, said_of = self._truth(claim, reading)
        called = zip(reading.ends, claim.words, claim.candidates, strict=True)
        ends = [{"cui": cui, "called": word, **self._end(note, cui, candidates)} for cui, word, candidates in called]
        says = {end["said"] for end in ends}
        is_supported = True if says == {"attested"} else False if says & {"silent", "denied"} else None
        if is_supported is None:
            why += "; " + "; ".join(f"{end['called']}: {end['why']}" for end in ends if end["why"])
        known = is_true is not None and is_supported is not None
        quadrant = QUADRANTS[bool(is_true), bool(is_supported)] if known else None
        return Assessed("", quadrant, is_true, is_supported, why, said_of, path, ends)

    def _end(self, note: int, cui: str, candidates: Sequence[str]) -> dict[str, Any]:
        row = self._said[note, cui, ",".join(sorted(candidates))]
        left_out = ("number", "cui", "term")
        return {"name": self._graph.name(cui), **{name: row[name] for name in row if name not in left_out}}

    def _named(self, reason: str, relation: Alternative) -> str:
        """Return a reason of the builder of MediEval with the names of what it calls head and tail."""
        head, tail = self._graph.name(relation.head), self._graph.name(relation.tail)
        called = {"the ends": f"{head} and {tail}", "the head": head, "the substance": head, "the tail": tail}
        return re.sub("|".join(called), lambda words: called[words[0]], reason)

    def _words(self, relation: Alternative) -> str:
        return f"{self._graph.name(relation.head)} {relation.predicate} {self._graph.name(relation.tail)}"

    def _truth(self, claim: Claim, reading: Reading) -> tuple[bool | None, str, list[dict[str, Any]], str]:
        """Return whether it is true, why, the path and the relation in words."""
        for concept, above in claim.kinds:
            if not self._is_kind(concept, above):
                first = self._words(reading.alternatives[0])
                kind = f"{self._graph.name(concept)} is a type of {self._graph.name(above)}"
                return None, f"that {kind} is not known", [], first
        for relation in reading.alternatives:
            if pattern := self._pattern(relation):
                if not claim.whole:
                    return None, "the graph relates the two, but more is claimed", [], self._words(relation)
                path = [dict(edge) for edge in self._graph.path(relation.head, relation.tail, pattern)]
                why = "the graph says it" if len(path) == 1 else f"the graph says it in {len(path)} steps"
                return not claim.negated, why, path, self._words(relation)
        # What does good is not told from what prevents: nothing at all relates ends of which one is false.
        benefits = [relation for relation in reading.alternatives if relation.predicate == BENEFIT[0]]
        for relation in benefits or reading.alternatives:
            if reason := self._against.get(relation):
                why = f"no path makes it true, and it is not called false: {self._named(reason, relation)}"
                return None, why, [], self._words(relation)
        first = self._words(reading.alternatives[0])
        if claim.negated and not claim.whole:
            return None, "nothing relates the two, but more is claimed than what is denied", [], first
        why = "nothing in graph or records relates the ends, and the graph knows such relations of both"
        return claim.negated, self._named(why, reading.alternatives[0]), [], first

    def _pattern(self, relation: Alternative) -> str | None:
        """Return the pattern that makes a relation true; what is of a class is of the class's own classes, too."""
        known = self._true.get(relation)
        if known or relation.predicate != CLASS:
            return known
        steps = (f"{form}{CLASS} . {CLASS}" for form in ("", "drug_form_of . ", "has_drug_form . "))
        return next((each for each in steps if self._graph.path(relation.head, relation.tail, each)), None)

    def _is_kind(self, concept: str, above: str) -> bool:
        classes = {edge["tail_cui"] for edge in self._graph.neighbours(concept, CLASS)}
        return above in self._graph.ancestors(concept, 2) or above in classes
