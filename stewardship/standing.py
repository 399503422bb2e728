"""What a history says at the moment: the labels of each phase, as the phases after it read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ontoground.labels import LabelValue, parse_label
from stewardship.benchmark import Benchmark
from stewardship.history import RULE, Event
from stewardship.runs.consensus import DEFERRED, HIGH_CONFIDENCE

__all__ = ["Standing", "rests_on", "standing"]


@dataclass(frozen=True)
class Standing:
    """The labels of a benchmark by phase; each maps uid to label.

    Attributes:
        original: published first.
        recomputed: with high confidence.
        settled: as ``recomputed``, and what a rule put right on unreviewed rows (`stewardship.versions.rules`); final
            labels come from these, every count of phase 2 from ``recomputed``.
        physician: a physician's.
        audits: uid to ``likely_error`` or ``passed``.
        attempted: N, the rows that were to be recomputed. All rows of the benchmark where recomputed labels came with
            a table (it does not say what was deferred); else the rows that have a consensus or were deferred.
        strata: uid to stratum.
        types: uid to the type of output that the benchmark names.
    """

    original: Mapping[str, LabelValue]
    recomputed: Mapping[str, LabelValue]
    settled: Mapping[str, LabelValue]
    physician: Mapping[str, LabelValue]
    audits: Mapping[str, str]
    attempted: int
    strata: Mapping[str, str]
    types: Mapping[str, str]


def standing(benchmark: Benchmark) -> Standing:
    """Read the labels that stand in a benchmark's history."""
    history = benchmark.history
    events = history.latest("recomputed", statuses=(HIGH_CONFIDENCE, DEFERRED))
    high = {uid: event.value for uid, event in events.items() if event.status == HIGH_CONFIDENCE}
    from_tables = all("file" in event.evidence and event.status == HIGH_CONFIDENCE for event in events.values())
    settled = history.latest("recomputed", statuses=(HIGH_CONFIDENCE, DEFERRED, RULE))
    return Standing(
        original=history.labels("original", categories=benchmark.categories),
        recomputed={uid: parse_label(value, categories=benchmark.categories) for uid, value in high.items()},
        settled={
            uid: parse_label(event.value, categories=benchmark.categories)
            for uid, event in settled.items()
            if event.status != DEFERRED
        },
        physician=history.labels("physician", categories=benchmark.categories),
        audits={uid: event.status for uid, event in history.latest("audit").items()},
        attempted=benchmark.items.height if from_tables else len(events),
        strata=_column(benchmark, "stratum"),
        types=_column(benchmark, "output_type"),
    )


def rests_on(benchmark: Benchmark) -> dict[str, dict[str, Event]]:
    """Return the events behind the labels that can become final: role to uid to event."""
    history = benchmark.history
    settled = history.latest("recomputed", statuses=(HIGH_CONFIDENCE, DEFERRED, RULE))
    return {"recomputed": settled, "physician": history.latest("physician")}


def _column(benchmark: Benchmark, name: str) -> dict[str, str]:
    items = benchmark.items
    if name not in items.columns:
        return {}
    return {uid: value for uid, value in zip(items["uid"], items[name], strict=True) if value is not None}
