"""``ontoground validate DATASET_DIR``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ontoground.cli.app import app
from ontoground.cli.options import DEFAULT_WORKSPACE, Json, WorkspaceDir, example, open_workspace

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["register"]

EXAMPLE = example("ontoground validate work/datasets/medieval --workspace work")
SHOWN = 20


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(name="validate", short_help="Derive every label of a dataset again and compare.", epilog=EXAMPLE)(
        _validate
    )


def _validate(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET_DIR", help="A dataset built in this workspace")],
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Derive every label of a dataset again from the warehouse, on another road than the builder took.

    The warehouse's own rules (sections tile the note, offsets fit the text) are checked too. Ends with 0 where all
    agree, with 1 where anything does not; disagreements are listed by row and check.
    """
    from ontoground.cli.render import emit
    from ontoground.cli.validate_job import validated

    opened = open_workspace(workspace)
    result = validated(opened, dataset)
    payload = {"verb": "validate", "workspace": str(workspace), "dataset": str(dataset), **result}
    emit(payload, lambda out: _paint(out, result), as_json=as_json)
    if not result["agrees"]:
        raise typer.Exit(1)


def _paint(out: Console, result: dict[str, Any]) -> None:
    from ontoground.cli.render import number, table

    checks = [(one["title"], one["rows"]) for one in result["checks"]]
    out.print(table(("check of the warehouse: rows that offend", "rows"), checks))
    found = result["disagreements"]
    if found:
        out.print()
        out.print(table(("check of the labels", "disagreements"), list(result["by_check"].items())))
        out.print("")
    for one in found[:SHOWN]:
        out.print("  " + ", ".join(f"{name} {_said(value)}" for name, value in one.items()))
    if len(found) > SHOWN:
        out.print(f"  and {number(len(found) - SHOWN)} more; --json lists all")
    out.print(f"\n{number(result['rows'])} rows: {number(len(found))} disagreements")


def _said(value: object) -> str:
    """Return a value of a disagreement as people say it."""
    return "nothing" if value is None else str(value)


register(app)
