"""Phase 1: independent runs of an auditor over each label, and the verdict of their supermajority (paper 2.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from ground.settings import StewardSettings
from stewardship.benchmark.folder import Benchmark
from stewardship.history.log import Event
from stewardship.runs.engines import Answer, Engine
from stewardship.runs.phases import (
    Outcome,
    chosen_rows,
    needed,
    outcome_of,
    quorum_of_runs,
    run_phase,
    runs_and_quorum,
    vote_text,
)
from stewardship.runs.prompts import FAILURE_MODES, Claim
from stewardship.runs.store import Vote
from stewardship.runs.votes import LIKELY_ERROR, PASSED, AuditSummary, Verdict, audit, parse_verdict, summarise

__all__ = ["AuditOutcome", "audit_labels", "claims"]

VALUES = {LIKELY_ERROR: "Likely Error", PASSED: "Passed"}
WRITTEN = {Verdict.SUSPICIOUS: "Suspicious", Verdict.PASS: "Pass", Verdict.NONE: None}


@dataclass(frozen=True)
class AuditOutcome(Outcome):
    """What phase 1 came to.

    Attributes:
        summary: likely errors among the rows with a verdict.
        failure_modes: of likely errors, by the mode that most of their Suspicious runs name.
    """

    summary: AuditSummary
    failure_modes: dict[str, int]


def audit_labels(
    benchmark: Benchmark,
    engine: Engine,
    settings: StewardSettings,
    *,
    runs: int | None = None,
    uids: Collection[str] | None = None,
    settle: bool = False,
    advance: Callable[[int], None] = lambda _: None,
) -> AuditOutcome:
    """Audit labels: make the runs that are missing, count the verdicts, and add them to the history.

    A second call with all runs there asks nothing and adds no event.

    Args:
        benchmark: whose original labels are audited; a row without one is left out.
        runs: of each row; the settings' where left out, or the file's of recorded answers.
        uids: rows; all where left out.
        settle: count runs that could not be made as empty votes; else such a row has no verdict yet.
        advance: told how many runs have come to an end.

    Raises:
        InputError: the benchmark lacks columns, or the engine cannot go on.
        UsageError: the quorum cannot be reached, or no row is left.
    """
    number, quorum = runs_and_quorum(engine, runs, settings, "audit_quorum")
    rows = chosen_rows(benchmark, engine, uids)
    labelled = [uid for uid in benchmark.history.latest("original") if uid in rows]
    asked = claims(benchmark, rows, with_text=engine.shows)
    phase_runs = run_phase(
        benchmark, engine, "audit", asked, labelled, read=_read, runs=number, settle=settle, advance=advance
    )
    events = [_event(uid, cast, quorum, phase_runs.series, settings) for uid, cast in phase_runs.votes.items()]
    statuses = {event.uid: event.status for event in events}
    modes = {uid: _modes(phase_runs.votes[uid]) for uid, status in statuses.items() if status == LIKELY_ERROR}
    columns: dict[str, dict[str, Any]] = {
        "suspicious": {event.uid: event.evidence["suspicious"] for event in events},
        "verdict": {event.uid: event.value for event in events},
        "failure_mode": {uid: named[0][0] if named else None for uid, named in modes.items()},
    }
    commonest = Counter(mode or "not named" for mode in columns["failure_mode"].values())
    return AuditOutcome(
        **outcome_of(benchmark, phase_runs, events, columns),
        summary=summarise(statuses, benchmark.column("stratum")),
        failure_modes=dict(commonest.most_common()),
    )


def claims(benchmark: Benchmark, rows: Collection[str], *, with_text: bool = True) -> Iterator[Claim]:
    """Yield what an auditor sees of each row that has an original label; the row's name alone where nothing is shown.

    Raises:
        InputError: the benchmark has no column of contexts or questions, and they are to be shown.
    """
    labels = {uid: event.value for uid, event in benchmark.history.latest("original").items() if uid in rows}
    if not with_text:
        yield from (Claim(uid, "", "", label) for uid, label in labels.items() if label is not None)
        return
    needed(benchmark, ("context", "question"), "an audit")
    more = [name for name in ("features", "derivation", "stratum") if name in benchmark.items.columns]
    for row in benchmark.items.select("uid", "context", "question", *more).iter_rows(named=True):
        label = labels.get(row["uid"])
        if label is not None:
            yield Claim(
                row["uid"],
                row["context"] or "",
                row["question"] or "",
                label,
                row.get("features"),
                row.get("derivation"),
                row.get("stratum"),
            )


def _read(answer: Answer) -> dict[str, Any]:
    verdict = parse_verdict(answer.final)
    known = answer.failure_mode in FAILURE_MODES and verdict is Verdict.SUSPICIOUS
    return {
        "outcome": "failed" if answer.final is None else "unparseable" if verdict is Verdict.NONE else "answered",
        "parsed": WRITTEN[verdict],
        "failure_mode": answer.failure_mode if known else None,
    }


def _event(uid: str, votes: list[Vote | None], quorum: int, series: str, settings: StewardSettings) -> Event:
    audited = audit([parse_verdict(vote_text(vote)) for vote in votes], quorum=quorum)
    modes = _modes(votes)
    named = f" ({', '.join(f'{mode} {count}' for mode, count in modes)})" if modes else ""
    return Event(
        uid=uid,
        role="audit",
        value=VALUES[audited.status],
        status=audited.status,
        by=series,
        why=f"{audited.suspicious} of {audited.runs} runs Suspicious{named}; {quorum} make a likely error",
        evidence={
            "series": series,
            "suspicious": audited.suspicious,
            "answered": audited.answered,
            "runs": audited.runs,
            "suspicious_runs": [str(run) for run, vote in enumerate(votes, 1) if vote_text(vote) == "Suspicious"],
            "failure_modes": [mode for mode, _ in modes],
            **quorum_of_runs(settings, audited.runs, audit_quorum=quorum),
        },
    )


def _modes(votes: list[Vote | None]) -> list[tuple[str, int]]:
    return Counter(vote.failure_mode for vote in votes if vote and vote.failure_mode).most_common()
