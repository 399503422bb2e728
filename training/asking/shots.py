"""One worked example in front of a question: drawn from the train split by stable hash, of the same task if it can be.

The draw does not look at the label, so the example favours no class on purpose; one task always has the same example,
which keeps the beginning of its prompts the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from evaluation.classes import CLASSES
from evaluation.datasets import Kind, TextDataset
from ground.errors import InputError
from ground.stable import stable_hash

__all__ = ["examples_for"]

TEXTS: Mapping[Kind, tuple[str, ...]] = {
    "medhal": ("context", "statement", "explanation"),
    "medval": ("instruction", "input", "output", "reasoning"),
}


def examples_for(
    dataset: TextDataset, tasks: Iterable[str], *, max_characters: int, seed: int
) -> dict[str, dict[str, Any]]:
    """Return the example of each task: a row of the train split, as `TextDataset.rows` yields it.

    A row can be an example where its answer is whole (a non-factual statement needs its explanation, a graded output
    its reasoning) and its texts have no more than ``max_characters`` together. A task without such a row borrows the
    example of the whole split.

    Raises:
        InputError: no row of the train split can be an example.
    """
    texts, told = TEXTS[dataset.kind], TEXTS[dataset.kind][-1]
    whole = pl.col(told).fill_null("").str.strip_chars() != ""
    if dataset.kind == "medhal":
        whole |= pl.col("label")
    characters = pl.sum_horizontal(pl.col(name).fill_null("").str.len_chars() for name in texts)
    rows = pl.scan_parquet(list(dataset.files), glob=False).filter(
        (pl.col("split") == "train") & whole & (characters <= max_characters)
    )
    able = rows.select(pl.col("id").cast(pl.String), pl.col("task").cast(pl.String)).collect()
    if not able.height:
        raise InputError(
            "no row of the train split can be an example",
            file=dataset.folder,
            expected=f"rows with a whole answer and at most {max_characters:,} characters",
            do="raise max_example_characters, or leave out --shots",
        )
    order = pl.Series([stable_hash(seed, "one-shot", name) for name in able["id"]], dtype=pl.UInt64)
    able = able.with_columns(rank=order).sort("rank", "id")
    first = {task: [*able.filter(pl.col("task") == task)["id"].head(1), able["id"][0]][0] for task in tasks}
    columns = ["id", "task", CLASSES[dataset.kind].label, *texts, *(["errors"] if dataset.kind == "medval" else [])]
    found = rows.filter(pl.col("id").is_in(sorted(set(first.values())))).select(columns).collect()
    by_id = {row["id"]: row for row in found.to_dicts()}
    return {task: by_id[name] for task, name in first.items()}
