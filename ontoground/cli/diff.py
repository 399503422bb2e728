"""``ontoground diff BEFORE AFTER``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ontoground.cli.app import app
from ontoground.cli.options import DEFAULT_WORKSPACE, Json, WorkspaceDir, example, open_workspace

if TYPE_CHECKING:
    from rich.console import Console

    from ontoground.cli.diff_job import DatasetDiff

__all__ = ["register"]

EXAMPLE = example(
    "ontoground diff old/datasets/medieval work/datasets/medieval",
    "ontoground diff old/datasets/medhal work/datasets/medhal --output rows.csv",
)
SHOWN = 20


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(name="diff", short_help="Show which rows differ between two builds of a dataset.", epilog=EXAMPLE)(
        _diff
    )


def _diff(
    before: Annotated[Path, typer.Argument(metavar="BEFORE_DIR", help="A dataset that was built")],
    after: Annotated[Path, typer.Argument(metavar="AFTER_DIR", help="Another build of it")],
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="List all rows that differ in a .csv, .json or .parquet file."),
    ] = None,
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Show which rows differ between two builds of a dataset, in which columns, and what the manifests say of why.

    Rows go by their identifiers: one that is in both builds is the same or changed, the others were added or removed.
    The text of rows is not shown. Ends with 0 whether or not there are differences. Memory and threads are those of
    the workspace's settings.
    """
    from ontoground.cli.diff_job import compared
    from ontoground.cli.render import emit

    settings = open_workspace(workspace, needs_warehouse=False).settings
    found = compared(before, after, settings.run, output)
    payload = {
        "verb": "diff",
        "workspace": str(workspace),
        "before": str(before),
        "after": str(after),
        **found.as_dict(),
        "output": str(output) if output else None,
    }
    emit(payload, lambda out: _paint(out, found, output), as_json=as_json)


def _paint(out: Console, found: DatasetDiff, output: Path | None) -> None:
    from ontoground.cli.render import number, table

    names = ("split", "same", "changed", "added", "removed")
    total = ("all", found.same, found.changed, found.added, found.removed)
    out.print(table(names, [*(tuple(one[name] for name in names) for one in found.by_split), total]))
    if found.by_column:
        out.print()
        out.print(table(("column", "changed rows that differ in it"), list(found.by_column.items())))
    for said, columns in (("added", found.columns_added), ("removed", found.columns_removed)):
        if columns:
            out.print(f"\ncolumns {said}: {', '.join(columns)}")
    if found.manifest:
        out.print()
        rows = [(one["key"], _said(one["before"]), _said(one["after"])) for one in found.manifest]
        out.print(table(("manifests differ in", "before", "after"), rows[:SHOWN]))
        if len(rows) > SHOWN:
            out.print(f"and {number(len(rows) - SHOWN)} more; --json lists all")
    out.print(f"\n{number(found.rows_before)} rows before, {number(found.rows_after)} after")
    if output:
        out.print(f"rows that differ: {output}", soft_wrap=True)


def _said(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:12]}..."


register(app)
