"""``ontoground status``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ontoground.cli.app import VERBS, app
from ontoground.cli.options import InWorkspace, Result, verb
from ontoground.cli.render import Blocks, dataset_in_words, listing, number, unfolded

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
        return options.result("status", _blocks, **status_of(opened, connection))


def _blocks(state: dict[str, Any]) -> Blocks:
    from ontoground.flow.status import few_patients

    loads = [{**load, "finished_at": f"{load['finished_at']:%Y-%m-%d %H:%M}"} for load in state["loads"]]
    yield listing(loads, LOADED)
    yield from (f"note: {line}" for line in state["warnings"])
    yield listing(state["stages"], "name: stage, state, reason: why")
    yield listing(state["tables"], "table, rows")
    for dataset in state["datasets"]:
        yield f"dataset {dataset['name']}: {dataset_in_words(dataset)}"
        yield from filter(None, [few_patients(Path(dataset["folder"]))])
    sizes = (f"{name} {number(round(state[f'{name}_bytes'] / 1e6))} MB" for name in ("warehouse", "cache"))
    yield f"on disk: {', '.join(sizes)}"
    current = all(stage["state"] == "current" for stage in state["stages"])
    yield "\nall stages are current; to check the rows, and to ask:" if current else "\nnext:"
    yield from (unfolded(f"  {command}") for command in state["next"])
