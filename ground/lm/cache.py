"""Answers on disk under the hash of what was asked: a stopped run goes on where it was.

One SQLite file in a folder of mode 0700. Each answer is a transaction of its own, so a kill at any moment loses none
that had been kept. What is sent is noted before it goes out: after a kill the cache knows which requests were under
way. Prompts are not kept, results are.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ground.errors import InputError
from ground.lm.results import RESULT, Result
from ground.storage.files import private_directory

__all__ = ["AnswerCache", "content_key"]

FILE_NAME = "language-model.sqlite"
TABLE = "create table if not exists answer (key text primary key, result text) without rowid"
BUSY_SECONDS = 60.0


def content_key(what: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a value's canonical JSON, as 64 hexadecimal digits."""
    text = json.dumps(what, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


class AnswerCache:
    """Results by key; several processes may share one."""

    def __init__(self, folder: Path) -> None:
        self.path = private_directory(folder) / FILE_NAME
        self._connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        # A commit to the write-ahead log needs no wait for the disk: it outlives a kill of this process, and a power
        # cut costs the last answers at most. Where a folder allows no such log, SQLite keeps its slower journal.
        if self._run("pragma journal_mode = wal").fetchone() == ("wal",):
            self._run("pragma synchronous = normal")
        self._run(TABLE)

    def _run(self, statement: str, values: tuple[str, ...] = ()) -> sqlite3.Cursor:
        try:
            return self._connection.execute(statement, values)
        except sqlite3.DatabaseError as error:
            raise InputError(
                "the cache of answers cannot be used",
                file=self.path,
                found=str(error),
                expected="an SQLite file of ontoground's, writable, on a disk with room",
                do="move it away to begin an empty one",
            ) from error

    def get(self, key: str) -> Result | None:
        """Return the result of a key; None if there is none, or only the note that the request was sent."""
        row = self._run("select result from answer where key = ?", (key,)).fetchone()
        return None if row is None or row[0] is None else RESULT.validate_json(row[0])

    def note_sent(self, key: str) -> bool:
        """Note that a request is sent; return whether an earlier one with this key was never answered."""
        if self._run("insert or ignore into answer values (?, null)", (key,)).rowcount:
            return False
        row = self._run("select result is null from answer where key = ?", (key,)).fetchone()
        return bool(row[0])

    def put(self, result: Result) -> None:
        """Keep a result."""
        kept = result.model_copy(update={"cached": True, "cost": None})
        self._run("insert or replace into answer values (?, ?)", (result.key, kept.model_dump_json()))

    def forget(self, key: str) -> None:
        """Delete the note that a request was sent: its result is not kept."""
        self._run("delete from answer where key = ? and result is null", (key,))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
