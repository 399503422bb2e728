"""Where runs come from: a model (`stewardship.runs.conversing`), a Python callable, a file of recorded answers.

An engine takes questions, each with the number of its run, and gives answers as they are finished, in any order.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from ground.errors import InputError
from ground.lm.results import Message
from ground.names import names_found
from ground.storage.files import sha256_of
from stewardship.runs.prompts import Claim, Extracted, Question
from stewardship.tools.base import ToolUse

__all__ = ["Answer", "Ask", "AskedItem", "CallableEngine", "Engine", "RecordedEngine", "check_rows"]

AskedItem = Claim | Question | Extracted
UIDS = ("uid", "instance", "Unique ID", "Row Number", "id")
ANSWERS = ("answer", "verdict", "output", "response")
WIDE = re.compile(r"run[ _-]?(\d+)", re.IGNORECASE)
MODES = "failure_mode"
REMARKS = "critique"


@dataclass(frozen=True)
class Ask:
    """One run to be made: over which row, and its number from 1."""

    item: AskedItem
    run: int


@dataclass(frozen=True)
class Answer:
    """What came of one run.

    Attributes:
        final: the answer itself, such as ``Suspicious`` or text with ``<answer>25.24</answer>``; None: there is none.
        raw: all that was said last.
        passing: that reason is of the moment: the run was not made, and may be asked again.
        prompt_tokens: of all turns.
        completion_tokens: of all turns.
        keys: of the answers in the cache of the language model.
    """

    ask: Ask
    model: str
    final: str | None = field(default=None, repr=False)
    raw: str | None = field(default=None, repr=False)
    reason: str | None = None
    passing: bool = False
    failure_mode: str | None = None
    remark: str | None = field(default=None, repr=False)
    messages: tuple[Message, ...] = field(default=(), repr=False)
    seed: int | None = None
    temperature: float | None = None
    tools: tuple[ToolUse, ...] = ()
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    keys: tuple[str, ...] = ()


class Engine(ABC):
    """A source of runs."""

    name: str
    shows = True
    """Whether what is asked is shown to something; else a row's name is all that is looked at."""
    alone = False
    """Whether it can give one answer only, so that one run a row is all and its word decides."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return all that decides the answers besides row and run: what makes a series of runs."""

    def rows(self) -> frozenset[str] | None:
        """Return the rows that it can answer; None: all."""
        return None

    @abstractmethod
    def answers(self, asks: Iterator[Ask]) -> Iterator[Sequence[Answer]]:
        """Yield answers as they are finished; ``asks`` is read as places become free."""


class CallableEngine(Engine):
    """Runs a function of the user's: ``function(item, run)`` returns the answer as text, or None for no answer.

    The item is a `stewardship.runs.prompts.Claim` for an audit and a `Question` for a recomputation. An error of the
    function ends the phase; what was finished before is stored.
    """

    def __init__(
        self, function: Callable[[AskedItem, int], str | None], *, name: str, version: str = "", threads: int = 1
    ) -> None:
        """Wrap a function.

        Args:
            version: change it where the function has changed, so that its runs are made anew.
        """
        self.name = name
        self._function = function
        self._version = version
        self._threads = threads

    def describe(self) -> dict[str, Any]:
        """Return name and version."""
        return {"engine": "callable", "name": self.name, "version": self._version}

    def answers(self, asks: Iterator[Ask]) -> Iterator[Sequence[Answer]]:
        """Call the function, ``threads`` calls at a time."""
        with ThreadPoolExecutor(self._threads) as pool:
            while asked := list(islice(asks, self._threads)):
                yield list(pool.map(self._answer, asked))

    def _answer(self, ask: Ask) -> Answer:
        answer = self._function(ask.item, ask.run)
        return Answer(ask, self.name, answer, answer, None if answer is not None else "no_answer")


class RecordedEngine(Engine):
    """Answers that are in a file (CSV, Excel, Parquet, JSON lines).

    Either wide, one row an instance: ``uid`` and ``run1`` to ``runN``; or long, one row a run: ``uid``, ``run`` and
    ``answer``, and for audits ``failure_mode`` and ``critique`` where they are known. An empty cell is a run without an
    answer. The key may be called ``instance``, ``Unique ID``, ``Row Number`` or ``id``, the answer ``verdict``,
    ``output`` or ``response``.
    """

    shows = False

    def __init__(self, file: Path) -> None:
        """Read a file.

        Raises:
            InputError: it cannot be read, columns are missing, or a run is there twice or has no number.
            UsageError: its name does not say what it is.
        """
        from stewardship.benchmark.tables import read_cells

        cells = read_cells(file)
        self.name = re.sub(r"(\.csv|\.tsv)?\.\w+$", "", file.name) or "recorded"
        self._file, self._sha256 = file.name, sha256_of(file)
        uid = _column(cells.columns, UIDS, file)
        wide = {name: int(match[1]) for name in cells.columns if (match := WIDE.fullmatch(name))}
        rows = cells.iter_rows(named=True)
        self._cells = _wide(rows, uid, wide, file) if wide else _long(rows, uid, cells.columns, file)
        self.runs = max((run for _, run in self._cells), default=0)
        if not self.runs:
            raise InputError("the file holds no run", file=file)

    def describe(self) -> dict[str, Any]:
        """Return the file's name and hash."""
        return {"engine": "recorded", "file": self._file, "sha256": self._sha256}

    def rows(self) -> frozenset[str]:
        """Return the rows that the file has."""
        return frozenset(uid for uid, _ in self._cells)

    def answers(self, asks: Iterator[Ask]) -> Iterator[Sequence[Answer]]:
        """Yield what is recorded; a run that is not there has no answer."""
        while asked := list(islice(asks, 500)):
            yield [self._answer(ask) for ask in asked]

    def _answer(self, ask: Ask) -> Answer:
        answer, mode, remark = self._cells.get((ask.item.uid, ask.run), (None, None, None))
        reason = None if answer is not None else "no_answer"
        return Answer(ask, self._file, answer, answer, reason, failure_mode=mode, remark=remark)


Cells = dict[tuple[str, int], tuple[str | None, str | None, str | None]]


def _column(columns: Sequence[str], names: Sequence[str], file: Path) -> str:
    for name in names:
        if name in columns:
            return name
    raise InputError(
        "columns are missing", file=file, found=names_found(columns), expected=f"one of {', '.join(names)}"
    )


def _wide(rows: Iterable[dict[str, str | None]], uid: str, wide: dict[str, int], file: Path) -> Cells:
    results: Cells = {}
    for line, row in enumerate(rows, start=2):
        for name, run in wide.items():
            _put(results, row[uid], run, (row[name], None, None), file, line)
    return results


def _long(rows: Iterable[dict[str, str | None]], uid: str, columns: Sequence[str], file: Path) -> Cells:
    if "run" not in columns:
        raise InputError(
            "columns of runs are missing",
            file=file,
            found=names_found(columns),
            expected=f"run1, run2, ...; or run, and one of {', '.join(ANSWERS)}",
        )
    answer, number = _column(columns, ANSWERS, file), "run"
    results: Cells = {}
    for line, row in enumerate(rows, start=2):
        run = (row[number] or "").strip()
        if not run.isdecimal():
            raise InputError("a run has no number", file=file, line=line, found=run or None, expected="1, 2, ...")
        _put(results, row[uid], int(run), (row[answer], row.get(MODES), row.get(REMARKS)), file, line)
    return results


def _put(
    result: Cells,
    uid: str | None,
    run: int,
    answer: tuple[str | None, str | None, str | None],
    file: Path,
    line: int,
) -> None:
    key = ((uid or "").strip(), run)
    if not key[0] or key in result or run < 1:
        what = "a row has no key" if not key[0] else "a run is there twice" if key in result else "a run has no number"
        raise InputError(what, file=file, line=line, expected="each key and run once, runs from 1")
    result[key] = answer


def check_rows(engine: Engine, uids: Iterable[str]) -> None:
    """Refuse an engine that has rows which a benchmark lacks.

    Raises:
        InputError: it has.
    """
    lost = sorted((engine.rows() or frozenset()) - set(uids))
    if lost:
        raise InputError(
            "there are answers to rows that the benchmark lacks",
            found=f"{len(lost):,} rows, such as {', '.join(lost[:3])}",
            expected="keys of the benchmark",
            do="name the right benchmark with --benchmark",
        )
