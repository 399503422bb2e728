"""What a MIMIC-IV release is made of: its modules' folders, their files, the columns they should have, its name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from ehr.sources.tables import DATA, Table, documented
from ground.errors import InputError
from ground.flow.manifest import is_open_release
from ground.storage.loading import SourceFile
from ground.storage.remote import Place, at_most_one, in_order
from ground.storage.tables import read_table

__all__ = [
    "MimicFile",
    "MimicRelease",
    "Module",
    "find_mimic",
    "published_counts",
    "require_notes",
]

SUFFIXES = (".csv.gz", ".csv", ".parquet")
MODULES = ("hosp", "note", "icu")
NOTES_BESIDE = "notes as note/discharge.csv.gz, .csv or .parquet, in a folder of their own or beside hosp/"
# How far below the user's folder a module may lie: physionet.org/files/mimiciv/3.1/hosp.
LEVELS = ("", "*/", "*/*/", "*/*/*/", "*/*/*/*/")


@dataclass(frozen=True)
class MimicFile:
    """A file that is there, and the table that it becomes."""

    table: Table
    file: SourceFile

    @property
    def is_parquet(self) -> bool:
        """Tell whether the file is Parquet; else it is CSV."""
        return self.file.path.suffix.lower() == ".parquet"


@dataclass(frozen=True)
class Module:
    """A module: its folder and the name of its release (hosp and note have releases of their own)."""

    name: str
    folder: Place
    release: str | None


@dataclass(frozen=True)
class MimicRelease:
    """A MIMIC-IV release."""

    modules: tuple[Module, ...]
    files: tuple[MimicFile, ...]
    missing_optional: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def name(self) -> str | None:
        """Release of hosp, and of note where it is another."""
        names = {module.name: module.release for module in self.modules}
        hosp, note = names.get("hosp"), names.get("note")
        return f"{hosp or 'unknown'}, note {note}" if note and note != hosp else hosp

    @property
    def credentialed(self) -> bool:
        """Tell whether any module is anything but the embedded open world."""
        return not all(is_open_release(module.release) for module in self.modules)

    def release_of(self, module: str) -> str | None:
        """Return the release of one module."""
        return next((part.release for part in self.modules if part.name == module), None)


@cache
def published_counts() -> dict[tuple[str, str], tuple[int, ...]]:
    """Return the published row counts by (release, table); several where the official counts differ."""
    counts: dict[tuple[str, str], tuple[int, ...]] = {}
    for row in read_table(DATA / "published_counts.tsv", ("release", "table", "rows", "source")):
        key = (row["release"], row["table"])
        counts[key] = (*counts.get(key, ()), int(row["rows"]))
    return counts


def _stem(path: Place) -> str | None:
    """Return the table that a file's name says, or None for a file that is no table."""
    name = path.name.lower()
    return next((name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)), None)


def _holds(folder: Place, module: str) -> bool:
    names = {table.name for table in documented("mimic") if table.module == module}
    return folder.is_dir() and any(_stem(path) in names for path in folder.iterdir())


def _find_module(folder: Place, module: str) -> Place | None:
    """Return the nearest folder of a module at or below a folder.

    Raises:
        InputError: several at the same depth, such as two releases side by side.
    """
    if folder.name == module and _holds(folder, module):
        return folder
    for level in LEVELS:
        places = [path for path in in_order(folder.glob(f"{level}{module}")) if _holds(path, module)]
        if nearest := at_most_one(places, folder, f"several folders could be the module {module}"):
            return nearest
    return None


def _release_in_names(folder: Place) -> str | None:
    """Read the release off the names of the folders above a module: ``mimiciv/3.1/hosp``, ``...-demo-2.2/hosp``."""
    names = [parent.name.lower() for parent in folder.resolve().parents[:3]]
    for position, name in enumerate(names):
        if match := re.search(r"mimic-?iv\b.*?-v?(\d+(?:\.\d+)+)$", name):
            return f"demo {match.group(1)}" if "demo" in name else match.group(1)
        above = names[position + 1] if position + 1 < len(names) else ""
        if re.fullmatch(r"v?\d+(\.\d+)+", name) and "mimic" in above:
            number = name.removeprefix("v")
            return f"demo {number}" if "demo" in above else number
    return None


def _release_in_texts(folder: Place) -> str | None:
    """Read the release off the change log or the read-me beside a module's folder."""
    for path in [*in_order(folder.parent.glob("CHANGELOG*")), *in_order(folder.parent.glob("README*"))]:
        text = path.read_text(encoding="utf-8", errors="replace")[:20_000]
        if match := re.search(r"MIMIC-IV( Clinical Database Demo)?[ ,]+(?:version |v)?(\d+\.\d+(?:\.\d+)?)\b", text):
            return f"demo {match.group(2)}" if match.group(1) else match.group(2)
        if match := re.search(r"^Release: (OPENWORLD\S*)$", text, re.MULTILINE):
            return match.group(1)
    return None


def _files_of(module: Module) -> tuple[dict[str, Place], list[str]]:
    """Return the files of a module by table, and what was passed over: unknown tables and second copies."""
    known = {table.name for table in documented("mimic") if table.module == module.name}
    chosen: dict[str, Place] = {}
    warnings = []
    order = {suffix: rank for rank, suffix in enumerate(SUFFIXES)}
    # Releases before 2.0 have three tables of hosp in a folder beside it.
    core = module.folder.parent / "core"
    folders = [module.folder, *([core] if module.name == "hosp" and core.is_dir() else [])]
    paths = sorted(
        (path for folder in folders for path in folder.iterdir() if not path.name.startswith(".")),
        key=lambda path: (order.get(next((s for s in SUFFIXES if path.name.lower().endswith(s)), ""), 9), path.name),
    )
    for path in paths:
        stem = _stem(path)
        if stem is None:
            continue
        if stem not in known:
            warnings.append(f"{module.name}/{path.name} is not a documented table and is skipped")
        elif not path.is_file():
            raise InputError(
                "what has the name of a file of the release is not a file",
                file=path,
                found="a link to nothing, a folder, or a pipe",
            )
        elif stem in chosen:
            warnings.append(f"{module.name}/{path.name} is skipped: {chosen[stem].name} is taken for the same table")
        else:
            chosen[stem] = path
    return chosen, warnings


def _astray(folders: Sequence[Place]) -> str:
    """Return the names of files that may be notes and lie where none are read."""
    near = {
        path.name for folder in folders for path in folder.iterdir() if re.search("note|discharge", path.name, re.I)
    }
    return ", ".join(sorted(name for name in near if any(name.lower().endswith(suffix) for suffix in SUFFIXES)))


def _require(folder: Place, modules: Sequence[Module], files: Sequence[MimicFile]) -> None:
    there = {source.table.qualified for source in files}
    required = [table for table in documented("mimic") if table.required]
    lacking = [table for table in required if table.qualified not in there]
    if not lacking:
        return
    hosp = next((module.folder for module in modules if module.name == "hosp"), None)
    if hosp is None and any(module.name == "note" for module in modules):
        raise InputError(
            "this is only MIMIC-IV-Note; MIMIC-IV with hosp/ is a separate download",
            file=folder,
            expected=NOTES_BESIDE,
            do="name both: `ontoground load mimic DIR NOTE_DIR`, or `ontoground run` with --mimic twice",
        )
    raise InputError(
        "required files of MIMIC-IV are missing: " + ", ".join(f"{t.module}/{t.name}" for t in lacking),
        file=hosp or folder,
        found=", ".join(sorted(f"hosp/{t.table.name}" for t in files if t.table.module == "hosp")) or "no hosp/ folder",
        expected=", ".join(f"{t.module}/{t.name}" for t in required) + f", each as {', '.join(SUFFIXES)}",
        do="name the folder that has hosp/ in it",
    )


def _find_modules(folders: Sequence[Place], wanted: Sequence[str]) -> list[Module]:
    bases = [folder.parent if folder.name == "hosp" and _holds(folder, "hosp") else folder for folder in folders]
    modules: list[Module] = []
    for name in wanted:
        places = list(dict.fromkeys(place for base in bases if (place := _find_module(base, name)) is not None))
        if len(places) > 1:
            both = " and ".join(map(str, places))
            raise InputError(f"several folders could be the module {name}", found=both, do="name one of them")
        modules += [Module(name, place, _release_in_names(place) or _release_in_texts(place)) for place in places]
    return modules


def require_notes(*folders: Place) -> None:
    """Make sure that a release has discharge summaries, before hours of work that end without them.

    Raises:
        InputError: it has none, or as `find_mimic`.
    """
    release = find_mimic(*folders)
    if "note/discharge" not in {f"{source.table.module}/{source.table.name}" for source in release.files}:
        raise InputError(
            "there are no discharge summaries here; MIMIC-IV-Note is a separate download",
            file=folders[0],
            found=f"{astray}, which is not read" if (astray := _astray(folders)) else None,
            expected=NOTES_BESIDE,
            do="name both folders: --mimic twice",
        )


def find_mimic(*folders: Place, icu: bool = True) -> MimicRelease:
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
    files: list[MimicFile] = []
    warnings: list[str] = []
    if not any(module.name == "note" for module in modules):
        astray = _astray(folders)
        warnings.append(f"no notes: {NOTES_BESIDE}" + (f"; {astray} is not read" if astray else ""))
    paths: dict[tuple[str, str], Place] = {}
    for module in modules:
        chosen, passed_over = _files_of(module)
        warnings += passed_over
        paths |= {(module.name, stem): path for stem, path in chosen.items()}
    missing = []
    for table in documented("mimic"):
        path = paths.get((table.module, table.name))
        if path is not None:
            files.append(MimicFile(table, SourceFile(f"{path.parent.name}/{path.name}", path)))
        elif table.module in wanted and not table.required:
            missing.append(f"{table.module}/{table.name}")
    _require(folders[0], modules, files)
    return MimicRelease(tuple(modules), tuple(files), tuple(missing), tuple(warnings))
