"""MedVAL's ablation: four cells that differ in the data alone, and the table that shows them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.datasets import TextDataset
from ground.errors import InputError, UsageError
from tests.training.sft.cases import medval_dataset, medval_rows, tiny_model
from training.runs.settings import AblationSettings, GenerationSettings, HardwareSettings, MedvalSettings
from training.sft.ablation import ablate, ablation_table, plan_cells

IN, OUT = "report2impression", "dialogue2note"


def built(folder: Path, consistent: int) -> Path:
    """A folder built with tau 0: of ten training rows some are consistent."""
    rows: list[Any] = medval_rows(10, "train", IN) + medval_rows(4, "train", OUT)
    rows += medval_rows(4, "test", IN) + medval_rows(4, "test", OUT)
    for number, row in enumerate(rows):
        row["consistency"] = 0.95 if number < consistent else 0.4
    return medval_dataset(folder, rows)


def test_the_cells_are_two_teachers_by_two_thresholds() -> None:
    cells = plan_cells(Path("a"), Path("b"), Path("out"))
    assert [(cell.name, cell.dataset.name, cell.folder.name) for cell in cells] == [
        ("self, tau 0", "a", "self-tau0"),
        ("self, tau 0.9", "a", "self-tau0.9"),
        ("teacher, tau 0", "b", "teacher-tau0"),
        ("teacher, tau 0.9", "b", "teacher-tau0.9"),
    ]


@pytest.mark.parametrize(("tau", "kept"), [(None, 10), (0.0, 9), (0.9, 6)])
def test_a_threshold_keeps_the_consistent_rows_of_the_trained_tasks(
    tmp_path: Path, tau: float | None, kept: int
) -> None:
    rows: list[Any] = medval_rows(10, "train", IN) + medval_rows(4, "train", OUT)
    for row, consistency in zip(rows, [*[0.95] * 6, *[0.4] * 3, None, *[0.95] * 4], strict=True):
        row["consistency"] = consistency
    source = TextDataset.open(medval_dataset(tmp_path / "source", rows), "medval")
    assert [row["task"] for row in source.rows("train", (IN,), tau)] == [IN] * kept
    assert source.count("train", (IN,), tau) == kept


def test_nothing_to_train_on_and_nothing_to_compare_are_refused(tmp_path: Path) -> None:
    none = built(tmp_path / "none", consistent=0)
    with pytest.raises(InputError, match="no row is left"):
        ablate(
            plan_cells(none, none, tmp_path / "cells", taus=(0.9,)), none, str(tiny_model(tmp_path / "model")),
            tmp_path / "cells", AblationSettings(training=MedvalSettings(hardware=HardwareSettings(quantize="none"))),
            baseline=False,
        )  # fmt: skip
    both = plan_cells(built(tmp_path / "all", consistent=100), built(tmp_path / "b", 5), tmp_path / "out")
    with pytest.raises(UsageError, match="no row lies below the threshold"):
        ablate(both, tmp_path / "b", "model", tmp_path / "out", AblationSettings())
    assert not (tmp_path / "out").exists()


def test_inputs_of_the_test_split_are_not_trained_on(tmp_path: Path) -> None:
    source = built(tmp_path / "source", consistent=6)
    rows: list[Any] = medval_rows(4, "test", IN)
    trained = next(iter(TextDataset.open(source, "medval").rows("train", (IN,))))
    rows[0]["triple_id"] = trained["triple_id"]
    reference = medval_dataset(tmp_path / "reference", rows)
    with pytest.raises(UsageError, match="trained on would be judged") as error:
        ablate(plan_cells(source, source, tmp_path / "out"), reference, "model", tmp_path / "out", AblationSettings())
    assert "1 of " in (error.value.found or "") and not (tmp_path / "out").exists()


def test_a_cell_is_trained_judged_and_shown_by_kind_of_task(tmp_path: Path) -> None:
    source = built(tmp_path / "teacher", consistent=6)
    cells = [cell for cell in plan_cells(source, source, tmp_path / "out") if cell.name == "teacher, tau 0.9"]
    settings = MedvalSettings.model_validate(
        {
            "batch_size": 4,
            "per_device_batch_size": 2,
            "max_length": 1024,
            "epochs": 1,
            "hardware": {"device": "cpu", "quantize": "none"},
        }
    )
    result = ablate(
        cells,
        source,
        str(tiny_model(tmp_path / "model")),
        tmp_path / "out",
        AblationSettings(training=settings, generation=GenerationSettings(max_new_tokens=2, max_length=1024)),
        baseline=False,
    )
    (cell,) = result["cells"]
    assert (cell["rows"], cell["kept"]) == (10, 6)
    # Two tokens are no answer: all is wrong, and nothing is undefined.
    assert cell["share_unparseable"]["value"] == 1.0
    assert [cell[name]["value"] for name in ("in_distribution", "held_out", "all")] == [0.0, 0.0, 0.0]
    assert json.loads((tmp_path / "out" / "ablation.json").read_text())["cells"][0]["cell"] == "teacher, tau 0.9"
    assert "| teacher, tau 0.9 | 6 of 10 | 0.0 |" in (tmp_path / "out" / "ablation.md").read_text()


def test_the_table_shows_the_untrained_model_without_rows() -> None:
    half = {"value": 0.5, "low": 0.4, "high": 0.6}
    numbers = {"in_distribution": half, "held_out": {"value": None}, "all": half, "unsafe_f1": {"value": 0.7}}
    cells = [
        {"cell": "untrained", **numbers, "share_unparseable": {"value": 0.0}},
        {"cell": "self, tau 0", "rows": 2000, "kept": 2000, **numbers, "share_unparseable": {"value": 0.0}},
    ]
    table = ablation_table({"model": "m", "train_tasks": [IN], "cells": cells})
    assert "| untrained | – | 50.0 (40.0 to 60.0) | – | 50.0 (40.0 to 60.0) | 70.0 | 0.0 |" in table
    assert "| self, tau 0 | 2,000 of 2,000 |" in table
