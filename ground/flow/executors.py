"""Where shards are worked on: in this process, its threads, processes of this machine, or Ray. Results are the same.

A stage gives an iterable of shards and gets their results in the same order. What every worker needs once (a lexicon, a
graph) is opened by a function that runs in the worker, from files that all workers map (``Executor.share``).
"""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib.util import find_spec
from multiprocessing import get_context, parent_process
from multiprocessing.synchronize import Event
from typing import Any, TypeVar

from ground.errors import UsageError
from ground.flow.executor import AHEAD, Executor, Serial, Worker, worker_died
from ground.machine import own_cores
from ground.settings import RunSettings

__all__ = [
    "Processes",
    "Threads",
    "check_executor",
    "end_with_parent",
    "open_executor",
    "open_threads",
]

Shard = TypeVar("Shard")
State = TypeVar("State")
Result = TypeVar("Result")

_WATCH_SECONDS = 1.0
_AGAIN_SECONDS = 0.1


class Processes(Executor):
    """Works in processes of this machine, started anew (not forked: those would inherit the open warehouse)."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def in_order(
        self, setup: Callable[[], State], work: Callable[[State, Shard], Result], shards: Iterable[Shard]
    ) -> Iterator[Result]:
        """Work on several shards at a time; see `Executor.in_order`."""
        context = get_context("spawn")
        stop = context.Event()
        pool = ProcessPoolExecutor(self.workers, context, initializer=_begin, initargs=(Worker(setup, work), stop))
        try:
            yield from _in_order(lambda shard: pool.submit(_work_on, shard), shards, self.workers)
        except BrokenProcessPool as error:
            raise worker_died("a worker process ended before its shard was done") from error
        except BaseException:
            # An interrupt does not wait for the shards that are under way.
            stop.set()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


class Threads(Executor):
    """Works in threads of this process: for DuckDB and compiled functions, which release Python's lock.

    Args:
        workers: number of threads.
        interrupt: stops what is under way with a state.
    """

    def __init__(self, workers: int, interrupt: Callable[[Any], None] = lambda _: None) -> None:
        self.workers = workers
        self._interrupt = interrupt

    def in_order(
        self, setup: Callable[[], State], work: Callable[[State, Shard], Result], shards: Iterable[Shard]
    ) -> Iterator[Result]:
        """Work on several shards at a time; see `Executor.in_order`. ``setup`` is called by each thread."""
        own, states, under_way = threading.local(), list[State](), list[Future[Result]]()

        def work_on(shard: Shard) -> Result:
            if not hasattr(own, "state"):
                own.state = setup()
                states.append(own.state)
            return work(own.state, shard)

        def submit(shard: Shard) -> Future[Result]:
            under_way[:] = [*_not_done(under_way), pool.submit(work_on, shard)]
            return under_way[-1]

        with ThreadPoolExecutor(self.workers) as pool:
            try:
                yield from _in_order(submit, shards, self.workers)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                # Repeatedly, since an interruption does not stop what a worker begins after it. A cancelled shard that
                # no worker took counts as done: waiting for it would never end.
                while left := _not_done(under_way):
                    for state in states:
                        self._interrupt(state)
                    wait_for(left, _AGAIN_SECONDS)
                raise


def _not_done(futures: Iterable[Future[Result]]) -> list[Future[Result]]:
    return [future for future in futures if not future.done()]


def _in_order(submit: Callable[[Shard], Future[Result]], shards: Iterable[Shard], workers: int) -> Iterator[Result]:
    """Yield the results of shards in their order; ``AHEAD`` shards a worker are under way at once."""
    waiting: deque[Future[Result]] = deque()
    for shard in shards:
        waiting.append(submit(shard))
        if len(waiting) > workers * AHEAD - 1:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


class _Process:
    """What a worker process holds."""

    worker: Worker


def _begin(worker: Worker, stop: Event) -> None:
    # Ctrl-C reaches the whole process group; only the parent acts on it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(stop)
    _Process.worker = worker


def end_with_parent(stop: Event | threading.Event) -> None:
    """End this process when its parent asks for it or has ended, which a busy process would not notice."""
    threading.Thread(target=_watch, args=(stop,), daemon=True).start()


def _watch(stop: Event | threading.Event) -> None:
    parent = parent_process()
    while not stop.wait(_WATCH_SECONDS):
        if parent is None or not parent.is_alive():
            break
    os._exit(1)


def _work_on(shard: Any) -> Any:
    return _Process.worker.work(shard)


def check_executor(settings: RunSettings) -> None:
    """Check the settings before there is any work.

    Raises:
        UsageError: an address without Ray, or Ray is not installed.
    """
    if settings.executor == "ray":
        if find_spec("ray") is None:
            raise UsageError("Ray is not installed", do="pip install 'ontoground[ray]'")
    elif settings.address:
        found = f"run.executor = {settings.executor}"
        raise UsageError("run.address is Ray's", found=found, expected="run.executor = ray, or no address")


def open_threads(settings: RunSettings, interrupt: Callable[[Any], None] = lambda _: None) -> Threads:
    """Return as many threads as there are workers, though no more than this machine has cores; one for ``serial``.

    Args:
        settings: ``[run]``: executor and workers.
        interrupt: stops what is under way with a state.
    """
    workers = 1 if settings.executor == "serial" else min(settings.workers, own_cores())
    return Threads(workers, interrupt)


@contextmanager
def open_executor(settings: RunSettings, licence_tier: str) -> Iterator[Executor]:
    """Open the executor that the settings name.

    Args:
        settings: ``[run]``: executor, workers, and for Ray the address and the machines that may be used.
        licence_tier: of the data that workers read; every tier but ``open`` stays on machines that are named.

    Raises:
        RefusedError: credentialed data and a Ray cluster with machines that the settings do not name, with a reason.
        UsageError: an address without Ray, or Ray is not installed, or it has fewer CPUs than there are workers.
        WorkerError: the Ray cluster cannot be reached, or its machines run another version of this program.
    """
    check_executor(settings)
    if settings.executor == "ray":
        from ground.flow.executor_ray import open_ray

        with open_ray(settings, licence_tier) as executor:
            yield executor
    elif settings.executor == "serial" or settings.workers == 1:
        yield Serial()
    else:
        yield Processes(settings.workers)
