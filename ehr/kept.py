"""The lexicon of a release and of own rules: built once, kept in the workspace, mapped by all that read."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ehr.lexicon import Lexicon, build_lexicon
from ground.errors import InputError
from ground.flow.fingerprints import code_digest, fingerprint, stage_fingerprint
from ground.storage.files import sweep_below
from ground.storage.own_rules import NO_RULES, OwnRules
from ground.storage.warehouse import table_exists

if TYPE_CHECKING:
    import duckdb

__all__ = ["FOLDER", "open_lexicon"]

FOLDER = Path("cache", "lexicon")
"""Beside the warehouse: a folder for what it was built from; others are removed when one is written."""
_RULES = ("clinical_synonyms", "context_rules", "name_stops", "sections")


def open_lexicon(connection: duckdb.DuckDBPyConnection, own: OwnRules = NO_RULES) -> Lexicon:
    """Map the lexicon that is kept beside the warehouse, or build it and keep it where that can be written.

    Args:
        connection: the warehouse, which may be opened read-only.
        own: the user's own rules.

    Raises:
        InputError: the concept graph with its names is not built, or an own rule or a table cannot be read.
    """
    if not table_exists(connection, "kg.name"):
        raise InputError(
            "the release's names are not in the warehouse", expected="kg.name", do="run `ontoground graph build`"
        )
    folder = _folder(connection, own)
    if folder is not None:
        # It is not there, another process is removing it, or it was damaged from outside.
        with suppress(OSError, ValueError, KeyError, EOFError):
            return Lexicon.load(folder)
    lexicon = build_lexicon(connection, own)
    if folder is not None:
        # A workspace that cannot be written to, or a full disk: the next process builds it again.
        with suppress(OSError):
            lexicon.save(folder)
            sweep_below(folder.parent)
            for other in folder.parent.glob("[!.]*"):
                if other != folder:
                    shutil.rmtree(other, ignore_errors=True)
            return Lexicon.load(folder)
    return lexicon


def _folder(connection: duckdb.DuckDBPyConnection, own: OwnRules) -> Path | None:
    """Return where the lexicon of this release is kept; None: of a warehouse in memory, or one that has no graph."""
    query = "select path from duckdb_databases() where database_name = current_database()"
    (place,) = connection.execute(query).fetchone() or (None,)
    graph = stage_fingerprint(connection, "graph") if place else ""
    if not graph:
        return None
    rules = {file["file"]: file["sha256"] for file in own.only(*_RULES).inputs()}
    code = code_digest(("ehr", "sql/ehr"))
    return Path(place).parent / FOLDER / fingerprint({"graph": graph, "code": code, "rules": rules})
