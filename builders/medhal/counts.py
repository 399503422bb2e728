"""What a build made, in numbers: by source, task, label, version and split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, get_args

from builders.medhal.feeds import Feed
from builders.medhal.versions import Selection
from builders.shards import SPLITS
from builders.texts.origin import OTHER_SPLIT, Tally
from ground.contracts.rows_text import MEDHAL_TASKS
from ground.contracts.splits import Version

__all__ = ["VERSIONS", "BuildReport", "Judgements", "SourceCounts", "report_of"]

VERSIONS: tuple[Version, ...] = get_args(Version)


@dataclass
class Judgements:
    """Pairs that came to the judge and pairs whose labels it confirmed, by source.

    ``asked`` is False where the settings switch the judge off: then all are taken as they are.
    """

    asked: bool
    judged: Counter[str] = field(default_factory=Counter)
    confirmed: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class SourceCounts:
    """What became of one source.

    Attributes:
        items: read from its files, of the wanted splits.
        pairs: made by the engine.
        judge: who judged them; None where nobody did.
        confirmed: pairs whose labels the judge confirmed (all pairs, where nobody judged).
        factual, non_factual: rows in the dataset.
    """

    source: str
    task: str
    items: int
    pairs: int
    judge: str | None
    confirmed: int
    factual: int
    non_factual: int

    @property
    def kept_share(self) -> float | None:
        """Share of the judged pairs that was confirmed; None where nothing was judged."""
        return self.confirmed / self.pairs if self.judge and self.pairs else None


@dataclass(frozen=True)
class BuildReport:
    """What a build made.

    Attributes:
        rows: in the dataset, two for each pair.
        sources: in the order of the source table.
        versions: rows by version and task.
        splits: rows by split.
        shortcuts: what the statement alone tells, by source and reader (`builders.texts.shortcuts.Shortcut`).
        dropped: items and pairs left out, by ``source: reason``.
    """

    rows: int
    sources: tuple[SourceCounts, ...]
    versions: dict[str, dict[str, int]]
    splits: dict[str, int]
    shortcuts: list[dict[str, Any]]
    dropped: dict[str, int]

    def as_dict(self) -> dict[str, Any]:
        """Return the report for ``--json`` output."""
        return asdict(self) | {
            "sources": [asdict(counts) | {"kept_share": counts.kept_share} for counts in self.sources]
        }


def report_of(
    feeds: Sequence[Feed], selection: Selection, tally: Tally, judgements: Judgements, shortcuts: list[dict[str, Any]]
) -> BuildReport:
    """Count what was selected."""
    pairs = {
        version: selection.pairs.filter(mask)
        for version, mask in zip(VERSIONS, ("kept", "length_filtered", "balanced"), strict=True)
    }
    by_source = Counter(pairs["full"]["source"])
    tasks = {version: Counter(of_version["task"]) for version, of_version in pairs.items()}
    splits = Counter(pairs["full"]["split"])
    return BuildReport(
        rows=2 * pairs["full"].height,
        sources=tuple(_counts(feed, by_source[feed.source.source], tally, judgements) for feed in feeds),
        versions={
            version: {task: 2 * n for task in MEDHAL_TASKS if (n := by_task[task])}
            for version, by_task in tasks.items()
        },
        splits={split: 2 * splits[split] for split in SPLITS},
        shortcuts=shortcuts,
        dropped=tally.reasons(),
    )


def _counts(feed: Feed, pairs: int, tally: Tally, judgements: Judgements) -> SourceCounts:
    name = feed.source.source
    return SourceCounts(
        source=name,
        task=feed.task,
        items=tally.read[name] - tally.dropped[name, OTHER_SPLIT],
        pairs=judgements.judged[name],
        judge=feed.judge.name if judgements.asked and feed.judge is not None else None,
        confirmed=judgements.confirmed[name],
        factual=pairs,
        non_factual=pairs,
    )
