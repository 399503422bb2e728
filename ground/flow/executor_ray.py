"""Shards on Ray: on a cluster that this module starts on this machine, or on one that the settings name.

Ray's own words: an *actor* is a worker process that keeps a state, a *node* is a machine of the cluster. Actors are
tied to the nodes that the privacy gate has seen, so that a machine that joins later gets no shard.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from itertools import chain, cycle, zip_longest
from pathlib import Path
from typing import Any, TypeVar

from ground.errors import UsageError, WorkerError
from ground.flow.executor import AHEAD, Executor, SharedFolder, Worker, worker_died
from ground.flow.fingerprints import code_digest
from ground.flow.machines import check_machines
from ground.settings import RunSettings
from ground.storage.scratch import scratch_folder

__all__ = ["RayExecutor", "StoredFolder", "open_ray", "store"]

Shard = TypeVar("Shard")
State = TypeVar("State")
Result = TypeVar("Result")

# A worker that dies is started again and given its shard again, this many times.
_RESTARTS = 2
_STORE_BYTES = 1 << 30
_KNOCK_SECONDS = 10.0
# Paths of sockets below it may have at most 107 bytes, which a long TMPDIR or workspace would exceed.
_RUNS = Path("/tmp") / f"ontoground-ray-{os.getuid()}"
_CODE = ("ground", "ehr", "kg", "builders", "sql")


@dataclass(frozen=True)
class _Node:
    id: str
    address: str
    cpus: int


# --- the connection


@contextmanager
def open_ray(settings: RunSettings, licence_tier: str) -> Iterator[RayExecutor]:
    """Connect to the cluster of the settings, or start one on this machine, for the length of the block.

    Raises:
        RefusedError: see `ground.flow.machines.check_machines`.
        UsageError: the address is none, or the cluster has fewer CPUs than there are workers.
        WorkerError: the cluster cannot be reached, or its machines run another version of this program.
    """
    _check_address(settings, licence_tier)
    ray = _import_ray(own=not settings.address)
    with scratch_folder(_RUNS) as scratch:
        with _own_signals():
            # Ray opens its folder to everybody, so it lies inside one that only the owner can enter.
            _connect(ray, settings, scratch / "ray")
        # Ray reports dead workers on standard output, which is kept for the answer of the verb.
        with redirect_stdout(sys.stderr):
            try:
                yield _executor(ray, settings, licence_tier)
            finally:
                ray.shutdown()


def _executor(ray: Any, settings: RunSettings, licence_tier: str) -> RayExecutor:
    nodes = _nodes(ray)
    check_machines([node.address for node in nodes], settings, licence_tier)
    cpus = sum(node.cpus for node in nodes)
    if settings.workers > cpus:
        raise UsageError(
            "there are more workers than Ray has CPUs", found=f"{settings.workers}", expected=f"at most {cpus}"
        )
    return RayExecutor(settings.workers, nodes)


def _import_ray(own: bool) -> Any:
    # No usage statistics are sent to Ray's makers.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if own and "ray" not in sys.modules:
        # Ray listens on all interfaces and turns away whoever lacks this token, which it reads at import.
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    import ray

    return ray


def _check_address(settings: RunSettings, licence_tier: str) -> None:
    if settings.address in {"", "auto"}:
        return
    host, colon, port = settings.address.rpartition(":")
    if not (host and colon and port.isdigit()) or "/" in host:
        raise UsageError(
            "run.address is no address of Ray",
            expected="HOST:PORT of its head (6379 where nothing else was said), or auto; not ray://",
        )
    check_machines([host.strip("[]")], settings, licence_tier)


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep this program's handler of SIGTERM, which ray.init replaces."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def _connect(ray: Any, settings: RunSettings, scratch: Path) -> None:
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if settings.address:
            _knock(settings.address)
            ray.init(address=settings.address, **quiet)
            return
        ray.init(
            address="local",
            num_cpus=settings.workers,
            include_dashboard=False,
            object_store_memory=_STORE_BYTES,
            # Logs, and shards that do not fit into memory, lie here, for the owner only, until the block ends.
            _temp_dir=str(scratch),
            **quiet,
        )
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise _no_cluster(settings.address, str(error) or type(error).__name__) from error


def _knock(address: str) -> None:
    """Raise OSError where nobody listens: Ray itself would try for minutes."""
    host, colon, port = address.rpartition(":")
    if colon:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_SECONDS).close()


def _no_cluster(address: str, why: str) -> WorkerError:
    found = why.splitlines()[0]
    if not address:
        return WorkerError("Ray cannot be started", found=found)
    return WorkerError(
        "Ray cannot be reached",
        found=found,
        expected=f"a running Ray cluster at {address}",
        do="start it on its head with `ray start --head`, and on the other machines, this one among them, with "
        "`ray start --address HOST:PORT`",
    )


def _nodes(ray: Any) -> list[_Node]:
    alive = [node for node in ray.nodes() if node["Alive"]]
    nodes = [_Node(node["NodeID"], node["NodeManagerAddress"], int(node["Resources"].get("CPU", 0))) for node in alive]
    return sorted(nodes, key=lambda node: (node.address, node.id))


# --- files that workers read


@dataclass(frozen=True)
class StoredFolder(SharedFolder):
    """A folder whose files lie in Ray's object store too, for machines that do not have it on disk.

    Attributes:
        listing: name, size and time of change of each file: a machine that has the folder just so reads it there.
        key: a random name, for the copy that other machines make.
        files: name and reference of each file.
    """

    listing: tuple[tuple[str, int, int], ...]
    key: str
    files: tuple[tuple[str, Any], ...]

    def path(self) -> Path:
        """Return the folder, or this machine's copy of it, written once for all its workers."""
        if _listing(self.folder) == self.listing:
            return self.folder
        copy = Path(tempfile.gettempdir()) / f"ontoground-{self.key}"
        copy.mkdir(mode=0o700, exist_ok=True)
        with (copy / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (copy / "files").exists():
                _write_files(copy / "files.part", self.files)
                (copy / "files.part").rename(copy / "files")
        return copy / "files"

    def discard(self) -> None:
        """Remove this machine's copy, where it has one."""
        shutil.rmtree(Path(tempfile.gettempdir()) / f"ontoground-{self.key}", ignore_errors=True)


def _write_files(folder: Path, files: Iterable[tuple[str, Any]]) -> None:
    import ray

    for name, reference in files:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        ray.get(reference).tofile(file)


def _listing(folder: Path) -> tuple[tuple[str, int, int], ...]:
    files = sorted(file for file in folder.rglob("*") if file.is_file()) if folder.is_dir() else []
    stats = [(file, file.stat()) for file in files]
    return tuple((file.relative_to(folder).as_posix(), stat.st_size, stat.st_mtime_ns) for file, stat in stats)


def store(folder: Path) -> StoredFolder:
    """Put the files of a folder into the object store, once for all workers."""
    import numpy as np
    import ray

    listing = _listing(folder)
    files = tuple((name, ray.put(np.fromfile(folder / name, dtype=np.uint8))) for name, _, _ in listing)
    return StoredFolder(folder, listing, secrets.token_hex(8), files)


# --- the executor


class RayExecutor(Executor):
    """Works in actors, as many as there are workers, spread over the machines of the cluster."""

    def __init__(self, workers: int, nodes: Sequence[_Node]) -> None:
        self.workers = workers
        self._nodes = nodes
        self._stored: list[StoredFolder] = []
        if any(digest != code_digest(_CODE) for digest in self._everywhere(code_digest, _CODE)):
            raise WorkerError(
                "a machine of the Ray cluster runs another version of this program",
                expected="the same version on all of them: the output must not depend on who works on a shard",
            )

    def share(self, folder: Path) -> SharedFolder:
        """Share a folder through the file system where all machines see it, else through the object store."""
        here = _listing(folder)
        if all(there == here for there in self._everywhere(_listing, folder)):
            return SharedFolder(folder)
        self._stored.append(store(folder))
        return self._stored[-1]

    def discard(self, folder: StoredFolder) -> None:
        """Remove the copies that machines made of a folder."""
        self._everywhere(folder.discard)

    def in_order(
        self, setup: Callable[[], State], work: Callable[[State, Shard], Result], shards: Iterable[Shard]
    ) -> Iterator[Result]:
        """Work on several shards at a time, on several machines; see `Executor.in_order`."""
        import ray

        actors = self._actors(setup, work)
        waiting: deque[Any] = deque()
        try:
            for actor, shard in zip(cycle(actors), shards, strict=False):
                if len(waiting) >= self.workers * AHEAD:
                    yield _result(ray, waiting.popleft())
                waiting.append(actor.work.remote(shard))
            while waiting:
                yield _result(ray, waiting.popleft())
        finally:
            for actor in actors:
                ray.kill(actor)
            while self._stored:
                self.discard(self._stored.pop())

    def _actors(self, setup: Callable[[], Any], work: Callable[[Any, Any], Any]) -> list[Any]:
        import ray

        kind = ray.remote(max_restarts=_RESTARTS, max_task_retries=_RESTARTS, num_cpus=1)(Worker)
        # Machines take turns until each has an actor for each of its CPUs.
        turns = zip_longest(*([node] * node.cpus for node in self._nodes))
        places = [node for node in chain.from_iterable(turns) if node is not None][: self.workers]
        return [kind.options(scheduling_strategy=_on(node)).remote(setup, work) for node in places]

    def _everywhere(self, function: Callable[..., Result], *arguments: object) -> list[Result]:
        """Return the result of a function on each machine."""
        import ray

        task = ray.remote(num_cpus=0, max_retries=0)(_call)
        try:
            results: list[Result] = ray.get(
                [task.options(scheduling_strategy=_on(node)).remote(function, *arguments) for node in self._nodes]
            )
        except ray.exceptions.RayTaskError as error:
            raise WorkerError(
                "a machine of the Ray cluster cannot run this program",
                found=str(error.cause),
                expected="ontoground, installed for the Python that Ray runs with on every machine",
            ) from error
        except ray.exceptions.RayError as error:
            raise worker_died(f"a machine of the Ray cluster is gone ({type(error).__name__})") from error
        return results


def _call(function: Callable[..., Result], *arguments: object) -> Result:
    return function(*arguments)


def _on(node: _Node) -> Any:
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return NodeAffinitySchedulingStrategy(node.id, soft=False)


def _result(ray: Any, reference: Any) -> Any:
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayError as error:
        raise worker_died(f"a worker of Ray ended before its shard was done ({type(error).__name__})") from error
