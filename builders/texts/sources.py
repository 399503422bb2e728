"""The text sources that are known, as ``builders/data/text_sources.tsv`` lists them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast

from ground import ROOT
from ground.errors import UsageError
from ground.flow.manifest import LicenceTier
from ground.storage.tables import read_table

__all__ = ["TextSource", "resolve_sources", "text_sources"]

COLUMNS = ("source", "name", "dataset", "tasks", "layout", "folder", "tier", "synthetic", "licence", "origin")


@dataclass(frozen=True)
class TextSource:
    """One source and the tasks that it can give.

    ``layout`` names its reader; ``workspace`` is the warehouse and graph of the user's workspace.
    """

    source: str
    name: str
    dataset: Literal["medhal", "medval"]
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
            dataset=cast(Literal["medhal", "medval"], row["dataset"]),
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


def resolve_sources(names: Sequence[str], dataset: Literal["medhal", "medval"]) -> tuple[TextSource, ...]:
    """Return the sources that are named, in the order of the file.

    Raises:
        UsageError: a name is no source of this dataset.
    """
    known = {name: found for name, found in text_sources().items() if found.dataset == dataset}
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise UsageError(
            f"unknown source of {dataset}",
            found=", ".join(unknown),
            expected=", ".join(known),
            do="name sources as `--sources` lists them",
        )
    return tuple(found for name, found in known.items() if name in names)
