"""What a history says at the moment: the labels of each phase, as the phases after it read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ground.contracts.labels import LabelValue
from ground.errors import UsageError
from stewardship.benchmark.folder import Benchmark
from stewardship.history.events import DEFERRED, HIGH_CONFIDENCE, OPEN, RULE, Event, Events

__all__ = ["Standing", "check_final", "disputed", "outdated", "rests_on", "reviewers", "standing"]

RUNS = (HIGH_CONFIDENCE, DEFERRED)
"""Statuses of the recomputed labels that runs gave, or a table."""


@dataclass(frozen=True)
class Standing:
    """The labels of a benchmark by phase; each maps uid to label.

    Attributes:
        settled: as ``recomputed``, and what a rule put right on unreviewed rows (`stewardship.versions.rules`); final
            labels come from these, every count of phase 2 from ``recomputed``.
        audits: uid to ``likely_error`` or ``passed``.
        attempted: N, the rows that were to be recomputed. All rows of the benchmark where recomputed labels came with
            a table (it does not say what was deferred); else the rows that have a consensus or were deferred.
        strata: uid to stratum.
        types: uid to the type of output that the benchmark names.
        outdated: rows whose final label is older than what it rests on.
    """

    original: Mapping[str, LabelValue]
    recomputed: Mapping[str, LabelValue]
    settled: Mapping[str, LabelValue]
    physician: Mapping[str, LabelValue]
    audits: Mapping[str, str]
    attempted: int
    strata: Mapping[str, str]
    types: Mapping[str, str]
    outdated: tuple[str, ...]

    @property
    def predictions(self) -> dict[str, Mapping[str, LabelValue]]:
        """The labels that a physician's are compared with, by labeller."""
        return {"original": self.original, "recomputed": self.recomputed}


def disputed(events: Events) -> tuple[str, ...]:
    """Return the rows whose raters disagree: they have answers of physicians, and no label of theirs."""
    return tuple(uid for uid, event in events.latest("physician").items() if event.status == OPEN)


def reviewers(event: Event) -> str:
    """Say whose a reviewer's label is, as far as it was declared: raters by name, or a file with physicians' labels.

    Nobody proves to be a person: a rater is one unless he was declared a language model, whose events are of role
    ``reading``.
    """
    if "sha256" in event.evidence:
        return f"the physicians of {event.by}, as that file says"
    raters = event.evidence.get("raters")
    names = ", ".join(raters) if isinstance(raters, list) else event.by
    return f"{names}, not declared a language model"


def standing(benchmark: Benchmark) -> Standing:
    """Read the labels that stand in a benchmark's history."""
    history = benchmark.history
    events = history.latest("recomputed", statuses=RUNS)
    from_tables = all("file" in event.evidence and event.status == HIGH_CONFIDENCE for event in events.values())
    return Standing(
        original=history.labels("original"),
        recomputed=history.labels("recomputed", statuses=RUNS),
        settled=history.labels("recomputed", statuses=(*RUNS, RULE)),
        physician=history.labels("physician"),
        audits={uid: event.status for uid, event in history.latest("audit").items()},
        attempted=benchmark.items.height if from_tables else len(events),
        strata=benchmark.column("stratum"),
        types=benchmark.column("output_type"),
        outdated=outdated(history),
    )


def rests_on(events: Events) -> dict[str, dict[str, Event]]:
    """Return the events behind the labels that can become final: role to uid to event."""
    settled = events.latest("recomputed", statuses=(*RUNS, RULE))
    return {"recomputed": settled, "physician": events.latest("physician")}


def outdated(events: Events) -> tuple[str, ...]:
    """Return the rows whose final label is older than what it rests on.

    Runs, a rule or a physician said something since, or the batch that the label rests on was taken back.
    """
    rests = rests_on(events)
    old = []
    for uid, event in events.latest("final").items():
        if event.value is None:
            continue
        named = event.evidence.get("from")
        source = "recomputed" if named == RULE else str(named)
        rest = rests[source].get(uid) if source in rests else None
        reviewed = rests["physician"].get(uid)
        moved = source in rests and (rest is None or rest.batch != event.evidence.get("batch"))
        if moved or (reviewed is not None and int(reviewed.batch) > int(event.batch)):
            old.append(uid)
    return tuple(old)


def check_final(events: Events) -> None:
    """Refuse final labels that are older than what they rest on (`outdated`).

    Raises:
        UsageError: some are.
    """
    if old := outdated(events):
        raise UsageError(
            "final labels are older than their evidence",
            found=f"{len(old):,} rows: {', '.join(old[:5])}",
            do="run `ontoground steward finalise` first",
        )
