"""Progress on standard error: a bar where a person looks, nothing where output is piped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ground.errors import escaped

__all__ = ["progress", "warn"]

Advance = Callable[[int], None]


def warn(message: str) -> None:
    """Write a message for a person to standard error, with nothing in it that a terminal would obey."""
    Console(stderr=True, soft_wrap=True, markup=False, highlight=False).print(escaped(message))


@contextmanager
def progress(title: str, total: int | None) -> Iterator[Advance]:
    """Yield a function that moves the bar on by n; the bar is shown on a terminal only."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda n: bar.advance(task, n)
