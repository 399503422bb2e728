"""Answers against labels of a benchmark, and leaderboards under two of them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from ground.contracts.grading import Reference, grade_value
from ground.contracts.labels import parse_label
from ground.errors import InputError, UsageError
from stewardship.benchmark.folder import Benchmark
from stewardship.benchmark.tables import read_label_table
from stewardship.grading.grades import Answers, Grader, LabelSet, grade_rows, label_set, read_answers, shares
from stewardship.grading.leaderboard import board, paired_difference

HEAD = "uid,kind,group,type,answer,low,high,new,doctor\n"
ROWS = """1,BMI,physical,decimal,100,95,105,50,
2,BMI,physical,decimal,100,95,105,100,
3,GCS,severity,integer,17,17,17,13,13
4,GCS,severity,integer,20,20,20,N/A,Multiple
5,Age,date,integer,"('14 weeks', '1 days')",99,99,99,
6,Due,date,date,03/21/2006,03/21/2006,03/21/2006,,
"""
COLUMNS = {
    **{"uid": "uid", "stratum": "kind", "category": "group", "output_type": "type", "original": "answer"},
    **{"lower": "low", "upper": "high", "recomputed": "new", "physician": "doctor"},
}
RIGHT = {"1": "100", "2": "101", "3": "17", "4": "20", "5": "(14, 1)", "6": "03/21/2006"}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    folder = tmp_path_factory.mktemp("bench")
    (folder / "labels.csv").write_text(HEAD + ROWS)
    return Benchmark.adopt(
        folder, "bench", [read_label_table(folder / "labels.csv", columns=COLUMNS)], open_because="invented"
    )


def answers(texts: dict[str, str | None], model: str = "model") -> Answers:
    return Answers(model, texts, "bare", Path("answers.csv"))


def right(bench: Benchmark, labels: LabelSet, texts: dict[str, str | None], grader: Grader = "v1") -> str:
    graded = grade_rows(bench, labels, answers(texts), grader, missing="wrong")
    return "".join(uid for uid, correct in graded.select("uid", "correct").iter_rows() if correct)


def test_labels_come_with_their_own_limits_or_with_computed_ones(bench: Benchmark) -> None:
    original, new = label_set(bench, "original"), label_set(bench, "recomputed")
    assert (original.limits, new.limits, len(original.references), len(new.references)) == ("own", "corrected", 6, 5)
    assert original.references["4"].upper.number == 20
    assert label_set(bench, "original", "corrected").references["4"].upper.number == 21
    assert label_set(bench, "recomputed", "v1").references["3"].upper.number == 13
    assert new.references["5"].value.weeks_days and new.references["4"].value.text() == "N/A"
    assert set(label_set(bench, "physician").references) == {"3", "4"}
    with pytest.raises(InputError, match="no such labels yet"):
        label_set(bench, "final")
    with pytest.raises(UsageError, match="neither a role"):
        label_set(bench, "1.0.0")


def test_rows_are_graded_by_the_grader_that_is_asked_for(bench: Benchmark) -> None:
    original, new = label_set(bench, "original"), label_set(bench, "recomputed")
    assert right(bench, original, {**RIGHT}) == "123456" == right(bench, original, {**RIGHT}, "abstention")
    abstains: dict[str, str | None] = {**RIGHT, "4": "n/a"}
    assert right(bench, new, abstains) == "25" and right(bench, new, abstains, "abstention") == "245"
    rewards = grade_rows(bench, new, answers({**abstains, "3": "?"}), "reward")
    assert rewards["reward"].to_list() == [0.1, 1, 0, 1, 1]
    assert rewards["verdict"].to_list() == ["wrong", "correct", "format_error", "correct", "correct"]
    released = grade_rows(bench, new, answers({**abstains, "3": "12"}), "released")
    assert released["reward"].to_list() == [0.1, 1, 0.1, 0, 1]
    assert {name: (share.correct, share.n) for name, share in shares(rewards, "stratum").items()} == {
        "Age": (1, 1),
        "BMI": (1, 2),
        "GCS": (1, 2),
    }


def test_whole_responses_are_read_behind_their_tags(bench: Benchmark, tmp_path: Path) -> None:
    lines = [{"uid": uid, "answer": f"so <answer>{text}</answer>", "model": "a"} for uid, text in RIGHT.items()]
    lines += [{"uid": uid, "answer": text, "model": "b"} for uid, text in RIGHT.items()]
    (tmp_path / "two.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    tagged, bare = read_answers(tmp_path / "two.jsonl")
    assert [(item.model, item.form) for item in (tagged, bare)] == [("a", "tagged"), ("b", "bare")]
    original = label_set(bench, "original")
    for item in (tagged, bare):
        assert grade_rows(bench, original, item, "abstention")["correct"].all()
    as_responses = read_answers(tmp_path / "two.jsonl", "tagged")[1]
    assert grade_rows(bench, original, as_responses, "abstention")["verdict"].unique().to_list() == ["format_error"]


def test_answers_that_do_not_fit_the_rows_are_refused(bench: Benchmark, tmp_path: Path) -> None:
    original = label_set(bench, "original")
    with pytest.raises(InputError, match="does not have"):
        grade_rows(bench, original, answers({**RIGHT, "99": "1"}), "v1")
    more = answers({**RIGHT, "99": "1"})
    assert grade_rows(bench, original, more, "v1", others="ignore")["correct"].all()
    with pytest.raises(InputError, match="does not have"):
        grade_rows(bench, original, answers({"99": "1"}), "v1", others="ignore", missing="wrong")
    with pytest.raises(InputError, match="does not answer every row"):
        grade_rows(bench, original, answers({"1": "100"}), "v1")
    assert grade_rows(bench, original, answers({"1": "100"}), "v1", missing="leave_out").height == 1
    for content, what in (
        ("uid,text\n1,5\n", "columns are missing"),
        ("uid,answer\n1,5\n1,6\n", "twice"),
        ("uid,answer\n,5\n", "no key"),
        ("uid,answer\n", "no row"),
    ):
        (tmp_path / "a.csv").write_text(content)
        with pytest.raises(InputError, match=what):
            read_answers(tmp_path / "a.csv")


def test_a_leaderboard_says_who_gains_and_who_loses_on_the_rows_that_both_label(bench: Benchmark) -> None:
    old, new = label_set(bench, "original"), label_set(bench, "recomputed")
    follows_new: dict[str, str | None] = {"1": "50", "2": "100", "3": "13", "4": "N/A", "5": "99", "6": "x"}
    models = [answers({**RIGHT}, "old"), answers(follows_new, "new"), answers(follows_new, "twin")]
    result = board(bench, old, new, models, "abstention", resamples=500)
    assert (result.rows, result.left_out, result.graded.shape) == (5, (1, 0), (5, 7))
    assert [entry.model for entry in result.entries] == ["new", "twin", "old"]
    first, _, last = result.entries
    assert [place.rank for entry in result.entries for place in entry.places] == [2, 1, 2, 1, 1, 3]
    assert (first.climbed, last.climbed) == (1, -2)
    assert (first.shares[0].correct, first.shares[1].correct, last.shares[0].correct) == (2, 5, 5)
    assert (first.difference.gained, first.difference.lost, last.difference.lost) == (3, 0, 3)
    assert first.difference.value == pytest.approx(0.6) and first.difference.p == pytest.approx(0.25)
    assert result.tau == pytest.approx(-1)
    assert board(bench, old, new, models, "abstention", resamples=500).entries == result.entries
    with pytest.raises(UsageError, match="same name"):
        board(bench, old, new, [models[0], models[0]], "abstention")
    with pytest.raises(UsageError, match="same labels"):
        board(bench, old, old, models, "abstention")


def test_the_interval_of_a_difference_is_that_of_a_paired_bootstrap() -> None:
    draw = np.random.default_rng(0)
    before = draw.random(400) < 0.5
    after = np.where(draw.random(400) < 0.2, ~before, before)
    result = paired_difference(before.tolist(), after.tolist(), resamples=4000, seed=1)
    change = after.astype(float) - before.astype(float)
    half = 1.96 * change.std() / 20
    assert result.value == pytest.approx(change.mean())
    assert (result.low, result.high) == pytest.approx((result.value - half, result.value + half), abs=0.008)
    assert paired_difference(before.tolist(), after.tolist(), resamples=4000, seed=1) == result
    same = paired_difference([True, False], [True, False], resamples=10, seed=1)
    assert (same.value, same.low, same.high, same.p) == (0, 0, 0, 1)


@pytest.mark.real
def test_the_stored_run_under_original_and_recomputed_labels(real_data: Path, tmp_path: Path) -> None:
    source = real_data / "stewardship" / "source"
    display = real_data / "stewardship" / "checks" / "shown"
    names = ("original_test_labels.csv.gz", "y_new_and_sampled_MD_evals.xlsx")
    tables = [read_label_table(source / name) for name in names]
    medcalc = Benchmark.adopt(tmp_path, "medcalc", tables, open_because="invented")
    (stored,) = read_answers(display / "predictions_gpt4omini_1047.csv")
    old, new = label_set(medcalc, "original"), label_set(medcalc, "recomputed")
    graders: tuple[Grader, ...] = ("v1", "abstention")
    for grader in graders:
        graded = grade_rows(medcalc, old, stored, grader)
        assert (graded["correct"].sum(), graded.height) == (216, 1047)
    assert grade_rows(medcalc, new, stored, "abstention")["correct"].sum() == 200
    result = board(medcalc, old, new, [stored], "abstention", resamples=100)
    assert (result.rows, result.left_out) == (887, (160, 0))
    # The corrected table, row by row and by hand, with its own limits.
    with (display / "labels_corrected_887.csv").open(newline="", encoding="utf-8") as lines:
        corrected = list(csv.DictReader(lines))
    right = [
        grade_value(
            stored.texts[row["uid"]],
            Reference(parse_label(row["ground_truth"]), parse_label(row["lower"]), parse_label(row["upper"])),
        ).correct
        for row in corrected
    ]
    assert (sum(right), len(right)) == (197, 887)
