"""Readers of MedHal's sources, one file for each layout: ``files(folder)`` and ``read(folder, source, tally)``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, cast

from builders.medhal.sources import acm, medmcqa, mednli, medqa, nli4ct, pubmedqa, sumpubmed
from builders.texts.origin import Tally
from builders.texts.sources import TextSource

__all__ = ["READERS", "Reader"]


class Reader(Protocol):
    """A reader of one layout."""

    @property
    def read(self) -> Callable[[Path, TextSource, Tally], Iterator[Any]]:
        """Yield the items of a folder."""

    @property
    def files(self) -> Callable[[Path], list[Path]]:
        """Return the files that are read."""


READERS: Mapping[str, Reader] = {
    "medqa": cast(Reader, medqa),
    "medmcqa": cast(Reader, medmcqa),
    "pubmedqa": cast(Reader, pubmedqa),
    "acm": cast(Reader, acm),
    "mednli": cast(Reader, mednli),
    "nli4ct": cast(Reader, nli4ct),
    "sumpubmed": cast(Reader, sumpubmed),
}
"""The reader of each layout of ``builders/data/text_sources.tsv``."""
