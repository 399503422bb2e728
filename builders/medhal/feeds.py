"""What a build takes from a source: its pairs as a stream, what its rows share, its judge, its files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from builders.medhal.items import Pair
from builders.medhal.judges import Judge
from builders.medhal.rows import Stamp
from builders.texts.sources import TextSource

__all__ = ["Feed"]


@dataclass(frozen=True)
class Feed:
    """One source of a build.

    Attributes:
        source: its line of the source table.
        stamp: what its rows share.
        pairs: begins to read; the same pairs in the same order each time.
        judge: confirms labels; None where they are an expert's own and the engine has no check.
        inputs: files that it reads, for the manifest.
    """

    source: TextSource
    stamp: Stamp
    pairs: Callable[[], Iterator[Pair]]
    judge: Judge | None
    inputs: Sequence[Mapping[str, Any]]
