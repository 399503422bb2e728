"""MedVAL's ablation (figure S2): data from the model itself or from a teacher, filtered by consistency or not.

Each of the four cells trains the same base model on the train split of one dataset folder (built with tau 0, so that
all rows are there), keeps rows whose ``consistency`` is at least tau, and is evaluated on one rated or built test set,
apart for tasks that were trained on (in-distribution) and tasks that were held out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from evaluation.datasets import TextDataset
from evaluation.markdown import percent_cell
from evaluation.numbers import trained_in_paper
from evaluation.report import evaluate_text
from ground.errors import UsageError
from ground.flow.manifest import to_json
from ground.markdown import markdown_table
from ground.storage.files import write_text
from training.runs.models import name_of
from training.runs.settings import AblationSettings, GenerationSettings
from training.sft.generate import generate
from training.sft.train import train_texts

__all__ = ["TAUS", "Cell", "ablate", "ablation_table", "plan_cells"]

Teacher = Literal["self", "teacher"]
TAUS = (0.0, 0.9)
RESULT = "ablation.json"
BASELINE = "untrained"
COLUMNS = {"in_distribution": "Tasks of training", "held_out": "Held-out tasks", "all": "All tasks"}


@dataclass(frozen=True)
class Cell:
    """One cell: whose data, which threshold, and where its run lies."""

    teacher: Teacher
    tau: float
    dataset: Path
    folder: Path

    @property
    def name(self) -> str:
        """Return such as ``teacher, tau 0.9``."""
        return f"{self.teacher}, tau {self.tau:g}"


def plan_cells(self_dir: Path, teacher_dir: Path, out: Path, taus: Sequence[float] = TAUS) -> list[Cell]:
    """Return the cells in the paper's order: self without and with the filter, then the teacher."""
    folders: dict[Teacher, Path] = {"self": self_dir, "teacher": teacher_dir}
    return [Cell(name, tau, folder, out / f"{name}-tau{tau:g}") for name, folder in folders.items() for tau in taus]


def _refuse_folders(folders: Sequence[Path], reference: Path, tau: float) -> None:
    """Refuse folders that train on an input of the reference's test split, or in which a threshold changes nothing."""
    judged = TextDataset.open(reference, "medval").scan("test").select("triple_id").unique().collect()
    for folder in folders:
        rows = TextDataset.open(folder, "medval").scan("train")
        train = rows.select("triple_id", below=pl.col("consistency") < tau).collect()
        # Other seeds give other splits.
        shared = judged.join(train, on="triple_id", how="semi").height
        if shared:
            raise UsageError(
                "inputs that are trained on would be judged",
                file=folder,
                found=f"{shared:,} of {judged.height:,} triples of the reference's test split in the train split",
                expected="one split of the inputs in all folders",
                do="build them with the same medval.seed and build.seed",
            )
        if not train["below"].any():
            raise UsageError(
                "no row lies below the threshold, so that the cells with and without it would be the same",
                file=folder,
                expected="rows of every consistency",
                do="ontoground build medval --engine lm --tau 0",
            )


def ablate(
    cells: Sequence[Cell],
    reference: Path,
    model: str,
    out: Path,
    settings: AblationSettings,
    *,
    baseline: bool = True,
) -> dict[str, Any]:
    """Train and evaluate every cell, and write ``ablation.json`` and ``ablation.md``; cells that are done are kept.

    Args:
        cells: as `plan_cells` returns them; a folder without rows below the threshold is refused, and one with inputs
            of the test split to train on.
        reference: the MedVAL folder whose test split is judged.
        model: folder or hub name of the base model.
        out: takes the results; the cells' folders lie in it.
        settings: the same for all cells, but for ``tasks`` and ``min_consistency``.
        baseline: judge with the base model too.

    Returns:
        What ``ablation.json`` holds: for each cell ``rows``, ``kept``, and macro-F1 as a mean over tasks, with its
        interval (``in_distribution``: the paper's tasks of training; ``held_out``: all others; ``all``), with
        ``by_task`` and ``share_unparseable``.
    """
    tasks = trained_in_paper()
    _refuse_folders(sorted({cell.dataset for cell in cells}), reference, max(cell.tau for cell in cells))
    results = []
    if baseline:
        results.append({"cell": BASELINE, **_judged(model, out / BASELINE, reference, settings.generation)})
    for cell in cells:
        rows = TextDataset.open(cell.dataset, "medval")
        counts = {name: rows.count("train", tasks, tau) for name, tau in (("rows", 0.0), ("kept", cell.tau))}
        own = settings.training.model_copy(update={"tasks": tuple(tasks), "min_consistency": cell.tau})
        train_texts("medval", cell.dataset, model, cell.folder / "run", own, resume=True)
        judged = _judged(str(cell.folder / "run"), cell.folder / "run", reference, settings.generation)
        results.append({"cell": cell.name, "teacher": cell.teacher, "tau": cell.tau, **counts, **judged})
    result = {
        "model": name_of(model),
        "train_tasks": list(tasks),
        "training": settings.training.model_dump(mode="json", by_alias=True),
        "cells": results,
    }
    write_text(out / RESULT, to_json(result))
    write_text(out / "ablation.md", ablation_table(result))
    return result


def _judged(model: str, folder: Path, reference: Path, settings: GenerationSettings) -> dict[str, Any]:
    file = folder / "predictions-test.parquet"
    generate("medval", reference, model, file, settings)
    (numbers,) = evaluate_text("medval", TextDataset.open(reference, "medval"), [file])["runs"]
    return {
        **numbers["over_tasks"],
        "by_task": {task: metrics["macro_f1"] for task, metrics in numbers["by_task"].items()},
        "share_unparseable": numbers["share_unparseable"],
        "unsafe_f1": numbers["overall"]["unsafe_f1"],
    }


def ablation_table(result: Mapping[str, Any]) -> str:
    """Return the four cells, below the untrained model, as a Markdown table in percent."""
    rows = []
    for cell in result["cells"]:
        trained = "–" if "kept" not in cell else f"{cell['kept']:,} of {cell['rows']:,}"
        shares = (percent_cell(cell[name]) for name in (*COLUMNS, "unsafe_f1", "share_unparseable"))
        rows.append((cell["cell"], trained, *shares))
    heads = ("Data", "Rows trained on", *COLUMNS.values(), "F1 (unsafe)", "No readable answer")
    return (
        f"# Ablation: {result['model']}\n\nMacro-F1 over risk levels, as a mean over tasks, in percent, with 95% "
        f"intervals. Trained on: "
        f"{', '.join(result['train_tasks'])}.\n\n{markdown_table(heads, rows)}"
    )
