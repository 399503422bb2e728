"""The console script ``ontoground``: one place where errors become exit codes and messages.

Exit codes (docs/cli.md): 0 done; 1 a check found disagreements; 2 wrong usage; 3 bad input or missing data; 4 refused
by the privacy gate; 70 an error of ontoground itself; 130 interrupted.
"""

from __future__ import annotations

import atexit
import functools
import os
import sys
import warnings
from contextlib import suppress
from typing import NoReturn

import typer
from typer.exceptions import TyperException
from typer.main import get_command

from ground.errors import OntogroundError
from ontoground.cli import app
from ontoground.flow.interrupts import Interrupts

__all__ = ["INTERNAL_ERROR", "INTERRUPTED", "invoke", "main"]

INTERRUPTED = 130
INTERNAL_ERROR = 70
_command_of = functools.cache(get_command)


def main() -> NoReturn:
    """Run the command line and leave with its exit code."""
    if os.environ.get("ONTOGROUND_DEBUG") != "1":
        # Advice of libraries to programmers is nothing for users.
        warnings.simplefilter("ignore")
    code = invoke(sys.argv[1:])
    if code == INTERRUPTED:
        _leave_at_once()
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
    except KeyboardInterrupt:
        return _say_interrupted(as_json)


def _guarded(arguments: list[str], as_json: bool, interrupts: Interrupts) -> int:
    try:
        _dispatch(arguments)
        sys.stdout.flush()
        return 0
    except typer.Exit as end:
        return end.exit_code
    except BrokenPipeError:
        # The reader (`| head`) has what it wanted; Python must not complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except (KeyboardInterrupt, typer.Abort):
        return _say_interrupted(as_json)
    except Exception as error:
        return _say_interrupted(as_json) if interrupts.seen else _failed(error, as_json)


def _dispatch(arguments: list[str]) -> None:
    # Not app(...): that one turns an interrupt and a closed pipe into exits of its own, without a word.
    command = _command_of(app)
    with command.make_context("ontoground", list(arguments)) as context:
        command.invoke(context)


def _failed(error: Exception, as_json: bool) -> int:
    if isinstance(error, OntogroundError):
        return _fail(error.as_dict(), str(error), error.exit_code, as_json)
    if isinstance(error, TyperException):
        return _usage(error, as_json)
    return _unexpected(error, as_json)


def _fail(details: dict[str, str | int | None], message: str, code: int, as_json: bool) -> int:
    if as_json:
        from ontoground.cli.render import print_json

        print_json({"error": details, "exit_code": code})
    else:
        typer.echo(f"error: {message}", err=True)
    return code


def _usage(error: TyperException, as_json: bool) -> int:
    details: dict[str, str | int | None] = {"error": "UsageError", "what": error.format_message()}
    if as_json:
        return _fail(details, "", 2, as_json)
    context = getattr(error, "ctx", None)
    if context is None:
        return _fail(details, error.format_message(), 2, as_json)
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(context.get_help(), err=True)
    else:
        typer.echo(f"error: {error.format_message()}\n  do: {context.command_path} --help", err=True)
    return 2


def _say_interrupted(as_json: bool) -> int:
    what = "interrupted: finished stages are kept; run the same command again to go on"
    return _fail({"error": "Interrupted", "what": what}, what, INTERRUPTED, as_json)


def _unexpected(error: Exception, as_json: bool) -> int:
    """Report an error that nobody foresaw. Its text may quote data, so only its kind and place are shown."""
    from ontoground.flow.failures import foreseen, place_of

    known = foreseen(error)
    if known is not None:
        return _fail(known.as_dict(), str(known), known.exit_code, as_json)
    if os.environ.get("ONTOGROUND_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
    what = f"ontoground failed: {type(error).__name__} at {place_of(error)}"
    do = "set ONTOGROUND_DEBUG=1 to see the traceback (it may quote data); report it with the command and the version"
    details: dict[str, str | int | None] = {"error": type(error).__name__, "what": what, "do": do}
    return _fail(details, f"{what}\n  do: {do}", INTERNAL_ERROR, as_json)
