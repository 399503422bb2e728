"""``ontoground status``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ontoground.cli.app import VERBS, app
from ontoground.cli.options import InWorkspace, Result, verb
from ontoground.cli.render import dataset_in_words, listing, tables

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["status"]

LOADED = "source: loaded, release, files, rows_read: rows, rows_rejected: refused, finished_at: finished"


@verb(
    app,
    VERBS["status"],
    "ontoground status --workspace work",
    "ontoground status --json | jq .stages",
)
def status(options: InWorkspace) -> Result:
    """Show what is loaded, built and stale, with counts and releases, and what to do next."""
    from ontoground.flow.session import reading
    from ontoground.flow.status import status_of

    opened = options.open()
    with reading(opened) as connection:
        return options.result("status", _paint, **status_of(opened, connection))


def _paint(out: Console, state: dict[str, Any]) -> None:
    loads = [{**one, "finished_at": f"{one['finished_at']:%Y-%m-%d %H:%M}"} for one in state["loads"]]
    tables(
        out,
        listing(loads, LOADED),
        listing(state["stages"], "name: stage, state, reason: why"),
        listing(state["tables"], "table, rows"),
    )
    for dataset in state["datasets"]:
        out.print(f"\ndataset {dataset['name']}: {dataset_in_words(dataset)}")
    current = all(one["state"] == "current" for one in state["stages"])
    out.print("\nall stages are current; to check the rows, and to ask:" if current else "\nnext:")
    for command in state["next"]:
        out.print(f"  {command}", soft_wrap=True)
