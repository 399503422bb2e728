"""``ontoground steward calculators``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ontoground.cli.options import DEFAULT_WORKSPACE, Json, WorkspaceDir, example
from ontoground.cli.steward.group import group

if TYPE_CHECKING:
    from typing import Any

__all__: list[str] = []


@group.command(
    short_help="Compute clinical scores from features.",
    epilog=example(
        "ontoground steward calculators",
        "ontoground steward calculators 45",
        'ontoground steward calculators 11 --set "QT interval=400" \\',
        '    --set "Heart Rate or Pulse=75"',
        "ontoground steward calculators --benchmark medcalc --version v1.0",
    ),
)
def calculators(
    which: Annotated[str | None, typer.Argument(metavar="CALCULATOR", help="Its number or name")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help='A feature, as "age=65 years"; repeatable'),
    ] = None,
    version: Annotated[
        Literal["corrected", "v1.0"],
        typer.Option(help="corrected: as published; v1.0: as MedCalc-Bench v1.0 computed, errors included"),
    ] = "corrected",
    benchmark: Annotated[
        str | None, typer.Option(metavar="NAME", help="Compute the rows of this benchmark, beside its labels")
    ] = None,
    table: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Compute the rows of a table with features (see adopt)")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the rows go; a benchmark's to its folder if left out")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List all calculators, as without any option")] = False,
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Compute the 55 calculators of MedCalc-Bench: features in, score out, or why there is none.

    Without a calculator: the list of them. With one: what it reads, its formula and source; with --set its score, step
    by step. Over a benchmark or a table: each row's score, and how often the labels agree, by calculator.
    """
    from ontoground.cli.render import emit
    from ontoground.cli.steward.calculators_job import (
        agreement_job,
        check_request,
        compute_job,
        list_job,
        paint_calculators,
        show_job,
    )

    over = benchmark is not None or table is not None
    both = benchmark is not None and table is not None
    check_request(which, tuple(settings or ()), over=over, both=both, listed=listed)
    payload: dict[str, Any]
    if over:
        payload = agreement_job(workspace, benchmark=benchmark, file=table, which=which, version=version, output=output)
    elif which is None:
        payload = list_job(workspace)
    elif settings:
        payload = compute_job(workspace, which, tuple(settings), version)
    else:
        payload = show_job(workspace, which, version)
    emit(payload, lambda screen: paint_calculators(screen, payload), as_json=as_json)
