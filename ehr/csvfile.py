"""Reading one file of records, CSV or Parquet: the header against the documented columns, then one DuckDB pass.

Nothing is changed on the way in: a value that a documented type would round or cut is refused, and a key twice.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from ehr.sources.tables import RecordFile, Table, keys
from ground.errors import InputError
from ground.storage.loading import Reject, SourceFile, repeated_key
from ground.storage.scanning import MAX_ROW_BYTES, is_gzip, lines_at, open_bytes
from ground.storage.sqlfiles import quoted, quoted_files, quoted_name
from ground.storage.warehouse import number_of, table_exists

__all__ = [
    "MARK",
    "Columns",
    "check_key",
    "count_rejects",
    "fetch_rejects",
    "first_inexact",
    "forget_rejects",
    "line_breaks",
    "match_columns",
    "read_item",
    "stored_item",
]

MARK = "not exactly of its type: "
SUCH_AS = {"bigint": "12", "integer": "12", "double": "1.5", "date": "2180-05-06", "timestamp": "2180-05-06 22:23:00"}
# The types that values are read as where DuckDB's own reading would round a number or cut a time off.
READ_AS = {"bigint": "double", "integer": "double", "date": "timestamp"}
# Beyond 2^53 a double skips whole numbers.
HOLDS = {
    "bigint": "{0} = trunc({0}) and abs({0}) < 9007199254740992",
    "integer": "{0} = trunc({0}) and abs({0}) < 2147483648",
    "double": "isfinite({0})",
    "date": "{0} = date_trunc('day', {0}) and isfinite({0})",
    "timestamp": "isfinite({0})",
}
INTEGER = r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?"
WHOLE = rf"{INTEGER}|DOUBLE|DECIMAL.*"
TIME = r"DATE|TIMESTAMP(_S|_MS|_NS)?"
IDENTIFIER = rf"{INTEGER}|DATE"
# Types of Parquet columns by documented type; where they are text, the text is read as that of a CSV file is.
STORED = {
    "varchar": "VARCHAR|ENUM.*",
    "bigint": f"{WHOLE}|VARCHAR",
    "integer": f"{WHOLE}|VARCHAR",
    "double": f"{WHOLE}|FLOAT|VARCHAR",
    "date": f"{TIME}|VARCHAR",
    "timestamp": f"{TIME}|VARCHAR",
}
REJECTS = "load_rejects"
REJECT_SCANS = "load_reject_scans"
REFUSING = ", store_rejects = true, rejects_limit = 0"
REFUSING += f", rejects_table = {quoted(REJECTS)}, rejects_scan = {quoted(REJECT_SCANS)}"
MAX_CODED_BYTES = 2_000_000
"""The longest row of a table without texts: DuckDB reads faster in buffers that fit a processor's cache."""
SAME_ROWS = 1000
"""Rows that are looked for in a file at once, to say where they stand."""
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


def read_as(kind: str) -> str:
    """Return the type as which values of a documented type are read before they are looked at."""
    return READ_AS.get(kind, kind)


def exact(name: str, kind: str) -> str:
    """Return an expression of a documented type; a value that would be changed ends the query."""
    column = quoted_name(name)
    if kind not in HOLDS:
        return column
    holds = _holds(column, kind)
    return (
        f"case when {holds} then cast({column} as {kind}) when {column} is null then null "
        f"else error({quoted(MARK + name)}) end as {column}"
    )


def _holds(column: str, kind: str) -> str:
    return HOLDS[kind].format(f"try_cast({column} as {read_as(kind)})")


def check_stored(connection: duckdb.DuckDBPyConnection, source: RecordFile, item: str, stored: dict[str, str]) -> None:
    """Refuse a Parquet file whose types cannot be turned into the documented ones without a change.

    A column without a value may be of any type: writers do not know better.

    Raises:
        InputError: a text is stored as a number or a list, a number as a float of 32 bits, and the like.
    """
    for name, kind in stored.items():
        wanted = source.table.types.get(name, "varchar")
        if re.fullmatch(STORED[wanted], kind) or (name in source.table.identifiers and re.fullmatch(IDENTIFIER, kind)):
            continue
        values = connection.execute(f"select count({quoted_name(name)}) from {item}").fetchone()
        if values and values[0]:
            raise InputError(
                f"column {name} is stored as another type, which would change its values",
                file=source.file.path,
                found=kind,
                expected="text, such as '0010'" if wanted == "varchar" else wanted,
            )


def first_inexact(connection: duckdb.DuckDBPyConnection, source: RecordFile, columns: Columns, name: str) -> InputError:
    """Return the error of the first value of a column that ``exact`` refused, with its line (of Parquet: its row).

    Args:
        connection: any; it changes nothing.
        source: the file, and the table that it becomes.
        columns: of the file.
        name: the column.
    """
    kind = source.table.types[name]
    where = f"{quoted_name(name)} is not null and not coalesce({_holds(quoted_name(name), kind)}, false)"
    place = next(iter(_places(connection, source, columns, where)), None)
    return InputError(
        f"a value of column {name} does not fit its type: it would be rounded, cut or lost",
        file=source.file.path,
        line=None if source.is_parquet else place,
        found=f"row {place}" if source.is_parquet and place else None,
        expected=f"{kind}, such as {SUCH_AS[kind]}",
        do="take the file as it was published; a program that saved it again may have changed its values",
    )


def check_key(connection: duckdb.DuckDBPyConnection, source: RecordFile, columns: Columns) -> None:
    """Refuse a loaded table with a row twice: no two rows have the same key, and none has an empty one.

    Raises:
        InputError: two rows, or an empty key; both places are named.
    """
    key = keys().get(source.table.qualified, ())
    repeated = repeated_key(connection, source.table.qualified, key)
    if repeated is None:
        return
    same = (
        f"({name}::varchar is not distinct from $1[{at}] or try_cast({name} as double) = try_cast($1[{at}] as double))"
        for at, name in enumerate(map(quoted_name, key), 1)
    )
    values = [None if repeated[name] is None else str(repeated[name]) for name in key]
    places = _places(connection, source, columns, " and ".join(same), [values])
    unit = "rows" if source.is_parquet else "lines"
    raise InputError(
        f"a key is empty or occurs twice: {', '.join(key)}",
        file=source.file.path,
        line=None if source.is_parquet or not places else places[-1],
        found=f"the same, or nothing, in {unit} {' and '.join(map(str, places))}",
        expected=f"another {', '.join(key)} in every row",
        do="take the file as it was published; duplicate rows would be counted twice",
    )


def _places(
    connection: duckdb.DuckDBPyConnection, source: RecordFile, columns: Columns, where: str, values: Sequence[Any] = ()
) -> list[int]:
    """Return where the first two such rows stand: 1-based lines of a CSV file, rows of a Parquet file."""
    if source.is_parquet:
        rows = f"select *, file_row_number + 1 as place_of_row from {stored_item(source, columns)}"
        query = f"select place_of_row from ({rows}) where {where} order by 1 limit 2"
        return [int(row[0]) for row in connection.execute(query, values).fetchall()]
    query = f"select distinct * from {stored_item(source, columns)} where {where} limit {SAME_ROWS}"
    wanted = {tuple(value or "" for value in row) for row in connection.execute(query, values).fetchall()}
    places, line, separator = list[int](), 1, source.separator()
    csv.field_size_limit(MAX_ROW_BYTES)
    with open_bytes(source.file.path) as content:
        # DuckDB does not count lines: blank ones and rows that it refused stand between those that it read.
        text = io.TextIOWrapper(content, encoding="utf-8-sig", errors="replace", newline="")
        quoting: Any = csv.QUOTE_NONE if separator == "\t" else csv.QUOTE_MINIMAL
        reader = csv.reader(text, delimiter=separator, quoting=quoting)
        for row in reader:
            if tuple(row) in wanted:
                places.append(line)
            if len(places) == 2:
                break
            line = reader.line_num + 1
    return places


def line_breaks(types: dict[str, str]) -> str:
    """Return an expression of how many line ends the texts of a row have (strlen counts bytes: nothing is decoded)."""
    texts = [quoted_name(name) for name, kind in types.items() if kind == "varchar"]
    return " + ".join(f"coalesce(strlen({name}) - strlen(replace({name}, chr(10), '')), 0)" for name in texts) or "0"
