"""``ontoground rules [TABLE]``."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer import Argument

from ground.errors import escaped
from ontoground.cli.app import VERBS, app
from ontoground.cli.options import InWorkspace, Result, verb
from ontoground.cli.render import Blocks, console, listing, paint, unfolded

__all__ = ["rules"]


@verb(app, VERBS["rules"], "ontoground rules", "ontoground rules sections", "ontoground rules --json")
def rules(
    context: typer.Context,
    options: InWorkspace,
    table: Annotated[
        str | None, Argument(metavar="TABLE", help="Print this table's columns, examples and own rows")
    ] = None,
) -> Result:
    """Show which tables of the package take rows of yours, and check the rows that the workspace adds.

    Own rows are read from rules/TABLE.tsv of the workspace: the same columns as the package's table, tabs between them.
    """
    from ontoground.views.own_rules import own_rules, package_table

    if table is not None and not context.params["as_json"]:
        # Before own rows are read: what a row should be is needed most where one is broken.
        paint(console(), _columns(package_table(table)))
    checked = own_rules(options.open(needs_warehouse=False), table)
    return options.result("rules", _blocks if table is None else _own_rows, **checked)


def _blocks(payload: dict[str, Any]) -> Blocks:
    yield listing(payload["tables"], "table, what, stage: read by, package_rows: rows, own_rows: own rows")
    yield unfolded(f"own rows are read from {payload['folder']}/TABLE.tsv; columns: `ontoground rules TABLE`")


def _columns(table: dict[str, Any]) -> Blocks:
    """Yield what begins a file of own rows, as a file has it: tabs stay, nothing is wrapped."""
    yield from map(unfolded, (*table["about"], "# Examples, rows of the package:"))
    yield from (unfolded("# " + "\t".join(row)) for row in table["examples"])
    yield unfolded("\t".join(table["columns"]))


def _own_rows(payload: dict[str, Any]) -> Blocks:
    (table,) = payload["tables"]
    yield from (unfolded("\t".join(map(escaped, row))) for row in table["rows"])
