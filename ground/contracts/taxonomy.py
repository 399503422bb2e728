"""MedHal's tasks and MedVAL's tasks, error categories and risk levels, as the data files describe them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from ground.errors import UsageError
from ground.storage.tables import Row, read_table

__all__ = [
    "category_of",
    "error_categories",
    "is_safe",
    "medhal_tasks",
    "medval_tasks",
    "resolve_tasks",
    "risk_levels",
]

DATA = Path(__file__).parent / "data"
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "medhal_tasks": ("task", "short", "in_ablation", "statement_is", "source"),
    "medval_tasks": ("task", "input_is", "output_is", "paper_train", "paper_test", "instruction", "source"),
    "medval_errors": ("category", "name", "group", "means", "source"),
    "medval_levels": ("level", "risk", "safety", "action", "means", "source"),
}


@cache
def _table(name: str) -> list[Row]:
    return read_table(DATA / f"{name}.tsv", COLUMNS[name])


def medhal_tasks() -> list[Row]:
    """Return MedHal's tasks: task, short, in_ablation, statement_is, source."""
    return _table("medhal_tasks")


def medval_tasks() -> list[Row]:
    """Return MedVAL's tasks: task, input_is, output_is, paper_train, paper_test, instruction, source."""
    return _table("medval_tasks")


def error_categories() -> list[Row]:
    """Return the 11 error categories in the paper's order: category, name, group, means, source."""
    return _table("medval_errors")


def risk_levels() -> list[Row]:
    """Return the four risk levels: level, risk, safety, action, means, source."""
    return _table("medval_levels")


def category_of(name: str) -> str | None:
    """Return the category that a model's words name (``Missing claim``), None for a name outside the taxonomy."""
    wanted = " ".join(name.replace("_", " ").split()).lower()
    return next((row["category"] for row in error_categories() if row["name"].lower() == wanted), None)


def is_safe(level: int) -> bool:
    """Tell whether a risk level counts as safe (1 and 2) or unsafe (3 and 4)."""
    return next(row["safety"] for row in risk_levels() if row["level"] == str(level)) == "safe"


def resolve_tasks(names: Sequence[str], of: Literal["medhal", "medval"]) -> tuple[str, ...]:
    """Return the tasks that a setting names, by full or short name; no names mean every task.

    Raises:
        UsageError: a name is no task.
    """
    rows = medhal_tasks() if of == "medhal" else medval_tasks()
    known = {row["task"].lower(): row["task"] for row in rows}
    known |= {row["short"].lower(): row["task"] for row in rows if "short" in row}
    unknown = sorted(name for name in names if name.lower() not in known)
    if unknown:
        raise UsageError(
            "unknown task",
            found=", ".join(unknown),
            expected=", ".join(row["task"] for row in rows),
            do="correct `tasks` in the settings",
        )
    return tuple(dict.fromkeys(known[name.lower()] for name in names)) or tuple(row["task"] for row in rows)
