"""The cache: a stopped run goes on where it was, nothing is sent twice, and what changes an answer changes its key."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from ground.errors import InputError
from ground.lm.cache import FILE_NAME
from ground.lm.client import LanguageModel, Totals
from ground.lm.results import Completion, Failure, FailureReason, Message, Request
from ground.lm.settings import LmSettings
from tests.ground.lm.server import Reply, completion, scripted_server

ROOT = Path(__file__).parents[3]
REQUESTS = 40
CONCURRENCY = 4

PROGRAM = """
import sys
from pathlib import Path
from tests.ground.lm.test_cache import answer_all

answer_all(sys.argv[1], Path(sys.argv[2]))
Path(sys.argv[2], "finished").touch()
"""


def answer_all(endpoint: str, workspace: Path) -> tuple[list[dict[str, Any]], Totals]:
    """Ask everything, in this process or in one that will be killed."""
    settings = LmSettings(model="m", endpoint=endpoint, concurrency=CONCURRENCY)
    with LanguageModel(settings, workspace, "credentialed") as model:
        results = model.complete_all(question(str(n)) for n in range(REQUESTS))
    return [result.model_dump(mode="json", exclude={"cached", "cost"}) for result in results], model.totals


class Verdict(BaseModel):
    label: str


def question(text: str = "Is it so?", **others: Any) -> Request:
    return Request((Message(role="user", content=text),), **others)


def echo(_: int, body: dict[str, Any]) -> Reply:
    return completion(f"about {body['messages'][0]['content']}")


def test_a_run_killed_half_way_goes_on_and_sends_only_what_was_under_way_again(tmp_path: Path) -> None:
    half_way, hold = threading.Event(), threading.Event()

    def reply(place: int, body: dict[str, Any]) -> Reply:
        answer = echo(place, body)
        if place < REQUESTS // 2:
            return answer
        if place == REQUESTS // 2 + CONCURRENCY - 1:
            half_way.set()
        return Reply(answer.status, answer.body, answer.headers, until=hold)

    with scripted_server(reply) as server:
        command = [sys.executable, "-c", PROGRAM, server.url, str(tmp_path / "work")]
        with subprocess.Popen(command, cwd=ROOT) as killed:
            assert half_way.wait(timeout=60)
            killed.send_signal(signal.SIGKILL)
        assert not (tmp_path / "work" / "finished").exists()
        hold.set()
        resumed, totals = answer_all(server.url, tmp_path / "work")
        seen = server.times_seen()
    with scripted_server(echo) as fresh:
        uninterrupted, _ = answer_all(fresh.url, tmp_path / "other")

    assert resumed == uninterrupted
    # The server held exactly these back when the kill came: they were sent, and no answer could have been kept.
    assert sorted(seen.values()) == [1] * (REQUESTS - CONCURRENCY) + [2] * CONCURRENCY
    assert (totals.interrupted, totals.cached, totals.sent) == (CONCURRENCY, REQUESTS // 2, REQUESTS // 2)
    assert set(fresh.times_seen().values()) == {1} and len(fresh.bodies) == REQUESTS


def test_a_second_run_sends_nothing_and_parses_again(tmp_path: Path) -> None:
    def verdict(_: int, body: dict[str, Any]) -> Reply:
        return completion(json.dumps({"label": body["messages"][0]["content"][:1]}))

    requests = [question(str(n), schema=Verdict) for n in range(5)]
    with scripted_server(verdict) as server:
        for _ in range(2):
            with LanguageModel(LmSettings(model="m", endpoint=server.url), tmp_path, "open") as model:
                results = model.complete_all(iter(requests))
    assert len(server.bodies) == 5
    assert [result.parsed for result in results if isinstance(result, Completion)] == [
        Verdict(label=str(n)) for n in range(5)
    ]
    assert all(result.cached for result in results)
    assert model.totals.as_dict()["sent"] == 0 and model.totals.as_dict()["prompt_tokens"] is None


def test_equal_requests_are_sent_once_and_samples_apart(tmp_path: Path) -> None:
    with (
        scripted_server(echo) as server,
        LanguageModel(LmSettings(model="m", endpoint=server.url), tmp_path, "open") as model,
    ):
        results = model.complete_all([question(), question("other"), question(), question(sample=1)])
    assert [result.text for result in results] == [
        "about Is it so?",
        "about other",
        "about Is it so?",
        "about Is it so?",
    ]
    assert len(server.bodies) == 3
    assert sorted(body["seed"] for body in server.bodies) == [42, 42, 43]


@pytest.mark.parametrize(
    "change",
    [
        {"model": "n"},
        {"temperature": 0.7},
        {"seed": 1},
        {"max_tokens": 9},
        {"extra_body": {"top_p": 0.5}},
        {"structured": "prompt"},
        {"cache_tag": "new weights"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_may_change_an_answer_changes_the_key(change: dict[str, Any], tmp_path: Path) -> None:
    def key(**values: Any) -> str:
        with LanguageModel(LmSettings(**{"model": "m", **values}), tmp_path, "open") as model:
            return model.key(question())

    assert key() != key(**change)


def test_how_it_is_asked_changes_no_key(tmp_path: Path) -> None:
    def key(**values: Any) -> str:
        with LanguageModel(LmSettings(model="m", **values), tmp_path, "open") as model:
            return model.key(question())

    assert key() == key(endpoint="http://127.0.0.1:9999/v1", concurrency=1, timeout_s=1, max_retries=0, price_in=1.0)


def test_faults_of_the_moment_are_asked_again_and_refusals_are_not(tmp_path: Path) -> None:
    def reply(place: int, body: dict[str, Any]) -> Reply:
        if body["messages"][0]["content"] == "refuse":
            return completion(None, refusal="no")
        return Reply(status=500) if place == 0 else completion("fine")

    requests = [question("first"), question("refuse")]
    settings: dict[str, Any] = {"model": "m", "max_retries": 0, "concurrency": 1}
    with scripted_server(reply) as server:
        runs = []
        for _ in range(2):
            with LanguageModel(LmSettings(endpoint=server.url, **settings), tmp_path, "open") as model:
                runs.append(model.complete_all(requests))
                totals = model.totals
    assert [result.reason for result in runs[0] if isinstance(result, Failure)] == [
        FailureReason.SERVER_ERROR,
        FailureReason.REFUSED,
    ]
    assert isinstance(runs[1][0], Completion) and isinstance(runs[1][1], Failure)
    assert [body["messages"][0]["content"] for body in server.bodies] == ["first", "refuse", "first"]
    assert totals.failures == {"refused": 1} and totals.interrupted == 0


def test_more_tries_are_given_to_an_answer_that_did_not_parse(tmp_path: Path) -> None:
    with scripted_server(lambda place, _: completion("no" if place == 0 else '{"label": "x"}')) as server:
        results = []
        for retries in (0, 0, 1):
            settings = LmSettings(model="m", endpoint=server.url, answer_retries=retries)
            with LanguageModel(settings, tmp_path, "open") as model:
                results.append(model.complete([Message(role="user", content="?")], Verdict))
                sent = len(server.bodies)
    assert [result.outcome for result in results] == ["failure", "failure", "completion"]
    assert sent == 2


def test_a_wrong_answer_is_shown_with_what_is_wrong_and_asked_for_again(tmp_path: Path) -> None:
    with (
        scripted_server(lambda place, _: completion("no" if place == 0 else '{"label": "x"}')) as server,
        LanguageModel(LmSettings(model="m", endpoint=server.url, answer_retries=1), tmp_path, "open") as model,
    ):
        assert isinstance(model.complete([Message(role="user", content="?")], Verdict), Completion)
    wrong, advice = (message["content"] for message in server.bodies[-1]["messages"][-2:])
    assert wrong == "no"
    assert advice.startswith("Your answer was not valid: ") and advice.endswith(". Answer again, with the JSON alone.")


def test_only_the_owner_may_read_the_answers_and_prompts_are_not_kept(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir(mode=0o755)
    with (
        scripted_server(lambda *_: completion("fine")) as server,
        LanguageModel(LmSettings(model="m", endpoint=server.url), tmp_path, "credentialed") as model,
    ):
        model.complete([Message(role="user", content="Mr Unnamed has gout")])
    file = tmp_path / "cache" / FILE_NAME
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert b"gout" not in file.read_bytes() and b"fine" in file.read_bytes()


def test_a_damaged_cache_is_named(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / FILE_NAME).write_bytes(b"this is no database, but it is long enough to be taken for one" * 20)
    with pytest.raises(InputError, match="move it away"):
        LanguageModel(LmSettings(model="m"), tmp_path, "open")
