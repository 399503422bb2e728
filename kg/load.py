"""Load a UMLS or RxNorm release of RRF files into the warehouse: file by file, resumable, every refused row kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import NamedTemporaryFile

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
    left_out,
    prepare,
    record,
    repeated_key,
    too_many_rejects,
)
from ground.storage.remote import Place, reading_from, require_allowed
from ground.storage.scanning import FileScan, is_gzip, scanning
from ground.storage.sqlfiles import quoted
from ground.storage.warehouse import count_drop, number_of, transaction
from kg.ontology.joining import join_release
from kg.release import Kind, Release, RrfFile, find_release
from kg.rrf import copy_good_rows, places_of, read_rrf

__all__ = ["load_rxnorm", "load_umls", "require_types"]

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

Counted = tuple[Sequence[int], Sequence[Reject]]
"""The rows of each piece of a file, refused ones too, and the refused rows."""


class _LostRowsError(InputError):
    """The table is not the whole file: the exact way has to be taken, where it was not."""


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
    return _load("umls", connection, folder, settings, remote)


def load_rxnorm(
    connection: duckdb.DuckDBPyConnection,
    folder: Place,
    settings: LoadSettings,
    remote: RemoteSettings = RemoteSettings(),  # noqa: B008
) -> LoadReport:
    """Load an RxNorm release into the schema ``rxnorm``; the folder is rrf or one above it. As ``load_umls``."""
    return _load("rxnorm", connection, folder, settings, remote)


def _load(
    kind: Kind, connection: duckdb.DuckDBPyConnection, folder: Place, settings: LoadSettings, remote: RemoteSettings
) -> LoadReport:
    with reading_from(connection, folder):
        release = find_release(kind, folder)
        require_allowed(folder, credentialed=not is_open_release(release.name), settings=remote)
        prepare(connection)
        loaded, warnings = _load_files(connection, release, settings)
    name = f"{release.name or 'release without a name'}{SUBSET}{settings.subset}" if settings.subset else release.name
    connection.execute("update ground.load set release = ? where source = ?", [name, kind])
    if kind == "umls":
        require_types(connection, settings)
    stale = forget_other_tables(connection, kind, [file.table for file in loaded], [kind])
    warnings += [f"{table} of an earlier load is removed: it is no part of this one" for table in stale]
    for file in (*release.files, *release.absent):
        # So that no query has to ask whether it is there.
        fields = ", ".join(f'"{column}" varchar' for column in file.columns)
        connection.execute(f"create table if not exists {file.table} ({fields})")
    join_release(connection)
    return LoadReport(kind, tuple(loaded), tuple(f"{file.name}.RRF" for file in release.absent), tuple(warnings), name)


def _load_files(
    connection: duckdb.DuckDBPyConnection, release: Release, settings: LoadSettings
) -> tuple[list[LoadedFile], list[str]]:
    loaded, warnings = list[LoadedFile](), list(release.warnings)
    for file in release.absent:
        if file.whole:
            require_whole(settings, f"there is no {file.name}.RRF", release.folder)
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
    return loaded, warnings


def require_whole(settings: LoadSettings, gap: str, file: Place | None, expected: str = "a whole release") -> None:
    """Refuse a release of which a part is missing, unless the settings say why.

    Raises:
        InputError: they do not.
    """
    if not settings.subset:
        raise InputError(
            "a part of the release is missing",
            file=file,
            found=gap,
            expected=expected,
            do="copy or install the release again; if it is a part on purpose, say why: "
            '`[load] subset = "MeSH alone"` in ontoground.toml',
        )


def require_types(connection: duckdb.DuckDBPyConnection, settings: LoadSettings) -> None:
    """Make sure that MRSTY is of the release of MRCONSO: nearly every concept has a semantic type.

    Raises:
        InputError: too many have none, and the settings do not say that the release is a subset.
    """
    subset = f"select count(*) from ground.load where source = 'umls' and contains(release, {quoted(SUBSET)})"
    if number_of(connection, subset):
        return
    concepts, typed = connection.execute(
        "select count(*), count(*) filter (where cui in (select cui from umls.mrsty)) "
        "from (select distinct cui from umls.mrconso)"
    ).fetchall()[0]
    if typed < LEAST_SHARE * concepts:
        gap = f"MRSTY has semantic types of {typed} of the {concepts} concepts of MRCONSO"
        require_whole(settings, gap, None, "MRCONSO and MRSTY of one release")


@dataclass(frozen=True)
class _Job:
    """One file to load."""

    connection: duckdb.DuckDBPyConnection
    release: Release
    file: RrfFile
    settings: LoadSettings

    @property
    def paths(self) -> list[Place]:
        """The pieces, in order."""
        return [piece.path for piece in self.file.pieces]

    @property
    def chosen(self) -> tuple[str, str, tuple[str, ...]]:
        """The column by which rows are kept, what it holds, and the values that are kept; no values: all."""
        column, what = CHOSEN.get(self.file.name, ("", ""))
        return column, what, getattr(self.settings, f"{what}s") if what else ()

    @property
    def recipe(self) -> str:
        """What shapes the table besides the file: where it changes, the file is loaded again."""
        _, what, values = self.chosen
        return f"columns={','.join(self.file.columns)};{what}={','.join(values)}"

    @property
    def malformed(self) -> str:
        """The condition on rows of the right number of fields that are none of this file, such as a header line."""
        pattern = self.file.identifier
        return f"not regexp_full_match({self.file.columns[0]}, {quoted(pattern)})" if pattern else "false"


def _check_key(job: _Job) -> None:
    repeated = repeated_key(job.connection, job.file.table, job.file.key)
    if repeated is None:
        return
    places = list(islice(places_of(job.file, repeated), 2))
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
    """Refuse a file that lacks too many of its rows, or all."""
    file, stated = job.file, job.file.stated_rows
    if file.whole and not rows:
        require_whole(job.settings, f"{file.name} has no row", job.paths[0])
    if stated is not None and rows < LEAST_SHARE * stated:
        expected = f"{stated} rows, as MRFILES.RRF states"
        require_whole(job.settings, f"{rows} rows of {file.name}", job.paths[0], expected)


def _load_file(
    connection: duckdb.DuckDBPyConnection, release: Release, file: RrfFile, settings: LoadSettings
) -> list[LoadedFile]:
    """Load one file, unless it was loaded before: in DuckDB's one pass, or exactly where the file is not clean."""
    job = _Job(connection, release, file, settings)
    finished = finished_files(connection, release.kind, file.table, file.pieces, job.recipe)
    if finished is not None:
        _check_rows(job, sum(file.rows_read for file in finished))
        return finished
    with scanning(job.paths) as pending:
        try:
            with transaction(connection):
                return _fill(job, job.paths, lambda: _clean_rows(job, pending.result()), pending.result)
        except (_LostRowsError, duckdb.InvalidInputException):
            return _load_exactly(job, pending.result())
        except duckdb.IOException as error:
            pending.result()
            raise InputError("a file cannot be read", file=job.paths[0], found=str(error).splitlines()[0]) from error


def _load_exactly(job: _Job, scans: list[FileScan]) -> list[LoadedFile]:
    """Load a file that is not clean: its rows are checked line by line, the good ones are loaded from a copy."""
    file, limit, lines = job.file, job.settings.max_reject_share, sum(scan.lines for scan in scans)
    spill = job.connection.execute("select current_setting('temp_directory')").fetchall()[0][0]
    folder = private_directory(Path(spill)) if spill else None
    with NamedTemporaryFile(dir=folder, prefix="rrf_", suffix=".RRF") as copy:
        rows, rejects = copy_good_rows(file, copy, int(limit * lines))
        copy.flush()
        last, end = file.pieces[-1], scans[-1].lines
        if not scans[-1].ends_line and any((reject.file, reject.line) == (last.name, end) for reject in rejects):
            require_whole(job.settings, f"{last.name} ends within a row, in line {end}", last.path)
        if len(rejects) > limit * lines:
            expected = f"UTF-8, {len(file.columns)} fields each followed by |: {','.join(file.columns)}"
            counted = (len(rejects), lines, limit)
            raise too_many_rejects(job.connection, job.release.kind, file.pieces, rejects, counted, expected)
        with transaction(job.connection):
            return _fill(job, [Path(copy.name)], lambda: (rows, rejects), lambda: scans)


def _clean_rows(job: _Job, scans: Sequence[FileScan]) -> Counted:
    """Return the rows of a file of which every line is a row of the right number of fields, and pieces end with a line.

    DuckDB refuses rows with too few fields. So there is no blank line, no field too many and no text behind the last
    field where all lines end with ``|`` and there are as many of these as fields.
    """
    n_fields = len(job.file.columns)
    if not all(scan.bars == n_fields * scan.lines and scan.closed == scan.lines for scan in scans):
        raise _LostRowsError("a line is no row")
    if not all(scan.ends_line for scan in scans[:-1]):
        raise _LostRowsError("a row is in two pieces")
    return [scan.lines for scan in scans], ()


def _fill(
    job: _Job, paths: Sequence[Place], counted: Callable[[], Counted], scanned: Callable[[], list[FileScan]]
) -> list[LoadedFile]:
    """Make the table of a file, or of a copy of its good rows, in one pass of DuckDB, and then count what was read."""
    file, connection, (column, what, values) = job.file, job.connection, job.chosen
    zstd = DIFFERING.get(file.name, ())
    fields = ", ".join(f'"{name}" varchar{" using compression zstd" * (name in zstd)}' for name in file.columns)
    names, where = ", ".join(f'"{name}"' for name in file.columns), "true"
    if values:
        where = f"{column} in ({', '.join(map(quoted, values))}) or {job.malformed}"
    connection.execute(f"create or replace table {file.table} ({fields})")
    read = f"insert into {file.table} select {names} from {read_rrf(paths, file.columns)} where {where}"
    kept, (rows, rejects) = number_of(connection, read), counted()
    lost = sum(rows) - len(rejects) - kept
    if (lost and not values) or number_of(connection, f"select count(*) from {file.table} where {job.malformed}"):
        raise _LostRowsError(
            "rows were lost between the file and the table",
            file=job.paths[0],
            found=f"{kept} rows loaded, {len(rejects)} refused",
            expected=f"{sum(rows)} rows",
        )
    reason = f"{file.table}: {what} not kept"
    connection.execute("delete from ground.drop where stage = 'load' and reason = ?", [reason])
    count_drop(connection, "load", reason, lost)
    _check_key(job)
    _check_rows(job, sum(rows))
    source, name = job.release.kind, job.release.name
    return record(
        connection, source, file.table, file.pieces, scanned(), rows, rejects, release=name, recipe=job.recipe
    )


def _count_warnings(file: RrfFile, loaded: Sequence[LoadedFile]) -> list[str]:
    """Compare rows and bytes with what MRFILES states; a subset of a release differs rightly."""
    warnings = []
    rows, refused = (sum(getattr(piece, name) for piece in loaded) for name in ("rows_read", "rows_rejected"))
    size = sum(piece.path.stat().st_size for piece in file.pieces)
    known_size = None if any(is_gzip(piece.path) for piece in file.pieces) else file.stated_bytes
    if file.stated_rows not in (None, rows):
        warnings.append(f"{file.name} has {rows} rows, MRFILES states {file.stated_rows}")
    elif known_size not in (None, size):
        warnings.append(f"{file.name} has {size} bytes, MRFILES states {known_size}")
    if refused:
        warnings.append(f"{file.name}: {refused} malformed rows refused, see ground.reject")
    return warnings
