"""``ontoground build medval``: texts and notes through both engines, by the command line."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq

from ground.contracts.answers import parse_medval
from ground.contracts.rows_text import MEDVAL_TASKS
from tests.builders.medieval_world import bytes_of
from tests.builders.medval import text_folders
from tests.ground.lm.server import Reply, ScriptedServer, completion, scripted_server
from tests.ontoground.cli.schemas import Answer, answer_to

ROOT = Path(__file__).resolve().parents[3]
QUESTIONS = 12
CONCURRENCY = 3
PROGRAM = "import sys; from ontoground.cli.main import main; sys.argv[0] = 'ontoground'; main()"


def say(*arguments: str | Path) -> Answer:
    return answer_to("build", "medval", *arguments)


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [row for file in sorted((folder / "data").glob("*.parquet")) for row in pq.read_table(file).to_pylist()]


# ---- the engine rules


def test_rules_build_from_texts_and_notes_and_every_answer_can_be_read(
    demo_copy: Callable[[], Path], tmp_path: Path
) -> None:
    work, texts = demo_copy(), text_folders.meqsum(tmp_path / "texts", n=18)
    response = say("--workspace", work, "--texts", texts, "--json")
    payload = response.payload("build-medval")
    tasks = {one["task"]: one for one in payload["tasks"]}
    assert list(tasks) == ["query2question", "course2diagnosis"]
    assert tasks["query2question"]["inputs"] == 18 and tasks["course2diagnosis"]["inputs"] > 5
    assert payload["licence_tier"] == "open" and payload["language_models"] is None
    left_out = {one["task"]: one["reason"] for one in payload["left_out_tasks"]}
    assert set(left_out) == {
        "medication2answer", "report2impression", "report2simplified", "impression2simplified", "bhc2spanish",
        "dialogue2note",
    }  # fmt: skip
    assert left_out["bhc2spanish"].startswith("translation")
    rows = rows_of(work / "datasets" / "medval")
    assert len(rows) == payload["rows"] > 20
    assert {row["consistency"] for row in rows} == {None} and payload["tau"] is payload["mean_consistency"] is None
    assert {row["label_basis"] for row in rows} >= {"by_construction"}
    by_triple = Counter(row["triple_id"] for row in rows)
    assert set(by_triple.values()) == {2}
    chats = [
        parse_medval(chat["messages"][1]["content"])
        for file in sorted((work / "datasets" / "medval" / "chat").glob("*.parquet"))
        for chat in pq.read_table(file).to_pylist()
    ]
    assert {answer.outcome for answer in chats} == {"parsed"} and len(chats) == len(rows)


def test_splits_are_a_flag_and_two_builds_are_equal(demo_copy: Callable[[], Path], tmp_path: Path) -> None:
    work, texts = demo_copy(), text_folders.meqsum(tmp_path / "texts")
    arguments = ("--workspace", work, "--texts", texts, "--tasks", "query2question", "--json")
    first = say(*arguments).payload("build-medval")
    before = bytes_of(work / "datasets" / "medval")
    assert first["source_splits"] == "all" and first["kept"] == first["judged"]
    assert say(*arguments, "--splits", "train").payload("build-medval")["source_splits"] == "train"
    assert say(*arguments).payload("build-medval") == first
    assert bytes_of(work / "datasets" / "medval") == before


def test_a_person_reads_a_table_of_tasks_and_levels_within_80_columns(demo_copy: Callable[[], Path]) -> None:
    answer = say("--workspace", demo_copy(), "--tasks", "course2diagnosis")
    assert answer.code == 0, answer.err
    assert "MedVAL triples, engine rules; 1 to 4" in answer.out and "kept of each level" in answer.out
    assert re.search(r"^task +inputs +judged +kept +share +1 +2 +3 +4 *$", answer.out, re.MULTILINE)
    assert re.search(r"^course2diagnosis\s+\d+", answer.out, re.MULTILINE)


def test_a_task_that_rules_cannot_do_and_a_model_without_its_engine_are_wrong_usage(
    demo_copy: Callable[[], Path],
) -> None:
    work = demo_copy()
    for arguments, words in (
        (("--tasks", "bhc2spanish"), "translation needs a writer"),
        (("--tasks", "dialogue2note"), "--engine lm"),
        (("--tasks", "report2impression"), "--engine lm"),
        (("--tau", "0.5"), "known by construction"),
        (("--set", "medval.tau=0"), "known by construction"),
        (("--tasks", "course2spanish"), "unknown task"),
        (("--endpoint-model", "m"), "uses no language model"),
        (("--engine", "lm"), "no language model is named"),
    ):
        answer = say("--workspace", work, *arguments)
        assert answer.code == 2 and words in answer.err, answer.err
        assert "up to date" not in answer.err, "a stage was run before the words were checked"


def test_rules_without_a_workspace_say_what_to_load(tmp_path: Path) -> None:
    answer = say("--workspace", tmp_path / "absent", "--texts", text_folders.meqsum(tmp_path / "texts"))
    assert answer.code == 3 and "needs the concept graph" in answer.err and not (tmp_path / "absent").exists()


def test_a_named_folder_without_its_files_is_refused(tmp_path: Path) -> None:
    answer = say("--workspace", tmp_path / "work", "--texts", f"mine={tmp_path}:meqsum")
    assert answer.code == 3 and f"there is no text of mine here\n  where: {tmp_path}\n" in answer.err


# ---- the engine lm


def model(_place: int, body: dict[str, Any]) -> Reply:
    """Answer like a model, by a hash of the question: outputs as JSON, judgements in the form of an answer."""
    asked = body["messages"][0]["content"]
    digest = int(hashlib.sha256(asked.encode()).hexdigest(), 16)
    if '"output"' in asked and "JSON object" in asked:
        return completion(json.dumps({"reasoning": "so", "output": f"Question {digest % 1000}?"}))
    level = digest % 4 + 1
    errors = "Errors: None" if level == 1 else "Errors:\n1. Fabricated claim: it says too much"
    return completion(f"Reasoning: read\n{errors}\nRisk level: {level}")


def lm_arguments(server: ScriptedServer, work: Path, texts: Path) -> tuple[str, ...]:
    return (
        "--workspace", str(work), "--texts", str(texts), "--tasks", "query2question", "--engine", "lm", "--tau", "0",
        "--endpoint", server.url, "--endpoint-model", "m", "--json",
        "--set", f"language_model.concurrency={CONCURRENCY}",
    )  # fmt: skip


def test_a_run_killed_half_way_goes_on_to_the_same_files_and_sends_no_answered_request_again(tmp_path: Path) -> None:
    texts = text_folders.meqsum(tmp_path / "texts", n=QUESTIONS)
    # One perturbed output and two judgements a question; some judgements may be asked in the same words.
    answered = QUESTIONS * 3 // 2
    half_way, hold = threading.Event(), threading.Event()

    def reply(place: int, body: dict[str, Any]) -> Reply:
        answer = model(place, body)
        if place < answered:
            return answer
        if place == answered + CONCURRENCY - 1:
            half_way.set()
        return Reply(answer.status, answer.body, answer.headers, until=hold)

    with scripted_server(reply) as server:
        arguments = lm_arguments(server, tmp_path / "work", texts)
        command = [sys.executable, "-c", PROGRAM, "build", "medval", *arguments]
        with subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=subprocess.DEVNULL
        ) as killed:
            assert half_way.wait(timeout=60)
            killed.send_signal(signal.SIGKILL)
        assert not (tmp_path / "work" / "datasets" / "medval").exists()
        hold.set()
        resumed = say(*arguments).payload("build-medval")
        seen = Counter(server.times_seen().values())
    with scripted_server(model) as fresh:
        uninterrupted = say(*lm_arguments(fresh, tmp_path / "other", texts)).payload("build-medval")

    assert bytes_of(tmp_path / "work" / "datasets" / "medval") == bytes_of(tmp_path / "other" / "datasets" / "medval")
    for name in ("README.md", "manifest.json"):
        files = [tmp_path / work / "datasets" / "medval" / name for work in ("work", "other")]
        assert files[0].read_bytes() == files[1].read_bytes()
    used, whole = (one["language_models"]["language_model"] for one in (resumed, uninterrupted))
    # Only what the server held back when the kill came was sent twice: no answer could have been kept.
    assert seen == {1: whole["sent"] - CONCURRENCY, 2: CONCURRENCY}
    assert (used["interrupted"], used["cached"], used["sent"]) == (CONCURRENCY, answered, whole["sent"] - answered)
    assert set(fresh.times_seen().values()) == {1}


def test_a_language_model_makes_every_task_that_has_inputs(demo_copy: Callable[[], Path], tmp_path: Path) -> None:
    texts = text_folders.meqsum(tmp_path / "texts", n=2)
    text_folders.medicationqa(texts)
    text_folders.openi(texts, [("The lungs are clear.", "Normal chest.")])
    text_folders.aci_bench(texts, [text_folders.NOTE])
    with scripted_server(model) as server:
        answer = say(
            "--workspace", demo_copy(), "--texts", texts, "--engine", "lm", "--tau", "0", "--endpoint", server.url,
            "--endpoint-model", "m", "--set", "medval.max_inputs_per_task=2", "--json",
        )  # fmt: skip
    payload = answer.payload("build-medval")
    tasks = {one["task"]: one["kept"] for one in payload["tasks"]}
    left_out = {one["task"]: one["reason"] for one in payload["left_out_tasks"]}
    assert set(tasks) | set(left_out) == set(MEDVAL_TASKS) and set(left_out.values()) <= {"no inputs"}
    assert set(tasks) >= {"medication2answer", "report2impression", "report2simplified", "dialogue2note", "bhc2spanish"}
    assert all(tasks.values()) and payload["tau"] == 0 and payload["mean_consistency"] is not None


def test_one_model_may_write_and_another_judge(tmp_path: Path) -> None:
    texts = text_folders.meqsum(tmp_path / "texts", n=3)
    config = tmp_path / "models.toml"
    with scripted_server(model) as server:
        config.write_text(
            f'[language_model]\nmodel = "writer"\nendpoint = "{server.url}"\n'
            f'[validator_model]\nmodel = "judge"\nendpoint = "{server.url}"\n'
        )
        answer = say(
            "--workspace", tmp_path / "work", "--texts", texts, "--tasks", "query2question", "--engine", "lm",
            "--tau", "0", "--config", config, "--set", "validator_model.max_tokens=64", "--json",
        )  # fmt: skip
    payload = answer.payload("build-medval")
    asked = {(body["model"], '"output"' in body["messages"][0]["content"]) for body in server.bodies}
    assert asked == {("writer", True), ("judge", False)}
    assert {body["max_tokens"] for body in server.bodies if body["model"] == "judge"} == {64}
    assert payload["language_models"]["validator_model"]["model"] == "judge"
    assert payload["licence_tier"] == "open" and payload["stages"] == []
    manifest = json.loads((tmp_path / "work" / "datasets" / "medval" / "manifest.json").read_text())
    assert set(manifest["language_model"]) == {"language_model", "validator_model"}
    assert {row["engine"] for row in rows_of(tmp_path / "work" / "datasets" / "medval")} == {"lm"}


def test_notes_under_agreement_are_not_sent_off_this_machine(demo_copy: Callable[[], Path]) -> None:
    work = demo_copy()
    with duckdb.connect(str(work / "warehouse.duckdb")) as connection:
        connection.execute("update ground.load set release = 'mimiciv 3.1' where source = 'mimic'")
    answer = say(
        "--workspace", work, "--tasks", "bhc2spanish", "--engine", "lm", "--endpoint", "https://api.example.com/v1",
        "--endpoint-model", "m",
    )  # fmt: skip
    assert answer.code == 4 and "credentialed" in answer.err, answer.err
