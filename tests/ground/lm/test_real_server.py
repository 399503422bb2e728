"""A real OpenAI-compatible server, ``transformers serve``, with a tiny random model on a loopback port."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from ground.lm.client import LanguageModel
from ground.lm.results import Completion, Failure, FailureReason, Message, Request
from ground.lm.settings import LmSettings
from tests.served import TEXTS, Served

# One server for all tests that ask one, also where the tests are spread over processes.
pytestmark = pytest.mark.xdist_group("transformers_serve")

QUESTIONS = [Request((Message(role="user", content=f"{TEXTS[n % 3]} {n}"),)) for n in range(6)]


class Verdict(BaseModel):
    label: str


@pytest.fixture
def tiny(served: Served) -> Path:
    """The folder of the model that is served."""
    return served.model


@pytest.fixture
def server(served: Served) -> str:
    """The server's address."""
    return served.url


def open_model(endpoint: str, tiny: Path, workspace: Path, **others: Any) -> LanguageModel:
    settings = LmSettings(model=str(tiny), endpoint=endpoint, max_tokens=12, concurrency=3, **others)
    return LanguageModel(settings, workspace, "credentialed")


def test_the_server_and_the_local_model_say_the_same(server: str, tiny: Path, tmp_path: Path) -> None:
    with open_model(server, tiny, tmp_path) as remote:
        served = remote.complete_all(QUESTIONS)
    with LanguageModel(
        LmSettings(kind="transformers", model=str(tiny), max_tokens=12), tmp_path, "credentialed"
    ) as model:
        local = model.complete_all(QUESTIONS)
    assert [result.text for result in served] == [result.text for result in local]
    assert [result.usage for result in served] == [result.usage for result in local]
    assert [result.finish_reason for result in served] == [result.finish_reason for result in local]


def test_a_second_run_is_answered_from_the_cache(server: str, tiny: Path, tmp_path: Path) -> None:
    answers = []
    for _ in range(2):
        with open_model(server, tiny, tmp_path) as model:
            answers.append([result.text for result in model.complete_all(QUESTIONS)])
            totals = model.totals
    assert answers[0] == answers[1]
    assert (totals.sent, totals.cached) == (0, 6)


def test_a_random_model_does_not_fit_a_schema_and_the_failure_says_so(server: str, tiny: Path, tmp_path: Path) -> None:
    with open_model(server, tiny, tmp_path, answer_retries=1) as model:
        result = model.complete(QUESTIONS[0].messages, Verdict)
    assert isinstance(result, Failure)
    assert (result.reason, result.attempts) == (FailureReason.TRUNCATED, 2)


def test_samples_are_drawn_by_their_seed(server: str, tiny: Path, tmp_path: Path) -> None:
    # transformers serve 5.23 takes a temperature and stays greedy unless it is told to sample.
    sampling = {"generation_config": json.dumps({"do_sample": True})}
    samples = [Request(QUESTIONS[0].messages, sample=n) for n in range(3)]
    drawn = []
    for workspace in ("a", "b"):
        with open_model(server, tiny, tmp_path / workspace, temperature=1.0, extra_body=sampling) as model:
            drawn.append([model.complete_all([sample])[0] for sample in samples])
    assert all(isinstance(result, Completion) for result in drawn[0])
    assert [result.text for result in drawn[0]] == [result.text for result in drawn[1]]
    assert len({result.text for result in drawn[0]}) == 3
