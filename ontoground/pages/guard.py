"""Who may ask for a page: a browser of this machine that was given the token, and no other site through it.

What lies behind are patients' notes. The host name is checked against other names for this address (DNS rebinding), the
cookie says that the reader was given a start address, and what another site sends along or embeds is refused. Who
reviews blindly has an address of his own, and with it his rows alone: other pages show labels.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HEADERS", "START", "STEERING", "Guard", "reader_of"]

START = "/start"
STEERING = ""
"""The reader who sees all pages: who started the server."""
OF_READERS = ("/review", "/static")
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # Not no-referrer: a browser would then hide the origin of our own forms too.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
OWN_SITE = (None, "none", "same-origin")
METHODS = ("GET", "HEAD", "POST")


class Guard:
    """Stands before the pages; nothing of a request or of an error is logged."""

    def __init__(
        self,
        app: ASGIApp,
        tokens: Mapping[str, str],
        hosts: Iterable[str],
        cookie: str = "ontoground",
        once: Mapping[str, str] | None = None,
    ) -> None:
        """Guard an application.

        Args:
            app: what it answers by.
            tokens: whose each is, `STEERING` or a reader.
            hosts: names with ports that the pages are served at.
            cookie: its name.
            once: tokens that start once, and the token that each stands for.
        """
        self._app, self._tokens, self._hosts, self._cookie = app, dict(tokens), frozenset(hosts), cookie
        self._once = dict(once or {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        reader = self._reader(Request(scope).cookies.get(self._cookie, ""))
        answer = self._answered(Request(scope), reader) or self._app
        scope["reader"] = reader
        try:
            await answer(scope, receive, send_guarded)
        except Exception:
            # The reader was told where it happened; the error itself may quote a patient's values.
            return

    def _reader(self, token: str) -> str | None:
        """Return the reader of a token, or None; all tokens are compared in constant time."""
        given = token.encode()
        readers = [reader for known, reader in self._tokens.items() if secrets.compare_digest(given, known.encode())]
        return readers[0] if readers else None

    def _answered(self, request: Request, reader: str | None) -> Response | None:
        """Return a refusal or the answer to a start address; None where the pages answer."""
        headers = request.headers
        host = headers.get("host", "")
        if host not in self._hosts or request.method not in METHODS:
            return PlainTextResponse("refused: this is not the address that the pages are served at\n", 421)
        if request.url.path == START:
            return self._start(request)
        foreign = headers.get("sec-fetch-site") not in OWN_SITE
        elsewhere = not any(request.url.path == own or request.url.path.startswith(f"{own}/") for own in OF_READERS)
        refusals = (
            (reader is None, 403, "open the address that `ontoground explore` printed"),
            ("\0" in request.url.path or "%00" in request.url.query, 400, "the address has a NUL character"),
            (
                foreign or (request.method == "POST" and headers.get("origin") != f"http://{host}"),
                403,
                "another site asked for this",
            ),
            (bool(reader) and elsewhere, 403, "a reader sees the rows to be reviewed alone"),
        )
        return next((PlainTextResponse(f"refused: {why}\n", code) for refused, code, why in refusals if refused), None)

    def _start(self, request: Request) -> Response:
        given = request.query_params.get("token", "")
        given = self._once.pop(given, given)
        reader = self._reader(given)
        if reader is None:
            return PlainTextResponse("refused: wrong token\n", 403)
        answer = RedirectResponse("/review" if reader else "/", 303)
        answer.set_cookie(self._cookie, given, httponly=True, samesite="strict", path="/")
        return answer


def reader_of(request: Request) -> str:
    """Return who asks: `STEERING`, or a reader of the batch under review."""
    return str(request.scope["reader"])
