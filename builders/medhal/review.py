"""Readers' verdicts on rows of a build, for the card's counterpart of the paper's Table 5."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from builders.medhal.versions import PairIndex, Selection
from ground.contracts.rows_text import MEDHAL_TASKS
from ground.errors import InputError

__all__ = ["confirmed_by_task", "read_review"]

COLUMNS = ("id", "verdict")
RIGHT = "right"
ROW_ID = re.compile(r".+-([0-9a-f]{16})-[ab]")


def read_review(path: Path) -> dict[str, bool]:
    """Return for each row id whether all its readers called the row right.

    Args:
        path: CSV with the columns ``id`` and ``verdict`` at least, as ``docs/reviews`` has it;
            one line for each reader.

    Raises:
        InputError: the file is not there, or has no such columns.
    """
    if not path.is_file():
        raise InputError("the review is not there", file=path, expected="a CSV file with the columns id, verdict")
    verdicts: dict[str, bool] = {}
    with path.open(encoding="utf-8", newline="") as file:
        sheet = csv.DictReader(file)
        missing = [name for name in COLUMNS if name not in (sheet.fieldnames or ())]
        if missing:
            raise InputError("a review has other columns", file=path, found=f"no {', '.join(missing)}")
        for row in sheet:
            if row["verdict"]:
                verdicts[row["id"]] = verdicts.get(row["id"], True) and row["verdict"].strip().lower() == RIGHT
    return verdicts


def confirmed_by_task(
    verdicts: Mapping[str, bool], index: PairIndex, selection: Selection
) -> dict[str, tuple[int, int]]:
    """Return by task the reviewed rows that were called right and all of them; rows of other builds do not count."""
    if not verdicts:
        return {}
    pairs, tasks = np.array(index.pair, dtype=np.uint64), np.array(index.task, dtype=np.int64)
    kept = {
        int(pair): MEDHAL_TASKS[task] for pair, task in zip(pairs[selection.kept], tasks[selection.kept], strict=True)
    }
    counts: dict[str, tuple[int, int]] = {}
    for name, right in verdicts.items():
        found = ROW_ID.fullmatch(name)
        task = kept.get(int(found.group(1), 16)) if found else None
        if task is not None:
            before = counts.get(task, (0, 0))
            counts[task] = (before[0] + right, before[1] + 1)
    return counts
