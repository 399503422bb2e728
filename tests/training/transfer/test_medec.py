"""MEDEC-shaped files: notes with an error flag as rows that a detector and a validator are asked about."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from ground.contracts.prompts import medhal_prompt, medval_prompt
from ground.errors import InputError
from ground.lm.settings import LmSettings
from tests.ground.lm.server import completion, scripted_server
from training.asking.detectors import AskedSettings
from training.transfer.medec import ANY_RISK, ask_medec, medec_metrics, read_medec

HEADS = (
    *("Text ID", "Text", "Sentences", "Error Flag", "Error Type", "Error Sentence ID"),
    *("Error Sentence", "Corrected Sentence", "Corrected Text"),
)


def note(number: int, wrong: bool, kind: str = "diagnosis") -> tuple[str, ...]:
    text = f'A man of {number} years,\nwith "gout".\nHe is given {"insulin" if wrong else "colchicine"}.'
    fixed = "He is given colchicine."
    error = ("1", kind, "1", "He is given insulin.", fixed, "...") if wrong else ("0", "NA", "-1", "NA", "NA", "NA")
    return (f"ms-test-{number}", text, f"0 A man.\n1 {fixed}", *error)


def write(path: Path, rows: list[Any], heads: tuple[str, ...] = HEADS) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([heads, *rows])
    return path


def test_notes_become_rows_of_both_prompts(tmp_path: Path) -> None:
    path = write(tmp_path / "medec.csv", [note(1, True), note(2, False), ("ms-test-3", " ", *[""] * 7)])
    rows, dropped = read_medec(path)
    assert [(row["id"], row["has_error"], row["label"]) for row in rows] == [
        ("ms-test-1", True, False),
        ("ms-test-2", False, True),
    ]
    assert rows[0]["error_type"] == "diagnosis" and rows[0]["explanation"] == "He is given colchicine."
    assert rows[1]["error_type"] is None and rows[1]["explanation"] is None
    assert dict(dropped) == {"no_text": 1}
    assert 'with "gout".\nHe is given insulin.' in medhal_prompt(rows[0])
    assert "### Context\n(none)" in medhal_prompt(rows[0])
    assert "no input" in medval_prompt(rows[0]) and rows[0]["statement"] in medval_prompt(rows[0])


def test_notes_of_a_test_set_without_flags_have_no_label(tmp_path: Path) -> None:
    path = write(tmp_path / "m.csv", [("a", "A note.", "0 A note.")], ("Text ID", "Text", "Sentences"))
    rows, _ = read_medec(path)
    assert rows[0]["label"] is None and rows[0]["has_error"] is None
    assert medec_metrics(rows, [{"id": "a", "label": True}], "medhal")["n"] == 0


@pytest.mark.parametrize(
    ("rows", "heads", "message"),
    [
        ([("a", "text", "", "2", *[""] * 5)], HEADS, "neither 0 nor 1"),
        ([note(1, True), note(1, False)], HEADS, "identifier"),
        ([("a",)], ("Text ID",), "a column is missing"),
    ],
)
def test_files_of_another_layout_are_refused(tmp_path: Path, rows: Any, heads: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_medec(write(tmp_path / "m.csv", rows, heads))


def test_records_of_commas_only_are_no_notes(tmp_path: Path) -> None:
    rows, dropped = read_medec(write(tmp_path / "m.csv", [note(1, True), *[("",) * len(HEADS)] * 3]))
    assert [row["id"] for row in rows] == ["ms-test-1"]
    assert dict(dropped) == {"empty_record": 3}


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not there"):
        read_medec(tmp_path / "nothing.csv")


def test_a_detector_and_a_validator_are_measured_alike(tmp_path: Path) -> None:
    notes = [note(number, number % 2 == 0, "treatment" if number % 4 else "diagnosis") for number in range(40)]
    rows, _ = read_medec(write(tmp_path / "m.csv", notes))
    perfect = [{"id": row["id"], "label": row["label"]} for row in rows]
    found = medec_metrics(rows, perfect, "medhal")
    assert found["accuracy"] == {"value": 1.0, "low": 1.0, "high": 1.0} and found["f1"]["value"] == 1.0
    assert {name: one["n"] for name, one in found["found_by_type"].items()} == {"diagnosis": 10, "treatment": 10}
    # Level 2 is a risk, but safe; every tenth note has no answer.
    graded = [
        {"id": row["id"], "label": None if number % 10 == 9 else 2 if row["has_error"] else 1}
        for number, row in enumerate(rows)
    ]
    strict, any_risk = (medec_metrics(rows, graded, "medval", error_from=level) for level in (3, ANY_RISK))
    assert strict["recall"]["value"] == 0.0 and any_risk["recall"]["value"] == 1.0
    assert any_risk["answered"] == 36 and any_risk["accuracy"]["value"] == 0.9
    assert any_risk["f1"]["low"] <= any_risk["f1"]["value"] <= any_risk["f1"]["high"]


def test_a_language_model_is_asked_about_every_note(tmp_path: Path) -> None:
    path = write(tmp_path / "medec.csv", [note(number, number % 2 == 0) for number in range(4)])
    with scripted_server(lambda _n, _: completion("Factual: NO")) as server:
        settings = LmSettings(endpoint=server.url, model="scripted")
        report, rows = ask_medec(path, "medhal", settings, AskedSettings(shots=1), tmp_path / "w", tmp_path / "out")
    assert len(server.bodies) == 4 and report.rows == 4
    import polars as pl

    predictions = pl.read_parquet(tmp_path / "out" / "predictions-medec.parquet").to_dicts()
    found = medec_metrics(rows, predictions, "medhal")
    assert (found["recall"]["value"], found["precision"]["value"], found["accuracy"]["value"]) == (1.0, 0.5, 0.5)
