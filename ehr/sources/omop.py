"""Load an OMOP Common Data Model (5.3 or 5.4): files named after its tables, a DuckDB file, or a connection to one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from ehr.sources.loader import Records, load_files, load_records, records_in
from ehr.sources.tables import DATA, documented
from ground.errors import InputError
from ground.settings import LoadSettings, RemoteSettings
from ground.storage.loading import LoadReport
from ground.storage.own_rules import NO_RULES, OwnRules
from ground.storage.remote import Place, reading_from, require_allowed
from ground.storage.sqlfiles import quoted, quoted_name, sql_text
from ground.storage.tables import Row, read_table
from ground.storage.warehouse import count_drop, has_rows, open_database, reset_drops, run_sql, set_table

__all__ = ["load_omop", "own_tables"]

SOURCE = "omop"
VERSION = re.compile(r"(?:cdm )?v?5\.[34](?:\D.*)?")
TABLES = {
    "vocabulary_source": ("omop_vocabularies", ("vocabulary_id", "sab", "source")),
    "note_kind": ("omop_note_kinds", ("attribute", "value", "kind", "source")),
}
"""Tables of the package, to which a workspace adds rows: the name of the file and its columns."""

KNOWN = (
    "select person_id as patient from omop.person",
    "select visit_occurrence_id as stay, person_id as patient from omop.visit_occurrence",
)


def load_omop(
    connection: duckdb.DuckDBPyConnection,
    place: Place | duckdb.DuckDBPyConnection,
    settings: LoadSettings,
    remote: RemoteSettings = RemoteSettings(),  # noqa: B008
    own: OwnRules = NO_RULES,
) -> LoadReport:
    """Load the tables of an OMOP CDM that the flow reads into the schema ``omop``.

    Args:
        connection: the warehouse.
        place: a folder with .csv, .csv.gz or .parquet files named after the tables, in any case; a DuckDB file that has
            the tables in any schema; or a connection to one, which is only read.
        settings: of loading.
        remote: of object storage.
        own: a workspace's own rows for the vocabularies and the kinds of notes.

    Raises:
        InputError: a required table or column is missing, another version of the CDM, an empty CONCEPT, a damaged file
            or too many malformed rows.
        RefusedError: it lies in object storage that the settings do not name for credentialed data.
    """
    with _folder_of(place) as folder, reading_from(connection, folder):
        records = _records(folder)
        require_allowed(folder, credentialed=True, settings=remote)
        records, release = _release(connection, records, settings)
        named = replace(records, releases=dict.fromkeys(records.releases, release))
        report = load_records(connection, named, settings, lambda: _derive(connection, place, own))
    return replace(report, warnings=(*report.warnings, *_row_counts(connection)))


def _derive(connection: duckdb.DuckDBPyConnection, place: Place | duckdb.DuckDBPyConnection, own: OwnRules) -> None:
    """Make what the views read besides the tables: records in one form, their codes, and the stays of those of none."""
    import pyarrow as pa

    if empty := [name.upper() for name in ("person", "concept") if not has_rows(connection, f"omop.{name}")]:
        raise InputError(
            f"the table {empty[0]} has no rows",
            file=None if isinstance(place, duckdb.DuckDBPyConnection) else place,
            expected="patients, and the vocabulary of Athena with the concepts that the records name",
            do="write the table again; the vocabulary is at athena.ohdsi.org",
        )
    for name, rows in own_tables(own).items():
        columns = [column for column in rows[0] if column != "source"]
        set_table(connection, f"omop.{name}", pa.Table.from_pylist(rows).select(columns), kept=True)
    visits = "with visit_occurrence as (select * from omop.visit_occurrence)"
    connection.execute(f"create or replace temp view stay as {visits} {sql_text('ehr/sources/omop/admission')}")
    for step in ("omop/record", "sources/by_time", "omop/code"):
        run_sql(connection, f"ehr/{step}")
    connection.execute("create or replace table omop.placed as from by_time")


def own_tables(own: OwnRules = NO_RULES) -> dict[str, list[Row]]:
    """Return the rows of the vocabularies and of the kinds of notes; a workspace's own take the place of the package's.

    Raises:
        InputError: a line of own rows has other columns.
    """
    tables = {}
    for table, (name, columns) in TABLES.items():
        by_key: dict[tuple[str, ...], Row] = {}
        for row in [*read_table(DATA / f"{name}.tsv", columns), *own.rows(name, columns)]:
            by_key[tuple(row[column] for column in columns[:-2])] = row
        tables[table] = list(by_key.values())
    return tables


@contextmanager
def _folder_of(place: Place | duckdb.DuckDBPyConnection) -> Iterator[Place]:
    """Yield a folder of files: the tables of a DuckDB file or connection are written as Parquet first."""
    if isinstance(place, duckdb.DuckDBPyConnection):
        with TemporaryDirectory() as folder:
            _write_tables(place, Path(folder))
            yield Path(folder)
    elif isinstance(place, Path) and place.is_file():
        try:
            opened = open_database(place, read_only=True)
        except duckdb.Error as error:
            raise InputError(
                "a file is no DuckDB database, or it is in use", file=place, expected="a DuckDB file, or a folder"
            ) from error
        with opened, _folder_of(opened) as folder:
            yield folder
    else:
        yield place


def _write_tables(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Write the documented tables of a database, in whatever schema they are."""
    known = {table.name for table in documented(SOURCE) if not table.derived}
    rows = connection.execute(
        "select lower(table_name), list(table_schema || '.' || table_name order by table_schema), "
        "any_value(table_schema), any_value(table_name) from information_schema.tables "
        "where table_catalog = current_database() group by 1 order by 1"
    ).fetchall()
    for name, places, schema, table in rows:
        if name not in known:
            continue
        if len(places) > 1:
            raise InputError(
                "a table of the CDM is there several times",
                found=", ".join(places),
                do="write the schema that is meant to a file of its own",
            )
        item = f"{quoted_name(schema)}.{quoted_name(table)}"
        connection.execute(f"copy {item} to {quoted(str(folder / name))} (format parquet)")
        (folder / name).rename(folder / f"{name}.parquet")


def _records(folder: Place) -> Records:
    """Return the files of a CDM; its tables that the flow does not read are told of in one line."""
    records = records_in(folder, SOURCE)
    skipped = [warning for warning in records.warnings if warning.endswith("is not a documented table and is skipped")]
    warnings = [warning for warning in records.warnings if warning not in skipped]
    if skipped:
        warnings.append(f"{len(skipped)} files of other tables are skipped")
    compared = ("omop.person", "omop.visit_occurrence")
    return replace(records, warnings=tuple(warnings), known=KNOWN, compared=compared)


def _release(
    connection: duckdb.DuckDBPyConnection, records: Records, settings: LoadSettings
) -> tuple[Records, str | None]:
    """Load what says the version first; return the files that are left, and the name: source, version and date."""
    about = [file for file in records.files if file.table.name == "cdm_source"]
    if not about or "cdm_source" in settings.skip_tables:
        return replace(records, warnings=("no CDM_SOURCE: the version is not checked", *records.warnings)), None
    done, warnings = load_files(connection, replace(records, files=tuple(about), warnings=()), settings)
    stored = connection.execute("select * from omop.cdm_source limit 1")
    names = [name for name, *_ in stored.description or ()]
    row = dict(zip(names, stored.fetchone() or (None,) * len(names), strict=True))
    version = str(row["cdm_version"] or "").strip().lower()
    if any(row.values()) and not VERSION.fullmatch(version):
        raise InputError(
            "this version of the OMOP CDM is not read",
            file=about[0].file.path,
            found=f"cdm_version {row['cdm_version']}",
            expected="5.3 or 5.4",
        )
    left = tuple(file for file in records.files if file not in about)
    name = row.get("cdm_source_abbreviation") or row.get("cdm_source_name")
    parts = (
        name,
        version and f"OMOP CDM {version.removeprefix('cdm ').removeprefix('v')}",
        row.get("cdm_release_date"),
    )
    named = replace(records, files=left, done=tuple(done), warnings=(*records.warnings, *warnings))
    return named, ", ".join(str(part) for part in parts if part) or None


def _row_counts(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Say what of the records is not used, in numbers; the reasons are counted in ``ground.drop`` too."""
    reset_drops(connection, f"load {SOURCE}")
    rows: list[tuple[int, str]] = connection.execute(sql_text("ehr/omop/counts")).fetchall()
    for n, what in rows:
        count_drop(connection, f"load {SOURCE}", what, n)
    return [f"{n} {what}" for n, what in rows]
