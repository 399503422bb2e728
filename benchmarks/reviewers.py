"""Many readers who save answers at once: how long each waits, and whether anything is lost.

Each reader is a connection of his own to `ontoground explore --review`, as a browser is one, and answers all his rows;
between two answers he pauses for a random time of the given mean, 0 for none.
"""

from __future__ import annotations

import argparse
import http.client
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import polars as pl

from benchmarks.command import parser, run
from ground.storage.files import private_directory
from ontoground.cli.render import console
from stewardship.benchmark.folder import Benchmark
from stewardship.benchmark.tables import LabelTable
from stewardship.sheets.display import shown_rows
from stewardship.sheets.ratings import RATED
from stewardship.sheets.review import Answered
from stewardship.sheets.writing import write_batch

__all__ = ["main", "measured"]

LABELS = ("Q1", "Q2", "Q3", "Q4")
START = "from ontoground.cli.main import main; main()"


def invented(workspace: Path, readers: int, rows: int) -> Benchmark:
    """Make a benchmark of statements, and a sample that all readers have."""
    names = [f"r{number}" for number in range(readers)]
    frame = pl.DataFrame(
        {
            "uid": [f"s{number}" for number in range(rows)],
            "context": [f"A note about patient {number}, who was seen. " * 200 for number in range(rows)],
            "question": [
                f"Statement: drug {number} treats illness {number}. Which quadrant?" for number in range(rows)
            ],
            "original": [LABELS[number % 4] for number in range(rows)],
        }
    )
    table = LabelTable(frame, "named", workspace / "invented.csv", "0" * 64)
    made = Benchmark.adopt(workspace, "invented", [table], open_because="invented", categories=LABELS)
    uids = frame["uid"].to_list()
    write_batch(
        made,
        [(uid, name) for uid in uids for name in names],
        shown_rows(made, uids),
        dict.fromkeys(uids, "category"),
        name="sample-1",
        kind="sample",
        drawn="balanced",
        blind=True,
        seed=42,
    )
    return made


@contextmanager
def served(workspace: Path) -> Iterator[dict[str, str]]:
    """Serve the batch, and yield each reader's address."""
    command = [sys.executable, "-c", START, "explore", "--no-browser", "--review", "sample-1"]
    with subprocess.Popen([*command, "--workspace", str(workspace)], stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        addresses: dict[str, str] = {}
        for line in running.stderr:
            if found := re.match(r"for (\w+) alone: (\S+)", line):
                addresses[found[1]] = found[2]
            if line.startswith("Ctrl+C"):
                break
        try:
            yield addresses
        finally:
            running.kill()


def answer_all(address: str, pause: float) -> list[float]:
    """Answer all rows of a reader, and return how long each save took, in seconds."""
    parts = urlsplit(address)
    draw = random.Random(address)
    connection = http.client.HTTPConnection(parts.netloc)
    connection.request("GET", f"{parts.path}?{parts.query}")
    started = connection.getresponse()
    started.read()
    cookie = (started.getheader("set-cookie") or "").partition(";")[0]
    headers = {"cookie": cookie, "origin": f"http://{parts.netloc}", "accept": "application/json"}
    connection.request("GET", "/review", headers=headers)
    items = dict.fromkeys(re.findall(r"/review/(i\w+)", connection.getresponse().read().decode()))
    waited = []
    for item in items:
        time.sleep(draw.uniform(0, 2 * pause))
        body = f"answer={draw.choice(LABELS)}&version={Answered().version}"
        begin = time.perf_counter()
        connection.request("POST", f"/review/{item}", body, headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == http.client.OK, answer.status
        waited.append(time.perf_counter() - begin)
    return waited


def measured(workspace: Path, readers: int, rows: int, pause: float) -> dict[str, float]:
    """Let readers answer, and return the number of saves, those that the history holds, and how long they took (ms)."""
    made = invented(workspace, readers, rows)
    with served(workspace) as addresses, ThreadPoolExecutor(readers) as threads:
        waited = sorted(
            one for each in threads.map(lambda one: answer_all(one, pause), addresses.values()) for one in each
        )
    kept = {(one.uid, one.by) for one in made.history.events if one.status == RATED}
    return {
        "saves": len(waited),
        "kept": len(kept),
        "median_ms": round(1000 * statistics.median(waited), 1),
        "p99_ms": round(1000 * waited[int(0.99 * len(waited))], 1),
    }


def main(arguments: list[str]) -> int:
    """Measure, and end with 1 where an answer was lost."""
    options: argparse.ArgumentParser = parser("reviewers", __doc__ or "", "python -m benchmarks.reviewers --readers 50")
    options.add_argument("--readers", type=int, default=50)
    options.add_argument("--rows", type=int, default=20)
    options.add_argument("--pause", type=float, default=1.0, help="mean pause between two answers, in seconds")
    given = options.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        found = measured(private_directory(Path(folder) / "work"), given.readers, given.rows, given.pause)
    console().print(", ".join(f"{name} {value:g}" for name, value in found.items()))
    return int(found["kept"] != found["saves"])


if __name__ == "__main__":
    run(main)
