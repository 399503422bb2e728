"""The loader of all sources: file by file, resumable, with the documented types, every refused row kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace

import duckdb

from ehr.accounting import MAX_FIELDS, survey
from ehr.csvfile import (
    MARK,
    Columns,
    check_key,
    count_rejects,
    fetch_rejects,
    first_inexact,
    forget_rejects,
    line_breaks,
    match_columns,
    read_item,
)
from ehr.sources.contract import loaded_source, make_views
from ehr.sources.tables import CHECKED, RecordFile, Table, documented, keys, row_checks, schemas
from ground.errors import InputError
from ground.flow.manifest import is_open_release
from ground.progress import progress
from ground.settings import LoadSettings
from ground.storage.loading import (
    KEPT_REJECTS_OF_A_FAILED_FILE,
    LoadedFile,
    LoadReport,
    Reject,
    SourceFile,
    finished_files,
    forget_other_tables,
    left_out,
    prepare,
    record,
    too_many_rejects,
)
from ground.storage.remote import Place
from ground.storage.scanning import MAX_ROW_BYTES, FileScan, scanning
from ground.storage.sqlfiles import quoted, quoted_list, quoted_name
from ground.storage.warehouse import number_of, run_sql, set_variables, transaction

__all__ = [
    "SUFFIXES",
    "Records",
    "files_by_table",
    "load_files",
    "load_records",
    "records_in",
    "require_source",
    "stem_of",
]


@dataclass(frozen=True)
class Records:
    """The files of a source, as they are found, and how they are loaded.

    Attributes:
        source: its name in ``ground.load``.
        files: in the order in which they are loaded.
        releases: the name of the release by module; None where it is not known.
        missing_optional: tables that are not there.
        warnings: what was noticed while they were looked for.
        forgotten: schemas in which a table that is no part of this load is removed.
        known: the select of these patients (patient) and of these admissions (stay, patient); empty for all.
        compared: the tables that these are in: where one changes, what is compared with it is loaded again.
        filled: the warehouse gets the tables and columns that a site leaves out, without rows and values.
        done: what is loaded already.
    """

    source: str
    files: tuple[RecordFile, ...]
    releases: Mapping[str, str | None]
    missing_optional: tuple[str, ...]
    warnings: tuple[str, ...]
    forgotten: tuple[str, ...] = ()
    known: tuple[str, str] = ("", "")
    compared: tuple[str, ...] = ()
    filled: bool = True
    done: tuple[LoadedFile, ...] = ()

    @property
    def name(self) -> str | None:
        """Release of the first module, and of others where it is another."""
        first, *others = self.releases.items() or [("", None)]
        further = [f"{module} {name}" for module, name in others if name and name != first[1]]
        return ", ".join([first[1] or "unknown", *further]) if further else first[1]

    @property
    def credentialed(self) -> bool:
        """Tell whether any module is anything but the embedded open world."""
        return not all(map(is_open_release, self.releases.values()))


SUFFIXES = (".csv.gz", ".csv", ".parquet")
PART = re.compile(r"[-_]?\d{12}$")
"""How BigQuery numbers the parts of a table that it writes into several files."""


class _NotCleanError(Exception):
    """A row of a CSV file is malformed: the file is read again, and such rows are refused."""


class _TooManyRejectsError(Exception):
    """The table is given up, its refused rows are still to be kept: these, and how many of how many rows are bad."""


def stem_of(path: Place) -> str | None:
    """Return the table that a file's name says, of a part of one too, or None for a file that is no table."""
    suffix = _suffix(path)
    return PART.sub("", path.name.lower().removesuffix(suffix)) if suffix else None


def _suffix(path: Place) -> str:
    return next((suffix for suffix in SUFFIXES if path.name.lower().endswith(suffix)), "")


def files_by_table(folders: Sequence[Place], known: Collection[str], name: str) -> tuple[dict[str, Place], list[str]]:
    """Return the files of some folders by table, and what was passed over: unknown tables and second copies.

    Args:
        folders: where they lie.
        known: the tables that are read.
        name: of the module, as warnings call it.

    Raises:
        InputError: what has the name of a table is no file, or a part of one.
    """
    chosen: dict[str, Place] = {}
    warnings = []
    paths = [path for folder in folders for path in folder.iterdir() if not path.name.startswith(".")]
    named = [(SUFFIXES.index(_suffix(path)), path.name, stem, path) for path in paths if (stem := stem_of(path))]
    for _, _, stem, path in sorted(named, key=lambda file: file[:2]):
        if stem not in known:
            warnings.append(f"{name}/{path.name} is not a documented table and is skipped")
        elif not path.is_file():
            raise InputError(
                "what has the name of a file of the release is not a file",
                file=path,
                found="a link to nothing, a folder, or a pipe",
            )
        elif PART.search(path.name.split(".")[0]):
            raise InputError(
                f"the table {stem} is in parts, as BigQuery writes them",
                file=path,
                expected=f"{stem}{', '.join(SUFFIXES)}",
                do="put the parts into one file, of CSV with the first header line alone",
            )
        elif stem in chosen:
            warnings.append(f"{name}/{path.name} is skipped: {chosen[stem].name} is taken for the same table")
        else:
            chosen[stem] = path
    return chosen, warnings


def records_in(folder: Place, source: str, release: str | None = None) -> Records:
    """Return the files of a source that lie in one folder, each named after its table.

    Raises:
        InputError: there is no such folder, or it lacks a required table.
    """
    if not folder.is_dir():
        raise InputError("there is no such folder", file=folder)
    tables = [table for table in documented(source) if not table.derived]
    chosen, warnings = files_by_table([folder], {table.name for table in tables}, folder.name)
    missing = [table.name for table in tables if table.name not in chosen]
    if required := [table.name for table in tables if table.required and table.name in missing]:
        raise InputError(
            f"required files are missing: {', '.join(required)}",
            file=folder,
            found=", ".join(sorted(path.name for path in folder.iterdir())[:12]) or "an empty folder",
            expected=f"{required[0]}{', '.join(SUFFIXES)}",
        )
    there = [(table, chosen[table.name]) for table in tables if table.name in chosen]
    return Records(
        source,
        tuple(RecordFile(table, SourceFile(path.name, path)) for table, path in there),
        {table.module: release for table in tables},
        tuple(missing),
        tuple(warnings),
        tuple(schemas(source)),
    )


def load_records(
    connection: duckdb.DuckDBPyConnection,
    records: Records,
    settings: LoadSettings,
    derive: Callable[[], object] = lambda: None,
) -> LoadReport:
    """Load the files of a source into its schemas, refuse rows that cannot be, and make the views of the contract.

    Each file is one transaction together with its line in ``ground.load``: a load that was stopped goes on with the
    next file, and a file that has not changed is skipped.

    Args:
        connection: the warehouse.
        records: the files.
        settings: of loading.
        derive: makes of the tables what the views read besides.

    Raises:
        InputError: the workspace holds another source; a needed column is missing, a file is damaged, or too
            many of its rows are malformed.
    """
    loaded, warnings = load_files(connection, records, settings)
    stale = forget_other_tables(connection, records.source, [file.table for file in loaded], list(records.forgotten))
    warnings += [f"{table} of an earlier load is removed: it is no part of this one" for table in stale]
    if records.filled:
        _fill_tables(connection, documented(records.source))
    loaded = [_refuse(connection, records, file) for file in loaded]
    derive()
    make_views(connection)
    warnings += [f"{file.file}: not one row is loaded" for file in loaded if file.rows_read == file.rows_rejected]
    refused = [file for file in loaded if file.rows_rejected]
    warnings += [f"{file.file}: {file.rows_rejected} rows refused, see ground.reject" for file in refused]
    return LoadReport(records.source, tuple(loaded), records.missing_optional, tuple(warnings), records.name)


def load_files(
    connection: duckdb.DuckDBPyConnection, records: Records, settings: LoadSettings
) -> tuple[list[LoadedFile], list[str]]:
    """Load files alone; return what became of each, and warnings. Errors as in `load_records`."""
    require_source(connection, records.source)
    prepare(connection)
    for schema in schemas(records.source):
        connection.execute(f"create schema if not exists {schema}")
    warnings, loaded = list(records.warnings), list(records.done)
    with progress(f"load {records.source}", len(records.files)) as advance:
        for source in records.files:
            if left_out(settings, source.table.name, required=source.table.required):
                warnings.append(f"{source.file.name} is left out by load.skip_tables")
                continue
            columns = match_columns(connection, source)
            loaded += _load_file(connection, records, source, columns, settings)
            for what, names in (
                ("columns not documented, loaded as text", columns.unknown),
                ("documented columns that this release lacks", columns.absent),
            ):
                warnings += [f"{source.file.name}: {what}: {', '.join(names)}"] if names else []
            advance(1)
    return loaded, warnings


def require_source(connection: duckdb.DuckDBPyConnection, source: str) -> None:
    """Make sure that a workspace holds no records of another source.

    Raises:
        InputError: it does.
    """
    other = loaded_source(connection)
    if other not in (None, source):
        raise InputError(
            "a workspace holds records of one source",
            found=f"records that `ontoground load {other}` loaded",
            do=f"name another workspace with --workspace for those of {source}",
        )


def _fill_tables(connection: duckdb.DuckDBPyConnection, tables: Iterable[Table]) -> None:
    for table in tables:
        if table.derived:
            continue
        fields = ", ".join(f"{quoted_name(name)} {kind}" for name, kind in table.types.items())
        connection.execute(f"create table if not exists {table.qualified} ({fields})")
        for name, kind in table.types.items():
            connection.execute(f"alter table {table.qualified} add column if not exists {quoted_name(name)} {kind}")


def _refuse(connection: duckdb.DuckDBPyConnection, records: Records, file: LoadedFile) -> LoadedFile:
    """Take out of a loaded table what cannot be, and count it and keep its identifier with the refused rows."""
    check = row_checks().get(file.table)
    if check is None or file.skipped_because_done:
        return file
    set_variables(connection, {"source": records.source, "file": file.file})
    columns = ", ".join(f"{check[name] or 'null'} as {name}" for name in CHECKED)
    patients, stays = records.known
    views = {
        "table_row": f"select rowid as row, {columns} from {file.table}",
        "known_patient": patients or "select distinct patient from table_row",
        "known_stay": stays or "select null as stay, null as patient where false",
    }
    with transaction(connection):
        for view, body in views.items():
            connection.execute(f"create or replace temp view {view} as {body}")
        run_sql(connection, "ehr/refused_row")
        refused = number_of(connection, "select count(*) from refused_row")
        connection.execute(f"delete from {file.table} where rowid in (select row from refused_row)")
        connection.execute(
            "insert into ground.reject select getvariable('source'), getvariable('file'), null, reason, id "
            "from refused_row"
        )
        connection.execute(
            f"update ground.load set rows_rejected = rows_rejected + {refused} "
            "where source = getvariable('source') and file = getvariable('file')"
        )
    return replace(file, rows_rejected=file.rows_rejected + refused)


def _compared(connection: duckdb.DuckDBPyConnection, records: Records, table: str) -> str:
    """Return the digests of what rows of a table are compared with."""
    if table not in row_checks():
        return ""
    others = [other for other in records.compared if other != table]
    rows = connection.execute(
        "select sha256 from ground.load join ground.load_origin using (source, file) "
        f"where source = {quoted(records.source)} and list_contains({quoted_list(others)}, table_name) "
        "order by table_name"
    ).fetchall()
    return f";{' '.join(row[0] for row in rows)}"


def _load_file(
    connection: duckdb.DuckDBPyConnection,
    records: Records,
    source: RecordFile,
    columns: Columns,
    settings: LoadSettings,
) -> list[LoadedFile]:
    table = source.table.qualified
    recipe = ",".join(f"{name} {kind}" for name, kind in columns.types.items()) + _compared(connection, records, table)
    finished = finished_files(connection, records.source, table, [source.file], recipe)
    if finished is not None:
        return finished

    def attempt(pending: Future[list[FileScan]], refusing: bool) -> list[LoadedFile]:
        with transaction(connection):
            kept = _create_table(connection, source, columns, refusing)
            scans = pending.result()
            rejects = [] if source.is_parquet else _refused(connection, source, columns, kept, scans[0], settings)
            if columns.types.keys() >= set(keys().get(table, ())):
                check_key(connection, source, columns)
            release, rows = records.releases.get(source.table.module), [kept + len(rejects)]
            return record(
                connection, records.source, table, [source.file], scans, rows, rejects, release=release, recipe=recipe
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
        rejects, refused, total = error.args
        counted = (refused, total, settings.max_reject_share)
        raise too_many_rejects(connection, records.source, [source.file], rejects, counted, expected) from None


def _refuse_crowded(source: RecordFile, columns: Columns) -> None:
    """Refuse a CSV file with a row of so many fields or lines that DuckDB takes minutes to refuse it."""
    seen = survey(source.file.path)
    if seen.crowded:
        line, fields = seen.crowded
        raise _too_large(source, columns, line, f"a row has more than {MAX_FIELDS} fields", f"{fields} fields")
    if seen.endless:
        what = f"a field has more than {MAX_ROW_BYTES:,} bytes"
        raise _too_large(source, columns, seen.endless, what, "a quote that is not closed in time")


def _too_large(source: RecordFile, columns: Columns, line: int, what: str, found: str) -> InputError:
    return InputError(
        what,
        file=source.file.path,
        line=line,
        found=found,
        expected=f"{len(columns.types)} fields, as the first line has",
        do="take the file as it was published",
    )


def _create_table(connection: duckdb.DuckDBPyConnection, source: RecordFile, columns: Columns, refusing: bool) -> int:
    """Make a table and return its number of rows."""
    forget_rejects(connection)
    # DuckDB's own choice, a dictionary, is slow for notes, which all differ: a fifth of its time, a third of the disk.
    stored = dict.fromkeys(source.table.texts, " using compression zstd")
    fields = ", ".join(f"{quoted_name(name)} {kind}{stored.get(name, '')}" for name, kind in columns.types.items())
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
                raise first_inexact(looking, source, columns, column) from None
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


def _refused(
    connection: duckdb.DuckDBPyConnection,
    source: RecordFile,
    columns: Columns,
    kept: int,
    scan: FileScan,
    settings: LoadSettings,
) -> list[Reject]:
    """Return the rows of a CSV file that were refused, and one entry for lines that are in no row at all."""
    if scan.endless:
        what = f"a row has more than {MAX_ROW_BYTES:,} bytes"
        raise _too_large(source, columns, scan.endless, what, "no line end in time")
    refused = count_rejects(connection)
    limit = settings.max_reject_share
    if refused > limit * (kept + refused):
        rejects = fetch_rejects(connection, source, KEPT_REJECTS_OF_A_FAILED_FILE)
        raise _TooManyRejectsError(rejects, refused, kept + refused)
    rejects = fetch_rejects(connection, source, refused) if refused else []
    lines = scan.lines - 1
    missing = lines - kept - refused
    if missing > 0:
        taken = f"select coalesce(sum(1 + {line_breaks(columns.types)}), 0) from {source.table.qualified}"
        missing = lines - number_of(connection, taken)
    if missing <= refused:
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
