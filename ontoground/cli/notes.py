"""``ontoground notes sections|mentions [--hadm ID]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ontoground.cli.app import group_of
from ontoground.cli.options import (
    DEFAULT_WORKSPACE,
    Address,
    Executor,
    Force,
    Json,
    Overrides,
    Workers,
    WorkspaceDir,
    example,
    open_to_work,
    open_workspace,
)

if TYPE_CHECKING:
    from rich.console import Console

    from ground.storage.workspace import Workspace

__all__ = ["group"]

group = group_of("notes", "Split the discharge summaries and find concepts in them.")

Hadm = Annotated[
    int | None, typer.Option("--hadm", metavar="ID", help="Only show this admission's notes; nothing is built")
]


@group.command(
    short_help="Split the notes into sections.",
    epilog=example("ontoground notes sections", "ontoground notes sections --hadm 20000001"),
)
def sections(
    hadm: Hadm = None,
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    workers: Workers = None,
    executor: Executor = None,
    address: Address = None,
    overrides: Overrides = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Split every discharge summary into sections that lose no character."""
    if hadm is not None:
        _show("sections", hadm, workspace, as_json)
        return
    opened = open_to_work(workspace, overrides, workers, executor, address)
    _build("sections", "sections_per_note", opened, force, as_json)


@group.command(
    short_help="Find concepts and what is said of them.",
    epilog=example(
        "ontoground notes mentions --workers 4",
        "ontoground notes mentions --workers 32 --executor ray --address auto",
        "ontoground notes mentions --hadm 20000001",
    ),
)
def mentions(
    hadm: Hadm = None,
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    workers: Workers = None,
    executor: Executor = None,
    address: Address = None,
    overrides: Overrides = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Find the concepts that the notes mention, and whether each is present, absent, historical and so on.

    With --hadm the note itself is printed on your terminal, its mentions marked and listed.
    """
    if hadm is not None:
        _show("mentions", hadm, workspace, as_json)
        return
    opened = open_to_work(workspace, overrides, workers, executor, address)
    _build("mentions", "mentions_by_section", opened, force, as_json)


def _build(name: str, query: str, opened: Workspace, force: bool, as_json: bool) -> None:
    from ontoground.cli.render import emit, note, table
    from ontoground.flow.pipeline import run_stages
    from ontoground.flow.session import writing
    from ontoground.views.query import fetch, query_text

    with writing(opened) as connection:
        outcomes = run_stages(opened, connection, [name], force=force, say=note)
        found = fetch(connection, query_text(query, None), 0)
    payload: dict[str, Any] = {
        "verb": f"notes {name}",
        "workspace": str(opened.root),
        "columns": found.columns,
        "rows": [list(row) for row in found.rows],
        "stages": [outcome.as_dict() for outcome in outcomes],
    }
    emit(payload, lambda out: out.print(table(found.columns, payload["rows"])), as_json=as_json)


def _show(name: str, hadm: int, root: Any, as_json: bool) -> None:
    from ontoground.cli.render import emit
    from ontoground.flow.session import reading
    from ontoground.views.notes import admission_notes, paint_mentions, paint_sections

    opened = open_workspace(root)
    with reading(opened) as connection:
        notes = admission_notes(connection, hadm, with_mentions=name == "mentions")
    payload: dict[str, Any] = {"verb": f"notes {name}", "workspace": str(root), "hadm_id": hadm, "notes": notes}

    def paint(out: Console) -> None:
        for one in notes:
            (paint_sections if name == "sections" else paint_mentions)(out, one)

    emit(payload, paint, as_json=as_json)
