"""``ontoground evaluate sheets``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from ontoground.cli.evaluate.options import Split, group
from ontoground.cli.options import DatasetFolder, InWorkspace, Result, verb
from ontoground.cli.render import Blocks, number, relative, table, unfolded

__all__ = ["sheets"]


@verb(
    group,
    "Write sheets in which experts grade MedVAL outputs.",
    "ontoground evaluate sheets round1.xlsx --per-task 15",
    "ontoground evaluate medval --experts anna.xlsx --experts ben.xlsx",
)
def sheets(
    file: Annotated[Path, Argument(metavar="FILE.xlsx", help="The sheet; FILE.csv and FILE.key.csv beside it")],
    options: InWorkspace,
    reference: DatasetFolder = None,
    split: Split = "test",
    per_task: Annotated[int, Option(min=1, help="Items of each task, at most; evenly over risk levels")] = 15,
    seed: Annotated[int, Option(min=0, help="Seed of the draw and of the order")] = 42,
) -> Result:
    """Write outputs for experts to grade, without labels, under neutral names and in random order.

    Each expert fills in a copy and saves it under a name of their choice. Keep the key to yourself.
    """
    from evaluation.datasets import TextDataset
    from evaluation.sheets import write_sheets

    dataset = TextDataset.open(reference or options.workspace / "datasets" / "medval", "medval")
    return options.result(
        "evaluate sheets",
        _blocks,
        reference=str(dataset.folder),
        split=split,
        seed=seed,
        licence_tier=dataset.licence_tier,
        **write_sheets(dataset, file, split=split, per_task=per_task, seed=seed),
    )


def _blocks(payload: dict[str, Any]) -> Blocks:
    yield f"{number(payload['items'])} items ({payload['split']})"
    yield table(("task", "items"), list(payload["by_task"].items()))
    if payload["too_long"]:
        yield f"{number(payload['too_long'])} rows are too long for a cell and were passed over"
    yield unfolded(f"sheet     {relative(Path(payload['sheet']))}, and as {Path(payload['csv']).name}")
    yield unfolded(f"key       {relative(Path(payload['key']))} (not for the experts)")
    if payload["licence_tier"] != "open":
        yield "credentialed texts: only for experts under the same data use agreements"
