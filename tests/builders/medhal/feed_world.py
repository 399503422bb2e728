"""Feeds of invented pairs, for tests of what the pipeline does with pairs, whoever made them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from builders.medhal.build import Provenance, build_medhal
from builders.medhal.counts import BuildReport
from builders.medhal.feeds import Feed
from builders.medhal.items import Claim, Pair
from builders.medhal.judges import Judge
from builders.texts.origin import Origin, Refusal, Seeds, Tally
from builders.texts.sources import text_sources
from ground.contracts.rows_text import MedhalTask
from ground.flow.manifest import LicenceTier
from ground.settings import MedhalSettings

__all__ = ["Doubter", "build", "digests", "feed", "pair", "rows_of"]


class Doubter:
    """A judge that doubts what its rule says."""

    name = "rules"

    def __init__(self, doubts: Callable[[Pair], bool]) -> None:
        self._doubts = doubts
        self.batches: list[int] = []

    def agree(self, pairs: Sequence[Pair]) -> list[Refusal | None]:
        """Return a refusal for each pair in doubt."""
        self.batches.append(len(pairs))
        return [Refusal("judge_doubts") if self._doubts(pair) else None for pair in pairs]


def pair(
    name: str,
    source: str = "medqa",
    *,
    document: str | None = None,
    context: str | None = None,
    factual: str | None = None,
    wrong: str | None = None,
    subject_id: int | None = None,
) -> Pair:
    """Return a pair whose statements name it, unless they are given."""
    return Pair(
        origin=Origin(source, name, document or name, "train", subject_id),
        context=context,
        factual=Claim(factual or f"Statement {name} holds.", True, None, True, "test"),
        wrong=Claim(wrong or f"Statement {name} fails.", False, f"Statement {name} holds.", True, "test"),
    )


def feed(
    pairs: Sequence[Pair], source: str = "medqa", task: MedhalTask = "question_answering", judge: Judge | None = None
) -> Feed:
    """Return a feed that yields these pairs each time it is read."""

    def read() -> Iterator[Pair]:
        return iter(pairs)

    return Feed(text_sources()[source], task, "invented", read, judge, [])


def build(
    feeds: Sequence[Feed],
    folder: Path,
    settings: MedhalSettings | None = None,
    *,
    batch_pairs: int = 256,
    patients: int = 42,
    tier: LicenceTier = "open",
) -> tuple[BuildReport, Tally]:
    """Build a dataset of feeds."""
    settings, tally = settings or MedhalSettings(), Tally()
    provenance = Provenance("rules", tier, Seeds(settings.seed, patients))
    return build_medhal(feeds, folder, settings, provenance, tally, batch_pairs=batch_pairs), tally


def rows_of(folder: Path) -> pa.Table:
    """Return all rows of a dataset folder."""
    return pa.concat_tables(pq.read_table(file) for file in sorted((folder / "data").glob("*.parquet")))


def digests(folder: Path) -> dict[str, bytes]:
    """Return every file of a dataset folder by its name."""
    return {f.relative_to(folder).as_posix(): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}
