"""``ontoground diff BEFORE AFTER``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ontoground.cli.app import VERBS, app
from ontoground.cli.options import WRITTEN, InWorkspace, Result, verb
from ontoground.cli.render import listing, number, table, tables

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["diff"]

SHOWN = 20


@verb(
    app,
    VERBS["diff"],
    "ontoground diff old/datasets/medieval work/datasets/medieval",
    "ontoground diff old/datasets/medhal work/datasets/medhal --output rows.csv",
)
def diff(
    before: Annotated[Path, typer.Argument(metavar="BEFORE_DIR", help="A dataset that was built")],
    after: Annotated[Path, typer.Argument(metavar="AFTER_DIR", help="Another build of it")],
    options: InWorkspace,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="List all rows that differ in a .csv, .json or .parquet file."),
        WRITTEN,
    ] = None,
) -> Result:
    """Count the rows that differ between two builds of a dataset, by column, with the reasons in the manifests.

    Rows are matched by id: a row in both builds is the same or changed, others were added or removed.
    --output lists those that differ by identifier; their text is not shown. Ends with 0 whether or not there are
    differences. Memory and threads are those of the workspace's settings.
    """
    from ontoground.views.builds import compared

    run = options.open(needs_warehouse=False).settings.run
    found = compared(before, after, run, output)
    written = str(output) if output else None
    return options.result("diff", _paint, before=str(before), after=str(after), **found, output=written)


def _paint(out: Console, found: dict[str, Any]) -> None:
    said = [(one["key"], _said(one["before"]), _said(one["after"])) for one in found["manifest"]]
    tables(
        out,
        listing([*found["by_split"], {**found, "split": "all"}], "split, same, changed, added, removed"),
        table(("column", "changed rows that differ in it"), list(found["by_column"].items()))
        if found["by_column"]
        else None,
    )
    for change in ("added", "removed"):
        if columns := found[f"columns_{change}"]:
            out.print(f"\ncolumns {change}: {', '.join(columns)}")
    if said:
        out.print()
        out.print(table(("manifests differ in", "before", "after"), said[:SHOWN]))
    if len(said) > SHOWN:
        out.print(f"and {number(len(said) - SHOWN)} more; --json lists all")
    out.print(f"\n{number(found['rows_before'])} rows before, {number(found['rows_after'])} after")
    if found["output"]:
        out.print(f"rows that differ: {found['output']}", soft_wrap=True)


def _said(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:12]}..."
