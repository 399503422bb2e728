"""Re-derive every label of a built dataset from the warehouse, by SQL.

Second road: shares no rules and no word tables with ``builders/medieval`` and ``sql/builders/medieval``. Both read
``kg`` and ``ground``'s mentions and codes: what these hold in error is an error on both roads.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from ground.contracts.rows import CONTRADICTED_SCHEMA, MEDIEVAL_SCHEMA
from ground.errors import InputError
from ground.flow.executors import open_threads
from ground.plain import Plain
from ground.settings import BuildSettings
from ground.storage.parquet import parquet_schema
from ground.storage.sqlfiles import quoted_files, sql_text
from ground.storage.warehouse import number_of, set_table, set_variables
from ground.storage.workspace import Workspace

__all__ = ["ValidationReport", "validate_medieval"]

NAMES = ("check", "id", "found", "expected")

PATIENTS_AT_ONCE = 20_000
"""Patients whose rows are checked at once, by all workers together: what they are checked against is some gigabytes
less than DuckDB may use, whatever the number of workers."""

STARTS_AT_ONCE = 4_000
"""Concepts that walks of up to three steps are begun from at once: these grow with concepts, not with patients."""

COMMON = "common"
"""A database in memory, within DuckDB's limit, for what all workers read."""

COMMON_TABLES = ("said", "said_end", "attesting", "unclear_by", "spelled", "partner")
PART_CHECKS = {"labelled": ("disagreement", "evidence", "literal"), "denying": ("contradicted",)}
WHOLE_CHECKS = {"labelled": ("whole", "statement"), "denying": ("contradicted_whole",)}
"""Checks of some patients' rows, and of all rows, by the files that they read."""

Files = Mapping[str, Sequence[Path]]
Lines = list[tuple[Any, ...]]
Check = Callable[[duckdb.DuckDBPyConnection], Lines]


@dataclass(frozen=True)
class ValidationReport(Plain):
    """Labels that the warehouse does not confirm; none is success."""

    folder: str
    rows: int
    disagreements: list[dict[str, Any]] = field(default_factory=list)

    @property
    def by_check(self) -> dict[str, int]:
        """Disagreements counted by check."""
        counts: dict[str, int] = {}
        for line in self.disagreements:
            counts[line["check"]] = counts.get(line["check"], 0) + 1
        return counts

    def as_dict(self) -> dict[str, Any]:
        """Return the report for ``--json`` output."""
        return super().as_dict() | {"by_check": self.by_check}


def _settings_of(folder: Path) -> BuildSettings:
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        return BuildSettings.model_validate(manifest["settings"]["build"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            "this is not a dataset folder",
            file=folder,
            found="no readable manifest.json",
            expected="a folder that `ontoground build medieval` wrote",
        ) from error


def _show(connection: duckdb.DuckDBPyConnection, files: Files) -> None:
    """Make views of all rows: each check reads the columns that it needs, and no context stays in memory."""
    for name, paths in files.items():
        connection.execute(f"create or replace temp view {name} as from read_parquet({quoted_files(paths)})")


def _hold(cursor: duckdb.DuckDBPyConnection, files: Files, patients: tuple[int, int]) -> None:
    """Make tables of the rows of some patients, read once for all checks, and of the contexts of their admissions."""
    for name, paths in files.items():
        rows = f"from read_parquet({quoted_files(paths)}) where subject_id between {patients[0]} and {patients[1]}"
        cursor.execute(f"create or replace temp table {name} as select * exclude (context) {rows}")
        cursor.execute(f"create or replace temp table {name}_context as select distinct hadm_id, context {rows}")


@contextmanager
def _common(connection: duckdb.DuckDBPyConnection, names: Iterable[str]) -> Iterator[None]:
    """Move temporary tables to where all cursors see them: temporary ones are their connection's alone."""
    connection.execute(f"attach ':memory:' as {COMMON} (read_write)")
    try:
        for name in names:
            connection.execute(f"create table {COMMON}.{name} as from temp.{name}")
            connection.execute(f"drop table temp.{name}")
        yield
    finally:
        connection.execute(f"detach {COMMON}")


def _find_paths(connection: duckdb.DuckDBPyConnection) -> None:
    """Make ``found_path``: what the graph says of the pairs of all rows."""
    set_variables(connection, {"starts_at_once": STARTS_AT_ONCE})
    for table in ("asked", "step", "paired"):
        connection.execute(sql_text(f"builders/validate/{table}"))
    for lot in range(number_of(connection, "select coalesce(max(lot) + 1, 0) from paired")):
        set_variables(connection, {"lot": lot})
        connection.execute(sql_text("builders/validate/found_path"))


def _words(column: str) -> pl.Expr:
    """Return the words of texts in small letters: letters and figures, a blank between two of them."""
    # A blank alone stays as it is: most are.
    return pl.col(column).str.replace_all("[^a-z0-9 ][^a-z0-9]*| [^a-z0-9]+", " ").str.strip_chars(" ")


def _spelled(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """Return (cui, name): names from four letters on that an end is not to have in a note, singular and plural."""
    name = pl.col("name")
    named = connection.execute(sql_text("builders/validate/called")).pl().with_columns(_words("name"))
    named = named.filter(name.str.len_chars() >= 4)
    plural = named.filter(name.str.contains("[a-rt-z]$")).with_columns(name + "s")
    singular = named.filter(name.str.contains("[a-z][^sui]s$"), name.str.len_chars() >= 5)
    spelled = pl.concat([named.filter(name.str.contains("[a-z]{2}")), plural, singular.with_columns(name.str.head(-1))])
    return spelled.unique(maintain_order=False)


def _in_words(cursor: duckdb.DuckDBPyConnection, texts: str) -> pl.DataFrame:
    """Return what a query gives, its texts as words with a blank before and after each."""
    rows = cursor.execute(sql_text(f"builders/validate/{texts}")).pl()
    return rows.with_columns(text=" " + _words("text") + " ")


def _find_names(cursor: duckdb.DuckDBPyConnection, texts: pl.DataFrame, names: pl.Series) -> None:
    """Add to ``named_end`` the unsupported ends that a text of the admission names."""
    found = texts.select("hadm_id", name=pl.col("text").str.extract_many(names, overlapping=True)).explode("name")
    set_table(cursor, "written", found.unique().with_columns(pl.col("name").str.strip_chars(" ")).to_arrow())
    cursor.execute(sql_text("builders/validate/named_end"))


@dataclass(frozen=True)
class _Checks:
    """What a worker does: it checks all rows against the graph, or some patients' rows against their records."""

    connection: duckdb.DuckDBPyConnection
    files: Files
    build: BuildSettings

    def open(self) -> duckdb.DuckDBPyConnection:
        """Open a cursor, with what is common to all workers."""
        cursor = self.connection.cursor()
        for name in _tables(self.files):
            cursor.execute(f"create temp view {name} as from {COMMON}.{name}")
        set_variables(cursor, self.build.attesting())
        return cursor

    def of_all(self, cursor: duckdb.DuckDBPyConnection) -> Lines:
        """Return the disagreements that hang on no patient, or on several."""
        _show(cursor, self.files)
        set_variables(cursor, {"tiers": list(self.build.truth_tiers)})
        _find_paths(cursor)
        found = _found(cursor, [check for name in self.files for check in WHOLE_CHECKS[name]])
        # The cursor's next check has rows of its own under these names.
        for name in self.files:
            cursor.execute(f"drop view {name}")
        walked = ("walk", "step_name", "asked", "near", "reading", "step", "paired", "opened", "found_path")
        for name in (*walked, "wrong"):
            cursor.execute(f"drop table {name}")
        return found

    def of_some(self, patients: tuple[int, int], cursor: duckdb.DuckDBPyConnection) -> Lines:
        """Return the disagreements of the patients from one to another."""
        _hold(cursor, self.files, patients)
        admissions = " union ".join(f"select hadm_id from {name}" for name in self.files)
        cursor.execute(f"create or replace temp table part_admission as {admissions}")
        notes = cursor.execute(
            "select min(note_id), max(note_id) from mimiciv_note.discharge semi join part_admission using (hadm_id)"
        ).fetchall()
        bounds = zip(("first_patient", "last_patient", "first_note", "last_note"), (*patients, *notes[0]), strict=True)
        set_variables(cursor, dict(bounds))
        for table in ("part", "shown_span", "silent_end"):
            cursor.execute(sql_text(f"builders/validate/{table}"))
        self._read_texts(cursor)
        return _found(cursor, [check for name in self.files for check in PART_CHECKS[name]])

    def _read_texts(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """Make ``named_end``, and of denials, mentions that deny and their notes what they say in words."""
        notes = _in_words(cursor, "note_text")
        # Of these patients only: to search for many names, they must first be made into one automaton.
        names = cursor.execute(sql_text("builders/validate/silent_name")).pl()["name"].implode()
        _find_names(cursor, notes, names)
        if self.build.radiology:
            _find_names(cursor, _in_words(cursor, "report_text"), names)
        if "denying" in self.files:
            denials = _in_words(cursor, "denial_text").unique()
            set_table(cursor, "denial_word", denials.to_arrow())
            set_table(cursor, "denied_word", _in_words(cursor, "denied_text").to_arrow())
            set_table(cursor, "note_word", notes.join(denials, on="hadm_id", how="semi").to_arrow())


def _tables(files: Files) -> list[str]:
    """Return the tables that all workers read."""
    return [name for name in COMMON_TABLES if name != "partner" or "denying" in files]


def _parts(connection: duckdb.DuckDBPyConnection, files: Files, workers: int) -> list[tuple[int, int]]:
    """Return the first and the last patient of each part: what all workers hold at once is bounded."""
    size = max(1, PATIENTS_AT_ONCE // workers)
    patients = " union ".join(f"select distinct subject_id from {name}" for name in files)
    return connection.execute(
        "select min(subject_id), max(subject_id) from (select subject_id, row_number() over (order by subject_id) as n "
        f"from ({patients})) group by (n - 1) // {size} order by 1"
    ).fetchall()


def validate_medieval(workspace: Workspace, connection: duckdb.DuckDBPyConnection, folder: Path) -> ValidationReport:
    """Check a dataset folder against the warehouse that it was built from.

    Truth is re-derived by joins over ``kg.edge`` and ``kg.pattern``. Support is what the spans of a row attest, walked
    from its ends to what ``ground.mention`` has there; silence is looked for in all mentions and codes of an admission,
    and in the bare text of its notes for names. What hangs on a patient is checked for some patients at a time, by as
    many workers as the settings say.

    Raises:
        InputError: the folder is no dataset, holds no rows, or those of another version.
    """
    build = _settings_of(folder)
    files = {"labelled": sorted((folder / "data").glob("*.parquet"))}
    if not files["labelled"]:
        raise InputError("the dataset has no rows", file=folder / "data", expected="Parquet files")
    if denying := sorted((folder / "contradicted").glob("*.parquet")):
        files["denying"] = denying
    _require_columns(files)
    # Each part reads the same files: else what they say of themselves would be read for every query. Cursors have
    # settings of their own, but global ones.
    connection.execute("set global parquet_metadata_cache = true")
    _show(connection, files)
    for step in ("said", "cover", *(["partner"] if denying else [])):
        connection.execute(sql_text(f"builders/validate/{step}"))
    set_table(connection, "spelled", _spelled(connection).to_arrow())
    rows = sum(number_of(connection, f"select count(*) from {name}") for name in files)
    checks = _Checks(connection, files, build)
    executor = open_threads(workspace.settings.run, duckdb.DuckDBPyConnection.interrupt)
    shards: list[Check] = [checks.of_all]
    shards += [partial(checks.of_some, patients) for patients in _parts(connection, files, executor.workers)]
    with _common(connection, _tables(files)):
        lots = executor.in_order(checks.open, lambda cursor, check: check(cursor), shards)
        found = [line for lines in lots for line in lines]
    found.sort(key=lambda line: [str(cell) for cell in line])
    return ValidationReport(str(folder), rows, [dict(zip(NAMES, line, strict=True)) for line in found])


def _require_columns(files: Files) -> None:
    """Refuse rows that another version of the builder wrote."""
    for name, schema in (("labelled", MEDIEVAL_SCHEMA), ("denying", CONTRADICTED_SCHEMA)):
        for file in files.get(name, ()):
            there = parquet_schema(file).names
            if lacking := [column for column in schema.names if column not in there]:
                do = "build it again: `ontoground build medieval`"
                raise InputError("columns are missing", file=file, found=f"no {', '.join(lacking)}", do=do)


def _found(connection: duckdb.DuckDBPyConnection, checks: Iterable[str]) -> Lines:
    return [line for check in checks for line in connection.execute(sql_text(f"builders/validate/{check}")).fetchall()]
