"""What stored runs come to under other rules of consensus (which docs/stewardship.md#what-is-assumed lists)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ground.contracts.labels import LabelKind, LabelValue
from ground.settings import StewardSettings
from stewardship.adjudication.discrepancy import FLAGGED, discrepancies
from stewardship.benchmark.folder import Benchmark
from stewardship.history.events import DEFERRED, HIGH_CONFIDENCE
from stewardship.runs.consensus import consensus
from stewardship.runs.store import read_runs, series_folders

__all__ = ["Recounted", "recounted"]

MISSING = LabelValue(LabelKind.MISSING)
NEAR = (0.0, 0.01, 0.1)
DAYS = (0, 2, 7)


@dataclass(frozen=True)
class Recounted:
    """Consensus by another rule.

    Attributes:
        rule: in words; empty for the settings' own.
    """

    rule: str
    high: int
    flagged: int
    n: int


def recounted(
    benchmark: Benchmark, original: Mapping[str, LabelValue], settings: StewardSettings
) -> Iterator[Recounted]:
    """Count consensus and flags again under other rules; nothing where labels did not come from several stored runs.

    Raises:
        InputError: a line of the stored runs is none.
    """
    answers = _answers(benchmark)
    if not answers:
        return
    own = _own(benchmark, settings)
    rules: list[tuple[str, dict[str, float]]] = [("", {})]
    rules.append(("no near-consensus", {"near_quorum": own.quorum}))
    rules += [(f"numbers are near within {near:g}", {"near_rel_err": near}) for near in NEAR]
    if any(label.day is not None for labels in answers.values() for label in labels):
        rules += [(f"dates are near within {days} days", {"near_days": days}) for days in DAYS]
    rules += [(f"numbers are rounded to {digits}", {"decimals": digits}) for digits in (1, 3)]
    for name, changed in rules:
        given = own.model_copy(update=changed)
        if name and given == own:
            continue
        results = {uid: consensus(labels, given).label for uid, labels in answers.items()}
        yield _counted(name, results, original, settings)
    share = own.quorum / max(map(len, answers.values()))
    yield _counted(
        "runs without an answer are left out, and the quorum is the same share of the others",
        {uid: _of_answered(labels, own, share) for uid, labels in answers.items()},
        original,
        settings,
    )


def _own(benchmark: Benchmark, settings: StewardSettings) -> StewardSettings:
    """Return the settings with the quorums of the labels that hold, which recorded runs of another number have."""
    for event in benchmark.history.latest("recomputed", statuses=(HIGH_CONFIDENCE, DEFERRED)).values():
        if named := [name for name in ("quorum", "near_quorum") if name in event.evidence]:
            return settings.model_copy(update={name: int(str(event.evidence[name])) for name in named})
    return settings


def _answers(benchmark: Benchmark) -> dict[str, list[LabelValue]]:
    """Return the runs behind the labels that hold, by uid; rows of one run, or of a table, have no consensus."""
    events = benchmark.history.latest("recomputed", statuses=(HIGH_CONFIDENCE, DEFERRED))
    answers: dict[str, list[LabelValue]] = {}
    series: dict[str, object] = {}
    for uid, event in events.items():
        runs = event.evidence.get("runs")
        if isinstance(runs, int) and runs > 1:
            answers[uid], series[uid] = [MISSING] * runs, event.evidence.get("series")
    for folder in series_folders(benchmark.folder, "recompute"):
        if folder.name not in series.values():
            continue
        for run in read_runs(folder):
            if series.get(run.uid) == folder.name and run.run <= len(answers[run.uid]):
                answers[run.uid][run.run - 1] = benchmark.parse(run.parsed)
    return answers


def _of_answered(labels: list[LabelValue], own: StewardSettings, share: float) -> LabelValue | None:
    answered = [label for label in labels if label.answered]
    # Two runs at least: one answer alone agrees with nothing.
    quorum = max(2, math.ceil(share * len(answered) - 1e-9))
    quorums = {"quorum": quorum, "near_quorum": min(own.near_quorum, quorum)}
    return consensus(answered, own.model_copy(update=quorums)).label


def _counted(
    rule: str,
    labels: Mapping[str, LabelValue | None],
    original: Mapping[str, LabelValue],
    settings: StewardSettings,
) -> Recounted:
    high = {uid: label for uid, label in labels.items() if label is not None}
    both = [uid for uid in high if uid in original]
    flags = discrepancies([original[uid] for uid in both], [high[uid] for uid in both], limit=settings.flag_rel_err)
    return Recounted(rule, len(high), sum(flag in FLAGGED for flag in flags["flag"]), len(labels))
