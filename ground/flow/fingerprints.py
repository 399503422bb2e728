"""Which stages of the flow are done, and from what: a stage whose fingerprint changed is stale and runs again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache

import duckdb

from ground import ROOT
from ground.errors import InputError
from ground.storage.sqlfiles import quoted, sql_root

__all__ = ["code_digest", "fingerprint", "has_mark", "is_current", "load_fingerprint", "mark_done", "stage_fingerprint"]

CODE = frozenset({".npz", ".py", ".sql", ".tsv"})
Value = str | int | float | bool | None | Sequence[str] | Mapping[str, str]


def fingerprint(parts: Mapping[str, Value]) -> str:
    """Return a short digest of the inputs of a stage: fingerprints of earlier stages, settings, data files."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=list).encode()).hexdigest()[:16]


@cache
def code_digest(places: tuple[str, ...]) -> str:
    """Return a digest of code, SQL and data files.

    Args:
        places: folders and files: ``kg``, ``builders/concepts.py``, ``sql/kg``.

    Raises:
        InputError: a place is not there or holds no such file, so that its change would go unseen.
    """
    digest = hashlib.sha256()
    for place in places:
        room, _, below = place.partition("/")
        path = (sql_root() if room == "sql" else ROOT / room) / below
        files = [file for file in sorted([path, *path.rglob("*")]) if file.is_file() and file.suffix in CODE]
        if not files:
            raise InputError("no code is there", file=path, expected="Python, SQL or TSV files", do="install it again")
        for file in files:
            digest.update(file.relative_to(path).as_posix().encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def load_fingerprint(connection: duckdb.DuckDBPyConnection, source: str) -> str:
    """Return a digest of the files that one source (``mimic``, ``umls``, ``rxnorm``) was loaded from."""
    rows = connection.execute(
        f"select file, sha256, rows_read - rows_rejected from ground.load where source = {quoted(source)} order by file"
    ).fetchall()
    return fingerprint({"files": [f"{file}:{digest}:{n}" for file, digest, n in rows]}) if rows else ""


def stage_fingerprint(connection: duckdb.DuckDBPyConnection, stage: str) -> str:
    """Return the fingerprint that a finished stage left, or an empty string."""
    row = connection.execute(f"select fingerprint from ground.stage where stage = {quoted(stage)}").fetchone()
    return str(row[0]) if row else ""


def has_mark(connection: duckdb.DuckDBPyConnection, stage: str) -> bool:
    """Tell whether a stage was ever finished; its mark is empty while it is made again."""
    return bool(connection.execute(f"select 1 from ground.stage where stage = {quoted(stage)}").fetchone())


def is_current(connection: duckdb.DuckDBPyConnection, stage: str, expected: str) -> bool:
    """Tell whether a stage was finished from exactly these inputs."""
    return stage_fingerprint(connection, stage) == expected


def mark_done(connection: duckdb.DuckDBPyConnection, stage: str, value: str) -> None:
    """Record that a stage is finished."""
    connection.execute("insert or replace into ground.stage values (?, ?, now()::timestamp)", [stage, value])
