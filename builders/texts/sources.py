"""The text sources that are known, as ``builders/data/text_sources.tsv`` lists them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Literal, cast

from ground import ROOT
from ground.errors import InputError, UsageError
from ground.flow.manifest import LicenceTier
from ground.storage.tables import read_table

__all__ = ["Dataset", "NamedTexts", "TextSource", "named_texts", "resolve_sources", "text_sources"]

Dataset = Literal["medhal", "medval"]
NAMED = re.compile(r"(?P<name>[A-Za-z][\w-]*)=(?P<folder>.+)")
WORKSPACE = "workspace"

COLUMNS = ("source", "name", "dataset", "tasks", "layout", "folder", "tier", "synthetic", "licence", "origin")


@dataclass(frozen=True)
class TextSource:
    """One source and the tasks that it can give.

    ``layout`` names its reader; ``workspace`` is the warehouse and graph of the user's workspace.
    """

    source: str
    name: str
    dataset: Dataset
    tasks: tuple[str, ...]
    layout: str
    folder: str
    tier: LicenceTier
    synthetic: bool
    licence: str
    origin: str


@cache
def text_sources() -> dict[str, TextSource]:
    """Return all sources by name, in the order of the file."""
    rows = read_table(ROOT / "builders" / "data" / "text_sources.tsv", COLUMNS)
    return {
        row["source"]: TextSource(
            source=row["source"],
            name=row["name"],
            dataset=cast(Dataset, row["dataset"]),
            tasks=tuple(row["tasks"].split(",")),
            layout=row["layout"],
            folder=row["folder"],
            tier=cast(LicenceTier, row["tier"]),
            synthetic=row["synthetic"] == "yes",
            licence=row["licence"],
            origin=row["origin"],
        )
        for row in rows
    }


def resolve_sources(names: Sequence[str], dataset: Dataset) -> tuple[TextSource, ...]:
    """Return the sources that are named, in the order of the file.

    Raises:
        UsageError: a name is no source of this dataset.
    """
    known = {name: source for name, source in text_sources().items() if source.dataset == dataset}
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise UsageError(
            f"unknown source of {dataset}",
            found=", ".join(unknown),
            expected=", ".join(known),
            do="name sources as `--sources` lists them",
        )
    return tuple(source for name, source in known.items() if name in names)


@dataclass(frozen=True)
class NamedTexts:
    """Where a build's texts lie: the folder of the table's sources, and further sources with folders of their own."""

    folder: Path | None = None
    sources: Mapping[TextSource, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        missing = next((folder for folder in self.sources.values() if not folder.is_dir()), None)
        if missing is not None:
            raise InputError("a folder of texts is not there", file=missing, do="name an existing folder")


def named_texts(values: Sequence[str], dataset: Dataset) -> NamedTexts:
    """Read ``DIR`` and ``NAME=DIR:LAYOUT``, as a user names texts.

    A source of the table keeps its licence; any other is its user's own, and held as closely as credentialed text.

    Raises:
        UsageError: a value of neither form, a name twice, or a layout that has no reader, with those that have one.
        InputError: a folder is not there, or no source of the table lies in DIR.
    """
    known = {
        source.source: source
        for source in text_sources().values()
        if source.dataset == dataset and source.layout != WORKSPACE
    }
    folders: list[Path] = []
    sources: dict[TextSource, Path] = {}
    for value in values:
        named = NAMED.fullmatch(value)
        if named is None:
            folders.append(Path(value).expanduser())
            continue
        folder, _, layout = named["folder"].rpartition(":") if ":" in named["folder"] else (named["folder"], "", "")
        sources[_source(named["name"], layout, known, value)] = Path(folder).expanduser()
    if len(folders) > 1 or len({source.source for source in sources}) + len(folders) < len(values):
        raise UsageError("texts are named twice", found=", ".join(values), expected="one DIR, and each NAME only once")
    for folder in filter(Path.is_dir, folders):
        if not any((folder / source.folder).is_dir() for source in known.values()):
            raise InputError(
                f"no source of {dataset} lies in the folder of texts",
                file=folder,
                expected="one or more of the folders " + ", ".join(source.folder for source in known.values()),
                do="name the folder above them, or texts of your own by NAME=DIR:LAYOUT",
            )
    return NamedTexts(folders[0] if folders else None, sources)


def _source(name: str, layout: str, known: Mapping[str, TextSource], value: str) -> TextSource:
    by_layout = {source.layout: source for source in reversed(list(known.values()))}
    if name in known and layout in ("", known[name].layout):
        return known[name]
    if layout not in by_layout or name in known:
        raise UsageError(
            "texts of an unknown layout" if layout not in by_layout else "a name of another source",
            found=value,
            expected=f"NAME=DIR:LAYOUT, LAYOUT one of {', '.join(sorted(by_layout))}",
            do="judge pairs of other layouts (medec, ...) with `ontoground evaluate medval --texts`",
        )
    return replace(
        by_layout[layout], source=name, name=name, folder="-", tier="credentialed", licence="the user's own", origin="-"
    )
