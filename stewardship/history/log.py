"""The history of labels: one event for each time that a label was said, taken up or taken back; only ever added to.

Every phase writes here and reads here what the phases before it said. Two files make one history:

- ``history.jsonl``: one event a line, oldest first. Each line ends with ``chain``, the SHA-256 of the line before's
  ``chain`` and of its own text, so that a line that was altered, removed or moved is found and named.
- ``history.seal``: how many events, and how many bytes, are the history, and the last ``chain``. It is replaced as a
  whole after a batch is on disk: a batch counts whole or not at all, and lines that were lost at the end are missed.

What the events come to is in `stewardship.history.events`.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from ground.errors import InputError, UsageError
from ground.storage.files import private_directory, write_text
from stewardship.history.events import REVERTED, ROLES, RULE, Batch, Event, Events, Role

__all__ = ["ROLES", "RULE", "Batch", "Event", "History", "Role"]

FILE = "history.jsonl"
SEAL = "history.seal"
LOCK = "history.lock"
LINK = b',"chain":"'
LINK_BYTES = len(LINK) + 64 + len('"}')


EVENTS = TypeAdapter(list[Event])


class Seal(BaseModel):
    """How far the history goes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    events: int = 0
    bytes: int = 0
    chain: str = ""


class History(Events):
    """The events of one benchmark, oldest first.

    Attributes:
        events: all of them, those of batches that were taken back too.
        chain: SHA-256 that stands for all of them, in order; empty where there are none.
    """

    def __init__(self, folder: Path, categories: Collection[str] = ()) -> None:
        """Open the history in a folder; it need not be there yet.

        Args:
            categories: names that labels can be.

        Raises:
            InputError: a line was altered, removed, moved or added by something else, and which one.
        """
        super().__init__(categories=categories)
        self.file = folder / FILE
        self._seal = Seal()
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
            raise InputError("the history is shorter than it was", file=self.file, do="restore the file")
        with self.file.open("rb") as file:
            file.seek(self._seal.bytes)
            added = file.read(seal.bytes - self._seal.bytes)
            behind = file.read()
        self._take(_events(added, self._seal, seal, self.file))
        self._seal = seal
        _check_behind(behind, seal, self.file)
        return self

    def append(self, events: Sequence[Event], *, check: Callable[[], None] | None = None) -> str:
        """Add events as one batch, whole or not at all, and return the batch's name; writers wait for one another.

        Args:
            check: called before the batch is written, when this history holds all that others wrote and no other can
                write; an error that it raises leaves the history as it was.

        Raises:
            UsageError: there are no events: a batch without any could not be seen.
        """
        if not events:
            raise UsageError("a batch without events", expected="one event at least")
        with self._locked():
            self.refresh()
            if check is not None:
                check()
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
        self._take(batch)
        self._seal = seal
        return name

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
                    "the batch was already reverted" if events else "no such batch",
                    found=batch,
                    expected=f"one that holds: {', '.join(holding) or 'none'}",
                )
            return self._write(
                [
                    Event(uid=event.uid, role=event.role, status=REVERTED, by=by, why=why, evidence={"reverts": batch})
                    for event in events
                ]
            )

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


def _link(before: str, body: bytes) -> str:
    return hashlib.sha256(before.encode() + body).hexdigest()


def _read_seal(file: Path) -> Seal:
    seal = file.with_name(SEAL)
    if not seal.is_file():
        if file.is_file():
            raise InputError("the history's seal is missing", file=seal, do="restore the file")
        return Seal()
    try:
        result = Seal.model_validate_json(seal.read_bytes())
    except ValidationError:
        raise InputError("the history's seal cannot be read", file=seal, do="restore the file") from None
    size = file.stat().st_size if file.is_file() else 0
    if size < result.bytes:
        if size:
            # A line that was made shorter is named, rather than called lost.
            _bodies(file.read_bytes(), Seal(), file)
        raise InputError(
            "lines of the history are lost",
            file=file,
            found=f"{size:,} bytes",
            expected=f"{result.bytes:,} bytes, {result.events:,} events",
            do="restore the file",
        )
    return result


def _events(added: bytes, before: Seal, seal: Seal, file: Path) -> list[Event]:
    """Read the lines between two seals, each checked against the chain."""
    bodies, chain = _bodies(added, before, file)
    if (before.events + len(bodies), chain) != (seal.events, seal.chain):
        raise InputError(
            "the history does not end as its seal says",
            file=file,
            line=before.events + len(bodies),
            expected=f"{seal.events:,} events",
            do="restore both files",
        )
    try:
        return EVENTS.validate_json(b"[" + b",".join(bodies) + b"]")
    except ValidationError as error:
        kinds = ", ".join(sorted({str(item["type"]) for item in error.errors(include_input=False)}))
        raise InputError("the history has lines that are not events", file=file, found=kinds) from None


def _bodies(added: bytes, before: Seal, file: Path) -> tuple[list[bytes], str]:
    """Return whole lines behind a seal without their links, and the chain at their end; a broken link is refused."""
    bodies: list[bytes] = []
    chain = before.chain
    for number, line in enumerate(added.split(b"\n")[:-1], start=before.events + 1):
        body, link = line[:-LINK_BYTES] + b"}", line[-LINK_BYTES:]
        chain = _link(chain, body)
        if link != LINK + chain.encode() + b'"}':
            raise InputError(
                "a line of the history was altered",
                file=file,
                line=number,
                found="it was altered, or a line before it was removed, added or moved",
                do="restore the file: the history is only ever added to by `ontoground steward`",
            )
        bodies.append(body)
    return bodies, chain


def _check_behind(behind: bytes, seal: Seal, file: Path) -> None:
    """Lines behind the seal may be of a batch that was cut off; what was never written by an append is named."""
    chain = seal.chain
    for number, line in enumerate(behind.split(b"\n")[:-1], start=seal.events + 1):
        chain = _link(chain, line[:-LINK_BYTES] + b"}")
        if line[-LINK_BYTES:] != LINK + chain.encode() + b'"}':
            raise InputError(
                "a line was added after the end of the history",
                file=file,
                line=number,
                expected=f"{seal.events:,} lines",
                do="take the line out: the history is only ever added to by `ontoground steward`",
            )
