"""The one reader of ``sql/``: a statement is a file, named by its path without ``.sql`` (``kg/name``)."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from ground import ROOT
from ground.errors import UsageError
from ground.storage.remote import Place, local_copy

__all__ = ["quoted", "quoted_files", "quoted_list", "quoted_name", "sql_names", "sql_root", "sql_text", "sql_title"]


@cache
def sql_root() -> Path:
    """Return the folder of SQL files: the wheel's copy, else the checkout's top-level ``sql/``."""
    installed = ROOT / "ground" / "_sql"
    return installed if installed.is_dir() else ROOT / "sql"


def sql_text(name: str) -> str:
    """Return the text of one SQL file.

    Raises:
        UsageError: there is no such file.
    """
    path = sql_root() / f"{name}.sql"
    if not path.is_file():
        area = name.rsplit("/", 1)[0]
        raise UsageError(
            f"there is no SQL file called {name}",
            expected=", ".join(sql_names(area)) or "a name listed by `ontoground sql`",
        )
    return path.read_text(encoding="utf-8")


def sql_names(area: str) -> list[str]:
    """Return the names below one area, sorted, such as ``ontoground/queries/coverage_by_source``."""
    root = sql_root()
    return sorted(path.relative_to(root).with_suffix("").as_posix() for path in (root / area).rglob("*.sql"))


def sql_title(name: str) -> str:
    """Return the title of a SQL file: the text of its first comment line."""
    return sql_text(name).splitlines()[0].removeprefix("--").strip()


def quoted(text: str) -> str:
    """Return a SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def quoted_name(name: str) -> str:
    """Return a SQL identifier, whatever the name holds."""
    return '"' + name.replace('"', '""') + '"'


def quoted_list(values: Iterable[str | Path]) -> str:
    """Return a SQL list of string literals, for statements that take no parameters, such as ``create view``."""
    return f"[{', '.join(quoted(str(value)) for value in values)}]"


def quoted_files(paths: Iterable[Place]) -> str:
    """Return a SQL list of the names of files that are read; what lies in an object store is downloaded now.

    DuckDB takes a name for a pattern: ``release[2]/x.csv`` would be read from ``release2``.
    """
    return quoted_list(glob.escape(str(local_copy(path))) for path in paths)
