"""What the machine can do at most: write and read a file, copy memory, read memory at random places, on one core.

The limits that stages are held against: a load cannot be quicker than its bytes are read, a sort not quicker than its
bytes are copied, a search not quicker than one random read for each edge it visits.
"""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.command import run
from benchmarks.measures import Check, Measure, Result
from benchmarks.measuring import Done, Inputs, run_apart, stage_main, stopwatch

__all__ = ["measure"]

FILE_BYTES = 512 * 2**20
BLOCK = 2**23
MEMORY_BYTES = 512 * 2**20
READS = 40_000_000
TIMES = 3


def written(path: Path) -> Done:
    """Write a file of random bytes and wait until it is on the disk."""
    block = os.urandom(BLOCK)
    with stopwatch() as watch, path.open("wb") as file:
        for _ in range(FILE_BYTES // BLOCK):
            file.write(block)
        os.fsync(file.fileno())
    return Done(FILE_BYTES, "bytes written", watch, [path])


def read(path: Path) -> Done:
    """Read a file that the system was told to forget; where it cannot forget, this is memory's speed."""
    with path.open("rb", buffering=0) as file:
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        buffer = bytearray(BLOCK)
        with stopwatch() as watch:
            while file.readinto(buffer):
                pass
    return Done(FILE_BYTES, "bytes read", watch)


def copied() -> Done:
    """Copy memory: each byte is read and written."""
    import numpy as np

    source = np.ones(MEMORY_BYTES, dtype=np.uint8)
    target = np.zeros_like(source)
    with stopwatch() as watch:
        for _ in range(TIMES):
            np.copyto(target, source)
    return Done(TIMES * MEMORY_BYTES, "bytes copied", watch)


def gathered() -> Done:
    """Read numbers of four bytes at places in no order, in an array that no cache holds."""
    import numpy as np

    source = np.arange(MEMORY_BYTES // 4, dtype=np.uint32)
    places = np.random.default_rng(7).integers(0, len(source), READS, dtype=np.intp)
    target = np.empty(READS, dtype=np.uint32)
    with stopwatch() as watch:
        np.take(source, places, out=target, mode="clip")
    return Done(READS, "random reads", watch)


def measure(inputs: Inputs) -> Result:
    """Measure the machine."""
    path = inputs.scratch("machine") / "file"
    found = [run_apart(written, path, name="write"), run_apart(read, path, name="read")]
    path.unlink()
    found += [run_apart(copied, name="copy"), run_apart(gathered, name="random reads")]
    return Result("machine", found, [_speed(one) for one in found])


def _speed(one: Measure) -> Check:
    return Check(f"{one.unit}, millions a second", round(one.rows_per_second / 1e6, 1))


if __name__ == "__main__":
    run(stage_main(__doc__, measure))
