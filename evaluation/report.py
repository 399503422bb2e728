"""The folder of a report: what may be replaced there, and its files, which appear together or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.comparisons import FEW_DISCORDANT
from evaluation.intervals import FEWEST_CLUSTERS
from evaluation.markdown import rendered
from ground.errors import UsageError
from ground.flow.manifest import to_json
from ground.storage.files import atomic_directory, sha256_of

__all__ = ["SMALL_CLUSTERS", "SMALL_ROWS", "hashed", "refuse_other_folder", "write_report"]

SMALL_ROWS = 50
"""A part with fewer rows is called small: its numbers are there to be seen, not to be compared."""
SMALL_CLUSTERS = 10
"""The same of patients."""


def hashed(files: Sequence[Path]) -> list[dict[str, str]]:
    """Return names and SHA-256 of the files that a report rests on."""
    return [{"file": path.name, "sha256": sha256_of(path)} for path in sorted(files)]


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
    out: Path, report: Mapping[str, Any], template: str, draw: Callable[[Path, Path], None], **more: Any
) -> None:
    """Write ``report.json``, ``report.md`` and ``figures/*.png``.

    Args:
        out: the folder of the report; an earlier one there is replaced.
        report: what ``report.json`` holds.
        template: of ``report.md``, in ``evaluation/templates``.
        draw: draws the pictures into ``figures``, its second argument, and may write into the folder, its first.
        more: what the template reads beside the report.
    """
    limits = {"fewest": FEWEST_CLUSTERS, "few_discordant": FEW_DISCORDANT}
    limits |= {"small_rows": SMALL_ROWS, "small_patients": SMALL_CLUSTERS}
    with atomic_directory(out) as folder:
        pictures = folder / "figures"
        pictures.mkdir(mode=0o700)
        draw(folder, pictures)
        drawn = sorted(path.name for path in pictures.iterdir())
        page = rendered(template, report, drawn, **limits, **more)
        (folder / "report.json").write_text(to_json(report), encoding="utf-8", newline="\n")
        (folder / "report.md").write_text(page, encoding="utf-8", newline="\n")
