"""Readers of MedVAL's text sources, one file each: ``files(folder)`` and ``read(folder, source, task, tally)``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from builders.medval.items import Item
from builders.medval.sources import aci_bench, medicationqa, meqsum, mts_dialog, openi
from builders.texts.origin import Tally
from builders.texts.sources import TextSource
from ground.contracts.rows_text import MedvalTask

__all__ = ["READERS", "Reader"]


class Reader(Protocol):
    """A reader of one layout."""

    def files(self, folder: Path) -> list[Path]:
        """Return the files that are read, in order; none where the folder holds no such source."""

    def read(self, folder: Path, source: TextSource, task: MedvalTask, tally: Tally) -> Iterator[Item]:
        """Yield the items for one of the source's tasks; what is left out is counted."""


READERS: dict[str, Reader] = {
    "aci_bench": aci_bench,
    "medicationqa": medicationqa,
    "meqsum": meqsum,
    "mts_dialog": mts_dialog,
    "openi": openi,
}
