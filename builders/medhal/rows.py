"""A judged pair as two rows, and as one entry of the index that decides on versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from builders.medhal.exchanges import exchange_of
from builders.medhal.items import Claim, Pair
from builders.medhal.versions import NO_CONTEXT, PairIndex, content_hash
from builders.shards import Split
from builders.texts.origin import Seeds
from ground.contracts.rows_text import MEDHAL_SCHEMA, MedhalTask
from ground.stable import stable_hash

__all__ = ["PART_SCHEMA", "Stamp", "pair_rows"]

VERSIONS = ("in_length_filtered", "in_balanced")
PART_SCHEMA = pa.schema([field for field in MEDHAL_SCHEMA if field.name not in VERSIONS])
"""Rows before the versions are known."""


@dataclass(frozen=True)
class Stamp:
    """What all rows of a source share."""

    source: str
    task: MedhalTask
    licence: str


def pair_rows(pairs: Sequence[Pair], stamp: Stamp, seeds: Seeds, max_chars: int, index: PairIndex) -> pa.Table:
    """Return two rows for each pair, side by side, and add an index entry for each.

    Ids and the order within a pair come from a hash, so that neither tells the label.
    """
    rows: list[dict[str, object]] = []
    for pair in pairs:
        name = content_hash("pair", pair.origin.source, pair.origin.inner_id)
        pair_id = f"{stamp.source}-{name:016x}"
        split = seeds.split(pair.origin)
        lot = stable_hash(seeds.documents, "medhal version", pair_id)
        context = f"{content_hash((pair.context or '').strip()):016x}"
        claims = (pair.factual, pair.wrong)
        if stable_hash(seeds.documents, "medhal order", pair_id) % 2:
            claims = (pair.wrong, pair.factual)
        rows += [
            _row(pair, claim, stamp, pair_id, f"{pair_id}-{place}", split)
            for place, claim in zip("ab", claims, strict=True)
        ]
        index.add(
            pair=name,
            document=content_hash("document", pair.origin.source, pair.origin.document),
            context=content_hash("context", _plain(pair.context)) if pair.context else NO_CONTEXT,
            factual=content_hash("row", context, _plain(pair.factual.statement)),
            wrong=content_hash("row", context, _plain(pair.wrong.statement)),
            lot=lot,
            task=stamp.task,
            source=stamp.source,
            split=split,
            exchange=exchange_of(pair, stamp.task),
            short=all(len(pair.context or "") + len(claim.statement) < max_chars for claim in claims),
        )
    return pa.Table.from_pylist(rows, schema=PART_SCHEMA)


def _row(pair: Pair, claim: Claim, stamp: Stamp, pair_id: str, name: str, split: Split) -> dict[str, object]:
    return {
        "id": name,
        "pair_id": pair_id,
        "context": pair.context,
        "statement": claim.statement,
        "label": claim.factual,
        "falsity": claim.falsity,
        "explanation": claim.explanation,
        "inner_id": pair.origin.inner_id,
        "source": stamp.source,
        "task": stamp.task,
        "synthetic": claim.synthetic,
        "wording": "framed" if claim.framed else "smooth",
        "licence": stamp.licence,
        "subject_id": pair.origin.subject_id,
        "split": split,
    }


def _plain(text: str) -> str:
    """Letter case and white space make no other statement."""
    return " ".join(text.lower().split())
