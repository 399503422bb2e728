"""What both evaluations' reports share: the folder and what may be replaced there, pages in Markdown, p values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ground.errors import UsageError
from ground.flow.manifest import to_json

__all__ = ["limits", "p_value", "page_of", "refuse_other_folder", "write_report"]


def refuse_other_folder(out: Path) -> None:
    """Refuse a folder that holds something else than an earlier report."""
    if out.exists() and not (out.is_dir() and ((out / "report.json").is_file() or not any(out.iterdir()))):
        raise UsageError(
            "the report's folder holds something else",
            file=out,
            expected="a new folder, an empty one, or an earlier report",
            do="name another folder",
        )


def page_of(sections: Iterable[str], titles: Mapping[str, str], pictures: Sequence[str]) -> str:
    """Join the sections that say something, and show those pictures that are there, in the order of their titles."""
    shown = "".join(f"![{titles[name]}](figures/{name})\n\n" for name in titles if name in pictures)
    return "\n".join(section for section in sections if section) + (f"\n## Pictures\n\n{shown}" if shown else "")


def limits(lines: Iterable[str]) -> str:
    """Return the section that says how far the numbers carry."""
    return "## How to read this, and its limits\n\n" + "".join(f"- {line}\n" for line in lines)


def p_value(value: float) -> str:
    """Return a p value as reports print it."""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def write_report(
    folder: Path, report: Mapping[str, Any], markdown: Callable[[Mapping[str, Any], Sequence[str]], str]
) -> None:
    """Write ``report.json``, and ``report.md`` with the pictures that ``figures`` holds."""
    drawn = sorted(path.name for path in (folder / "figures").iterdir())
    (folder / "report.json").write_text(to_json(report), encoding="utf-8", newline="\n")
    (folder / "report.md").write_text(markdown(report, drawn), encoding="utf-8", newline="\n")
