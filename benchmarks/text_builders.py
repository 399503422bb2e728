"""How fast `build medhal` is with the rules engine, and whether its memory grows with its input.

The texts are built as they are and then several times over, each copy with ids and an opening sentence of its own, so
that no copy is left out as a repetition. Each build is a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.command import parser, run
from benchmarks.measuring import RESULTS, machine
from ground.errors import InputError, UsageError
from ground.storage.files import private_directory, write_text
from ontoground.cli.render import console, note, table

__all__ = ["Measure", "build_once", "main", "multiply"]

OPENING = "This is record {copy}. "
PROGRAM = "import sys; from ontoground.cli.main import main; main()"


@dataclass(frozen=True)
class Measure:
    """One build.

    Attributes:
        copies: how many times over the texts were built.
        rows: in the dataset.
        seconds: wall time of the whole process, its start among it.
        cpu_seconds: of all its threads.
        rows_per_minute: of CPU time: other work on the machine changes it less than wall time.
        peak_bytes: the most memory that the process held.
    """

    copies: int
    rows: int
    seconds: float
    cpu_seconds: float
    rows_per_minute: float
    peak_bytes: int


def _questions(source: Path, target: Path, copies: int) -> None:
    """Copy question sets (JSON lines with ``question`` and ``realidx``)."""
    target.mkdir()
    for file in sorted(source.glob("*.jsonl")):
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        with (target / file.name).open("w", encoding="utf-8") as out:
            for copy in range(copies):
                for place, row in enumerate(rows):
                    name = f"{copy}-{row.get('realidx', place)}" if copy else row.get("realidx", place)
                    opening = OPENING.format(copy=copy) if copy else ""
                    out.write(json.dumps(row | {"realidx": name, "question": opening + row["question"]}) + "\n")


def _articles(source: Path, target: Path, copies: int) -> None:
    """Copy SumPubMed's articles and abstracts under further numbers."""
    for part in ("text", "abstract"):
        files = sorted((source / part).glob(f"{part}_*.txt"))
        (target / part).mkdir(parents=True)
        most = max(int(file.stem.rpartition("_")[2]) for file in files)
        for copy in range(copies):
            for file in files:
                number = int(file.stem.rpartition("_")[2]) + copy * most
                heading, line, text = file.read_text(encoding="utf-8").partition("\n")
                opening = OPENING.format(copy=copy).lower() if copy else ""
                (target / part / f"{part}_{number}.txt").write_text(f"{heading}{line}{opening}{text}", encoding="utf-8")


COPIERS: Mapping[str, Callable[[Path, Path, int], None]] = {
    "medqa": _questions,
    "medbullets": _questions,
    "sumpubmed": _articles,
}


def multiply(texts: Path, target: Path, copies: int) -> list[str]:
    """Write each source below ``texts`` that can be copied ``copies`` times below ``target``; return their names.

    Raises:
        InputError: there is none.
    """
    private_directory(target)
    found = [name for name in COPIERS if (texts / name).is_dir()]
    if not found:
        raise InputError("no text to multiply", file=texts, expected=f"a folder {' or '.join(COPIERS)}")
    for name in found:
        COPIERS[name](texts / name, target / name, copies)
    return found


def build_once(texts: Path, workspace: Path, copies: int) -> tuple[Measure, dict[str, Any]]:
    """Build a dataset in a process of its own; return what it took and what it printed.

    Raises:
        InputError: the build failed.
    """
    arguments = ["build", "medhal", "--texts", str(texts), "--splits", "all", "--workspace", str(workspace), "--json"]
    printed = workspace.with_suffix(".json")
    begin = time.perf_counter()
    with printed.open("w") as out:
        child = os.posix_spawn(
            sys.executable,
            [sys.executable, "-c", PROGRAM, *arguments],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)],
        )
        _, status, used = os.wait4(child, 0)
    seconds = time.perf_counter() - begin
    if os.waitstatus_to_exitcode(status):
        raise InputError("the build failed", file=texts, found=f"exit code {os.waitstatus_to_exitcode(status)}")
    payload: dict[str, Any] = json.loads(printed.read_text(encoding="utf-8"))
    peak = used.ru_maxrss if sys.platform == "darwin" else used.ru_maxrss * 1024
    cpu = used.ru_utime + used.ru_stime
    rate = 60 * payload["rows"] / cpu
    return Measure(copies, payload["rows"], round(seconds, 2), round(cpu, 2), round(rate), peak), payload


def main(arguments: list[str]) -> int:
    """Measure and print a table; with ``--save`` also write it to ``benchmarks/results``."""
    options = _options(arguments)
    if min(options.copies) < 1:
        raise UsageError("--copies below 1", found=str(min(options.copies)))
    measures, shares = [], {}
    with tempfile.TemporaryDirectory(prefix="ontoground-bench-") as folder:
        for copies in options.copies:
            texts = Path(folder) / f"texts-{copies}"
            names = multiply(options.texts, texts, copies)
            note(f"{', '.join(names)}: {copies} times")
            measure, payload = build_once(texts, Path(folder) / f"work-{copies}", copies)
            measures.append(measure)
            shares[copies] = {one["source"]: one["factual"] + one["non_factual"] for one in payload["sources"]}
    rows = [
        [one.copies, one.rows, one.seconds, one.cpu_seconds, int(one.rows_per_minute), one.peak_bytes // 2**20]
        for one in measures
    ]
    console().print(table(("copies", "rows", "seconds", "CPU seconds", "rows/CPU min", "peak MiB"), rows))
    if options.save:
        result = {"machine": machine(), "measures": [asdict(one) for one in measures], "rows_by_source": shares}
        write_text(RESULTS / "text-builders.json", json.dumps(result, indent=2) + "\n")
    return 0


def _options(arguments: list[str]) -> argparse.Namespace:
    command = parser(
        "text_builders",
        (__doc__ or "").splitlines()[0],
        "python -m benchmarks.text_builders --texts DIR --copies 1 4 --save",
    )
    command.add_argument("--texts", type=Path, required=True, help="folder with one folder a source")
    command.add_argument("--copies", type=int, nargs="+", default=[1, 4], help="how many times over (default: 1 4)")
    command.add_argument("--save", action="store_true", help="write benchmarks/results/text-builders.json")
    return command.parse_args(arguments)


if __name__ == "__main__":
    run(main)
