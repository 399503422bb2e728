"""The folder of an evaluation's report: what may be replaced, and its JSON and Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ground.errors import UsageError
from ground.flow.manifest import to_json

__all__ = ["refuse_other_folder", "write_report"]


def refuse_other_folder(out: Path) -> None:
    """Refuse a folder that holds something else than an earlier report."""
    if out.exists() and not (out.is_dir() and ((out / "report.json").is_file() or not any(out.iterdir()))):
        raise UsageError(
            "the report's folder holds something else",
            file=out,
            expected="a new folder, an empty one, or an earlier report",
            do="name another folder",
        )


def write_report(
    folder: Path, report: Mapping[str, Any], markdown: Callable[[Mapping[str, Any], Sequence[str]], str]
) -> None:
    """Write ``report.json``, and ``report.md`` with the pictures that ``figures`` holds."""
    drawn = sorted(path.name for path in (folder / "figures").iterdir())
    (folder / "report.json").write_text(to_json(report), encoding="utf-8", newline="\n")
    (folder / "report.md").write_text(markdown(report, drawn), encoding="utf-8", newline="\n")
