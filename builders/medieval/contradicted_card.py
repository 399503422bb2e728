"""What the dataset card says of the contradicted rows."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from builders.cards import left_table
from builders.medieval.baselines import Auc, auc_table
from ground.storage.sqlfiles import sql_text

__all__ = ["contradicted_section"]

INTRODUCTION = """
## Contradicted rows

In `data/` the record says nothing of the end that a Q2 or Q4 statement is not supported by. A model can pass there by
looking for names. The configuration `contradicted` has what it falls for: the note names the end and says that it is
not so (denied, ruled out, of the family, an allergy, over, or yet to come; `denied_spans` shows where and how). Beside
each lies a copy of a supported row of `data/` with the same statement, of another patient.
"""

NONE = """
This build has none: admissions that deny what others have are too few here to balance.
"""

BALANCE = """
Each statement is contradicted as often as supported in each split, and each admission contradicts as many as it
supports. So statement or context alone tell nothing, whatever is fitted on which split. Do not cut a part off a split
by patient: what is left out would be the reverse of what stays. Both ends are named in every context, and statements
are matched by which of their ends are named once and which more often: a model that looks for names only is at chance.
"""

LIMITS = """
- What is thought of ("return if", "as needed for") counts on neither side. A drug that was given or stopped in the stay
  is not contradicted.
- Allergies and family history count where the chosen sections speak of them.
"""


def contradicted_section(connection: duckdb.DuckDBPyConnection, aucs: Sequence[Auc]) -> str:
    """Return the section of the card on the rows of ``ground.medieval_contradicted``, with the baselines of its own.

    Args:
        connection: with the rows as they were written, ``contradicted_row``.
        aucs: what its baselines tell.
    """
    counts = connection.execute(sql_text("builders/medieval/contradicted/by_split")).fetchall()
    if not counts:
        return INTRODUCTION + NONE
    assertions = connection.execute(sql_text("builders/medieval/contradicted/by_assertion")).fetchall()
    parts = [
        INTRODUCTION,
        left_table(["split", "Q2 contradicted", "Q4 contradicted", "Q1 supported", "Q3 supported"], counts),
        "",
        left_table(["the note says", "section", "rows"], assertions),
        BALANCE,
        auc_table(aucs),
        LIMITS,
    ]
    return "\n".join(parts)
