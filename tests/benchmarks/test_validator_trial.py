"""Trials of the validator: one error is planted at a time, and another patient's text is of another case."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.validator_trial import HALVES, planted, reworded, trials
from tests.builders.medval import text_folders

TEXTS = (
    "A 45-year-old man has wheezing that wakes him and coughs after exercise. He denies fever.",
    "Both knees of the marathon runner swell since May; climbing stairs makes them hurt.",
)


def _rows(folder: Path, texts: tuple[str, ...]) -> list[str]:
    (folder / "medec").mkdir(parents=True)
    lines = [f'{place},"{text}",0,,""' for place, text in enumerate(texts)]
    header = "Text ID,Text,Error Flag,Error Type,Corrected Text"
    (folder / "medec" / "MEDEC-test.csv").write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    text_folders.meqsum(folder, n=2)
    return [trial.row for half in HALVES for trial in trials(folder, half)]


def test_another_patients_text_is_of_another_case(tmp_path: Path) -> None:
    rows = _rows(tmp_path / "two", TEXTS * 4)
    assert "another patient" in rows and "planted: age" in rows and "MeQSum, clean" in rows
    assert "another patient" not in _rows(tmp_path / "one", (TEXTS[0], f"{TEXTS[0]} He is well.") * 4)


@pytest.mark.parametrize(
    ("text", "sort", "wrong"),
    [
        ("Give 5 mg.", "dose", "Give 15 mg."),
        ("He denies fever.", "not denied", "He reports fever."),
        ("The left knee.", "side", "The right knee."),
        ("For two weeks now.", "time", "For 7 weeks now."),
    ],
)
def test_one_error_is_planted(text: str, sort: str, wrong: str) -> None:
    assert dict(planted("1", text))[sort] == wrong


def test_a_text_is_reworded_once() -> None:
    assert reworded("Examination shows a rash; it reveals no more.") == "Examination reveals a rash; it shows no more."
