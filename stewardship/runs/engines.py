"""Where runs come from: a model (`stewardship.runs.conversing`), calculators, a file of recorded answers.

An engine takes questions, each with the number of its run, and gives answers as they are finished, in any order.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import InputError
from ground.lm.results import Message
from ground.names import names_found
from ground.storage.files import sha256_of
from stewardship.runs.prompts import Claim, Extracted, Question
from stewardship.tools.base import ToolUse

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Answer", "Ask", "AskedItem", "Engine", "RecordedEngine"]

AskedItem = Claim | Question | Extracted
UIDS = ("uid", "instance", "Unique ID", "Row Number", "id")
ANSWERS = ("answer", "verdict", "output", "response")
WIDE = re.compile(r"run[ _-]?(\d+)", re.IGNORECASE)
MODES = "failure_mode"
REMARKS = "critique"
AT_ONCE = 200
"""Runs that are answered before any is stored."""


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

    def answers(self, asks: Iterator[Ask]) -> Iterator[Sequence[Answer]]:
        """Yield answers as they are finished; ``asks`` is read as places become free."""
        while asked := list(islice(asks, AT_ONCE)):
            yield list(map(self.answer, asked))

    def answer(self, ask: Ask) -> Answer:
        """Return the answer of one run, where runs are answered one by one."""
        raise NotImplementedError


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
        self._cells: dict[tuple[str, int], tuple[str | None, ...]] = {}
        for line, uid, run, cell in _records(cells, file):
            what = None
            if not uid:
                what = "a row has no key"
            elif not run.isdecimal() or not int(run):
                what = "a run has no number"
            elif (uid, int(run)) in self._cells:
                what = "a run is there twice"
            if what:
                expected = "each key and run once, runs from 1"
                raise InputError(what, file=file, line=line, found=f"run {run}" if run else None, expected=expected)
            self._cells[uid, int(run)] = cell
        self.runs = max((run for _, run in self._cells), default=0)
        if not self.runs:
            raise InputError("the file holds no run", file=file)

    def describe(self) -> dict[str, Any]:
        """Return the file's name and hash."""
        return {"engine": "recorded", "file": self._file, "sha256": self._sha256}

    def rows(self) -> frozenset[str]:
        """Return the rows that the file has."""
        return frozenset(uid for uid, _ in self._cells)

    def answer(self, ask: Ask) -> Answer:
        """Return what is recorded; a run that is not there has no answer."""
        answer, mode, remark = self._cells.get((ask.item.uid, ask.run), (None, None, None))
        reason = None if answer is not None else "no_answer"
        return Answer(ask, self._file, answer, answer, reason, failure_mode=mode, remark=remark)


def _records(cells: pl.DataFrame, file: Path) -> Iterator[tuple[int, str, str, tuple[str | None, ...]]]:
    """Yield the line, key and number of each run, and its answer, failure mode and critique."""
    uid = _column(cells, file, UIDS)
    wide = {name: match[1] for name in cells.columns if (match := WIDE.fullmatch(name))}
    if not wide:
        _column(cells, file, ("run",), f"run1, run2, ...; or run, and one of {', '.join(ANSWERS)}")
        answer = _column(cells, file, ANSWERS)
    for line, row in enumerate(cells.iter_rows(named=True), start=2):
        key = (row[uid] or "").strip()
        if wide:
            yield from ((line, key, run, (row[name], None, None)) for name, run in wide.items())
        else:
            yield line, key, (row["run"] or "").strip(), (row[answer], row.get(MODES), row.get(REMARKS))


def _column(cells: pl.DataFrame, file: Path, names: Sequence[str], expected: str = "") -> str:
    for name in names:
        if name in cells.columns:
            return name
    expected = expected or f"one of {', '.join(names)}"
    raise InputError("columns are missing", file=file, found=names_found(cells.columns), expected=expected)
