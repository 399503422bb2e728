"""What every reader of notes gets and gives: names and notes from a folder, spans and seconds to a file.

Only the standard library: it runs in environments that have nothing else of this project.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["AssertedSpan", "Name", "Note", "clocked", "main_of", "read_names", "read_notes"]

AssertedSpan = tuple[int, int, str]
"""Begin and end in code points of the note, half-open, and the assertion; empty where the reader judges none."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name of the lexicon."""

    text: str
    cui: str
    preferred: bool


@dataclass(frozen=True, slots=True)
class Note:
    """A note with the spans that readers marked."""

    id: str
    text: str
    marks: tuple[tuple[int, int, str], ...]


Reader = Callable[[Note], list[AssertedSpan]]


def read_names(folder: Path) -> Iterator[Name]:
    """Yield the names of ``names.jsonl``, those of the release before the filler."""
    with (folder / "names.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            text, cui, preferred = json.loads(line)
            yield Name(text, cui, preferred)


def read_notes(folder: Path) -> list[Note]:
    """Return the notes of ``notes.jsonl``."""
    with (folder / "notes.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        Note(row["id"], row["text"], tuple((begin, end, assertion) for begin, end, assertion in row["marks"]))
        for row in rows
    ]


def clocked(make: Callable[[], Reader], notes: list[Note], out: Path, least: float, most: float) -> dict[str, float]:
    """Read the notes with the clock running, write the spans of each, and return the figures.

    The whole set is read again, each time by a new reader, until ``least`` CPU seconds have gone; after ``most`` it
    stops between two notes. Making a reader and its first note are not timed.

    Args:
        make: makes a reader from what is loaded; what it caches while it reads is its own.
        notes: the notes.
        out: JSON file for spans and figures.
        least, most: CPU seconds.
    """
    spans: dict[str, list[AssertedSpan]] = {}
    seconds = wall = 0.0
    size = passes = 0
    while not passes or least > seconds:
        reader = make()
        reader(notes[0])
        for note in notes:
            if seconds > most:
                break
            cpu, clock = time.process_time(), time.perf_counter()
            read = reader(note)
            seconds, wall = seconds + time.process_time() - cpu, wall + time.perf_counter() - clock
            size += len(note.text.encode())
            spans.setdefault(note.id, read)
        passes += 1
    figures = {"bytes": float(size), "seconds": wall, "cpu_seconds": seconds, "passes": float(passes)}
    out.write_text(json.dumps({"figures": figures, "spans": spans}), encoding="utf-8")
    return figures


def main_of(load: Callable[[Path, Path], Callable[[], Reader]]) -> None:
    """Run a reader: ``python -m benchmarks.yardsticks.READER FOLDER SCRATCH OUT LEAST MOST``.

    Args:
        load: builds what the reader needs from (folder, scratch folder) and returns its maker.
    """
    folder, scratch, out = (Path(value) for value in sys.argv[1:4])
    begin = time.process_time()
    make = load(folder, scratch)
    loaded = time.process_time() - begin
    clocked(make, read_notes(folder), out, float(sys.argv[4]), float(sys.argv[5]))
    answer = json.loads(out.read_text(encoding="utf-8"))
    answer["figures"]["load_cpu_seconds"] = loaded
    out.write_text(json.dumps(answer), encoding="utf-8")
