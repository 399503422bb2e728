"""The group of the steward verbs and the options that they share; each module beside this one adds its verbs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from ontoground.cli.app import group_of
from ontoground.cli.options import Configured, InWorkspace, Result, open_workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from ground.settings import StewardSettings
    from stewardship.benchmark.folder import Benchmark

__all__ = ["BenchmarkName", "ConfiguredBenchmark", "InBenchmark", "group", "steward_settings"]

ORDER = (
    *("adopt", "audit", "recompute", "triage", "sheets", "sample", "read", "rule", "finalise", "release", "diff"),
    *("history", "grade", "board", "calculators", "report"),
)

group = group_of("steward", "Audit, recompute, adjudicate and release labels.", ORDER)

BenchmarkName = Annotated[
    str | None,
    Option("--benchmark", metavar="NAME", help="Which benchmark of the workspace; its only one where left out"),
]


def steward_settings(workspace: Path, overrides: list[str] | None) -> StewardSettings:
    """Return the table [steward] of a workspace's settings, with overrides; the workspace needs no warehouse."""
    return open_workspace(workspace, overrides, needs_warehouse=False).settings.steward


@dataclass(frozen=True, kw_only=True)
class InBenchmark(InWorkspace):
    """Options of a verb about one benchmark."""

    benchmark: BenchmarkName = None

    @cached_property
    def adopted(self) -> Benchmark:
        """The benchmark, opened; see `stewardship.benchmark.folder.Benchmark.open`."""
        from stewardship.benchmark.folder import Benchmark

        return Benchmark.open(self.workspace, self.benchmark)

    def head(self, verb: str) -> dict[str, Any]:
        """Return what every payload of these verbs begins with."""
        return {"verb": f"steward {verb}", "workspace": str(self.workspace), "benchmark": self.adopted.name}

    def result(self, verb: str, paint: Callable[[Console, dict[str, Any]], None], /, **found: Any) -> Result:
        """Return what was found, behind the head of the payload."""
        return Result({**self.head(verb), **found}, paint)


@dataclass(frozen=True, kw_only=True)
class ConfiguredBenchmark(InBenchmark, Configured):
    """Options of a verb about one benchmark that reads settings."""

    @cached_property
    def settings(self) -> StewardSettings:
        """The table [steward] of the settings; see `steward_settings`."""
        return steward_settings(self.workspace, self.overrides)
