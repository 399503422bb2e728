"""Recorded answers as a source of runs, in every layout."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from ground.errors import InputError, OntogroundError
from stewardship.runs.engines import Answer, Ask, Engine, RecordedEngine
from stewardship.runs.prompts import Question

WIDE = pl.DataFrame({"uid": ["a", "b"], "run1": ["16", "N/A"], "run2": [None, "N/A"]})
LONG = pl.DataFrame({"uid": ["a", "a", "b", "b"], "run": ["1", "2", "1", "2"], "answer": ["16", None, "N/A", "N/A"]})


def answers_of(engine: Engine, *uids: str, runs: int = 2) -> dict[tuple[str, int], Answer]:
    asks = (Ask(Question(uid, "", ""), run) for uid in uids for run in range(1, runs + 1))
    return {(item.ask.item.uid, item.ask.run): item for batch in engine.answers(asks) for item in batch}


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("table", [WIDE, LONG], ids=["wide", "long"])
def test_recorded_answers_are_read_in_every_layout(tmp_path: Path, table: pl.DataFrame, kind: str) -> None:
    file = tmp_path / f"answers.{kind}"
    if kind == "csv":
        table.write_csv(file)
    elif kind == "parquet":
        table.write_parquet(file)
    else:
        file.write_text("".join(json.dumps(row) + "\n" for row in table.to_dicts()))
    engine = RecordedEngine(file)
    result = answers_of(engine, "a", "b")
    assert [item.final for item in result.values()] == ["16", None, "N/A", "N/A"]
    assert result["a", 2].reason == "no_answer" and not result["a", 2].passing
    assert engine.rows() == {"a", "b"} and engine.runs == 2 and engine.name == "answers"


def test_a_long_file_may_name_failure_modes_and_critiques(tmp_path: Path) -> None:
    file = tmp_path / "audits.jsonl"
    row = {"uid": "a", "run": 1, "verdict": "Suspicious", "failure_mode": "not_answerable", "critique": "no weight"}
    file.write_text(json.dumps(row) + "\n")
    item = answers_of(RecordedEngine(file), "a", runs=1)["a", 1]
    assert (item.final, item.failure_mode, item.remark) == ("Suspicious", "not_answerable", "no weight")


@pytest.mark.parametrize(
    ("text", "line", "lines"),
    [
        ("name,run1\na,1\n", None, "columns are missing"),
        ("uid,run,text\na,1,16\n", None, "columns are missing"),
        ("uid,ans1,ans2\na,16,17\n", None, "run1, run2, ...; or run, and one of answer"),
        ("uid,run1\n", None, "no run"),
        ("uid,run1\na,16\na,17\n", 3, "twice"),
        ("uid,run,answer\na,1,16\na,1,17\n", 3, "twice"),
        ("uid,run,answer\na,first,16\n", 2, "no number"),
        ("uid,run,answer\na,0,16\n", 2, "no number"),
        ("uid,run1\n ,16\n", 2, "no key"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int | None, lines: str
) -> None:
    file = tmp_path / "answers.csv"
    file.write_text(text)
    with pytest.raises(OntogroundError) as error:
        RecordedEngine(file)
    assert lines in str(error.value) and error.value.line == line


def test_another_file_of_the_same_name_is_another_series(tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    file.write_text("uid,run1\na,16\n")
    before = RecordedEngine(file).describe()
    file.write_text("uid,run1\na,17\n")
    assert RecordedEngine(file).describe() != before
    with pytest.raises(InputError):
        RecordedEngine(tmp_path / "missing.csv")
