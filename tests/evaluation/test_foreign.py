"""Other people's test sets: the layouts of published files, what is dropped, and what is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evaluation.datasets import TextDataset
from evaluation.foreign import ForeignTexts, as_factuality, write_texts
from ground.contracts.prompts import medhal_prompt, medval_prompt
from ground.errors import InputError

SAID = "The patient has asthma. Continue albuterol."
MEDEC = "Text ID,Text,Error Flag,Error Type,Corrected Sentence,Corrected Text\n"


def bench(path: Path, *grades: str, more: dict[str, list[str]] | None = None) -> Path:
    """MedVAL-Bench's columns as they are published, of invented outputs."""
    said = [SAID if grade.endswith("1") else f"{SAID} She has gout." for grade in grades]
    tasks = ["medication2answer", "report2impression", "dialogue2note"]
    columns = {
        "#": list(map(str, range(1, len(grades) + 1))),
        "id": [f"case {number // 2}" for number in range(len(grades))],
        "task": [tasks[number % 3] for number in range(len(grades))],
        "input": [SAID] * len(grades),
        "reference_output": ["Asthma, on albuterol."] * len(grades),
        "output": said,
        "physician_error_assessment": [
            "None" if g.endswith("1") else "Error 1: Fabricated claim: gout" for g in grades
        ],
        "physician_risk_grade": list(grades),
    }
    pl.DataFrame(columns | (more or {})).write_csv(path)
    return path


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def verifact(folder: Path) -> Path:
    tables = {
        "propositions/propositions": "proposition_id,text,subject_id\na,The patient has asthma.,7\nb,She has gout.,7\n",
        "propositions/human_verdicts": "proposition_id,rater1,human_gt\na,x,Supported\nb,x,Not Addressed\n",
        "reference_ehr/ehr_noteevents": "ROW_ID,SUBJECT_ID,TEXT\n1,7,Asthma since childhood.\n2,7,No wheeze.\n",
    }
    for name, text in tables.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode()))
    return folder


def pair(label: str) -> dict[str, Any]:
    return {"sentence1": "Creatinine 1.7.", "sentence2": "Creatinine is normal.", "gold_label": label, "pairID": "x"}


def rows_of(texts: ForeignTexts) -> list[dict[str, Any]]:
    """The rows, which are a dataset of either kind."""
    for kind in ("medhal", "medval"):
        assert TextDataset.open(texts.folder, kind).count("test")
    return pl.read_parquet(texts.folder / "data").to_dicts()


def test_medval_bench_has_the_physicians_levels_and_errors(tmp_path: Path) -> None:
    texts = write_texts(bench(tmp_path / "bench.csv", "1", "Level 4"), "medval_bench", tmp_path / "texts")
    first, second = rows_of(texts)
    assert texts.leveled and texts.ratings is None
    assert [(row["id"], row["risk_level"], row["label"]) for row in (first, second)] == [
        ("1", 1, True),
        ("2", 4, False),
    ]
    assert first["errors"] == [] and [error["category"] for error in second["errors"]] == ["fabricated_claim"]
    assert first["reference"] == "Asthma, on albuterol." and "### Input\nThe patient has asthma" in medval_prompt(first)
    with pytest.raises(InputError, match="a risk level is not valid"):
        write_texts(bench(tmp_path / "bad.csv", "7"), "medval_bench", tmp_path / "bad")


def test_several_physicians_make_a_majority_of_which_a_tie_is_the_higher_risk(tmp_path: Path) -> None:
    other = {"physician_risk_grade_b": ["3", "", "Level 2"], "physician_risk_grade_c": ["1", "", "2"]}
    file = bench(tmp_path / "bench.csv", "1", "2", "4", more=other)
    texts = write_texts(file, "medval_bench", tmp_path / "texts")
    assert [row["risk_level"] for row in rows_of(texts)] == [1, 2, 2]
    assert texts.ratings is not None and texts.ratings.height == 7
    assert sorted(texts.ratings["model"].unique()) == ["physician 1", "physician b", "physician c"]
    tie = bench(tmp_path / "tie.csv", "1", more={"physician_risk_grade_b": ["3"]})
    assert [row["risk_level"] for row in rows_of(write_texts(tie, "medval_bench", tmp_path / "tie"))] == [3]


def test_medec_is_a_note_alone_or_beside_the_corrected_one(tmp_path: Path) -> None:
    file = tmp_path / "medec.csv"
    wrong = 'a,"A man,\nwith ""gout"".",1.0,Diagnosis,He has asthma.,A man with asthma.'
    file.write_text(f"{MEDEC}{wrong}\nb,She has asthma.,0,NA,NA,NA\nc, ,0,,,\nd,A note.,,,,\n,,,,,\n,,,,,\n")
    texts = write_texts(file, "medec", tmp_path / "texts", "open")
    first, second = rows_of(texts)
    assert texts.dropped == {"no_text": 1, "no_label": 1, "empty_record": 2} and not texts.leveled
    assert (first["label"], first["task"], first["explanation"]) == (False, "diagnosis", "He has asthma.")
    assert (second["label"], second["task"], second["explanation"]) == (True, "no error", None)
    assert "### Context\n(none)" in medhal_prompt(first) and 'with "gout".' in medhal_prompt(first)
    assert "no input" in medval_prompt(first) and TextDataset.open(texts.folder, "medval").licence_tier == "open"
    corrected = rows_of(write_texts(file, "medec_corrected", tmp_path / "corrected"))
    assert [row["input"] for row in corrected] == ["A man with asthma.", "She has asthma."]
    file.write_text(f"{MEDEC}a,He has gout.,1,Diagnosis,NA,NA\nb,She has asthma.,0,NA,NA,NA\n")
    assert write_texts(file, "medec_corrected", tmp_path / "without").dropped == {"no_correction": 1}


def test_a_pair_without_a_level_is_counted_and_pairs_without_any_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("input,output,risk_level,risk_level_comment\nd,s,4.0,grave\nd,t,,\n")
    texts = write_texts(file, "pairs", tmp_path / "texts")
    assert [row["risk_level"] for row in rows_of(texts)] == [4] and texts.dropped == {"no_level": 1}
    file.write_text("input,output\nd,s\n")
    with pytest.raises(InputError, match="no risk_level"):
        write_texts(file, "pairs", tmp_path / "none")


def test_a_statement_of_verifact_stands_beside_all_notes_of_its_patient(tmp_path: Path) -> None:
    first, second = rows_of(write_texts(verifact(tmp_path / "v"), "verifact_bhc", tmp_path / "texts"))
    assert first["input"] == second["input"] == "Asthma since childhood.\n\nNo wheeze."
    assert (first["label"], second["label"]) == (True, False)


def test_nli_pairs_become_statements_and_neutral_ones_are_counted(tmp_path: Path) -> None:
    labels = ["entailment", "neutral", "contradiction", "neutral", "-"]
    texts = write_texts(lines(tmp_path / "mli_test.jsonl", *map(pair, labels)), "nli", tmp_path / "texts")
    rows = rows_of(texts)
    assert [(row["id"], row["label"]) for row in rows] == [("mli_test-1", True), ("mli_test-3", False)]
    assert texts.dropped == {"neutral": 2, "no_gold_label": 1}
    assert (rows[0]["context"], rows[0]["statement"]) == ("Creatinine 1.7.", "Creatinine is normal.")


def test_summaries_are_labelled_by_a_label_or_by_marked_errors(tmp_path: Path) -> None:
    marked = [{"start": 0, "end": 1, "label": "unsupported_medication"}]
    file = lines(
        tmp_path / "s.jsonl",
        {"document": "d", "summary": "s", "label": True},
        {"text": "d", "summary": "s", "labels": marked},
        {"text": "d", "summary": "s", "labels": []},
        {"document": "d", "summary": "s", "label": None},
        {"document": "d", "summary": "s"},
    )
    texts = write_texts(file, "summary", tmp_path / "texts")
    assert [row["label"] for row in rows_of(texts)] == [True, False, True] and texts.dropped == {"no_label": 2}


@pytest.mark.parametrize(
    ("layout", "line", "message"),
    [
        ("nli", pair("maybe"), "unknown label"),
        ("nli", {**pair("entailment"), "sentence2": " "}, "missing or empty"),
        ("nli", [1], "no JSON object"),
        ("summary", {"document": "d"}, "missing or empty"),
        ("summary", {"document": "d", "summary": "s", "label": "yes"}, "outside the classes"),
        ("summary", {"document": "d", "summary": "s", "labels": "none"}, "is not a list"),
        ("pairs", {"input": "d", "output": "s", "risk_level": "5"}, "a risk level is not valid"),
        ("pairs", {"input": "d", "answer": "s"}, "a column is missing"),
        ("medec", {"text id": "a", "text": "t", "error flag": "2"}, "neither 0 nor 1"),
    ],
)
def test_lines_that_do_not_fit_are_errors(tmp_path: Path, layout: str, line: Any, message: str) -> None:
    file = lines(tmp_path / "f.jsonl", *([pair("neutral")] if layout == "nli" else []), line)
    with pytest.raises(InputError, match=message):
        write_texts(file, layout, tmp_path / "texts")


def test_what_is_not_there_or_says_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such texts"):
        write_texts(tmp_path / "nothing.csv", "medec", tmp_path / "texts")
    with pytest.raises(InputError, match="no text can be used"):
        write_texts(lines(tmp_path / "f.jsonl", pair("neutral")), "nli", tmp_path / "texts")


def test_levels_become_factual_or_not_from_a_level_on(tmp_path: Path) -> None:
    file = tmp_path / "levels.csv"
    file.write_text("id,label,model,seed\na,1,m,\nb,2,m,\nc,4,m,\nd,,m,\n")
    for unsafe_from, wanted in ((3, [True, True, False, None]), (2, [True, False, False, None])):
        assert (
            pl.read_parquet(as_factuality(file, tmp_path / str(unsafe_from), unsafe_from))["label"].to_list() == wanted
        )
