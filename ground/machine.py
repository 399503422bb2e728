"""The share of this machine that is ours: its cores, and how threads wait for one another."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

__all__ = ["bound_threads", "own_cores"]

WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
SPINS = 10_000
"""Turns of libgomp (some 20 microseconds), for its 300,000."""
BLOCKTIME = 1
"""Milliseconds of LLVM's and Intel's runtime, for their 200."""


def bound_threads() -> None:
    """Bound how long threads of OpenMP spin while they wait, and their number by the quota of this process.

    Runtimes read this when they are loaded: call it before anything that brings one, as torch does. On a busy machine
    a thread that spins takes a core from the one that it waits for. What the user's environment says is left as it is.
    """
    if not any(name in os.environ for name in WAITING):
        os.environ |= {"GOMP_SPINCOUNT": str(SPINS), "KMP_BLOCKTIME": str(BLOCKTIME)}
    # Runtimes know of affinity, and torch of cores with two threads each.
    if "OMP_NUM_THREADS" not in os.environ and (cores := own_cores()) < _allowed():
        os.environ["OMP_NUM_THREADS"] = str(cores)


def own_cores() -> int:
    """Return how many cores this process may keep busy, by affinity and by quotas of control groups; at least 1."""
    return max(1, math.ceil(min([_allowed(), *_quotas()])))


def _allowed() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _quotas(root: Path = Path("/")) -> Iterator[float]:
    """Yield the cores of each quota above this process (control groups of version 2 and 1); elsewhere there is none."""
    with suppress(OSError):
        for line in (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, controllers, name = line.split(":", 2)
            top = root / "sys/fs/cgroup" / ("cpu" if "cpu" in controllers.split(",") else "")
            group = top / name.lstrip("/")
            # In a container the group may be mounted as the top, under a name that is not to be seen.
            for folder in (group, *group.parents):
                yield from _quota(folder)
                if folder == top:
                    break


def _quota(group: Path) -> Iterator[float]:
    for files in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        # "max" and -1 are none.
        with suppress(OSError, ValueError):
            quota, period = map(int, " ".join((group / file).read_text(encoding="utf-8") for file in files).split())
            if quota > 0:
                yield quota / period
