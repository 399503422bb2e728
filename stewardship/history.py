"""The history of labels: one event for each time that a label was said, taken up or taken back; only ever added to.

Every phase writes here and reads here what the phases before it said. Two files make one history:

- ``history.jsonl``: one event a line, oldest first. Each line ends with ``chain``, the SHA-256 of the line before's
  ``chain`` and of its own text, so that a line that was altered, removed or moved is found and named.
- ``history.seal``: how many events, and how many bytes, are the history, and the last ``chain``. It is replaced as a
  whole after a batch is on disk: a batch counts whole or not at all, and lines that were lost at the end are missed.

Each event says a label in full, never a difference to an earlier one: the last event of a role that holds is the label.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ontoground.errors import InputError, UsageError
from ontoground.files import private_directory, write_text
from ontoground.labels import LabelValue, parse_label

__all__ = ["ROLES", "RULE", "Batch", "Event", "History", "Role"]

Role = Literal["original", "audit", "recomputed", "physician", "final"]
ROLES: tuple[Role, ...] = get_args(Role)
FILE = "history.jsonl"
SEAL = "history.seal"
LOCK = "history.lock"
REVERTED = "reverted"
RULE = "rule"
"""Status of the recomputed labels that a rule put right (`stewardship.rules`), and of no others."""
LINK = b',"chain":"'
LINK_BYTES = len(LINK) + 64 + len('"}')


class Event(BaseModel):
    """One thing that happened to one row's label.

    Attributes:
        uid: the row.
        role: which label of the row: the one published first (``original``), the verdict on it (``audit``), the one
            recomputed, a physician's, or the one that holds (``final``).
        value: the label as text (`LabelValue.text`), or an audit's verdict; None where none came about (deferred).
        status: ``high_confidence``, ``deferred``, ``likely_error``, ``passed``, ``labelled``, ``rule``, ``reverted``
            and so on.
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


EVENTS = TypeAdapter(list[Event])


@dataclass(frozen=True)
class Batch:
    """The events of one call.

    Attributes:
        name: of the batch, ``0001`` and up.
        events: how many.
        roles: of its events, sorted.
        statuses: of its events, sorted.
        by: who or what added it.
        at: when its first event was made.
        reverts: the batch that it takes back; None where it takes none back.
        holds: whether no later batch takes it back.
    """

    name: str
    events: int
    roles: tuple[Role, ...]
    statuses: tuple[str, ...]
    by: str
    at: str
    reverts: str | None
    holds: bool


class Seal(BaseModel):
    """How far the history goes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    events: int = 0
    bytes: int = 0
    chain: str = ""


class History:
    """The events of one benchmark, oldest first.

    Attributes:
        file: the lines.
        events: all of them, those of batches that were taken back too.
        chain: SHA-256 that stands for all of them, in order; empty where there are none.
    """

    def __init__(self, folder: Path) -> None:
        """Open the history in a folder; it need not be there yet.

        Raises:
            InputError: a line was altered, removed, moved or added by something else, and which one.
        """
        self.file = folder / FILE
        self.events: list[Event] = []
        self._seal = Seal()
        self._batches: dict[str, list[Event]] = {}
        self._rows: dict[str, list[Event]] = {}
        self._latest: dict[tuple[Role, frozenset[str]], dict[str, Event]] = {}
        self.refresh()

    @property
    def chain(self) -> str:
        """SHA-256 that stands for all events, in order."""
        return self._seal.chain

    def refresh(self) -> History:
        """Read what was added since the history was opened, by another process say.

        Raises:
            InputError: as when it is opened.
        """
        seal = _read_seal(self.file)
        if seal == self._seal:
            return self
        if seal.bytes < self._seal.bytes or seal.events < self._seal.events:
            raise InputError("the history is shorter than it was", file=self.file, do="put the file back as it was")
        with self.file.open("rb") as file:
            file.seek(self._seal.bytes)
            added = file.read(seal.bytes - self._seal.bytes)
            behind = file.read()
        self._take(_events(added, self._seal, seal, self.file), seal)
        _check_behind(behind, seal, self.file)
        return self

    def append(self, events: Sequence[Event]) -> str:
        """Add events as one batch, whole or not at all, and return the batch's name; writers wait for one another.

        Raises:
            UsageError: there are no events: a batch without any could not be seen.
        """
        if not events:
            raise UsageError("a batch without events", expected="one event at least")
        with self._locked():
            self.refresh()
            return self._write(events)

    def _write(self, events: Sequence[Event]) -> str:
        name = f"{len(self._batches) + 1:04d}"
        batch = [event.model_copy(update={"batch": name}) for event in events]
        lines, chain = [], self.chain
        for event in batch:
            body = event.model_dump_json().encode()
            chain = _link(chain, body)
            lines.append(body[:-1] + LINK + chain.encode() + b'"}\n')
        added = b"".join(lines)
        start = self._seal.bytes
        with os.fdopen(os.open(self.file, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
            # What lies behind the seal is of a batch that was cut off before it counted.
            file.truncate(start)
            file.seek(start)
            file.write(added)
            file.flush()
            os.fsync(file.fileno())
        seal = Seal(events=self._seal.events + len(batch), bytes=start + len(added), chain=chain)
        write_text(self.file.with_name(SEAL), seal.model_dump_json() + "\n")
        self._take(batch, seal)
        return name

    def latest(self, role: Role, *, statuses: Collection[str] = ()) -> dict[str, Event]:
        """Return each row's last event of a role that was not reverted, by uid.

        Args:
            role: which label.
            statuses: count these events only; all where left out.
        """
        key = (role, frozenset(statuses))
        if key not in self._latest:
            holding = self._holding()
            self._latest[key] = {
                event.uid: event
                for event in self.events
                if event.role == role
                and event.status != REVERTED
                and event.batch in holding
                and (not statuses or event.status in key[1])
            }
        return dict(self._latest[key])

    def labels(self, role: Role, *, categories: Collection[str] = ()) -> dict[str, LabelValue]:
        """Return the label of each row that has one of this role, by uid."""
        return {
            uid: parse_label(event.value, physician=role == "physician", categories=categories)
            for uid, event in self.latest(role).items()
            if event.value is not None
        }

    def row(self, uid: str) -> list[Event]:
        """Return the events of one row, oldest first, those taken back too."""
        return list(self._rows.get(uid, ()))

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

    def revert(self, batch: str, *, by: str, why: str) -> str:
        """Take a batch back: its events stay in the file and hold no longer.

        A batch that takes another back can be taken back too: the other then holds again, at its old place.

        Raises:
            UsageError: no such batch, or it was taken back before.
        """
        with self._locked():
            self.refresh()
            events, holding = self._batches.get(batch, []), self._holding()
            if batch not in holding:
                raise UsageError(
                    "the batch was taken back before" if events else "no such batch",
                    found=batch,
                    expected=f"one that holds: {', '.join(holding) or 'none'}",
                )
            return self._write(
                [
                    Event(uid=event.uid, role=event.role, status=REVERTED, by=by, why=why, evidence={"reverts": batch})
                    for event in events
                ]
            )

    def frame(self) -> pl.DataFrame:
        """Return all events as a table, oldest first; ``evidence`` is JSON."""
        rows = [{**event.model_dump(), "evidence": json.dumps(event.evidence)} for event in self.events]
        return pl.DataFrame(rows, schema=dict.fromkeys(Event.model_fields, pl.String))

    def digest(self, events: int | None = None) -> str:
        """Return a SHA-256 of what the first events say, all where left out; when they were said is not part of it."""
        digest = hashlib.sha256()
        for event in self.events[:events]:
            digest.update(event.model_dump_json(exclude={"at"}).encode() + b"\n")
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

    def _take(self, events: Sequence[Event], seal: Seal) -> None:
        for event in events:
            self._batches.setdefault(event.batch, []).append(event)
            self._rows.setdefault(event.uid, []).append(event)
        self.events += events
        self._seal = seal
        self._latest.clear()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Wait until no other process writes, and keep others waiting."""
        folder = private_directory(self.file.parent)
        with (folder / LOCK).open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / SEAL).is_file() and not self.file.is_file():
                # First of all: lines without a seal are a history whose seal was lost.
                write_text(folder / SEAL, Seal().model_dump_json() + "\n")
            yield


def _target(events: Sequence[Event]) -> str | None:
    reverts = events[0].evidence.get("reverts") if events and events[0].status == REVERTED else None
    return reverts if isinstance(reverts, str) else None


def _link(before: str, body: bytes) -> str:
    return hashlib.sha256(before.encode() + body).hexdigest()


def _read_seal(file: Path) -> Seal:
    seal = file.with_name(SEAL)
    if not seal.is_file():
        if file.is_file():
            raise InputError("the history's seal is missing", file=seal, do="put the file back")
        return Seal()
    try:
        found = Seal.model_validate_json(seal.read_bytes())
    except ValidationError:
        raise InputError("the history's seal cannot be read", file=seal, do="put the file back as it was") from None
    size = file.stat().st_size if file.is_file() else 0
    if size < found.bytes:
        raise InputError(
            "lines of the history are lost",
            file=file,
            found=f"{size:,} bytes",
            expected=f"{found.bytes:,} bytes, {found.events:,} events",
            do="put the file back as it was",
        )
    return found


def _events(added: bytes, before: Seal, seal: Seal, file: Path) -> list[Event]:
    """Read the lines between two seals, each checked against the chain."""
    bodies: list[bytes] = []
    chain = before.chain
    for number, line in enumerate(added.split(b"\n")[:-1], start=before.events + 1):
        body, link = line[:-LINK_BYTES] + b"}", line[-LINK_BYTES:]
        chain = _link(chain, body)
        if link != LINK + chain.encode() + b'"}':
            raise InputError(
                "a line of the history is not what was written",
                file=file,
                line=number,
                found="it was altered, or a line before it was removed, added or moved",
                do="put the file back as it was: the history is only ever added to by `ontoground steward`",
            )
        bodies.append(body)
    if (before.events + len(bodies), chain) != (seal.events, seal.chain):
        raise InputError(
            "the history does not end as its seal says",
            file=file,
            line=before.events + len(bodies),
            expected=f"{seal.events:,} events",
            do="put both files back as they were",
        )
    try:
        return EVENTS.validate_json(b"[" + b",".join(bodies) + b"]")
    except ValidationError as error:
        found = ", ".join(sorted({str(one["type"]) for one in error.errors(include_input=False)}))
        raise InputError("the history has lines that are no events", file=file, found=found) from None


def _check_behind(behind: bytes, seal: Seal, file: Path) -> None:
    """Lines behind the seal may be of a batch that was cut off; what was never written by an append is named."""
    chain = seal.chain
    for number, line in enumerate(behind.split(b"\n")[:-1], start=seal.events + 1):
        chain = _link(chain, line[:-LINK_BYTES] + b"}")
        if line[-LINK_BYTES:] != LINK + chain.encode() + b'"}':
            raise InputError(
                "a line behind the end of the history is none of its own",
                file=file,
                line=number,
                expected=f"{seal.events:,} lines",
                do="take the line out: the history is only ever added to by `ontoground steward`",
            )
