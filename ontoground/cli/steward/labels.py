"""``ontoground steward rule|release|diff|history``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from ontoground.cli.options import DEFAULT_WORKSPACE, Json, Overrides, WorkspaceDir, example
from ontoground.cli.steward.group import BenchmarkName, group, steward_settings

__all__: list[str] = []


@group.command(
    short_help="Put right a fault that physicians found, on the rows that share it.",
    epilog=example(
        "ontoground steward rule methadone.toml           # shows, writes nothing",
        "ontoground steward rule methadone.toml --apply",
        "ontoground steward rule --revert 0005 --by NAME --why 'wrong factor'",
        "",
        "  # methadone.toml",
        "  name = 'methadone'",
        "  by = 'Dr A'",
        "  why = 'methadone was multiplied by 12 at every dose'",
        "  evidence = ['992', '1007']          # reviewed rows that show it",
        "  [rows]",
        "  strata = ['49']                     # or uids; and, if wanted,",
        '  where = """features->>\'Methadone Dose\' is not null"""',
        "  unlabelled = false                  # true: deferred rows too",
        "  [do]                                # one of",
        "  take = 'original'                   # or 'runs'",
        "  # calculator = 'corrected'          # or 'v1.0'",
        "  # abstain = true",
        "  # value = '12'",
        "  # multiply = 0.39",
        "  # add = -1                          # days, where labels are dates",
    ),
)
def rule(
    file: Annotated[Path | None, typer.Argument(metavar="RULE.toml", help="The rule", show_default=False)] = None,
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    benchmark: BenchmarkName = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Record the new labels; without it they are only shown")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also where the rule agrees with fewer physicians' labels than before")
    ] = False,
    revert: Annotated[
        str | None, typer.Option("--revert", metavar="BATCH", help="Take a batch of the history back")
    ] = None,
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Who takes it back")] = "",
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="Why it is taken back")] = "",
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Apply a rule to the unreviewed rows that share a fault, as one batch that can be taken back.

    Reviewed rows are never touched: they show whether the rule gives what the physicians said. The rule's labels are
    recomputed labels: run it before `finalise`. A condition sees the rows' columns, `features` as JSON, and the labels
    original, recomputed, physician and final as text.
    """
    from ground.errors import UsageError
    from ontoground.cli.render import emit
    from ontoground.cli.steward.labels_job import revert_job, rule_job
    from ontoground.cli.steward.labels_tables import paint_reverted, paint_rule

    if (file is None) == (revert is None) or (revert is not None and (apply or force)):
        raise UsageError("a rule file, or --revert alone", expected="RULE.toml [--apply], or --revert BATCH")
    if revert is not None:
        payload = revert_job(workspace, benchmark, revert, by=by, why=why)
        emit(payload, lambda screen: paint_reverted(screen, payload), as_json=as_json)
        return
    settings = steward_settings(workspace, overrides)
    payload = rule_job(settings, workspace, benchmark, file or Path(), apply=apply, force=force)
    emit(payload, lambda screen: paint_rule(screen, payload), as_json=as_json)


@group.command(
    short_help="Freeze labels as a version with a card and hashes.",
    epilog=example(
        "ontoground steward release --dry-run",
        "ontoground steward release --licence 'CC BY-SA 4.0'",
        "ontoground steward release --labels original --limits v1 --version 1.0.0",
        "ontoground steward release --check",
    ),
)
def release(
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    benchmark: BenchmarkName = None,
    labels: Annotated[
        Literal["final", "recomputed", "original"], typer.Option(help="Whose labels, by the history")
    ] = "final",
    rest: Annotated[
        Literal["original", "left_out"],
        typer.Option(help="Rows without such a label keep the original, or are left out"),
    ] = "original",
    limits: Annotated[
        Literal["corrected", "v1"],
        typer.Option(help="corrected: 5% about every number; v1: about decimals alone, all else exact"),
    ] = "corrected",
    version: Annotated[
        str | None,
        typer.Option("--version", metavar="X.Y.Z", help="The version; the one that fits what changed where left out"),
    ] = None,
    licence: Annotated[
        str | None,
        typer.Option("--licence", metavar="TEXT", help="Licence of the labels; the last release's where left out"),
    ] = None,
    caveats: Annotated[
        list[str] | None, typer.Option("--caveat", metavar="TEXT", help="A further caveat for the card; repeatable")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what the release would be, and write nothing")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Check history and frozen releases against their hashes, and write nothing")
    ] = False,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Release labels: a frozen folder with labels, limits, manifest, card and hashes.

    The first release is 1.0.0. Rows that come or go make 2.0.0 of it, other labels 1.1.0, spelling and limits alone
    1.0.1; a version that says less than what changed is refused. The same history and options give the same bytes.
    """
    from ontoground.cli.render import emit
    from ontoground.cli.steward.labels_job import check_job, release_job
    from ontoground.cli.steward.labels_tables import paint_check, paint_release
    from stewardship.versions.recipes import Recipe

    if check:
        payload = check_job(workspace, benchmark)
        emit(payload, lambda screen: paint_check(screen, payload), as_json=as_json)
        if payload["altered"]:
            raise typer.Exit(1)
        return
    settings = steward_settings(workspace, overrides)
    payload = release_job(
        settings,
        workspace,
        benchmark,
        Recipe(labels, rest, limits),
        version=version,
        licence=licence,
        caveats=tuple(caveats or ()),
        dry_run=dry_run,
    )
    emit(payload, lambda screen: paint_release(screen, payload), as_json=as_json)


@group.command(
    short_help="Compare two releases, or two roles of labels.",
    epilog=example(
        "ontoground steward diff                          # the two newest",
        "ontoground steward diff 1.0.0 1.1.0 --csv changes.csv",
        "ontoground steward diff original recomputed",
        "ontoground steward diff 2.0.0 medcalc_v1_corrected.csv.gz",
    ),
)
def diff(
    before: Annotated[
        str | None,
        typer.Argument(
            metavar="FROM",
            help="A release, a role (original, recomputed, physician, final), or a table of labels",
            show_default=False,
        ),
    ] = None,
    after: Annotated[str | None, typer.Argument(metavar="TO", help="Another one", show_default=False)] = None,
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    benchmark: BenchmarkName = None,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Rows of each table to print")] = 20,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write all changes to this file")] = None,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Say in words and as tables what is different: rows, labels, limits and spelling, by stratum and by reason."""
    from ontoground.cli.render import emit
    from ontoground.cli.steward.labels_job import diff_job
    from ontoground.cli.steward.labels_tables import paint_diff

    settings = steward_settings(workspace, overrides)
    payload = diff_job(settings, workspace, benchmark, before, after, csv=csv)
    emit(payload, lambda screen: paint_diff(screen, payload, top=top), as_json=as_json)


@group.command(
    short_help="The history of one row's labels, or of all batches.",
    epilog=example("ontoground steward history 992", "ontoground steward history --json"),
)
def history(
    uid: Annotated[
        str | None, typer.Argument(metavar="UID", help="Key of the row; all batches where left out", show_default=False)
    ] = None,
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    benchmark: BenchmarkName = None,
    as_json: Json = False,
) -> None:
    """Show who or what said which label of a row, when, why, and from what evidence, and which one holds.

    A history that was altered is not shown: the line that was altered is named instead.
    """
    from ontoground.cli.render import emit
    from ontoground.cli.steward.labels_job import history_job
    from ontoground.cli.steward.labels_tables import paint_history

    payload = history_job(workspace, benchmark, uid)
    emit(payload, lambda screen: paint_history(screen, payload), as_json=as_json)
