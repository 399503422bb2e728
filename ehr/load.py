"""Load MIMIC-IV into the warehouse: file by file, resumable, with the documented types, every refused row kept."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace

import duckdb

from ehr.accounting import MAX_FIELDS, kept_lines, survey
from ehr.csvfile import Columns, count_rejects, fetch_rejects, forget_rejects, match_columns, read_item, stored_item
from ehr.exact import MARK, check_key, first_inexact
from ehr.release import MimicFile, MimicRelease, find_mimic, published_counts
from ehr.sources.contract import make_views
from ehr.sources.tables import keys
from ground.errors import InputError
from ground.progress import progress
from ground.settings import LoadSettings, RemoteSettings
from ground.storage.loading import (
    KEPT_REJECTS_OF_A_FAILED_FILE,
    LoadedFile,
    LoadReport,
    Reject,
    finished_files,
    forget_other_tables,
    keep_rejects,
    left_out,
    prepare,
    record,
    too_many_rejects,
)
from ground.storage.remote import Place, Places, reading_from, require_allowed, several
from ground.storage.scanning import FileScan, scanning
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import number_of, run_sql, set_variables, transaction

__all__ = ["load_mimic"]

SOURCE = "mimic"
# Tables whose rows belong to an admission; those without one are counted.
ADMISSION_TABLES = ("hosp.diagnoses_icd", "hosp.procedures_icd", "hosp.prescriptions")
CHECKED = {
    "mimiciv_note.discharge": "note_id",
    "mimiciv_note.radiology": "note_id",
    "mimiciv_hosp.admissions": "hadm_id",
}
"""Tables of which rows are compared with their admission, and what tells a row from others; admissions come last."""


class _NotCleanError(Exception):
    """A row of a CSV file is malformed: the file is read again, and such rows are refused."""


class _TooManyRejectsError(Exception):
    """The table is given up; what was refused is still to be kept. ``refused`` of ``total`` rows or lines are bad."""

    def __init__(self, rejects: Sequence[Reject], refused: int, total: int) -> None:
        super().__init__()
        self.rejects = rejects
        self.refused = refused
        self.total = total


def load_mimic(
    connection: duckdb.DuckDBPyConnection,
    folders: Places,
    settings: LoadSettings,
    remote: RemoteSettings = RemoteSettings(),  # noqa: B008
) -> LoadReport:
    """Load a MIMIC-IV release into ``mimiciv_hosp``, ``mimiciv_note`` and ``mimiciv_icu``.

    The folder, or several, hold hosp/, note/ and icu/, or they lie up to four levels below. Each file is one
    transaction together with its line in ``ground.load``: a load that was stopped goes on with the next file, and a
    file that has not changed is skipped.

    Raises:
        InputError: a required file or a needed column is missing, a file is damaged or (where asked) has another
            SHA-256 than stated, or too many of its rows are malformed.
        RefusedError: it lies in object storage that the settings do not name for credentialed data.
    """
    with ExitStack() as reading:
        for folder in several(folders):
            reading.enter_context(reading_from(connection, folder))
        release = find_mimic(*several(folders), icu=settings.icu)
        for folder in several(folders):
            require_allowed(folder, credentialed=release.credentialed, settings=remote)
        return _load(connection, release, settings)


def _load(connection: duckdb.DuckDBPyConnection, release: MimicRelease, settings: LoadSettings) -> LoadReport:
    prepare(connection)
    warnings = list(release.warnings)
    loaded: list[LoadedFile] = []
    with progress("load mimic", len(release.files)) as advance:
        for source in release.files:
            if left_out(settings, source.table.name, required=source.table.required):
                warnings.append(f"{source.file.name} is left out by load.skip_tables")
                continue
            columns = match_columns(connection, source)
            loaded += _load_file(connection, release, source, columns, settings)
            warnings += _column_warnings(source, columns)
            advance(1)
    loaded = _refuse_rows(connection, loaded)
    warnings += _stale_warnings(connection, loaded, settings)
    warnings += _count_warnings(release, loaded)
    warnings += _orphan_warnings(connection, loaded)
    make_views(connection)
    if settings.verify_sha256:
        warnings += _verify(connection, release, loaded)
    return LoadReport(SOURCE, tuple(loaded), release.missing_optional, tuple(warnings), release.name)


def _load_file(
    connection: duckdb.DuckDBPyConnection,
    release: MimicRelease,
    source: MimicFile,
    columns: Columns,
    settings: LoadSettings,
) -> list[LoadedFile]:
    table = source.table.qualified
    recipe = ",".join(f"{name} {kind}" for name, kind in columns.types.items())
    if table in CHECKED and source.table.module == "note":
        recipe += f";admissions {_digest_of_admissions(connection)}"
    finished = finished_files(connection, SOURCE, table, [source.file], recipe)
    if finished is not None:
        return finished

    def attempt(pending: Future[list[FileScan]], refusing: bool) -> list[LoadedFile]:
        with transaction(connection):
            kept = _create_table(connection, source, columns, refusing)
            scans = pending.result()
            rejects = [] if source.is_parquet else _refused(connection, source, columns, kept, scans[0], settings)
            if columns.types.keys() >= set(keys().get(table, ())):
                check_key(connection, source, stored_item(source, columns))
            return record(
                connection,
                SOURCE,
                table,
                [source.file],
                scans,
                [kept + len(rejects)],
                rejects,
                release=release.release_of(source.table.module),
                recipe=recipe,
            )

    try:
        with scanning([source.file.path]) as pending:
            try:
                return attempt(pending, refusing=False)
            except _NotCleanError:
                _refuse_crowded(source, columns)
                return attempt(pending, refusing=True)
    except _TooManyRejectsError as error:
        expected = f"UTF-8, comma separated, quotes doubled, columns {', '.join(columns.types)}"
        keep_rejects(connection, SOURCE, [source.file], error.rejects)
        raise too_many_rejects(
            [source.file], error.rejects, error.refused, error.total, settings.max_reject_share, expected
        ) from None


def _refuse_crowded(source: MimicFile, columns: Columns) -> None:
    """Refuse a CSV file with a row of so many fields that DuckDB would take minutes, and gigabytes, to refuse it.

    Raises:
        InputError: there is such a row.
    """
    if crowded := survey(source.file.path).crowded:
        line, fields = crowded
        raise InputError(
            f"a row has more than {MAX_FIELDS} fields",
            file=source.file.path,
            line=line,
            found=f"{fields} fields",
            expected=f"{len(columns.types)}, as the first line has",
            do="take the file as it was published",
        )


def _create_table(connection: duckdb.DuckDBPyConnection, source: MimicFile, columns: Columns, refusing: bool) -> int:
    """Make a table and return its number of rows.

    Raises:
        _NotCleanError: a row is malformed, and none is to be refused.
        InputError: the file cannot be read, or a value is not exactly of its type.
    """
    forget_rejects(connection)
    fields = ", ".join(f'"{name}" {kind}{_compression(source, name)}' for name, kind in columns.types.items())
    try:
        connection.execute(f"create or replace table {source.table.qualified} ({fields})")
        return number_of(connection, f"insert into {source.table.qualified} {read_item(source, columns, refusing)}")
    except duckdb.IOException as error:
        raise InputError("a file cannot be read", file=source.file.path, found=str(error).splitlines()[0]) from error
    except (duckdb.InvalidInputException, duckdb.ConversionException) as error:
        _, mark, column = str(error).splitlines()[0].partition(MARK)
        if mark:
            # The transaction of this connection has ended, so another connection looks.
            with connection.cursor() as looking:
                raise first_inexact(looking, source, stored_item(source, columns), column) from None
        if not (refusing or source.is_parquet):
            raise _NotCleanError from None
        # DuckDB's message quotes the row, so only its kind is shown.
        line = None if source.is_parquet else survey(source.file.path).carriage_return
        raise InputError(
            "a file cannot be read",
            file=source.file.path,
            line=line,
            found="a carriage return outside of quotes" if line else type(error).__name__,
            expected="values of the documented types" if source.is_parquet else "a whole CSV file, gzipped or not",
        ) from None


def _compression(source: MimicFile, column: str) -> str:
    """Say how a column is stored where DuckDB's own choice is slow: a dictionary of notes, which all differ.

    Zstandard takes a fifth of that time and a third of that disk.
    """
    return " using compression zstd" if column in source.table.texts else ""


def _refused(
    connection: duckdb.DuckDBPyConnection,
    source: MimicFile,
    columns: Columns,
    kept: int,
    scan: FileScan,
    settings: LoadSettings,
) -> list[Reject]:
    """Return the rows of a CSV file that were refused, and one entry for lines that are in no row at all.

    Raises:
        _TooManyRejectsError: more than the allowed share of rows, or of lines.
    """
    refused = count_rejects(connection)
    limit = settings.max_reject_share
    if refused > limit * (kept + refused):
        rejects = fetch_rejects(connection, source, KEPT_REJECTS_OF_A_FAILED_FILE)
        raise _TooManyRejectsError(rejects, refused, kept + refused)
    rejects = fetch_rejects(connection, source, refused) if refused else []
    lines = scan.lines - 1
    missing = lines - kept - refused
    if missing <= 0 or (missing := lines - kept_lines(connection, source.table.qualified, columns.types)) <= refused:
        return rejects
    seen = survey(source.file.path)
    missing -= seen.blank
    in_rejects = sum(1 + reject.raw.rstrip("\n").count("\n") for reject in rejects)
    if missing > in_rejects:
        reason = f"a quote is not closed: {missing - in_rejects} lines are in no row"
        rejects.append(Reject(source.file.name, seen.unclosed or (rejects[0].line if rejects else 1), reason, ""))
    if missing > limit * lines:
        raise _TooManyRejectsError(rejects[-1:] + rejects[:-1], missing, lines)
    return rejects


def _column_warnings(source: MimicFile, columns: Columns) -> list[str]:
    warnings = []
    if columns.unknown:
        warnings.append(f"{source.file.name}: columns not documented, loaded as text: {', '.join(columns.unknown)}")
    if columns.absent:
        warnings.append(f"{source.file.name}: documented columns that this release lacks: {', '.join(columns.absent)}")
    return warnings


def _digest_of_admissions(connection: duckdb.DuckDBPyConnection) -> str:
    """Return the digest of the file of admissions: where it changes, other notes may be refused."""
    row = connection.execute(
        "select any_value(sha256) from ground.load join ground.load_origin using (source, file) "
        "where table_name = 'mimiciv_hosp.admissions'"
    ).fetchone()
    return str(row[0]) if row else ""


def _refuse_rows(connection: duckdb.DuckDBPyConnection, loaded: Sequence[LoadedFile]) -> list[LoadedFile]:
    """Take out of the tables what cannot be of its admission, and count and keep it with the refused rows."""
    refused = dict[str, int]()
    for table, key in CHECKED.items():
        file = next((file.file for file in loaded if file.table == table), None)
        if file is None:
            continue
        set_variables(connection, {"load_table": table, "refused_key": key, "source": SOURCE, "file": file})
        with transaction(connection):
            connection.execute(f"create or replace temp table refused_row as {sql_text('ehr/refused_row')}")
            refused[table] = number_of(connection, "select count(*) from refused_row")
            connection.execute(f"delete from {table} where {key}::varchar in (select key from refused_row)")
            connection.execute(
                "insert into ground.reject select getvariable('source'), getvariable('file'), null, reason, key "
                "from refused_row"
            )
            connection.execute(
                f"update ground.load set rows_rejected = rows_rejected + {refused[table]} "
                "where source = getvariable('source') and file = getvariable('file')"
            )
    return [replace(file, rows_rejected=file.rows_rejected + refused.get(file.table, 0)) for file in loaded]


def _stale_warnings(
    connection: duckdb.DuckDBPyConnection, loaded: Sequence[LoadedFile], settings: LoadSettings
) -> list[str]:
    schemas = ["mimiciv_hosp", "mimiciv_note"] + (["mimiciv_icu"] if settings.icu else [])
    stale = forget_other_tables(connection, SOURCE, [file.table for file in loaded], schemas)
    return [f"{table} of an earlier load is removed: it is no part of this one" for table in stale]


def _count_warnings(release: MimicRelease, loaded: Sequence[LoadedFile]) -> list[str]:
    """Compare rows with the published counts, where the release is known and they are."""
    warnings = []
    for file in loaded:
        name = release.release_of(file.table.split(".")[0].removeprefix("mimiciv_"))
        published = published_counts().get((name or "", file.table), ())
        if published and file.rows_read not in published:
            stated = " or ".join(str(n) for n in sorted(published))
            warnings.append(f"{file.table} has {file.rows_read} rows, published for release {name}: {stated}")
        if file.rows_read == file.rows_rejected:
            warnings.append(f"{file.file}: not one row is loaded")
        if file.rows_rejected:
            warnings.append(f"{file.file}: {file.rows_rejected} rows refused, see ground.reject")
    return warnings


def _orphan_warnings(connection: duckdb.DuckDBPyConnection, loaded: Sequence[LoadedFile]) -> list[str]:
    there = {file.table for file in loaded}
    warnings = []
    for name in (f"mimiciv_{table}" for table in ADMISSION_TABLES):
        if name not in there:
            continue
        connection.execute("set variable load_table = ?", [name])
        row = run_sql(connection, "ehr/orphans").fetchone()
        if row and row[0]:
            warnings.append(f"{name}: {row[0]} rows of admissions that mimiciv_hosp.admissions lacks")
    return warnings


def _stated_digests(folder: Place) -> dict[str, str]:
    """Read SHA256SUMS.txt: a digest and a path on each line."""
    path = folder / "SHA256SUMS.txt"
    if not path.is_file():
        return {}
    lines = (line.split(maxsplit=1) for line in path.read_text(encoding="utf-8", errors="replace").splitlines())
    return {
        parts[1].strip().removeprefix("*").removeprefix("./"): parts[0].lower() for parts in lines if len(parts) == 2
    }


def _verify(connection: duckdb.DuckDBPyConnection, release: MimicRelease, loaded: Sequence[LoadedFile]) -> list[str]:
    """Compare the digests of the loaded files with SHA256SUMS.txt beside their module.

    Raises:
        InputError: a file is not the one that was published.
    """
    rows = connection.execute("select file, sha256 from ground.load where source = ?", [SOURCE]).fetchall()
    digest_of = dict(rows)
    stated = {module.name: _stated_digests(module.folder.parent) for module in release.modules}
    warnings = [f"{name}: no SHA256SUMS.txt beside it" for name, digests in stated.items() if not digests]
    names = {file.file for file in loaded}
    for source in release.files:
        digests = stated[source.table.module]
        if not digests or source.file.name not in names:
            continue
        expected = digests.get(source.file.name)
        if expected is None:
            warnings.append(f"{source.file.name} is not in SHA256SUMS.txt, its digest was not checked")
        elif digest_of[source.file.name] != expected:
            raise InputError(
                "a file is not the one that was published",
                file=source.file.path,
                found=f"SHA-256 {digest_of[source.file.name]}",
                expected=f"SHA-256 {expected}, as SHA256SUMS.txt states",
                do="download it again",
            )
    return warnings
