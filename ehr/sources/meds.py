"""Load a MEDS dataset: events whose codes mean something to the flow, by a table of patterns that a workspace extends.

Source: https://github.com/Medical-Event-Data-Standard/meds, version 0.4.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
import re2

from ehr.sources.contract import make_views
from ehr.sources.loader import require_source
from ground import ROOT
from ground.errors import InputError
from ground.flow.fingerprints import fingerprint
from ground.flow.manifest import is_open_release
from ground.settings import LoadSettings, RemoteSettings
from ground.storage.loading import (
    KEPT_REJECTS_OF_A_FAILED_FILE,
    LoadReport,
    Reject,
    SourceFile,
    finished_files,
    prepare,
    record,
    repeated_key,
    too_many_rejects,
)
from ground.storage.own_rules import NO_RULES, OwnRules
from ground.storage.parquet import damaged, parquet_schema
from ground.storage.remote import Place, Places, below, in_order, local_copy, reading_from, require_allowed, several
from ground.storage.scanning import scanning
from ground.storage.sqlfiles import quoted, quoted_files, sql_names, sql_text
from ground.storage.tables import Row, read_table
from ground.storage.warehouse import number_of, run_sql, set_table, transaction

__all__ = ["CodePattern", "code_patterns", "load_meds", "release_of_meds"]

SOURCE = "meds"
EVENTS = "meds.event"
VERSIONS = ("0.3", "0.4")
KINDS = ("diagnosis", "procedure", "drug", "admission", "discharge", "note", "none")
COLUMNS = ("pattern", "kind", "vocabulary", "source")
ADMISSIONS = ("hadm_id", "visit_id", "visit_occurrence_id")
"""Columns that may hold the admission of an event, the first that is there: MIMIC's name, and those of OMOP."""

PARTS = {"{code}": "(?P<code>([^/]|/[^/])+)", "{name}": "(?P<name>.+)", "{}": ".*"}
STRING = ("string", "large_string", "dictionary<values=string", "dictionary<values=large_string", "null")
WHOLE = ("int64", "int", "uint", "null")
TYPES = {
    "subject_id": WHOLE,
    "time": ("timestamp[us]", "timestamp[ns]", "timestamp[ms]", "timestamp[s]", "null"),
    "code": STRING,
    "hadm_id": WHOLE,
    "text_value": STRING,
    "split": STRING,
}
"""Arrow types by column, the one that MEDS states first. A column of dictionaries is one of strings."""

STEPS = ("meds/code", "meds/admission", "meds/wanted", "sources/by_time", "meds/event", "meds/note")
ONCE = {
    "patient": ("subject_id", "a patient is in two files or in two splits"),
    "admission": ("hadm_id", "two admissions have one number"),
    "note": ("note_id", "two notes have one note_id"),
}
"""What no two rows of a table share, and what is to be said where they do."""


class CodePattern(NamedTuple):
    """What codes of one form mean: what a whole code fits, a kind of `KINDS`, and a vocabulary or kind of note."""

    expression: str
    kind: str
    vocabulary: str


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
        named = (self.about.get(key) for key in ("dataset_name", "dataset_version"))
        return " ".join(str(part) for part in named if part) or None


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
    slots = [part for part in parts if part[0] == "{" and part != "{}"]
    if not parts or not set(slots) <= PARTS.keys() or len(set(slots)) < len(slots):
        raise row.refused(
            "a pattern of codes cannot be read", row["pattern"], "text with {code}, {name} or {}, each once"
        )
    text = "".join(PARTS.get(part) or re2.escape(part) for part in parts)
    return CodePattern(f"(?is){text}", row["kind"], row["vocabulary"])


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
    folder, *others = several(folders)
    if others:
        raise InputError("a MEDS dataset is one folder", file=others[0], found=f"{len(others) + 1} folders")
    with reading_from(connection, folder):
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
    codes, splits = (
        SourceFile(f"metadata/{name}", path) if (path := folder / "metadata" / name).is_file() else None
        for name in ("codes.parquet", "subject_splits.parquet")
    )
    return _Dataset(data, codes, splits, _about(folder / "metadata" / "dataset.json"))


def _parquet_below(folder: Place) -> Iterator[Place]:
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.is_dir():
            yield from _parquet_below(path)
        elif path.name.endswith(".parquet") and path.name[0] != ".":
            yield path


def _about(file: Place) -> dict[str, Any]:
    """Return what dataset.json says; where there is none, nothing."""
    if not file.is_file():
        return {}
    try:
        about = json.loads(local_copy(file).read_text(encoding="utf-8"))
    except ValueError:
        about = None
    if not isinstance(about, dict):
        raise InputError("dataset.json is no JSON object", file=file)
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
    require_source(connection, SOURCE)
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
                for step in STEPS:
                    run_sql(connection, f"ehr/{step}")
                for table, (key, problem) in ONCE.items():
                    if repeated_key(connection, f"meds.{table}", [key]):
                        raise InputError(f"{problem}, which MEDS does not allow", expected=f"each {key} once")
                read = (dataset.files, pending.result(), rows, rejects)
                loaded = record(connection, SOURCE, EVENTS, *read, release=dataset.release, recipe=recipe)
    make_views(connection)
    missing = {"codes.parquet": dataset.codes, "subject_splits.parquet": dataset.splits, "dataset.json": dataset.about}
    absent = tuple(name for name, there in missing.items() if not there)
    counts: list[tuple[int, str]] = connection.execute(sql_text("ehr/meds/counts")).fetchall()
    counts.append((sum(file.rows_rejected for file in loaded), "rows refused, see ground.reject"))
    warnings = tuple(f"{count} {what}" for count, what in counts if count)
    return LoadReport(SOURCE, tuple(loaded), absent, warnings, dataset.release)


@contextmanager
def _whole(connection: duckdb.DuckDBPyConnection, dataset: _Dataset) -> Iterator[None]:
    """Turn DuckDB's error of a file that is damaged within, met while the block reads all of them, into one of ours."""
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
    """Make views of the files, ``meds_row``, ``meds_title``, ``meds_split``, and ``fitted``: what their codes mean."""
    selects = " union all ".join(map(_row_select, dataset.data))
    connection.execute(f"create or replace temp view meds_row as {selects}")
    for view, file, columns in (
        ("meds_title", dataset.codes, ("code", "description")),
        ("meds_split", dataset.splits, ("subject_id", "split")),
    ):
        if file:
            _check(file, *columns)
        item = _item(file) if file else f"(values (null, null::varchar)) as absent({', '.join(columns)}) where false"
        connection.execute(f"create or replace temp view {view} as select {', '.join(columns)} from {item}")
    codes = connection.execute("select distinct code from meds_row where code is not null order by code").fetchall()
    # In time that is linear in a code, whatever a workspace's own pattern is.
    compiled = [(re2.compile(pattern.expression), pattern) for pattern in patterns]
    table = pa.Table.from_pylist([_fitted(code, compiled) for (code,) in codes], FITTED)
    set_table(connection, "fitted", table)


FITTED = pa.schema([(name, pa.string()) for name in ("code", "kind", "vocabulary", "source_code", "name")])


def _fitted(code: str, patterns: Sequence[tuple[re.Pattern[str], CodePattern]]) -> dict[str, str | None]:
    """Return what a code means by the first pattern that it fits."""
    for expression, pattern in patterns:
        if match := expression.fullmatch(code):
            parts = {slot: None if part == "UNK" else part for slot, part in match.groupdict().items()}
            meaning = {"kind": pattern.kind, "vocabulary": pattern.vocabulary or None}
            return {"code": code, **meaning, "source_code": parts.get("code"), "name": parts.get("name")}
    return {"code": code}


def _row_select(file: SourceFile) -> str:
    """Return a select of the rows of a file of data, with the columns that the flow reads."""
    there = _check(file, "subject_id", "time", "code")
    admission = next((name for name in ADMISSIONS if name in there), "null")
    note, text = (name if name in there else "null" for name in ("note_id", "text_value"))
    return (
        f"select {quoted(file.name)} as filename, file_row_number, subject_id::bigint as subject_id, "
        f"time::timestamp as time, code::varchar as code, {admission}::bigint as hadm_id, {note}::varchar as note_id, "
        f"{text}::varchar as text_value from read_parquet({quoted_files([file.path])}, file_row_number = true)"
    )


def _check(file: SourceFile, *columns: str) -> set[str]:
    """Return the columns of a file; those named are there, and all are of the types that MEDS gives them."""
    stored = dict.fromkeys(columns, "missing")
    stored |= {field.name: str(field.type) for field in parquet_schema(local_copy(file.path))}
    wrong = [name for name, kinds in TYPES.items() if not stored.get(name, "null").startswith(kinds)]
    if wrong:
        raise InputError(
            "a file has other columns than MEDS",
            file=file.path,
            found=", ".join(f"{name} {stored[name]}" for name in wrong),
            expected=", ".join(f"{name} {TYPES[name][0]}" for name in wrong),
            do="write the dataset with a converter of MEDS 0.4",
        )
    return set(stored)


def _refused(connection: duckdb.DuckDBPyConnection, dataset: _Dataset, settings: LoadSettings) -> list[Reject]:
    """Return the events without a patient or a code, and the notes without text."""
    files, limit = list(dataset.data), settings.max_reject_share
    total = number_of(connection, "select count(*) from meds_row")
    if not total:
        raise InputError("a MEDS dataset has no events", file=files[0].path, found=f"{len(files)} files")
    most = max(KEPT_REJECTS_OF_A_FAILED_FILE, int(limit * total) + 1)
    rejects = [Reject(*row) for row in connection.execute(sql_text("ehr/meds/refused")).fetchmany(most)]
    if len(rejects) > limit * total:
        expected = "a patient, a code, and a text for each note"
        raise too_many_rejects(connection, SOURCE, files, rejects, (len(rejects), total, limit), expected)
    return rejects
