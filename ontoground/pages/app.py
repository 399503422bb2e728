"""The pages as one application: routes, what an error looks like, and the server on this machine's own address."""

from __future__ import annotations

import asyncio
import secrets
import signal
import socket
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from ground import ROOT
from ground.errors import OntogroundError, UsageError
from ground.storage.workspace import Workspace
from ontoground.flow.session import is_held
from ontoground.pages import concepts, coverage, notes, review, runs, statements
from ontoground.pages.explorer import Explorer, page_of, status_of
from ontoground.pages.guard import START, STEERING, Guard
from ontoground.pages.render import FOLDER
from stewardship.sheets.review import Review

__all__ = ["Pages", "application", "listening"]

ADDRESS = "127.0.0.1"
HOSTS = (ADDRESS, "localhost")


def application(
    workspace: Workspace,
    tokens: Mapping[str, str],
    port: int,
    *,
    hosts: Sequence[str] = HOSTS,
    under_review: Review | None = None,
    once: Mapping[str, str] | None = None,
) -> ASGIApp:
    """Return the pages of a workspace behind their guard.

    Args:
        workspace: what is shown.
        tokens: whose each is; see `ontoground.pages.guard.Guard`.
        port: where they are served.
        hosts: names that a browser may call this machine by.
        under_review: the batch that is being read.
        once: tokens that start once, and the token that each stands for.
    """
    routes: list[BaseRoute] = [
        *coverage.ROUTES,
        *concepts.ROUTES,
        *notes.ROUTES,
        *statements.ROUTES,
        *runs.ROUTES,
        *review.ROUTES,
        Mount("/static", StaticFiles(directory=FOLDER / "static")),
    ]
    handlers = {
        OntogroundError: _known,
        HTTPException: _refused,
        duckdb.CatalogException: _missing,
        Exception: _failed,
    }
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.state.explorer = Explorer(workspace, under_review)
    # Cookies know no ports: two servers at once must not take each other's.
    return Guard(app, tokens, [f"{host}:{port}" for host in hosts], f"ontoground_{port}", once)


def _known(request: Request, error: Exception) -> Response:
    assert isinstance(error, OntogroundError)
    return page_of(request, "error.html", status_of(error), message=str(error), held=is_held(error))


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return page_of(request, "error.html", error.status_code, message=error.detail, held=False)


def _missing(request: Request, _error: Exception) -> Response:
    message = "a table that this page needs is not there yet\n  do: `ontoground status` says which stage comes next"
    return page_of(request, "error.html", 400, message=message, held=False)


def _failed(request: Request, error: Exception) -> Response:
    """Say where it happened, in code, and never with which values."""
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(FOLDER)]
    place = f" at {Path(ours[-1].filename).relative_to(ROOT).as_posix()}:{ours[-1].lineno}" if ours else ""
    return page_of(request, "error.html", 500, message=f"this page failed: {type(error).__name__}{place}", held=False)


@contextmanager
def listening(port: int, address: str = ADDRESS) -> Iterator[socket.socket]:
    """Listen at a port, of this machine's own address where no other is given; port 0 takes one that is free.

    Raises:
        UsageError: another program has the port, or this machine has no such address.
    """
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((address, port))
        except OSError as error:
            address_in_words = str(port) if address == ADDRESS else f"{address} port {port}"
            raise UsageError("this port cannot be used", found=address_in_words, do="leave --port out") from error
        # From here on a browser is kept waiting, not refused.
        listener.listen()
        yield listener


class Pages:
    """A server of a workspace's pages.

    Attributes:
        addresses: by reader what opens his pages, and says nothing to whoever lacks its token; under `STEERING` that of
            whoever started the server.
        first: opens the same once, for the command line of a browser: all users of a machine can read command lines.
    """

    def __init__(
        self, workspace: Workspace, opened: socket.socket, host: str | None = None, under_review: Review | None = None
    ) -> None:
        """Prepare to serve; ``host``: another name that this machine is reached by."""
        self._socket, port = opened, opened.getsockname()[1]
        readers = (STEERING, *(under_review.batch.raters if under_review else ()))
        tokens = {secrets.token_urlsafe(24): reader for reader in readers}
        at = f"http://{host or ADDRESS}:{port}{START}?token="
        self.addresses = {reader: at + token for token, reader in tokens.items()}
        once = {secrets.token_urlsafe(24): next(token for token, reader in tokens.items() if reader == STEERING)}
        self.first = at + next(iter(once))
        hosts = (*HOSTS, host) if host else HOSTS
        self.app = application(workspace, tokens, port, hosts=hosts, under_review=under_review, once=once)

    def serve(self) -> None:
        """Answer until somebody stops the program; nothing is logged, as addresses and errors may speak of patients."""
        config = uvicorn.Config(
            self.app,
            log_config=None,
            log_level="critical",
            access_log=False,
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=3,
        )
        asyncio.run(_Server(config).serve(sockets=[self._socket]))


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at SIGINT and SIGTERM; an exception that a handler raises could be lost within a request."""

        def stop(_number: int, _frame: object) -> None:
            self.should_exit = True

        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
