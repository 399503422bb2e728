"""What phases 1 and 2 share: making the runs that are missing, counting them, and writing only what is new."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ground.errors import InputError, UsageError
from ground.settings import Quorum, StewardSettings
from ground.storage.files import write_text
from stewardship.benchmark.folder import Benchmark
from stewardship.history.log import RULE, Event
from stewardship.runs.engines import Answer, Ask, AskedItem, Engine, RecordedEngine, check_rows
from stewardship.runs.store import Phase, Run, RunStore, Vote, message_key

__all__ = [
    "Outcome",
    "RunCounts",
    "append_new",
    "chosen_rows",
    "make_runs",
    "needed",
    "outcome_of",
    "quorum_of_runs",
    "ready_votes",
    "run_columns",
    "run_of",
    "runs_and_quorum",
    "vote_text",
    "write_votes",
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
    check_rows(engine, every)
    able = engine.rows()
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


def make_runs(
    store: RunStore,
    engine: Engine,
    items: Iterable[AskedItem],
    runs: int,
    read: Callable[[Answer], Run],
    advance: Callable[[int], None],
) -> RunCounts:
    """Ask for each run that is not stored, and store it as it is finished.

    Args:
        runs: of each row; numbered from 1.
        advance: told how many runs have come to an end.

    Raises:
        InputError: the engine cannot go on; what was finished is stored.
    """
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
        store.append([read(answer) for answer in kept], [message for answer in kept for message in answer.messages])
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


def run_of(answer: Answer, phase: Phase, **read: Any) -> Run:
    """Return an answer as the run that is stored; ``read`` is what the phase reads in it."""
    return Run(
        uid=answer.ask.item.uid,
        phase=phase,
        run=answer.ask.run,
        answer=answer.raw,
        reason=answer.reason,
        prompt=tuple(map(message_key, answer.messages)),
        model=answer.model,
        seed=answer.seed,
        temperature=answer.temperature,
        tools=answer.tools,
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        keys=answer.keys,
        # Given, since what is as by default is not stored.
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        **read,
    )


def ready_votes(
    store: RunStore, uids: Iterable[str], runs: int, *, settle: bool
) -> tuple[dict[str, list[Vote | None]], tuple[str, ...]]:
    """Return the first ``runs`` runs of each row that can be counted (None: not stored), and the other rows.

    A row can be counted where all its runs are stored, or where ``settle`` takes the missing ones for empty votes.
    """
    cast = {uid: [store.votes.get(uid, {}).get(run) for run in range(1, runs + 1)] for uid in uids}
    ready = {uid: votes for uid, votes in cast.items() if settle or None not in votes}
    return ready, tuple(uid for uid in cast if uid not in ready)


def vote_text(vote: Vote | None) -> str | None:
    """Return what a run said, as it was read; None for a run that is not stored or said nothing that can be read."""
    return None if vote is None else vote.parsed


def outcome_of(
    benchmark: Benchmark,
    store: RunStore,
    counts: RunCounts,
    votes: tuple[dict[str, list[Vote | None]], tuple[str, ...]],
    events: Sequence[Event],
    table: Path,
) -> dict[str, Any]:
    """Append what is new to the history and return the fields of `Outcome`; ``votes`` is that of `ready_votes`."""
    ready, incomplete = votes
    outcomes = Counter(vote.outcome if vote else "failed" for cast in ready.values() for vote in cast)
    return {
        "series": store.series,
        "folder": store.folder,
        "counts": counts,
        "incomplete": incomplete,
        "events": append_new(benchmark, events),
        "unparseable": outcomes["unparseable"],
        "unanswered": outcomes["failed"],
        "votes": table,
    }


def run_columns(runs: int) -> list[str]:
    """Return the names of the columns of runs in a table of votes: run1, run2, ..."""
    return [f"run{run}" for run in range(1, runs + 1)]


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


def write_votes(folder: Path, head: Sequence[str], rows: Iterable[Sequence[str | int | None]]) -> Path:
    """Write the votes of a series beside its runs, one row an instance; it can be read as recorded answers."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
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
