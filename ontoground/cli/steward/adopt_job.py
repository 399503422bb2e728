"""What ``ontoground steward adopt`` does, and how the steward verbs find their benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ground.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection

    from rich.console import Console

    from stewardship.history.log import History

__all__ = ["adopt_job", "paint_adopted"]

ROLES: tuple[Literal["original", "recomputed", "physician", "final"], ...] = (
    "original",
    "recomputed",
    "physician",
    "final",
)
SHOWN = 5


def adopt_job(
    workspace: Path,
    sources: tuple[Path, ...],
    *,
    name: str | None,
    layout: str | None,
    columns: tuple[str, ...],
    tier: Literal["open", "credentialed"],
    rows: int | None,
) -> dict[str, Any]:
    """Take up tables or a dataset folder and return what ``--json`` prints.

    Raises:
        UsageError: options that do not go together, or the name is taken.
        InputError: a table that cannot be read or does not fit the others.
    """
    from stewardship.benchmark.folder import Benchmark
    from stewardship.benchmark.tables import read_label_table

    if sources[0].is_dir():
        from ground.settings import read_settings
        from stewardship.datasets.adopt import adopt_dataset

        if len(sources) > 1 or layout or columns:
            raise UsageError("a dataset folder is taken up alone", expected="no further table, --layout or --column")
        seed = read_settings(workspace / "ontoground.toml").steward.seed
        found = adopt_dataset(workspace, sources[0], name=name, rows=rows, seed=seed)
    else:
        if rows is not None:
            raise UsageError("--rows is for dataset folders", found=str(sources[0]))
        first = read_label_table(sources[0], layout=layout, columns=_columns(columns))
        tables = [first, *map(read_label_table, sources[1:])]
        found = Benchmark.adopt(workspace, name or _stem(sources[0]), tables, licence_tier=tier)
    history = found.history
    return {
        "verb": "steward adopt",
        "workspace": str(workspace),
        "benchmark": found.name,
        "folder": str(found.folder),
        "rows": found.items.height,
        "licence_tier": found.licence_tier,
        "categories": list(found.categories),
        "doubtful": _doubtful(history, found.categories),
        "labels": {role: len(history.latest(role)) for role in ROLES},
        "files": (found.record or {})["files"],
    }


def paint_adopted(screen: Console, payload: dict[str, Any]) -> None:
    """Show what was taken up."""
    from ontoground.cli.render import relative, table

    screen.print(table(["labels", "rows"], [[role, count] for role, count in payload["labels"].items()]))
    for why in dict.fromkeys(one["why"] for one in payload["doubtful"]):
        rows = [f"{one['uid']} ({one['role']})" for one in payload["doubtful"] if one["why"] == why]
        screen.print(f"{why}: {', '.join(rows[:SHOWN])}{f' and {len(rows) - SHOWN} more' if len(rows) > SHOWN else ''}")
    screen.print(f"benchmark {payload['benchmark']}: {payload['rows']:,} rows, {payload['licence_tier']}")
    screen.print(f"in {relative(Path(payload['folder']))}", soft_wrap=True)


def _doubtful(history: History, categories: Collection[str]) -> list[dict[str, str]]:
    """Return the labels that cannot be used as they stand, by row, whose they are, and why; never what they say."""
    from ground.contracts.labels import LabelKind

    original = history.labels("original", categories=categories)
    found = []
    for role in ROLES:
        for uid, label in history.labels(role, categories=categories).items():
            if label.kind is LabelKind.UNPARSEABLE:
                found.append({"uid": uid, "role": role, "why": "cannot be read, and counts as no label"})
            elif {label.kind, original[uid].kind if uid in original else label.kind} == {
                LabelKind.NUMBER,
                LabelKind.DATE,
            }:
                found.append({"uid": uid, "role": role, "why": "a date beside an original number, or the reverse"})
    return found


def _columns(given: tuple[str, ...]) -> dict[str, str]:
    pairs = [one.partition("=") for one in given]
    if wrong := [
        one for one, (role, equals, column) in zip(given, pairs, strict=True) if not (role and equals and column)
    ]:
        raise UsageError("--column cannot be read", found=wrong[0], expected="ROLE=NAME, as uid=id")
    return {role.strip(): column for role, _, column in pairs}


def _stem(file: Path) -> str:
    return file.name.split(".")[0]
