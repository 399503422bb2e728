"""Phases 1 and 2 through a function: runs, verdicts, consensus, events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ground.errors import UsageError
from ground.settings import StewardSettings
from stewardship.benchmark.folder import Benchmark
from stewardship.benchmark.tables import read_label_table
from stewardship.history.events import RULE, Event
from stewardship.runs.auditing import audit_labels
from stewardship.runs.engines import Answer, Ask, AskedItem, Engine, RecordedEngine
from stewardship.runs.prompts import Claim
from stewardship.runs.recomputing import recompute_labels

SETTINGS = StewardSettings()


def benchmark(folder: Path, labels: str = "7", categories: tuple[str, ...] = ()) -> Benchmark:
    """Three rows."""
    table = folder / "table.csv"
    rows = "".join(f"r{number},{labels},note {number},what?\n" for number in (1, 2, 3))
    table.write_text("uid,label,context,question\n" + rows)
    columns = {name: name for name in ("uid", "label", "context", "question")}
    read = [read_label_table(table, columns=columns)]
    return Benchmark.adopt(folder, "three", read, open_because="invented", categories=categories)


class FunctionEngine(Engine):
    """Answers by a function of row and run, one run at a time."""

    def __init__(self, function: Callable[[AskedItem, int], str | None], name: str) -> None:
        self.function, self.name = function, name

    def describe(self) -> dict[str, Any]:
        return {"engine": "function", "name": self.name}

    def answers(self, asks: Iterator[Ask]) -> Iterator[Sequence[Answer]]:
        for ask in asks:
            answer = self.function(ask.item, ask.run)
            yield [Answer(ask, self.name, answer, answer, None if answer is not None else "no_answer")]


def engine(answer: Callable[[AskedItem, int], str | None], name: str = "mine") -> FunctionEngine:
    return FunctionEngine(answer, name)


def test_a_consensus_becomes_an_event_once(tmp_path: Path) -> None:
    result = benchmark(tmp_path)
    answers = {"r1": ["16", "16.001", "16", "16", "9"], "r2": ["1", "2", "3", "4", "5"], "r3": ["N/A"] * 5}

    def answer(item: AskedItem, run: int) -> str:
        return answers[item.uid][run - 1]

    first = recompute_labels(result, engine(answer), SETTINGS)
    assert (first.counts.made, first.events, first.summary.high, first.summary.abstained) == (15, 3, 2, 1)
    latest = result.history.latest("recomputed")
    assert [(uid, event.value, event.status) for uid, event in latest.items()] == [
        ("r1", "16", "high_confidence"),
        ("r2", None, "deferred"),
        ("r3", "N/A", "high_confidence"),
    ]
    assert latest["r1"].why == "4 of 5 runs agree (4of5)" and latest["r1"].evidence["votes"] == 4
    again = recompute_labels(result, engine(lambda _item, _run: pytest.fail("asked again")), SETTINGS)
    assert (again.counts.made, again.events, again.summary) == (0, 0, first.summary)
    stricter = recompute_labels(result, engine(answer), StewardSettings(quorum=5))
    assert (stricter.counts.made, stricter.events) == (0, 2)
    latest = result.history.latest("recomputed")
    assert (latest["r1"].status, latest["r1"].why) == ("deferred", "4 of 5 runs agree: deferred")
    assert latest["r3"].evidence["rule"] == "5of5"


def test_a_label_that_a_rule_put_right_stands_until_the_runs_say_something_new(tmp_path: Path) -> None:
    result = benchmark(tmp_path)
    recompute_labels(result, engine(lambda *_: "16"), SETTINGS)
    result.history.append([Event(uid="r1", role="recomputed", value="17", status=RULE, by="rule")])
    assert recompute_labels(result, engine(lambda *_: "16"), SETTINGS).events == 0
    assert result.history.latest("recomputed")["r1"].value == "17"
    assert recompute_labels(result, engine(lambda *_: "18", name="other"), SETTINGS).events == 3
    assert result.history.latest("recomputed")["r1"].value == "18"


def test_runs_without_an_answer_do_not_undo_a_label(tmp_path: Path) -> None:
    result = benchmark(tmp_path)
    recompute_labels(result, engine(lambda item, _: "16" if item.uid == "r1" else None), SETTINGS, settle=True)
    latest = result.history.latest("recomputed")
    assert (latest["r1"].value, latest["r2"].why) == ("16", "no run gave an answer: deferred")
    again = recompute_labels(result, engine(lambda *_: None, name="silent"), SETTINGS, settle=True)
    assert (again.events, again.summary.high) == (2, 0)
    assert result.history.latest("recomputed")["r1"].value == "16"


def test_verdicts_in_words_and_tags_are_counted(tmp_path: Path) -> None:
    result = benchmark(tmp_path)
    answers = ["Suspicious", "<answer> No </answer>", "no", "<answer>Yes</answer>", None]
    outcome = audit_labels(result, engine(lambda _item, run: answers[run - 1]), SETTINGS)
    assert outcome.summary.flagged == 0 and {event.value for event in result.history.latest("audit").values()} == {
        "Passed"
    }
    assert (outcome.unparseable, outcome.unanswered) == (0, 3)
    looser = audit_labels(result, engine(lambda *_: None), StewardSettings(audit_quorum=3))
    assert (looser.counts.made, looser.summary.flagged, looser.failure_modes) == (0, 3, {"not named": 3})
    assert result.history.latest("audit")["r1"].evidence["suspicious_runs"] == ["1", "2", "3"]


def test_runs_that_cannot_be_read_are_counted_in_both_phases(tmp_path: Path) -> None:
    results = benchmark(tmp_path)
    answers = ["perhaps", "", "thirty", None, "Pass"]
    audited = audit_labels(results, engine(lambda _item, run: answers[run - 1]), SETTINGS)
    assert (audited.summary.flagged, audited.unparseable, audited.unanswered) == (0, 9, 3)
    result = recompute_labels(results, engine(lambda _item, run: answers[run - 1]), SETTINGS)
    assert (result.summary.high, result.unparseable, result.unanswered) == (0, 12, 3)


def test_an_auditor_gets_the_label_and_a_recomputation_does_not(tmp_path: Path) -> None:
    result = benchmark(tmp_path, labels="4711")
    seen: list[AskedItem] = []

    def look(item: AskedItem, _run: int) -> str:
        seen.append(item)
        return "Pass"

    audit_labels(result, engine(look), SETTINGS, uids={"r2"})
    assert all(isinstance(item, Claim) and item.label == "4711" for item in seen) and len(seen) == 5
    seen.clear()
    recompute_labels(result, engine(look), SETTINGS, uids={"r2"})
    assert "4711" not in repr(seen) and {item.uid for item in seen} == {"r2"}


def test_an_error_of_the_function_keeps_what_was_finished(tmp_path: Path) -> None:
    result = benchmark(tmp_path)
    calls: list[tuple[str, int]] = []

    def breaks(item: AskedItem, run: int) -> str:
        calls.append((item.uid, run))
        if len(calls) == 8:
            raise ZeroDivisionError
        return "16"

    with pytest.raises(ZeroDivisionError):
        recompute_labels(result, engine(breaks), SETTINGS)
    assert result.history.latest("recomputed") == {}
    outcome = recompute_labels(result, engine(breaks), SETTINGS)
    assert (outcome.counts.stored, outcome.counts.made, outcome.summary.high) == (7, 8, 3)
    assert calls[7] == calls[8] and len(calls) == 16
    stored = (outcome.folder / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(stored) == 15 and all('"at":"20' in entry for entry in stored)


def test_labels_that_are_names_are_voted_on_as_names(tmp_path: Path) -> None:
    result = benchmark(tmp_path, labels="Q1", categories=("Q1", "Q2"))
    answers = {"r1": "q2", "r2": "<answer>Q1</answer>", "r3": "3"}
    outcome = recompute_labels(result, engine(lambda item, _run: answers[item.uid]), SETTINGS)
    assert outcome.unparseable == 5 and outcome.summary.high == 2
    labels = result.history.labels("recomputed")
    assert {uid: label.value for uid, label in labels.items()} == {"r1": "Q2", "r2": "Q1"}


def test_a_quorum_out_of_reach_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    result = benchmark(tmp_path)
    for phase in (audit_labels, recompute_labels):
        with pytest.raises(UsageError, match="4 of 3 runs"):
            phase(result, engine(lambda *_: pytest.fail("asked")), SETTINGS, runs=3)
    with pytest.raises(UsageError, match="no row left"):
        recompute_labels(result, engine(lambda *_: "1"), SETTINGS, uids={"r9"})


def recorded(folder: Path, *votes: str) -> RecordedEngine:
    """Answers to the three rows; votes of a row by blanks."""
    file = folder / "runs.csv"
    rows = [line.split() for line in votes]
    head = ",".join(f"run{run}" for run in range(1, len(rows[0]) + 1))
    body = "".join(f"r{number},{','.join(row)}\n" for number, row in enumerate(rows, 1))
    file.write_text(f"uid,{head}\n{body}")
    return RecordedEngine(file)


@pytest.mark.parametrize(
    ("votes", "statuses", "rule"),
    [
        (("4 4", "4 9", "4 5"), ("high_confidence", "deferred", "deferred"), "2of2"),
        (("4 4 4", "4 4 9", "4 4 4.1"), ("high_confidence", "deferred", "high_confidence"), "3of3"),
        # 8 of 10, or 6 and another near
        (
            ("4 " * 8 + "9 9", "4 " * 7 + "9 9 9", "4 " * 6 + "4.1 9 9 9"),
            ("high_confidence", "deferred", "high_confidence"),
            "8of10",
        ),
    ],
)
def test_recorded_runs_are_as_many_as_the_file_has(
    tmp_path: Path, votes: tuple[str, ...], statuses: tuple[str, ...], rule: str
) -> None:
    result = benchmark(tmp_path)
    outcome = recompute_labels(result, recorded(tmp_path, *votes), SETTINGS)
    latest = result.history.latest("recomputed")
    assert outcome.unanswered == 0
    assert tuple(event.status for event in latest.values()) == statuses
    assert latest["r1"].evidence["rule"] == rule and latest["r1"].evidence["runs"] == len(votes[0].split())


def test_a_quorum_that_is_set_holds_for_recorded_runs_too(tmp_path: Path) -> None:
    result = benchmark(tmp_path)
    engine = recorded(tmp_path, "4 4 9", "4 9 9", "4 5 6")
    assert recompute_labels(result, engine, StewardSettings(quorum=2)).summary.high == 2
    assert recompute_labels(result, engine, SETTINGS, runs=2).summary.high == 1
    with pytest.raises(UsageError, match="more runs are asked for"):
        recompute_labels(result, engine, SETTINGS, runs=5)
    with pytest.raises(UsageError, match="4 of 3 runs"):
        recompute_labels(result, engine, StewardSettings(quorum=4))


def test_recorded_verdicts_flag_by_their_own_number(tmp_path: Path) -> None:
    result = benchmark(tmp_path)
    answers = "Suspicious Suspicious Suspicious", "Suspicious Suspicious Pass", "Pass Pass Pass"
    outcome = audit_labels(result, recorded(tmp_path, *answers), SETTINGS)
    assert (outcome.summary.flagged, outcome.unanswered) == (1, 0)


def test_one_recorded_answer_is_no_consensus(tmp_path: Path) -> None:
    result = benchmark(tmp_path)
    outcome = recompute_labels(result, recorded(tmp_path, "4", "5", "6"), SETTINGS)
    assert (outcome.summary.deferred, outcome.unanswered) == (3, 0)
    assert recompute_labels(result, recorded(tmp_path, "4", "5", "6"), StewardSettings(quorum=1)).summary.high == 3
