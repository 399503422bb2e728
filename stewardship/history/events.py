"""What was said about labels: events, the batches that they came in, and which of them hold."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from ground.contracts.labels import LabelValue, parse_label

__all__ = [
    "DEFERRED",
    "HIGH_CONFIDENCE",
    "OPEN",
    "REVERTED",
    "ROLES",
    "RULE",
    "Batch",
    "Event",
    "Events",
    "Evidence",
    "Role",
]

Role = Literal["original", "audit", "recomputed", "physician", "reading", "final"]
ROLES: tuple[Role, ...] = get_args(Role)
OPEN = "to_adjudicate"
"""Status of a row whose raters disagree; it has no value."""
REVERTED = "reverted"
"""Status of the events that take back others of their row."""
HIGH_CONFIDENCE, DEFERRED = "high_confidence", "deferred"
"""Statuses of the recomputed labels of runs that agree, or do not."""
RULE = "rule"
"""Status of the recomputed labels that a rule put right (`stewardship.versions.rules`), and of no others."""


Evidence = dict[str, str | int | float | bool | list[str] | None]


class Event(BaseModel):
    """One thing that happened to one row's label.

    Attributes:
        role: which label of the row: the one published first (``original``), the verdict on it (``audit``), the one
            recomputed, a physician's, a language model's that read a sheet (``reading``, which no figure of physicians'
            labels counts), or the one that holds (``final``).
        value: the label as text (`LabelValue.text`), or an audit's verdict; None where none came about (deferred).
        status: ``high_confidence``, ``deferred``, ``likely_error``, ``passed``, ``labelled``, ``rule``, ``reverted``
            and so on.
        by: who or what: a file, a model, a rater, a policy, a rule.
        evidence: what it rests on: run numbers, a file's SHA-256, votes; never note text.
        batch: names the call that added the event; a batch can be reverted.
        at: when (UTC, ISO 8601).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    uid: str
    role: Role
    value: str | None = None
    status: str
    by: str
    why: str = ""
    evidence: Evidence = Field(default_factory=dict)
    batch: str = ""
    at: str = Field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    def says(self) -> dict[str, object]:
        """Return what is said of a label, without row, batch and time: an event that says the same adds nothing."""
        return self.model_dump(include={"value", "status", "by", "why", "evidence"})


@dataclass(frozen=True)
class Batch:
    """The events of one call.

    Attributes:
        name: of the batch, ``0001`` and up.
        roles: of its events, sorted.
        statuses: of its events, sorted.
        reverts: the batch that it takes back; None where it takes none back.
    """

    name: str
    events: int
    roles: tuple[Role, ...]
    statuses: tuple[str, ...]
    by: str
    at: str
    reverts: str | None
    holds: bool


class Events:
    """Events in order, oldest first, and what they come to.

    Each event says a label in full, never a difference to an earlier one: the last event of a role that holds is the
    label. An event holds unless a later batch that holds takes its batch back.

    Attributes:
        events: all of them, those of batches that were taken back too.
        categories: names that labels can be; none where labels are numbers, dates and abstentions.
    """

    def __init__(self, events: Sequence[Event] = (), categories: Collection[str] = ()) -> None:
        self.categories = categories
        self.events: list[Event] = []
        self._batches: dict[str, list[Event]] = {}
        self._rows: dict[str, list[Event]] = {}
        self._latest: dict[tuple[Role, frozenset[str], frozenset[str]], dict[str, Event]] = {}
        self._take(events)

    def latest(self, role: Role, *, statuses: Collection[str] = (), without: Collection[str] = ()) -> dict[str, Event]:
        """Return each row's last event of a role that was not reverted, by uid.

        Args:
            statuses: count these events only; all where left out.
        """
        key = (role, frozenset(statuses), frozenset(without))
        if key not in self._latest:
            holding = self._holding()
            self._latest[key] = {
                event.uid: event
                for event in self.events
                if event.role == role
                and event.status != REVERTED
                and event.batch in holding
                and (not statuses or event.status in key[1])
                and event.status not in key[2]
            }
        return dict(self._latest[key])

    def labels(
        self, role: Role, *, statuses: Collection[str] = (), without: Collection[str] = ()
    ) -> dict[str, LabelValue]:
        """Return the label of each row that has one of this role, by uid; arguments as of `latest`."""
        latest = self.latest(role, statuses=statuses, without=without)
        return {uid: self.label(event) for uid, event in latest.items() if event.value is not None}

    def label(self, event: Event) -> LabelValue:
        """Return the label that an event says."""
        return parse_label(event.value, physician=event.role == "physician", categories=self.categories)

    def row(self, uid: str) -> list[Event]:
        """Return the events of one row, oldest first, those taken back too."""
        return list(self._rows.get(uid, ()))

    def holds(self) -> frozenset[str]:
        """Return the names of the batches that no later batch takes back."""
        return frozenset(self._holding())

    def batches(self) -> list[Batch]:
        """Return the batches, oldest first."""
        holding = self._holding()
        return [
            Batch(
                name=name,
                events=len(events),
                roles=tuple(sorted({event.role for event in events})),
                statuses=tuple(sorted({event.status for event in events})),
                by=events[0].by,
                at=events[0].at,
                reverts=_target(events),
                holds=name in holding,
            )
            for name, events in self._batches.items()
        ]

    def digest(self, events: int | None = None) -> str:
        """Return a SHA-256 of what the first events say, all where left out; when they were said is not part of it."""
        digest = hashlib.sha256()
        for event in self.events[:events]:
            digest.update(event.model_dump_json(exclude={"at"}, exclude_defaults=True).encode() + b"\n")
        return digest.hexdigest()

    def _holding(self) -> tuple[str, ...]:
        """Return the batches that no later batch takes back, oldest first."""
        lost: set[str] = set()
        held: list[str] = []
        # From the last: one that holds decides about the one that it takes back, which is older.
        for name, events in reversed(self._batches.items()):
            if name in lost:
                continue
            held.append(name)
            if target := _target(events):
                lost.add(target)
        return tuple(reversed(held))

    def as_of(self, events: int) -> Events:
        """Return what the first events came to."""
        return Events(self.events[:events], self.categories)

    def _take(self, events: Sequence[Event]) -> None:
        for event in events:
            self._batches.setdefault(event.batch, []).append(event)
            self._rows.setdefault(event.uid, []).append(event)
        self.events += events
        self._latest.clear()


def _target(events: Sequence[Event]) -> str | None:
    reverts = events[0].evidence.get("reverts") if events and events[0].status == REVERTED else None
    return reverts if isinstance(reverts, str) else None
