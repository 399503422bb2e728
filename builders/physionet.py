"""A dataset's folder as PhysioNet asks for data that derive from credentialed data.

Sections, title and abstract follow its guidelines (https://physionet.org/about/publish/). What only the authors can say
is marked as theirs to write.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from builders.cards import (
    LICENCE,
    OPEN_WORLD_LICENCE,
    croissant_of,
    is_synthetic,
    left_table,
    section_texts,
    version_of,
)
from builders.governance import OPEN_WORLD, responsible_ai, sources_of
from ground.contracts.dictionary import columns_of
from ground.errors import InputError, UsageError
from ground.flow.manifest import LicenceTier, tier_of, to_json
from ground.json_record import JsonRecord
from ground.storage.files import atomic_directory, sha256_of, write_text
from ground.storage.publishing import WholeDataset, check_file, whole_dataset

__all__ = ["Exported", "export_physionet"]

PLACEHOLDER = "AUTHORS:"
"""Begins what the authors have to write themselves."""
TITLE = re.compile(r"(?!The )[A-Za-z0-9 _-]{1,200}")
ABSTRACT_WORDS = 250
NAMES = {"medieval": "MediEval", "medhal": "MedHal", "medval": "MedVAL"}
SUBJECTS = {
    "medieval": "Medical statements true or false and supported or not by a discharge summary",
    "medhal": "Medical statements factual or not with explanations",
    "medval": "Outputs of medical text tasks with known levels of risk",
}
"""What a title says; PhysioNet's may hold letters, numbers, spaces, underscores and hyphens."""
PARENTS = {
    OPEN_WORLD: ("the open world of ontoground (invented records and an ontology written by hand)", "Apache-2.0"),
    "mimic": (
        "MIMIC-IV and MIMIC-IV-Note",
        "PhysioNet Credentialed Health Data License and Data Use Agreement 1.5.0 (https://physionet.org/content/mimiciv/)",
    ),
    "umls": ("UMLS Metathesaurus", "UMLS Metathesaurus License; MRSAB.RRF has each source's restriction level (SRL)"),
    "rxnorm": ("RxNorm", "UMLS Metathesaurus License; what comes from RxNorm itself (SAB RXNORM) is free"),
    "ontology": ("ontologies that were loaded from files", "each file's own licence (docs/ontologies.md names some)"),
}
NAMED = {"head_name": "head_cui", "tail_name": "tail_cui"}
"""Columns that hold names of the release, and the CUI in whose place they stand."""
METHODS = ("dataCollection", "dataPreprocessingProtocol", "dataAnnotationProtocol", "machineAnnotationTools")
NOTES = ("dataUseCases", "dataLimitations", "dataBiases", "dataReleaseMaintenancePlan")
CUI_NOTE = (
    "Names of the ontology are left out: `head_name` and `tail_name` hold CUIs, `statement` reads CUI predicate CUI, "
    "and there is no table of distinct statements. Who holds the release of manifest.json can put the names back."
)
NAME_NOTE = (
    "Statements use names of the ontology's release. Strings of some of its sources may not be passed on (MRSAB.RRF, "
    "SRL above 0): where there are such, share CUIs alone (`ontoground export physionet --cui-only`, for MediEval)."
)


@dataclass(frozen=True)
class Exported(JsonRecord):
    """What was written: the files, and what is left for the authors, by section."""

    folder: str
    title: str
    licence_tier: str
    cui_only: bool
    files: tuple[str, ...]
    to_write: tuple[str, ...]


def export_physionet(dataset: Path, folder: Path, *, title: str | None = None, cui_only: bool = False) -> Exported:
    """Write a folder for PhysioNet: README.md with its sections, data, Croissant, manifest, LICENSE.txt and checksums.

    Args:
        dataset: a folder that ``ontoground build`` wrote.
        folder: is made, outside the dataset; it must not be there, or be empty.
        title: of the project; made from the dataset where left out.
        cui_only: give CUIs in place of the release's names, and statements as ``CUI predicate CUI``. For sources whose
            strings may not be passed on; words of notes stay.

    Raises:
        InputError: this is no whole dataset, a data file is not the one that was built, or the folder holds something.
        UsageError: PhysioNet does not accept this title, the dataset's texts are not of CUIs and names alone, or the
            folder is inside the dataset.
    """
    whole = whole_dataset(dataset)
    tier = tier_of(dataset)
    manifest = {**json.loads(whole.manifest), "licence_tier": tier}
    name = str(manifest.get("dataset"))
    if name not in NAMES:
        raise InputError(
            "this is not a dataset built by ontoground", file=dataset, found=name, expected=", ".join(NAMES)
        )
    if cui_only and name != "medieval":
        do = "export medieval, or share under an agreement that covers the names"
        raise UsageError("the texts of this dataset contain names, so CUIs cannot replace them", found=name, do=do)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            "there is something in this place already", file=folder, expected="a new folder, or an empty one"
        )
    if folder.resolve().is_relative_to(dataset.resolve()):
        raise UsageError("this place is inside the dataset", found=str(folder), expected="a folder outside of it")
    chosen = _title(title, name, manifest, tier)
    with atomic_directory(folder) as out:
        _data(whole, out, cui_only)
        digests = {file.relative_to(out).as_posix(): sha256_of(file) for file in sorted(out.rglob("*.parquet"))}
        kept = {
            **manifest,
            "rows": {**manifest["rows"], "files": digests},
            **({"cui_only": True} if cui_only else {}),
        }
        # As it was built it stays byte for byte; with other data it no longer says what was built, so is credentialed.
        write_text(out / "manifest.json", to_json(kept) if cui_only else whole.manifest.decode())
        built = json.loads((dataset / "croissant.json").read_text(encoding="utf-8"))
        sections = _sections(out, dataset, kept, built)
        page = "\n".join(f"## {section}\n\n{text}\n" for section, text in sections.items())
        write_text(out / "README.md", f"# {chosen}\n\n{page}")
        write_text(out / "croissant.json", to_json(_croissant(out, kept, built, chosen)))
        write_text(out / "LICENSE.txt", _licence(kept, built))
        files = sorted(file.relative_to(out).as_posix() for file in out.rglob("*") if file.is_file())
        write_text(out / "SHA256SUMS.txt", "".join(f"{sha256_of(out / file)} {file}\n" for file in files))
    left = tuple(section for section, text in sections.items() if PLACEHOLDER in text)
    return Exported(str(folder), chosen, tier, cui_only, (*files, "SHA256SUMS.txt"), left)


def _title(given: str | None, name: str, manifest: Mapping[str, Any], tier: LicenceTier) -> str:
    """Return the project's title.

    Raises:
        UsageError: PhysioNet does not accept this title.
    """
    of_mimic = tier != "open" and "mimic" in sources_of(manifest)
    kind = "Synthetic " if is_synthetic(manifest) else ""
    called = f"MIMIC-IV-Ext-{NAMES[name]}" if of_mimic else f"{kind}{NAMES[name]} rows"
    title = given or f"{called} - {SUBJECTS[name]}"
    if not TITLE.fullmatch(title):
        expected = "up to 200 letters, numbers, spaces, underscores and hyphens, not led by The"
        raise UsageError("PhysioNet does not accept this title", found=title, expected=expected)
    if of_mimic and "MIMIC" in title and "Ext" not in title:
        raise UsageError("a title with MIMIC must say that the data are derived from it", expected="MIMIC-IV-Ext-...")
    return title


def _data(whole: WholeDataset, out: Path, cui_only: bool) -> None:
    """Copy the data files, each held against its digest."""
    for name, digest in whole.digests.items():
        check_file(whole.folder / name, digest)
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        if not cui_only:
            shutil.copyfile(whole.folder / name, out / name)
        # A statement by CUIs stands for all its wordings, so that the table of distinct statements is left out.
        elif name != "statements.parquet":
            _without_names(whole.folder / name, out / name)


def _without_names(file: Path, out: Path) -> None:
    """Write a file of rows with CUIs where the release's names stand; a row group at a time."""
    rows = pq.ParquetFile(file)
    with pq.ParquetWriter(out, rows.schema_arrow) as writer:
        for group in range(rows.num_row_groups):
            writer.write_table(_by_cui(rows.read_row_group(group)))


def _by_cui(table: pa.Table) -> pa.Table:
    words = pc.replace_substring(table["predicate"], pattern="_", replacement=" ")
    statements = pc.binary_join_element_wise(table["head_cui"], words, table["tail_cui"], " ")
    stands = {**{column: table[cui] for column, cui in NAMED.items()}, "statement": statements}
    columns = [stands.get(column, table[column]) for column in table.column_names]
    return pa.table(columns, schema=table.schema)


def _croissant(out: Path, manifest: Mapping[str, Any], built: Mapping[str, Any], title: str) -> dict[str, Any]:
    by_folder = _by_folder(out)
    files = {file.name: file for file in by_folder.pop("", [])}
    files |= {folder: of_folder[0] for folder, of_folder in by_folder.items()}
    schemas = {place: pq.read_schema(file) for place, file in files.items()}
    described = croissant_of(manifest, str(built["description"]), schemas, str(built["license"]))
    return {**described, "alternateName": title}


def _by_folder(out: Path) -> dict[str, list[Path]]:
    by_folder: dict[str, list[Path]] = {}
    for file in sorted(out.rglob("*.parquet")):
        folder = file.parent.relative_to(out).as_posix()
        by_folder.setdefault("" if folder == "." else folder, []).append(file)
    return by_folder


def _sections(out: Path, dataset: Path, manifest: Mapping[str, Any], built: Mapping[str, Any]) -> dict[str, str]:
    """Return the text of each section that PhysioNet asks for."""
    name = str(manifest["dataset"])
    making = {key.removeprefix("rai:"): _lines(text) for key, text in responsible_ai(manifest).items()}
    references = section_texts("References", name, *(f"parent:{source}" for source in sources_of(manifest)))
    return {
        "Abstract": _abstract(out, str(built["description"]), making, manifest),
        "Background": _joined(
            [*section_texts("Background", name), making["dataUseCases"], f"{PLACEHOLDER} what you made it for."]
        ),
        "Methods": _joined([*(making[name] for name in METHODS), *_own_rules(manifest)]),
        "Data Description": _description(out, dataset, name),
        "Usage Notes": _joined([*(making[name] for name in NOTES), *_names_noted(manifest)]),
        "Release Notes": f"Version {version_of(manifest)}, built by ontoground {manifest['ontoground']}, seed "
        f"{manifest['seed']}. Behind the plus: the beginning of `provenance_sha256` of manifest.json, which names this "
        "build, its inputs and every byte of the data. An `id` names a row within one build: cite it with that hash.",
        "Ethics": f"{making['personalSensitiveInformation']}\n\n{making['dataSocialImpact']}\n\n"
        f"{PLACEHOLDER} the decision of your review board, and benefits and risks as you see them.",
        "Parent Projects": f"{_parents(manifest)}\n\n{_licence_in_words(manifest, built)}",
        "Acknowledgements": f"{PLACEHOLDER} people who helped, and funding.",
        "Conflicts of Interest": f"{PLACEHOLDER} that there are none to declare, or which ones.",
        "References": f"{_joined(references)}\n\n"
        f"{PLACEHOLDER} year and venue where one above has none, what the parents' own pages ask for, and yours.",
    }


def _names_noted(manifest: Mapping[str, Any]) -> list[str]:
    """Return what is to be said of names of the release; those of the open world are ours."""
    return [CUI_NOTE] if "cui_only" in manifest else [] if is_synthetic(manifest) else [NAME_NOTE]


def _files(manifest: Mapping[str, Any], source: str) -> list[str]:
    """Return the files of a source, each with its digest."""
    entries = [entry for entry in manifest.get("inputs", ()) if entry["source"] == source]
    return [f"{entry['file']} (SHA-256 {entry['sha256']})" for entry in entries]


def _own_rules(manifest: Mapping[str, Any]) -> list[str]:
    """Return what is to be said of rules that the builders of this dataset added to those of the package."""
    files = _files(manifest, "rules")
    note = f"Rules of its builders were added to those of ontoground: {', '.join(files)}."
    return [note, f"{PLACEHOLDER} these rules, as a supplement or in words."] if files else []


def _joined(paragraphs: Iterable[str]) -> str:
    return "\n\n".join(paragraphs)


def _lines(text: str | list[str]) -> str:
    return text if isinstance(text, str) else _joined(text)


def _abstract(out: Path, description: str, making: Mapping[str, str], manifest: Mapping[str, Any]) -> str:
    """Return an abstract of at most 250 words, without references, as PhysioNet asks."""
    rows = sum(pq.ParquetFile(file).metadata.num_rows for file in _by_folder(out)["data"])
    parents = " and ".join(PARENTS[source][0] if source in PARENTS else source for source in sources_of(manifest))
    kind = "Synthetic data: " if is_synthetic(manifest) else ""
    text = f"{kind}{description} {rows:,} rows, derived from {parents}."
    words = _joined([text, making["dataAnnotationProtocol"], making["dataUseCases"]]).split()
    return " ".join(words[:ABSTRACT_WORDS])


def _description(out: Path, dataset: Path, name: str) -> str:
    files = [
        (file.relative_to(out).as_posix(), pq.ParquetFile(file).metadata.num_rows)
        for of_folder in _by_folder(out).values()
        for file in of_folder
    ]
    parts = [
        "Files are Apache Parquet; `manifest.json` lists inputs, settings and versions, `croissant.json` describes the "
        "files for machines (Croissant 1.1), `SHA256SUMS.txt` holds checksums (`sha256sum -c SHA256SUMS.txt`).",
        left_table(("file", "rows"), files),
        *_columns(out, name),
    ]
    return "\n\n".join([*parts, _card(dataset)])


def _columns(out: Path, name: str) -> Iterator[str]:
    """Yield a table of the columns of each kind of file; a configuration has those of ``data/`` and some of its own."""
    by_folder = _by_folder(out)
    of_data = pq.read_schema(by_folder["data"][0])
    yield from ("Columns of `data/`:", _table(of_data, columns_of(name)))
    for folder, files in by_folder.items():
        for file in files if not folder else files[:1] if folder != "data" else ():
            schema = pq.read_schema(file)
            own = pa.schema([field for field in schema if field not in of_data])
            more = all(field in schema for field in of_data)
            title = f"Columns of `{f'{folder}/' if folder else file.name}`"
            yield f"{title}, beside those of `data/`:" if more else f"{title}:"
            yield _table(own if more else schema, columns_of(f"{name}_{folder or file.stem}"))


def _table(schema: pa.Schema, meanings: Mapping[str, str]) -> str:
    rows = [row for field in schema for row in _rows(field, meanings)]
    return left_table(("column", "type", "may be null", "meaning"), rows)


def _rows(field: pa.Field, meanings: Mapping[str, str], above: str = "") -> Iterator[tuple[str, str, str, str]]:
    """Yield a column, then the parts of the structs in it, named after it with a dot."""
    name, kind, listed = f"{above}{field.name}", field.type, ""
    if pa.types.is_list(kind):
        kind, listed = kind.value_type, "list of "
    parts = list(kind) if pa.types.is_struct(kind) else []
    of_type = f"{listed}{'struct' if parts else kind}"
    yield f"`{name}`", of_type, "yes" if field.nullable else "no", meanings.get(name, "")
    for part in parts:
        yield from _rows(part, meanings, f"{name}.")


def _card(dataset: Path) -> str:
    """Return the dataset's card without its front matter and what stands beside it, its titles below ours."""
    card = (dataset / "README.md").read_text(encoding="utf-8")
    body = re.sub(r"(?s)\A---\n.*?\n---\n", "", card).partition("## Licence")[0].strip()
    body = re.sub(r"(?ms)^## Columns\n.*?(?=^## |\Z)", "", body).strip()
    return re.sub(r"(?m)^(#+) ", r"##\1 ", body)


def _parents(manifest: Mapping[str, Any]) -> str:
    rows = [
        (*PARENTS.get(source, (source, "see its own page")), ", ".join(releases) or "not said")
        for source, releases in sources_of(manifest).items()
    ]
    ontologies = _files(manifest, "ontology")
    table = left_table(("parent", "agreement", "release"), rows)
    return _joined([table, f"Files of ontologies: {', '.join(ontologies)}."]) if ontologies else table


def _licence_in_words(manifest: Mapping[str, Any], built: Mapping[str, Any]) -> str:
    """Return the licence; that of open text sets is what their dataset was built with."""
    tier: LicenceTier = manifest["licence_tier"]
    return str(built["license"]) if tier == "open" and not is_synthetic(manifest) else LICENCE[tier]


def _licence(manifest: Mapping[str, Any], built: Mapping[str, Any]) -> str:
    """Return what stands in LICENSE.txt; the agreements' own texts are chosen on PhysioNet, where they are kept."""
    licence = _licence_in_words(manifest, built)
    if is_synthetic(manifest):
        return f"{licence}\n\nThe text of the licence: {OPEN_WORLD_LICENCE}\n"
    if manifest["licence_tier"] == "open":
        return f"{licence}\n"
    parents = [f"- {PARENTS[source][0]}: {PARENTS[source][1]}" for source in sources_of(manifest) if source in PARENTS]
    return "\n".join([licence, "", "Shared under the agreements of its parents:", *parents, ""])
