"""``ontoground steward adopt``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from ontoground.cli.options import DEFAULT_WORKSPACE, Json, WorkspaceDir, example
from ontoground.cli.steward.group import group

__all__: list[str] = []


@group.command(
    short_help="Take up a table of labels, or a dataset of ours.",
    epilog=example(
        "ontoground steward adopt original_test_labels.csv.gz sheet.xlsx \\",
        "    --name medcalc",
        "ontoground steward adopt labels.csv --column uid=id --column label=answer",
        "ontoground steward adopt work/datasets/medieval --rows 2000",
    ),
)
def adopt(
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="TABLE...", help="CSV, Excel, Parquet or JSONL; or one dataset folder of ours"),
    ],
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the benchmark; the first table's own")
    ] = None,
    layout: Annotated[
        str | None, typer.Option(metavar="NAME", help="Layout of the first table; found by its columns where left out")
    ] = None,
    columns: Annotated[
        list[str] | None, typer.Option("--column", metavar="ROLE=NAME", help="A column of the first table; repeatable")
    ] = None,
    tier: Annotated[
        Literal["open", "credentialed"],
        typer.Option(
            "--licence", help="credentialed rows are sent to no model off this machine; a dataset has its own"
        ),
    ] = "open",
    rows: Annotated[
        int | None, typer.Option(min=1, help="Of a dataset: rows to take, balanced over its labels")
    ] = None,
    as_json: Json = False,
) -> None:
    """Take up labels: their rows, and each label as the first event of its history.

    The first table names the rows; later ones (a sheet with recomputed or physicians' labels) add labels to them.
    """
    from ontoground.cli.render import emit
    from ontoground.cli.steward.adopt_job import adopt_job, paint_adopted

    payload = adopt_job(
        workspace, tuple(sources), name=name, layout=layout, columns=tuple(columns or ()), tier=tier, rows=rows
    )
    emit(payload, lambda screen: paint_adopted(screen, payload), as_json=as_json)
