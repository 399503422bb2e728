"""An endpoint and its faults: what is retried, what becomes a typed failure, what stops the run."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict

from ground.errors import InputError
from ground.lm.client import LanguageModel
from ground.lm.results import Completion, Failure, FailureReason, Message, Request, Result
from ground.lm.settings import LmSettings
from tests.ground.lm.server import Reply, ScriptedServer, completion, scripted_server

SOON = {"retry-after-ms": "5"}
TOO_MANY = Reply(status=429, headers=SOON)
BROKEN = Reply(status=500, headers=SOON)


def said_in_json(body: bytes) -> Reply:
    return Reply(body=body, headers={"Content-Type": "application/json"})


class Verdict(BaseModel):
    model_config = ConfigDict(extra="forbid")
    label: Literal["yes", "no"]
    score: float


def ask(
    reply: Callable[[int, dict[str, Any]], Reply],
    folder: Path,
    schema: Any = None,
    **settings: Any,
) -> tuple[Result, ScriptedServer]:
    with (
        scripted_server(reply) as server,
        LanguageModel(LmSettings(model="m", endpoint=server.url, **settings), folder, "credentialed") as model,
    ):
        return model.complete([Message(role="user", content="Is it so?")], schema), server


def in_turn(*replies: Reply) -> Callable[[int, dict[str, Any]], Reply]:
    return lambda place, _: replies[min(place, len(replies) - 1)]


def test_an_answer_comes_with_its_tokens_cost_and_settings(tmp_path: Path) -> None:
    result, server = ask(in_turn(completion("It is.")), tmp_path, price_in=2.0, price_out=10.0, seed=7, temperature=0.5)
    assert isinstance(result, Completion)
    assert (result.text, result.model, result.finish_reason) == ("It is.", "scripted-1", "stop")
    assert (result.usage.prompt_tokens, result.usage.completion_tokens) == (7, 3)
    assert result.cost == pytest.approx((7 * 2.0 + 3 * 10.0) / 1e6)
    assert (result.seed, result.temperature, result.cached) == (7, 0.5, False)
    assert server.bodies == [
        {
            "model": "m",
            "messages": [{"role": "user", "content": "Is it so?"}],
            "seed": 7,
            "max_tokens": 512,
            "temperature": 0.5,
        }
    ]


def test_fields_follow_the_settings_for_servers_that_want_others(tmp_path: Path) -> None:
    wanted = {"chat_template_kwargs": {"enable_thinking": False}}
    _, server = ask(
        in_turn(completion("x")),
        tmp_path,
        temperature="default",
        token_limit_field="max_completion_tokens",
        extra_body=wanted,
    )
    assert server.bodies[0]["max_completion_tokens"] == 512
    assert server.bodies[0]["chat_template_kwargs"] == wanted["chat_template_kwargs"]
    assert "temperature" not in server.bodies[0] and "max_tokens" not in server.bodies[0]


@pytest.mark.parametrize(
    "fault",
    [
        TOO_MANY,
        BROKEN,
        Reply(status=503, headers=SOON),
        Reply(status=200, body=b"\x00\xff\xfe not json", headers={"Content-Type": "application/json"}),
        Reply(status=200, body=b"<html>gateway</html>", headers={"Content-Type": "text/html"}),
        Reply(status=200, body=b'{"error": "busy"}', headers={"Content-Type": "application/json"}),
        Reply(status=200, body=b"[]", headers={"Content-Type": "application/json"}),
        Reply(status=200, body=b"{}", headers={"Content-Type": "application/json"}),
        Reply(status=200, body=b'{"choices": []}', headers={"Content-Type": "application/json"}),
    ],
    ids=["429", "500", "503", "garbage bytes", "html", "error as 200", "list", "empty object", "no choices"],
)
def test_a_passing_fault_is_retried_until_the_answer_comes(fault: Reply, tmp_path: Path) -> None:
    result, server = ask(in_turn(fault, fault, completion("It is.")), tmp_path)
    assert isinstance(result, Completion) and result.text == "It is."
    assert len(server.bodies) == 3


def test_a_cut_body_is_retried(tmp_path: Path) -> None:
    whole = completion("It is.")
    cut = Reply(body=whole.body, headers=whole.headers, cut=True)
    result, server = ask(in_turn(cut, whole), tmp_path)
    assert isinstance(result, Completion) and result.text == "It is."
    assert len(server.bodies) == 2


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (TOO_MANY, FailureReason.RATE_LIMITED),
        (BROKEN, FailureReason.SERVER_ERROR),
        (Reply(status=408, headers=SOON), FailureReason.TIMED_OUT),
        (said_in_json(b"garbage"), FailureReason.GARBLED),
        (
            said_in_json(b'{"choices": [{"message": {"content": "half a letter: \\ud800"}}]}'),
            FailureReason.GARBLED,
        ),
        (said_in_json(b'{"model": 5, "choices": [{"message": {"content": "yes"}}]}'), FailureReason.GARBLED),
        (said_in_json(b"[" * 100_000), FailureReason.GARBLED),
        (Reply(status=302, headers={"Location": "/elsewhere"}), FailureReason.REJECTED),
        (Reply(status=400, body=b'{"error": {"code": "context_length_exceeded"}}'), FailureReason.REJECTED),
        (Reply(status=400, body=b'{"error": {"code": "content_filter"}}'), FailureReason.REFUSED),
        (completion(None, refusal="I cannot help with that"), FailureReason.REFUSED),
        (completion("", finish_reason="content_filter"), FailureReason.REFUSED),
        (completion(""), FailureReason.EMPTY),
        (completion(None), FailureReason.EMPTY),
    ],
    ids=lambda value: value.value if isinstance(value, FailureReason) else str(getattr(value, "status", "")),
)
def test_a_lasting_fault_is_a_failure_with_its_reason(fault: Reply, reason: FailureReason, tmp_path: Path) -> None:
    result, _ = ask(in_turn(fault), tmp_path, max_retries=1, answer_retries=1)
    assert isinstance(result, Failure)
    assert result.reason is reason


def test_an_error_names_its_code_and_never_quotes_the_servers_words(tmp_path: Path) -> None:
    body = b'{"error": {"code": "context_length_exceeded", "message": "too long: Is it so?"}}'
    result, _ = ask(in_turn(Reply(status=400, body=body, headers={"Content-Type": "application/json"})), tmp_path)
    assert isinstance(result, Failure)
    assert result.detail == "HTTP 400, context_length_exceeded"


def test_a_server_that_does_not_answer_in_time_is_a_timed_out_failure(tmp_path: Path) -> None:
    never = threading.Event()
    held = Reply(body=completion("late").body, until=never)
    with (
        scripted_server(lambda *_: held) as server,
        LanguageModel(
            LmSettings(model="m", endpoint=server.url, timeout_s=0.2, max_retries=0), tmp_path, "open"
        ) as model,
    ):
        result = model.complete([Message(role="user", content="Is it so?")])
        never.set()
    assert isinstance(result, Failure) and result.reason is FailureReason.TIMED_OUT


def test_nobody_listening_is_an_unreachable_failure(tmp_path: Path) -> None:
    with LanguageModel(
        LmSettings(model="m", endpoint="http://127.0.0.1:9/v1", max_retries=0), tmp_path, "open"
    ) as model:
        result = model.complete([Message(role="user", content="Is it so?")])
    assert isinstance(result, Failure) and result.reason is FailureReason.UNREACHABLE


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_key_or_model_stops_the_run_and_says_what_to_check(status: int, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="api_key_env"):
        ask(in_turn(Reply(status=status)), tmp_path)


def test_a_dead_server_stops_the_run_instead_of_failing_every_request(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"max_retries": 0, "concurrency": 2, "give_up_after": 5}
    with (
        scripted_server(in_turn(BROKEN)) as server,
        LanguageModel(LmSettings(model="m", endpoint=server.url, **settings), tmp_path, "open") as model,
        pytest.raises(InputError, match="5 requests failed in a row"),
    ):
        model.complete_all(Request((Message(role="user", content=str(n)),)) for n in range(100))
    assert len(server.bodies) < 10


def test_rejections_from_the_start_stop_the_run_and_later_ones_do_not(tmp_path: Path) -> None:
    rejected = Reply(status=400)
    requests = [Request((Message(role="user", content=str(n)),)) for n in range(8)]
    settings: dict[str, Any] = {"model": "m", "concurrency": 1, "give_up_after": 3}
    with (
        scripted_server(in_turn(rejected)) as server,
        LanguageModel(LmSettings(endpoint=server.url, **settings), tmp_path, "open") as model,
        pytest.raises(InputError, match="knows the model"),
    ):
        model.complete_all(requests)
    with (
        scripted_server(in_turn(completion("fine"), rejected)) as server,
        LanguageModel(LmSettings(endpoint=server.url, **settings), tmp_path, "open") as model,
    ):
        results = model.complete_all(requests)
    assert [result.outcome for result in results] == ["completion", *["failure"] * 7]
    # A finished run asks again for what was too long, and nothing else.
    too_long = Reply(status=400, body=b'{"error": {"message": "This model\'s maximum context length is 8 tokens"}}')
    with (
        scripted_server(in_turn(too_long)) as server,
        LanguageModel(LmSettings(endpoint=server.url, **settings), tmp_path, "open") as model,
    ):
        results = model.complete_all(requests)
    assert [result.outcome for result in results] == ["completion", *["failure"] * 7]


def test_the_key_comes_from_the_named_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_LM_KEY", "abc123")
    _, server = ask(in_turn(completion("x")), tmp_path, api_key_env="MY_LM_KEY")
    assert server.headers[0]["authorization"] == "Bearer abc123"


def test_a_schema_is_sent_and_its_answer_parsed(tmp_path: Path) -> None:
    result, server = ask(in_turn(completion('{"label": "yes", "score": 0.5}')), tmp_path, Verdict)
    assert isinstance(result, Completion)
    assert result.parsed == Verdict(label="yes", score=0.5)
    sent = server.bodies[0]["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["strict"] is True
    assert sent["json_schema"]["schema"] == Verdict.model_json_schema()


def test_a_malformed_answer_is_asked_for_again_with_what_was_wrong(tmp_path: Path) -> None:
    wrong = completion('{"label": "maybe", "score": 0.5}')
    result, server = ask(in_turn(wrong, completion('{"label": "no", "score": 1}')), tmp_path, Verdict)
    assert isinstance(result, Completion)
    assert result.parsed == Verdict(label="no", score=1.0)
    assert result.attempts == 2
    assert (result.usage.prompt_tokens, result.usage.completion_tokens) == (14, 6)
    told = server.bodies[1]["messages"]
    assert told[-2] == {"role": "assistant", "content": '{"label": "maybe", "score": 0.5}'}
    assert told[-1]["role"] == "user" and "label: Input should be 'yes' or 'no'" in told[-1]["content"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (completion("Yes, I think so."), FailureReason.MALFORMED),
        (completion('{"label": "yes"}'), FailureReason.MALFORMED),
        (completion('{"label": "yes", "score": NaN}'), FailureReason.MALFORMED),
        (completion('{"label": "yes", "score": 1, "secret": "x"}'), FailureReason.MALFORMED),
        (completion('{"label": "yes", "sc', finish_reason="length"), FailureReason.TRUNCATED),
        (completion(""), FailureReason.EMPTY),
    ],
)
def test_an_answer_that_stays_wrong_is_a_failure_that_keeps_its_text(
    answer: Reply, reason: FailureReason, tmp_path: Path
) -> None:
    result, server = ask(in_turn(answer), tmp_path, Verdict, answer_retries=2)
    assert isinstance(result, Failure)
    assert (result.reason, result.attempts, len(server.bodies)) == (reason, 3, 3)
    assert result.text is not None and "secret" not in result.detail


def test_a_server_without_schemas_is_asked_by_instruction_from_then_on(tmp_path: Path) -> None:
    def reply(_: int, body: dict[str, Any]) -> Reply:
        return Reply(status=422) if "response_format" in body else completion('{"label": "yes", "score": 1}')

    with (
        scripted_server(reply) as server,
        LanguageModel(LmSettings(model="m", endpoint=server.url, concurrency=1), tmp_path, "open") as model,
    ):
        results = model.complete_all(Request((Message(role="user", content=str(n)),), Verdict) for n in range(4))
    assert [type(result) for result in results] == [Completion] * 4
    assert ["response_format" in body for body in server.bodies] == [True, False, False, False, False]
    assert all('"label"' in body["messages"][-1]["content"] for body in server.bodies)


def test_a_json_schema_is_checked_as_a_model_is(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"risk": {"type": "integer", "minimum": 1}}, "required": ["risk"]}
    fenced = completion('<think>\nfour?\n</think>\n```json\n{"risk": 4}\n```')
    result, server = ask(in_turn(completion('{"risk": 0}'), fenced), tmp_path, schema)
    assert isinstance(result, Completion)
    assert result.parsed == {"risk": 4}
    assert "$.risk: 0 is less than the minimum of 1" in server.bodies[1]["messages"][-1]["content"]
    assert server.bodies[0]["response_format"]["json_schema"]["strict"] is False


def test_half_a_character_within_an_answer_is_asked_for_again(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"why": {"type": "string"}}}
    result, server = ask(in_turn(completion(r'{"why": "\ud800"}'), completion('{"why": "so"}')), tmp_path, schema)
    assert isinstance(result, Completion)
    assert result.parsed == {"why": "so"}
    assert len(server.bodies) == 2


def test_no_more_requests_are_under_way_than_allowed_and_results_keep_their_order(tmp_path: Path) -> None:
    gate = threading.Event()
    arrived = threading.Barrier(4, action=gate.set)

    def reply(place: int, body: dict[str, Any]) -> Reply:
        if place < 4:
            arrived.wait(timeout=30)  # three requests would wait here for ever
        return completion(f"about {body['messages'][0]['content']}")

    with (
        scripted_server(reply) as server,
        LanguageModel(LmSettings(model="m", endpoint=server.url, concurrency=4), tmp_path, "open") as model,
    ):
        results = model.complete_all(Request((Message(role="user", content=str(n)),)) for n in range(40))
    assert gate.is_set() and server.most_under_way == 4
    assert [result.text for result in results] == [f"about {n}" for n in range(40)]


def test_prompts_and_answers_are_in_no_repr_and_no_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    request = Request((Message(role="user", content="Mr Unnamed has gout"),))
    with (
        scripted_server(in_turn(completion("Gout it is"))) as server,
        LanguageModel(LmSettings(model="m", endpoint=server.url), tmp_path, "open") as model,
    ):
        results = model.complete_all([request])
    assert "gout" not in (repr(request) + repr(results) + caplog.text).lower()
