"""``ontoground rules [TABLE]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ground.errors import escaped
from ontoground.cli.app import VERBS, app
from ontoground.cli.options import InWorkspace, Result, verb
from ontoground.cli.render import listing

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["rules"]


@verb(app, VERBS["rules"], "ontoground rules", "ontoground rules sections", "ontoground rules --json")
def rules(
    options: InWorkspace,
    table: Annotated[
        str | None, typer.Argument(metavar="TABLE", help="Print this table's columns and own rows")
    ] = None,
) -> Result:
    """Show which tables of the package take rows of yours, and check the rows that the workspace adds.

    Own rows are read from rules/TABLE.tsv of the workspace: the same columns as the package's table, tabs between them.
    """
    from ontoground.views.own_rules import own_rules

    found = own_rules(options.open(needs_warehouse=False), table)
    return options.result("rules", _paint if table is None else _paint_table, **found)


def _paint(out: Console, payload: dict[str, Any]) -> None:
    columns = "table, what, stage: read by, package_rows: rows, own_rows: own rows"
    out.print(listing(payload["tables"], columns))
    out.print(
        f"own rows are read from {payload['folder']}/TABLE.tsv; columns: `ontoground rules TABLE`", soft_wrap=True
    )


def _paint_table(out: Console, payload: dict[str, Any]) -> None:
    (one,) = payload["tables"]
    for line in (*one["about"], "\t".join(one["columns"]), *("\t".join(map(escaped, row)) for row in one["rows"])):
        out.file.write(f"{line}\n")  # as a file has it: tabs stay, nothing is wrapped
