"""``ontoground status``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ontoground.cli.app import app
from ontoground.cli.options import InWorkspace, Result, verb

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["status"]


@verb(
    app,
    "Show what is loaded, built, stale, and what to do next.",
    "ontoground status --workspace work",
    "ontoground status --json | jq .stages",
)
def status(options: InWorkspace) -> Result:
    """Show what is loaded, built and stale, with counts and releases, and what to do next."""
    from ontoground.flow.session import reading
    from ontoground.flow.status import status_of

    opened = options.open()
    with reading(opened) as connection:
        state = status_of(opened, connection)
    return Result({"verb": "status", "workspace": str(options.workspace), **state}, _paint)


def _paint(out: Console, state: dict[str, Any]) -> None:
    from ontoground.cli.render import number, table

    columns = ("source", "release", "files", "rows_read", "rows_rejected", "finished_at")
    loads = [[_cell(load[column]) for column in columns] for load in state["loads"]]
    out.print(table(("loaded", "release", "files", "rows", "refused", "finished"), loads))
    stages = [(one["name"], one["state"], one["reason"]) for one in state["stages"]]
    out.print()
    out.print(table(("stage", "state", "why"), stages))
    tables = [(one["table"], one["rows"]) for one in state["tables"]]
    out.print()
    out.print(table(("table", "rows"), tables))
    for dataset in state["datasets"]:
        splits = ", ".join(f"{split} {number(rows)}" for split, rows in dataset["splits"].items())
        out.print(f"\ndataset {dataset['name']}: {number(dataset['rows'])} rows ({splits}) in {dataset['folder']}")
    out.print("\nnext:")
    for command in state["next"]:
        out.print(f"  {command}", soft_wrap=True)


def _cell(value: Any) -> Any:
    return value.strftime("%Y-%m-%d %H:%M") if hasattr(value, "strftime") else value
