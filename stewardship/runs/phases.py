"""What phases 1 and 2 share: making the runs that are missing, counting them, and writing only what is new."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ground.errors import InputError, UsageError
from ground.settings import Quorum, StewardSettings
from ground.storage.files import write_text
from stewardship.benchmark.folder import Benchmark
from stewardship.history.log import RULE, Event
from stewardship.runs.engines import Answer, Ask, AskedItem, Engine, RecordedEngine
from stewardship.runs.store import Phase, Run, RunStore, Vote, message_key

__all__ = [
    "Outcome",
    "PhaseRuns",
    "RunCounts",
    "append_new",
    "chosen_rows",
    "needed",
    "outcome_of",
    "quorum_of_runs",
    "run_phase",
    "runs_and_quorum",
    "vote_text",
]

VOTES = "votes.csv"


@dataclass
class RunCounts:
    """What was done to have all runs.

    Attributes:
        passing: runs that were not made, by the reason of the moment; they are asked for again the next time.
    """

    stored: int = 0
    made: int = 0
    passing: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class PhaseRuns:
    """The runs of a phase.

    Attributes:
        folder: where they are stored.
        runs: of each row.
        votes: uid to its runs in order, of each row that can be counted; None: not stored.
        incomplete: the other rows: runs are missing.
    """

    series: str
    folder: Path
    runs: int
    counts: RunCounts
    votes: dict[str, list[Vote | None]]
    incomplete: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What a phase came to, whatever it asked.

    Attributes:
        folder: where its runs are.
        incomplete: rows of which nothing follows yet, since runs are missing.
        events: events that were added to the history.
        unparseable: runs that said something which cannot be read.
    """

    series: str
    folder: Path
    counts: RunCounts
    incomplete: tuple[str, ...]
    events: int
    unparseable: int
    unanswered: int
    votes: Path


def chosen_rows(benchmark: Benchmark, engine: Engine, uids: Collection[str] | None) -> set[str]:
    """Return the rows of a phase: those asked for, of those that the engine can answer.

    Raises:
        InputError: the engine has rows that the benchmark lacks.
        UsageError: no row is left.
    """
    every = benchmark.items["uid"].to_list()
    able = engine.rows()
    if lost := sorted((able or frozenset()) - set(every)):
        raise InputError(
            "there are answers to rows that the benchmark lacks",
            found=f"{len(lost):,} rows, such as {', '.join(lost[:3])}",
            expected="keys of the benchmark",
            do="name the right benchmark with --benchmark",
        )
    rows = {uid for uid in every if (uids is None or uid in uids) and (able is None or uid in able)}
    if not rows:
        raise UsageError("there is no row left to ask about", found=f"{len(every)} rows in the benchmark")
    return rows


def runs_and_quorum(engine: Engine, runs: int | None, settings: StewardSettings, name: Quorum) -> tuple[int, int]:
    """Return how many runs a row has, and how many must agree: one, where an engine can give one answer only.

    Recorded answers have the runs that their file has, and the quorum's share of these.

    Args:
        runs: asked for; the file's or the settings' where left out.

    Raises:
        UsageError: the quorum is larger than the number of runs, so that no row can reach it; or more runs are asked
            for than were recorded.
    """
    if engine.alone:
        return 1, 1
    if isinstance(engine, RecordedEngine):
        number = runs or engine.runs
        if number > engine.runs:
            raise UsageError("more runs are asked for than were recorded", found=f"{number}", expected=f"{engine.runs}")
        quorum = settings.quorum_of(name, number)
        if number == 1:
            # One answer a row is no consensus, and no mistake either: its rows are deferred, or pass.
            return number, quorum
    else:
        number, quorum = runs or settings.runs, int(getattr(settings, name))
    if quorum > number:
        raise UsageError(
            "no row can reach the quorum",
            found=f"{quorum} of {number} runs",
            expected="a quorum of at most all runs",
            do=f"make more with --runs, or set steward.{name} in ontoground.toml",
        )
    return number, quorum


def quorum_of_runs(settings: StewardSettings, runs: int, **quorums: int) -> dict[str, int]:
    """Return the quorums, by name, that are others than the settings', for the evidence of a row of several runs."""
    return {name: quorum for name, quorum in quorums.items() if runs > 1 and quorum != getattr(settings, name)}


def run_phase(
    benchmark: Benchmark,
    engine: Engine,
    phase: Phase,
    items: Iterable[AskedItem],
    uids: Iterable[str],
    *,
    read: Callable[[Answer], dict[str, Any]],
    runs: int,
    settle: bool,
    advance: Callable[[int], None],
) -> PhaseRuns:
    """Make the runs of a phase that are missing, and return those that can be counted.

    Args:
        items: what the runs are shown.
        uids: the rows whose runs are counted.
        read: returns what an answer says, as fields of `Run`.
        runs: of each row; numbered from 1.
        settle: take runs that are missing for empty votes; else their rows are incomplete.
        advance: told how many runs have come to an end.

    Raises:
        InputError: the engine cannot go on; what was finished is stored.
    """
    with RunStore(benchmark.folder, phase, engine.name, engine.describe()) as store:
        counts = _make_runs(store, engine, items, runs, read, advance)
    cast = {uid: [store.votes.get(uid, {}).get(run) for run in range(1, runs + 1)] for uid in uids}
    votes = {uid: own for uid, own in cast.items() if settle or None not in own}
    incomplete = tuple(uid for uid in cast if uid not in votes)
    return PhaseRuns(store.series, store.folder, runs, counts, votes, incomplete)


def _make_runs(
    store: RunStore,
    engine: Engine,
    items: Iterable[AskedItem],
    runs: int,
    read: Callable[[Answer], dict[str, Any]],
    advance: Callable[[int], None],
) -> RunCounts:
    counts = RunCounts()

    def missing() -> Iterator[Ask]:
        for item in items:
            for run in range(1, runs + 1):
                if (item.uid, run) in store:
                    counts.stored += 1
                    advance(1)
                else:
                    yield Ask(item, run)

    for finished in engine.answers(missing()):
        kept = [answer for answer in finished if not answer.passing]
        results = [_run(answer, store.phase, **read(answer)) for answer in kept]
        store.append(results, [message for answer in kept for message in answer.messages])
        counts.made += len(kept)
        counts.passing.update(answer.reason or "" for answer in finished if answer.passing)
        advance(len(finished))
    if counts.passing and not counts.made and not counts.stored:
        raise InputError(
            "no run could be made",
            found=", ".join(f"{reason} {count:,}" for reason, count in sorted(counts.passing.items())),
            expected="a server that answers, and knows the model",
            do="check the server and run it again",
        )
    return counts


def _run(answer: Answer, phase: Phase, **read: Any) -> Run:
    same = ("reason", "model", "seed", "temperature", "tools", "prompt_tokens", "completion_tokens", "keys")
    return Run(
        uid=answer.ask.item.uid,
        phase=phase,
        run=answer.ask.run,
        remark=answer.remark or None,
        answer=answer.raw,
        prompt=tuple(map(message_key, answer.messages)),
        # Given, since what is as by default is not stored.
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        **{name: getattr(answer, name) for name in same},
        **read,
    )


def vote_text(vote: Vote | None) -> str | None:
    """Return what a run said, as it was read; None for a run that is not stored or said nothing that can be read."""
    return None if vote is None else vote.parsed


def outcome_of(
    benchmark: Benchmark, runs: PhaseRuns, events: Sequence[Event], columns: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Write the votes beside the runs, append what is new to the history, and return the fields of `Outcome`.

    Args:
        columns: of the table of votes, beside the key and the runs; each by uid.
    """
    outcomes = Counter(vote.outcome if vote else "failed" for cast in runs.votes.values() for vote in cast)
    head = ["uid", *(f"run{run}" for run in range(1, runs.runs + 1)), *columns]
    rows = [
        (uid, *map(vote_text, cast), *(column.get(uid) for column in columns.values()))
        for uid, cast in runs.votes.items()
    ]
    return {
        "series": runs.series,
        "folder": runs.folder,
        "counts": runs.counts,
        "incomplete": runs.incomplete,
        "events": append_new(benchmark, events),
        "unparseable": outcomes["unparseable"],
        "unanswered": outcomes["failed"],
        "votes": _write_votes(runs.folder, head, rows),
    }


def append_new(benchmark: Benchmark, events: Sequence[Event]) -> int:
    """Append those events that say something else than the last one of their row and role; return how many."""
    history = benchmark.history
    # A rule that came after stays: runs that say again what they said before do not undo it.
    latest = {role: history.latest(role, without=(RULE,)) for role in {event.role for event in events}}
    new = [
        event for event in events if (last := latest[event.role].get(event.uid)) is None or last.says() != event.says()
    ]
    if new:
        history.append(new)
    return len(new)


def _write_votes(folder: Path, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    """Write the votes of a series, one row an instance; the table can be read as recorded answers."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    file = folder / VOTES
    write_text(file, text.getvalue())
    return file


def needed(benchmark: Benchmark, columns: Sequence[str], phase: str) -> None:
    """Refuse a benchmark that lacks what a phase shows.

    Raises:
        InputError: columns are missing.
    """
    missing = [name for name in columns if name not in benchmark.items.columns]
    if missing:
        raise InputError(
            f"the benchmark's rows lack what {phase} shows",
            file=benchmark.folder,
            found=", ".join(benchmark.items.columns),
            expected=", ".join(missing),
            do="adopt the table again: `ontoground steward adopt TABLE --column ROLE=NAME`; or give recorded answers",
        )
