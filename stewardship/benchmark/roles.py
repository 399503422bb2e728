"""What a column of a table of labels can mean."""

from __future__ import annotations

__all__ = ["ROLES"]

ROLES = (
    "uid",  # the row's key, unique
    "stratum",  # what rows are sampled and compared by: a calculator, a relation, a task
    "stratum_id",
    "category",
    "output_type",  # decimal, integer, date; as the benchmark says
    "context",
    "question",
    "features",  # what the label was computed from
    "label",
    "lower",
    "upper",
    "derivation",  # how it was computed, in words
    "original",
    "recomputed",
    "physician",
    "final",
    "comment",
    "rel_err",
)
"""What a column can mean. ``label`` is the table's own; a sheet of several labels names each."""
