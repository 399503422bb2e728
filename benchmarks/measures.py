"""What was measured: one run, a figure with its limit, a stage with both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["Check", "Measure", "Result", "at_least", "at_most"]


@dataclass(frozen=True)
class Measure:
    """One run. ``failed`` says why a yardstick gave no figures; then all others are 0.

    Attributes:
        name: whose work it is: "ontoground" or the yardstick's name.
        rows, unit: what was made.
        seconds, cpu_seconds: wall time, and the time of all cores.
        peak_bytes: the most that all its processes held at once (PSS).
        private_bytes: the most of it that no file stood behind.
        disk_bytes: what it left on disk.
        processes: the most that ran at once.
        figures: further numbers by name.
        failed: why it did not end.
    """

    name: str
    rows: int = 0
    unit: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0
    private_bytes: int = 0
    disk_bytes: int = 0
    processes: int = 1
    figures: Mapping[str, float] = field(default_factory=dict)
    failed: str = ""

    @property
    def rows_per_second(self) -> float:
        """Rows a second of wall time."""
        return self.rows / self.seconds if self.seconds else 0.0

    @property
    def rows_per_core_second(self) -> float:
        """Rows a second of one core."""
        return self.rows / self.cpu_seconds if self.cpu_seconds else 0.0


@dataclass(frozen=True)
class Check:
    """A figure with the limit it should keep: ``bound`` is "at most" or "at least"; no limit, nothing to keep."""

    what: str
    value: float
    bound: str = ""
    limit: float = 0.0

    @property
    def met(self) -> bool:
        """Whether the limit is kept; a figure that is not a number keeps none."""
        if not self.bound:
            return True
        return self.value <= self.limit if self.bound == "at most" else self.value >= self.limit


def at_most(what: str, value: float, limit: float) -> Check:
    """Return the check that a figure is at most the limit."""
    return Check(what, round(value, 4), "at most", limit)


def at_least(what: str, value: float, limit: float) -> Check:
    """Return the check that a figure is at least the limit."""
    return Check(what, round(value, 4), "at least", limit)


@dataclass(frozen=True)
class Result:
    """A stage: its measures, ours first, and the checks made of them; ``remark`` is one line for the reader.

    ``kind`` is "step" for a step of the flow, and "stage" for one that was measured beside its yardsticks.
    """

    stage: str
    measures: Sequence[Measure]
    checks: Sequence[Check] = ()
    remark: str = ""
    kind: str = "stage"

    @property
    def ours(self) -> Measure:
        """Our own measure."""
        return self.measures[0]

    @property
    def met(self) -> bool:
        """Whether every check is kept."""
        return all(check.met for check in self.checks)
