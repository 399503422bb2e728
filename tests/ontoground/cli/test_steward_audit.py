"""``ontoground steward audit`` and ``recompute`` from runs to events, whatever happens on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from ontoground.cli.main import invoke
from stewardship.benchmark.folder import Benchmark
from stewardship.history.log import History
from stewardship.runs.store import Run, read_messages, read_runs
from tests.ground.lm.server import Reply, completion, scripted_server
from tests.ontoground.cli.conftest import Steward
from tests.ontoground.cli.steward_world import MARKS, adopted, votes_of
from tests.served import Served

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-c", "from ontoground.cli.main import main; main()"]
CONCURRENCY = 2
WINDOW = 4 * CONCURRENCY
ROWS, RUNS = 3, 5
TURNS = 3


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with the invented benchmark."""
    return adopted(tmp_path / "world")


def model(url: str, workspace: Path, *more: str, at_once: int = 8) -> list[str]:
    """Return the options that ask a model."""
    few = {"concurrency": at_once, "batch_size": at_once, "max_retries": 0}
    settings = [part for key, value in few.items() for part in ("--set", f"language_model.{key}={value}")]
    return ["--workspace", str(workspace), "--endpoint", url, "--endpoint-model", "m", *settings, *more]


def in_turns(_place: int, body: dict[str, Any]) -> Reply:
    """Answer a recomputation as a good model would: look the score up, calculate, answer."""
    answers = [message["content"] for message in body["messages"]]
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    chloride = int(answers[1].split("chloride ")[1].split(",")[0])
    result = 140 - chloride - 24 + (1 if body["seed"] % 5 == 0 else 0)
    steps: list[dict[str, Any]] = [
        {"tool": "calculator", "arguments": {"calculator": "Anion Gap", "features": []}},
        {"tool": "python", "arguments": {"code": f"140 - {chloride} - 24"}},
        {"answer": f"The gap is {result}.\n<answer>{result}</answer>"},
    ]
    if turn == 2:
        assert "Result of python:\n" + str(140 - chloride - 24) in answers[5]
    return completion(json.dumps({"thought": "next", "step": steps[turn]}))


def verdicts(_place: int, body: dict[str, Any]) -> Reply:
    """Find four of five labels of odd rows wrong."""
    row = int(body["messages"][1]["content"].split("\nPatient ")[1].split(":")[0])
    wrong = row % 2 == 1 and body["seed"] % 5 != 0
    answers = {"rule": "gap", "criteria": "all there", "features": "agree", "calculation": "16"}
    judged = {"verdict": "Suspicious" if wrong else "Pass", "failure_mode": "aggregation_logic" if wrong else "none"}
    return completion(json.dumps({**answers, **judged, "critique": "the label is no gap" if wrong else ""}))


def bare(run: Run) -> dict[str, Any]:
    """Return a run without the time."""
    return run.model_dump(exclude={"at"})


def events(workspace: Path) -> list[dict[str, Any]]:
    """Return the events of the history without batch and time."""
    folder = workspace / "stewardship" / "invented"
    return [event.model_dump(exclude={"at", "batch"}) for event in History(folder).events]


# Recorded answers


@pytest.mark.real
@pytest.mark.parametrize(("phase", "case", "stem"), [("audit", "S2", "votes"), ("recompute", "S3", "consensus")])
def test_the_shown_cases_come_out_as_expected(
    phase: str, case: str, stem: str, real_data: Path, tmp_path: Path, steward: Steward
) -> None:
    cases = json.loads((real_data / "stewardship" / "checks.json").read_text())["shown"]
    expected = next(item for item in cases if item["id"] == case)["expected"]
    table = tmp_path / "cases.csv"
    table.write_text("uid,label\n" + "".join(f"{uid},1\n" for uid in expected))
    columns = ("--column", "uid=uid", "--column", "label=label")
    steward("adopt", table, *columns, "--workspace", tmp_path)
    answers = real_data / "stewardship" / "checks" / "shown" / f"{stem}_shown.csv"
    printed = steward.json(phase, "--workspace", tmp_path, "--answers", answers)
    votes = votes_of(printed["votes"])
    latest = History(tmp_path / "stewardship" / "cases").latest("audit" if phase == "audit" else "recomputed")
    for uid, wanted in expected.items():
        event = latest[uid]
        if phase == "audit":
            assert votes[uid]["verdict"] == event.value == wanted
            continue
        label = wanted["label"]
        text = "" if label is None else label if isinstance(label, str) else f"{label:g}"
        assert (event.value or "") == votes[uid]["label"] == text
        assert (event.status, event.evidence["rule"], event.evidence["votes"]) == (
            wanted["status"],
            wanted["rule"],
            wanted["votes"],
        )
    again = steward.json(phase, "--workspace", tmp_path, "--answers", answers)
    assert again["events"] == 0 and again["runs_made"] == 0 and again["runs_stored"] == 5 * len(expected)


def test_the_table_of_votes_can_be_given_as_recorded_answers(workspace: Path, tmp_path: Path, steward: Steward) -> None:
    answers = tmp_path / "mine.csv"
    answers.write_text(
        "uid,run1,run2,run3,run4,run5\nu1,16,16,16,16,\nu2,(14 weeks, 1 day),99,99,99,7\n".replace(
            "(14 weeks, 1 day)", '"(14 weeks, 1 day)"'
        )
    )
    first = steward.json("recompute", "--workspace", workspace, "--answers", answers)
    again = steward.json("recompute", "--workspace", workspace, "--answers", first["votes"])
    assert again["summary"] == first["summary"] and again["summary"]["high"] == 2 and first["rows"] == 2
    assert votes_of(again["votes"])["u2"]["label"] == "99"


def test_a_row_that_the_file_lacks_is_left_alone_and_one_that_the_benchmark_lacks_refused(
    workspace: Path, tmp_path: Path, steward: Steward
) -> None:
    answers = tmp_path / "mine.csv"
    answers.write_text("uid,run1\nu1,16\nzz,16\n")
    assert "zz" in steward.error("recompute", "--workspace", workspace, "--answers", answers, code=3)["found"]
    answers.write_text("uid,run1\nu1,16\n")
    printed = steward.json("recompute", "--workspace", workspace, "--answers", answers)
    assert printed["rows"] == 1 and printed["summary"]["deferred"] == 1


# Language models


def test_a_model_with_tools_looks_up_computes_and_answers(workspace: Path, steward: Steward) -> None:
    with scripted_server(in_turns) as server:
        printed = steward.json("recompute", *model(server.url, workspace, "--rows", "3"))
        sent = len(server.bodies)
        assert {body["temperature"] for body in server.bodies} == {1.0}
        again = steward.json("recompute", *model(server.url, workspace, "--rows", "3"))
        assert len(server.bodies) == sent == 3 * RUNS * TURNS
    assert printed["summary"]["high"] == 3 and printed["tools"] == ["calculator", "python"]
    assert {row["label"] for row in votes_of(printed["votes"]).values()} <= {"16", "15", "14"}
    assert (again["runs_made"], again["events"], again["summary"]) == (0, 0, printed["summary"])
    runs = list(read_runs(Path(printed["folder"])))
    messages = read_messages(Path(printed["folder"]))
    assert len(runs) == 3 * RUNS and len(messages) == 3 + 1
    item = runs[0]
    assert [used.tool for used in item.tools] == ["calculator", "python"] and item.tools[1].result in ("14", "15", "16")
    assert "Emmett" in item.tools[0].result and item.prompt_tokens == 7 * TURNS and len(item.keys) == TURNS
    assert messages[item.prompt[0]].role == "system" and "<answer>" in messages[item.prompt[0]].content
    assert (item.model, item.seed, item.temperature) == ("scripted-1", 43, 1.0)
    assert {event["by"] for event in events(workspace) if event["role"] == "recomputed"} == {printed["series"]}


def test_a_recomputation_sees_neither_label_nor_features_nor_derivation(
    workspace: Path, tmp_path: Path, steward: Steward
) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "gap.md").write_text("The anion gap is sodium minus chloride and bicarbonate.")
    with scripted_server(in_turns) as server:
        steward.json("recompute", *model(server.url, workspace, "--reference", str(texts), "--rows", "3"))
        text = model(server.url, workspace, "--tools", "none", "--rows", "2")
        steward("recompute", *text)
        answer = json.dumps(server.bodies)
    assert "sodium 140" in answer and not any(mark in answer for mark in MARKS)
    stored = "".join(path.read_text() for path in (workspace / "stewardship").rglob("runs/recompute/*/*"))
    assert not any(mark in stored for mark in MARKS)


def test_an_audit_shows_label_features_and_derivation_and_counts_failure_modes(
    workspace: Path, steward: Steward
) -> None:
    with scripted_server(verdicts) as server:
        printed = steward.json("audit", *model(server.url, workspace, "--tools", "none"))
        asked = server.bodies[0]["messages"][1]["content"]
    assert all(mark in asked for mark in MARKS[:3])
    assert printed["summary"] == {"n": 8, "flagged": 4, "rate": 0.5, "strata": 2, "strata_touched": 1}
    assert printed["failure_modes"] == {"aggregation_logic": 4}
    event = next(item for item in events(workspace) if item["role"] == "audit" and item["uid"] == "u1")
    assert (event["value"], event["status"], event["evidence"]["suspicious"]) == ("Likely Error", "likely_error", 4)
    assert event["evidence"]["suspicious_runs"] == ["1", "2", "4", "5"] and "no gap" not in json.dumps(event)
    flagged = [run for run in read_runs(Path(printed["folder"])) if run.parsed == "Suspicious"]
    assert {item.remark for item in flagged} == {"the label is no gap"} and len(flagged) == 16


def test_a_suspicious_verdict_that_names_no_fault_is_asked_again(workspace: Path, steward: Steward) -> None:
    def unfounded(place: int, body: dict[str, Any]) -> Reply:
        text = json.loads(verdicts(place, body).body)["choices"][0]["message"]["content"]
        return completion(text.replace("aggregation_logic", "none"))

    with scripted_server(unfounded) as server:
        retries = ("--set", "language_model.answer_retries=1")
        options = model(server.url, workspace, "--tools", "none", "--rows", "2", *retries)
        printed = steward.json("audit", *options)
        assert any("needs a failure_mode" in body["messages"][-1]["content"] for body in server.bodies)
    assert printed["summary"]["flagged"] == 0
    assert (printed["unparseable"], printed["unanswered"]) == (0, 4)
    failed = [run for run in read_runs(Path(printed["folder"])) if run.outcome == "failed"]
    assert len(failed) == 4 and {run.reason for run in failed} == {"malformed"}


def test_text_without_the_strict_form_is_no_label(workspace: Path, steward: Steward) -> None:
    forms = ("The gap is 16.", "<answer>about 16", "<answer>16</answer>", "<answer>N/A</answer>", "<answer>-</answer>")

    with scripted_server(lambda _place, body: completion(forms[body["seed"] % 5])) as server:
        printed = steward.json("recompute", *model(server.url, workspace, "--tools", "none", "--rows", "2"))
    assert printed["unparseable"] == 6 and printed["summary"]["deferred"] == 2
    kinds = [run.kind for run in read_runs(Path(printed["folder"]))]
    assert sorted(set(map(str, kinds))) == ["na", "number", "unparseable"]


def test_a_run_out_of_turns_must_answer(workspace: Path, steward: Steward) -> None:
    call = {"thought": "more", "step": {"tool": "python", "arguments": {"code": "1"}}}

    def always(_place: int, body: dict[str, Any]) -> Reply:
        last = "LastTurn" in body["messages"][-1]["content"]
        return completion(json.dumps({"thought": "so", "step": {"answer": "<answer>1</answer>"}} if last else call))

    with scripted_server(always) as server:
        options = model(server.url, workspace, "--set", "steward.turns=3", "--rows", "2", "--runs", "4")
        printed = steward.json("recompute", *options)
        assert len(server.bodies) == 2 * 4 * 3
        assert "no turn left" in server.bodies[-1]["messages"][-1]["content"]
    assert printed["summary"]["high"] == 2


def test_a_run_killed_in_the_middle_goes_on_to_the_same_results_and_asks_nothing_twice(
    tmp_path: Path, steward: Steward
) -> None:
    whole, killed = adopted(tmp_path / "whole", ROWS), adopted(tmp_path / "killed", ROWS)
    with scripted_server(in_turns) as server:
        printed = steward.json("recompute", *model(server.url, whole, at_once=CONCURRENCY))
        wanted = server.times_seen()
    assert set(wanted.values()) == {1} and sum(wanted.values()) == ROWS * RUNS * TURNS

    # The first runs under way are finished, and the second turn of the last ones is answered in part.
    before, (half_way, hold) = WINDOW * TURNS + ROWS * RUNS - WINDOW + 3, (threading.Event(), threading.Event())

    def held(place: int, body: dict[str, Any]) -> Reply:
        reply = in_turns(place, body)
        if place < before:
            return reply
        if place == before + CONCURRENCY - 1:
            half_way.set()
        return Reply(reply.status, reply.body, reply.headers, until=hold)

    with scripted_server(held) as server:
        command = [*COMMAND, "steward", "recompute", *model(server.url, killed, at_once=CONCURRENCY)]
        with subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": "7"}) as process:
            assert half_way.wait(timeout=120)
            process.send_signal(signal.SIGKILL)
        hold.set()
        (stored,) = (killed / "stewardship" / "invented" / "runs" / "recompute").iterdir()
        lines = (stored / "runs.jsonl").read_bytes()
        assert lines.count(b"\n") == WINDOW and not (stored / "votes.csv").exists()
        # A kill may cut the last line, too.
        (stored / "runs.jsonl").write_bytes(lines[:-40])
        resumed = steward.json("recompute", *model(server.url, killed, at_once=CONCURRENCY))
        seen = server.times_seen()
    assert (resumed["runs_stored"], resumed["runs_made"]) == (WINDOW - 1, ROWS * RUNS - WINDOW + 1)
    assert set(seen) == set(wanted)
    # Only what the server still held back when the kill came was sent again: no answer to it can have been kept.
    assert sum(seen.values()) - len(seen) == resumed["language_model"]["interrupted"] == CONCURRENCY
    assert Path(resumed["votes"]).read_bytes() == Path(printed["votes"]).read_bytes()
    first, second = (sorted(map(bare, read_runs(Path(item["folder"]))), key=str) for item in (printed, resumed))
    assert first == second
    assert events(whole) == events(killed)
    assert not any(path.name.startswith(".") for path in stored.rglob("*"))


def test_runs_that_could_not_be_made_are_waited_for_and_made_the_next_time(workspace: Path, steward: Steward) -> None:
    def flaky(place: int, body: dict[str, Any]) -> Reply:
        ill = "Patient 3:" in body["messages"][1]["content"] and body["seed"] == 44
        return Reply(status=500) if ill else verdicts(place, body)

    with scripted_server(flaky) as server:
        options = model(server.url, workspace, "--tools", "none")
        first = steward.json("audit", *options)
        assert first["incomplete"] == ["u3"] and first["runs_not_made"] == {"server_error": 1}
        assert (first["runs_made"], first["events"], first["summary"]["n"]) == (39, 7, 7)
        assert "1 rows wait for runs that could not be made (server_error 1)" in steward("audit", *options)
        settled = steward.json("audit", *options, "--settle")
        assert settled["incomplete"] == [] and settled["events"] == 1
        assert (
            next(event for event in events(workspace) if event["uid"] == "u3" and event["role"] == "audit")["value"]
            == "Passed"
        )
    with scripted_server(verdicts) as server:
        last = steward.json("audit", *model(server.url, workspace, "--tools", "none"))
        assert len(server.bodies) == 1
    assert (last["runs_made"], last["events"], last["summary"]["flagged"]) == (1, 1, 4)


def test_a_server_that_is_not_there_is_an_error_and_leaves_no_run(workspace: Path, steward: Steward) -> None:
    error = steward.error("recompute", *model("http://127.0.0.1:9/v1", workspace, "--rows", "2"), code=3)
    assert "unreachable 10" in error["found"]
    assert [event for event in events(workspace) if event["role"] == "recomputed"] == []


def test_more_runs_and_more_rows_add_to_what_is_stored(workspace: Path, steward: Steward) -> None:
    with scripted_server(verdicts) as server:
        text = model(server.url, workspace, "--tools", "none")
        steward.json("audit", *text, "--rows", "2", "--runs", "4")
        assert len(server.bodies) == 8
        more = steward.json("audit", *text, "--rows", "4", "--runs", "5")
        assert len(server.bodies) == 20
    assert (more["runs_stored"], more["runs_made"], more["rows"]) == (8, 12, 4)


def test_other_settings_begin_a_new_series_and_say_so(
    workspace: Path, steward: Steward, capsys: pytest.CaptureFixture[str]
) -> None:
    with scripted_server(verdicts) as server:
        text = model(server.url, workspace, "--tools", "none", "--rows", "2")
        series = steward.json("audit", *text)["series"]
        assert invoke(["steward", "audit", *text, "--set", "language_model.temperature=0.5"]) == 0
    lines = capsys.readouterr().err
    assert lines == f"a new series of runs begins: temperature differ from those of {series}\n"


def test_credentialed_rows_are_not_sent_to_another_machine(tmp_path: Path, steward: Steward) -> None:
    workspace = adopted(tmp_path / "world", licence="credentialed")
    for phase in ("audit", "recompute"):
        error = steward.error(phase, *model("https://models.example.com/v1", workspace), code=4)
        assert "models.example.com" in error["do"]
    assert not (workspace / "stewardship" / "invented" / "runs").exists()


def test_what_holds_notes_is_for_its_owner_only(workspace: Path, steward: Steward) -> None:
    with scripted_server(verdicts) as server:
        folder = Path(steward.json("audit", *model(server.url, workspace, "--rows", "1"))["folder"])
    assert folder.stat().st_mode & 0o077 == folder.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("phase", "options", "code", "lines"),
    [
        ("audit", [], 2, "--endpoint-model NAME"),
        ("audit", ["--engine", "recorded"], 2, "--answers"),
        ("recompute", ["--engine", "lm", "--answers", "x.csv"], 2, "--engine lm"),
        ("recompute", ["--engine", "calculators", "--tools", "python"], 2, "no --endpoint"),
        ("recompute", ["--engine", "calculators", "--runs", "5"], 2, "1 run"),
        ("recompute", ["--answers", "missing.csv"], 3, ""),
        ("recompute", ["--endpoint-model", "m", "--tools", "browser"], 2, "calculator, python, reference"),
        ("recompute", ["--endpoint-model", "m", "--tools", "reference"], 2, "--reference DIR"),
        ("recompute", ["--endpoint-model", "m", "--reference", "missing"], 3, ""),
        ("recompute", ["--endpoint-model", "m", "--runs", "3"], 2, "steward.quorum"),
        ("audit", ["--endpoint-model", "m", "--set", "steward.quorun=3"], 2, "quorum"),
        ("audit", ["--endpoint-model", "m", "--set", "language_model.temprature=3"], 2, "temperature"),
        ("audit", ["--endpoint-model", "m", "--benchmark", "other"], 3, "invented"),
    ],
)
def test_wrong_use_says_what_to_do(
    phase: str, options: list[str], code: int, lines: str, workspace: Path, steward: Steward
) -> None:
    error = steward.error(phase, "--workspace", workspace, *options, code=code)
    assert lines in " ".join(str(error.get(name)) for name in ("what", "found", "expected", "do"))


@pytest.mark.xdist_group("transformers_serve")
@pytest.mark.parametrize(("phase", "tools"), [("audit", "none"), ("recompute", "python")])
def test_a_real_server_with_a_random_model_gives_runs_without_a_label(
    phase: str, tools: str, served: Served, workspace: Path, steward: Steward
) -> None:
    options = ("--endpoint", served.url, "--endpoint-model", served.model, "--rows", "1", "--tools", tools)
    few = ("--set", "language_model.max_tokens=8", "--set", "language_model.answer_retries=0")
    printed = steward.json(phase, "--workspace", workspace, *options, *few)
    runs = list(read_runs(Path(printed["folder"])))
    assert printed["runs_made"] == len(runs) == RUNS and {run.parsed for run in runs} == {None}
    assert printed["summary"].get("flagged", 0) == printed["summary"].get("high", 0) == 0
    assert len({run.seed for run in runs}) == RUNS


# Calculators


@pytest.mark.real
def test_calculators_recompute_from_features_alone(real_data: Path, tmp_path: Path, steward: Steward) -> None:
    table = real_data / "stewardship" / "source" / "original_test_labels.csv.gz"
    steward("adopt", table, "--name", "real", "--workspace", tmp_path)
    printed = steward.json("recompute", "--engine", "calculators", "--rows", "110", "--workspace", tmp_path)
    assert (printed["rows"], printed["runs"], printed["summary"]["near"]) == (110, 1, 0)
    latest = History(tmp_path / "stewardship" / "real").latest("recomputed")
    assert len(latest) == 110 and {event.evidence["rule"] for event in latest.values()} == {"1of1"}
    assert all("local calculator" in event.why for event in latest.values())
    assert "no consensus of several" in steward("recompute", "--engine", "calculators", "--workspace", tmp_path)


def test_a_person_sees_what_came_out(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with scripted_server(verdicts) as server:
        assert invoke(["steward", "audit", *model(server.url, workspace, "--tools", "none", "--rows", "2")]) == 0
    answer = capsys.readouterr()
    assert "likely errors     1  50.0%" in answer.out and "1 of 2 strata" in answer.out and "10 runs made" in answer.out
    assert answer.err == ""


def test_runs_that_cannot_be_read_are_told_to_a_person(workspace: Path, tmp_path: Path, steward: Steward) -> None:
    uids = Benchmark.open(workspace, None).items["uid"].to_list()
    files = {
        "some.csv": ["Suspicious", "Pass", "perhaps", "", "Pass"],
        "none.csv": ["perhaps", "", "", "", "who knows"],
    }
    answers = []
    for name, cells in files.items():
        lines = ["uid,run1,run2,run3,run4,run5", *(f"{uid},{','.join(cells)}" for uid in uids)]
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
        for phase in ("audit", "recompute"):
            arguments = ["--answers", str(tmp_path / name), "--workspace", str(workspace)]
            answers.append(steward(phase, *arguments))
    runs = 5 * len(uids)
    some = f"empty votes: of {runs} runs {len(uids)} said something that is no verdict, {len(uids)} gave no answer"
    assert some in answers[0] and "NOT ONE RUN" not in answers[0]
    assert all(
        f"NOT ONE RUN GAVE A {what}" in text for what, text in zip(("VERDICT", "LABEL"), answers[2:], strict=True)
    )
