"""Load a UMLS or RxNorm release of RRF files into the warehouse: file by file, resumable, every refused row kept."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

import duckdb

from ground.errors import InputError
from ground.flow.manifest import is_open_release
from ground.progress import progress
from ground.settings import LoadSettings, RemoteSettings
from ground.storage.files import private_directory
from ground.storage.loading import (
    LoadedFile,
    LoadReport,
    Reject,
    finished_files,
    forget_other_tables,
    keep_rejects,
    left_out,
    prepare,
    record,
    repeated_key,
    too_many_rejects,
)
from ground.storage.remote import Place, reading_from, require_allowed
from ground.storage.scanning import FileScan, is_gzip, scanning
from ground.storage.sqlfiles import quoted
from ground.storage.warehouse import count_drop, number_of, table_exists, transaction
from kg.ontology.joining import join_release
from kg.release import Kind, Release, RrfFile, find_release
from kg.rrf import Layout, copy_good_rows, read_rrf, rows_where

__all__ = ["load_rxnorm", "load_umls"]

CHOSEN = {
    "MRCONSO": ("LAT", "language"),
    "MRSAT": ("ATN", "attribute"),
    "RXNSAT": ("ATN", "attribute"),
}
"""Files of which only some rows are kept: by which column, and the setting, in the singular."""

DIFFERING = {"MRCONSO": ("LUI", "SUI", "AUI", "STR"), "MRREL": ("CUI1", "CUI2", "RUI")}
"""Columns in which DuckDB's own choice, a dictionary, is slow to store: nearly all values of a block of rows differ.

Zstandard takes a third of the time, and the same room on disk.
"""


LEAST_SHARE = 0.9
"""Of the rows that MRFILES states, and of the concepts that have a semantic type: below it a part is missing."""

SUBSET = ", a subset: "
"""What follows the name of a release of which a part is missing, before the reason."""

IDENTIFIER = {"CUI": "C[A-Z]?[0-9]+", "CUI1": "C[A-Z]?[0-9]+", "RXCUI": "[0-9]+", "RXCUI1": "[0-9]+"}
"""What the first column of a file that every release has may hold; a header line does not."""


class _NotCleanError(Exception):
    """DuckDB's pass and the count of lines disagree, or a row is malformed: the exact way has to be taken."""


def load_umls(
    connection: duckdb.DuckDBPyConnection,
    folder: Place,
    settings: LoadSettings,
    remote: RemoteSettings = RemoteSettings(),  # noqa: B008
) -> LoadReport:
    """Load a UMLS release into the schema ``umls``; the folder is META or one above it.

    Each file is one transaction together with its line in ``ground.load``: a load that was stopped goes on with the
    next file, and a file that has not changed is skipped.

    Raises:
        InputError: no release, a required file is missing, a file is damaged, too many of its rows are malformed, or a
            part of the release is missing and ``load.subset`` does not say why.
        RefusedError: it lies in object storage that the settings do not name for credentialed data.
    """
    return _load_from("umls", connection, folder, settings, remote)


def load_rxnorm(
    connection: duckdb.DuckDBPyConnection,
    folder: Place,
    settings: LoadSettings,
    remote: RemoteSettings = RemoteSettings(),  # noqa: B008
) -> LoadReport:
    """Load an RxNorm release into the schema ``rxnorm``; the folder is rrf or one above it. As ``load_umls``."""
    return _load_from("rxnorm", connection, folder, settings, remote)


def _load_from(
    kind: Kind,
    connection: duckdb.DuckDBPyConnection,
    folder: Place,
    settings: LoadSettings,
    remote: RemoteSettings,
) -> LoadReport:
    with reading_from(connection, folder):
        release = find_release(kind, folder)
        require_allowed(folder, credentialed=not is_open_release(release.name), settings=remote)
        return _load(connection, release, settings)


def _load(connection: duckdb.DuckDBPyConnection, release: Release, settings: LoadSettings) -> LoadReport:
    prepare(connection)
    for name in release.lacking:
        require_whole(settings, f"there is no {name}.RRF", release.folder)
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
            if file.name == "MRCONSO" and not number_of(connection, f"select count(*) from {file.table}"):
                raise InputError(
                    "no name of the release is in a language that is kept",
                    file=release.folder,
                    expected=f"rows of MRCONSO with LAT {', '.join(settings.languages)}",
                    do="install the release with these languages, or set load.languages",
                )
            advance(1)
    in_use = _name_in_use(connection, release, settings)
    if release.kind == "umls":
        require_types(connection, settings)
    stale = forget_other_tables(connection, release.kind, [file.table for file in loaded], [release.kind])
    warnings += [f"{table} of an earlier load is removed: it is no part of this one" for table in stale]
    for table, columns in (*((file.table, file.columns) for file in release.files), *release.absent):
        _create_empty(connection, table, columns)
    join_release(connection)
    return LoadReport(release.kind, tuple(loaded), release.missing_optional, tuple(warnings), in_use)


def require_whole(settings: LoadSettings, gap: str, file: Place | None, expected: str | None = None) -> None:
    """Refuse a release of which a part is missing, unless the settings say why.

    Raises:
        InputError: they do not.
    """
    if not settings.subset:
        raise InputError(
            "a part of the release is missing",
            file=file,
            found=gap,
            expected=expected or "a whole release",
            do="copy or install the release again; if it is a part on purpose, say why: "
            '`[load] subset = "MeSH alone"` in ontoground.toml',
        )


def require_types(connection: duckdb.DuckDBPyConnection, settings: LoadSettings) -> None:
    """Make sure that MRSTY is of the release of MRCONSO: nearly every concept has a semantic type.

    Raises:
        InputError: too many have none, and the settings do not say that the release is a subset.
    """
    row = connection.execute(f"select 1 from ground.load where source = 'umls' and contains(release, {quoted(SUBSET)})")
    if row.fetchone():
        return
    concepts, typed = connection.execute(
        "select count(*), count(*) filter (where cui in (select cui from umls.mrsty)) "
        "from (select distinct cui from umls.mrconso)"
    ).fetchall()[0]
    if typed < LEAST_SHARE * concepts:
        gap = f"MRSTY has semantic types of {typed} of the {concepts} concepts of MRCONSO"
        require_whole(settings, gap, None, "MRCONSO and MRSTY of one release")


def _name_in_use(connection: duckdb.DuckDBPyConnection, release: Release, settings: LoadSettings) -> str | None:
    """Return the release's name, and why it is a subset if it is one; it goes where the name goes."""
    name = f"{release.name or 'release without a name'}{SUBSET}{settings.subset}" if settings.subset else release.name
    connection.execute("update ground.load set release = ? where source = ?", [name, release.kind])
    return name


def _create_empty(connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[str]) -> None:
    """Make the empty table of a file that the release lacks, so that no query has to ask whether it is there."""
    if not table_exists(connection, table):
        fields = ", ".join(f'"{column}" varchar' for column in columns)
        connection.execute(f"create table {table} ({fields})")


@dataclass(frozen=True)
class _Job:
    """One file to load: where from, into which table, and the values of a column that are kept (none: all)."""

    connection: duckdb.DuckDBPyConnection
    release: Release
    file: RrfFile
    column: str
    chosen: str
    values: tuple[str, ...]
    settings: LoadSettings

    @classmethod
    def of(cls, connection: duckdb.DuckDBPyConnection, release: Release, file: RrfFile, settings: LoadSettings) -> _Job:
        """Return the job of a file as the settings want it."""
        column, chosen = CHOSEN.get(file.name, ("", ""))
        values = getattr(settings, f"{chosen}s") if chosen else ()
        return cls(connection, release, file, column, chosen, values, settings)

    @property
    def recipe(self) -> str:
        """What shapes the table besides the file: where it changes, the file is loaded again."""
        return f"columns={','.join(self.file.columns)};{self.chosen}={','.join(self.values)}"

    @property
    def condition(self) -> str:
        """The condition on rows that are read: with a value that is wanted, where that is asked, or malformed ones."""
        return (
            f"{self.column} in ({', '.join(map(quoted, self.values))}) or {self.malformed}" if self.values else "true"
        )

    @property
    def malformed(self) -> str:
        """The condition on rows of the right number of fields that are none of this file, such as a header line."""
        pattern = self.identifier
        return f"not regexp_full_match({self.file.columns[0]}, {quoted(pattern)})" if pattern else "false"

    @property
    def identifier(self) -> str | None:
        """What the first column holds, as a pattern, where that is known."""
        return IDENTIFIER.get(self.file.columns[0]) if self.file.whole else None

    @property
    def paths(self) -> list[Place]:
        """The pieces, in order."""
        return [piece.path for piece in self.file.pieces]

    def record(self, scans: Sequence[FileScan], rows: Sequence[int], rejects: Sequence[Reject]) -> list[LoadedFile]:
        """Write the bookkeeping, in the transaction that makes the table.

        Raises:
            InputError: a row stands twice, or a part of the file is missing.
        """
        _check_key(self)
        _check_rows(self, sum(rows))
        kind, file = self.release.kind, self.file
        name, recipe = self.release.name, self.recipe
        return record(self.connection, kind, file.table, file.pieces, scans, rows, rejects, release=name, recipe=recipe)


def _check_key(job: _Job) -> None:
    """Refuse a table with a row twice.

    Raises:
        InputError: two rows have the same key, or one has none.
    """
    repeated = repeated_key(job.connection, job.file.table, job.file.key)
    if repeated is None:
        return
    wanted = {job.file.columns.index(name): value or "" for name, value in repeated.items()}
    same = rows_where(
        job.file.pieces, lambda fields: all(at < len(fields) and fields[at] == text for at, text in wanted.items())
    )
    places = [(file, line) for file, line, _ in islice(same, 2)]
    file, line = places[-1] if places else (job.file.pieces[0], None)
    raise InputError(
        f"a key is empty or occurs twice: {', '.join(repeated)}",
        file=file.path,
        line=line,
        found="the same, or nothing, in " + " and ".join(f"{file.name}:{line}" for file, line in places),
        expected=f"another {', '.join(repeated)} in every row",
        do="take the file as it was published",
    )


def _check_rows(job: _Job, rows: int) -> None:
    """Refuse a file that lacks too many of its rows, or all.

    Raises:
        InputError: it does, and the settings do not say that the release is a subset.
    """
    file, stated = job.file, job.file.stated_rows
    if file.whole and not rows:
        require_whole(job.settings, f"{file.name} has no row", job.paths[0])
    if stated is not None and rows < LEAST_SHARE * stated:
        require_whole(
            job.settings, f"{rows} rows of {file.name}", job.paths[0], f"{stated} rows, as MRFILES.RRF states"
        )


def _load_file(
    connection: duckdb.DuckDBPyConnection, release: Release, file: RrfFile, settings: LoadSettings
) -> list[LoadedFile]:
    """Load one file, unless it was loaded before: in DuckDB's one pass, or exactly where the file is not clean."""
    job = _Job.of(connection, release, file, settings)
    finished = finished_files(connection, release.kind, file.table, file.pieces, job.recipe)
    if finished is not None:
        _check_rows(job, sum(file.rows_read for file in finished))
        return finished
    with scanning(job.paths) as pending:
        try:
            with transaction(connection):
                return _load_fast(job, pending)
        except (_NotCleanError, duckdb.InvalidInputException):
            scans = pending.result()
        except duckdb.IOException as error:
            pending.result()
            raise InputError("a file cannot be read", file=job.paths[0], found=str(error).splitlines()[0]) from error
    return _load_exactly(job, scans)


def _load_fast(job: _Job, pending: Future[list[FileScan]]) -> list[LoadedFile]:
    """Load a file in one pass of DuckDB, inside a transaction.

    Raises:
        _NotCleanError: the table is not the whole file.
    """
    kept = _create_table(job, job.paths)
    scans = pending.result()
    rows = [scan.lines for scan in scans]
    if not _is_clean(scans, len(job.file.columns)) or (kept != sum(rows) and not job.values):
        raise _NotCleanError
    if number_of(job.connection, f"select count(*) from {job.file.table} where {job.malformed}"):
        raise _NotCleanError
    _count_not_kept(job, sum(rows) - kept)
    return job.record(scans, rows, ())


def _is_clean(scans: Sequence[FileScan], n_fields: int) -> bool:
    """Tell whether every line is a row of the right number of fields, and pieces end with a line.

    DuckDB refuses rows with too few fields. So there is no blank line, no field too many and no text behind the last
    field where all lines end with ``|`` and there are as many of these as fields.
    """
    right_fields = all(scan.bars == n_fields * scan.lines and scan.closed == scan.lines for scan in scans)
    return right_fields and all(scan.ends_line for scan in scans[:-1])


def _load_exactly(job: _Job, scans: Sequence[FileScan]) -> list[LoadedFile]:
    """Load a file that is not clean: its rows are checked line by line, the good ones are loaded from a copy."""
    file = job.file
    lines, limit = sum(scan.lines for scan in scans), job.settings.max_reject_share
    with _scratch(job.connection) as copy:
        first, pattern = file.columns[0], re.compile(job.identifier.encode()) if job.identifier else None
        layout = Layout(len(file.columns), first, pattern)
        copied = copy_good_rows(file.pieces, layout, copy, int(limit * lines))
        copy.flush()
        refused = len(copied.rejects)
        _check_end(job, scans[-1], copied.rejects)
        if refused > limit * lines:
            keep_rejects(job.connection, job.release.kind, file.pieces, copied.rejects)
            expected = f"UTF-8, {len(file.columns)} fields each followed by |: {','.join(file.columns)}"
            raise too_many_rejects(file.pieces, copied.rejects, refused, lines, limit, expected)
        with transaction(job.connection):
            good = sum(copied.rows.values()) - refused
            kept = _create_table(job, [Path(copy.name)])
            if kept != good and not job.values:
                raise InputError(
                    "rows were lost between the file and the table",
                    file=job.paths[0],
                    found=f"{kept} rows loaded, {refused} refused",
                    expected=f"{good + refused} rows",
                )
            _count_not_kept(job, good - kept)
            return job.record(scans, [copied.rows[piece.name] for piece in file.pieces], copied.rejects)


def _check_end(job: _Job, last: FileScan, rejects: Sequence[Reject]) -> None:
    """Refuse a file that was cut within its last row.

    Raises:
        InputError: it was, and the settings do not say that the release is a subset.
    """
    piece = job.file.pieces[-1]
    if not last.ends_line and any((reject.file, reject.line) == (piece.name, last.lines) for reject in rejects):
        require_whole(job.settings, f"{piece.name} ends within a row, in line {last.lines}", piece.path)


def _scratch(connection: duckdb.DuckDBPyConnection) -> IO[bytes]:
    """Open a temporary file where DuckDB keeps its own, inside the workspace."""
    row = connection.execute("select current_setting('temp_directory')").fetchone()
    folder = private_directory(Path(row[0])) if row and row[0] else None
    return tempfile.NamedTemporaryFile(dir=folder, prefix="rrf_", suffix=".RRF")


def _create_table(job: _Job, paths: Sequence[Place]) -> int:
    """Make the table and return its number of rows."""
    columns = job.file.columns
    differing = DIFFERING.get(job.file.name, ())
    fields = ", ".join(f'"{column}" varchar{" using compression zstd" * (column in differing)}' for column in columns)
    read, names = read_rrf(paths, columns), ", ".join(f'"{column}"' for column in columns)
    job.connection.execute(f"create or replace table {job.file.table} ({fields})")
    return number_of(job.connection, f"insert into {job.file.table} select {names} from {read} where {job.condition}")


def _count_not_kept(job: _Job, n: int) -> None:
    reason = f"{job.file.table}: {job.chosen} not kept"
    job.connection.execute("delete from ground.drop where stage = 'load' and reason = ?", [reason])
    count_drop(job.connection, "load", reason, n)


def _count_warnings(file: RrfFile, loaded: Sequence[LoadedFile]) -> list[str]:
    """Compare rows and bytes with what MRFILES states; a subset of a release differs rightly."""
    warnings = []
    rows = sum(piece.rows_read for piece in loaded)
    refused = sum(piece.rows_rejected for piece in loaded)
    size = sum(piece.path.stat().st_size for piece in file.pieces)
    uncompressed = not any(is_gzip(piece.path) for piece in file.pieces)
    if file.stated_rows is not None and file.stated_rows != rows:
        warnings.append(f"{file.name} has {rows} rows, MRFILES states {file.stated_rows}")
    elif uncompressed and file.stated_bytes is not None and file.stated_bytes != size:
        warnings.append(f"{file.name} has {size} bytes, MRFILES states {file.stated_bytes}")
    if refused:
        warnings.append(f"{file.name}: {refused} malformed rows refused, see ground.reject")
    return warnings
