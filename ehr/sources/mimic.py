"""MIMIC-IV: what a release is made of, its folders, files and name, and how it is loaded."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from itertools import pairwise

import duckdb

from ehr.sources.loader import SUFFIXES, Records, files_by_table, load_records, stem_of
from ehr.sources.tables import DATA, RecordFile, documented, schemas
from ground.errors import InputError
from ground.settings import LoadSettings, RemoteSettings
from ground.storage.loading import LoadedFile, LoadReport, SourceFile
from ground.storage.remote import Place, Places, at_most_one, in_order, reading_from, require_allowed, several
from ground.storage.tables import read_table
from ground.storage.warehouse import run_sql

__all__ = ["find_mimic", "load_mimic", "published_counts"]

SOURCE = "mimic"
STAYS = "select hadm_id as stay, subject_id as patient from mimiciv_hosp.admissions"

MODULES = ("hosp", "note", "icu")
NOTES_BESIDE = "notes as note/discharge.csv.gz, .csv or .parquet, in a folder of their own or beside hosp/"
# How far below the user's folder a module may lie: physionet.org/files/mimiciv/3.1/hosp.
LEVELS = ("", "*/", "*/*/", "*/*/*/", "*/*/*/*/")


@cache
def published_counts() -> dict[tuple[str, str], tuple[int, ...]]:
    """Return the published row counts by (release, table); several where the official counts differ."""
    counts: dict[tuple[str, str], tuple[int, ...]] = {}
    for row in read_table(DATA / "published_counts.tsv", ("release", "table", "rows", "source")):
        key = (row["release"], row["table"])
        counts[key] = (*counts.get(key, ()), int(row["rows"]))
    return counts


def _holds(folder: Place, module: str) -> bool:
    names = {table.name for table in documented(SOURCE) if table.module == module}
    return folder.is_dir() and any(stem_of(path) in names for path in folder.iterdir())


def _find_module(folder: Place, module: str) -> Place | None:
    """Return the nearest folder of a module at or below a folder."""
    if folder.name == module and _holds(folder, module):
        return folder
    for level in LEVELS:
        places = [path for path in in_order(folder.glob(f"{level}{module}")) if _holds(path, module)]
        if nearest := at_most_one(places, folder, f"several folders could be the module {module}"):
            return nearest
    return None


def _release(folder: Place) -> str | None:
    """Return the release of a module by the folders above it (``mimiciv/3.1/hosp``), or the read-me beside it."""
    names = [parent.name.lower() for parent in folder.resolve().parents[:3]]
    for name, above in pairwise([*names, ""]):
        dated = re.search(r"mimic-?iv\b.*?-v?(\d+(?:\.\d+)+)$", name)
        if match := dated or ("mimic" in above and re.fullmatch(r"v?(\d+(?:\.\d+)+)", name)):
            return f"demo {match.group(1)}" if "demo" in (name if dated else above) else match.group(1)
    for path in [*in_order(folder.parent.glob("CHANGELOG*")), *in_order(folder.parent.glob("README*"))]:
        text = path.read_text(encoding="utf-8", errors="replace")[:20_000]
        if match := re.search(r"MIMIC-IV( Clinical Database Demo)?[ ,]+(?:version |v)?(\d+\.\d+(?:\.\d+)?)\b", text):
            return f"demo {match.group(2)}" if match.group(1) else match.group(2)
        if match := re.search(r"^Release: (OPENWORLD\S*)$", text, re.MULTILINE):
            return match.group(1)
    return None


def _astray(folders: Sequence[Place]) -> str:
    """Return the names of files that may be notes and lie where none are read."""
    near = {path.name for folder in folders for path in folder.iterdir() if stem_of(path)}
    return ", ".join(sorted(name for name in near if re.search("note|discharge", name, re.I)))


def _require(folder: Place, modules: Mapping[str, Place], files: Sequence[RecordFile]) -> None:
    there = {source.table.qualified for source in files}
    required = [table for table in documented(SOURCE) if table.required]
    lacking = [table for table in required if table.qualified not in there]
    if not lacking:
        return
    if "hosp" not in modules and "note" in modules:
        raise InputError(
            "this is only MIMIC-IV-Note; MIMIC-IV with hosp/ is a separate download",
            file=folder,
            expected=NOTES_BESIDE,
            do="name both: `ontoground load mimic DIR NOTE_DIR`, or `ontoground run` with --mimic twice",
        )
    raise InputError(
        "required files of MIMIC-IV are missing: " + ", ".join(f"{t.module}/{t.name}" for t in lacking),
        file=modules.get("hosp", folder),
        found=", ".join(sorted(f"hosp/{t.table.name}" for t in files if t.table.module == "hosp")) or "no hosp/ folder",
        expected=", ".join(f"{t.module}/{t.name}" for t in required) + f", each as {', '.join(SUFFIXES)}",
        do="name the folder that has hosp/ in it",
    )


def _find_modules(folders: Sequence[Place], wanted: Sequence[str]) -> dict[str, Place]:
    bases = [folder.parent if folder.name == "hosp" and _holds(folder, "hosp") else folder for folder in folders]
    modules: dict[str, Place] = {}
    for name in wanted:
        places = list(dict.fromkeys(place for base in bases if (place := _find_module(base, name)) is not None))
        if len(places) > 1:
            both = " and ".join(map(str, places))
            raise InputError(f"several folders could be the module {name}", found=both, do="name one of them")
        if places:
            modules[name] = places[0]
    return modules


def find_mimic(*folders: Place, icu: bool = True) -> Records:
    """Find a MIMIC-IV release at or up to four levels below some folders, which share its modules.

    MIMIC-IV (hosp, icu) and MIMIC-IV-Note (note) are two downloads, each with a release of its own.

    Raises:
        InputError: no such folder, a required file is missing, or a module is there several times.
    """
    for folder in folders:
        if not folder.is_dir():
            raise InputError(
                "there is no such folder", file=folder, expected="a folder with hosp/ (and note/, icu/) in it"
            )
    wanted = [name for name in MODULES if icu or name != "icu"]
    modules = _find_modules(folders, wanted)
    files, missing, warnings = list[RecordFile](), list[str](), list[str]()
    if "note" not in modules:
        astray = _astray(folders)
        warnings.append(f"no notes: {NOTES_BESIDE}" + (f"; {astray} is not read" if astray else ""))
    for module in wanted:
        tables = [table for table in documented(SOURCE) if table.module == module]
        chosen = dict[str, Place]()
        if place := modules.get(module):
            # Releases before 2.0 have three tables of hosp in a folder beside it.
            beside = [core for core in [place.parent / "core"] if module == "hosp" and core.is_dir()]
            chosen, passed_over = files_by_table([place, *beside], {table.name for table in tables}, module)
            warnings += passed_over
        places = [(table, chosen[table.name]) for table in tables if table.name in chosen]
        files += [RecordFile(table, SourceFile(f"{path.parent.name}/{path.name}", path)) for table, path in places]
        missing += [f"{module}/{table.name}" for table in tables if not table.required and table.name not in chosen]
    _require(folders[0], modules, files)
    releases = {module: _release(place) for module, place in modules.items()}
    # Tables of the unit stay where they were not looked for.
    forgotten = tuple(schema for schema in schemas(SOURCE) if icu or schema != "mimiciv_icu")
    parts = (tuple(files), releases, tuple(missing), tuple(warnings), forgotten)
    return Records(SOURCE, *parts, ("", STAYS), ("mimiciv_hosp.admissions",), filled=False)


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
        InputError: a required file or a needed column is missing, a file is damaged, or too many of its rows are
            malformed.
        RefusedError: it lies in object storage that the settings do not name for credentialed data.
    """
    with ExitStack() as reading:
        for folder in several(folders):
            reading.enter_context(reading_from(connection, folder))
        release = find_mimic(*several(folders), icu=settings.icu)
        for folder in several(folders):
            require_allowed(folder, credentialed=release.credentialed, settings=remote)
        report = load_records(connection, release, settings)
    orphans = [
        f"mimiciv_hosp.{table}: {n} rows of admissions that mimiciv_hosp.admissions lacks"
        for table, n in run_sql(connection, "ehr/orphans").fetchall()
    ]
    return replace(report, warnings=(*report.warnings, *_count_warnings(release, report.tables), *orphans))


def _count_warnings(release: Records, loaded: Sequence[LoadedFile]) -> list[str]:
    """Compare rows with the published counts, where the release is known and they are."""
    warnings = []
    for file in loaded:
        name = release.releases.get(file.table.split(".")[0].removeprefix("mimiciv_"))
        published = published_counts().get((name or "", file.table), ())
        if published and file.rows_read not in published:
            stated = " or ".join(str(n) for n in sorted(published))
            warnings.append(f"{file.table} has {file.rows_read} rows, published for release {name}: {stated}")
    return warnings
