"""Progress on standard error: a bar on a terminal, a line now and then where output is piped."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ground.errors import escaped

__all__ = ["progress", "warn"]

Advance = Callable[[int], None]
LINE_SECONDS = 30.0
"""Seconds between two lines of piped progress; shorter work prints none."""


def warn(message: str) -> None:
    """Write a message to standard error, with its control characters escaped."""
    sys.stderr.write(f"{escaped(message)}\n")


@contextmanager
def progress(title: str, total: int | None) -> Iterator[Advance]:
    """Yield a function that moves on by n: a bar on a terminal, else a line on standard error twice a minute."""
    if not sys.stderr.isatty():
        yield _lines(title, total)
        return
    # Imported here: a verb that shows no bar starts without it.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda n: bar.advance(task, n)


def _lines(title: str, total: int | None) -> Advance:
    done, last_line, told = 0, time.monotonic(), False

    def advance(n: int) -> None:
        nonlocal done, last_line, told
        done += n
        # What was told of is told the end of.
        if (now := time.monotonic()) - last_line >= LINE_SECONDS or (told and done == total):
            last_line, told = now, True
            warn(f"{title}: {done:,}" + ("" if total is None else f" of {total:,}"))

    return advance
