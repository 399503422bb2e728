"""Algorithm S1 over batches: in this process, or in several that each open an engine of their own."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context

from builders.medval.algorithm import Triple, make_triples
from builders.medval.items import Generator, Item, Validator
from ontoground.settings_text import MedvalSettings
from ontoground.workspace import Workspace

__all__ = ["OpenEngine", "rules_of", "triples_of"]

OpenEngine = Callable[[], tuple[Generator, Validator]]
"""Opens an engine; for several processes it must be picklable, as a ``functools.partial`` of a module's function is."""

_AHEAD = 2  # batches a worker: one that it works on, one that waits for it


def rules_of(workspace: Workspace) -> tuple[Generator, Validator]:
    """Open the engine ``rules`` on a workspace that nobody is writing to.

    Raises:
        InputError: the workspace has no warehouse, no graph or no names.
    """
    from builders.medval.rules.engine import open_rules
    from ontoground.warehouse import connect

    connection = connect(workspace.warehouse, workspace.settings.run, read_only=True)
    try:
        return open_rules(workspace, connection, workspace.settings.medval)
    finally:
        connection.close()


# The engine of a worker process, once it is open.
_own: list[tuple[Generator, Validator]] = []


def _open(engine: OpenEngine) -> None:
    _own.append(engine())


def _make(items: Sequence[Item], settings: MedvalSettings) -> list[Triple]:
    return make_triples(items, *_own[0], settings)


def triples_of(
    batches: Iterable[Sequence[Item]], engine: OpenEngine, settings: MedvalSettings, workers: int = 1
) -> Iterator[list[Triple]]:
    """Yield the triples of each batch, in order; a few batches more than there are workers are held at once.

    Args:
        batches: read as they are needed.
        engine: opened once in each process.
        settings: what decides the triples.
        workers: processes; 1 works in this one.
    """
    if workers == 1:
        generator, validator = engine()
        yield from (make_triples(items, generator, validator, settings) for items in batches)
        return
    waiting: deque[Future[list[Triple]]] = deque()
    # spawn: a forked process would inherit the open warehouse.
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=_open, initargs=(engine,)) as pool:
        for items in batches:
            waiting.append(pool.submit(_make, items, settings))
            if len(waiting) > workers * _AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
