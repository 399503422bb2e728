"""``ontoground validate DATASET_DIR``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ontoground.cli.app import VERBS, app
from ontoground.cli.options import InWorkspace, Result, verb
from ontoground.cli.render import listing, number, table, tables

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["validate"]

SHOWN = 20


@verb(
    app,
    VERBS["validate"],
    "ontoground validate work/datasets/medieval --workspace work",
)
def validate(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET_DIR", help="A dataset built in this workspace")],
    options: InWorkspace,
) -> Result:
    """Derive every label of a dataset again from the warehouse, in a different way from the builder.

    The warehouse's own rules (sections tile the note, offsets fit the text) are checked too. Ends with 0 where all
    agree, with 1 where anything does not; disagreements are listed by row and check.
    """
    from ontoground.views.validation import validated

    found = validated(options.open(), dataset)
    return options.result("validate", _paint, 0 if found["agrees"] else 1, dataset=str(dataset), **found)


def _paint(out: Console, payload: dict[str, Any]) -> None:
    found = payload["disagreements"]
    tables(
        out,
        listing(payload["checks"], "title: check of the warehouse: rows that offend, rows"),
        table(("check of the labels", "disagreements"), list(payload["by_check"].items())) if found else None,
    )
    if found:
        out.print()
    for one in found[:SHOWN]:
        out.print("  " + ", ".join(f"{key} {'nothing' if value is None else value}" for key, value in one.items()))
    if len(found) > SHOWN:
        out.print(f"  and {number(len(found) - SHOWN)} more; --json lists all")
    out.print(f"\n{number(payload['rows'])} rows: {number(len(found))} disagreements")
