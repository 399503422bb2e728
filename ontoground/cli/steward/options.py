"""The options that the verbs of steward share, and what stands first in the payload of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ontoground.cli.options import Configured
from ontoground.cli.steward.group import BenchmarkName, steward_settings

if TYPE_CHECKING:
    from ground.settings_steward import StewardSettings
    from stewardship.benchmark.folder import Benchmark

__all__ = ["OfBenchmark"]


@dataclass(frozen=True, kw_only=True)
class OfBenchmark(Configured):
    """Options of a verb that works on a benchmark; the workspace needs no warehouse."""

    benchmark: BenchmarkName = None

    def open_benchmark(self) -> tuple[Benchmark, StewardSettings]:
        """Open the benchmark, and read the table [steward] of the settings.

        Raises:
            InputError: no such benchmark.
            UsageError: several benchmarks and none named, or a setting is unknown or wrong.
        """
        from stewardship.benchmark.folder import Benchmark

        settings = steward_settings(self.workspace, self.overrides)
        return Benchmark.open(self.workspace, self.benchmark), settings

    def head(self, verb: str, benchmark: Benchmark) -> dict[str, Any]:
        """Return the payload's first members."""
        return {"verb": f"steward {verb}", "workspace": str(self.workspace), "benchmark": benchmark.name}
