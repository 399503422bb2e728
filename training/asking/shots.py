"""One worked example in front of a question: drawn from the train split by stable hash, of the same task if it can be.

The draw does not look at the label, so the example favours no class on purpose; one task always has the same example,
which keeps the beginning of its prompts the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl
import pyarrow.dataset as ds

from evaluation.text.dataset import Kind, TextDataset
from ground.errors import InputError
from ground.stable import stable_hash

__all__ = ["examples_for"]

TEXTS: Mapping[Kind, tuple[str, ...]] = {
    "medhal": ("context", "statement", "explanation"),
    "medval": ("instruction", "input", "output", "reasoning"),
}
LABEL: Mapping[Kind, str] = {"medhal": "label", "medval": "risk_level"}


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
    able = _able(dataset, max_characters)
    if not able.height:
        raise InputError(
            "no row of the train split can be an example",
            file=dataset.folder,
            expected=f"rows with a whole answer and at most {max_characters:,} characters",
            do="raise max_example_characters, or leave out --shots",
        )
    drawn = able.with_columns(
        rank=pl.Series([stable_hash(seed, "one-shot", name) for name in able["id"]], dtype=pl.UInt64)
    ).sort("rank", "id")
    first = {task: drawn.filter(pl.col("task") == task)["id"].head(1).to_list() or [drawn["id"][0]] for task in tasks}
    rows = _rows(dataset, {name for names in first.values() for name in names})
    return {task: rows[names[0]] for task, names in first.items()}


def _able(dataset: TextDataset, max_characters: int) -> pl.DataFrame:
    """Return ``id`` and ``task`` of the rows of the train split that can be an example."""
    whole = (
        pl.col("label") | (pl.col("explanation").fill_null("").str.strip_chars() != "")
        if dataset.kind == "medhal"
        else pl.col("reasoning").fill_null("").str.strip_chars() != ""
    )
    characters = pl.sum_horizontal(pl.col(name).fill_null("").str.len_chars() for name in TEXTS[dataset.kind])
    return (
        pl.scan_parquet(list(dataset.files), glob=False)
        .filter((pl.col("split") == "train") & whole & (characters <= max_characters))
        .select(pl.col("id").cast(pl.String), pl.col("task").cast(pl.String))
        .collect()
    )


def _rows(dataset: TextDataset, names: set[str]) -> dict[str, dict[str, Any]]:
    wanted = (ds.field("split") == "train") & ds.field("id").isin(sorted(names))
    columns = ["id", "task", LABEL[dataset.kind], *TEXTS[dataset.kind]]
    columns += ["errors"] if dataset.kind == "medval" else []
    found = ds.dataset(list(dataset.files), format="parquet").to_table(columns=columns, filter=wanted)
    return {row["id"]: row for row in found.to_pylist()}
