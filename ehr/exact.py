"""Nothing is changed on the way in: a value that a documented type would round or cut is refused, and a key twice."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

import duckdb

from ehr.sources.tables import RecordFile, keys
from ground.errors import InputError
from ground.storage.loading import repeated_key
from ground.storage.scanning import MAX_ROW_BYTES, open_bytes, whole_file
from ground.storage.sqlfiles import quoted, quoted_name

__all__ = ["MARK", "check_key", "check_stored", "exact", "first_inexact", "read_as"]

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


def first_inexact(connection: duckdb.DuckDBPyConnection, source: RecordFile, item: str, name: str) -> InputError:
    """Return the error of the first value of a column that ``exact`` refused, with its line (of Parquet: its row).

    Args:
        connection: any; it changes nothing.
        source: the file, and the table that it becomes.
        item: the file as an item of FROM, its columns as they are stored (CSV: as text).
        name: the column.
    """
    kind = source.table.types[name]
    column = quoted_name(name)
    holds = _holds(column, kind)
    rows = connection.execute(
        f"select {column} from {item} where {column} is not null and not coalesce({holds}, false) limit 1"
    ).fetchall()
    places = _places(connection, source, {name: rows[0][0]}, item) if rows else iter(())
    return InputError(
        f"a value of column {name} does not fit its type: it would be rounded, cut or lost",
        file=source.file.path,
        **_where(source, next(places, None)),
        expected=f"{kind}, such as {SUCH_AS[kind]}",
        do="take the file as it was published; a program that saved it again may have changed its values",
    )


def check_key(connection: duckdb.DuckDBPyConnection, source: RecordFile, item: str) -> None:
    """Refuse a loaded table with a row twice: no two rows have the same key, and none has an empty one.

    Raises:
        InputError: two rows, or an empty key; both places are named.
    """
    key = keys().get(source.table.qualified, ())
    repeated = repeated_key(connection, source.table.qualified, key)
    if repeated is None:
        return
    places = list(islice(_places(connection, source, repeated, item), 2))
    unit = "rows" if source.is_parquet else "lines"
    raise InputError(
        f"a key is empty or occurs twice: {', '.join(key)}",
        file=source.file.path,
        line=None if source.is_parquet or not places else places[-1],
        found=f"the same, or nothing, in {unit} {' and '.join(map(str, places))}",
        expected=f"another {', '.join(key)} in every row",
        do="take the file as it was published; duplicate rows would be counted twice",
    )


def _where(source: RecordFile, place: int | None) -> dict[str, Any]:
    if place is None:
        return {}
    return {"found": f"row {place}"} if source.is_parquet else {"line": place}


def _places(
    connection: duckdb.DuckDBPyConnection, source: RecordFile, values: dict[str, object], item: str
) -> Iterator[int]:
    """Yield where rows with such values stand: 1-based lines of a CSV file, rows of a Parquet file."""
    if source.is_parquet:
        same = " and ".join(f"{quoted_name(name)}::varchar is not distinct from ?::varchar" for name in values)
        query = f"select file_row_number + 1 from {item} where {same} order by 1"
        yield from (int(row[0]) for row in connection.execute(query, list(values.values())).fetchall())
        return
    csv.field_size_limit(MAX_ROW_BYTES)
    # What is no CSV any more ends the search.
    with suppress(csv.Error), whole_file(source.file.path), open_bytes(source.file.path) as content:
        text = io.TextIOWrapper(content, encoding="utf-8-sig", errors="replace", newline="")
        tabs = source.separator() == "\t"
        lines = csv.reader(text, delimiter="\t", quoting=csv.QUOTE_NONE) if tabs else csv.reader(text)
        header = [name.strip().lower() for name in next(lines)]
        positions = {header.index(name): value for name, value in values.items()}
        begin = lines.line_num + 1
        for row in lines:
            if len(row) == len(header) and all(_same(row[at], value) for at, value in positions.items()):
                yield begin
            begin = lines.line_num + 1


def _same(text: str, value: object) -> bool:
    if isinstance(value, int | float):
        with suppress(ValueError):
            return float(text) == value
        return False
    return text == ("" if value is None else value)
