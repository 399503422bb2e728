"""A real OpenAI-compatible server, that of ``transformers serve``, with a tiny random model on a loopback port.

It runs in a thread, as transformers' own tests run it: a process of its own would import torch once more.
"""

from __future__ import annotations

import logging
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ground.lm.tiny import tiny_decoder, tiny_tokenizer

__all__ = ["TEXTS", "Served", "serving"]

START_SECONDS = 180
TEXTS = ["The patient has gout.", "Colchicine treats gout.", "Answer with Q1, Q2, Q3 or Q4."]


@dataclass(frozen=True)
class Served:
    """A server's address and the folder of its model, which is also the model's name there."""

    url: str
    model: Path


def _is_up(port: int) -> bool:
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"http://127.0.0.1:{port}/health"):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


@contextmanager
def serving(folder: Path) -> Iterator[Served]:
    """Make a tiny model below a folder and serve it until the block ends."""
    from transformers.cli.serve import Serve

    model = tiny_decoder("llama", tiny_tokenizer(TEXTS * 5, folder / "tokenizer", chat=True), folder / "model")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = Serve(str(model), host="127.0.0.1", port=port, device="cpu", non_blocking=True)
    for name in ("uvicorn", "uvicorn.access", "uvicorn.error"):
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        until = time.monotonic() + START_SECONDS
        while not _is_up(port):
            assert time.monotonic() < until, "the server did not start"
            time.sleep(0.1)
        yield Served(f"http://127.0.0.1:{port}/v1", model)
    finally:
        server.kill_server()
