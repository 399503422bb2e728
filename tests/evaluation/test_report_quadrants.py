"""The report: the same bytes each time, whole or not at all, and readable (a golden report)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evaluation import figures
from evaluation.predictions import write_predictions
from evaluation.report import evaluate_quadrants
from ground.errors import InputError, UsageError
from tests.evaluation.world import dataset, predictions, written

# After a change that is meant: copy the report.md that the test wrote over this file, and read the difference.
GOLDEN = Path(__file__).parent / "golden_report.md"
DATA = dataset(18, 2)
pytestmark = pytest.mark.usefixtures("no_ink")


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Two models: one with two seeds in two kinds of files, one without scores and with unreadable answers."""
    gold = DATA.split_rows("test")
    name = "Qwen/Qwen3-8B + SFT"
    write_predictions(tmp_path / "first.parquet", predictions(gold, name, 42, 5))
    written(tmp_path / "second.csv", predictions(gold, name, 43, 6))
    answers = predictions(gold, "gpt-4o + zero-shot", None, 2, scores=False)
    unclear = pl.when(pl.int_range(pl.len()) % 7 == 3).then(None).otherwise("label")
    written(tmp_path / "third.jsonl", answers.with_columns(label=unclear))
    return [tmp_path / "first.parquet", tmp_path / "second.csv", tmp_path / "third.jsonl"]


def test_the_report_is_the_golden_one(files: list[Path], tmp_path: Path) -> None:
    evaluate_quadrants(DATA, files, tmp_path / "report", baselines=False)
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_the_report_is_whole_private_and_links_the_pictures_that_are_there(files: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "report"
    losses = {"seed 42": [{"step": 1, "loss": 1.0}, {"step": 2, "loss": 0.5}]}
    lambdas = {"gpt-4o + zero-shot": ("Qwen, Mixed", 0.0), "Qwen/Qwen3-8B + SFT": ("Qwen, Mixed", 0.5)}
    report = evaluate_quadrants(DATA, files, out, lambdas=lambdas, losses=losses)
    assert json.loads((out / "report.json").read_text(encoding="utf-8")) == json.loads(json.dumps(report))
    text = (out / "report.md").read_text(encoding="utf-8")
    linked = re.findall(r"\(figures/(.+?)\)", text)
    assert sorted(linked) == sorted(path.name for path in (out / "figures").iterdir())
    assert {"f1_by_quadrant.png", "risk.png", "confusion.png", "calibration.png", "lambda.png", "learning.png"} == set(
        linked
    )
    assert [point["lambda"] for point in report["lambda"]] == [0.0, 0.5]
    assert (out.stat().st_mode & 0o777, (out / "figures").stat().st_mode & 0o777) == (0o700, 0o700)
    baselines = pl.read_parquet(out / "baselines.parquet")
    assert baselines.columns == ["id", "label", "scores", "model"]
    for model in report["models"]:
        assert f"| {model['name']} |" in text
    kinds = [(model["kind"], model["seeds"]) for model in report["models"]]
    assert kinds == [("model", [42, 43]), ("model", [None]), *[("baseline", [None])] * 5]
    assert "### overlap+statement" in text or "### statement-only" in text
    everything = text + (out / "report.json").read_text(encoding="utf-8")
    for private in ("ASPIRIN", "More words", "1002-0", "hadm_id", "subject_id"):
        assert private not in everything


def test_numbers_are_those_of_the_files(files: list[Path], tmp_path: Path) -> None:
    report = evaluate_quadrants(DATA, files, tmp_path / "report", baselines=False)
    first, second = report["models"]
    # 48 rows, a quarter of them Q1; every 5th (6th) row is called Q1, whose own quadrant is Q1 for some.
    gold = DATA.split_rows("test")["quadrant"].to_list()
    right = [sum(bool(at % every) or label == "Q1" for at, label in enumerate(gold)) for every in (5, 6)]
    assert first["metrics"]["accuracy"]["value"] == pytest.approx(sum(right) / 2 / len(gold), abs=1e-6)
    hsr = sum(at % 2 == 0 and at % 7 != 3 and label == "Q2" for at, label in enumerate(gold)) / gold.count("Q2")
    assert second["metrics"]["hsr"]["value"] == pytest.approx(hsr, abs=1e-6)
    assert second["metrics"]["ece"]["value"] is None
    assert first["paper"]["metrics"]["tir"] == 0.311
    assert [one["unparseable"] for one in report["predictions"]] == [0, 0, 7]
    assert {one["seed_a"] for one in report["comparisons"]} == {42}


def test_the_same_inputs_give_the_same_bytes_whatever_their_order(files: list[Path], tmp_path: Path) -> None:
    for name, order in (("one", files), ("two", files[::-1])):
        evaluate_quadrants(DATA, order, tmp_path / name)
    for file in ("report.json", "report.md", "baselines.parquet"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_missing_rows_are_left_out_of_every_model_and_baseline(files: list[Path], tmp_path: Path) -> None:
    part = tmp_path / "part.parquet"
    write_predictions(part, predictions(DATA.split_rows("test"), "half", 1, 9).head(24))
    with pytest.raises(InputError, match="24 of 48 rows have none"):
        evaluate_quadrants(DATA, [*files, part], tmp_path / "report")
    assert not (tmp_path / "report").exists()
    report = evaluate_quadrants(DATA, [files[2], part], tmp_path / "report", missing="leave_out")
    assert (report["dataset"]["rows"], report["dataset"]["rows_left_out"]) == (24, 24)
    assert {sum(map(sum, model["confusion"])) for model in report["models"]} == {24}
    report = evaluate_quadrants(DATA, [part], tmp_path / "report", missing="wrong", baselines=False)
    assert report["dataset"]["rows"] == 48
    assert sum(row[-1] for row in report["models"][0]["confusion"]) == 24


def test_a_failure_leaves_an_earlier_report_as_it_was(
    files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "report"
    evaluate_quadrants(DATA, files, out, baselines=False)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}

    def full_disk(*_: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(figures, "confusion_figure", full_disk)
    with pytest.raises(OSError, match="no space"):
        evaluate_quadrants(DATA, files, out, baselines=False)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert {path.name for path in tmp_path.iterdir()} == {*(file.name for file in files), "report"}


def test_wrong_use_is_refused_before_anything_is_written(files: list[Path], tmp_path: Path) -> None:
    other = tmp_path / "notes"
    other.mkdir()
    (other / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="holds something else"):
        evaluate_quadrants(DATA, files, other)
    assert (other / "thesis.txt").read_text(encoding="utf-8") == "mine"
    with pytest.raises(UsageError, match="nothing to evaluate"):
        evaluate_quadrants(DATA, [], tmp_path / "out", baselines=False)
    with pytest.raises(InputError, match=r"same model and seed"):
        evaluate_quadrants(DATA, [files[0], files[0]], tmp_path / "out")
    with pytest.raises(UsageError, match="a model of the lambda sweep has no predictions"):
        evaluate_quadrants(DATA, files, tmp_path / "out", lambdas={"unheard of": ("a", 1.0)})
    written(tmp_path / "p.csv", predictions(DATA.split_rows("test"), "majority", 1, 3))
    with pytest.raises(InputError, match="the name of a baseline"):
        evaluate_quadrants(DATA, [tmp_path / "p.csv"], tmp_path / "out")
    assert not (tmp_path / "out").exists()
