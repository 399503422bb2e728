"""A scripted chat-completion server on a loopback port: it answers, and fails, as it is told."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["Reply", "ScriptedServer", "completion", "scripted_server"]


@dataclass(frozen=True)
class Reply:
    """What goes back for one request; ``cut`` breaks the connection in the middle of the body."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    until: threading.Event | None = None  # held back until it is set


def completion(
    text: str | None, finish_reason: str = "stop", refusal: str | None = None, content_type: str = "application/json"
) -> Reply:
    """Return a well-formed answer of 7 prompt tokens and 3 answer tokens."""
    value = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted-1",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish_reason,
                "message": {"role": "assistant", "content": text, "refusal": refusal},
            }
        ],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }
    return Reply(body=json.dumps(value).encode(), headers={"Content-Type": content_type})


class ScriptedServer:
    """Requests as they came, and the address; ``reply`` says what goes back for the n-th request (from 0)."""

    def __init__(self, reply: Callable[[int, dict[str, Any]], Reply]) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._reply = reply
        self._lock = threading.Lock()
        self.under_way = 0
        self.most_under_way = 0
        self.url = ""

    def take(self, body: dict[str, Any], headers: dict[str, str]) -> Reply:
        """Record a request and return what goes back."""
        with self._lock:
            place = len(self.bodies)
            self.bodies.append(body)
            self.headers.append(headers)
        return self._reply(place, body)

    def moved(self, by: int) -> None:
        """Count the requests under way."""
        with self._lock:
            self.under_way += by
            self.most_under_way = max(self.most_under_way, self.under_way)

    def times_seen(self) -> Counter[str]:
        """Return how often each body came."""
        return Counter(json.dumps(body, sort_keys=True) for body in self.bodies)


@contextmanager
def scripted_server(
    reply: Callable[[int, dict[str, Any]], Reply], lists: Mapping[str, Any] | None = None
) -> Iterator[ScriptedServer]:
    """Serve on a free loopback port until the block ends; ``lists`` is what it says to GET, by path."""
    script = ScriptedServer(reply)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            found = (lists or {}).get(self.path)
            self._send(Reply(404) if found is None else Reply(body=json.dumps(found).encode()))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            script.moved(+1)
            try:
                self._send(script.take(body, {key.lower(): value for key, value in self.headers.items()}))
            finally:
                script.moved(-1)

        def _send(self, reply: Reply) -> None:
            if reply.until is not None:
                reply.until.wait(timeout=30)
            try:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body[: len(reply.body) // 2] if reply.cut else reply.body)
                self.close_connection = reply.cut
            except OSError:
                self.close_connection = True  # the client has gone

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    script.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
