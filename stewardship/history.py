"""The history of labels: one event for each time that a label was said, taken up or taken back; only ever added to.

Every phase writes here and reads here what the phases before it said. The file is JSON lines, one event a line; events
of one call are written together, or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ontoground.errors import InputError, UsageError
from ontoground.files import atomic_path, private_directory
from ontoground.labels import LabelValue, parse_label

__all__ = ["ROLES", "Event", "History", "Role"]

Role = Literal["original", "audit", "recomputed", "physician", "final"]
ROLES: tuple[Role, ...] = get_args(Role)
FILE = "history.jsonl"


class Event(BaseModel):
    """One thing that happened to one row's label.

    Attributes:
        uid: the row.
        role: which label of the row: the one published first (``original``), the verdict on it (``audit``), the one
            recomputed, a physician's, or the one that holds (``final``).
        value: the label as text (`LabelValue.text`), or an audit's verdict; None where none came about (deferred).
        status: ``high_confidence``, ``deferred``, ``likely_error``, ``passed``, ``labelled``, ``reverted`` and so on.
        by: who or what: a file, a model, a rater, a policy, a rule.
        why: in words.
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
    evidence: dict[str, str | int | float | bool | list[str] | None] = Field(default_factory=dict)
    batch: str = ""
    at: str = Field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))


class History:
    """The events of one benchmark, oldest first."""

    def __init__(self, folder: Path) -> None:
        """Open the history in a folder; it need not be there yet.

        Raises:
            InputError: a line is no event.
        """
        self.file = folder / FILE
        self.events: list[Event] = _read(self.file) if self.file.is_file() else []

    def append(self, events: Sequence[Event]) -> str:
        """Add events as one batch, whole or not at all, and return the batch's name."""
        name = f"{len({event.batch for event in self.events}) + 1:04d}"
        batch = [event.model_copy(update={"batch": name}) for event in events]
        private_directory(self.file.parent)
        before = self.file.read_bytes() if self.file.is_file() else b""
        with atomic_path(self.file) as temporary:
            added = "".join(event.model_dump_json() + "\n" for event in batch).encode()
            temporary.write_bytes(before + added)
        self.events += batch
        return name

    def latest(self, role: Role, *, statuses: Collection[str] = ()) -> dict[str, Event]:
        """Return each row's last event of a role that was not reverted, by uid.

        Args:
            role: which label.
            statuses: count these events only; all where left out.
        """
        reverted = {event.evidence.get("reverts") for event in self.events if event.status == "reverted"}
        return {
            event.uid: event
            for event in self.events
            if event.role == role
            and event.status != "reverted"
            and event.batch not in reverted
            and (not statuses or event.status in statuses)
        }

    def labels(self, role: Role, *, categories: Collection[str] = ()) -> dict[str, LabelValue]:
        """Return the label of each row that has one of this role, by uid."""
        return {
            uid: parse_label(event.value, categories=categories)
            for uid, event in self.latest(role).items()
            if event.value is not None
        }

    def revert(self, batch: str, *, by: str, why: str) -> str:
        """Take a batch back: its events stay in the file and hold no longer.

        Raises:
            UsageError: no such batch, or it was taken back before.
        """
        events = [event for event in self.events if event.batch == batch]
        if not events or any(event.evidence.get("reverts") == batch for event in self.events):
            known = ", ".join(dict.fromkeys(event.batch for event in self.events)) or "none yet"
            raise UsageError("no batch that can be taken back", found=batch, expected=known)
        return self.append(
            [
                Event(uid=event.uid, role=event.role, status="reverted", by=by, why=why, evidence={"reverts": batch})
                for event in events
            ]
        )

    def frame(self) -> pl.DataFrame:
        """Return all events as a table, oldest first; ``evidence`` is JSON."""
        rows = [{**event.model_dump(), "evidence": json.dumps(event.evidence)} for event in self.events]
        return pl.DataFrame(rows, schema=dict.fromkeys(Event.model_fields, pl.String))


def _read(file: Path) -> list[Event]:
    events = []
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                events.append(Event.model_validate_json(line))
            except ValidationError as error:
                raise InputError(
                    "a line of the history is no event",
                    file=file,
                    line=number,
                    found=", ".join(sorted({str(one["type"]) for one in error.errors(include_input=False)})),
                    do="put the file back as it was: the history is only ever added to by `ontoground steward`",
                ) from None
    return events
