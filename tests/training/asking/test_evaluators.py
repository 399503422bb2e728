"""Evaluators' own formats: what ships asks and reads, and what is refused of a user's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ground.errors import UsageError
from training.asking.evaluators import SHIPPED, EvaluatorFormat, read_format

ROW = {
    "context": "Has gout. Takes colchicine.",
    "statement": "He has gout.",
    "instruction": "Summarize.",
    "input": "Has gout.",
    "output": "He has asthma.",
}


@pytest.mark.parametrize(
    ("name", "in_prompt", "answers"),
    [
        (
            "halloumi",
            "<|s2|><Takes colchicine.><end||s>",
            {"No. <|unsupported|>": False, "Yes. <|supported|>": True, "<|supported|> no <|unsupported|>": False},
        ),
        (
            "prometheus2",
            "###Response to evaluate:\nHe has gout.",
            {
                "Feedback: Good. [RESULT] 5": True,
                "Weak. [RESULT] (3)": False,
                "Good.": None,
                "<think>[RESULT] 5</think>x": None,
            },
        ),
        (
            "medval4b",
            "[[ ## output ## ]]\nHe has asthma.",
            {
                "[[ ## reasoning ## ]]\nWrong.\n[[ ## errors ## ]]\nError 1: x\n[[ ## risk_level ## ]]\n4\n": 4,
                "[[ ## risk_level ## ]]\nLevel 2 (low)": 2,
                "[[ ## risk_level ## ]]\n7": None,
            },
        ),
    ],
)
def test_formats_that_ship_ask_and_read(name: str, in_prompt: str, answers: dict[str, Any]) -> None:
    form = read_format(name)
    form.check("medval" if name == "medval4b" else "medhal")
    assert name in SHIPPED and in_prompt in form.messages(ROW)[-1].content
    assert {text: form.read(text)["label"] for text in answers} == answers
    assert form.read(next(iter(answers)))["explanation"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"user": "{{ nothing }}"}, "does not have"),
        ({"user": "{% if %}"}, "template of an evaluator's format is none"),
        ({"pattern": "("}, "pattern of an evaluator's format is none"),
        ({"pattern": "yes"}, "no group `label`"),
        ({"labels": {"yes": 4}}, "none of medhal"),
    ],
)
def test_what_is_wrong_in_a_users_format_is_said(change: dict[str, Any], words: str) -> None:
    right = {"user": "{{ statement }}?", "pattern": "(?P<label>yes|no)", "labels": {"yes": True, "no": False}}
    with pytest.raises(UsageError, match=words):
        form = EvaluatorFormat.model_validate(right | change)
        form.check("medhal")
        form.messages(ROW)


def test_a_format_of_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    pattern = "pattern = '(?P<label>yes|no)'\nlabels = {yes = true, no = false}\n"
    file.write_text("user = 'Is it so? {{ statement }}'\n" + pattern)
    form = read_format(str(file))
    assert form.read("yes")["label"] is True and form.read("maybe")["outcome"] == "no_label"
    with pytest.raises(UsageError, match="no such format"):
        read_format("nobody")
