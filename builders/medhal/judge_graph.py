"""The judge of our own facts: the graph and the mentions, asked again.

Second road: shares no rules and no word tables with `builders.medhal.facts` and ``builders/medieval``.

The builder walks all facts of a cohort at once (`ConceptGraph.facts`) and carries mentions up to what they attest. The
judge runs the SQL of the one second road (`stewardship.second_road`, which builders may not import): paths by joins,
ends walked down to the mentions; and it looks for the names of what a statement calls absent in the text of the note.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

from builders.medhal.items import Pair
from builders.texts.origin import Refusal
from ground.errors import InputError
from ground.settings import BuildSettings
from ground.storage.sqlfiles import quoted_files, sql_text
from ground.storage.warehouse import number_of, run_sql, set_variables
from ground.storage.workspace import Workspace

__all__ = ["GraphJudge"]

GRAPH = "stewardship/second_road/graph"
END_NAMES = "stewardship/second_road/mentions/end_name"
RECORDS = "builders/medhal/record_fact_end"
STARTS_AT_ONCE = 4_000
"""Concepts that walks are begun from at once."""
SHORTEST_NAME = 5
"""Shorter names are not looked for in a note: they are often abbreviations of something else, which only the mention
stage can tell."""


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
        self._settings = _settings_of(workspace)
        self._ready = False

    def agree(self, pairs: Sequence[Pair]) -> list[Refusal | None]:
        """Return for each pair None where both labels are confirmed, else why not.

        The first statement is confirmed if its relation is stated and the context documents both ends. The second is
        confirmed if it fails as its quadrant and its explanation say: nothing in the whole note or the codes means
        the end that was put in (Q2), no path of any tier relates the two in either direction (Q3), or both (Q4).
        """
        if not self._ready:
            self._prepare()
        rows = self._rows(pairs)
        notes = self._notes(rows)
        names = self._end_names(rows)
        return [self._verdict(pair, rows, notes, names) for pair in pairs]

    def _prepare(self) -> None:
        """Find for every statement of the dataset what the graph and the records say of it, once."""
        files = quoted_files(sorted((self._workspace.dataset("medieval") / "data").glob("*.parquet")))
        self._connection.execute(
            "create or replace temp table labelled as select id, subject_id, hadm_id, predicate, head_cui, tail_cui, "
            f"head_name, tail_name, is_true, tier, path, replaced_end from read_parquet({files})"
        )
        set_variables(
            self._connection,
            {
                **self._settings.attesting(),
                "tiers": list(self._settings.truth_tiers),
                "starts_at_once": STARTS_AT_ONCE,
            },
        )
        for step in ("claim", "walk", "step", "pair", "cover"):
            run_sql(self._connection, f"{GRAPH}/{step}")
        for lot in range(number_of(self._connection, "select coalesce(max(lot) + 1, 0) from start_pair")):
            set_variables(self._connection, {"lot": lot})
            run_sql(self._connection, f"{GRAPH}/related")
        run_sql(self._connection, RECORDS)
        self._connection.execute(f"create or replace temp table end_name as {sql_text(END_NAMES)}")
        self._ready = True

    def _rows(self, pairs: Sequence[Pair]) -> dict[str, dict[str, Any]]:
        """Return the two statements of each pair by their ids."""
        names = [name for pair in pairs for name in _statement_ids(pair)]
        subjects = [pair.origin.subject_id for pair in pairs if pair.origin.subject_id is not None]
        if not subjects:
            return {}
        cursor = self._connection.execute(
            "select * from record_fact_end where subject_id between $low and $high and id in (select unnest($names))",
            {"low": min(subjects), "high": max(subjects), "names": names},
        )
        columns = [column[0] for column in cursor.description or ()]
        return {row[0]: dict(zip(columns, row, strict=True)) for row in cursor.fetchall()}

    def _notes(self, rows: Mapping[str, Mapping[str, Any]]) -> dict[int, str]:
        """Return the note of each admission as plain words, closed by spaces."""
        wanted = sorted({row["hadm_id"] for row in rows.values()})
        cursor = self._connection.execute(
            "select hadm_id, text from ehr.discharge_note where hadm_id in (select unnest($wanted)) "
            "order by hadm_id, note_id",
            {"wanted": wanted},
        ).fetchall()
        texts: dict[int, str] = {}
        for hadm_id, text in cursor:
            texts[hadm_id] = texts.get(hadm_id, " ") + _in_words(text) + " "
        return texts

    def _end_names(self, rows: Mapping[str, Mapping[str, Any]]) -> dict[str, set[str]]:
        """Return the names of the ends that were put in, of their forms and of what is below, between spaces."""
        wanted = sorted({row[f"{row['replaced_end']}_cui"] for row in rows.values() if row["replaced_end"] != "none"})
        cursor = self._connection.execute(
            "select cui, list(name) from end_name where cui in (select unnest($wanted)) group by cui",
            {"wanted": wanted},
        ).fetchall()
        return {
            cui: {f" {lowered} " for lowered in map(_in_words, names) if len(lowered) >= SHORTEST_NAME}
            for cui, names in cursor
        }

    def _verdict(
        self,
        pair: Pair,
        rows: Mapping[str, Mapping[str, Any]],
        notes: Mapping[int, str],
        names: Mapping[str, set[str]],
    ) -> Refusal | None:
        factual, wrong = (rows.get(name) for name in _statement_ids(pair))
        if factual is None or wrong is None:
            return Refusal("judge_graph_knows_no_such_statement")
        context = _in_words(pair.context or "")
        if not factual["is_stated"] or not all(_documented(factual, role, context) for role in ("head", "tail")):
            return Refusal("judge_graph_calls_factual_wrong")
        if not (_names_both_ends(pair.factual.statement, factual) and _names_both_ends(pair.wrong.statement, wrong)):
            return Refusal("judge_graph_reads_other_names")
        put_in = wrong["replaced_end"]
        note = notes.get(wrong["hadm_id"], "")
        absent = wrong[f"{put_in}_silent"] and not any(name in note for name in names.get(wrong[f"{put_in}_cui"], ()))
        if not _fails(pair.origin.inner_id[-2:], wrong, context, absent=absent):
            return Refusal("judge_graph_does_not_call_wrong_wrong")
        return None


def _fails(quadrant: str, row: Mapping[str, Any], context: str, *, absent: bool) -> bool:
    """Tell whether a statement fails as its quadrant says.

    Args:
        quadrant: of the statement.
        row: the statement's.
        context: in plain words.
        absent: nothing in the note or the codes means the end that was put in.
    """
    put_in = row["replaced_end"]
    kept = "tail" if put_in == "head" else "head"
    if quadrant == "Q2":
        fails = absent and row["is_stated"]
    else:
        fails = not row["is_related"] and (absent if quadrant == "Q4" else _documented(row, put_in, context))
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


def _statement_ids(pair: Pair) -> tuple[str, str]:
    """Return the ids of the two statements in MediEval."""
    return pair.origin.inner_id[:-2] + "Q1", pair.origin.inner_id


def _in_words(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def _documented(row: Mapping[str, Any], role: str, context: str) -> bool:
    """Tell whether words that document an end stand in the context that the row shows."""
    spaced = f" {context} "
    return any(f" {_in_words(text)} " in spaced for text in row[f"{role}_texts"] or ())


def _names_both_ends(statement: str, row: Mapping[str, Any]) -> bool:
    lowered = statement.lower()
    return all(row[f"{role}_name"].lower() in lowered for role in ("head", "tail"))
