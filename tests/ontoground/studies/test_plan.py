"""Study files: the cells that they stand for, and what is refused before anything runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluation.paper import PAPER_COLUMNS
from ground.errors import UsageError
from ontoground.studies.plan import PAPERS, Cell, EvaluateBlock, TrainBlock, cells_of, file_of, read_study
from ontoground.studies.rehearsal import forecast
from ontoground.studies.report import _arms, _changes, _quadrants

STUDY = """
title = "Two methods"
dataset = "data"
seeds = [1, 2]
[models]
a = "models/a"
b = "models/b"
[train.corfu]
verb = "corfu"
models = ["a"]
options = {regime = ["q1_q2", "mixed"], lambda = 0.5}
[train.head]
verb = "classifier"
after = "corfu"
options = {freeze_backbone = true}
settings = {"lora.r" = [4, 8]}
[evaluate.table]
verb = "quadrants"
runs = ["head"]
[evaluate.zero]
verb = "quadrants"
models = ["a", "b"]
options = {baselines = false}
"""


def cells(text: str, tmp_path: Path) -> list[Cell]:
    file = tmp_path / "study.toml"
    file.write_text(text)
    return cells_of(read_study(file), Path("work"), tmp_path / "root")


def test_lists_models_and_seeds_are_multiplied_out_and_what_is_needed_comes_first(tmp_path: Path) -> None:
    made = cells(STUDY, tmp_path)
    by_block = {block: [cell for cell in made if cell.block == block] for block in ("corfu", "head", "table", "zero")}
    assert {block: len(own) for block, own in by_block.items()} == {"corfu": 4, "head": 8, "table": 8, "zero": 2}
    corfu = by_block["corfu"][1]
    given = "train corfu --workspace work --dataset data --model models/a --regime q1_q2 --lambda 0.5 --set seed=2"
    assert (corfu.name, " ".join(corfu.arguments)) == ("a, regime q1_q2, seed 2", given)
    head = by_block["head"][3]
    # A head is trained on the run of a policy, with its seed.
    assert head.needs == (corfu,) and head.name == "corfu a, regime q1_q2, seed 2, lora.r 8"
    own = f"--model {corfu.run} --freeze-backbone --set lora.r=8 --set seed=2"
    assert " ".join(head.arguments[-7:]) == own
    assert by_block["table"][3].needs == (head,) and by_block["table"][3].arguments[-1] == str(head.run)
    assert [cell.arguments[-2:] for cell in by_block["zero"]] == [("--model", "models/a"), ("--model", "models/b")]
    assert "--no-baselines" in by_block["zero"][0].arguments
    assert all(made.index(need) < made.index(cell) for cell in made for need in cell.needs)
    assert len({cell.folder for cell in made}) == len(made)


def test_a_changed_setting_is_another_cell_and_leaves_the_others(tmp_path: Path) -> None:
    before, after = cells(STUDY, tmp_path), cells(STUDY.replace("[4, 8]", "[4, 16]"), tmp_path)
    kept = {cell.folder for cell in before} & {cell.folder for cell in after}
    assert {cell.block for cell in before if cell.folder in kept} == {"corfu", "head", "table", "zero"}
    file = tmp_path / "study.toml"
    file.write_text(STUDY)
    # Wherever the workspace lies.
    moved = cells_of(read_study(file), Path("/elsewhere"), tmp_path / "other" / "root")
    assert [cell.folder.name for cell in moved] == [cell.folder.name for cell in before]
    assert len(kept) == len(before) - 8


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("dataset =", "datasets =", "did you mean dataset?"),
        ('"a"]\noptions', '"c"]\noptions', "train.corfu.models names what is not there"),
        ('after = "corfu"', 'after = "head"', "comes after itself"),
        ('after = "corfu"', 'after = "corf"', "train.head.after names what is not there"),
        ('runs = ["head"]', 'runs = ["tail"]', "evaluate.table.runs names what is not there"),
        ("baselines = false", "baselines = [true, false]", "evaluate.zero has a list"),
        ("[evaluate.zero]", '[ask.q]\nruns = ["corfu"]\n[evaluate.zero]', "ask.q.runs names what is not there"),
        ("[evaluate.zero]", "[evaluate.table.paper]\nb = {f1 = 0.5}\n[evaluate.zero]", "evaluate.table.paper names"),
        ('verb = "quadrants"\nruns', 'verb = "quadrant"\nruns', "evaluate.table.verb has a wrong value"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(old: str, new: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refusal:
        cells(STUDY.replace(old, new, 1), tmp_path)
    assert words in str(refusal.value)


@pytest.mark.parametrize("file", sorted(PAPERS.glob("*.toml")), ids=lambda file: file.stem)
def test_the_studies_that_ship_can_be_read(file: Path, tmp_path: Path) -> None:
    assert file_of(file.stem) == file
    made = cells_of(read_study(file), Path("work"), tmp_path)
    assert made
    if file.stem == "medieval":
        # The paper's Table 1 and figure 6 at its own size, by the rates of one card.
        ahead = [forecast(cell, made, tmp_path) for cell in made]
        assert 100 < sum(one.seconds or 0 for one in ahead) / 3600 < 150 and max(one.gib or 0 for one in ahead) == 72
    if file.stem == "stewardship":
        asked = next(cell for cell in made if cell.name.startswith("arms") and cell.group == "ask")
        assert asked.option("--endpoint-model") == str(asked.needs[0].run / "arm-original")
        assert made[0].arguments.count("--evaluate") == 2 and "evaluate" not in made[0].name
    if file.stem == "medhal":
        judge = next(cell for cell in made if cell.name == "prometheus-2").arguments
        assert "asked.format=prometheus2" in judge and "--model" not in judge


def test_a_study_says_what_training_changed_and_how_arms_end(tmp_path: Path) -> None:
    head = 'title = "t"\n[models]\na = "m/a"\n[train.t]\nverb = "medhal"\n[train.g]\nverb = "grpo"\n'
    made = cells(head + '[evaluate.e]\nverb = "medhal"\nruns = ["t"]\nmodels = ["a"]\n', tmp_path)
    _, arms, tuned, plain = made
    f1 = {tuned.needs[0].run.name: 0.88, "a": 0.62}
    runs = [{"name": name, "by_task": {}, "overall": {"non_factual_f1": {"value": x}}} for name, x in f1.items()]
    paper = {"t a": {"non_factual_f1": 0.9}, "a": {"non_factual_f1": 0.6}}
    block = EvaluateBlock(verb="medhal", paper=paper)
    changed = "".join(_changes([tuned, plain], {"rows": {"headline": ""}, "runs": runs}, block))
    assert "| t a, seed 42 | 62.0 | 88.0 | +26.0 | +30 |" in changed
    arms.run.mkdir(parents=True)
    share = {"value": 0.5, "low": 0.4, "high": 0.6}
    curve = {"steps": [5], "accuracy": [0.5], "last": share}
    found = {"sets": {"physician": {"accuracy": {"new": share}}}, "curves": {"physician": {"new": curve}}}
    (arms.run / "comparison.json").write_text(json.dumps(found))
    (arms.folder / "cell.json").write_text('{"exit_code": 0, "seconds": 1}')
    row = "| a, seed 42 | physician | new | 50.0 (40.0 to 60.0) | 50.0 (40.0 to 60.0) | 51.9 |"
    trained = TrainBlock(verb="grpo", paper={"a": {"physician new": 0.519}})
    assert row in "".join(_arms([arms], trained, tmp_path))


def test_each_row_of_a_sweep_has_its_lambda() -> None:
    metrics = {key: {"value": 0.5} for key in PAPER_COLUMNS}
    names = ("a + CoRFu (Q1 vs. Q2)", "a + CoRFu (Q1 vs. Q2), lambda 1", "a + SFT")
    points = [{"model": name, "lambda": value} for name, value in zip(names[:2], (0.5, 1.0), strict=True)]
    report = {"models": [{"name": name, "metrics": metrics} for name in names], "lambda": points}
    rows = "".join(_quadrants(EvaluateBlock(verb="quadrants"), [], report)).splitlines()[2:]
    wanted = ["a + CoRFu (Q1 vs. Q2), lambda 0.5", "a + CoRFu (Q1 vs. Q2), lambda 1", "a + SFT"]
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == wanted
