"""Work for executors that worker processes can import."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from ground.errors import InputError
from ground.flow.executor import SharedFolder


@dataclass
class Opened:
    """What a worker opened: how many shards it has seen since."""

    text: str
    seen: list[int] = field(default_factory=list)


def open_text(shared: SharedFolder) -> Opened:
    """Read a file of a shared folder."""
    return Opened((shared.path() / "part" / "text.txt").read_text(encoding="utf-8"))


def describe(opened: Opened, shard: int) -> tuple[str, int, int, int]:
    """Return what the worker has, its thread, how many shards it has seen, and twice the shard; odd ones are slow."""
    time.sleep(0.02 * (shard % 2))
    opened.seen.append(shard)
    # Of a process with one thread, the process's number.
    return opened.text, threading.get_native_id(), len(opened.seen), 2 * shard


def refuse_the_third(_: None, shard: int) -> int:
    """Fail as a stage fails."""
    if shard == 2:
        raise InputError("this shard is wrong", found="2", do="mend it")
    return shard


def die_at(path: Path, times: int, _: None, shard: int) -> int:
    """End this process without a word at shard 2, but only so many times: the file counts them."""
    if shard == 2 and (len(path.read_bytes()) if path.exists() else 0) < times:
        with path.open("ab") as file:
            file.write(b"x")
        os.kill(os.getpid(), signal.SIGKILL)
    return shard


def process_of(_: None, shard: int) -> int:
    """Return the worker's process; later shards take longer than any test."""
    if shard > 1:
        time.sleep(600)
    return os.getpid()
