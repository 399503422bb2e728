"""The inside of the Python sandbox: run as a script in a process of its own, never imported.

Order matters: modules are loaded, limits are set, files and network are given up, and only then is the code read and
run. After the system-call filter is in place the kernel refuses (EPERM) whatever is not on its list, however the code
comes to ask for it.
"""

from __future__ import annotations

import ast
import builtins
import ctypes
import importlib
import platform
import random
import resource
import struct
import sys
import traceback
from collections.abc import Callable
from typing import Any

# Loaded before files are given up; the code can import these and nothing else.
ALLOWED = frozenset(
    {
        *(
            "__future__",
            "_strptime",
            "bisect",
            "calendar",
            "cmath",
            "collections",
            "collections.abc",
            "copy",
            "decimal",
        ),
        *("dataclasses", "datetime", "enum", "fractions", "functools", "heapq", "itertools", "json", "math", "numbers"),
        *("operator", "pprint", "random", "re", "statistics", "string", "textwrap", "time", "typing", "unicodedata"),
    }
)
NAME = "<code>"
# Audited events that reach out of the process; what the kernel's filter refuses is refused here with a better message.
REFUSED = ("open", "os.", "socket.", "subprocess.", "shutil.", "ctypes.", "pty.", "fcntl.", "signal.", "winreg.")

# Numbers of the system calls that are let through (linux/arch/x86/entry/syscalls/syscall_64.tbl and
# include/uapi/asm-generic/unistd.h): read, write, close, fstat, lseek, mmap, mprotect, munmap, mremap, madvise, brk,
# rt_sigaction, rt_sigprocmask, rt_sigreturn, sigaltstack, futex, getrandom, clock_gettime, clock_getres,
# gettimeofday, getpid, gettid, exit, exit_group, restart_syscall, rseq, and ioctl (is this stream a terminal).
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CALLS = {
    "x86_64": (
        *(
            0,
            1,
            3,
            5,
            8,
            9,
            10,
            11,
            25,
            28,
            12,
            13,
            14,
            15,
            131,
            202,
            318,
            228,
            229,
            96,
            39,
            186,
            60,
            231,
            219,
            334,
            16,
        ),
    ),
    "aarch64": (
        *(63, 64, 57, 80, 62, 222, 226, 215, 216, 233, 214, 134, 135, 139, 132, 98, 278, 113, 114, 169, 172, 178),
        *(93, 94, 128, 293, 29),
    ),
}
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06  # BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_RET|K
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 1  # SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO with EPERM
NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER = 38, 22, 2


def limit(seconds: int, megabytes: int) -> None:
    """Limit time, memory, files and processes."""
    space = megabytes << 20
    for what, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, space),
        (resource.RLIMIT_DATA, space),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        try:
            resource.setrlimit(what, (most, most))
        except (ValueError, OSError):  # a system without this limit; macOS knows no limit of the address space
            continue


def shut() -> None:
    """Let the kernel refuse every system call that is not listed.

    Raises:
        OSError: there is no filter for this system, or the kernel takes none.
    """
    machine = platform.machine()
    if sys.platform != "linux" or machine not in CALLS:
        raise OSError("no system-call filter")
    numbers = CALLS[machine]
    steps = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, AUDIT_ARCH[machine]), (RETURN, 0, 0, REFUSE), (LOAD, 0, 0, 0)]
    steps += [(EQUAL, len(numbers) - place, 0, number) for place, number in enumerate(numbers)]
    steps += [(RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    head = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(program)))
    libc = ctypes.CDLL(None, use_errno=True)
    for call in ((NO_NEW_PRIVILEGES, 1, 0, 0, 0), (SET_SECCOMP, FILTER, ctypes.addressof(head), 0, 0)):
        if libc.prctl(*(ctypes.c_ulong(value) for value in call)):
            raise OSError(ctypes.get_errno(), "no system-call filter")


def importer(real: Callable[..., Any]) -> Callable[..., Any]:
    """Return an ``__import__`` for the listed modules."""

    def load(name: str, *rest: Any) -> Any:
        if name not in ALLOWED:
            raise ImportError(f"the sandbox has no module {name}; it has {', '.join(sorted(ALLOWED))}")
        return real(name, *rest)

    return load


def no_file(*_given: Any) -> None:
    """Stand where ``open`` was."""
    raise PermissionError("the sandbox has no files")


def watch(event: str, _arguments: Any) -> None:
    """Refuse what reaches out of the process, in words."""
    if event.startswith(REFUSED) or event == "import":
        what = {"open": "files", "socket": "network"}.get(event.partition(".")[0], event)
        raise PermissionError(f"the sandbox has no {what}")


def prepared(text: str) -> Any:
    """Return the code with its last expression printed, as a notebook does."""
    tree = ast.parse(text, NAME)
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = tree.body[-1]
        show = ast.Expr(ast.Call(ast.Name("__show__", ast.Load()), [last.value], []))
        tree.body[-1] = ast.copy_location(show, last)
    return compile(ast.fix_missing_locations(tree), NAME, "exec", dont_inherit=True)


def show(value: object) -> None:
    """Print the value of the last line, unless it is None."""
    if value is not None:
        sys.stdout.write(f"{value if isinstance(value, str) else repr(value)}\n")


def told(error: BaseException) -> str:
    """Return an error of the code in one line, with the line of the code."""
    if isinstance(error, MemoryError):
        return "MemoryError: it needs more memory than the sandbox has"
    if isinstance(error, SyntaxError):
        return f"SyntaxError: {error.msg} (line {error.lineno})"
    where = [number for frame, number in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == NAME]
    return f"{type(error).__name__}: {error}" + (f" (line {where[-1]})" if where else "")


def main() -> int:
    """Read code from standard input and run it."""
    for name in sorted(ALLOWED):
        importlib.import_module(name)
    limit(int(sys.argv[1]), int(sys.argv[2]))
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    sys.stdin.close()
    random.seed(0)
    own = dict(vars(builtins), __import__=importer(__import__), open=no_file)
    for name in ("input", "breakpoint"):
        own.pop(name, None)
    scope = {"__name__": "__main__", "__builtins__": own, "__show__": show}
    # Nothing is run where the filter is not to be had: this raises then.
    shut()
    sys.addaudithook(watch)
    try:
        exec(prepared(text), scope)
    except BaseException as error:
        sys.stdout.write(f"{told(error)}\n")
        return 1
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    raise SystemExit(status)
