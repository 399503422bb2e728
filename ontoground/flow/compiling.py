"""After a fresh installation: compile the flow's loops in processes of their own, beside loading and the first stages.

numba compiles a function when it is first called, and keeps it beside the source or in the user's cache. Its lock lets
one thread of a process compile at a time. `kernels.jsonl` lists the functions in the order in which the flow calls
them, with the types of their arguments; other processes begin at its end, so that they meet the flow half-way. A
function that is missing there, or called with other types, is compiled when it is called. It is written by
``python -m tests.kernels --write``. All of them took 35 CPU seconds to compile when this was measured.
"""

from __future__ import annotations

import gc
import json
import os
import threading
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any, cast

import numpy as np

from ground.flow.executors import end_with_parent
from ground.machine import own_cores

__all__ = ["KERNELS", "compile_beside", "listed", "notation", "of_notation"]

KERNELS = Path(__file__).with_name("kernels.jsonl")
MOST_PROCESSES = 3
"""More would compile the same helpers of long functions again, for little."""


def listed() -> list[tuple[Any, Any]]:
    """Return (function, types of its arguments), in the order of the flow; imports their modules."""
    lines = map(json.loads, KERNELS.read_text(encoding="utf-8").splitlines())
    return [(getattr(import_module(module), name), of_notation(types)) for module, name, *types in lines]


def notation(argument: Any) -> Any:
    """Return the type of an argument as JSON.

    An array is ``[dtype, dimensions, "" or "read-only"]`` (C order), a tuple ``{"": [...]}``, a named one
    ``{"module:name": [...]}``, anything else the name of its type.
    """
    from numba import types

    if isinstance(argument, types.Array):
        return [str(argument.dtype), argument.ndim, "" if argument.mutable else "read-only"]
    if isinstance(argument, types.BaseTuple):
        named, members = getattr(argument, "instance_class", None), cast(Iterable[Any], argument)
        return {f"{named.__module__}:{named.__qualname__}" if named else "": [notation(member) for member in members]}
    return str(argument)


def of_notation(arguments: Iterable[Any]) -> tuple[Any, ...]:
    """Return the types that `notation` wrote."""
    return tuple(map(_of_notation, arguments))


def _of_notation(written: Any) -> Any:
    from numba import from_dtype, types

    if isinstance(written, list):
        dtype, dimensions, access = written
        return types.Array(from_dtype(np.dtype(dtype)), dimensions, "C", readonly=access == "read-only")
    if isinstance(written, dict):
        ((named, members),) = written.items()
        module, _, name = named.partition(":")
        tuple_of: Any = types.BaseTuple
        return tuple_of.from_types(of_notation(members), getattr(import_module(module), name) if named else None)
    return from_dtype(np.dtype(written))


@cache
def compile_beside() -> None:
    """Start processes that compile what numba has not kept; they end with this one, or when all is compiled."""
    missing = [number for number, (function, _) in enumerate(listed()) if not _is_kept(function)]
    n = min(len(missing), own_cores() - 1, MOST_PROCESSES)
    for begin in range(n):
        context = get_context("spawn")
        context.Process(target=_compile, args=(missing[::-1][begin::n],), daemon=True).start()


def _is_kept(function: Any) -> bool:
    """Tell whether numba has kept a function; one that is out of date counts, too."""
    module = function.__module__.rpartition(".")[2]
    return any(Path(function.stats.cache_path).glob(f"{module}.{function.__name__}-*.nbi"))


def _compile(numbers: list[int]) -> None:
    end_with_parent(threading.Event())
    # Whatever fails here fails again, or does not, where the function is called.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    # A tenth of the time goes into looking for garbage; a process that ends soon can keep it.
    gc.disable()
    functions = listed()
    for number in numbers:
        function, types = functions[number]
        function.compile(types)
