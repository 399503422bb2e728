"""Where an answer may be written: never over its own inputs or over files of a workspace."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ground.errors import UsageError

__all__ = ["answer_file", "is_workspace"]

OWN = ("cache", "datasets", "graph", "ontoground.toml", "rules", "runs", "stewardship")
"""Files and folders of a workspace, beside its warehouse, that no answer may replace."""


def is_workspace(folder: Path) -> bool:
    """Tell whether a folder is a workspace, whatever it holds so far."""
    return (folder / "warehouse.duckdb").is_file() or any(folder.glob("stewardship/*/benchmark.json"))


def answer_file(path: Path, read: Iterable[Path] = ()) -> Path:
    """Return a name that an answer may be written to; what has it is replaced.

    Raises:
        UsageError: it is what the answer is made of, or what a workspace is made of.
    """
    place = path.resolve()
    if any(place.is_relative_to(source.resolve()) for source in read):
        raise UsageError("the result would replace its own input", found=str(path), expected="another name")
    for root in (folder for folder in place.parents if is_workspace(folder)):
        first = place.relative_to(root).parts[0]
        if first in OWN or first.startswith("warehouse.duckdb"):
            expected = f"a name elsewhere, such as {root / 'answer'}{place.suffix}"
            raise UsageError("the result would replace a part of the workspace", found=str(path), expected=expected)
    return path
