"""Truncation of contexts by a fixed section priority: the same for every row, blind to its evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ground import ROOT
from ground.storage.tables import read_table

__all__ = ["ContextSection", "context_sections", "kept_tokens"]

PRIORITIES = ROOT / "training" / "data" / "section_priority.tsv"
LAST = 99


@dataclass(frozen=True)
class ContextSection:
    """A section of a context: half-open code point offsets and its priority, 1 being cut last."""

    begin: int
    end: int
    priority: int


@cache
def _headers() -> tuple[re.Pattern[str], dict[str, int]]:
    rows = read_table(PRIORITIES, ("section", "priority", "header", "source"))
    priority = {row["header"].lower(): int(row["priority"]) for row in rows}
    longest_first = sorted((re.escape(row["header"]) for row in rows), key=lambda name: (-len(name), name))
    return re.compile(rf"^[ \t]*({'|'.join(longest_first)})[ \t]*:", re.IGNORECASE | re.MULTILINE), priority


def context_sections(context: str) -> list[ContextSection]:
    """Split a context at its known section headers; the sections tile it, and what precedes the first comes last."""
    pattern, priority = _headers()
    headers = [(match.start(), priority[match.group(1).lower()]) for match in pattern.finditer(context)]
    bounds = [(0, LAST), *headers, (len(context), LAST)]
    return [ContextSection(begin, end, rank) for (begin, rank), (end, _) in pairwise(bounds) if end > begin]


def kept_tokens(
    token_starts: npt.NDArray[np.int64], sections: Sequence[ContextSection], budget: int
) -> npt.NDArray[np.bool_]:
    """Say which tokens of a context are kept under a budget.

    Sections are served by priority (then by their order); the one that no longer fits loses its end, and those after
    it all their tokens.

    Args:
        token_starts: code point at which each token begins. *Shape:* (n_tokens,), ascending.
        sections: the sections that tile the context.
        budget: tokens that may be kept.

    Returns:
        A mask. *Shape:* (n_tokens,); at most ``budget`` entries are true.
    """
    kept = np.ones(len(token_starts), dtype=np.bool_)
    if len(token_starts) <= budget:
        return kept
    kept[:] = False
    for section in sorted(sections, key=lambda part: (part.priority, part.begin)):
        first, last = np.searchsorted(token_starts, [section.begin, section.end])
        taken = min(int(last - first), budget)
        kept[first : first + taken] = True
        budget -= taken
    return kept
