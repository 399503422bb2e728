"""The queries that ship with ontoground; to list them needs no database."""

from __future__ import annotations

from ground.storage.sqlfiles import sql_names, sql_title

__all__ = ["AREA", "named_queries"]

AREA = "ontoground/queries"


def named_queries() -> list[tuple[str, str]]:
    """Return name and title of each query that ships with ontoground, sorted by name."""
    return [(name.removeprefix(f"{AREA}/"), sql_title(name)) for name in sql_names(AREA)]
