"""``ontoground steward triage|finalise|report``."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ontoground.cli.options import DEFAULT_WORKSPACE, Json, Overrides, WorkspaceDir, example
from ontoground.cli.steward.group import BenchmarkName, group, steward_settings

__all__: list[str] = []


@group.command(
    short_help="Rank the rows whose recomputed label differs from the original.",
    epilog=example(
        "ontoground steward triage --benchmark medcalc",
        "ontoground steward triage --top 50 --set steward.flag_rel_err=0.1",
    ),
)
def triage(
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    benchmark: BenchmarkName = None,
    top: Annotated[int, typer.Option(min=0, metavar="N", help="Rows of each part of the list to print")] = 10,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Compare recomputed labels with the original ones and rank the rows, worst first.

    Abstentions come first, then numbers by relative error; dates make a list of their own, by days. A row is flagged
    above steward.flag_rel_err. The whole list is written to triage.parquet and triage.csv in the benchmark's folder.
    """
    from ontoground.cli.render import emit
    from ontoground.cli.steward.triage_job import paint_triage, triage_job

    settings = steward_settings(workspace, overrides)
    payload = triage_job(settings, workspace, benchmark, top=top)
    emit(payload, lambda screen: paint_triage(screen, payload), as_json=as_json)


@group.command(
    short_help="Say which label of each row holds.",
    epilog=example("ontoground steward finalise --policy physician"),
)
def finalise(
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    benchmark: BenchmarkName = None,
    policy: Annotated[
        Literal["physician", "released"] | None,
        typer.Option(
            help="physician: the physician's label wherever there is one; released: only where the recomputed one is "
            "not close to it, as in the released data; the settings' own where left out",
            show_default=False,
        ),
    ] = None,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Write the final label of every row to the history, with why it holds and what it rests on.

    Only rows whose final label changes get an event: a second call adds nothing.
    """
    from ontoground.cli.render import emit
    from ontoground.cli.steward.triage_job import finalise_job, paint_finalised

    settings = steward_settings(workspace, overrides)
    payload = finalise_job(settings, workspace, benchmark, policy=policy)
    emit(payload, lambda screen: paint_finalised(screen, payload), as_json=as_json)


@group.command(
    short_help="One page on what the three phases found.",
    epilog=example("ontoground steward report --benchmark medcalc"),
)
def report(
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    benchmark: BenchmarkName = None,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Write report/report.md, report.json and pictures into the benchmark's folder.

    It has the phases that were run, what must be known before the numbers are quoted, how they move under other
    readings of the rules, and, for MedCalc-Bench v1.0, the paper's numbers beside ours.
    """
    from ontoground.cli.render import emit
    from ontoground.cli.steward.report_job import paint_report, report_job

    settings = steward_settings(workspace, overrides)
    payload = report_job(settings, workspace, benchmark)
    emit(payload, lambda screen: paint_report(screen, payload), as_json=as_json)
