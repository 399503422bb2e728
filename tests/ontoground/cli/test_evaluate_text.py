"""``ontoground evaluate medhal|medval|sheets``: runs, files, language models and experts, by the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ground.contracts.prompts import medhal_answer
from tests.evaluation import text_world as world
from tests.evaluation.test_foreign import bench
from tests.ground.lm.server import completion, scripted_server
from tests.ontoground.cli.schemas import checked
from tests.ontoground.cli.trained import Lab
from tests.training.sft.cases import medhal_dataset, medhal_rows, tiny_model

pytestmark = pytest.mark.usefixtures("no_ink")
LEVELS = (1, 2, 3, 4)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """A workspace with both datasets, and predictions of others beside it."""
    root = tmp_path_factory.mktemp("lab")
    lab = Lab(root / "work", root / "TinyLlama")
    datasets = lab.workspace / "datasets"
    datasets.mkdir(parents=True)
    rows: list[Any] = medhal_rows(12, "train", "nli") + medhal_rows(4, "validation", "nli")
    statements: list[Any] = medhal_rows(12, "test", "nli")
    medhal_dataset(datasets / "medhal", rows + statements)
    _, outputs = world.validators(datasets / "medval")
    for name, right in (("a-model-of-others-with-a-long-name + SFT", 0.8), ("mine + zero-shot", 0.3)):
        file = root / f"{name[:4]}.parquet"
        world.answers(file, outputs, "risk_level", LEVELS, right, name, seed=len(name))
    pl.DataFrame({"id": [row["id"] for row in statements], "label": [row["label"] for row in statements]}).write_csv(
        root / "perfect.csv"
    )
    return lab


def evaluate(lab: Lab, kind: str, *arguments: str | Path) -> Any:
    answer = lab.say("evaluate", kind, *arguments, "--json")
    return answer.payload(f"evaluate-{kind}")


def files(lab: Lab) -> list[str | Path]:
    root = lab.workspace.parent
    return ["--predictions", root / "a-mo.parquet", "--predictions", root / "mine.parquet"]


def test_files_of_detectors_are_evaluated(lab: Lab) -> None:
    payload = evaluate(lab, "medhal", "--predictions", lab.workspace.parent / "perfect.csv")
    (run,) = payload["runs"]
    assert run["name"] == "perfect" and run["overall"]["non_factual_f1"]["value"] == 1.0
    assert run["f1_by_task"] == {"nli": run["overall"]["non_factual_f1"]}
    assert Path(payload["report"]["folder"]).match(f"{lab.runs}/evaluation-medhal-test-*")
    assert Path(payload["report"]["markdown"]).is_file() and len(payload["report"]["figures"]) == 6


def test_another_evaluation_takes_no_report_away(lab: Lab) -> None:
    root = lab.workspace.parent
    first = evaluate(lab, "medhal", "--predictions", root / "perfect.csv")["report"]["folder"]
    kept = (Path(first) / "report.json").read_bytes()
    (root / "other").mkdir()
    (root / "other" / "perfect.csv").write_text((root / "perfect.csv").read_text().replace("true", "false", 1))
    second = evaluate(lab, "medhal", "--predictions", root / "other" / "perfect.csv")["report"]["folder"]
    assert second != first and (Path(first) / "report.json").read_bytes() == kept
    assert evaluate(lab, "medhal", "--predictions", root / "perfect.csv")["report"]["folder"] == first


def test_validators_fit_the_terminal(lab: Lab, tmp_path: Path) -> None:
    answer = lab.say("evaluate", "medval", *files(lab), "--ensemble", "--out", tmp_path / "report")
    assert answer.code == 0, answer.err
    assert max(map(len, answer.out.split("report  ")[0].splitlines())) <= 80
    for word in ("Sens.", "F1 unsafe", "macro-F1 over tasks", "kappa", "ensemble"):
        assert word in answer.out


def test_experts_grade_a_sheet_and_are_compared_with_models(lab: Lab, tmp_path: Path) -> None:
    sheet = tmp_path / "round1.xlsx"
    answer = lab.say("evaluate", "sheets", sheet, "--per-task", "8", "--json")
    written = checked(answer.out, "evaluate-sheets")
    assert written["items"] == 24 and Path(written["key"]).is_file()
    assert "24 items" in lab.say("evaluate", "sheets", tmp_path / "round2" / "s.xlsx", "--per-task", "8").out
    key = pl.read_csv(written["key"])
    levels = key.join(pl.read_parquet(lab.workspace / "datasets/medval/data/test-00000.parquet"), on="id")
    for name, shift in (("anna", 0), ("ben", 1)):
        shifted = [str(min(4, level + shift * (number % 5 == 0))) for number, level in enumerate(levels["risk_level"])]
        pl.read_csv(written["csv"], infer_schema=False).with_columns(risk_level=pl.Series(shifted)).write_csv(
            tmp_path / f"{name}.csv"
        )
    experts: list[str | Path] = ["--experts", tmp_path / "anna.csv", "--experts", tmp_path / "ben.csv"]
    payload = evaluate(lab, "medval", *files(lab), *experts, "--out", tmp_path / "report")
    found = payload["experts"]
    assert found["items_with_several"] == 24 and 0.8 < found["krippendorff_alpha"]["four_levels"]["value"] < 1
    assert [one["non_inferior"] for one in found["non_inferiority"]] == [False, False]
    assert any("without an error named" in note for note in found["notes"])
    assert "Krippendorff" in lab.say("evaluate", "medval", *experts, "--out", tmp_path / "report").out


def test_a_language_model_is_asked_with_an_example(lab: Lab) -> None:
    with scripted_server(lambda _n, _body: completion("Factual: NO")) as server:
        arguments = ["--endpoint", server.url, "--endpoint-model", "scripted", "--shots", "1"]
        payload = evaluate(lab, "medhal", *arguments)
    assert len(server.bodies[0]["messages"]) == 3
    assert payload["predictions"][0]["method"] == "one-shot"
    overall = payload["runs"][0]["overall"]
    assert (overall["non_factual_recall"]["value"], overall["non_factual_precision"]["value"]) == (1.0, 0.5)
    assert Path(payload["report"]["folder"]) == lab.runs / "one-shot-medhal-scripted" / "report"


def test_a_model_is_evaluated_on_other_peoples_texts_by_their_labels(lab: Lab, tmp_path: Path) -> None:
    grades = [str(1 + number % 4) for number in range(12)]
    others = {"physician_risk_grade_b": [grade if number % 3 else "" for number, grade in enumerate(grades)]}
    texts = f"{bench(tmp_path / 'bench.csv', *grades, more=others)}:medval_bench:open"
    said = "Reasoning: It says so.\nErrors:\n1. Fabricated claim: gout\nRisk level: 4"
    with scripted_server(lambda _n, _body: completion(said)) as server:
        asked: list[str | Path] = [
            "--endpoint",
            server.url,
            "--endpoint-model",
            "scripted",
            "--reference",
            lab.workspace / "datasets/medval",
        ]
        payload = evaluate(lab, "medval", *asked, "--texts", texts)
        medec = tmp_path / "medec.csv"
        medec.write_text("Text ID,Text,Error Flag\na,A note.,0\nb,Another.,1\n")
        binary = evaluate(lab, "medval", *asked, "--texts", f"{medec}:medec")
        detected = evaluate(lab, "medhal", *asked[:4], "--shots", "1", "--texts", f"{medec}:medec")
    (run,) = payload["runs"]
    assert set(run["f1_by_task"]) == {"medication2answer", "report2impression", "dialogue2note"}
    assert run["overall"]["f1_level_4"]["value"] == 0.4 and run["overall"]["kappa_linear"]["value"] == 0.0
    assert payload["experts"]["items_with_several"] == 8
    assert payload["experts"]["krippendorff_alpha"]["four_levels"]["value"] == 1.0
    assert payload["experts"]["non_inferiority"][0]["non_inferior"] is False
    # All are called unsafe: one of two notes has an error.
    found = binary["runs"][0]["overall"]
    assert (found["non_factual_recall"]["value"], found["non_factual_precision"]["value"]) == (1.0, 0.5)
    # The example is of the dataset; an answer in a validator's form is none of a detector.
    assert len(server.bodies[-1]["messages"]) == 3 and detected["runs"][0]["outcomes"] == {"no_label": 2}
    graded = lab.say(
        "evaluate", "medval", "--predictions", binary["predictions"][0]["file"], "--texts", f"{medec}:medec"
    )
    assert "F1 fact." in graded.out


def test_an_evaluator_is_asked_in_its_own_format(lab: Lab) -> None:
    said = "One claim. <|supported|><end||r> Another is not in it. <end||explain><|unsupported|>"
    with scripted_server(lambda _n, _body: completion(said)) as server:
        asked = ["--endpoint", server.url, "--endpoint-model", "scripted", "--set"]
        payload = evaluate(lab, "medhal", *asked, "asked.format=halloumi")
    # The gravest of two labels.
    assert payload["runs"][0]["overall"]["non_factual_recall"]["value"] == 1.0
    assert payload["predictions"][0]["method"] == "format halloumi"
    assert "<end||context>" in server.bodies[0]["messages"][0]["content"]


def test_a_model_answers_itself_and_its_answers_are_reused(lab: Lab) -> None:
    model = tiny_model(lab.model)
    arguments: list[str | Path] = ["--model", model, "--set", "max_new_tokens=3", "--set", "hardware.device=cpu"]
    first, second = (evaluate(lab, "medhal", *arguments) for _ in range(2))
    assert [one["predictions"][0]["state"] for one in (first, second)] == ["made", "reused"]
    assert first["runs"] == second["runs"]
    assert first["runs"][0]["share_unparseable"]["value"] == 1.0


def test_credentialed_rows_do_not_leave_this_machine(lab: Lab, tmp_path: Path) -> None:
    folder = medhal_dataset(tmp_path / "medhal", medhal_rows(4, "test"))
    (folder / "manifest.json").write_text('{"licence_tier": "credentialed"}')
    answer = lab.say(
        *("evaluate", "medhal", "--reference", folder, "--json"),
        *("--endpoint", "https://models.example/v1", "--endpoint-model", "m"),
    )
    assert answer.code == 4
    assert checked(answer.out, "error")["error"]["error"] == "RefusedError"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["medhal"], 2, "nothing to evaluate"),
        (["medval", "--predictions", "missing.csv"], 3, "a prediction file is not there"),
        (["medhal", "--reference", "missing"], 3, "holds no medhal dataset"),
        (["medhal", "--endpoint", "http://127.0.0.1:1/v1"], 2, "--endpoint-model"),
        (["medhal", "--endpoint-model", "m", "--set", "asked.row=2"], 2, "did you mean rows"),
        (["medhal", "--shots", "2"], 2, "shots"),
        (["medhal", "--endpoint-model", "m", "--set", "asked.format=nobody"], 2, "no such format"),
        (["medhal", "--endpoint-model", "m", "--set", "asked.format=medval4b"], 2, "none of medhal"),
        (["medval", "--sheet-key", "k.csv"], 2, "--experts"),
        (["medval", "--experts", "anna.csv"], 2, "key of the sheets is not known"),
        (["sheets", "sheet.csv"], 2, "not an Excel file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_ends_with_its_exit_code(
    lab: Lab, arguments: list[str], code: int, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out = [] if arguments[0] == "sheets" else ["--out", "report"]
    answer = lab.say("evaluate", *arguments, *out)
    assert (answer.code, answer.out) == (code, "")
    assert says in answer.err and "Traceback" not in answer.err
    assert not Path("report").exists()


def test_answers_of_a_server_are_read_as_strictly_as_those_of_training(lab: Lab, tmp_path: Path) -> None:
    truth = iter([*map(medhal_answer, medhal_rows(2, "test", "nli")), *[None] * 10])

    def reply(_n: int, _body: Any) -> Any:
        answer = next(truth)
        return completion(answer.text if answer else "It depends.")

    with scripted_server(reply) as server:
        payload = evaluate(
            lab,
            "medhal",
            *("--endpoint", server.url, "--endpoint-model", "strict", "--set", "language_model.concurrency=1"),
            *("--set", 'asked.tasks=["nli"]', "--out", tmp_path / "report"),
        )
    assert payload["runs"][0]["outcomes"]["no_label"] >= 10
    record = json.loads((lab.runs / "zero-shot-medhal-strict" / "asked-test.json").read_text())
    assert record["settings"]["tasks"] == ["nli"]
