"""The report: every number with its interval, the same from the same input, tables and pictures that are there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scipy.stats import pearsonr, spearmanr

from evaluation.correlation import read_scores
from evaluation.datasets import TextDataset
from evaluation.report import evaluate_text
from evaluation.rows import read_reference
from ground.errors import InputError, UsageError
from ground.flow.manifest import to_json
from tests.evaluation import text_world as world

LEVELS = (1, 2, 3, 4)
pytestmark = pytest.mark.usefixtures("no_ink")


@pytest.fixture(scope="module")
def medhal(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path, Any]:
    root = tmp_path_factory.mktemp("medhal")
    dataset, rows = world.detectors(root / "medhal")
    files = [
        world.answers(root / "good.parquet", rows, "label", (True, False), 0.8, "good"),
        world.answers(root / "bad.parquet", rows, "label", (True, False), 0.0, "bad", seed=2),
    ]
    report = evaluate_text("medhal", dataset, files, root / "report", with_ensemble=True)
    return report, root, (dataset, files)


@pytest.fixture(scope="module")
def medval(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    root = tmp_path_factory.mktemp("medval")
    dataset, rows = world.validators(root / "medval")
    files = [world.answers(root / f"{seed}.parquet", rows, "risk_level", LEVELS, 0.7, "good", seed) for seed in (1, 2)]
    files.append(world.answers(root / "bad.parquet", rows, "risk_level", LEVELS, 0.0, "bad", seed=3))
    # As AlignScore would be: no whole numbers, high where an output is good, of no level for one row.
    score = [None if at == 3 else 0.9 - 0.2 * row["risk_level"] + at % 2 / 3 for at, row in enumerate(rows)]
    pl.DataFrame({"id": [row["id"] for row in rows], "score": score}).write_csv(root / "align.csv")
    more: Any = {"ratings": world.experts(rows), "scores": {"align": root / "align.csv"}, "with_overlap": True}
    return evaluate_text("medval", dataset, files, root / "report", with_ensemble=True, **more), root


def test_a_detectors_report_has_all_its_parts(medhal: Any) -> None:
    report, root, _ = medhal
    assert [run["name"] for run in report["runs"]] == ["bad", "good", "ensemble"]
    bad, good, _ = report["runs"]
    assert good["overall"]["non_factual_f1"]["low"] > bad["overall"]["non_factual_f1"]["high"]
    assert good["overall"]["answered"] == good["outcomes"]["parsed"] == 120 - good["outcomes"]["no_label"]
    assert good["share_unparseable"]["value"] == pytest.approx(good["outcomes"]["no_label"] / 120, abs=1e-6)
    assert good["answered"]["rows"] == good["overall"]["answered"]
    assert set(good["by_task"]) == {"nli", "question_answering", "summarization"}
    assert next(iter(good["by_length"])) == "no context"
    assert sum(one["errors"] for one in bad["errors_by_task"].values()) == 120 - sum(
        bad["confusion"][code][code] for code in range(2)
    )
    assert sum(one["share_of_errors"]["value"] for one in bad["errors_by_task"].values()) == pytest.approx(1, abs=1e-5)
    # NLI rows carry no explanation to compare with.
    assert 0 < good["explanation"]["n"] < good["explanation"]["both_non_factual"]
    assert good["explanation"]["rouge1"]["value"] == 1.0
    text = (root / "report" / "report.md").read_text()
    for heading in ("Factuality", "Explanations", "Answers", "By task", "Where the errors lie", "By length", "Compari"):
        assert f"## {heading}" in text
    for name in ("f1_by_task", "overall", "confusion", "errors_by_task", "f1_by_length"):
        assert f"(figures/{name}.png)" in text
        assert (root / "report" / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_lengths_of_errors_stand_beside_those_of_all_rows_and_spread_beside_intervals(medhal: Any) -> None:
    report, root, _ = medhal
    bad = report["runs"][0]
    assert sum(report["rows"]["bins"]["rows"]) == 120 and report["rows"]["bins"]["rows"][0] == 60
    assert sum(bad["errors_by_bin"]) == sum(one["errors"] for one in bad["errors_by_task"].values())
    headline = bad["overall"]["non_factual_f1"]
    assert bad["spread"]["all"] == pytest.approx((headline["high"] - headline["low"]) / 3.92, rel=0.15)
    assert (root / "report" / "figures" / "lengths_of_errors.png").is_file() and not report["scores"]


def test_scores_of_other_metrics_are_correlated_with_the_levels(medval: Any) -> None:
    report, root = medval
    by_name = {one["name"]: one for one in report["scores"]}
    assert list(by_name)[-4:] == ["align", "BLEU with the input", "ROUGE-1 with the input", "ROUGE-2 with the input"]
    align = by_name["align"]
    scores = pl.read_csv(root / "align.csv").drop_nulls()
    rows = pl.read_parquet(root / "medval" / "data").select("id", "risk_level").join(scores, on="id")
    wanted = pearsonr(rows["risk_level"], rows["score"]).statistic
    assert align["n"] == 119 and align["pearson"]["value"] == pytest.approx(wanted, abs=1e-6)
    assert align["spearman"]["value"] == pytest.approx(spearmanr(rows["risk_level"], rows["score"]).statistic, abs=1e-6)
    assert align["pearson"]["low"] < wanted < align["pearson"]["high"] < 0
    assert by_name["good, seed 1"]["pearson"]["low"] > 0.4 and by_name["good, seed 1"]["n"] < 120
    # Outputs that all are the same vary in nothing.
    assert by_name["BLEU with the input"]["pearson"]["value"] is None
    text = (root / "report" / "report.md").read_text()
    assert "## Scores against the labels" in text and "(figures/scores.png)" in text


def test_errors_are_counted_by_category_and_level(medval: Any) -> None:
    report, root = medval
    assert report["error_categories"] == {"labels": {"missing_claim": [15, 15, 15, 15]}}
    assert "| the rows | missing claim | 15 | 15 | 15 | 15 |" in (root / "report" / "report.md").read_text()


@pytest.mark.parametrize(
    ("line", "message"),
    [("x,1", "of no row"), ("{id},high", "is no number"), ("{id},1\n{id},2", "scored twice"), ("{id},", "no score")],
)
def test_a_file_of_scores_that_does_not_fit_is_refused(medval: Any, tmp_path: Path, line: str, message: str) -> None:
    _, root = medval
    dataset = TextDataset.open(root / "medval", "medval")
    file = tmp_path / "scores.csv"
    file.write_text("id,score\n" + line.format(id=next(dataset.rows("test"))["id"]) + "\n")
    with pytest.raises(InputError, match=message):
        read_scores(file, read_reference(dataset, "test"))


def test_bonferroni_multiplies_by_the_tests_of_the_report(medhal: Any) -> None:
    report, _, _ = medhal
    tests = [test for one in report["comparisons"] for test in one["tests"]]
    assert len(tests) == 9
    for test in tests:
        assert test["p_bonferroni"] == pytest.approx(min(1, 9 * test["p"]), rel=1e-3)
        assert test["significant"] == (test["p_bonferroni"] <= 0.05)
    overall = report["comparisons"][0]["tests"][0]
    assert overall["of"] == "overall" and overall["significant"]
    both = report["comparisons"][0]["tests"][1:]
    assert sum(test["rows"] for test in both) == overall["rows"] == 120
    assert sum(test["only_b"] for test in both) == overall["only_b"]


def test_the_same_input_gives_the_same_report_in_whatever_order_it_is_named(medhal: Any) -> None:
    report, root, (dataset, files) = medhal
    again = evaluate_text("medhal", dataset, files[::-1], with_ensemble=True)
    assert again == report
    assert (root / "report" / "report.json").read_text(encoding="utf-8") == to_json(again)


def test_a_validators_report_has_all_its_parts(medval: Any) -> None:
    report, root = medval
    assert [run["name"] for run in report["runs"]] == ["bad", "good, seed 1", "good, seed 2", "ensemble"]
    assert report["seeds"][0]["seeds"] == 2 and report["seeds"][0]["model"] == "good"
    good = report["runs"][1]
    by_task = [one["macro_f1"]["value"] for one in good["by_task"].values()]
    assert good["over_tasks"]["all"]["value"] == pytest.approx(sum(by_task) / 3, abs=1e-5)
    assert good["over_tasks"]["in_distribution"]["tasks"] == 1
    assert good["over_tasks"]["held_out"]["tasks"] == 2
    assert len(good["confusion"]) == 4 and sum(map(sum, good["confusion"])) == 120
    assert report["rows"]["clusters_are"] == "triples"
    text = (root / "report" / "report.md").read_text()
    for heading in ("Risk levels", "Safe or unsafe", "Experts", "Comparisons", "Confusion"):
        assert f"## {heading}" in text
    assert "| A | B | Macro-F1 | F1 (unsafe) | Sensitivity | Specificity | Accuracy |" in text
    assert "The ensemble is the majority of all other runs, of equal votes the higher risk" in text
    assert f"manifest: `{report['dataset']['manifest_sha256']}`" in text


def test_experts_are_compared_with_each_other_and_with_the_runs(medval: Any) -> None:
    report, root = medval
    experts = report["experts"]
    assert experts["items"] == 40 and [one["rater"] for one in experts["raters"]] == ["anna", "ben", "chris"]
    four, two = (experts["agreement"][name]["overall"] for name in ("four_levels", "safe_unsafe"))
    assert 0.6 < four["value"] < 1 and 0 < two["value"] <= 1
    assert experts["labels_against_majority"]["metrics"]["macro_f1"]["value"] > 0.8
    verdicts = {one["name"]: one["non_inferior"] for one in experts["non_inferiority"]}
    assert verdicts["bad"] is False
    assert experts["categories"][0]["category"] == "missing_claim"
    assert pl.read_parquet(root / "report" / "ratings.parquet").height == 120
    assert {"agreement.png", "non_inferiority.png"} <= {path.name for path in (root / "report/figures").iterdir()}


def test_experts_alone_are_a_report(tmp_path: Path) -> None:
    dataset, rows = world.validators(tmp_path / "medval")
    report = evaluate_text("medval", dataset, [], tmp_path / "report", ratings=world.experts(rows))
    assert report["runs"] == [] and report["experts"]["items"] == 40
    assert "## Experts" in (tmp_path / "report" / "report.md").read_text(encoding="utf-8")


def test_a_name_from_a_file_is_text_on_the_page_and_all_runs_are_told_where_pictures_show_some(tmp_path: Path) -> None:
    dataset, rows = world.detectors(tmp_path / "medhal")
    names = ["<img src=x>", *(f"run {number}" for number in range(9))]
    files = [
        world.answers(tmp_path / f"{at}.parquet", rows, "label", (True, False), 0.8, name)
        for at, name in enumerate(names)
    ]
    evaluate_text("medhal", dataset, files, tmp_path / "report")
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "<img" not in text and "| &lt;img src=x> |" in text
    assert "Pictures show the first 9 runs" in text and all(f"| {name} |" in text for name in names[1:])


def test_rows_that_some_run_left_out_are_left_out_for_all(tmp_path: Path) -> None:
    dataset, rows = world.validators(tmp_path / "medval")
    some = world.answers(tmp_path / "some.parquet", rows[:80], "risk_level", LEVELS, 0.7, "some")
    every = world.answers(tmp_path / "every.parquet", rows, "risk_level", LEVELS, 0.7, "every")
    with pytest.raises(InputError, match="predictions of some are missing"):
        evaluate_text("medval", dataset, [some, every])
    report = evaluate_text("medval", dataset, [some, every], missing="leave_out")
    assert report["rows"]["rows"] == 80 and report["dataset"]["rows_left_out"] == 40
    assert [run["rows"] for run in report["runs"]] == [80, 80]
    others = world.answers(tmp_path / "others.parquet", rows[80:], "risk_level", LEVELS, 0.7, "others")
    with pytest.raises(InputError, match="no row has a prediction of every run"):
        evaluate_text("medval", dataset, [some, others], missing="leave_out")


def test_what_cannot_be_evaluated_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    dataset, rows = world.validators(tmp_path / "medval")
    file = world.answers(tmp_path / "a.parquet", rows, "risk_level", LEVELS, 0.7, "a")
    twin = world.answers(tmp_path / "b.parquet", rows, "risk_level", LEVELS, 0.7, "a")
    with pytest.raises(UsageError, match="nothing to evaluate"):
        evaluate_text("medval", dataset, [], tmp_path / "report")
    with pytest.raises(InputError, match="the same model and seed"):
        evaluate_text("medval", dataset, [file, twin], tmp_path / "report")
    named = world.answers(tmp_path / "c.parquet", rows, "risk_level", LEVELS, 0.7, "ensemble")
    with pytest.raises(InputError, match="the name of a baseline, or of the ensemble"):
        evaluate_text("medval", dataset, [file, named], tmp_path / "report", with_ensemble=True)
    with pytest.raises(InputError, match="the validation split is empty"):
        evaluate_text("medval", dataset, [file], tmp_path / "report", split="validation")
    strange = world.experts(rows).with_columns(id=pl.lit("elsewhere"))
    with pytest.raises(InputError, match="not in the split"):
        evaluate_text("medval", dataset, [file], tmp_path / "report", ratings=strange)
    assert not (tmp_path / "report").exists()
    with pytest.raises(UsageError, match="holds something else"):
        evaluate_text("medval", dataset, [file], tmp_path)
