"""Phase 2: labels made anew by independent runs that see context and question only, and their consensus (paper 2.4)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ground.contracts.grading import answer_in_tags
from ground.contracts.labels import LabelKind, LabelValue, parse_label
from ground.settings import StewardSettings
from stewardship.benchmark.folder import Benchmark
from stewardship.history.log import Event
from stewardship.runs.calculating import CalculatorEngine
from stewardship.runs.consensus import Consensus, ConsensusSummary, consensus, summarise
from stewardship.runs.engines import Answer, AskedItem, Engine
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
from stewardship.runs.prompts import Extracted, Question
from stewardship.runs.store import Vote

__all__ = ["RecomputeOutcome", "extracted", "questions", "recompute_labels"]


@dataclass(frozen=True)
class RecomputeOutcome(Outcome):
    """What phase 2 came to.

    Attributes:
        summary: coverage and abstentions of the rows with a consensus or a deferral.
    """

    summary: ConsensusSummary


def recompute_labels(
    benchmark: Benchmark,
    engine: Engine,
    settings: StewardSettings,
    *,
    runs: int | None = None,
    uids: Collection[str] | None = None,
    settle: bool = False,
    advance: Callable[[int], None] = lambda _: None,
) -> RecomputeOutcome:
    """Recompute labels: make the runs that are missing, take their consensus, and add it to the history.

    A second call with all runs there asks nothing and adds no event. Local calculators are one run that needs no
    second: the same features give the same score.

    Args:
        runs: of each row; the settings' where left out, or the file's of recorded answers.
        uids: rows; all where left out.
        settle: count runs that could not be made as empty votes; else such a row has no consensus yet.
        advance: told how many runs have come to an end.

    Raises:
        InputError: the benchmark lacks columns, or the engine cannot go on.
        UsageError: the quorum cannot be reached, or no row is left.
    """
    from_features = isinstance(engine, CalculatorEngine)
    number, quorum = runs_and_quorum(engine, runs, settings, "quorum")
    near = settings.near_quorum if quorum == settings.quorum else settings.quorum_of("near_quorum", number)
    rows = chosen_rows(benchmark, engine, uids)
    benchmark.history  # noqa: B018 - a history that cannot be read is told before runs are made
    items: Iterator[AskedItem] = (
        extracted(benchmark, rows) if from_features else questions(benchmark, rows, with_text=engine.shows)
    )
    categories = benchmark.categories
    phase_runs = run_phase(
        benchmark,
        engine,
        "recompute",
        items,
        [uid for uid in benchmark.items["uid"] if uid in rows],
        read=partial(_read, categories=categories),
        runs=number,
        settle=settle,
        advance=advance,
    )
    counting = settings.model_copy(update={"quorum": quorum, "near_quorum": near})
    labels = {
        uid: consensus([parse_label(vote_text(vote), categories=categories) for vote in cast], counting)
        for uid, cast in phase_runs.votes.items()
    }
    other = quorum_of_runs(settings, number, quorum=quorum, near_quorum=near)
    why = "computed from the extracted features by a local calculator; " if from_features else ""
    labelled = {uid for uid, event in benchmark.history.latest("recomputed").items() if event.value is not None}
    events = [
        _event(uid, phase_runs.votes[uid], item, phase_runs.series, why, other)
        for uid, item in labels.items()
        # Runs that gave no answer do not undo a label that others gave.
        if item.answered or uid not in labelled
    ]
    columns: dict[str, dict[str, Any]] = {
        name: {uid: getattr(item, name) for uid, item in labels.items()} for name in ("votes", "rule", "status")
    }
    columns["label"] = {uid: item.label.text() if item.label else None for uid, item in labels.items()}
    return RecomputeOutcome(**outcome_of(benchmark, phase_runs, events, columns), summary=summarise(labels.values()))


def questions(benchmark: Benchmark, rows: Collection[str], *, with_text: bool = True) -> Iterator[Question]:
    """Yield what a recomputation sees of each row: context and question, and no other column is read.

    Raises:
        InputError: the benchmark has no such column, and they are to be shown.
    """
    if not with_text:
        yield from (Question(uid, "", "") for uid in benchmark.items["uid"] if uid in rows)
        return
    needed(benchmark, ("context", "question"), "a recomputation")
    for uid, context, question in benchmark.items.select("uid", "context", "question").iter_rows():
        if uid in rows:
            yield Question(uid, context or "", question or "")


def extracted(benchmark: Benchmark, rows: Collection[str]) -> Iterator[Extracted]:
    """Yield the features of each row with the name of its calculator, for the local calculators.

    Raises:
        InputError: the benchmark has no column of features or calculators.
    """
    needed(benchmark, ("features", "stratum"), "a local calculator")
    numbers = benchmark.column("stratum_id")
    for uid, name, features in benchmark.items.select("uid", "stratum", "features").iter_rows():
        if uid in rows:
            yield Extracted(uid, numbers.get(uid) or name or "", features or "")


def _read(answer: Answer, *, categories: Collection[str] = ()) -> dict[str, Any]:
    """Read the label between the last tags where something is tagged, else the whole text."""
    if answer.final is None:
        return {"outcome": "failed"}
    tagged = answer_in_tags(answer.final)
    # A model's text without tags is no answer: some number of its reasoning would be taken for the label.
    bare = None if answer.messages else answer.final
    label = parse_label(tagged if tagged is not None else bare, categories=categories)
    if label.kind is LabelKind.MISSING:
        label = LabelValue(LabelKind.UNPARSEABLE)
    return {
        "outcome": "answered" if label.answered else "unparseable",
        "parsed": label.text() if label.answered else None,
        "kind": str(label.kind),
    }


def _event(
    uid: str, votes: list[Vote | None], result: Consensus, series: str, why: str, quorums: Mapping[str, int]
) -> Event:
    agreed = f"{why}{result.votes} of {result.runs} runs agree" if result.answered else "no run gave an answer"
    return Event(
        uid=uid,
        role="recomputed",
        value=result.label.text() if result.label else None,
        status=result.status,
        by=series,
        why=agreed + (f" ({result.rule})" if result.rule else ": deferred"),
        evidence={
            "series": series,
            "rule": result.rule,
            "votes": result.votes,
            "answered": result.answered,
            "runs": result.runs,
            "answered_runs": [str(run) for run, vote in enumerate(votes, 1) if vote and vote.outcome == "answered"],
            **quorums,
        },
    )
