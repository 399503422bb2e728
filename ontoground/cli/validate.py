"""``ontoground validate DATASET_DIR``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Argument

from ontoground.cli.app import VERBS, app
from ontoground.cli.options import InWorkspace, Result, verb
from ontoground.cli.render import Blocks, listing, number, table

__all__ = ["validate"]

SHOWN = 20


@verb(
    app,
    VERBS["validate"],
    "ontoground validate work/datasets/medieval --workspace work",
)
def validate(
    dataset: Annotated[Path, Argument(metavar="DATASET_DIR", help="A dataset built in this workspace")],
    options: InWorkspace,
) -> Result:
    """Derive every label of a dataset again from the warehouse, in a different way from the builder.

    The warehouse's own rules (sections tile the note, offsets fit the text) are checked too. Ends with 0 where all
    agree, with 1 where anything does not; disagreements are listed by row and check.
    """
    from ontoground.views.validation import validated

    verdict = validated(options.open(), dataset)
    return options.result("validate", _blocks, 0 if verdict["agrees"] else 1, dataset=str(dataset), **verdict)


def _blocks(payload: dict[str, Any]) -> Blocks:
    disagreements = payload["disagreements"]
    yield listing(payload["checks"], "title: check of the warehouse: rows that offend, rows")
    if disagreements:
        yield table(("check of the labels", "disagreements"), list(payload["by_check"].items()))
    for row in disagreements[:SHOWN]:
        yield "  " + ", ".join(f"{key} {'nothing' if value is None else value}" for key, value in row.items())
    if len(disagreements) > SHOWN:
        yield f"  and {number(len(disagreements) - SHOWN)} more; --json lists all"
    for source, names in payload["releases"].items():
        yield f"{source}: {', '.join(names)}"
    yield f"{number(payload['rows'])} rows: {number(len(disagreements))} disagreements"
