"""What all loaders share: the report, and the bookkeeping by which a load resumes and a finished one is skipped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from ground.errors import InputError, UsageError
from ground.json_record import JsonRecord
from ground.settings import LoadSettings
from ground.storage.files import sha256_of
from ground.storage.remote import Place
from ground.storage.scanning import FileScan
from ground.storage.sqlfiles import quoted_name, sql_text
from ground.storage.warehouse import table_exists

__all__ = [
    "KEPT_REJECTS_OF_A_FAILED_FILE",
    "LoadReport",
    "LoadedFile",
    "Reject",
    "SourceFile",
    "finished_files",
    "forget_other_tables",
    "left_out",
    "prepare",
    "record",
    "repeated_key",
    "too_many_rejects",
]

# A file that fails keeps this many of its refused rows: enough to see what is wrong with it.
KEPT_REJECTS_OF_A_FAILED_FILE = 1000


@dataclass(frozen=True)
class SourceFile:
    """A file of a source: its name below the release's folder (as ``ground.load`` keeps it) and where it lies.

    Attributes:
        name: below the release's folder.
        path: where it lies.
        state: size, times and inode before it was read; a remote file is compared by the store's version instead.
    """

    name: str
    path: Place
    state: tuple[int, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Look at the file."""
        object.__setattr__(self, "state", _file_state(self.path))

    @property
    def version(self) -> int:
        """A number that changes with the file: its time of change in ns, or the version that a store gives.

        The later of both times: content can be changed with the older one kept.
        """
        if not isinstance(self.path, Path):
            return self.path.version()
        stat = self.path.stat()
        return max(stat.st_mtime_ns, stat.st_ctime_ns)

    def require_unchanged(self, size: int) -> None:
        """Make sure that the file that was read, of so many bytes, is still the one that was listed.

        Raises:
            InputError: it was changed or replaced meanwhile.
        """
        if not isinstance(self.path, Path):
            self.path.require_unchanged()
        elif self.state != _file_state(self.path) or self.state[0] != size:
            raise InputError(
                "a file was changed while it was read", file=self.path, do="load it again when no program writes it"
            )


def _file_state(path: Place) -> tuple[int, ...]:
    if not isinstance(path, Path) or not path.is_file():
        return ()
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_dev, stat.st_ino


@dataclass(frozen=True)
class Reject:
    """A refused row: where it stands (1-based physical line of the content), why, and the row itself."""

    file: str
    line: int
    reason: str
    raw: str


@dataclass(frozen=True)
class LoadedFile:
    """What became of one file. ``rows_read`` counts all its data rows, ``rows_rejected`` those of them refused."""

    table: str
    file: str
    rows_read: int
    rows_rejected: int
    skipped_because_done: bool


@dataclass(frozen=True)
class LoadReport(JsonRecord):
    """What a load did: one line a file, optional files that are not there, and what the user should know."""

    source: str
    tables: tuple[LoadedFile, ...]
    missing_optional: tuple[str, ...]
    warnings: tuple[str, ...]
    release: str | None


def prepare(connection: duckdb.DuckDBPyConnection) -> None:
    """Make sure that the loaders' own bookkeeping table is there."""
    connection.execute(sql_text("ground/load_origin"))


def _unchanged(file: SourceFile, path: str, modified_ns: int, size: int, sha256: str) -> bool:
    if file.path.stat().st_size != size:
        return False
    if path == str(file.path.resolve()) and modified_ns == file.version:
        return True
    return sha256_of(file.path) == sha256


def finished_files(
    connection: duckdb.DuckDBPyConnection, source: str, table: str, files: Sequence[SourceFile], recipe: str
) -> list[LoadedFile] | None:
    """Return what an earlier load made of these files, or None where the table has to be loaded (again).

    A file counts as the same where its path, size and time of change are, or else its size and SHA-256.
    """
    rows = connection.execute(
        """
        select o.file, o.path, o.modified_ns, l.bytes, l.sha256, l.rows_read, l.rows_rejected, o.recipe
        from ground.load_origin o join ground.load l using (source, file)
        where o.source = ? and o.table_name = ?
        """,
        [source, table],
    ).fetchall()
    known = {row[0]: row[1:] for row in rows}
    if set(known) != {file.name for file in files} or not table_exists(connection, table):
        return None
    for file in files:
        path, modified_ns, size, sha256, _, _, known_recipe = known[file.name]
        if known_recipe != recipe or not _unchanged(file, path, modified_ns, size, sha256):
            return None
    for file in files:
        _note_place(connection, source, file)
    return [LoadedFile(table, file.name, known[file.name][4], known[file.name][5], True) for file in files]


def _note_place(connection: duckdb.DuckDBPyConnection, source: str, file: SourceFile) -> None:
    """Record where a known file is now, so that it is not hashed the next time."""
    place = [str(file.path.resolve()), file.version]
    connection.execute(
        "update ground.load_origin set path = ?, modified_ns = ? where source = ? and file = ? "
        "and (path, modified_ns) is distinct from (?, ?)",
        [*place, source, file.name, *place],
    )


def _forget(connection: duckdb.DuckDBPyConnection, source: str, table: str, names: Iterable[str]) -> None:
    earlier = connection.execute(
        "select file from ground.load_origin where source = ? and table_name = ?", [source, table]
    ).fetchall()
    for name in sorted({row[0] for row in earlier} | set(names)):
        for bookkeeping in ("load", "load_origin", "reject"):
            connection.execute(f"delete from ground.{bookkeeping} where source = ? and file = ?", [source, name])


def _insert_rejects(connection: duckdb.DuckDBPyConnection, source: str, rejects: Sequence[Reject]) -> None:
    if not rejects:
        return
    connection.execute(
        """
        insert into ground.reject
        select $source, unnest($files), unnest($lines), unnest($reasons), unnest($raws)
        """,
        {
            "source": source,
            "files": [reject.file for reject in rejects],
            "lines": [reject.line for reject in rejects],
            "reasons": [reject.reason for reject in rejects],
            "raws": [reject.raw for reject in rejects],
        },
    )


def record(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    table: str,
    files: Sequence[SourceFile],
    scans: Sequence[FileScan],
    rows_read: Sequence[int],
    rejects: Sequence[Reject],
    *,
    release: str | None,
    recipe: str,
) -> list[LoadedFile]:
    """Write the bookkeeping of a table's files; call it in the transaction that makes the table.

    Raises:
        InputError: a file was changed or replaced while it was read.
    """
    for file, scan in zip(files, scans, strict=True):
        file.require_unchanged(scan.size)
    _forget(connection, source, table, [file.name for file in files])
    finished = datetime.now(UTC).replace(tzinfo=None)
    loaded = []
    for file, scan, rows in zip(files, scans, rows_read, strict=True):
        refused = sum(reject.file == file.name for reject in rejects)
        connection.execute(
            "insert into ground.load values (?, ?, ?, ?, ?, ?, ?, ?)",
            [source, file.name, scan.size, scan.sha256, rows, refused, release, finished],
        )
        connection.execute(
            "insert into ground.load_origin values (?, ?, ?, ?, ?, ?)",
            [source, file.name, table, str(file.path.resolve()), file.version, recipe],
        )
        loaded.append(LoadedFile(table, file.name, rows, refused, False))
    _insert_rejects(connection, source, rejects)
    return loaded


def repeated_key(connection: duckdb.DuckDBPyConnection, table: str, key: Sequence[str]) -> dict[str, object] | None:
    """Return a key that is in several rows of a table, or partly empty, else None; no key is in none."""
    if not key:
        return None
    columns = ", ".join(map(quoted_name, key))
    empty = " or ".join(f"{quoted_name(name)} is null" for name in key)
    row = connection.execute(
        f"select {columns} from {table} group by all having count(*) > 1 or {empty} limit 1"
    ).fetchone()
    return dict(zip(key, row, strict=True)) if row else None


def too_many_rejects(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    files: Sequence[SourceFile],
    rejects: Sequence[Reject],
    counted: tuple[int, int, float],
    expected: str,
) -> InputError:
    """Return the error of files that are given up; the first of their refused rows are kept, instead of earlier ones.

    Args:
        connection: the warehouse, outside of the transaction that is given up.
        source: of the files.
        files: a table in pieces.
        rejects: refused rows, of which the error names the first.
        counted: refused rows or lines, all of them, and the share that is allowed.
        expected: what a row has.
    """
    for file in files:
        connection.execute("delete from ground.reject where source = ? and file = ?", [source, file.name])
    _insert_rejects(connection, source, rejects[:KEPT_REJECTS_OF_A_FAILED_FILE])
    first, (refused, total, limit) = rejects[0], counted
    return InputError(
        f"too much is malformed: {refused} of {total} rows or lines, allowed is a share of {limit:g}",
        file={file.name: file.path for file in files}[first.file],
        line=first.line,
        found=first.reason,
        expected=expected,
        do="read the refused rows in ground.reject; correct the file, or raise load.max_reject_share",
    )


def left_out(settings: LoadSettings, table: str, *, required: bool) -> bool:
    """Tell whether the settings leave a table out (by its name without the schema).

    Raises:
        UsageError: the flow cannot do without this table.
    """
    name = table.rsplit(".", 1)[-1]
    if name not in settings.skip_tables:
        return False
    if required:
        raise UsageError(f"load.skip_tables names {name}, which is required", found=", ".join(settings.skip_tables))
    return True


def forget_other_tables(
    connection: duckdb.DuckDBPyConnection, source: str, present: Iterable[str], schemas: Iterable[str]
) -> list[str]:
    """Drop tables of an earlier load, in the given schemas, that the present one does not have; return their names.

    A warehouse holds one release of a source: what a newer one lacks must not be taken from an older one.
    """
    kept, looked_at = set(present), set(schemas)
    rows = connection.execute(
        "select distinct table_name from ground.load_origin where source = ? order by 1", [source]
    ).fetchall()
    stale = [table for (table,) in rows if table not in kept and table.split(".")[0] in looked_at]
    for table in stale:
        connection.execute(f"drop table if exists {table}")
        _forget(connection, source, table, [])
    return stale
