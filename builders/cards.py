"""What the folders of all datasets share: front matter of the card, licence, tables in Markdown, croissant.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from builders.governance import DATA, OPEN_WORLD, RAI, conditions_of, responsible_ai, sources_of
from ground.contracts.dictionary import columns_of
from ground.flow.manifest import LicenceTier
from ground.markdown import markdown_table
from ground.storage.tables import read_table

__all__ = [
    "LICENCE",
    "OPEN_WORLD_LICENCE",
    "columns_table",
    "croissant_of",
    "front_matter",
    "is_synthetic",
    "left_table",
    "licence_of_sources",
    "percent",
    "section_texts",
    "version_of",
]

FRONT_MATTER = """---
pretty_name: {title}
language: [en]
license: other
license_name: {tier}
task_categories: [{task}]
tags: [medical, clinical, {tags}]
size_categories: [{size}]
configs:
{configs}
---
"""

LICENCE: Mapping[LicenceTier, str] = {
    "open": (
        "Made from open sources alone: the embedded open world (invented patients, under Apache-2.0), or "
        "what the release of each source says."
    ),
    "credentialed": (
        "Holds or derives from credentialed sources (MIMIC-IV, UMLS): the PhysioNet data use agreement and the UMLS "
        "licence apply to every row. Do not share it, and do not send it to services of third parties."
    ),
}
"""Of a dataset that is made from the workspace alone."""
OPEN_WORLD_LICENCE = "https://www.apache.org/licenses/LICENSE-2.0"
AUTHORS = "The ontoground developers"
"""Who wrote the open world (CITATION.cff)."""
SECTIONS = DATA / "physionet.tsv"


def licence_of_sources(tier: LicenceTier, licences: Mapping[str, str]) -> str:
    """Return the licence of a dataset that is made from text sources; ``licences`` has each source's own by name."""
    own = "; ".join(f"{source}: {licence}" for source, licence in licences.items())
    return f"The licences of its sources hold: {own}." if tier == "open" else LICENCE[tier]


def front_matter(
    *, title: str, tier: LicenceTier, task: str, tags: Sequence[str], rows: int, configs: Mapping[str, Any]
) -> str:
    """Return the head of a Hugging Face dataset card.

    Args:
        title: the dataset's name for people.
        tier: its licence tier.
        task: a task category of the hub.
        tags: further tags.
        rows: rows of the default configuration.
        configs: data files of each configuration; the first is the default: a pattern, or patterns by split.
    """
    lines = []
    for place, (name, files) in enumerate(configs.items()):
        lines += [f"- config_name: {name}", *(["  default: true"] if place == 0 else [])]
        if isinstance(files, str):
            lines.append(f"  data_files: {files}")
        else:
            lines.append("  data_files:")
            lines += [f"  - split: {split}\n    path: {path}" for split, path in files.items()]
    return FRONT_MATTER.format(
        title=title, tier=tier, task=task, tags=", ".join(tags), size=_size(rows), configs="\n".join(lines)
    )


def _size(n: int) -> str:
    for limit, name in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K")):
        if n < limit:
            return name
    return "100K<n<1M"


def percent(part: float, whole: float) -> str:
    """Return a share in percent with one decimal; a dash where the whole is 0."""
    return f"{100 * part / whole:.1f}" if whole else "–"


def left_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table in Markdown with every column aligned left, without a last line end."""
    return markdown_table(columns, rows, left=len(columns)).rstrip("\n")


PARQUET = "application/x-parquet"
CROISSANT_TYPES = {
    **dict.fromkeys(("int8", "int32", "int64"), "sc:Integer"),
    "bool": "sc:Boolean",
    "double": "sc:Float",
    "string": "sc:Text",
}
CROISSANT_TERMS = (
    "arrayShape citeAs column containedIn equivalentProperty extract field fileObject fileProperty "
    "fileSet format includes isArray isLiveDataset jsonPath key md5 parentField path recordSet references "
    "regex repeated replace samplingRate separator source subField transform"
)
CROISSANT_CONTEXT = {
    **{term: f"cr:{term}" for term in CROISSANT_TERMS.split()},
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "duo": "http://purl.obolibrary.org/obo/DUO_",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    "odrl": "http://www.w3.org/ns/odrl/2/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
}


def section_texts(section: str, *datasets: str) -> list[str]:
    """Return what ``physionet.tsv`` says in a section of the work that datasets belong to."""
    rows = [row for row in read_table(SECTIONS, ("dataset", "section", "text", "source")) if row["section"] == section]
    return [row["text"] for dataset in datasets for row in rows if row["dataset"] == dataset]


def is_synthetic(manifest: Mapping[str, Any]) -> bool:
    """Tell whether nothing but the open world was read."""
    return manifest["licence_tier"] == "open" and set(sources_of(manifest)) == {OPEN_WORLD}


def version_of(manifest: Mapping[str, Any]) -> str:
    """Return a version of the dataset itself: that of ontoground, and what tells the inputs and bytes of this build."""
    by_cui = ".cui-only" if manifest.get("cui_only") else ""
    return f"{manifest['ontoground']}+{manifest['provenance_sha256'][:12]}{by_cui}"


def croissant_of(
    manifest: Mapping[str, Any], description: str, schemas: Mapping[str, pa.Schema], licence: str
) -> dict[str, Any]:
    """Return the Croissant 1.1 description of the data files, with conditions of use and what is said of the making.

    Who made a dataset and when it was published is not known, but of the open world, which is ours.

    Args:
        manifest: of the dataset, with the SHA-256 of each file.
        description: in a sentence.
        schemas: of the files of each folder, or of a file beside the folders. The rows of ``data`` are called ``rows``,
            others like their folder or file.
        licence: in words; of the open world alone, its address is given.
    """
    name, version, ours = str(manifest["dataset"]), version_of(manifest), is_synthetic(manifest)
    whose = [f"{AUTHORS}."] if ours else []
    cited = [
        *whose,
        f"{name}, version {version}, built by ontoground {manifest['ontoground']}. Its method:",
        *section_texts("References", name),
    ]
    return {
        "@context": CROISSANT_CONTEXT,
        "@type": "sc:Dataset",
        "name": name,
        "description": description,
        "conformsTo": ["http://mlcommons.org/croissant/1.1", RAI],
        "version": version,
        "citeAs": " ".join(cited),
        "license": OPEN_WORLD_LICENCE if ours else licence,
        **({"creator": {"@type": "sc:Organization", "name": AUTHORS}} if ours else {}),
        "usageInfo": conditions_of(manifest["licence_tier"]),
        **responsible_ai(manifest),
        "distribution": [
            *(
                {
                    "@type": "cr:FileObject",
                    "@id": file,
                    "name": file,
                    "contentUrl": file,
                    "encodingFormat": PARQUET,
                    "sha256": digest,
                }
                for file, digest in manifest["rows"]["files"].items()
            ),
            *(
                {
                    "@type": "cr:FileSet",
                    "@id": _file_set(folder),
                    "name": _file_set(folder),
                    "encodingFormat": PARQUET,
                    "includes": f"{folder}/*.parquet",
                }
                for folder in schemas
                if not _is_file(folder)
            ),
        ],
        "recordSet": [_record_set(name, folder, schema) for folder, schema in schemas.items()],
    }


def _is_file(place: str) -> bool:
    return place.endswith(".parquet")


def _file_set(folder: str) -> str:
    return "parquet" if folder == "data" else f"{folder}-parquet"


def columns_table(table: str) -> str:
    """Return what each column of a table means, for a card."""
    return left_table(("column", "meaning"), [(f"`{name}`", meaning) for name, meaning in columns_of(table).items()])


def _record_set(dataset: str, place: str, schema: pa.Schema) -> dict[str, Any]:
    name = "rows" if place == "data" else place.removesuffix(".parquet")
    meanings = columns_of(dataset if place == "data" else f"{dataset}_{name}")
    files = {"fileObject": {"@id": place}} if _is_file(place) else {"fileSet": {"@id": _file_set(place)}}
    fields = [_field(name, field, (), files, meanings) for field in schema]
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields}


def _field(
    record_set: str, field: pa.Field, above: tuple[str, ...], files: Mapping[str, Any], meanings: Mapping[str, str]
) -> dict[str, Any]:
    """Return a column, or a part of the structs of one; a list of structs is an array of what has subfields."""
    place = (*above, field.name)
    entry: dict[str, Any] = {"@type": "cr:Field", "@id": "/".join((record_set, *place)), "name": "/".join(place)}
    if ".".join(place) in meanings:
        entry["description"] = meanings[".".join(place)]
    kind = field.type
    if pa.types.is_list(kind):
        entry |= {"isArray": True, "arrayShape": "-1"}
        kind = kind.value_type
    if pa.types.is_struct(kind):
        return {**entry, "subField": [_field(record_set, part, place, files, meanings) for part in kind]}
    path = {"transform": {"jsonPath": "$." + ".".join(place[1:])}} if above else {}
    source = {**files, "extract": {"column": place[0]}, **path}
    return {**entry, "dataType": CROISSANT_TYPES[str(kind)], "source": source}
