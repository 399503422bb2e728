"""What of all judged pairs is kept, and which versions it belongs to (MedHal, section 3.8).

The rows are on disk by then: a line of some hundred bytes stands for each pair, with hashes in place of texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from builders.shards import SPLITS
from ground.contracts.rows_text import MEDHAL_TASKS
from ground.contracts.taxonomy import medhal_tasks
from ground.stable import stable_hash

__all__ = ["INDEX", "Selection", "content_hash", "select"]

# Hashes of content depend on no setting.
CONTENT = 0
LONE = 1
"""So many pairs more may go one way: what stands once teaches nothing, and most exchanges are rare."""

INDEX = pl.Schema(
    {
        **dict.fromkeys(("pair", "document", "context", "factual", "wrong", "lot", "exchange"), pl.UInt64()),
        "way": pl.Boolean(),
        "short": pl.Boolean(),
        "source": pl.Categorical(),
        "task": pl.Enum(MEDHAL_TASKS),
        "split": pl.Enum(SPLITS),
    }
)
"""A pair, in the order in which pairs were written.

``pair``, ``document``: hashes of the pair's id, and of source and document. ``context``: null where there is none.
``factual``, ``wrong``: of context and statement. ``lot``: decides which pairs stay where a task has too many.
``exchange``: of what the rows exchange, the same both ways; null where that is nothing. ``way``: in which direction.
``short``: context and statement of both rows have less than the limit.
"""


def content_hash(*parts: str) -> int:
    """Return 64 bits that depend on the texts only."""
    return stable_hash(CONTENT, *parts)


def _lowest_document(column: str, of: str) -> pl.Expr:
    """The value of a column that the document of the lowest hash has, among the pairs of the same value of another."""
    return pl.col(column).get(pl.col("document").arg_min()).over(of)


REFUSALS: Mapping[str, pl.Expr] = {
    "repeated_id": ~pl.col("pair").is_first_distinct(),
    "conflicting_labels": pl.col("factual").is_in(pl.col("wrong").implode())
    | pl.col("wrong").is_in(pl.col("factual").implode()),
    "repeated_pair": pl.col("pair") != pl.col("pair").min().over("factual", "wrong"),
    "repeated_elsewhere": pl.any_horizontal(
        pl.col("document") != _lowest_document("document", row) for row in ("factual", "wrong")
    ),
    "context_in_other_split": pl.col("context").is_not_null()
    & (pl.col("split") != _lowest_document("split", "context")),
}
"""Why pairs are left out, in this order.

- ``repeated_id``: a pair of this id was there before (a source whose ids are not unique).
- ``conflicting_labels``: context and statement of one of its rows occur with the other label too.
- ``repeated_pair``: another pair has the same rows.
- ``repeated_elsewhere``: another document has one of its rows; it could stand in another split.
- ``context_in_other_split``: another document has its context and stands in another split.
"""
_EXCHANGED = ("exchange", "source", "reason")
_N_BACK = pl.len().over(_EXCHANGED) - pl.len().over(*_EXCHANGED, "way")
ONE_WAY = (
    pl.col("exchange").is_not_null()
    & pl.col("reason").is_null()
    & (pl.col("lot").rank("ordinal").over(*_EXCHANGED, "way") > _N_BACK + LONE)
)
"""What a pair exchanges is exchanged more often this way than the other way in its source, so that the words would tell
the label; the pairs of the lowest lots stay, and one more than there are the other way."""


@dataclass(frozen=True)
class Selection:
    """What was chosen of the pairs of an index.

    Attributes:
        pairs: the index with ``kept`` (the pair is in the dataset) and the versions ``length_filtered``, ``balanced``.
        dropped: pairs left out, by source and reason.
    """

    pairs: pl.DataFrame
    dropped: Counter[tuple[str, str]]


def select(parts: Sequence[pl.DataFrame]) -> Selection:
    """Leave out what repeats or contradicts another pair, or goes one way, and name the versions of the rest.

    Args:
        parts: of an index (`INDEX`), in the order of the rows.
    """
    pairs = pl.concat([INDEX.to_frame(), *parts])
    reason = pl.coalesce(pl.when(refused).then(pl.lit(name)) for name, refused in REFUSALS.items())
    pairs = pairs.with_columns(reason=reason)
    pairs = pairs.with_columns(pl.when(ONE_WAY).then(pl.lit("one_way_exchange")).otherwise("reason").alias("reason"))
    counts = pairs.drop_nulls("reason").group_by("source", "reason").len().rows()
    kept = pl.col("reason").is_null()
    pairs = pairs.with_columns(kept=kept, length_filtered=kept & pl.col("short"))
    return Selection(_balanced(pairs), Counter({(source, reason): n for source, reason, n in counts}))


def _balanced(pairs: pl.DataFrame) -> pl.DataFrame:
    """Add what stays of each task: the pairs of the lowest lots, as many as the smallest task of the paper's has."""
    compared = [row["task"] for row in medhal_tasks() if row["in_ablation"] == "yes"]
    sizes = pairs.filter("length_filtered", pl.col("task").is_in(compared)).group_by("task").len()["len"]
    smallest = pl.lit(sizes.min() if len(sizes) else pairs.height)
    place = pl.col("lot").rank("ordinal").over("task", "length_filtered")
    return pairs.with_columns(balanced=pl.col("length_filtered") & (place <= smallest))
