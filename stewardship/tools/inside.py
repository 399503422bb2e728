"""The inside of the Python sandbox: given to an interpreter of its own as ``-c``, never imported.

Order matters: modules are loaded, files, root's rights and resources are given up, and only then is the code run.
After ``chroot`` to an empty folder nothing on disk can be opened or imported, whatever the code asks for.

Arguments: seconds, megabytes, and ``drop`` where it is started by root in namespaces of its own (`tools/python.py`).
"""

from __future__ import annotations

import ast
import importlib
import os
import random
import resource
import sys
import traceback
from typing import Any

# Loaded before the disk is given up; a container may have more.
LOADED = (
    *("_strptime", "bisect", "calendar", "cmath", "collections.abc", "copy", "dataclasses", "datetime", "decimal"),
    *("enum", "fractions", "functools", "heapq", "itertools", "json", "math", "numbers", "operator", "pprint"),
    *("re", "statistics", "string", "textwrap", "time", "typing", "unicodedata"),
)
CODE = "<code>"
NOBODY = 65534


def limit(seconds: int, megabytes: int) -> None:
    """Limit time, memory, files and processes."""
    space = megabytes << 20
    limits = {"CPU": seconds, "AS": space, "DATA": space, "FSIZE": 0, "CORE": 0, "NPROC": 0}
    for name, most in limits.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))


def drop_privileges() -> None:
    """Shut this process into its empty folder, as a user who has no rights."""
    os.chroot(".")
    os.chdir("/")
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def compiled(text: str) -> Any:
    """Compile the code so that the value of its last expression is printed, as in a notebook."""
    tree = ast.parse(text, CODE)
    if tree.body and isinstance(last := tree.body[-1], ast.Expr):
        call = ast.Expr(ast.Call(ast.Name("__print_value__", ast.Load()), [last.value], []))
        tree.body[-1] = ast.copy_location(call, last)
    return compile(ast.fix_missing_locations(tree), CODE, "exec", dont_inherit=True)


def print_value(value: object) -> None:
    """Print the value of the last line, unless it is None."""
    if value is not None:
        sys.stdout.write(f"{value if isinstance(value, str) else repr(value)}\n")


def error_line(error: BaseException) -> str:
    """Return an error of the code in one line, with the line of the code."""
    if isinstance(error, MemoryError):
        return "MemoryError: it needs more memory than the sandbox has"
    if isinstance(error, SyntaxError):
        return f"SyntaxError: {error.msg} (line {error.lineno})"
    lines = [number for frame, number in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == CODE]
    return f"{type(error).__name__}: {error}" + (f" (line {lines[-1]})" if lines else "")


def run(text: str) -> int:
    """Run the code, with what it prints and its error on standard output."""
    random.seed(0)
    try:
        exec(compiled(text), {"__name__": "__main__", "__print_value__": print_value})
    except BaseException as error:
        sys.stdout.write(f"{error_line(error)}\n")
        return 1
    return 0


def main(seconds: str, megabytes: str, drop: str = "") -> int:
    """Read the code from standard input and run it without privileges.

    Where root starts it, this process stays as the first of its namespace: with its end every process in there ends.

    Raises:
        PermissionError: it would run as root.
    """
    for name in LOADED:
        importlib.import_module(name)
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    if drop and (child := os.fork()):
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return code if code >= 0 else 128 - code
    if drop:
        drop_privileges()
    if os.getuid() == 0:
        raise PermissionError("the sandbox does not run code as root")
    limit(int(seconds), int(megabytes))
    return run(text)


if __name__ == "__main__":
    status = main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(status)
