"""What an executor is: it works on shards and gives their results in the order of the shards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from ground.errors import WorkerError

__all__ = ["AHEAD", "Executor", "Serial", "SharedFolder", "Worker", "nothing", "worker_died"]

Shard = TypeVar("Shard")
State = TypeVar("State")
Result = TypeVar("Result")

AHEAD = 2
"""Shards on their way for each worker: one that it works on, one that waits for it."""


@dataclass(frozen=True)
class SharedFolder:
    """A folder of files that workers read; it travels as its name, never as its content."""

    folder: Path

    def path(self) -> Path:
        """Return where the files lie for the worker that asks."""
        return self.folder


def nothing() -> None:
    """Open nothing, for work that needs only its shard."""


class Executor(ABC):
    """Works on shards; ``workers`` of them at a time."""

    workers: int

    def share(self, folder: Path) -> SharedFolder:
        """Make a finished folder of files readable by all workers; they see it where it lies."""
        return SharedFolder(folder)

    @abstractmethod
    def in_order(
        self, setup: Callable[[], State], work: Callable[[State, Shard], Result], shards: Iterable[Shard]
    ) -> Iterator[Result]:
        """Yield the result of each shard in the order of the shards; ``AHEAD`` shards a worker are in memory at once.

        Args:
            setup: opens what the work needs, once in each worker; picklable, such as a ``partial`` of a function.
            work: makes the result of one shard from what ``setup`` returned; picklable.
            shards: read as they are needed.

        Raises:
            WorkerError: a worker ended in the middle of a shard. The results before that shard have been yielded.
        """


class Worker:
    """What a worker holds. Its state is opened with the first shard, so that an error reaches the caller unchanged."""

    def __init__(self, setup: Callable[[], Any], work: Callable[[Any, Any], Any]) -> None:
        self._setup, self._work = setup, work

    @cached_property
    def _state(self) -> Any:
        return self._setup()

    def work(self, shard: Any) -> Any:
        """Return the result of a shard."""
        return self._work(self._state, shard)


class Serial(Executor):
    """Works in this process."""

    workers = 1

    def in_order(
        self, setup: Callable[[], State], work: Callable[[State, Shard], Result], shards: Iterable[Shard]
    ) -> Iterator[Result]:
        """Work on one shard after the other; see `Executor.in_order`."""
        state = setup()
        for shard in shards:
            yield work(state, shard)


def worker_died(what: str) -> WorkerError:
    """Return the error for a worker that has ended, most often because memory ran out."""
    return WorkerError(
        what,
        expected="enough memory for all workers",
        do="run the same command again: it goes on after the shards that are finished; fewer run.workers or a smaller "
        "run.shard_notes need less memory",
    )
