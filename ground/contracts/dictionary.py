"""What columns mean: of the datasets, of the structs in them, and of the tables of ``ground``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ground import ROOT
from ground.storage.tables import read_table

__all__ = ["columns_of", "described_tables"]

FILE = ROOT / "ground" / "contracts" / "data" / "columns.tsv"


@cache
def described_tables() -> Mapping[str, Mapping[str, str]]:
    """Return by table the meaning of each of its columns; those in a struct have its name before them, ``path.rela``.

    A configuration (``medieval_contradicted``) has the columns of its dataset first.
    """
    tables: dict[str, dict[str, str]] = {}
    for row in read_table(FILE, ("table", "column", "meaning", "source")):
        tables.setdefault(row["table"], {})[row["column"]] = row["meaning"]
    tables["medieval_contradicted"] = tables["medieval"] | tables["medieval_contradicted"]
    return tables


def columns_of(table: str) -> Mapping[str, str]:
    """Return the meaning of each column of a table; nothing is known of a table that is not described."""
    return described_tables().get(table, {})
