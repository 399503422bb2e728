"""Measure work in a process of its own: wall and CPU seconds, peak memory of all its processes, bytes on disk, rows.

A stage benchmark is a module with functions that do the work, and one ``measure`` that runs them side by side::

    # benchmarks/stages/load_umls.py
    def ours(meta: Path, workspace: Path) -> Done:            # module level: it runs in a process of its own
        import duckdb                                         # imports and preparation are not timed ...
        with stopwatch() as watch:                            # ... where a stopwatch says what is
            rows = load(meta, workspace)
        return Done(rows, "rows", watch=watch, disk=[workspace / "warehouse.duckdb"])

    def bare(meta: Path, file: Path) -> Done: ...             # a yardstick is measured in the same way

    def measure(inputs: Inputs) -> Result:
        folder = inputs.scratch("load_umls")                  # an empty folder, removed by the caller
        mine = run_apart(ours, inputs.world.meta, folder / "work")
        theirs = run_apart(bare, inputs.world.meta, folder / "bare.duckdb", name="DuckDB read_csv", may_fail=True)
        return Result("load UMLS", [mine, theirs], [
            at_most("time, times DuckDB's", mine.seconds / theirs.seconds, 1.3),
            at_most("peak memory, GiB", mine.peak_bytes / 2**30, 6.0),
        ])

Memory is the proportional set size (PSS) of the process and all its children, read while they run: a page that several
of them share counts once, mapped files count as far as they are resident. ``private_bytes`` is the part that no file
stands behind. Only Linux has PSS; elsewhere the peak is that of the process alone.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import platform
import resource
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measures import Measure, Result
from ground.errors import InputError, OntogroundError
from ground.flow.executors import end_with_parent
from ground.storage.files import private_directory, write_text
from ontoground.cli.render import note

if TYPE_CHECKING:
    from openworld import World

__all__ = [
    "OURS",
    "RESULTS",
    "Done",
    "Inputs",
    "Memory",
    "Watch",
    "bytes_on_disk",
    "machine",
    "memory_of_tree",
    "peak_bytes",
    "run_apart",
    "save",
    "stopwatch",
]

RESULTS = Path(__file__).resolve().parent / "results"
PACKAGES = ("duckdb", "numpy", "pyarrow", "polars", "numba", "scikit-learn", "networkx", "spacy", "ray")
LEAST_INTERVAL = 0.05
SHARE_OF_TIME = 0.05
"""Reading the memory of a process walks its page tables; it may take this share of the time at most."""
OURS = "ontoground"


@dataclass(slots=True)
class Watch:
    """What a stopwatch found: wall seconds, and seconds of all cores of this process and its ended children."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Done:
    """What a measured function returns.

    Attributes:
        rows: how many things were made or answered.
        unit: what these are ("rows", "admissions", "edges visited").
        watch: what was timed; without one, the whole call.
        disk: files and folders that the work left.
        figures: further numbers, such as a median in microseconds; the names say the unit.
    """

    rows: int
    unit: str
    watch: Watch | None = None
    disk: Sequence[Path] = ()
    figures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes that a tree of processes holds: all that is resident, and the part that no file stands behind."""

    resident: int = 0
    private: int = 0


@dataclass(frozen=True)
class Inputs:
    """What stage benchmarks read: a rendered world and a workspace in which the earlier stages are finished.

    Attributes:
        world: sources in the layouts of MIMIC-IV, UMLS and RxNorm.
        workspace: folder of a finished workspace of this world; read only: copy what a stage would change.
        folder: where scratch folders go.
        scale: size of the world, 1 for that of the real releases; 0 where it is unknown.
        workers: processes that a stage may use.
    """

    world: World
    workspace: Path
    folder: Path
    scale: float = 0.0
    workers: int = 1

    def scratch(self, name: str) -> Path:
        """Return an empty private folder of this name."""
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        return private_directory(folder)


@contextmanager
def stopwatch() -> Iterator[Watch]:
    """Time what runs inside."""
    watch = Watch()
    wall, cpu = time.perf_counter(), _cpu_seconds()
    yield watch
    watch.seconds, watch.cpu_seconds = time.perf_counter() - wall, _cpu_seconds() - cpu


def _cpu_seconds() -> float:
    """Seconds of all threads of this process and of its children that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def run_apart(
    work: Callable[..., Done],
    *arguments: Any,
    name: str = OURS,
    may_fail: bool = False,
    limit_seconds: float | None = None,
    limit_bytes: int | None = None,
) -> Measure:
    """Call a function of a module in a new process and measure it.

    Args:
        work: a function at module level; it and its arguments are pickled.
        arguments: what it is called with.
        name: whose work it is.
        may_fail: a failure becomes a ``Measure`` that says so, as yardsticks need; otherwise it is raised.
        limit_seconds: after these the work is stopped and counts as failed.
        limit_bytes: the same for memory, so that a yardstick cannot bring the machine down.

    Raises:
        InputError: the work failed and may not.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_call, args=(sender, work, arguments))
    process.start()
    sender.close()
    assert process.pid is not None
    _answer(receiver)  # it has begun: starting Python and importing modules counts for nothing
    watched = _watch(process.pid, lambda seconds: _ended(process, receiver, seconds), limit_seconds, limit_bytes)
    answer = _answer(receiver)
    process.join()
    failed = watched.stopped or (answer if isinstance(answer, str) else "")
    if failed:
        if not may_fail:
            raise InputError(f"{name}: {getattr(work, '__name__', 'the work')} failed", found=failed)
        return Measure(name, failed=failed)
    done, watch, own_peak = answer
    return _measure(name, done, watch, watched, own_peak)


def _measure(name: str, done: Done, watch: Watch, watched: _Watched, own_peak: int) -> Measure:
    # A lone process knows its own peak exactly; samples may miss a short one.
    alone = watched.processes <= 1
    return Measure(
        name,
        done.rows,
        done.unit,
        round(watch.seconds, 6),
        round(watch.cpu_seconds, 3),
        max(watched.peak.resident, own_peak) if alone else watched.peak.resident,
        watched.peak.private,
        bytes_on_disk(done.disk),
        max(watched.processes, 1),
        dict(done.figures),
    )


def _call(sender: Connection, work: Callable[..., Done], arguments: Sequence[Any]) -> None:
    """Do the work and send back what it took: (done, watch, peak bytes), or one line of text that says what failed."""
    # A benchmark that is stopped leaves no measured work behind.
    end_with_parent(threading.Event())
    sender.send("begun")
    try:
        with stopwatch() as whole:
            done = work(*arguments)
        sender.send((done, done.watch or whole, peak_bytes()))
    except OntogroundError as error:
        sender.send(str(error))
    except Exception as error:
        sender.send(f"{type(error).__name__}: {error}"[:500])
        raise
    finally:
        sender.close()


def _ended(process: Any, receiver: Connection, seconds: float) -> bool:
    """Wait for an answer or the end of the process."""
    return bool(receiver.poll(seconds)) or not process.is_alive()


def _answer(receiver: Connection) -> Any:
    try:
        return receiver.recv()
    except EOFError:
        return "the process was killed"


@dataclass(slots=True)
class _Watched:
    peak: Memory = field(default_factory=Memory)
    processes: int = 0
    stopped: str = ""


def _watch(root: int, ended: Callable[[float], bool], limit_seconds: float | None, limit_bytes: int | None) -> _Watched:
    """Read the memory of a tree of processes until it has ended, or stop it at a limit."""
    watched = _Watched()
    begin, interval = time.perf_counter(), LEAST_INTERVAL
    while not ended(interval):
        at = time.perf_counter()
        now, processes = memory_of_tree(root)
        interval = max(LEAST_INTERVAL, (time.perf_counter() - at) / SHARE_OF_TIME)
        watched.peak = Memory(max(watched.peak.resident, now.resident), max(watched.peak.private, now.private))
        watched.processes = max(watched.processes, processes)
        if limit_seconds is not None and time.perf_counter() - begin > limit_seconds:
            watched.stopped = f"stopped after {limit_seconds:g} s"
        elif limit_bytes is not None and now.resident > limit_bytes:
            watched.stopped = f"stopped at {now.resident / 2**30:.1f} GiB"
        if watched.stopped:
            _kill(root)
            break
    return watched


def _kill(root: int) -> None:
    for pid in _tree(root):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def memory_of_tree(root: int) -> tuple[Memory, int]:
    """Return what a process and all its children hold now, and how many they are; zeros where there is no PSS."""
    resident = private = count = 0
    for pid in _tree(root):
        held = _held(pid)
        resident, private, count = resident + held.resident, private + held.private, count + 1
    return Memory(resident, private), count


def _tree(root: int) -> list[int]:
    """Return the process and its descendants."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name in brackets may hold spaces; the parent is the second field after it.
            parent = int(entry.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue
        children.setdefault(parent, []).append(int(entry.parent.name))
    tree = [root]
    for pid in tree:
        tree += children.get(pid, [])
    return tree


def _held(pid: int) -> Memory:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return Memory()
    sizes = {name: int(value.split()[0]) * 1024 for name, _, value in (line.partition(":") for line in lines)}
    return Memory(sizes.get("Pss", 0), sizes.get("Pss_Anon", 0) + sizes.get("Pss_Shmem", 0))


def peak_bytes() -> int:
    """Return the peak resident memory of this process; Linux counts it in KiB, macOS in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def bytes_on_disk(paths: Sequence[Path]) -> int:
    """Return the size of files, and of all files below folders; what is not there has none."""
    files = (file for path in paths for file in (path.rglob("*") if path.is_dir() else [path]))
    return sum(file.stat().st_size for file in files if file.is_file())


def machine() -> dict[str, Any]:
    """Describe the machine by what its speed depends on; nothing that names it."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cores": cores,
        "memory_gib": round(memory / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": {name: number for name in PACKAGES if (number := _version(name))},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def save(name: str, results: Sequence[Result], settings: Mapping[str, Any], *, say: bool = True) -> Path:
    """Write results with settings, machine and versions to ``benchmarks/results/NAME.json``."""
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    stages = [asdict(result) for result in results]
    for stage, result in zip(stages, results, strict=True):
        for saved, check in zip(stage["checks"], result.checks, strict=True):
            saved["met"] = check.met
    write_text(path, json.dumps({"settings": settings, "machine": machine(), "stages": stages}, indent=1) + "\n")
    if say:
        note(f"written: {path}")
    return path
