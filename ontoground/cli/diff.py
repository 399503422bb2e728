"""``ontoground diff BEFORE AFTER``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from ontoground.cli.app import VERBS, app
from ontoground.cli.options import WRITTEN, InWorkspace, Result, verb
from ontoground.cli.render import Blocks, beginning, listing, number, table, unfolded

__all__ = ["diff"]


@verb(
    app,
    VERBS["diff"],
    "ontoground diff old/datasets/medieval work/datasets/medieval",
    "ontoground diff old/datasets/medhal work/datasets/medhal --output rows.csv",
)
def diff(
    before: Annotated[Path, Argument(metavar="BEFORE_DIR", help="A dataset that was built")],
    after: Annotated[Path, Argument(metavar="AFTER_DIR", help="Another build of it")],
    options: InWorkspace,
    output: Annotated[
        Path | None,
        Option("--output", metavar="FILE", help="List all rows that differ in a .csv, .json or .parquet file."),
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
    differences = compared(before, after, run, output)
    written = str(output) if output else None
    return options.result("diff", _blocks, before=str(before), after=str(after), **differences, output=written)


def _blocks(payload: dict[str, Any]) -> Blocks:
    yield listing([*payload["by_split"], {**payload, "split": "all"}], "split, same, changed, added, removed")
    if payload["by_column"]:
        yield table(("column", "changed rows that differ in it"), list(payload["by_column"].items()))
    for change in ("added", "removed"):
        if columns := payload[f"columns_{change}"]:
            yield f"columns {change}: {', '.join(columns)}"
    differing = [(entry["key"], _cell(entry["before"]), _cell(entry["after"])) for entry in payload["manifest"]]
    yield from beginning(("manifests differ in", "before", "after"), differing)
    yield f"{number(payload['rows_before'])} rows before, {number(payload['rows_after'])} after"
    if payload["output"]:
        yield unfolded(f"rows that differ: {payload['output']}")


def _cell(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:12]}..."
