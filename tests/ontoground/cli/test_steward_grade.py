"""``steward grade`` and ``steward board``: what they print, write and refuse."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest

from tests.ground.lm.server import completion, scripted_server
from tests.ontoground.cli.conftest import Steward
from tests.ontoground.cli.steward_world import adopted

LABELS = """uid,kind,type,answer,new
1,BMI,decimal,100,50
2,BMI,decimal,100,100
3,GCS,integer,17,N/A
4,GCS,integer,20,
"""
ANSWERS = "uid,answer,model\n" + "".join(
    f"{uid},{answer},{model}\n"
    for model, lines in (("old", "100 100 17 20"), ("new", "50 100 N/A 3"))
    for uid, answer in enumerate(lines.split(), start=1)
)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steward: Steward) -> Path:
    monkeypatch.setenv("ONTOGROUND_WORKSPACE", str(tmp_path / "work"))
    (tmp_path / "labels.csv").write_text(LABELS)
    (tmp_path / "answers.csv").write_text(ANSWERS)
    columns = ("uid=uid", "stratum=kind", "output_type=type", "original=answer", "recomputed=new")
    given = [part for column in columns for part in ("--column", column)]
    steward("adopt", tmp_path / "labels.csv", *given)
    return tmp_path


def test_a_model_is_asked_and_its_answers_are_graded(tmp_path: Path, steward: Steward) -> None:
    work = adopted(tmp_path)
    with scripted_server(lambda n, _body: completion("Thus <answer>424242.2</answer>" if n else "none")) as server:
        asked = ("ask", "--workspace", work, "--endpoint", server.url, "--endpoint-model", "org/scripted")
        assert steward.error(*asked[:3])["what"] == "no language model is named"
        payload = steward.json(*asked, "--responses", "2", "--rows", "3", "--set", "language_model.concurrency=1")
        assert steward.json(*asked, "--responses", "2", "--rows", "3")["file"] == payload["file"]
    # What was answered is not asked again, and no label was shown.
    assert len(server.bodies) == 6 and "424242" not in str(server.bodies) and "anion gap" in str(server.bodies)
    assert (payload["model"], payload["rows"], payload["failed"]) == ("scripted", 3, {})
    graded = steward.json("grade", "--workspace", work, "--against", "original", "--missing", "leave_out")
    assert [model["model"] for model in graded["models"]] == ["scripted", "scripted, response 2"]
    assert sum(model["verdicts"]["format_error"] for model in graded["models"]) == 1


def test_policies_are_compared_over_benchmarks_and_decodings(tmp_path: Path, steward: Steward) -> None:
    work = adopted(tmp_path)
    with scripted_server(lambda _n, _body: completion("<answer>424242.2</answer>")) as server:
        asked = ("ask", "--workspace", work, "--endpoint", server.url, "--endpoint-model", "scripted")
        steward(*asked, "--name", "good", "--responses", "2", "--set", "language_model.temperature=0.6")
        steward(*asked, "--name", "good")
        file = Path(steward.json(*asked, "--name", "bad")["file"])
    rows = pl.read_parquet(file).with_columns(answer=pl.lit("<answer>1</answer>"))
    rows.write_parquet(file)
    what = ("effect", "--workspace", work, "--benchmark", "invented:original", "--policy", "good", "--policy")
    payload = steward.json(*what, "bad")
    cells = {(one["policy"], one["temperature"]): (one["n"], one["accuracy"]) for one in payload["cells"]}
    # The limits of 5% take one answer for all labels.
    assert cells == {("bad", "0.0"): (8, 0.0), ("good", "0.0"): (8, 1.0), ("good", "0.6"): (16, 1.0)}
    (found,) = payload["effects"]
    assert found["value"] == pytest.approx(-1) and found["n"] == 32 and found["high"] < -0.9
    assert "less good, points" in steward(*what, "bad")
    assert "has not answered" in steward.error(*what, "nobody", code=3)["what"]


def test_grade_prints_shares_and_writes_rows(workspace: Path, steward: Steward) -> None:
    arguments = ("grade", workspace / "answers.csv", "--against", "recomputed")
    payload = steward.json(*arguments, "--out", workspace / "rows.csv")
    assert [(model["model"], model["share"]["correct"], model["share"]["n"]) for model in payload["models"]] == [
        ("old", 1, 3),
        ("new", 3, 3),
    ]
    assert (payload["labelled"], payload["limits"], payload["models"][1]["abstained"]) == (3, "corrected", 1)
    with (workspace / "rows.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["model"], row["uid"], row["verdict"]) for row in rows[3:]] == [
        ("new", "1", "correct"),
        ("new", "2", "correct"),
        ("new", "3", "correct"),
    ]
    assert rows[5]["label"] == "N/A" and rows[5]["abstained"] == "true"
    answer = steward(*arguments, "--grader", "reward")
    assert "33.3" in answer and "mean reward 0.4000" in answer and max(map(len, answer.splitlines())) <= 80


def test_board_prints_and_draws_both_sides(workspace: Path, steward: Steward) -> None:
    pytest.importorskip("matplotlib")
    arguments = ("board", workspace / "answers.csv", "--after", "recomputed", "--set", "steward.resamples=200")
    payload = steward.json(*arguments)
    assert [(model["model"], model["climbed"]) for model in payload["models"]] == [("new", 1), ("old", -1)]
    assert (payload["rows"], payload["left_out"]) == (3, {"before": 1, "after": 0})
    picture = Path(payload["files"]["png"]).read_bytes()
    assert picture.startswith(b"\x89PNG")
    answer = steward(*arguments)
    assert "2 -> 1" in answer and "1 -> 2" in answer and max(map(len, answer.splitlines()[:-1])) <= 80
    assert Path(payload["files"]["png"]).read_bytes() == picture
    assert "| new | 33.3% | 100.0% | +66.7 |" in Path(payload["files"]["md"]).read_text()


def test_a_board_takes_the_benchmark_that_is_named(workspace: Path, steward: Steward) -> None:
    pytest.importorskip("matplotlib")
    columns = ("--column", "uid=uid", "--column", "output_type=type", "--column", "original=answer")
    more = ("--column", "recomputed=new", "--name", "another")
    steward("adopt", workspace / "labels.csv", *columns, *more)
    arguments = ("board", workspace / "answers.csv", "--after", "recomputed")
    assert "several benchmarks" in steward(*arguments, code=2)
    assert steward.json(*arguments, "--benchmark", "another", "--set", "steward.resamples=50")["benchmark"] == "another"


def test_what_does_not_fit_is_refused(workspace: Path, steward: Steward) -> None:
    file = str(workspace / "answers.csv")
    for words, code, what in (
        (["grade", file, "--against", "2.0.0"], 2, "neither a role"),
        (["grade", file, "--against", "final"], 3, "no such labels yet"),
        (["grade", file, file], 2, "same name"),
        (["grade", file, "--out", str(workspace / "rows.txt")], 2, "does not say what to write"),
        (["grade", str(workspace / "none.csv")], 3, "no such table"),
        (["board", file, "--after", "original"], 2, "same labels"),
    ):
        assert what in steward.error(*words, code=code)["what"]
