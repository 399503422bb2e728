"""Algorithm S1 over batches: in this process, or in several that each open an engine of their own."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from builders.medval.algorithm import Triple, make_triples
from builders.medval.items import Generator, Item, Peers, Validator
from ground.flow.executor import Executor, Serial
from ground.flow.executors import Processes
from ground.settings import MedvalSettings
from ground.storage.workspace import Workspace

__all__ = ["OpenEngine", "rules_of", "triples_of"]

# New objects until Python looks for circles among them: with its own 700 that took a tenth of the time.
_NEW_OBJECTS = 20_000
OpenEngine = Callable[[Peers], tuple[Generator, Validator]]
"""Opens an engine that may take words from some references; for several processes it must be picklable, as a
``functools.partial`` of a module's function is."""


def rules_of(workspace: Workspace, peers: Peers) -> tuple[Generator, Validator]:
    """Open the engine ``rules`` on a workspace that nobody is writing to.

    Raises:
        InputError: the workspace has no warehouse, no graph or no names.
    """
    from builders.medval.rules.engine import open_rules
    from ground.storage.warehouse import connect

    connection = connect(workspace.warehouse, workspace.settings.run, read_only=True)
    try:
        engine = open_rules(workspace, connection, workspace.settings.medval, peers)
        # What was opened stays, and hardly anything that is made later is a circle: the collector need not look often.
        gc.freeze()
        gc.set_threshold(_NEW_OBJECTS)
        return engine
    finally:
        connection.close()


def _make(settings: MedvalSettings, engine: tuple[Generator, Validator], items: Sequence[Item]) -> list[Triple]:
    return make_triples(items, *engine, settings)


def triples_of(
    batches: Iterable[Sequence[Item]], engine: OpenEngine, peers: Peers, settings: MedvalSettings, workers: int = 1
) -> Iterator[list[Triple]]:
    """Yield the triples of each batch, in order; a few batches more than there are workers are held at once.

    Args:
        batches: read as they are needed.
        engine: opened once in each process.
        peers: what it is opened with.
        settings: what decides the triples.
        workers: processes; 1 works in this one.
    """
    chosen: Executor = Serial() if workers == 1 else Processes(workers)
    yield from chosen.in_order(partial(engine, peers), partial(_make, settings), batches)
