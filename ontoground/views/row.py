"""One row of a built dataset with all that is known of it: what it says, why, its evidence, and the rows beside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from difflib import SequenceMatcher
from operator import itemgetter
from typing import Any

import duckdb

from ground.contracts.taxonomy import risk_levels
from ground.errors import InputError, OntogroundError
from ground.flow.manifest import read_manifest
from ground.storage.warehouse import set_variables
from ground.storage.workspace import Workspace
from kg.graph import ConceptGraph
from ontoground.flow.session import reading, records, rows_about
from ontoground.flow.status import row_files
from ontoground.views.concepts import Phrases
from ontoground.views.notes import admission_notes
from ontoground.views.query import exploring_datasets
from ontoground.views.sample import checks_of_false, reasons

__all__ = ["MEDIEVAL", "TOGETHER", "built_datasets", "changed", "explained", "row_with_group", "surrounded"]

TOGETHER = {
    "medieval": ["group_id"],
    "medieval_contradicted": ["statement", "split"],
    "medieval_contraindicated": ["group_id"],
    "medhal": ["pair_id"],
    "medval": ["triple_id"],
}
"""Columns that the rows share that were made together; of contradicted rows, those that make the same statement."""
MEDIEVAL = ("medieval", "medieval_contradicted", "medieval_contraindicated")
"""Those whose rows rest on mentions of a note; a copy of a supported row is in both, and is found in the first."""
AROUND = 240
"""Characters of the note before and behind a mention that are shown."""

Opened = AbstractContextManager[duckdb.DuckDBPyConnection]


def built_datasets(workspace: Workspace) -> list[str]:
    """Return the datasets that are built and whose rows can be explained, MediEval first."""
    names = [name for name in TOGETHER if row_files(workspace, name)]
    return sorted(names, key=lambda name: (not name.startswith("medieval"), name))


def row_with_group(
    connection: duckdb.DuckDBPyConnection, name: str, identifier: str
) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """Return a row of a dataset, or None, and all rows that were made with it, in the order of their identifiers."""
    set_variables(connection, {"dataset": name, "together": TOGETHER[name]})
    group = records(rows_about(connection, "ontoground/pages/row", identifier))
    wanted = next((member for member in group if member["id"] == identifier), None)
    return wanted, sorted(group, key=lambda member: str(member["id"]))


def surrounded(row: Mapping[str, Any], warehouse: Callable[[], Opened]) -> tuple[list[dict[str, Any]], str]:
    """Return the mentions that support or deny a row, with the note around them or why it cannot be read.

    With the note each has its assertion, certainty and what lessens that (reasons).

    Args:
        row: of MediEval.
        warehouse: opens the warehouse for reading.
    """
    notes: list[dict[str, Any]] = []
    missing = ""
    try:
        with warehouse() as connection:
            notes = admission_notes(connection, row["hadm_id"], with_mentions=True)
    except (OntogroundError, duckdb.CatalogException) as error:
        missing = str(error) if isinstance(error, OntogroundError) else "the notes are not loaded"
    return [_span(span, notes) for span in (*row["support_spans"], *row.get("denied_spans", ()))], missing


def _span(span: Mapping[str, Any], notes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    begin, end = span["begin_offset"], span["end_offset"]
    nowhere: Mapping[str, Any] = {"text": "", "mentions": []}
    at, note = next(
        ((at, entry) for at, entry in enumerate(notes) if entry["text"][begin:end] == span["text"]), (0, nowhere)
    )
    read = (mention for mention in note["mentions"] if (mention["begin_offset"], mention["end_offset"]) == (begin, end))
    judgement = next(({name: mention[name] for name in ("assertion", "certainty", "reasons")} for mention in read), {})
    around = {"before": note["text"][max(begin - AROUND, 0) : begin], "after": note["text"][end : end + AROUND]}
    return {**judgement, **span, **around, "note": at}


def changed(before: str, after: str) -> list[tuple[str, str]]:
    """Return a text in parts, each with what it is: same, added, or removed from the text before."""
    old, new = (re.findall(r"\s+|[^\s]+", text) for text in (before, after))
    parts: list[tuple[str, str]] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            parts.append(("same", "".join(new[c:d])))
            continue
        parts += [(what, text) for what, text in (("removed", "".join(old[a:b])), ("added", "".join(new[c:d]))) if text]
    return parts


def explained(workspace: Workspace, identifier: str) -> dict[str, Any]:
    """Return a row of any built dataset: what it says, its label, why, and its evidence with the note around it.

    Returns:
        dataset, manifest (``provenance_sha256`` of its build), id, says, label, split, why (lines), evidence (mentions
        with the note ``before`` and ``after``), missing (why there is no note around them), group (id, says and label
        of what was made with it).

    Raises:
        InputError: no built dataset has the row.
    """
    names = built_datasets(workspace)
    with exploring_datasets(workspace) as connection:
        for name in names:
            row, group = row_with_group(connection, name, identifier)
            if row is not None:
                break
        else:
            raise InputError(
                "no built dataset has this row",
                found=identifier,
                expected=f"an id of {', '.join(names)}" if names else "a dataset",
                do="ids: ontoground sql -c 'select id from medieval'" if names else "ontoground build medieval",
            )
    says, label = SAYS[name]
    evidence, missing = surrounded(row, lambda: reading(workspace)) if name in MEDIEVAL else ([], "")
    return {
        "dataset": name,
        "manifest": read_manifest(workspace.dataset(name.partition("_")[0])).get("provenance_sha256"),
        "id": identifier,
        "says": says(row),
        "label": label(row),
        "split": row["split"],
        "why": WHY[name](workspace, {**row, "support_spans": evidence[: len(row.get("support_spans", ()))]}, group),
        "evidence": evidence,
        "missing": missing,
        "group": [{"id": member["id"], "says": says(member), "label": label(member)} for member in group],
    }


def _medieval(workspace: Workspace, row: Mapping[str, Any], _group: Sequence[Mapping[str, Any]]) -> list[str]:
    phrases = Phrases.of_row(ConceptGraph.open(workspace.graph), row)
    return [*reasons(dict(row), phrases), *checks_of_false(row, phrases)]


def _medhal(_workspace: Workspace, row: Mapping[str, Any], _group: Sequence[Mapping[str, Any]]) -> list[str]:
    asked_of = f"{row['source']}, {row['task']}".replace("_", " ")
    return [f"made of {asked_of}", *([row["explanation"]] if row["explanation"] else [])]


def _medval(_workspace: Workspace, row: Mapping[str, Any], group: Sequence[Mapping[str, Any]]) -> list[str]:
    means = {level["level"]: f"{level['risk']}. {level['means']}" for level in risk_levels()}
    errors = [f"{error['category'].replace('_', ' ')}: {error['text']}" for error in row["errors"] or ()]
    clean = next((member["output"] for member in group if member["variant"] == "clean"), row["output"])
    edits = [f"{kind}: {' '.join(text.split())}" for kind, text in changed(clean, row["output"]) if kind != "same"]
    return [f"risk level {row['risk_level']}: {means[str(row['risk_level'])]}", *errors, *edits]


Row = Mapping[str, Any]
_STATEMENT: tuple[Callable[[Row], str], Callable[[Row], str]] = (itemgetter("statement"), itemgetter("quadrant"))
SAYS: dict[str, tuple[Callable[[Row], str], Callable[[Row], str]]] = {
    **dict.fromkeys(MEDIEVAL, _STATEMENT),
    "medhal": (itemgetter("statement"), lambda row: "factual" if row["label"] else "non-factual"),
    "medval": (lambda row: f"{row['task']}, {row['variant']}", lambda row: str(row["risk_level"])),
}
"""Of each dataset what a row says, and its label."""
WHY: dict[str, Callable[[Workspace, Row, Sequence[Row]], list[str]]] = {
    **dict.fromkeys(MEDIEVAL, _medieval),
    "medhal": _medhal,
    "medval": _medval,
}
