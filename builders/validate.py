"""Re-derive every label of a built dataset from the warehouse, by SQL.

Second road: shares no rules and no word tables with ``builders/medieval`` and ``sql/builders/medieval``. Both read
``kg`` and ``ground``'s mentions and codes: what these hold in error is an error on both roads.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from ground.contracts.rows import CONTRADICTED_SCHEMA, MEDIEVAL_SCHEMA
from ground.errors import InputError
from ground.plain import Plain
from ground.settings import BuildSettings
from ground.storage.parquet import parquet_schema
from ground.storage.sqlfiles import quoted_files, sql_text
from ground.storage.warehouse import number_of, set_variables
from ground.storage.workspace import Workspace

__all__ = ["ValidationReport", "validate_medieval"]

NAMES = ("check", "id", "found", "expected")

PART_SIZE = 1_000
"""Patients whose notes are searched at once."""

PATIENTS_AT_ONCE = 10_000
"""Patients whose rows are checked at once: what they are checked against is some gigabytes less than DuckDB may use."""

PART_CHECKS = {"labelled": ("disagreement", "evidence"), "denying": ("contradicted",)}
WHOLE_CHECKS = {"labelled": ("whole", "literal"), "denying": ("contradicted_whole",)}
"""Checks of some patients' rows, and of all rows, by the files that they read."""


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


def _find_names(connection: duckdb.DuckDBPyConnection, build: BuildSettings) -> None:
    """Make ``named_end``: unsupported ends that a note of the admission names, looked for in its bare text."""
    set_variables(connection, {"part_size": PART_SIZE})
    connection.execute(sql_text("builders/validate/spelled"))
    kinds = ("note", "report") if build.radiology else ("note",)
    query = "select part, min(subject_id), max(subject_id) from silent_end group by part order by part"
    for bounds in connection.execute(query).fetchall():
        set_variables(connection, dict(zip(("part", "first_patient", "last_patient"), bounds, strict=True)))
        for kind in kinds:
            connection.execute(sql_text(f"builders/validate/{kind}_text"))
            connection.execute(sql_text("builders/validate/named_end"))


def _show(connection: duckdb.DuckDBPyConnection, files: Mapping[str, Sequence[Path]], where: str = "true") -> None:
    """Make views of rows: each check reads the columns that it needs, and no context stays in memory."""
    for name, paths in files.items():
        rows = f"select * from read_parquet({quoted_files(paths)}) where {where}"
        connection.execute(f"create or replace temp view {name} as {rows}")


def _parts(connection: duckdb.DuckDBPyConnection, files: Mapping[str, Sequence[Path]]) -> Iterator[None]:
    """Show the rows of some patients at a time, with what the records hold of their admissions."""
    patients = " union ".join(f"select distinct subject_id from {name}" for name in files)
    admissions = " union ".join(f"select hadm_id from {name}" for name in files)
    bounds = connection.execute(
        "select min(subject_id), max(subject_id) from (select subject_id, row_number() over (order by subject_id) as n "
        f"from ({patients})) group by (n - 1) // {PATIENTS_AT_ONCE} order by 1"
    ).fetchall()
    for first, last in bounds:
        _show(connection, files, f"subject_id between {first} and {last}")
        connection.execute(f"create or replace temp table part_admission as {admissions}")
        notes = connection.execute(
            "select min(note_id), max(note_id) from mimiciv_note.discharge semi join part_admission using (hadm_id)"
        ).fetchall()
        set_variables(connection, dict(zip(("first_note", "last_note"), notes[0], strict=True)))
        connection.execute(sql_text("builders/validate/part"))
        yield


def validate_medieval(workspace: Workspace, connection: duckdb.DuckDBPyConnection, folder: Path) -> ValidationReport:
    """Check a dataset folder against the warehouse that it was built from.

    Truth is re-derived by joins over ``kg.edge`` and ``kg.pattern``, support by walking from each end of a statement
    to ``ground.mention`` and ``ground.admission_concept``. What a row calls unsupported must not be named in the bare
    text of the admission's notes either. What hangs on a patient is checked for some patients at a time.

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
    _show(connection, files)
    set_variables(connection, {"tiers": list(build.truth_tiers), **build.attesting()})
    for step in ("step", "found_path", "cover", *(["partner"] if denying else [])):
        connection.execute(sql_text(f"builders/validate/{step}"))
    _find_names(connection, build)
    rows = sum(number_of(connection, f"select count(*) from {name}") for name in files)
    found = _found(connection, [check for name in files for check in WHOLE_CHECKS[name]])
    for _ in _parts(connection, files):
        found += _found(connection, [check for name in files for check in PART_CHECKS[name]])
    found.sort(key=lambda line: [str(cell) for cell in line])
    return ValidationReport(str(folder), rows, [dict(zip(NAMES, line, strict=True)) for line in found])


def _require_columns(files: Mapping[str, Sequence[Path]]) -> None:
    """Refuse rows that another version of the builder wrote."""
    for name, schema in (("labelled", MEDIEVAL_SCHEMA), ("denying", CONTRADICTED_SCHEMA)):
        for file in files.get(name, ()):
            there = parquet_schema(file).names
            if lacking := [column for column in schema.names if column not in there]:
                do = "build it again: `ontoground build medieval`"
                raise InputError("columns are missing", file=file, found=f"no {', '.join(lacking)}", do=do)


def _found(connection: duckdb.DuckDBPyConnection, checks: Iterable[str]) -> list[tuple[Any, ...]]:
    return [line for check in checks for line in connection.execute(sql_text(f"builders/validate/{check}")).fetchall()]
