"""The group of the steward verbs and the options that they share; each module beside this one adds its verbs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from ontoground.cli.app import group_of
from ontoground.cli.options import Configured, InWorkspace, Paint, Result

if TYPE_CHECKING:
    from ground.settings import StewardSettings
    from stewardship.benchmark.folder import Benchmark

__all__ = ["BenchmarkName", "ConfiguredBenchmark", "InBenchmark", "group"]

ORDER = (
    *("adopt", "audit", "recompute", "triage", "sheets", "sample", "read", "rule", "finalise", "release", "diff"),
    *("history", "ask", "grade", "board", "effect", "calculators", "report"),
)

group = group_of("steward", ORDER)

BenchmarkName = Annotated[
    str | None,
    Option("--benchmark", metavar="NAME", help="Benchmark of the workspace; may be left out if there is only one"),
]


@dataclass(frozen=True, kw_only=True)
class InBenchmark(InWorkspace):
    """Options of a verb about one benchmark."""

    benchmark: BenchmarkName = None

    @cached_property
    def adopted(self) -> Benchmark:
        """The benchmark, opened; see `stewardship.benchmark.folder.Benchmark.open`."""
        from stewardship.benchmark.folder import Benchmark

        return Benchmark.open(self.workspace, self.benchmark)

    def result(self, verb: str, paint: Paint, code: int = 0, /, **results: Any) -> Result:
        """Return what a verb found; its payload begins with verb, workspace and benchmark."""
        return super().result(f"steward {verb}", paint, code, **{"benchmark": self.adopted.name, **results})


@dataclass(frozen=True, kw_only=True)
class ConfiguredBenchmark(InBenchmark, Configured):
    """Options of a verb about one benchmark that reads settings."""

    @cached_property
    def settings(self) -> StewardSettings:
        """The table [steward] of the settings, as it holds for this benchmark; the workspace needs no warehouse."""
        from stewardship.adjudication.agreement import tolerance

        settings, benchmark = self.open(needs_warehouse=False).settings.steward, self.adopted
        labels = benchmark.history.labels("original").values()
        points = tolerance(labels, benchmark.column("output_type").values(), points=settings.ordinal_tolerance)
        # Of what is set only what differs is touched: quorums go by which of them are set.
        if points == settings.ordinal_tolerance:
            return settings
        return settings.model_copy(update={"ordinal_tolerance": points})
