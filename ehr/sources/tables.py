"""The sources of records: their documented tables, and the schemas of the warehouse that these are loaded into."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ground import ROOT
from ground.storage.loading import SourceFile
from ground.storage.scanning import MAX_ROW_BYTES, open_bytes, whole_file
from ground.storage.tables import Row, read_table

__all__ = ["CHECKED", "DATA", "SOURCES", "RecordFile", "Table", "documented", "keys", "row_checks", "schemas"]

DATA = ROOT / "ehr" / "data"
SOURCES = {"mimic": "mimiciv_", "omop": "", "meds": "", "table": ""}
"""What is put before a module's name to name its schema, by source."""

# Types in the tables of columns: of notes, which are stored and read in their own way, and of text that writers may
# have stored as a whole number or a date.
LONG_TEXT, IDENTIFIER = "text", "identifier"
CHECKED = ("id", "patient", "stay", "starts", "ends", "content")


@dataclass(frozen=True)
class Table:
    """A documented table.

    Attributes:
        module: the part of the source that it belongs to.
        name: its name, which is that of its file.
        required: without it nothing can be loaded.
        derived: the load makes it; it is no file of the source.
        types: DuckDB's types by column, in the documented order.
        needed: columns without which the table is useless.
        schema: of the warehouse.
        texts: columns that hold notes.
        identifiers: columns of text that may be stored as whole numbers or dates.
    """

    module: str
    name: str
    required: bool
    derived: bool
    types: dict[str, str]
    needed: tuple[str, ...]
    schema: str
    texts: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()

    @property
    def qualified(self) -> str:
        """Name in the warehouse."""
        return f"{self.schema}.{self.name}"


@dataclass(frozen=True)
class RecordFile:
    """A file that is there, and the table that it becomes."""

    table: Table
    file: SourceFile

    @property
    def is_parquet(self) -> bool:
        """Tell whether the file is Parquet; else it is CSV."""
        return self.file.path.suffix.lower() == ".parquet"

    def first_line(self) -> bytes:
        """Return the header line of a CSV file."""
        with whole_file(self.file.path), open_bytes(self.file.path) as content:
            return content.readline(MAX_ROW_BYTES)

    def separator(self) -> str:
        """Return what stands between the fields of a CSV file: tabs where Athena wrote OMOP's vocabulary, unquoted."""
        line = self.first_line() if self.table.schema == "omop" else b""
        return "\t" if b"\t" in line and b"," not in line else ","


@cache
def documented(source: str) -> tuple[Table, ...]:
    """Return the documented tables of a source, in the order in which they are loaded (none where it has none)."""
    path = DATA / f"{source}_columns.tsv"
    if not path.is_file():
        return ()
    tables: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in read_table(path, ("module", "table", "file", "column", "type", "column_need", "source")):
        tables.setdefault((row["module"], row["table"]), []).append(row)
    return tuple(_table(SOURCES[source], module, name, rows) for (module, name), rows in tables.items())


def _table(prefix: str, module: str, name: str, rows: list[dict[str, str]]) -> Table:
    return Table(
        module,
        name,
        rows[0]["file"] == "required",
        rows[0]["file"] == "derived",
        {row["column"]: "varchar" if row["type"] in (LONG_TEXT, IDENTIFIER) else row["type"] for row in rows},
        tuple(row["column"] for row in rows if row["column_need"] == "needed"),
        prefix + module,
        tuple(row["column"] for row in rows if row["type"] == LONG_TEXT),
        tuple(row["column"] for row in rows if row["type"] == IDENTIFIER),
    )


def schemas(source: str) -> list[str]:
    """Return the schemas of the warehouse that a source is loaded into."""
    return list(dict.fromkeys(table.schema for table in documented(source)))


@cache
def row_checks() -> dict[str, Row]:
    """Return what of a row is compared with patients and admissions, by table of the warehouse, as expressions."""
    return {row["table"]: row for row in read_table(DATA / "row_checks.tsv", ("table", *CHECKED, "source"))}


@cache
def keys() -> dict[str, tuple[str, ...]]:
    """Return, by table of the warehouse, the columns that together are in no two rows."""
    rows = read_table(DATA / "keys.tsv", ("table", "columns", "source"))
    return {row["table"]: tuple(row["columns"].split(",")) for row in rows}
