"""What every page has at hand: the workspace, one connection at a time, keys in place of identifiers, templates."""

from __future__ import annotations

import re
import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import duckdb
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse

from ground.errors import InputError, OntogroundError, UsageError
from ground.storage.files import private_directory
from ground.storage.workspace import Workspace
from kg.graph import ConceptGraph
from ontoground.flow.interrupts import limited
from ontoground.flow.session import is_held
from ontoground.pages.guard import reader_of
from ontoground.pages.render import rendered
from ontoground.views.query import exploring, exploring_datasets
from stewardship.sheets.review import Review

__all__ = ["Explorer", "explorer_of", "form_of", "page_of", "status_of", "whole_number"]

WAIT_SECONDS = 10.0
QUERY_SECONDS = 60.0
LONGEST_FORM = 100_000
BUSY = "another page is still being made"
STOPPED = "the server stops: this page was not finished"


@dataclass
class Explorer:
    """A workspace that is being looked at, and the batch of sheets that is being read."""

    workspace: Workspace
    review: Review | None = None
    _one: threading.Lock = field(default_factory=threading.Lock)
    _keeping: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def _keys(self) -> sqlite3.Connection:
        """The keys that were given out, in the workspace; where nothing can be written, as long as the server runs."""
        try:
            return _kept(self.workspace.root / "cache" / "page_keys.sqlite")
        except (OSError, sqlite3.Error):
            return _kept(None)

    @contextmanager
    def asking(self, *extra: Path) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open warehouse and datasets for one page, for a minute at most.

        One at a time: connections of a process share settings, so shutting one off from other files shuts off all.

        Raises:
            InputError: another page is still asking, another program writes, or the server stops.
            UsageError: it took too long.
        """
        if not self._one.acquire(timeout=WAIT_SECONDS):
            raise InputError(BUSY, do="wait for it, or ask it for less")
        try:
            with _bounded(exploring(self.workspace, *extra)) as connection:
                yield connection
        finally:
            self._one.release()

    @contextmanager
    def asking_datasets(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the datasets' files alone; a writer of the warehouse is not in the way."""
        with _bounded(exploring_datasets(self.workspace)) as connection:
            yield connection

    @property
    def graph(self) -> ConceptGraph:
        """The concept graph as it is now."""
        manifest = self.workspace.graph / "manifest.json"
        if not manifest.is_file():
            raise InputError("there is no graph yet", do="ontoground graph build")
        return _graph(self.workspace.graph, manifest.stat().st_mtime_ns)

    def key(self, identifier: object) -> str:
        """Return what stands for an identifier in addresses, which browsers keep: random, and kept."""
        with self._keeping:
            self._keys.execute("insert or ignore into key values (?, ?)", (str(identifier), secrets.token_urlsafe(9)))
            found = self._keys.execute("select key from key where value = ?", (str(identifier),)).fetchone()
        return str(found[0])

    def value(self, key: str) -> str:
        """Return the identifier that a key stands for."""
        with self._keeping:
            found = self._keys.execute("select value from key where key = ?", (key,)).fetchone()
        if found is None:
            raise HTTPException(404, "this address was made in another workspace")
        return str(found[0])


def _kept(path: Path | None) -> sqlite3.Connection:
    if path:
        private_directory(path.parent)
        path.touch(0o600)
    connection = sqlite3.connect(path or ":memory:", check_same_thread=False, isolation_level=None)
    # A key that a loss of power forgets costs an address, no more.
    connection.execute("pragma synchronous = off")
    connection.execute("create table if not exists key (value text primary key, key text unique not null)")
    return connection


@cache
def _graph(folder: Path, _changed: int) -> ConceptGraph:
    return ConceptGraph.open(folder)


@contextmanager
def _bounded(opened: AbstractContextManager[duckdb.DuckDBPyConnection]) -> Iterator[duckdb.DuckDBPyConnection]:
    """Interrupt what takes too long; a server that stops interrupts too, which must not leave a page's thread."""
    late = UsageError(f"the answer took more than {QUERY_SECONDS:.0f} s", do="ask for less, or use `ontoground sql`")
    try:
        with opened as connection, limited(connection, QUERY_SECONDS, late):
            yield connection
    except (KeyboardInterrupt, duckdb.InterruptException):
        raise InputError(STOPPED) from None


def status_of(error: OntogroundError, otherwise: int = 400) -> int:
    """Return the status of a page that cannot be shown: 503 where it can be later."""
    return 503 if is_held(error) or error.what in (BUSY, STOPPED) else otherwise


def explorer_of(request: Request) -> Explorer:
    """Return the workspace that a request looks at."""
    explorer: Explorer = request.app.state.explorer
    return explorer


def page_of(request: Request, template: str, status: int = 200, /, **values: Any) -> HTMLResponse:
    """Return a page."""
    about = {"explorer": explorer_of(request), "here": request.url.path, "reader": reader_of(request)}
    return HTMLResponse(rendered(template, **{**about, **values}), status)


def whole_number(name: str, text: str) -> int:
    """Return a number that an address or a form gives.

    Raises:
        UsageError: it is none, or has more digits than any identifier or row number.
    """
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise UsageError(f"this is no {name}", expected="a whole number")
    return int(text)


async def form_of(request: Request) -> dict[str, str]:
    """Return the fields of a form that was sent."""
    sent = bytearray()
    async for part in request.stream():
        sent += part
        if len(sent) > LONGEST_FORM:
            raise HTTPException(413, "the form is too long")
    return {name: values[-1] for name, values in parse_qs(sent.decode(errors="replace")).items()}
