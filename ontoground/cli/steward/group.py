"""The group of the steward verbs and the options that they share; each module beside this one adds its verbs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ontoground.cli.app import group_of
from ontoground.cli.options import open_workspace

if TYPE_CHECKING:
    from ground.settings import StewardSettings

__all__ = ["BenchmarkName", "group", "steward_settings"]

ORDER = (
    "adopt",
    "audit",
    "recompute",
    "triage",
    "sheets",
    "sample",
    "read",
    "rule",
    "finalise",
    "release",
    "diff",
    "history",
    "grade",
    "board",
    "calculators",
    "report",
)


group = group_of("steward", "Audit, recompute, adjudicate and release labels.", ORDER)

BenchmarkName = Annotated[
    str | None,
    typer.Option("--benchmark", metavar="NAME", help="Which benchmark of the workspace; its only one where left out"),
]


def steward_settings(workspace: Path, overrides: list[str] | None) -> StewardSettings:
    """Return the table [steward] of a workspace's settings, with overrides; the workspace needs no warehouse.

    Raises:
        UsageError: a setting is unknown or wrong.
    """
    return open_workspace(workspace, overrides, needs_warehouse=False).settings.steward
