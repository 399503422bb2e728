"""The store of runs: every answer that a labeller gave, kept as it is finished, with all that it was asked.

One folder a series, ``{benchmark}/runs/{phase}/{series}``: a series is everything that decides the answers (engine,
model, sampling, prompt, tools), so that runs of two models are never counted together. In it:

* ``series.json``: what it is;
* ``runs.jsonl``: one run a line (`Run`), only ever added to;
* ``messages.jsonl``: the messages of the prompts, each stored once under its SHA-256.

A batch is on the disk when `RunStore.append` returns. A kill at any moment loses at most the batch under way; a line
that it cut is taken away when the store is opened again.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from ground.errors import InputError, UsageError
from ground.lm.cache import content_key
from ground.lm.results import Message
from ground.storage.files import private_directory, write_text
from stewardship.tools.base import ToolUse

__all__ = [
    "Phase",
    "Run",
    "RunStore",
    "Vote",
    "differences",
    "message_key",
    "read_messages",
    "read_runs",
    "series_folders",
]

FOLDER = "runs"
RUNS = "runs.jsonl"
MESSAGES = "messages.jsonl"
SERIES = "series.json"

Phase = Literal["audit", "recompute"]
Line = TypeVar("Line")


class Run(BaseModel):
    """One run of a labeller over one row.

    Attributes:
        phase: what was asked for: a verdict on the label, or a label.
        run: its number among the row's runs, from 1.
        outcome: ``answered``; ``unparseable``: something was said that is no verdict or label; ``failed``: nothing was.
        parsed: the verdict (``Suspicious``, ``Pass``) or the label as text; None where there is none.
        kind: of a label (`ground.contracts.labels.LabelKind`).
        failure_mode: of a Suspicious verdict: where the auditor sees the fault.
        remark: of a verdict: the fault in the auditor's words.
        answer: the last answer, raw.
        reason: of a failed run: why there is no answer.
        prompt: SHA-256 of the messages that were sent first, in their order (``messages.jsonl``).
        model: as the server names itself, or what answered instead of a model.
        temperature: that was sent; None where none was.
        prompt_tokens: of all turns; None where the server does not say.
        completion_tokens: of all turns.
        keys: of the answers in the cache of the language model, one a turn.
        at: when the run was finished (UTC, ISO 8601); None in some that earlier versions stored.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    uid: str
    phase: Phase
    run: int = Field(ge=1)
    outcome: Literal["answered", "unparseable", "failed"]
    parsed: str | None = None
    kind: str | None = None
    failure_mode: str | None = None
    remark: str | None = Field(default=None, repr=False)
    answer: str | None = Field(default=None, repr=False)
    reason: str | None = None
    prompt: tuple[str, ...] = ()
    model: str
    seed: int | None = None
    temperature: float | None = None
    tools: tuple[ToolUse, ...] = ()
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    keys: tuple[str, ...] = ()
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Vote:
    """What of a run counts: kept in memory, unlike the run."""

    outcome: str
    parsed: str | None
    failure_mode: str | None = None


class RunStore:
    """The runs of one series, open for adding; use it as a context manager.

    Memory: a `Vote` for each run and a hash for each message; 11,000 rows of 5 runs are some 20 MB.
    """

    def __init__(self, benchmark: Path, phase: Phase, name: str, described: Mapping[str, Any]) -> None:
        """Open the series that a description stands for; it need not be there yet.

        Args:
            described: all that decides the answers.

        Raises:
            UsageError: another process has it open.
            InputError: a line is no run.
        """
        self.phase = phase
        self.series = f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', name).strip('-.') or 'runs'}-{content_key(described)[:8]}"
        self.folder = private_directory(benchmark / FOLDER / phase / self.series)
        self.votes: dict[str, dict[int, Vote]] = {}
        self._known: set[str] = set()
        self._lock = threading.Lock()
        self._runs, self._messages = _opened(self.folder / RUNS), _opened(self.folder / MESSAGES)
        try:
            _take(self._runs, self.folder)
            if not (self.folder / SERIES).is_file():
                write_text(self.folder / SERIES, json.dumps(described, indent=2, ensure_ascii=False) + "\n")
            for file, lines in ((self._runs, RUNS), (self._messages, MESSAGES)):
                # A last line that was cut is taken away.
                file.truncate(sum(map(len, _whole_lines(self.folder / lines))))
            for run in read_runs(self.folder):
                self._count(run)
            self._known.update(key for key, _ in _read(self.folder / MESSAGES, "message", _message))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> RunStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __contains__(self, key: tuple[str, int]) -> bool:
        """Whether the run of a row (uid, number) is stored."""
        uid, run = key
        return run in self.votes.get(uid, ())

    def __len__(self) -> int:
        return sum(map(len, self.votes.values()))

    def append(self, runs: Sequence[Run], messages: Iterable[Message] = ()) -> None:
        """Store runs that are finished and the messages that they were asked with; on the disk when it returns.

        A run that is stored already is not stored again.
        """
        with self._lock:
            new = [message for message in messages if message_key(message) not in self._known]
            answers = {message_key(message): message for message in new}
            # First, so that no stored run names a message that is not there.
            lines = [{"sha256": key, **message.model_dump()} for key, message in answers.items()]
            _add(self._messages, [json.dumps(line, ensure_ascii=False) for line in lines])
            self._known.update(answers)
            fresh = {(run.uid, run.run): run for run in runs if (run.uid, run.run) not in self}
            _add(self._runs, [run.model_dump_json(exclude_defaults=True) for run in fresh.values()])
            for run in fresh.values():
                self._count(run)

    def _count(self, run: Run) -> None:
        self.votes.setdefault(run.uid, {})[run.run] = Vote(run.outcome, run.parsed, run.failure_mode)

    def close(self) -> None:
        """Close the files and let others open the series."""
        self._runs.close()
        self._messages.close()


def differences(benchmark: Path, phase: Phase, described: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return what of a description is other than in each stored series of the same engine and model.

    Returns:
        Name of a series to names of what differs; empty where a series of this very description is stored.
    """
    results = {}
    for folder in series_folders(benchmark, phase):
        other = json.loads((folder / SERIES).read_text(encoding="utf-8"))
        if other == described:
            return {}
        if all(other.get(name) == described.get(name) for name in ("engine", "model", "name", "file")):
            names = {*other, *described}
            results[folder.name] = sorted(name for name in names if other.get(name) != described.get(name))
    return results


def message_key(message: Message) -> str:
    """Return the SHA-256 under which a message is stored."""
    return content_key(message.model_dump())


def series_folders(benchmark: Path, phase: Phase) -> list[Path]:
    """Return the folders of a phase's series, by name."""
    return sorted(path.parent for path in (benchmark / FOLDER / phase).glob(f"*/{SERIES}"))


def read_runs(folder: Path) -> Iterator[Run]:
    """Read the runs of a series' folder, in the order in which they were stored; a cut last line is left out.

    Raises:
        InputError: a line is no run.
    """
    return _read(folder / RUNS, "run", Run.model_validate_json)


def read_messages(folder: Path) -> dict[str, Message]:
    """Return the messages of a series' folder by SHA-256.

    Raises:
        InputError: a line is no message.
    """
    return dict(_read(folder / MESSAGES, "message", _message))


def _message(line: bytes) -> tuple[str, Message]:
    value = json.loads(line)
    return value.pop("sha256"), Message.model_validate(value)


def _read(file: Path, what: str, read: Callable[[bytes], Line]) -> Iterator[Line]:
    for number, line in enumerate(_whole_lines(file), start=1):
        try:
            value = read(line)
        except (ValueError, KeyError, AttributeError):
            # The error is not repeated: it may quote a note or an answer.
            raise InputError(
                f"a line is no {what}",
                file=file,
                line=number,
                expected=f"JSON as `ontoground steward` wrote it, one {what} a line",
                do="restore the file, or move the folder away to ask again (cached answers are reused)",
            ) from None
        yield value


def _whole_lines(file: Path) -> Iterator[bytes]:
    """Yield the lines of a file without a last one that was cut."""
    if file.is_file():
        with file.open("rb") as lines:
            yield from (line for line in lines if line.endswith(b"\n"))


def _opened(file: Path) -> BinaryIO:
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    return os.fdopen(descriptor, "r+b", buffering=0)


def _take(file: BinaryIO, folder: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(
            "another process is making these runs", file=folder, do="wait until it ends; its stored runs are kept"
        ) from None


def _add(file: BinaryIO, lines: Sequence[str]) -> None:
    """Add lines and wait for the disk; where that fails, nothing is added."""
    if not lines:
        return
    before = os.fstat(file.fileno()).st_size
    rest = memoryview("".join(f"{line}\n" for line in lines).encode())
    try:
        while rest:
            rest = rest[file.write(rest) or 0 :]
        os.fsync(file.fileno())
    except BaseException:
        file.truncate(before)
        raise
