"""The console script ``ontoground``: one place where errors become exit codes and messages.

Exit codes (docs/cli.md): 0 done; 1 a check found disagreements; 2 wrong usage; 3 bad input or missing data; 4 refused
by the privacy gate; 70 an error of ontoground itself; 130 interrupted.
"""

from __future__ import annotations

import atexit
import errno
import gc
import json
import os
import re
import resource
import sys
import traceback
import warnings
import zlib
from contextlib import suppress
from pathlib import Path
from typing import NoReturn
from zipfile import BadZipFile

import typer
from typer.exceptions import TyperException

from ground import ROOT
from ground.errors import InputError, OntogroundError
from ground.machine import bound_threads
from ontoground.cli.app import command_of
from ontoground.cli.render import emit
from ontoground.flow.interrupts import Interrupts

__all__ = ["INTERNAL_ERROR", "INTERRUPTED", "invoke", "main"]

INTERRUPTED = 130
INTERNAL_ERROR = 70
DISK_ERRORS = {
    errno.ENOSPC: "the disk is full",
    errno.EFBIG: "a file would be larger than is allowed: `ulimit -f` shows how large",
    errno.EDQUOT: "the disk quota is used up",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "the file system is read-only",
    errno.ENOENT: "a file or folder is missing",
    errno.EISDIR: "there is a folder where a file is expected",
    errno.ENOTDIR: "there is a file where a folder is expected",
    errno.EEXIST: "a file or folder is in the way",
}
# What reading a damaged file comes to, where no reader names the file itself.
DAMAGED = (EOFError, zlib.error, BadZipFile, RecursionError, json.JSONDecodeError, UnicodeError)
# Errors of DuckDB, Polars and PyArrow that readers of Parquet end with, among others.
READING = ("InvalidInputException", "ComputeError", "ArrowInvalid")
LEAST_ADDRESSES = 2**30
"""Bytes of address space without which libraries end the process, or raise errors of any kind, while they load."""
PARQUET = re.compile(r"""['"]([^'"]+\.parquet)['"]""")


def main() -> NoReturn:
    """Run the command line and leave with its exit code."""
    if os.environ.get("ONTOGROUND_DEBUG") != "1":
        # Warnings of libraries are meant for programmers.
        warnings.simplefilter("ignore")
    # Looking for plugins would read the metadata of all installed packages, and our settings use none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    # Workers and programs that are started inherit it.
    bound_threads()
    code = invoke(sys.argv[1:])
    if code == INTERRUPTED:
        _leave_at_once()
    # An ending process need not look for cycles among all that libraries brought.
    gc.freeze()
    sys.exit(code)


def _leave_at_once() -> NoReturn:
    """End an interrupted process without tearing libraries down, which would complain of what the stop left open."""
    # Temporary folders are removed there.
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(INTERRUPTED)


def invoke(arguments: list[str]) -> int:
    """Run one command line and return its exit code; nothing but SystemExit of --help ever leaves as an exception."""
    as_json = "--json" in arguments
    interrupts = Interrupts()
    try:
        with interrupts:
            return _guarded(arguments, as_json, interrupts)
    except KeyboardInterrupt as stop:
        return _say_interrupted(as_json, *stop.args)
    except Exception as error:
        return _failed(error, as_json)


def _guarded(arguments: list[str], as_json: bool, interrupts: Interrupts) -> int:
    try:
        if (allowed := _address_space()) is not None and allowed < LEAST_ADDRESSES:
            raise MemoryError
        # Not app(...): that one turns an interrupt and a closed pipe into exits of its own, without a word.
        command = command_of(next((word for word in arguments if not word.startswith("-")), None))
        with command.make_context("ontoground", list(arguments)) as context:
            command.invoke(context)
        sys.stdout.flush()
        return 0
    except typer.Exit as end:
        return end.exit_code
    except BrokenPipeError:
        # The reader (`| head`) has what it wanted; Python must not complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except (KeyboardInterrupt, typer.Abort) as stop:
        return _say_interrupted(as_json, *stop.args)
    except Exception as error:
        return _say_interrupted(as_json) if interrupts.seen else _failed(error, as_json)


def _address_space() -> int | None:
    """Return the bytes of address space that this process may have; None without a limit."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _failed(error: Exception, as_json: bool) -> int:
    if isinstance(error, TyperException):
        return _usage(error, as_json)
    known = error if isinstance(error, OntogroundError) else _unaddressed(error) or _foreseen(error)
    if known is not None:
        return _fail(known.as_dict(), str(known), known.exit_code, as_json)
    return _unexpected(error, as_json)


def _fail(details: dict[str, str | int | None], message: str, code: int, as_json: bool) -> int:
    payload = {"error": details, "exit_code": code}
    emit(payload, lambda _out: typer.echo(f"error: {message}", err=True), as_json=as_json)
    return code


def _usage(error: TyperException, as_json: bool) -> int:
    context, what = getattr(error, "ctx", None), error.format_message().replace("Value error, ", "")
    if type(error).__name__ == "NoArgsIsHelpError" and context is not None and not as_json:
        typer.echo(context.get_help(), err=True)
        return 2
    advice = f"\n  do: {context.command_path} --help" if context is not None else ""
    return _fail({"error": "UsageError", "what": what}, what + advice, 2, as_json)


def _say_interrupted(
    as_json: bool, what: str = "interrupted: finished stages are kept; run the same command again to continue"
) -> int:
    return _fail({"error": "Interrupted", "what": what}, what, INTERRUPTED, as_json)


def _unaddressed(error: Exception) -> OntogroundError | None:
    """Return the error in our words where a limit on addresses keeps libraries from being loaded, else None."""
    allowed = _address_space()
    unloaded = isinstance(error, ImportError) or (isinstance(error, OSError) and not error.errno)
    if allowed is not None and (unloaded or isinstance(error, MemoryError)):
        found = f"`ulimit -v` allows {allowed // 2**20:,} MB"
        return InputError("there is not enough address space", found=found, do="ulimit -v unlimited")
    return None


def _foreseen(error: Exception) -> OntogroundError | None:
    """Return the error in our words where it is one of memory, disk or permission, else None."""
    import duckdb

    from ground.storage.warehouse import repair_of

    if isinstance(error, (MemoryError, duckdb.OutOfMemoryException)):
        do = "raise run.memory_limit in ontoground.toml, or close other programs"
        return InputError("there is not enough memory", do=do)
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        do = "close other programs; `ulimit -u` shows how many threads are allowed"
        return InputError("the system gives no further thread: memory or their number is used up", do=do)
    for number in (errno.ENOSPC, errno.EFBIG):
        # Libraries say so in errors of their own.
        if os.strerror(number).lower() in str(error).lower():
            return InputError(DISK_ERRORS[number], file=getattr(error, "filename", None))
    if isinstance(error, OSError) and error.errno:
        return InputError(DISK_ERRORS.get(error.errno, os.strerror(error.errno)), file=error.filename)
    if isinstance(error, duckdb.IOException | duckdb.FatalException | duckdb.SerializationException):
        # Of files, never of rows.
        why = str(error).splitlines()[0]
        return InputError("a file of the workspace cannot be read or written", found=why, do=repair_of(why))
    return _damaged(error)


def _damaged(error: Exception) -> OntogroundError | None:
    """Return the error in our words where a file is what is wrong, else None."""
    if type(error).__name__ in READING and "parquet" in str(error).lower():
        # The text may quote values: the file's name is all that is taken from it.
        named = PARQUET.search(str(error))
        file = named.group(1) if named else None
        return InputError(
            "a Parquet file is cut off or damaged", file=file, found=_place_of(error), do="build it again"
        )
    if str(error) == "Out of buffer":
        # DuckDB's words, in an error of no kind, for a page of a Parquet file that ends too early.
        return InputError("a Parquet file is cut off or damaged", found=_place_of(error), do="build it again")
    if isinstance(error, UnicodeEncodeError) and sys.getfilesystemencoding() != "utf-8":
        do = "export LC_ALL=C.UTF-8, or give the files other names"
        return InputError("a name has letters that this terminal's language cannot write", do=do)
    if isinstance(error, DAMAGED):
        kind_and_place = f"{type(error).__name__}, {_place_of(error)}"
        return InputError("a file is cut off, damaged or nested too deep", found=kind_and_place)
    return None


def _unexpected(error: Exception, as_json: bool) -> int:
    """Report an error that nobody foresaw. Its text may quote data, so only its kind and place are shown."""
    if os.environ.get("ONTOGROUND_DEBUG") == "1":
        traceback.print_exception(error)
    what = f"ontoground failed: {type(error).__name__} at {_place_of(error)}"
    do = "set ONTOGROUND_DEBUG=1 to see the traceback (it may quote data); report it with the command and the version"
    details: dict[str, str | int | None] = {"error": type(error).__name__, "what": what, "do": do}
    return _fail(details, f"{what}\n  do: {do}", INTERNAL_ERROR, as_json)


def _place_of(error: BaseException) -> str:
    """Return the innermost place in our own code, such as ``kg/load.py:31``: never a value."""
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        path = Path(frame.filename)
        if path.is_relative_to(ROOT) and "site-packages" not in path.relative_to(ROOT).parts:
            return f"{path.relative_to(ROOT).as_posix()}:{frame.lineno}"
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown place"
