"""Where an item of text comes from, what became of it, and its split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from builders.shards import Split
from ground.settings import BuildSettings, SourceSplits
from ground.stable import stable_hash

__all__ = ["DEFAULT_ENDS", "OTHER_SPLIT", "Origin", "Refusal", "Seeds", "SourceSplit", "Tally", "split_of"]

DEFAULT_ENDS = BuildSettings().split_ends
SourceSplit = Literal["train", "validation", "test"]
"""The split that the source itself puts an item into."""
OTHER_SPLIT = "other_split"
"""Why an item of a split of the source that is not wanted is left out."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an item comes from.

    Attributes:
        source: its name in ``builders/data/text_sources.tsv``.
        inner_id: the item's name in its source, unique there.
        document: what items of one source share that must not be torn apart by a split (an article, a question); the
            inner id where an item stands alone.
        split: the split of the source itself.
        subject_id: the patient, where one is behind the item.
    """

    source: str
    inner_id: str
    document: str
    split: SourceSplit
    subject_id: int | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """An engine's refusal to make something of an item.

    Attributes:
        reason: a short name in snake_case, counted in the manifest; never a part of the text.
    """

    reason: str


@dataclass
class Tally:
    """What was read, kept and left out, by source; ``splits`` are those of the sources that are wanted."""

    splits: SourceSplits = "all"
    read: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    dropped: Counter[tuple[str, str]] = field(default_factory=Counter)

    def drop(self, source: str, reason: str, n: int = 1, *, split: SourceSplit | None = None) -> None:
        """Count what is left out; what stands in a split that is not wanted is left out for that and nothing else."""
        other = split is not None and self.splits not in ("all", split)
        self.dropped[source, OTHER_SPLIT if other else reason] += n

    def reasons(self) -> dict[str, int]:
        """Return ``source: reason`` with its number, sorted, for a manifest."""
        return {f"{source}: {reason}": n for (source, reason), n in sorted(self.dropped.items())}


def split_of(seed: int, origin: Origin, ends: tuple[int, int] = DEFAULT_ENDS) -> Split:
    """Return an item's split in our own dataset; ``ends`` as `BuildSettings.split_ends`, 8, 1 and 1 tenths by default.

    A patient has the same split here as in MediEval (``support/cohort.sql``); other items go by their document.
    """
    if origin.subject_id is not None:
        lot = stable_hash(seed, "split", origin.subject_id)
    else:
        lot = stable_hash(seed, "split", origin.source, origin.document)
    place = lot % 10 * 100 + lot // 10 % 100
    return "train" if place < ends[0] else "validation" if place < ends[1] else "test"


@dataclass(frozen=True)
class Seeds:
    """Seeds of choices, of documents and of patients; patients have the split of MediEval.

    Attributes:
        documents, patients: seeds.
        ends: of a thousand, as `split_of` takes them.
        given: splits of patients that hold instead, by subject_id.
    """

    documents: int
    patients: int
    ends: tuple[int, int] = DEFAULT_ENDS
    given: Mapping[int, Split] = field(default_factory=dict)

    def split(self, origin: Origin) -> Split:
        """Return an item's split."""
        if origin.subject_id is not None and origin.subject_id in self.given:
            return self.given[origin.subject_id]
        return split_of(self.documents if origin.subject_id is None else self.patients, origin, self.ends)
