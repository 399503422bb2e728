"""``ontoground rules [TABLE]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ground.errors import escaped
from ontoground.cli.app import VERBS, app
from ontoground.cli.options import InWorkspace, Result, verb
from ontoground.cli.render import emit, listing

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["rules"]


@verb(app, VERBS["rules"], "ontoground rules", "ontoground rules sections", "ontoground rules --json")
def rules(
    context: typer.Context,
    options: InWorkspace,
    table: Annotated[
        str | None, typer.Argument(metavar="TABLE", help="Print this table's columns, examples and own rows")
    ] = None,
) -> Result:
    """Show which tables of the package take rows of yours, and check the rows that the workspace adds.

    Own rows are read from rules/TABLE.tsv of the workspace: the same columns as the package's table, tabs between them.
    """
    from ontoground.views.own_rules import own_rules, package_table

    if table is not None and not context.params["as_json"]:
        # Before own rows are read: what a row should be is needed most where one is broken.
        emit({}, lambda out: _paint_columns(out, package_table(table)), as_json=False)
    found = own_rules(options.open(needs_warehouse=False), table)
    return options.result("rules", _paint if table is None else _paint_rows, **found)


def _paint(out: Console, payload: dict[str, Any]) -> None:
    columns = "table, what, stage: read by, package_rows: rows, own_rows: own rows"
    out.print(listing(payload["tables"], columns))
    out.print(
        f"own rows are read from {payload['folder']}/TABLE.tsv; columns: `ontoground rules TABLE`", soft_wrap=True
    )


def _paint_columns(out: Console, one: dict[str, Any]) -> None:
    """Print what begins a file of own rows, as a file has it: tabs stay, nothing is wrapped."""
    out.file.write("\n".join((*one["about"], "# Examples, rows of the package:")) + "\n")
    for row in one["examples"]:
        out.file.write("# " + "\t".join(row) + "\n")
    out.file.write("\t".join(one["columns"]) + "\n")
    out.file.flush()


def _paint_rows(out: Console, payload: dict[str, Any]) -> None:
    (one,) = payload["tables"]
    for row in one["rows"]:
        out.file.write("\t".join(map(escaped, row)) + "\n")
