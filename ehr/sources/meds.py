"""Load a MEDS dataset: events whose codes mean something to the flow, by a table of patterns that a workspace extends.

Source: https://github.com/Medical-Event-Data-Standard/meds, version 0.4.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb

from ehr.sources.contract import make_views
from ground import ROOT
from ground.errors import InputError
from ground.flow.fingerprints import fingerprint
from ground.flow.manifest import is_open_release
from ground.settings import LoadSettings, RemoteSettings
from ground.storage.loading import (
    KEPT_REJECTS_OF_A_FAILED_FILE,
    LoadedFile,
    LoadReport,
    Reject,
    SourceFile,
    finished_files,
    keep_rejects,
    prepare,
    record,
    repeated_key,
    too_many_rejects,
)
from ground.storage.own_rules import NO_RULES, OwnRules
from ground.storage.parquet import damaged, parquet_schema
from ground.storage.remote import (
    Place,
    Places,
    below,
    in_order,
    local_copy,
    reading_from,
    require_allowed,
    several,
)
from ground.storage.scanning import scanning
from ground.storage.sqlfiles import quoted, quoted_files, quoted_list, sql_names, sql_text
from ground.storage.tables import Row, read_table
from ground.storage.warehouse import number_of, run_sql, transaction

__all__ = ["CodePattern", "code_patterns", "load_meds", "release_of_meds"]

SOURCE = "meds"
EVENTS = "meds.event"
VERSIONS = ("0.3", "0.4")
KINDS = ("diagnosis", "procedure", "drug", "admission", "discharge", "note", "none")
COLUMNS = ("pattern", "kind", "vocabulary", "source")
ADMISSIONS = ("hadm_id", "visit_id", "visit_occurrence_id")
"""Columns that may hold the admission of an event, the first that is there: MIMIC's name, and those of OMOP."""

PARTS = {"{code}": r"((?:[^/]|/[^/])+)", "{name}": "(.+)", "{}": ".*"}
TYPES = {
    "subject_id": ("int64", "int", "uint"),
    "time": ("timestamp[us]", "timestamp[ns]", "timestamp[ms]", "timestamp[s]"),
    "code": ("string", "large_string"),
    "hadm_id": ("int64", "int", "uint"),
    "text_value": ("string", "large_string"),
    "split": ("string", "large_string"),
}
"""Arrow types by column, the one that MEDS states first."""


@dataclass(frozen=True)
class CodePattern:
    """What codes of one form mean.

    Attributes:
        expression: what a whole code fits, for DuckDB.
        kind: one of `KINDS`.
        vocabulary: UMLS' abbreviation, or the kind of a note; may be empty.
        groups: number of the group of the expression that holds the code, and the name; 0 where none does.
    """

    expression: str
    kind: str
    vocabulary: str
    groups: dict[str, int]


@dataclass(frozen=True)
class _Dataset:
    """The files of a dataset, and what its dataset.json says."""

    data: tuple[SourceFile, ...]
    codes: SourceFile | None
    splits: SourceFile | None
    about: dict[str, Any]

    @property
    def files(self) -> list[SourceFile]:
        return [*self.data, *(file for file in (self.codes, self.splits) if file)]

    @property
    def release(self) -> str | None:
        """Name and version of the dataset."""
        return (
            " ".join(str(self.about[key]) for key in ("dataset_name", "dataset_version") if self.about.get(key)) or None
        )


def code_patterns(own: OwnRules = NO_RULES) -> tuple[CodePattern, ...]:
    """Return the patterns of codes in the order in which they are tried: a workspace's own, then the package's.

    Raises:
        InputError: a pattern of an unknown kind, or one that a code cannot fit.
    """
    rows = [*own.rows("meds_codes", COLUMNS), *read_table(ROOT / "ehr/data/meds_codes.tsv", COLUMNS)]
    return tuple(map(_pattern, rows))


def _pattern(row: Row) -> CodePattern:
    if row["kind"] not in KINDS:
        raise row.refused("a pattern of codes has an unknown kind", row["kind"], ", ".join(KINDS))
    parts = [part for part in re.split(r"(\{[^{}]*\})", row["pattern"]) if part]
    slots = [part for part in parts if part[0] == "{"]
    named = [slot for slot in slots if slot != "{}"]
    if not parts or not set(slots) <= PARTS.keys() or len(set(named)) < len(named):
        raise row.refused(
            "a pattern of codes cannot be read", row["pattern"], "text with {code}, {name} or {}, each once"
        )
    text = "".join(PARTS.get(part) or re.escape(part) for part in parts)
    groups = {slot.strip("{}"): number for number, slot in enumerate(named, 1)}
    return CodePattern(f"(?is){text}", row["kind"], row["vocabulary"], {"code": 0, "name": 0} | groups)


def load_meds(
    connection: duckdb.DuckDBPyConnection,
    folders: Places,
    settings: LoadSettings,
    remote: RemoteSettings = RemoteSettings(),  # noqa: B008
    own: OwnRules = NO_RULES,
) -> LoadReport:
    """Load a MEDS dataset (data/**/*.parquet and metadata/) into the schema ``meds``.

    All of it is one transaction; it is skipped where no file and no pattern has changed. Events are read where they
    lie: only those whose code fits a pattern are kept, the others are counted by code in ``meds.code``.

    Raises:
        InputError: no such dataset, another version of MEDS, a damaged file, other columns, or too many rows without
            patient or code.
        RefusedError: it lies in object storage that the settings do not name for credentialed data.
    """
    with ExitStack() as reading:
        (folder, *others) = several(folders)
        if others:
            raise InputError("a MEDS dataset is one folder", file=others[0], found=f"{len(others) + 1} folders")
        reading.enter_context(reading_from(connection, folder))
        dataset = _find(folder)
        require_allowed(folder, credentialed=not is_open_release(dataset.release), settings=remote)
        return _load(connection, dataset, settings, code_patterns(own))


def release_of_meds(folder: Place) -> str | None:
    """Return the name and version of the dataset in a folder.

    Raises:
        InputError: there is none, or of another version of MEDS.
    """
    return _find(folder).release


def _find(folder: Place) -> _Dataset:
    data = tuple(SourceFile(below(path, folder), path) for path in in_order(_parquet_below(folder / "data")))
    if not data:
        raise InputError(
            "no MEDS dataset is there",
            file=folder,
            found="no data/**/*.parquet",
            expected="data/ and metadata/, as MEDS 0.4 has them",
            do="name the folder that has data/ in it",
        )
    metadata = folder / "metadata"
    codes, splits = (
        SourceFile(below(path, folder), path) if path.is_file() else None
        for path in (metadata / "codes.parquet", metadata / "subject_splits.parquet")
    )
    return _Dataset(data, codes, splits, _about(metadata / "dataset.json"))


def _parquet_below(folder: Place) -> Iterator[Place]:
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.is_dir():
            yield from _parquet_below(path)
        elif path.name.endswith(".parquet") and path.name[0] != ".":
            yield path


def _about(file: Place) -> dict[str, Any]:
    """Return what dataset.json says; where there is none, nothing.

    Raises:
        InputError: it is no JSON object, or of a version of MEDS that is not read.
    """
    if not file.is_file():
        return {}
    try:
        about = json.loads(local_copy(file).read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError("dataset.json is no JSON", file=file, found=type(error).__name__) from None
    if not isinstance(about, dict):
        raise InputError("dataset.json is no JSON object", file=file, found=type(about).__name__)
    version = str(about.get("meds_version") or VERSIONS[-1])
    if ".".join(version.split(".")[:2]) not in VERSIONS:
        raise InputError(
            "this version of MEDS is not read",
            file=file,
            found=f"meds_version {version}",
            expected=" or ".join(VERSIONS),
            do="write the dataset again with a converter of MEDS 0.4",
        )
    return about


def _load(
    connection: duckdb.DuckDBPyConnection,
    dataset: _Dataset,
    settings: LoadSettings,
    patterns: tuple[CodePattern, ...],
) -> LoadReport:
    prepare(connection)
    statements = [sql_text(name) for name in (*sql_names("ehr/meds"), "ehr/sources/by_time")]
    recipe = fingerprint({"release": dataset.release, "patterns": repr(patterns), "sql": statements})
    loaded = finished_files(connection, SOURCE, EVENTS, dataset.files, recipe)
    if loaded is None:
        with _whole(connection, dataset), scanning([file.path for file in dataset.files]) as pending:
            _read(connection, dataset, patterns)
            rejects = _refused(connection, dataset, settings)
            rows = [number_of(connection, f"select count(*) from {_item(file)}") for file in dataset.files]
            with transaction(connection):
                _make_tables(connection)
                read = (dataset.files, pending.result(), rows, rejects)
                loaded = record(connection, SOURCE, EVENTS, *read, release=dataset.release, recipe=recipe)
    make_views(connection)
    missing = {"codes.parquet": dataset.codes, "subject_splits.parquet": dataset.splits, "dataset.json": dataset.about}
    absent = tuple(name for name, there in missing.items() if not there)
    return LoadReport(SOURCE, tuple(loaded), absent, tuple(_warnings(connection, loaded)), dataset.release)


@contextmanager
def _whole(connection: duckdb.DuckDBPyConnection, dataset: _Dataset) -> Iterator[None]:
    """Turn DuckDB's error of a file that is damaged within, met while the block reads all of them, into one of ours.

    Raises:
        InputError: which file it is.
    """
    try:
        yield
    except duckdb.Error as error:
        for file in dataset.files:
            try:
                connection.execute(f"select max(hash(item)) from {_item(file)} as item").fetchall()
            except duckdb.Error:
                raise damaged(file.path) from error
        raise


def _item(file: SourceFile) -> str:
    return f"read_parquet({quoted_files([file.path])})"


def _read(connection: duckdb.DuckDBPyConnection, dataset: _Dataset, patterns: Sequence[CodePattern]) -> None:
    """Make views of the files, ``meds_row``, ``meds_title`` and ``meds_split``, and the table of their codes.

    Raises:
        InputError: a file is damaged, or has other columns than MEDS.
    """
    selects = [_row_select(file) for file in dataset.data]
    connection.execute(f"create or replace temp view meds_row as {' union all '.join(selects)}")
    for view, file, columns in (
        ("meds_title", dataset.codes, ("code", "description")),
        ("meds_split", dataset.splits, ("subject_id", "split")),
    ):
        if file:
            _check(file, *columns)
        item = _item(file) if file else f"(values (null, null::varchar)) as absent({', '.join(columns)}) where false"
        connection.execute(f"create or replace temp view {view} as select {', '.join(columns)} from {item}")
    _make_macros(connection, patterns)
    run_sql(connection, "ehr/meds/code")


def _row_select(file: SourceFile) -> str:
    there = _check(file, "subject_id", "time", "code")
    admission = next((name for name in ADMISSIONS if name in there), None)
    columns = {
        "filename": quoted(file.name),
        "file_row_number": "file_row_number",
        "subject_id": "subject_id::bigint",
        "time": "time::timestamp",
        "code": "code::varchar",
        "hadm_id": f"{admission}::bigint" if admission else "null::bigint",
        "note_id": "note_id::varchar" if "note_id" in there else "null::varchar",
        "text_value": "text_value::varchar" if "text_value" in there else "null::varchar",
    }
    values = ", ".join(f"{value} as {name}" for name, value in columns.items())
    return f"(select {values} from read_parquet({quoted_files([file.path])}, file_row_number = true))"


def _check(file: SourceFile, *columns: str) -> set[str]:
    """Return the columns of a file; those named are there, and all are of the types that MEDS gives them.

    Raises:
        InputError: they are not, or the file is damaged.
    """
    # A column of dictionaries is one of strings that another writer made.
    stored = {
        field.name: str(field.type).removeprefix("dictionary<values=")
        for field in parquet_schema(local_copy(file.path))
    }
    wrong = [
        name
        for name, kinds in TYPES.items()
        if not stored.get(name, "missing" if name in columns else "null").startswith((*kinds, "null"))
    ]
    if wrong:
        raise InputError(
            "a file has other columns than MEDS",
            file=file.path,
            found=", ".join(f"{name} {stored.get(name, 'missing')}" for name in wrong),
            expected=", ".join(f"{name} {TYPES[name][0]}" for name in wrong),
            do="write the dataset with a converter of MEDS 0.4",
        )
    return set(stored)


def _make_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the tables of ``meds`` from the views of the files.

    Raises:
        InputError: two admissions or two notes have one identifier, or a patient two splits or files.
    """
    for step in ("meds/patient", "meds/admission", "meds/wanted", "sources/by_time", "meds/event", "meds/note"):
        run_sql(connection, f"ehr/{step}")
    for key, table, problem in (
        ("subject_id", "patient", "a patient is in two files or in two splits"),
        ("hadm_id", "admission", "two admissions have one number"),
        ("note_id", "note", "two notes have one note_id"),
    ):
        if repeated_key(connection, f"meds.{table}", [key]):
            raise InputError(f"{problem}, which MEDS does not allow", expected=f"each {key} once")


def _make_macros(connection: duckdb.DuckDBPyConnection, patterns: Sequence[CodePattern]) -> None:
    """Make ``fit(code)``, the number of the first pattern that a code fits, and what follows from it.

    ``part_code(code, fit)`` and ``part_name(code, fit)`` are parts of the code; ``kinds()`` and ``vocabularies()`` are
    lists by the pattern's number.
    """
    tests = [f"when regexp_full_match(code, {quoted(pattern.expression)}) then" for pattern in patterns]
    bodies = {"fit(code)": " ".join(["case", *(f"{test} {n}" for n, test in enumerate(tests, 1)), "end"])}
    for part in ("code", "name"):
        cases = [
            f"when {n} then nullif(regexp_extract(code, {quoted(pattern.expression)}, {pattern.groups[part]}), 'UNK')"
            for n, pattern in enumerate(patterns, 1)
            if pattern.groups[part]
        ]
        bodies[f"part_{part}(code, fit)"] = " ".join(["case fit", *cases, "end"])
    bodies["kinds()"] = quoted_list(pattern.kind for pattern in patterns)
    bodies["vocabularies()"] = quoted_list(pattern.vocabulary for pattern in patterns)
    for macro, body in bodies.items():
        connection.execute(f"create or replace temp macro meds_{macro} as {body}")


def _refused(connection: duckdb.DuckDBPyConnection, dataset: _Dataset, settings: LoadSettings) -> list[Reject]:
    """Return the events without a patient or a code, and the notes without text.

    Raises:
        InputError: there are more than the allowed share, or no events at all.
    """
    files, limit = list(dataset.data), settings.max_reject_share
    total = number_of(connection, "select count(*) from meds_row")
    if not total:
        raise InputError("a MEDS dataset has no events", file=files[0].path, found=f"{len(files)} files")
    rows = connection.execute(sql_text("ehr/meds/refused")).fetchmany(
        max(KEPT_REJECTS_OF_A_FAILED_FILE, int(limit * total) + 1)
    )
    rejects = [Reject(*row) for row in rows]
    if len(rejects) > limit * total:
        keep_rejects(connection, SOURCE, files, rejects)
        raise too_many_rejects(
            files, rejects, len(rejects), total, limit, "a patient, a code, and a text for each note"
        )
    return rejects


def _warnings(connection: duckdb.DuckDBPyConnection, loaded: Iterable[LoadedFile]) -> list[str]:
    """Say what of the data is not used, in numbers."""
    rows = connection.execute(sql_text("ehr/meds/counts")).fetchall()
    refused = sum(file.rows_rejected for file in loaded)
    counts = [*rows, (refused, "rows refused, see ground.reject")]
    return [f"{count} {what}" for count, what in counts if count]
