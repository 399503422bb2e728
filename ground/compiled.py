"""How numba compiles: what Python calls is kept on disk, and what only compiled functions call is kept in them.

Not each function by plain ``numba.njit(cache=True)``: with it all loops together took 63 CPU seconds to compile, and 48
so (one run each). Each function would get an entry from Python too, and short functions would count who holds each
array that they are handed, which took most of their time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar, cast

from numba import njit
from numpy.typing import NDArray

__all__ = ["kernel", "maker", "part", "read_only"]

Function = TypeVar("Function", bound=Callable[..., Any])

_COMPILER: Any = njit
_KERNEL = _COMPILER(cache=True, nogil=True, no_cfunc_wrapper=True)
_MAKER = _COMPILER(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
_PART = _COMPILER(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)


def kernel(function: Function) -> Function:
    """Compile a function that Python calls, at its first call, and keep it on disk."""
    return cast(Function, _KERNEL(function))


def part(function: Function) -> Function:
    """Compile a function that only compiled ones call, and that neither makes nor returns an array.

    Those that it is given are their holders', and are not counted when they are handed on.
    """
    return cast(Function, _PART(function))


def maker(function: Function) -> Function:
    """Compile a function that only compiled ones call, and that makes or returns arrays."""
    return cast(Function, _MAKER(function))


def _leave_out_linear_algebra() -> None:
    """Let numba load its functions without those of linear algebra, which nothing here calls.

    It would import scipy.linalg at the first call of a compiled function: a quarter of the start of `graph relations`,
    and of each worker.
    """
    modules = cast(dict[str, Any], sys.modules)
    name = "scipy.linalg.cython_blas"
    if name not in modules:
        modules[name] = None
        try:
            import_module("numba.np.arraymath")
        finally:
            del modules[name]


_leave_out_linear_algebra()


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view that cannot be written: numba compiles a function once for those and once more for others."""
    view = array.view()
    view.flags.writeable = False
    return view
