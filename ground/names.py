"""Names that a file gives, of columns or keys, as a message may show them."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["names_found"]

LONGEST_NAME = 40
# A value in the place of a name: nothing, a number, a date, a line of text.
VALUE = re.compile(r"\s*|[\W\d].*|.*[\n\r].*|.{61,}", re.DOTALL)


def names_found(names: Iterable[str]) -> str:
    """Return names that a file gives (of columns, of keys) for a message, each cut.

    A table without a head has its first row there, a patient's perhaps: where one of them is no name, all are counted
    only.
    """
    given = list(names)
    if any(VALUE.fullmatch(name) for name in given):
        return f"{len(given)} cells, not all of them names of columns"
    return ", ".join(name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}..." for name in given)
