"""The engine that asks language models: what is asked, how answers are read, what failures become."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builders.medval.items import Item, Judgement, Output
from builders.medval.lm.generator import LmGenerator, generator_prompt
from builders.medval.lm.validator import LmValidator
from builders.texts.origin import Origin, Refusal
from ground.contracts.rows_text import RISK_LEVELS
from ground.lm.client import LanguageModel
from ground.lm.settings import LmSettings
from tests.ground.lm.server import Reply, ScriptedServer, completion, scripted_server

GIVEN = "The patient {takes} warfarin 5 mg."


def item(number: int = 1, reference: str | None = "Warfarin 5 mg.") -> Item:
    return Item(Origin("toy", str(number), str(number), "train"), "bhc2spanish", f"{GIVEN} Day {number}.", reference)


def generated(output: str, **more: str) -> Reply:
    return completion(json.dumps({"reasoning": "as asked", "output": output, **more}))


def asking(
    reply: Callable[[int, dict[str, Any]], Reply], work: Path, run: Callable[[LanguageModel], Any]
) -> tuple[Any, ScriptedServer]:
    with scripted_server(reply) as server:
        settings = LmSettings(model="m", endpoint=server.url, answer_retries=0, max_retries=0, concurrency=1)
        with LanguageModel(settings, work, "open") as model:
            return run(model), server


def test_a_reference_is_the_clean_output_and_a_model_writes_only_what_is_missing(tmp_path: Path) -> None:
    items = [item(1), item(2, reference=None), item(3)]
    made, server = asking(
        lambda _n, _body: generated(" Escrito. "), tmp_path, lambda model: LmGenerator(model).clean(items)
    )
    assert made == [Output("Warfarin 5 mg."), Output("Escrito."), Output("Warfarin 5 mg.")]
    assert len(server.bodies) == 1
    asked = server.bodies[0]["messages"][0]["content"]
    assert "Day 2." in asked and "Translate this brief hospital course into Spanish." in asked
    assert "inconsistenc" not in asked


def test_each_level_is_asked_for_in_its_own_words_and_from_the_input_alone(tmp_path: Path) -> None:
    items = [item(level) for level in RISK_LEVELS]
    made, server = asking(
        lambda n, _body: generated(f"output {n}"),
        tmp_path,
        lambda model: LmGenerator(model).perturb(items, [Output("the clean one")] * 4, list(RISK_LEVELS)),
    )
    assert made == [Output(f"output {n}") for n in range(4)]
    asked = [body["messages"][0]["content"] for body in server.bodies]
    assert len({text.replace(f"Day {n}.", "") for n, text in enumerate(asked, 1)}) == 4
    assert all(GIVEN in text and "the clean one" not in text for text in asked)
    assert "endanger" in asked[3] and "endanger" not in asked[2]


def test_a_plain_output_is_asked_for_without_a_word_about_degradation() -> None:
    plain, at_level_1 = generator_prompt(item(), None), generator_prompt(item(), 1)
    assert "degree of agreement" not in plain and "degree of agreement" in at_level_1


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (completion("no JSON"), "lm_malformed"),
        (generated("x", more="y"), "lm_malformed"),
        (generated("  "), "lm_empty"),
        (completion("{", finish_reason="length"), "lm_truncated"),
        (completion("", refusal="I cannot"), "lm_refused"),
        (Reply(status=500), "lm_server_error"),
    ],
)
def test_what_is_no_output_is_a_typed_refusal(tmp_path: Path, reply: Reply, reason: str) -> None:
    made, _ = asking(lambda _n, _body: reply, tmp_path, lambda model: LmGenerator(model).clean([item(reference=None)]))
    assert made == [Refusal(reason)]


ANSWER = """Reasoning: The dose is not the input's.
Errors:
1. Detail misidentification: the output says "50 mg" where the input says "5 mg"
2. Missing claim: "Day 1." is left out
3. Other: it is odd
Risk level: 3"""


def test_a_judgement_has_level_reasoning_and_errors_with_the_words_they_quote(tmp_path: Path) -> None:
    made, server = asking(
        lambda _n, _body: completion(ANSWER),
        tmp_path,
        lambda model: LmValidator(model).judge([item()], ["Warfarin 50 mg."]),
    )
    (judged,) = made
    assert isinstance(judged, Judgement)
    assert judged.risk_level == 3 and judged.score == pytest.approx(2 / 3)
    assert judged.reasoning == "The dose is not the input's."
    assert [(error["category"], error["quote"], error["quoted_from"]) for error in judged.errors] == [
        ("detail_misidentification", "50 mg", "output"),
        ("missing_claim", "Day 1.", "input"),
        ("other", None, None),
    ]
    asked = server.bodies[0]["messages"][0]["content"]
    assert GIVEN in asked and "Warfarin 50 mg." in asked and "Risk level: 1, 2, 3 or 4" in asked


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (completion("It is fine."), "lm_wrong_form"),
        (completion("Reasoning: a\nErrors: None\nRisk level: 5"), "lm_no_risk_level"),
        (completion("Reasoning: a\nErrors:\n1. Rudeness: b\nRisk level: 2"), "lm_unknown_category"),
        (completion(""), "lm_empty"),
        (Reply(status=429), "lm_rate_limited"),
    ],
)
def test_an_answer_that_cannot_be_read_is_a_refusal_and_no_level(tmp_path: Path, reply: Reply, reason: str) -> None:
    made, _ = asking(lambda _n, _body: reply, tmp_path, lambda model: LmValidator(model).judge([item()], ["x"]))
    assert made == [Refusal(reason)]
