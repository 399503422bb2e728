"""``ontoground evaluate medval --rules``: the rules' validator over a dataset's split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoground.cli.render import note
from ontoground.cli.runs import run_folder

if TYPE_CHECKING:
    from builders.medval.items import Validator
    from evaluation.datasets import TextDataset
    from ontoground.cli.evaluate.options import Evaluated

__all__ = ["judged_split"]

BATCH = 256
PARSED = "parsed"


def judged_split(options: Evaluated, dataset: TextDataset, *, foreign: bool) -> dict[str, Any]:
    """Judge a split of a dataset; a refusal is an answer without a level, its reason the outcome."""
    from evaluation.predictions import write_predictions

    folder = run_folder(options.workspace, "rules", dataset.folder.name if foreign else "medval")

    def write(file: Path) -> None:
        write_predictions(file, list(_answers(_validator(options), dataset.rows(options.split))), "medval")

    state = options.kept(folder, {"model": "rules", "dataset": dataset.identity}, write)
    if not foreign:
        note("labels that the engine rules built are this validator's own: agreement with them says nothing")
    return options.predicted(folder, "rules", "rules", state)


def _validator(options: Evaluated) -> Validator:
    from builders.medval.rules.engine import open_rules
    from ground.storage.workspace import Workspace

    return open_rules(Workspace.existing(options.workspace), {})[1]


def _answers(validator: Validator, rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the line of a predictions file about each row; a task of other people is judged as a note."""
    from builders.medval.items import Item, Judgement
    from builders.texts.origin import Origin
    from evaluation.foreign import known_task

    ahead = iter(rows)
    while batch := list(islice(ahead, BATCH)):
        items = [
            Item(Origin("pairs", row["id"], row["id"], "test"), known_task(row["task"]), row["input"], None)
            for row in batch
        ]
        for row, judged in zip(batch, validator.judge(items, [row["output"] for row in batch]), strict=True):
            line: dict[str, Any] = {"id": row["id"], "model": "rules", "seed": None}
            if isinstance(judged, Judgement):
                errors = [{"category": error["category"], "text": error["text"]} for error in judged.errors]
                line |= {"label": judged.risk_level, "outcome": PARSED, "explanation": judged.reasoning}
                yield line | {"errors": errors}
            else:
                yield line | {"label": None, "outcome": judged.reason, "explanation": None, "errors": None}
