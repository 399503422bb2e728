"""``ontoground evaluate quadrants``: runs, policies, files and language models, through the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evaluation.datasets import MedievalDataset
from ground.settings import CONTEXT_SECTIONS
from ontoground.views.predictions import context_of
from tests.ground.lm.server import completion, scripted_server
from tests.ontoground.cli.medieval_folder import medieval_folder, medieval_model
from tests.ontoground.cli.schemas import checked
from tests.ontoground.cli.trained import Lab

pytestmark = pytest.mark.usefixtures("no_ink")
BASELINES = ["majority", "statement-only", "context-only", "entity overlap", "overlap+statement"]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """A workspace with two seeds of a classifier, and a sweep of CoRFu over two lambdas."""
    root = tmp_path_factory.mktemp("lab")
    lab = Lab(root / "work", medieval_model(root / "TinyLlama"))
    medieval_folder(lab.dataset)
    assert lab.train("classifier", "--seeds", "1,2", "--out", lab.runs / "seeds").code == 0
    swept = lab.train("corfu", "--lambda", "0", "--lambda", "0.5", "--out", lab.runs / "sweep")
    assert swept.code == 0, swept.err
    return lab


def evaluate(lab: Lab, *arguments: str | Path) -> Any:
    answer = lab.say("evaluate", "quadrants", *arguments, "--json")
    return answer.payload("evaluate-quadrants")


def test_seeds_are_evaluated_as_one_model_and_their_cards_show_it(lab: Lab) -> None:
    payload = evaluate(lab, "--model", lab.runs / "seeds", "--baselines")
    assert [model["name"] for model in payload["models"]] == ["TinyLlama + SFT", *BASELINES]
    assert payload["models"][0]["seeds"] == [1, 2]
    files = [pl.read_parquet(one["file"]) for one in payload["predictions"]]
    assert files[0]["scores"].to_list() != files[1]["scores"].to_list()
    assert payload["rows"] == 36
    report = Path(payload["report"]["folder"])
    assert report == lab.runs / "seeds" / "report" and (report / "report.md").is_file()
    assert "learning.png" in {Path(path).name for path in payload["report"]["figures"]}
    assert "| overlap+statement |" in (lab.runs / "seeds" / "seed-1" / "README.md").read_text()


def test_predictions_are_reused_until_model_or_dataset_change(lab: Lab, tmp_path: Path) -> None:
    run = lab.runs / "seeds" / "seed-1"

    def states(*arguments: str | Path) -> list[str]:
        found = evaluate(lab, "--model", run, "--no-baselines", "--out", tmp_path / "report", *arguments)
        assert [one["trained_on_another_dataset"] for one in found["predictions"]] == [bool(arguments)]
        return [one["state"] for one in found["predictions"]]

    states()
    assert states() == ["reused"]
    file = run / "predictions-test.parquet"
    pl.read_parquet(file).with_columns(label=pl.lit("Q1")).write_parquet(file)
    assert states() == ["made"] and pl.read_parquet(file)["label"].n_unique() >= 1
    other = medieval_folder(tmp_path / "other", admissions=12)
    (other / "manifest.json").write_text('{"licence_tier": "open", "seed": 2}')
    assert states("--dataset", other) == ["made"]


def test_a_sweep_of_policies_is_scored_and_drawn_over_lambda(lab: Lab) -> None:
    payload = evaluate(lab, "--model", lab.runs / "sweep", "--no-baselines")
    assert [model["name"] for model in payload["models"]] == [
        "TinyLlama + CoRFu (Q1 vs. Q2)",
        "TinyLlama + DPO (Q1 vs. Q2)",
    ]
    assert {one["method"] for one in payload["predictions"]} == {"score"}
    assert "lambda.png" in {Path(path).name for path in payload["report"]["figures"]}
    report = json.loads(Path(payload["report"]["json"]).read_text())
    assert [point["lambda"] for point in report["lambda"]] == [0, 0.5]


def test_runs_of_all_folds_are_evaluated_on_all_patients(lab: Lab) -> None:
    folder = lab.runs / "folds"
    assert lab.train("classifier", "--folds", "--out", folder).code == 0
    runs = sorted(path.name for path in folder.iterdir())
    assert runs == ["fold-0", "fold-1", "fold-2"]
    payload = evaluate(lab, "--model", folder)
    rows = MedievalDataset.open(lab.dataset).rows
    assert (payload["split_column"], payload["rows"], payload["patients"]) == (
        "folds",
        rows.height,
        rows["subject_id"].n_unique(),
    )
    assert [model["name"] for model in payload["models"]] == ["TinyLlama + SFT", *BASELINES]
    assert Path(payload["report"]["folder"]) == folder / "report"
    assert "trained on patients of other folds" in (folder / "report" / "report.md").read_text()
    one = evaluate(lab, "--model", folder / "fold-1", "--no-baselines", "--out", lab.runs / "one")
    assert one["split_column"] == "fold_1" and one["rows"] == rows.filter(pl.col("fold") == 1).height
    answer = lab.say("evaluate", "quadrants", "--model", folder / "fold-1", "--split-column", "folds")
    assert answer.code == 2 and "no run with split_column fold_0, fold_2" in answer.err


def test_a_note_and_a_statement_of_ones_own_are_judged(lab: Lab, tmp_path: Path) -> None:
    folder = medieval_folder(tmp_path / "as-built")
    (folder / "manifest.json").write_text('{"licence_tier": "open", "seed": 3}')
    note = MedievalDataset.open(folder).contexts["context"][2]
    for file in (folder / "data").glob("*.parquet"):
        # Contexts as the builder puts them together of this note.
        pl.read_parquet(file).with_columns(context=pl.lit(context_of(note, CONTEXT_SECTIONS)[0])).write_parquet(file)
    rows = MedievalDataset.open(folder).split_rows("test").head(4)
    (tmp_path / "note.txt").write_text(note)
    asked = [word for statement in rows["statement"] for word in ("--statement", statement)]
    for run in ("seeds/seed-1", "sweep/lambda-0.5"):
        evaluate(lab, "--model", lab.runs / run, "--no-baselines", "--dataset", folder, "--out", tmp_path / "report")
        made = pl.read_parquet(lab.runs / run / "predictions-test.parquet")
        answer = lab.say("predict", "--model", lab.runs / run, "--note", tmp_path / "note.txt", *asked, "--json")
        payload = answer.payload("predict")
        assert payload["context_tokens"] > payload["context_tokens_cut"] == 0
        found = payload["statements"]
        assert [one["statement"] for one in found] == rows["statement"].to_list()
        expected = rows.join(made, on="id", how="left", maintain_order="left")
        assert [one["quadrant"] for one in found] == expected["label"].to_list()
        assert [[*one["probabilities"].values()] for one in found] == [
            pytest.approx(scores, abs=1e-4) for scores in expected["scores"].to_list()
        ]
    answer = lab.say("predict", "--model", lab.runs / "seeds/seed-1", "--note", tmp_path / "note.txt", *asked)
    assert answer.code == 0 and "in percent; context: " in answer.out and rows["statement"][0] in answer.out
    assert "cut" not in answer.out
    (tmp_path / "long.txt").write_text("Brief Hospital Course:\n" + "She did well. " * 3_000)
    asked = [*asked[:2], "--statement", "No drug treats it. " * 30]
    answer = lab.say("predict", "--model", lab.runs / "seeds/seed-1", "--note", tmp_path / "long.txt", *asked)
    assert answer.code == 0 and "the context is cut to fit the model" in answer.out
    assert "judge statement 2: it has 569" in answer.out and "statement 1" not in answer.out
    none = lab.say("predict", "--model", lab.model, "--note", tmp_path / "note.txt", *asked)
    assert none.code == 3 and "holds no run" in none.err


def test_so_few_patients_are_said_on_the_screen(lab: Lab, tmp_path: Path) -> None:
    answer = lab.say("evaluate", "quadrants", "--out", tmp_path / "report")
    assert answer.code == 0 and "F1 without an interval (fewer than 5 patients)" in answer.out
    assert "with its interval" not in answer.out
    assert "95% intervals" not in (tmp_path / "report" / "report.md").read_text()


def test_a_head_is_fitted_on_a_policy_whose_weights_stay(lab: Lab) -> None:
    policy = lab.runs / "sweep" / "lambda-0.5"
    refused = lab.say("evaluate", "quadrants", "--model", policy, "--method", "head")
    assert refused.code == 2 and f"train classifier --model {policy} --freeze-backbone" in refused.err
    fitted = lab.say("train", "classifier", "--model", policy, "--freeze-backbone", "--set", "epochs=0.4", "--json")
    folder = checked(fitted.out, "train-classifier")["folder"]
    payload = evaluate(lab, "--model", folder, "--model", policy, "--no-baselines")
    assert [model["name"] for model in payload["models"]] == [
        "TinyLlama + CoRFu (Q1 vs. Q2)",
        "TinyLlama + head on lambda-0.5",
    ]
    assert Path(payload["report"]["folder"]).match(f"{lab.runs}/evaluation-medieval-test-2-files-????????")


def test_a_model_without_a_run_is_scored_too(lab: Lab) -> None:
    payload = evaluate(lab, "--model", lab.model, "--method", "score", "--no-baselines")
    assert payload["models"][0]["name"] == "TinyLlama + score"
    assert (lab.runs / "score-TinyLlama" / "predictions-test.parquet").is_file()


def test_files_of_others_are_evaluated_and_fit_the_terminal(lab: Lab, tmp_path: Path) -> None:
    rows = MedievalDataset.open(lab.dataset).split_rows("test")
    label = pl.when(pl.int_range(pl.len()) > 2).then("quadrant")
    rows.select("id", label=label, model=pl.lit("a-model-of-others-with-a-long-name + SFT")).write_csv(
        tmp_path / "mine.csv"
    )
    answer = lab.say("evaluate", "quadrants", "--predictions", tmp_path / "mine.csv", "--out", tmp_path / "report")
    assert answer.code == 0, answer.err
    lines = answer.out.split("report  ")[0].splitlines()
    assert max(map(len, lines)) <= 80
    assert "overlap+statement" in answer.out and "HSR" in answer.out
    unreadable = [line.split()[-1:] for line in answer.out.split("unreadable")[1].splitlines()]
    assert unreadable.count(["3"]) == 1


def test_a_language_model_is_asked_and_evaluated(lab: Lab) -> None:
    with scripted_server(lambda _n, _body: completion("Q1")) as server:
        payload = evaluate(lab, "--endpoint", server.url, "--endpoint-model", "scripted", "--no-baselines")
        assert len(server.bodies) == 36
        evaluate(lab, "--endpoint", server.url, "--endpoint-model", "scripted", "--no-baselines")
        assert len(server.bodies) == 36, "the second run is answered from the cache"
    assert payload["predictions"][0]["method"] == "zero-shot"
    metrics = payload["models"][0]["metrics"]
    assert (metrics["accuracy"]["value"], metrics["hsr"]["value"]) == (0.25, 1.0)


def test_credentialed_rows_do_not_leave_this_machine(tmp_path: Path) -> None:
    lab = Lab(tmp_path, tmp_path)
    medieval_folder(lab.dataset, licence_tier="credentialed")
    answer = lab.say(
        "evaluate", "quadrants", "--endpoint", "https://models.example/v1", "--endpoint-model", "m", "--json"
    )
    assert answer.code == 4
    assert checked(answer.out, "error")["error"]["error"] == "RefusedError"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--model", "missing"], 3, "holds no run"),
        (["--predictions", "missing.csv"], 3, "not there"),
        (["--no-baselines"], 2, "nothing to evaluate"),
        (["--endpoint", "http://127.0.0.1:1/v1"], 2, "--endpoint-model"),
        (["--endpoint-model", "m", "--set", "language_model.concurency=2"], 2, "did you mean concurrency"),
        (["--dataset", "missing"], 3, "holds no medieval dataset"),
        (["--split", "train"], 2, "train"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_ends_with_its_exit_code(
    lab: Lab, arguments: list[str], code: int, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = lab.say("evaluate", "quadrants", *arguments, "--out", "report")
    assert (answer.code, answer.out) == (code, "")
    assert says in answer.err and "Traceback" not in answer.err
    assert not Path("report").exists()


def test_runs_of_the_other_split_are_refused(lab: Lab) -> None:
    answer = lab.say("evaluate", "quadrants", "--model", lab.runs / "seeds", "--split-column", "fact_split")
    assert answer.code == 2 and "split_column=fact_split" in answer.err


def test_a_run_is_evaluated_on_the_hardware_that_is_asked_for(lab: Lab, tmp_path: Path) -> None:
    run = lab.runs / "seeds" / "seed-1"
    common = ("--model", run, "--no-baselines", "--out", tmp_path / "report")
    plain = evaluate(lab, *common)
    changed = evaluate(lab, *common, "--set", "hardware.precision=float64")
    assert changed["predictions"][0]["state"] == "made"
    assert changed["models"][0]["metrics"] == plain["models"][0]["metrics"]
    answer = lab.say("evaluate", "quadrants", *common, "--set", "optimizer.learning_rate=1")
    assert answer.code == 2 and "unknown setting optimizer" in answer.err
