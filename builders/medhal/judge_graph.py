"""The judge of our own facts: the graph and the mentions, asked again.

Second road: shares no rules and no word tables with `builders.medhal.facts` and ``builders/medieval``.

The builder walks all facts of a cohort at once (`ConceptGraph.facts`) and carries mentions up to what they attest. The
judge asks `ConceptGraph.relations` for one pair at a time in both directions, walks from each end down to the mentions,
and looks for the names of what is said to be absent in the text of the note. Ends are walked as `builders.validate`
does (``sql/stewardship/second_road/cover.sql``); the graph's own code is the one thing that all of them share.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import duckdb

from builders.medhal.items import Pair
from builders.texts.origin import Refusal
from ground.errors import InputError
from ground.settings import BuildSettings
from ground.storage.sqlfiles import quoted_files, sql_text
from ground.storage.warehouse import set_variables
from ground.storage.workspace import Workspace
from kg.graph import ConceptGraph

__all__ = ["GraphJudge"]

STEPS = ("stewardship/second_road/claim", "stewardship/second_road/cover", "builders/medhal/record_fact_end")
KEPT_ANSWERS = 200_000
SHORTEST_NAME = 5
"""Letters of a name from which on its words in a note are taken for a mention: shorter ones are often abbreviations
of something else, which the mention stage can tell apart."""


class GraphJudge:
    """Confirms both labels of pairs that `builders.medhal.facts` made; a `builders.medhal.judges.Judge`.

    Args:
        workspace: its dataset ``medieval``, graph and settings are read.
        connection: the warehouse, which may be read-only; temporary tables are made in it once.
    """

    name = "graph"

    def __init__(self, workspace: Workspace, connection: duckdb.DuckDBPyConnection) -> None:
        self._workspace = workspace
        self._connection = connection
        self._graph = ConceptGraph.open(workspace.graph)
        self._settings = _settings_of(workspace)
        self._ready = False
        # The same facts and concepts come back in admission after admission.
        self._is_true = lru_cache(maxsize=KEPT_ANSWERS)(self._stated)
        self._is_related = lru_cache(maxsize=KEPT_ANSWERS)(self._related)
        self._names = lru_cache(maxsize=KEPT_ANSWERS)(self._names_of)

    def agree(self, pairs: Sequence[Pair]) -> list[Refusal | None]:
        """Return for each pair None where both labels are confirmed, else why not.

        The first statement is confirmed if its relation is stated and the context documents both ends. The second is
        confirmed if it fails as its quadrant and its explanation say: nothing in the whole note or the codes means
        the end that was put in (Q2), no path of any tier relates the two in either direction (Q3), or both (Q4).
        """
        if not self._ready:
            self._prepare()
        rows = self._rows(pairs)
        notes = self._notes(pairs, rows)
        return [self._verdict(pair, rows, notes) for pair in pairs]

    def _prepare(self) -> None:
        """Find for every statement of the dataset what the records say of its two ends, once."""
        files = quoted_files(sorted((self._workspace.dataset("medieval") / "data").glob("*.parquet")))
        self._connection.execute(
            "create or replace temp table labelled as select id, subject_id, hadm_id, predicate, head_cui, tail_cui, "
            f"head_name, tail_name, is_true, tier, path, replaced_end from read_parquet({files})"
        )
        set_variables(self._connection, {**self._settings.attesting()})
        for step in STEPS:
            self._connection.execute(sql_text(step))
        self._ready = True

    def _rows(self, pairs: Sequence[Pair]) -> dict[str, dict[str, Any]]:
        """Return the two statements of each pair by their ids."""
        names = [name for pair in pairs for name in _names(pair)]
        subjects = [pair.origin.subject_id for pair in pairs if pair.origin.subject_id is not None]
        if not subjects:
            return {}
        found = self._connection.execute(
            "select * from record_fact_end where subject_id between $low and $high and id in (select unnest($names))",
            {"low": min(subjects), "high": max(subjects), "names": names},
        )
        columns = [column[0] for column in found.description or ()]
        return {row[0]: dict(zip(columns, row, strict=True)) for row in found.fetchall()}

    def _notes(self, pairs: Sequence[Pair], rows: Mapping[str, Mapping[str, Any]]) -> dict[int, str]:
        """Return the note of each admission as plain words, closed by spaces."""
        wanted = sorted({row["hadm_id"] for row in rows.values()})
        found = self._connection.execute(
            "select hadm_id, text from mimiciv_note.discharge where hadm_id in (select unnest($wanted)) "
            "order by hadm_id, note_id",
            {"wanted": wanted},
        ).fetchall()
        texts: dict[int, str] = {}
        for hadm_id, text in found:
            texts[hadm_id] = texts.get(hadm_id, " ") + _plain(text) + " "
        return texts

    def _stated(self, head: str, predicate: str, tail: str) -> bool:
        """Tell whether a path of the tiers that make a statement true says so."""
        found = self._graph.relations(head, tail, tiers=self._settings.truth_tiers, paths_per_pattern=1)
        return any(relation.predicate == predicate for relation in found)

    def _related(self, head: str, tail: str) -> bool:
        """Tell whether a path of any tier leads from one to the other, either way."""
        ends = ((head, tail), (tail, head))
        return any(self._graph.relations(*pair, paths_per_pattern=1) for pair in ends)

    def _names_of(self, cui: str) -> tuple[str, ...]:
        """Return the names of a concept and of its other forms as plain words, between spaces."""
        forms = (cui, *self._graph.equivalents(cui))
        names = {_plain(name) for form in forms for name in self._graph.names(form)}
        return tuple(sorted(f" {name} " for name in names if len(name) >= SHORTEST_NAME))

    def _verdict(self, pair: Pair, rows: Mapping[str, Mapping[str, Any]], notes: Mapping[int, str]) -> Refusal | None:
        one, other = (rows.get(name) for name in _names(pair))
        if one is None or other is None:
            return Refusal("judge_graph_knows_no_such_statement")
        context = _plain(pair.context or "")
        is_true = self._is_true(one["head_cui"], one["predicate"], one["tail_cui"])
        if not is_true or not all(_documented(one, role, context) for role in ("head", "tail")):
            return Refusal("judge_graph_calls_factual_wrong")
        if not (_tells(pair.factual.statement, one) and _tells(pair.wrong.statement, other)):
            return Refusal("judge_graph_reads_other_names")
        if not self._fails(pair.origin.inner_id[-2:], other, context, notes):
            return Refusal("judge_graph_does_not_call_wrong_wrong")
        return None

    def _fails(self, quadrant: str, row: Mapping[str, Any], context: str, notes: Mapping[int, str]) -> bool:
        """Tell whether a statement fails as its quadrant says."""
        put_in = row["replaced_end"]
        kept = "tail" if put_in == "head" else "head"
        note = notes.get(row["hadm_id"], "")
        absent = row[f"{put_in}_silent"] and not any(name in note for name in self._names(row[f"{put_in}_cui"]))
        if quadrant == "Q2":
            fails = absent and self._is_true(row["head_cui"], row["predicate"], row["tail_cui"])
        else:
            fails = not self._is_related(row["head_cui"], row["tail_cui"])
            fails &= absent if quadrant == "Q4" else _documented(row, put_in, context)
        return fails and _documented(row, kept, context)


def _settings_of(workspace: Workspace) -> BuildSettings:
    """Return the settings that the dataset was built with."""
    file = workspace.dataset("medieval") / "manifest.json"
    try:
        return BuildSettings.model_validate(json.loads(file.read_text(encoding="utf-8"))["settings"]["build"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            "the MediEval dataset has no readable manifest",
            file=file,
            expected="the manifest.json that `ontoground build medieval` wrote",
            do="build it again",
        ) from error


def _names(pair: Pair) -> tuple[str, str]:
    """Return the ids of the two statements in MediEval."""
    return pair.origin.inner_id[:-2] + "Q1", pair.origin.inner_id


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def _documented(row: Mapping[str, Any], role: str, context: str) -> bool:
    """Tell whether words that document an end stand in the context that the row shows."""
    shown = f" {context} "
    return any(f" {_plain(text)} " in shown for text in row[f"{role}_texts"] or ())


def _tells(statement: str, row: Mapping[str, Any]) -> bool:
    plain = statement.lower()
    return all(row[f"{role}_name"].lower() in plain for role in ("head", "tail"))
