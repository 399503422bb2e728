"""Load a UMLS or RxNorm release of RRF files into the warehouse: file by file, resumable, every refused row kept."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import duckdb

from kg.release import Release, RrfFile, find_release
from kg.rrf import DUMMY, copy_good_rows, read_rrf
from ontoground.errors import InputError
from ontoground.files import private_directory
from ontoground.loading import (
    LoadedFile,
    LoadReport,
    finished_files,
    forget_other_tables,
    keep_rejects,
    left_out,
    prepare,
    quoted,
    record,
    too_many_rejects,
)
from ontoground.progress import progress
from ontoground.scanning import FileScan, is_gzip, scanning
from ontoground.settings import LoadSettings
from ontoground.warehouse import count_drop, table_exists, transaction

__all__ = ["load_rxnorm", "load_umls"]


class _NotCleanError(Exception):
    """DuckDB's pass and the count of lines disagree, or a row is malformed: the exact way has to be taken."""


def load_umls(connection: duckdb.DuckDBPyConnection, folder: Path, settings: LoadSettings) -> LoadReport:
    """Load a UMLS release into the schema ``umls``; the folder is META or one above it.

    Each file is one transaction together with its line in ``ground.load``: a load that was stopped goes on with the
    next file, and a file that has not changed is skipped.

    Raises:
        InputError: no release, a required file is missing, a file is damaged, or too many of its rows are malformed.
    """
    return _load(connection, find_release("umls", folder), settings)


def load_rxnorm(connection: duckdb.DuckDBPyConnection, folder: Path, settings: LoadSettings) -> LoadReport:
    """Load an RxNorm release into the schema ``rxnorm``; the folder is rrf or one above it. As ``load_umls``."""
    return _load(connection, find_release("rxnorm", folder), settings)


def _load(connection: duckdb.DuckDBPyConnection, release: Release, settings: LoadSettings) -> LoadReport:
    prepare(connection)
    warnings = list(release.warnings)
    loaded: list[LoadedFile] = []
    with progress(f"load {release.kind}", len(release.files)) as advance:
        for file in release.files:
            if left_out(settings, file.table, required=file.required):
                warnings.append(f"{file.name} is left out by load.skip_tables")
                continue
            done = _load_file(connection, release, file, settings)
            loaded += done
            warnings += _count_warnings(file, done)
            advance(1)
    stale = forget_other_tables(connection, release.kind, [one.table for one in loaded], [release.kind])
    warnings += [f"{table} of an earlier load is removed: it is no part of this one" for table in stale]
    for table, columns in (*((file.table, file.columns) for file in release.files), *release.absent):
        _create_empty(connection, table, columns)
    return LoadReport(release.kind, tuple(loaded), release.missing_optional, tuple(warnings), release.name)


def _create_empty(connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[str]) -> None:
    """Make the empty table of a file that the release lacks, so that no query has to ask whether it is there."""
    if not table_exists(connection, table):
        fields = ", ".join(f'"{column}" varchar' for column in columns)
        connection.execute(f"create table {table} ({fields})")


def _kept(file: RrfFile, languages: Sequence[str]) -> str:
    """Return the condition on rows that are kept: well formed, and in a wanted language where the table has any."""
    condition = f"{DUMMY} is null"
    wanted = ", ".join(map(quoted, languages))
    return condition + (f" and coalesce(LAT in ({wanted}), false)" if languages else "")


def _create_table(
    connection: duckdb.DuckDBPyConnection, file: RrfFile, paths: Sequence[str], languages: Sequence[str]
) -> int:
    columns = ", ".join(f'"{column}"' for column in file.columns)
    row = connection.execute(
        f"create or replace table {file.table} as select {columns} from {read_rrf(paths, file.columns)} "
        f"where {_kept(file, languages)}"
    ).fetchone()
    return int(row[0]) if row else 0


def _other_languages(
    connection: duckdb.DuckDBPyConnection, file: RrfFile, paths: Sequence[str], languages: Sequence[str]
) -> int:
    """Count the well-formed rows in other languages."""
    if not languages:
        return 0
    row = connection.execute(
        f"select count(*) from {read_rrf(paths, file.columns)} where {DUMMY} is null and not ({_kept(file, languages)})"
    ).fetchone()
    return int(row[0]) if row else 0


def _load_file(
    connection: duckdb.DuckDBPyConnection, release: Release, file: RrfFile, settings: LoadSettings
) -> list[LoadedFile]:
    languages = settings.languages if file.name == "MRCONSO" else ()
    recipe = f"columns={','.join(file.columns)};languages={','.join(languages)}"
    finished = finished_files(connection, release.kind, file.table, file.pieces, recipe)
    if finished is not None:
        return finished
    paths = [piece.path for piece in file.pieces]
    with scanning(paths) as pending:
        try:
            with transaction(connection):
                kept = _create_table(connection, file, list(map(str, paths)), languages)
                scans = pending.result()
                other = _other_languages(connection, file, list(map(str, paths)), languages)
                rows = [scan.lines for scan in scans]
                if kept + other != sum(rows) or not _is_clean(scans, len(file.columns)):
                    raise _NotCleanError
                _count_other(connection, file, other)
                return record(
                    connection,
                    release.kind,
                    file.table,
                    file.pieces,
                    scans,
                    rows,
                    [],
                    release=release.name,
                    recipe=recipe,
                )
        except (_NotCleanError, duckdb.InvalidInputException):
            scans = pending.result()
        except duckdb.IOException as error:
            pending.result()
            raise InputError("a file cannot be read", file=paths[0], found=str(error).splitlines()[0]) from error
    return _load_exactly(connection, release, file, settings.max_reject_share, languages, recipe, scans)


def _is_clean(scans: Sequence[FileScan], n_fields: int) -> bool:
    """Tell whether lines have the right number of fields and pieces end with a line.

    DuckDB refuses rows with too few fields but passes over empty fields too many: the count of ``|`` shows them.
    """
    right_fields = all(scan.bars == n_fields * scan.lines for scan in scans)
    return right_fields and all(scan.ends_line for scan in scans[:-1])


def _count_other(connection: duckdb.DuckDBPyConnection, file: RrfFile, n: int) -> None:
    reason = f"{file.table}: language not kept"
    connection.execute("delete from ground.drop where stage = 'load' and reason = ?", [reason])
    count_drop(connection, "load", reason, n)


def _scratch(connection: duckdb.DuckDBPyConnection) -> IO[bytes]:
    """Open a temporary file where DuckDB keeps its own, inside the workspace."""
    row = connection.execute("select current_setting('temp_directory')").fetchone()
    folder = private_directory(Path(row[0])) if row and row[0] else None
    return tempfile.NamedTemporaryFile(dir=folder, prefix="rrf_", suffix=".RRF")


def _load_exactly(
    connection: duckdb.DuckDBPyConnection,
    release: Release,
    file: RrfFile,
    max_reject_share: float,
    languages: Sequence[str],
    recipe: str,
    scans: Sequence[FileScan],
) -> list[LoadedFile]:
    """Load a file that is not clean: its rows are checked one by one, the good ones are loaded from a copy."""
    lines = sum(scan.lines for scan in scans)
    with _scratch(connection) as copy:
        copied = copy_good_rows(file.pieces, len(file.columns), copy, int(max_reject_share * lines))
        copy.flush()
        expected = f"UTF-8, {len(file.columns)} fields each followed by |: {','.join(file.columns)}"
        if len(copied.rejects) > max_reject_share * lines:
            keep_rejects(connection, release.kind, file.pieces, copied.rejects)
            raise too_many_rejects(file.pieces, copied.rejects, len(copied.rejects), lines, max_reject_share, expected)
        total = sum(copied.rows.values())
        with transaction(connection):
            kept = _create_table(connection, file, [copy.name], languages)
            other = _other_languages(connection, file, [copy.name], languages)
            if kept + other + len(copied.rejects) != total:
                raise InputError(
                    "rows were lost between the file and the table",
                    file=file.pieces[0].path,
                    found=f"{kept} rows loaded, {other} in other languages, {len(copied.rejects)} refused",
                    expected=f"{total} rows",
                )
            _count_other(connection, file, other)
            rows = [copied.rows[piece.name] for piece in file.pieces]
            return record(
                connection,
                release.kind,
                file.table,
                file.pieces,
                scans,
                rows,
                copied.rejects,
                release=release.name,
                recipe=recipe,
            )


def _count_warnings(file: RrfFile, loaded: Sequence[LoadedFile]) -> list[str]:
    """Compare rows and bytes with what MRFILES states; a subset of a release differs rightly."""
    warnings = []
    rows = sum(one.rows_read for one in loaded)
    if file.stated_rows is not None and file.stated_rows != rows:
        warnings.append(f"{file.name} has {rows} rows, MRFILES states {file.stated_rows}")
    size = sum(piece.path.stat().st_size for piece in file.pieces)
    plain = not any(is_gzip(piece.path) for piece in file.pieces)
    if plain and file.stated_bytes is not None and file.stated_bytes != size:
        warnings.append(f"{file.name} has {size} bytes, MRFILES states {file.stated_bytes}")
    refused = sum(one.rows_rejected for one in loaded)
    if refused:
        warnings.append(f"{file.name}: {refused} malformed rows refused, see ground.reject")
    return warnings
