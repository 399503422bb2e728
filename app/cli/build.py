"""``ontoground build medieval``; the other datasets are named and refused until they are there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import typer

from app.cli.common import DEFAULT_WORKSPACE, Force, Json, Overrides, WorkspaceDir, example, open_workspace

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["group"]

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Build datasets from what the workspace holds.")


@group.command(
    short_help="Build the quadrant statements.",
    epilog=example("ontoground build medieval --workspace work --set build.seed=7"),
)
def medieval(
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    overrides: Overrides = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Build the quadrant statements (true or false, supported or not) into datasets/medieval.

    Stages that it needs and that are missing or stale run first.
    """
    from app.pipeline import run_stages
    from app.render import emit, note
    from app.session import writing
    from app.status import dataset_counts
    from app.summary import quadrant_table

    opened = open_workspace(workspace, overrides)
    with writing(opened) as connection:
        outcomes = run_stages(opened, connection, ["medieval"], force=force, say=note)
        quadrants = quadrant_table(connection)
    payload: dict[str, Any] = {
        "verb": "build medieval",
        "workspace": str(workspace),
        "dataset": dataset_counts(opened.dataset("medieval")),
        "quadrants": quadrants,
        "stages": [outcome.as_dict() for outcome in outcomes],
    }
    emit(payload, lambda out: _paint(out, payload), as_json=as_json)


def _paint(out: Console, payload: dict[str, Any]) -> None:
    from app.render import number
    from app.summary import paint_quadrants

    paint_quadrants(out, payload["quadrants"])
    dataset = payload["dataset"]
    splits = ", ".join(f"{split} {number(rows)}" for split, rows in dataset["splits"].items())
    out.print(f"\n{number(dataset['rows'])} rows ({splits}) in {dataset['folder']}")


@group.command(hidden=True)
def medhal(_workspace: WorkspaceDir = DEFAULT_WORKSPACE, _as_json: Json = False) -> None:
    """Say that this dataset is not built by this version."""
    _not_yet("medhal")


@group.command(hidden=True)
def medval(_workspace: WorkspaceDir = DEFAULT_WORKSPACE, _as_json: Json = False) -> None:
    """Say that this dataset is not built by this version."""
    _not_yet("medval")


def _not_yet(name: str) -> NoReturn:
    from ontoground.errors import UsageError

    raise UsageError(
        f"this version does not build {name}", expected="medieval", do="see CHANGELOG.md for what a version can do"
    )
