"""A plain table of notes, and one of codes where there is one: the smallest way in (``docs/sources.md``)."""

from __future__ import annotations

from dataclasses import replace

import duckdb

from ehr.sources.loader import SUFFIXES, load_records, records_in
from ground.errors import InputError
from ground.settings import LoadSettings, RemoteSettings
from ground.storage.loading import LoadReport
from ground.storage.remote import Place, reading_from, require_allowed

__all__ = ["load_table"]

SOURCE = "table"
OPEN_MARK = "Release: OPENWORLD"
READ_KINDS = {"note": ("discharge", "radiology"), "code": ("diagnosis", "procedure", "drug")}


def load_table(
    connection: duckdb.DuckDBPyConnection,
    folder: Place,
    settings: LoadSettings,
    remote: RemoteSettings = RemoteSettings(),  # noqa: B008
) -> LoadReport:
    """Load ``notes`` and ``codes`` of a folder into the schema ``plain``: .csv, .csv.gz or Parquet.

    Columns of notes: id, patient, text; optional admission, time, kind. Of codes: vocabulary, code and patient or
    admission; optional time, kind (diagnosis, procedure or drug) and name. Names of columns in any case.

    Raises:
        InputError: neither file is there, a column is missing, an id occurs twice, an admission has two patients, or a
            file is damaged or has too many malformed rows.
        RefusedError: it lies in object storage that the settings do not name for credentialed data.
    """
    with reading_from(connection, folder):
        release = release_of(folder)
        records = records_in(folder, SOURCE, release)
        require_allowed(folder, credentialed=release is None, settings=remote)
        if not records.files:
            raise InputError(
                "there are neither notes nor codes",
                file=folder,
                found=", ".join(sorted(path.name for path in folder.iterdir())[:12]) or "an empty folder",
                expected=f"notes with the columns id, patient, text, as notes{', notes'.join(SUFFIXES)}",
            )
        report = load_records(connection, records, settings)
    _check_identifiers(connection)
    return replace(report, warnings=(*report.warnings, *_unread_kinds(connection)))


def release_of(folder: Place) -> str | None:
    """Return the release that the read-me beside the tables names: only the embedded open world has one."""
    readme = folder / "README.txt"
    is_open = readme.is_file() and OPEN_MARK in readme.read_text(encoding="utf-8", errors="replace").splitlines()
    return OPEN_MARK.removeprefix("Release: ") if is_open else None


def _check_identifiers(connection: duckdb.DuckDBPyConnection) -> None:
    """Make sure that an admission is one patient's, and that no two identifiers have the same number."""
    shared, texts, numbers = connection.execute(
        "with named as (select patient, admission from plain.notes union select patient, admission from plain.codes) "
        "select (select count(*) from (select admission from named where admission is not null group by admission "
        "having count(distinct patient) > 1)), count(distinct patient), count(distinct ehr.identifier(patient)) "
        "from named"
    ).fetchall()[0]
    if shared or texts != numbers:
        raise InputError(
            "identifiers are ambiguous",
            found=f"{shared} admissions of several patients, {texts - numbers} patients of one number",
            expected="another admission for each stay of each patient",
            do="put the patient before the number of the admission",
        )


def _unread_kinds(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Return warnings of notes and codes of a kind that nothing reads."""
    counted = connection.execute(
        "select 'note', kind, count(*) from ehr.note group by all "
        "union all select 'code', kind, count(*) from ehr.event group by all order by all"
    ).fetchall()
    return [
        f"{n} {what}s of the kind {kind} are loaded and not read; kinds that are read: {', '.join(READ_KINDS[what])}"
        for what, kind, n in counted
        if kind not in READ_KINDS[what]
    ]
