"""Reading one file of records, CSV or Parquet: the header against the documented columns, then one DuckDB pass."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from ehr.exact import check_stored, exact, read_as
from ehr.sources.tables import RecordFile, Table
from ground.errors import InputError
from ground.storage.loading import Reject, SourceFile
from ground.storage.scanning import MAX_ROW_BYTES, is_gzip, lines_at
from ground.storage.sqlfiles import quoted, quoted_files
from ground.storage.warehouse import number_of, table_exists

__all__ = ["Columns", "count_rejects", "fetch_rejects", "forget_rejects", "match_columns", "read_item", "stored_item"]

REJECTS = "load_rejects"
REJECT_SCANS = "load_reject_scans"
REFUSING = ", store_rejects = true, rejects_limit = 0"
REFUSING += f", rejects_table = {quoted(REJECTS)}, rejects_scan = {quoted(REJECT_SCANS)}"
MAX_CODED_BYTES = 2_000_000
"""The longest row of a table without texts: DuckDB reads faster in buffers that fit a processor's cache."""
REASONS = {
    "MISSING COLUMNS": "too few fields",
    "TOO MANY COLUMNS": "too many fields",
    "UNQUOTED VALUE": "a quote inside a field is not doubled, or is not closed",
    "INVALID ENCODING": "not UTF-8",
    "LINE SIZE OVER MAXIMUM": "longer than a row of this table may be",
}


@dataclass(frozen=True)
class Columns:
    """A file's columns in its own order, lower case, with the types that they are loaded as, and the odd ones."""

    types: dict[str, str]
    unknown: tuple[str, ...]
    absent: tuple[str, ...]


def _csv_header(source: RecordFile) -> list[str]:
    file, raw = source.file, source.first_line()
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError("a CSV file is not UTF-8", file=file.path, line=1, found="UTF-16", do="save it as UTF-8")
    try:
        return next(csv.reader([raw.decode("utf-8-sig", errors="replace")], delimiter=source.separator()), [])
    except csv.Error as error:
        # A carriage return that ends no line, or a field without end.
        raise InputError(
            f"{file.name} has no usable header line", file=file.path, line=1, found=str(error).split(" - ")[0]
        ) from None


def _parquet_item(file: SourceFile) -> str:
    # Writers that do not mark text as such leave bytes.
    return f"read_parquet({quoted_files([file.path])}, binary_as_string = true, file_row_number = true)"


def _parquet_header(connection: duckdb.DuckDBPyConnection, file: SourceFile) -> list[tuple[str, str]]:
    try:
        rows = connection.execute(f"describe select * exclude (file_row_number) from {_parquet_item(file)}").fetchall()
    except duckdb.Error as error:
        raise InputError("a Parquet file cannot be read", file=file.path, expected="a whole Parquet file") from error
    return [(str(row[0]), str(row[1])) for row in rows]


def _check(source: RecordFile, names: Sequence[str]) -> None:
    table = source.table
    lacking = [name for name in table.needed if name not in names]
    other = [separator for separator in ";\t|" if separator in names[0]] if names else []
    if lacking or len(set(names)) != len(names) or not set(names) & set(table.types):
        raise InputError(
            f"{source.file.name} lacks needed columns: {', '.join(lacking)}"
            if lacking
            else f"{source.file.name} has no usable header line",
            file=source.file.path,
            line=1,
            found=f"{len(names)} columns, of them documented: {', '.join(n for n in names if n in table.types) or '-'}",
            expected=", ".join(table.types),
            do=f"save it with commas, not {other[0]!r}, between fields" if len(names) == 1 and other else None,
        )


def match_columns(connection: duckdb.DuckDBPyConnection, source: RecordFile) -> Columns:
    """Compare a file's columns with the documented ones; a column that is not documented is text.

    Raises:
        InputError: a needed column or the header is missing, or a Parquet type changes values.
    """
    if source.is_parquet:
        stored = {name.lower(): kind for name, kind in _parquet_header(connection, source.file)}
        names = list(stored)
        check_stored(connection, source, _parquet_item(source.file), stored)
    else:
        header = _csv_header(source)
        names = [name.strip().lower() or f"unnamed_{n}" for n, name in enumerate(header, 1)]
    _check(source, names)
    known = source.table.types
    types = {name: known.get(name, "varchar") for name in names}
    unknown = tuple(name for name in names if name not in known)
    return Columns(types, unknown, tuple(name for name in known if name not in types))


def read_item(source: RecordFile, columns: Columns, refusing: bool) -> str:
    """Return a SELECT over a file with typed columns.

    Quoted line ends and leading blanks belong to the value; an empty field is NULL. A malformed CSV row ends the query,
    or goes to DuckDB's table of rejects where rows are to be refused.
    """
    values = ", ".join(exact(name, kind) for name, kind in columns.types.items())
    if source.is_parquet:
        return f"select {values} from {_parquet_item(source.file)}"
    types = {name: read_as(kind) for name, kind in columns.types.items()}
    return f"select {values} from {_csv_item(source, types, REFUSING if refusing else '')}"


def stored_item(source: RecordFile, columns: Columns) -> str:
    """Return a file as an item of FROM with its columns as they are stored: of CSV all are text, of its good rows."""
    text = dict.fromkeys(columns.types, "varchar")
    return _parquet_item(source.file) if source.is_parquet else _csv_item(source, text, ", ignore_errors = true")


def _csv_item(source: RecordFile, types: dict[str, str], more: str) -> str:
    """Return a CSV file as an item of FROM.

    Notes are read by one thread, because rows of many lines are found exactly only from the file's beginning.
    """
    fields = ", ".join(f"{quoted(name)}: {quoted(kind)}" for name, kind in types.items())
    parallel, most = ("false", MAX_ROW_BYTES) if source.table.texts else ("true", MAX_CODED_BYTES)
    file = quoted_files([source.file.path])
    more += ", compression = 'gzip'" if is_gzip(source.file.path) else ""  # DuckDB does not know .GZ
    separator = source.separator()
    mark = "" if separator == "\t" else '"'
    marks = f"delim = {quoted(separator)}, quote = {quoted(mark)}, escape = {quoted(mark)}"
    return (
        f"read_csv({file}, columns = {{{fields}}}, header = true, {marks}, "
        f"auto_detect = false, max_line_size = {most}, parallel = {parallel}{more})"
    )


def _reason(kind: str, column: str | None, table: Table) -> str:
    """Say why a row was refused without its values: they may identify a patient."""
    if kind == "CAST":
        return f"column {column} is not of type {table.types.get(column or '', 'varchar')}"
    return REASONS.get(kind, kind.lower()) + (f", at column {column}" if column else "")


def forget_rejects(connection: duckdb.DuckDBPyConnection) -> None:
    """Drop what DuckDB refused of an earlier file."""
    for table in (REJECTS, REJECT_SCANS):
        connection.execute(f"drop table if exists temp.{table}")


def count_rejects(connection: duckdb.DuckDBPyConnection) -> int:
    """Return how many rows DuckDB refused of the CSV file that it read last: none where it was not to refuse any."""
    if not table_exists(connection, f"main.{REJECTS}"):
        return 0
    return number_of(connection, f"select count(distinct line_byte_position) from {REJECTS}")


def fetch_rejects(connection: duckdb.DuckDBPyConnection, source: RecordFile, most: int) -> list[Reject]:
    """Return the first ``most`` rows that DuckDB refused of a CSV file, with physical lines.

    DuckDB counts rows, not lines: the line is found from the byte where the row begins.
    """
    rows = connection.execute(
        f"""
        select line_byte_position, error_type::varchar, column_name, csv_line from {REJECTS}
        qualify row_number() over (partition by line_byte_position order by byte_position, error_type::varchar) = 1
        order by line_byte_position limit {most}
        """
    ).fetchall()
    lines = lines_at(source.file.path, [int(row[0]) for row in rows]) if rows else []
    return [
        Reject(source.file.name, line, _reason(kind, column, source.table), raw or "")
        for line, (_, kind, column, raw) in zip(lines, rows, strict=True)
    ]
