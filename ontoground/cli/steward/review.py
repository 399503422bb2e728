"""``ontoground steward sheets|sample|read``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from ontoground.cli.options import DEFAULT_WORKSPACE, Json, Overrides, WorkspaceDir, example
from ontoground.cli.steward.group import BenchmarkName, group, steward_settings

__all__: list[str] = []

Raters = Annotated[
    list[str] | None, typer.Option("--rater", metavar="NAME", help="A rater who knows every row; repeatable")
]
ExpertsFile = Annotated[
    Path | None,
    typer.Option(
        "--experts", metavar="FILE", help="Table of who knows what: rater, and calculator (or stratum) or category"
    ),
]
SheetsName = Annotated[str | None, typer.Option("--name", metavar="NAME", help="Name of these sheets")]
SheetsOut = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Folder of the sheets; the benchmark's own where left out")
]
Evidence = Annotated[
    bool, typer.Option("--evidence", help="Of a dataset of ours: show what the label rests on; not blind")
]


@group.command(
    short_help="Write sheets for experts: blind, by expertise.",
    epilog=example(
        "ontoground steward sheets --experts experts.csv --rows 50",
        "ontoground steward sheets --rater ann --rater bob --raters-per-row 2",
        "ontoground steward sheets --spot-check --rater ann --rows 7",
        "ontoground steward sheets --adjudicate --rater cleo",
    ),
)
def sheets(
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    benchmark: BenchmarkName = None,
    raters: Raters = None,
    experts: ExpertsFile = None,
    rows: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Rows to draw; steward.review_rows where left out")
    ] = None,
    raters_per_row: Annotated[
        int, typer.Option(min=1, metavar="K", help="Experts who label the same row, each on a sheet of their own")
    ] = 1,
    pick: Annotated[
        Literal["sampled", "top", "any"],
        typer.Option(help="sampled: of the flagged rows, by hash; top: the worst first; any: of all rows, by hash"),
    ] = "sampled",
    per_stratum: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Rows of one calculator (or stratum) at most")
    ] = None,
    spot_check: Annotated[
        bool, typer.Option("--spot-check", help="Rows that the audit flagged, with label and critique; not blind")
    ] = False,
    adjudicate: Annotated[
        bool, typer.Option("--adjudicate", help="Rows that raters disagree on, for one who has not seen them")
    ] = False,
    evidence: Evidence = False,
    name: SheetsName = None,
    out: SheetsOut = None,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Write a sheet for each expert, as Excel and CSV: question and context, and nothing of any label.

    Rows are drawn from the ranked list of `steward triage`. Rows that are reviewed, or on another sheet, are not drawn
    again. The key stays in the benchmark's folder.
    """
    from ontoground.cli.render import emit
    from ontoground.cli.steward.review_job import SheetsAsked, sheets_job
    from ontoground.cli.steward.review_tables import paint_sheets

    asked = SheetsAsked(
        workspace=workspace,
        benchmark=benchmark,
        raters=tuple(raters or ()),
        experts=experts,
        rows=rows,
        raters_per_row=raters_per_row,
        pick=pick,
        per_stratum=per_stratum,
        kind="spot_check" if spot_check else "adjudication" if adjudicate else "blind",
        evidence=evidence,
        name=name,
        out=out,
    )
    payload = sheets_job(steward_settings(workspace, overrides), asked)
    emit(payload, lambda screen: paint_sheets(screen, payload), as_json=as_json)


@group.command(
    short_help="Write sheets of a balanced sample, for review by several.",
    epilog=example("ontoground steward sample --rows 200 --rater ann --rater bob"),
)
def sample(
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    benchmark: BenchmarkName = None,
    raters: Raters = None,
    experts: ExpertsFile = None,
    rows: Annotated[int, typer.Option(min=1, metavar="N", help="Rows to draw")] = 200,
    raters_per_row: Annotated[
        int | None,
        typer.Option(min=1, metavar="K", help="Experts who label the same row; all of them where left out"),
    ] = None,
    evidence: Evidence = False,
    name: SheetsName = None,
    out: SheetsOut = None,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Draw as many rows of each label (quadrant), spread over strata (relations), and write a sheet for each expert.

    Where labels are numbers and dates, the sample is balanced over strata (calculators). Of rows about one context one
    is drawn. All experts label all rows, each in another order.
    """
    from ontoground.cli.render import emit
    from ontoground.cli.steward.review_job import SheetsAsked, sheets_job
    from ontoground.cli.steward.review_tables import paint_sheets

    asked = SheetsAsked(
        workspace=workspace,
        benchmark=benchmark,
        raters=tuple(raters or ()),
        experts=experts,
        rows=rows,
        raters_per_row=raters_per_row,
        pick="any",
        per_stratum=None,
        kind="sample",
        evidence=evidence,
        name=name,
        out=out,
    )
    payload = sheets_job(steward_settings(workspace, overrides), asked)
    emit(payload, lambda screen: paint_sheets(screen, payload), as_json=as_json)


@group.command(
    short_help="Read filled sheets back; agreement, kappa, error rates.",
    epilog=example(
        "ontoground steward read sheets-1-ann.xlsx sheets-1-bob.csv",
        "ontoground steward read sheets-1-ann.xlsx --partial",
        "ontoground steward read sheets-1-ann.refused.csv",
        "ontoground steward read",
    ),
)
def read(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[SHEET]...", help="Filled sheets, Excel or CSV; none: only report", show_default=False),
    ] = None,
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    benchmark: BenchmarkName = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Take what can be taken; the rest goes to SHEET.refused.csv")
    ] = False,
    settle: Annotated[
        bool, typer.Option("--settle", help="Settle rows by the answers there are, though not all raters answered")
    ] = False,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Read filled sheets into the history of the labels, and report how raters and labels agree.

    A cell must be a label as a whole: a number (with the question's unit or none), a date, weeks and days, a name, or
    N/A. Where any cell is none, all such cells are named, nothing is taken, and the exit code is 1; --partial takes
    the others. An empty answer is a row that was not reviewed.
    """
    from ontoground.cli.render import emit
    from ontoground.cli.steward.review_job import read_job
    from ontoground.cli.steward.review_tables import paint_read

    settings = steward_settings(workspace, overrides)
    payload = read_job(settings, workspace, benchmark, tuple(files or ()), partial=partial, settle=settle)
    emit(payload, lambda screen: paint_read(screen, payload), as_json=as_json)
    if payload["refused"]:
        raise typer.Exit(1)
