"""``ontoground steward grade|board``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from ontoground.cli.options import DEFAULT_WORKSPACE, Json, Overrides, WorkspaceDir, example
from ontoground.cli.steward.group import BenchmarkName, group, steward_settings

__all__: list[str] = []

Predictions = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help="CSV, JSONL, Parquet or Excel: uid, answer and, for several, model"),
]
GraderOption = Annotated[
    Literal["v1", "abstention", "reward", "released"],
    typer.Option(
        help="v1: MedCalc-Bench's own, N/A is wrong; abstention: N/A is an answer; reward: so with 1, 0.1 and 0; "
        "released: rewards as in the authors' code"
    ),
]
LimitsOption = Annotated[
    Literal["v1", "corrected"] | None,
    typer.Option(
        help="v1: 5% about decimals, else exact; corrected: 5% about every number; the labels' own where left out",
        show_default=False,
    ),
]
FormOption = Annotated[
    Literal["tagged", "bare"] | None,
    typer.Option(
        "--answers",
        help="tagged: responses with <answer> tags; bare: answers alone; where left out: bare if not one has a tag",
        show_default=False,
    ),
]
MissingOption = Annotated[
    Literal["refuse", "wrong", "leave_out"],
    typer.Option(help="What a labelled row without an answer is; on a board it is left out for all alike"),
]

OthersOption = Annotated[
    Literal["refuse", "ignore"], typer.Option(help="What answers to rows are that the benchmark does not have")
]


@group.command(
    short_help="Grade models' answers against one set of labels.",
    epilog=example(
        "ontoground steward grade gpt.csv --against original --grader v1",
        "ontoground steward grade runs.jsonl --against 1.1.0 --out rows.csv",
    ),
)
def grade(
    files: Predictions,
    against: Annotated[
        str, typer.Option(metavar="LABELS", help="original, recomputed, physician, final, or a release as 1.1.0")
    ] = "original",
    grader: GraderOption = "abstention",
    limits: LimitsOption = None,
    form: FormOption = None,
    missing: MissingOption = "refuse",
    others: OthersOption = "refuse",
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    benchmark: BenchmarkName = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write each graded row here (.csv, .parquet or .jsonl)"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Grade answers, with Wilson intervals, by category, output type and stratum (calculator).

    Rows that the labels leave open (deferred, not reviewed) are not graded. Labels without limits of their own get 5%.
    """
    from ontoground.cli.render import emit
    from ontoground.cli.steward.grade_job import Asked, grade_job, paint_grades

    asked = Asked(workspace, benchmark, tuple(files), grader, limits, form, missing, others)
    payload = grade_job(asked, against, out)
    emit(payload, lambda screen: paint_grades(screen, payload), as_json=as_json)


@group.command(
    short_help="Leaderboard of models under two sets of labels, side by side.",
    epilog=example(
        "ontoground steward board a.csv b.csv --before original --after final",
        "ontoground steward board runs.parquet --before 1.0.0 --after 1.1.0",
    ),
)
def board(
    files: Predictions,
    before: Annotated[
        str, typer.Option(metavar="LABELS", help="original, recomputed, physician, final, or a release")
    ] = "original",
    after: Annotated[str, typer.Option(metavar="LABELS", help="The labels to compare with them")] = "final",
    grader: GraderOption = "abstention",
    limits: LimitsOption = None,
    form: FormOption = None,
    missing: MissingOption = "refuse",
    others: OthersOption = "refuse",
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    benchmark: BenchmarkName = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder of table, rows and picture; the benchmark's own board/"),
    ] = None,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Grade every model under two sets of labels, on the rows that both label: who gains, who loses, which ranks.

    Accuracies have Wilson intervals, differences and ranks bootstrap intervals over rows, and gained against lost rows
    an exact McNemar test.
    """
    from ontoground.cli.render import emit
    from ontoground.cli.steward.grade_job import Asked, board_job, paint_board

    settings = steward_settings(workspace, overrides)
    asked = Asked(workspace, benchmark, tuple(files), grader, limits, form, missing, others)
    payload = board_job(settings, asked, before, after, out)
    emit(payload, lambda screen: paint_board(screen, payload), as_json=as_json)
