"""What spares numba from compiling a function more than once, or more of it than is called."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar, cast

from numba import njit, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.errors import NumbaRuntimeError
from numba.core.registry import CPUDispatcher
from numpy.typing import NDArray

__all__ = ["kernel", "maker", "part", "read_only"]

Function = TypeVar("Function", bound=Callable[..., Any])


class _Part(CPUDispatcher):
    """A compiled function that is the same for all constants; numba compiles one for each."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Choose the overload for the types of arguments."""
        return super().get_call_template(tuple(map(types.unliteral, args)), kws)


class _Text(JITCodeLibrary):
    """Code that numba optimises, and makes machine code of, in the functions that call it, not by itself too."""

    codegen = property(lambda self: self)

    def set_env(self, name: str, env: Any) -> None:
        """Leave out the environment: there is no machine code that could read it."""

    def get_pointer_to_function(self, name: str) -> int:
        """Return that there is no machine code."""
        return 0

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True


class _PartCompiler(Compiler):
    """Compiles as ever, up to text."""

    def define_pipelines(self) -> Any:
        """Return the steps."""
        library: Any = _Text
        self.state.library = library(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()  # type: ignore[no-untyped-call]


class _LenderCompiler(_PartCompiler):
    """Compiles what works in arrays that others hold: nobody would count who holds a new one."""

    def compile_extra(self, func: Any) -> Any:
        """Refuse what gets an array from a call, an operator or a slice, or returns one."""
        refused = TypeError(f"{func.__qualname__} makes or returns an array: it is a maker, no part")
        try:
            result, state = super().compile_extra(func), self.state  # type: ignore[no-untyped-call]
        except NumbaRuntimeError as error:
            # What numba itself has to allocate.
            raise refused from error
        made = [one.return_type for step, one in state.calltypes.items() if one and not _is_member(step, one)]
        if any(_holds_array(one) for one in (*made, state.return_type)):
            raise refused
        return result


def _is_member(step: Any, typed: Any) -> bool:
    """Tell whether a step takes a member of a tuple."""
    return "getitem" in getattr(step, "op", "") and isinstance(typed.args[0], types.BaseTuple)


def _holds_array(of: Any) -> bool:
    return isinstance(of, types.Array) or (isinstance(of, types.BaseTuple) and any(map(_holds_array, cast(Any, of))))


_COMPILER: Any = njit
_KERNEL = _COMPILER(cache=True, nogil=True, no_cfunc_wrapper=True)
_MAKER = _COMPILER(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=_PartCompiler)
_PART = _COMPILER(
    nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=_LenderCompiler, _nrt=False
)


def kernel(function: Function) -> Function:
    """Compile a function that Python calls, at its first call, and keep it on disk."""
    return cast(Function, _KERNEL(function))


def part(function: Function) -> Function:
    """Compile a function that only compiled ones call: without the costly entry from Python, kept with its callers.

    It makes no array, and returns none: those that it is given are their holders', and are not counted when they are
    handed on, which took most of the time of short functions.
    """
    return cast(Function, _called_by_compiled(_PART(function)))


def maker(function: Function) -> Function:
    """Compile a `part` that makes or returns arrays."""
    return cast(Function, _called_by_compiled(_MAKER(function)))


def _called_by_compiled(compiled: Any) -> Any:
    compiled.__class__ = _Part
    return compiled


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
