"""What an auditor of our datasets finds wrong with a row, by the paper's three failure modes (2.3)."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["AGGREGATION", "EXTRACTION", "NOT_ANSWERABLE", "Fault"]

EXTRACTION = "feature_extraction"
"""A mention or an edit is not what the evidence says."""
AGGREGATION = "aggregation_logic"
"""The evidence stands, but the label does not follow from it."""
NOT_ANSWERABLE = "not_answerable"
"""The evidence that the label needs is not there."""


class Fault(NamedTuple):
    """One fault of one row, in words that hold no text of a note."""

    uid: str
    mode: str
    words: str
