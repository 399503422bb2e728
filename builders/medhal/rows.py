"""A judged pair as two rows, and as one entry of the index that decides on versions."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pyarrow as pa

from builders.medhal.exchanges import exchange_of
from builders.medhal.feeds import Feed
from builders.medhal.items import Claim, Pair
from builders.medhal.versions import INDEX, content_hash
from builders.shards import Split
from builders.texts.origin import Seeds
from ground.contracts.rows_text import MEDHAL_SCHEMA
from ground.stable import stable_hash

__all__ = ["PART_SCHEMA", "pair_rows"]

VERSIONS = ("in_length_filtered", "in_balanced")
PART_SCHEMA = pa.schema([field for field in MEDHAL_SCHEMA if field.name not in VERSIONS])
"""Rows before the versions are known."""


def pair_rows(pairs: Sequence[Pair], feed: Feed, seeds: Seeds, max_chars: int) -> tuple[pa.Table, pl.DataFrame]:
    """Return two rows for each pair, side by side, and a line of the index (`builders.medhal.versions`) for each.

    Ids and the order within a pair come from a hash, so that neither tells the label.
    """
    rows, index = list[dict[str, object]](), list[dict[str, object]]()
    for pair in pairs:
        name = content_hash("pair", pair.origin.source, pair.origin.inner_id)
        pair_id = f"{feed.source.source}-{name:016x}"
        split = seeds.split(pair.origin)
        context = f"{content_hash((pair.context or '').strip()):016x}"
        claims = (pair.factual, pair.wrong)
        if stable_hash(seeds.documents, "medhal order", pair_id) % 2:
            claims = (pair.wrong, pair.factual)
        rows += [
            _row(pair, claim, feed, pair_id, f"{pair_id}-{place}", split)
            for place, claim in zip("ab", claims, strict=True)
        ]
        exchange = exchange_of(pair, feed.task)
        index.append(
            {
                "pair": name,
                "document": content_hash("document", pair.origin.source, pair.origin.document),
                "context": content_hash("context", _folded(pair.context)) if pair.context else None,
                "factual": content_hash("row", context, _folded(pair.factual.statement)),
                "wrong": content_hash("row", context, _folded(pair.wrong.statement)),
                "lot": stable_hash(seeds.documents, "medhal version", pair_id),
                "exchange": None if exchange is None else exchange[0],
                "way": exchange is not None and exchange[1],
                "short": all(len(pair.context or "") + len(claim.statement) < max_chars for claim in claims),
                "source": feed.source.source,
                "task": feed.task,
                "split": split,
            }
        )
    return pa.Table.from_pylist(rows, schema=PART_SCHEMA), pl.DataFrame(index, INDEX)


def _row(pair: Pair, claim: Claim, feed: Feed, pair_id: str, name: str, split: Split) -> dict[str, object]:
    return {
        "id": name,
        "pair_id": pair_id,
        "context": pair.context,
        "statement": claim.statement,
        "label": claim.factual,
        "falsity": claim.falsity,
        "explanation": claim.explanation,
        "inner_id": pair.origin.inner_id,
        "source": feed.source.source,
        "task": feed.task,
        "synthetic": claim.synthetic,
        "wording": "framed" if claim.framed else "smooth",
        "licence": feed.licence,
        "subject_id": pair.origin.subject_id,
        "split": split,
    }


def _folded(text: str) -> str:
    """Letter case and white space make no other statement."""
    return " ".join(text.lower().split())
