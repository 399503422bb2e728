"""Ctrl-C and SIGTERM stop a long query at once, and a second one ends the process.

Python runs its signal handlers between two bytecodes of the main thread only: a query that takes minutes inside
DuckDB would not notice. The C-level wake-up descriptor is written at once, so a small thread reads it and interrupts
the open connections; the main thread then sees KeyboardInterrupt.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb

    from ground.errors import OntogroundError

__all__ = ["Interrupts", "interruptible", "limited"]

SIGNALS = (signal.SIGINT, signal.SIGTERM)
EXIT_CODE = 130
AGAIN_SECONDS = 0.1

_open: list[duckdb.DuckDBPyConnection] = []


@contextmanager
def interruptible(connection: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """Let a signal interrupt this connection's queries; close it at the end."""
    _open.append(connection)
    try:
        yield connection
    finally:
        _open.remove(connection)
        connection.close()


@contextmanager
def limited(connection: duckdb.DuckDBPyConnection, seconds: float, late: OntogroundError) -> Iterator[None]:
    """Interrupt what takes longer than so many seconds, and raise ``late`` for it."""
    import duckdb

    over = threading.Event()

    def stop() -> None:
        over.set()
        connection.interrupt()

    clock = threading.Timer(seconds, stop)
    clock.daemon = True
    clock.start()
    try:
        yield
    except (KeyboardInterrupt, duckdb.InterruptException):
        if not over.is_set():
            raise
        raise late from None
    finally:
        clock.cancel()


def _interrupt() -> None:
    for connection in tuple(_open):
        connection.interrupt()


class Interrupts:
    """While open, SIGINT and SIGTERM raise KeyboardInterrupt, also out of a running query.

    Outside the main thread it does nothing: Python allows signal handlers only there.
    """

    def __init__(self) -> None:
        self.seen = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is not threading.main_thread():
            return self
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        # First what may fail: a system out of memory gives no thread.
        threading.Thread(target=self._watch, daemon=True).start()
        self._before = {number: signal.signal(number, self._handle) for number in SIGNALS}
        self._wakeup = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        return self

    def __exit__(self, *_: object) -> None:
        if not self._before:
            return
        signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._writer.close()

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        # DuckDB looks for signals between its tasks, and then waits for its threads, which know of none.
        _interrupt()
        raise KeyboardInterrupt

    def _watch(self) -> None:
        while data := self._received():
            if data[0] not in SIGNALS:
                continue
            if self.seen:
                # Files appear whole or not at all, and DuckDB recovers from its log: leaving at once loses nothing.
                os._exit(EXIT_CODE)
            self.seen = True
            _interrupt()
        self._reader.close()

    def _received(self) -> bytes:
        """Wait for the next signal; after the first, interrupt again and again what is begun nevertheless.

        A query forgets what came before it, and DuckDB swallows a KeyboardInterrupt that meets one of its imports.
        """
        while True:
            self._reader.settimeout(AGAIN_SECONDS if self.seen else None)
            with suppress(TimeoutError):
                return self._reader.recv(1)
            _interrupt()
