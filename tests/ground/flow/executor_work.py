"""Work for executors that worker processes can import."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from ground.errors import InputError
from ground.flow.executor import AHEAD, Executor, SharedFolder, nothing


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


def assert_ordered(executor: Executor, shared: SharedFolder, n_shards: int) -> set[int]:
    """Check that results keep the order of the shards and states are opened once a worker; return the workers."""
    taken: list[int] = []

    def shards() -> Iterator[int]:
        for shard in range(n_shards):
            taken.append(shard)
            yield shard

    results = []
    for result in executor.in_order(partial(open_text, shared), describe, shards()):
        results.append(result)
        # Shards are read as they are needed, so that memory holds a few only.
        assert len(taken) - len(results) <= executor.workers * AHEAD
    assert [(text, doubled) for text, *_, doubled in results] == [("names", 2 * shard) for shard in range(n_shards)]
    workers = {worker for _, worker, *_ in results}
    for worker in workers:
        numbers = [n for _, of, n, _ in results if of == worker]
        assert numbers == list(range(1, len(numbers) + 1))
    return workers


def assert_error_arrives(executor: Executor) -> None:
    """Check that an error of the work arrives as it is, after the results before it."""
    results = executor.in_order(nothing, refuse_the_third, range(9))
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(InputError, match="this shard is wrong") as caught:
        next(results)
    assert (caught.value.found, caught.value.do) == ("2", "mend it")
