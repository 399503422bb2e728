"""A real OpenAI-compatible server, ``transformers serve``, with a tiny random model on a loopback port."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
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
    model = tiny_decoder("llama", tiny_tokenizer(TEXTS * 5, folder / "tokenizer", chat=True), folder / "model")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = "from transformers.cli.transformers import app; app()"
    options = ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    log = folder / "server.log"
    with (
        log.open("w") as out,
        subprocess.Popen(
            [sys.executable, "-c", program, "serve", str(model), *options],
            env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "OMP_NUM_THREADS": "1"},
            stdout=out,
            stderr=out,
        ) as process,
    ):
        try:
            until = time.monotonic() + START_SECONDS
            while not _is_up(port):
                assert process.poll() is None and time.monotonic() < until, log.read_text()
                time.sleep(0.1)
            yield Served(f"http://127.0.0.1:{port}/v1", model)
        finally:
            process.kill()
