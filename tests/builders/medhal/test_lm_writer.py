"""The engine lm: what is asked, how strictly answers are read, and that failures are typed refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from builders.medhal.judges import LmJudge
from builders.medhal.lm_writer import LmWriter, messages, read_statement
from builders.medhal.writers import AnswerInWords, ExtractionInWords, SentenceToBreak, Written
from builders.texts.origin import Refusal
from ground.lm.client import LanguageModel
from ground.lm.results import Completion
from ground.lm.settings import LmSettings
from tests.builders.medhal.feed_world import pair
from tests.ground.lm.server import Reply, ScriptedServer, completion, scripted_server

T = TypeVar("T")
SENTENCE = "Blood pressure fell in the treated group."


def asked_of(server: ScriptedServer) -> list[str]:
    """Return the last turn of every request."""
    return [body["messages"][-1]["content"] for body in server.bodies]


def with_model(
    tmp_path: Path, reply: Callable[[int, dict[str, Any]], Reply], use: Callable[[LanguageModel], T]
) -> tuple[T, ScriptedServer]:
    """Use a model behind a scripted server."""
    with scripted_server(reply) as server:
        settings = LmSettings(model="m", endpoint=server.url, max_retries=0)
        with LanguageModel(settings, tmp_path, "open") as model:
            return use(model), server


def test_a_question_and_its_option_are_asked_after_one_example(tmp_path: Path) -> None:
    asked = [AnswerInWords("Which {drug} treats gout?", "Colchicine ({x})"), AnswerInWords("Which treats it?", "Iron")]
    written, server = with_model(
        tmp_path,
        lambda _n, body: completion("It is " + body["messages"][-1]["content"].split("Answer: ")[1] + "."),
        lambda model: LmWriter(model).answers(asked),
    )
    assert written == [Written("It is Colchicine ({x}).", "lm"), Written("It is Iron.", "lm")]
    assert "Question: Which {drug} treats gout?\nAnswer: Colchicine ({x})" in asked_of(server)
    assert [turn["role"] for turn in server.bodies[0]["messages"]] == ["system", "user", "assistant", "user"]


def test_an_extraction_names_its_reference_or_none(tmp_path: Path) -> None:
    asked = [
        ExtractionInWords("treatments", "dosage", "5 mg", "apixaban"),
        ExtractionInWords("patient information", "age", "70 years", None),
    ]
    written, server = with_model(
        tmp_path,
        lambda _n, body: completion("The patient takes apixaban."),
        lambda model: LmWriter(model).extractions(asked),
    )
    assert [one.text for one in written if isinstance(one, Written)] == ["The patient takes apixaban."] * 2
    assert sorted(text.rpartition("concept_reference: ")[2] for text in asked_of(server)) == ["None", "apixaban"]


def test_a_sentence_that_comes_back_as_it_was_is_refused(tmp_path: Path) -> None:
    answers = {
        "a": SENTENCE.upper(),
        "b": SENTENCE.replace("fell", "rose"),
        "c": SENTENCE * 4,
        "d": "That is wrong. It rose.",
    }
    asked = [SentenceToBreak(key, f"Text {key}.", SENTENCE) for key in answers]
    written, _ = with_model(
        tmp_path,
        lambda _n, body: completion(answers[body["messages"][-1]["content"][len("Text: Text ")]]),
        lambda model: LmWriter(model).contradictions(asked),
    )
    assert written == [
        Refusal("lm_unchanged"),
        Written("Blood pressure rose in the treated group.", "lm"),
        Refusal("lm_too_long"),
        Refusal("lm_several_sentences"),
    ]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Metformin treats diabetes.", "Metformin treats diabetes."),
        ('"Metformin treats diabetes."', "Metformin treats diabetes."),
        ("<think>well</think>\nMetformin treats diabetes.", "Metformin treats diabetes."),
        ("A 5-year-old boy has fever. The answer is measles.", "A 5-year-old boy has fever. The answer is measles."),
        ("Noted in 1990, it treats gout.", "Noted in 1990, it treats gout."),
        ("Here is the statement: Metformin treats diabetes.", "lm_preamble"),
        ("Sure! Metformin treats diabetes.", "lm_preamble"),
        ("Statement: Metformin treats diabetes.", "lm_preamble"),
        ("The transformed sentence is: Metformin treats it.", "lm_preamble"),
        ("I cannot help with that.", "lm_preamble"),
        ("Metformin treats diabetes.\nIt is a biguanide.", "lm_several_lines"),
        ("- Metformin treats diabetes.", "lm_markup"),
        ("1. Metformin treats diabetes.", "lm_markup"),
        ("Which drug treats diabetes?", "lm_question"),
        ("...", "lm_no_words"),
        ("", "lm_no_words"),
    ],
)
def test_an_answer_is_the_statement_alone_or_a_typed_refusal(text: str, read: str) -> None:
    found = read_statement(Completion(key="k", model="m", text=text))
    assert found == (Refusal(read) if read.startswith("lm_") else read)


def test_an_answer_cut_at_the_token_limit_is_refused() -> None:
    assert read_statement(Completion(key="k", model="m", text="It is", finish_reason="length")) == Refusal(
        "lm_truncated"
    )


@pytest.mark.parametrize(
    ("text", "several"),
    [
        ("Dr. Smith saw the patient.", False),
        ("The patient takes 2.5 mg of apixaban.", False),
        ("E. coli grew in culture.", False),
        ("The patient is 70 years old. She takes apixaban.", True),
    ],
)
def test_sentences_are_told_from_abbreviations(text: str, several: bool) -> None:
    found = read_statement(Completion(key="k", model="m", text=text), one_sentence=True)
    assert isinstance(found, Refusal) is several


def test_failures_of_the_model_are_refusals_with_its_reason(tmp_path: Path) -> None:
    replies = {
        "a": completion(None, refusal="No."),
        "b": Reply(status=500),
        "c": completion(""),
        "d": Reply(status=400),
    }
    asked = [AnswerInWords("Which?", key) for key in replies]
    written, _ = with_model(
        tmp_path, lambda _n, body: replies[body["messages"][-1]["content"][-1]], lambda m: LmWriter(m).answers(asked)
    )
    reasons = [one.reason for one in written if isinstance(one, Refusal)]
    assert reasons == ["lm_refused", "lm_server_error", "lm_empty", "lm_rejected"]


def test_the_judge_asks_as_a_detector_is_asked_and_must_confirm_both_labels(tmp_path: Path) -> None:
    answers = {
        "one": ("Factual: YES\nExplanation: The statement is factual", "Factual: NO\nExplanation: It is not so."),
        "two": ("Factual: NO\nExplanation: No.", "Factual: NO\nExplanation: No."),
        "three": ("Factual: YES", "Factual: YES"),
        "four": ("Factual: YES", "I do not know."),
    }

    def reply(_n: int, body: dict[str, Any]) -> Reply:
        statement = body["messages"][-1]["content"].split("### Statement\n")[1].splitlines()[0]
        _, name, verb = statement.rstrip(".").split(" ")
        return completion(answers[name]["fails" in verb])

    pairs = [pair(name, context="A text.") for name in answers]
    verdicts, server = with_model(tmp_path, reply, lambda model: LmJudge(model).agree(pairs))
    assert verdicts == [
        None,
        Refusal("judge_calls_factual_wrong"),
        Refusal("judge_calls_wrong_factual"),
        Refusal("judge_unreadable_no_label"),
    ]
    assert all("### Context\nA text." in text and "Known to be right" not in text for text in asked_of(server))


def test_guidance_is_shown_to_the_judge_only_where_a_pair_has_it(tmp_path: Path) -> None:
    import dataclasses

    guided = dataclasses.replace(pair("one"), guidance="The right answer is aspirin.")
    _, server = with_model(tmp_path, lambda _n, _b: completion("Factual: YES"), lambda m: LmJudge(m).agree([guided]))
    assert len(server.bodies) == 2
    assert all(
        text.endswith("### Known to be right\nThe right answer is aspirin.\n\n### Answer\n")
        for text in asked_of(server)
    )


def test_prompts_do_not_read_braces_of_the_texts() -> None:
    turns = messages("medhal_contradiction", text="{sentence} {0}", sentence="{text}")
    assert turns[-1].content == "Text: {sentence} {0}\nSentence: {text}"
