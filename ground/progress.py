"""Progress on standard error: a bar where a person looks, a line now and then where output is piped."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ground.errors import escaped

__all__ = ["progress", "warn"]

Advance = Callable[[int], None]
LINE_SECONDS = 30.0
"""Between two lines of piped progress; what takes less says nothing."""


def warn(message: str) -> None:
    """Write a message for a person to standard error, with nothing in it that a terminal would obey."""
    Console(stderr=True, soft_wrap=True, markup=False, highlight=False).print(escaped(message))


@contextmanager
def progress(title: str, total: int | None) -> Iterator[Advance]:
    """Yield a function that moves on by n: a bar on a terminal, else a line on standard error twice a minute."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(title, total)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda n: bar.advance(task, n)


def _lines(title: str, total: int | None) -> Advance:
    done, said = 0, time.monotonic()

    def advance(n: int) -> None:
        nonlocal done, said
        done += n
        if (now := time.monotonic()) - said >= LINE_SECONDS:
            said = now
            warn(f"{title}: {done:,}" + ("" if total is None else f" of {total:,}"))

    return advance
