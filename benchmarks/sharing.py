"""Count the tokens that a dataset's own shape saves: contexts shared by statements, at the settings' defaults.

``python -m benchmarks.sharing DATASET TOKENIZER``; the tokenizer is a hub name or a folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.command import parser, run
from ontoground.cli.render import Cell, console, table
from training.packing.plan import Item, RowPlan, plan_rows
from training.packing.tokens import EncodedTexts

__all__ = ["main"]


def _tokens(rows: Iterable[RowPlan], items: Sequence[Item], contexts: EncodedTexts, statements: EncodedTexts) -> int:
    """Return the tokens of packed rows."""
    blocks = [block for row in rows for block in row.blocks]
    used = [{place for index in block.items for place in items[index].statements} for block in blocks]
    return sum(int(contexts.lengths[block.context]) for block in blocks) + sum(
        int(statements.lengths[place]) for places in used for place in places
    )


def _apart(items: Sequence[Item], contexts: EncodedTexts, statements: EncodedTexts) -> int:
    """Return the tokens of rows with one statement each."""
    return sum(
        int(contexts.lengths[item.context] + statements.lengths[place]) for item in items for place in item.statements
    )


def measured(dataset_folder: Path, tokenizer_name: str) -> list[tuple[Cell, ...]]:
    """Return for training and prediction: items, tokens of shared and of separate rows, and their ratio."""
    from evaluation.datasets import MedievalDataset
    from training.classifier.items import quadrant_data
    from training.corfu.stage import corfu_stages
    from training.packing.rows import plan_steps
    from training.runs.models import load_tokenizer
    from training.runs.settings import ClassifierSettings, CorfuSettings

    dataset, tokenizer = MedievalDataset.open(dataset_folder), load_tokenizer(tokenizer_name)
    classifier, corfu = ClassifierSettings(epochs=1), CorfuSettings()
    length = classifier.packing.max_length
    data = quadrant_data(dataset, dataset.split_rows("train"), tokenizer, max_length=length).data
    texts = (data.contexts, data.statements)
    # No attention by name: one context a row, whatever this machine has.
    steps = plan_steps(data, classifier, None)
    whole = plan_rows(
        range(len(data.items)), data.items, data.contexts.lengths, data.statements.lengths,
        classifier.packing.tokens_per_row,
    )  # fmt: skip
    stages, _ = corfu_stages(dataset, tokenizer, corfu, corfu.packing.max_length)
    stage = stages[0].train
    pairs = (stage.items, stage.contexts, stage.statements)
    of_steps = [row for step in steps for row in step.rows]
    found = [
        ("classifier, an epoch", len(data.items), _tokens(of_steps, data.items, *texts), _apart(data.items, *texts)),
        ("prediction", len(data.items), _tokens(whole, data.items, *texts), _apart(data.items, *texts)),
        ("CoRFu, pairs of a stage", len(stage.items),
         _tokens((row for step in plan_steps(stage, corfu, None) for row in step.rows), *pairs), _apart(*pairs)),
    ]  # fmt: skip
    return [(*one, round(one[3] / one[2], 1)) for one in found]


def main(values: list[str]) -> int:
    """Count and print one table."""
    options = parser("sharing", __doc__ or "", "python -m benchmarks.sharing work/datasets/medieval Qwen/Qwen3-8B")
    options.add_argument("dataset", type=Path, help="a MediEval dataset folder")
    options.add_argument("tokenizer", help="hub name or folder of a tokenizer")
    given = options.parse_args(values)
    rows = measured(given.dataset, given.tokenizer)
    console().print(table(("training split", "items", "tokens shared", "tokens apart", "ratio"), rows))
    return 0


if __name__ == "__main__":
    run(main)
