"""The dataset card (Hugging Face): counts, distributions, baselines and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

from builders.cards import LICENCE, columns_table, front_matter, left_table
from builders.medieval.baselines import Auc, auc_table
from builders.medieval.contradicted import CONTRADICTED
from ground.contracts.rows import QUADRANTS
from ground.flow.manifest import LicenceTier, inputs, releases
from ground.storage.sqlfiles import sql_text

__all__ = ["DESCRIPTION", "card_of", "totals"]

SPLITS = ("train", "validation", "test")

DESCRIPTION = "Statements in four quadrants, true or false times supported or not by one discharge summary."

INTRODUCTION = """
# MediEval statements

A statement is **true** or **false** in medicine, as the ontology tells, and **supported** or **not supported** by the
discharge summary of one admission. The two questions give four quadrants:

| | supported | not supported |
| --- | --- | --- |
| true | Q1 | Q2 |
| false | Q3 | Q4 |

The statements of one `group_id` share the fact that they were made from: Q1 states it, Q2 replaces one end by a close
relative that the note does not mention, Q3 by an end of another fact of the same note, Q4 by a distant concept.
Every row carries its evidence: the path of the relation with RUI and SAB, the mentions with their offsets in the
note, the replaced concept and its distance.
"""

LIMITS = """
## Limits

- Truth is what the loaded releases state (or imply by the listed patterns). A relation that they lack can be called
  false although medicine knows it; guards against that (local closed world, shared classes, co-occurrence in the
  notes) lower the risk and do not remove it.
- Support is judged by dictionary mentions and rules for assertion. What is neither attested nor clearly absent gives
  no label; `manifest.json` counts it.
- `support_level` tells whether the note links both ends itself (`stated`) or only mentions both (`co_mentioned`).
- `fact_split` is null for training and validation rows whose (head, tail) pair also occurs in a later split: leave
  them out to test on unseen facts.
- Offsets of `support_spans` index the note itself, in Unicode code points: `mimiciv_note.discharge.text` of the row's
  `hadm_id` (`substr(text, begin_offset + 1, end_offset - begin_offset)` in DuckDB). They do not index `context`, which
  is the chosen sections joined.
- `hops` counts the edges that a statement claims: those of its path (three at most), and one more where it says "which
  is a type of".
- An `id` names the place of a row in this build (admission, fact, end, quadrant). Another build, by other rules,
  settings or releases, can have another sentence under it: cite a row with `provenance_sha256` of `manifest.json`.
- Not a source of medical advice.
"""

DENIED = """
## Contradicted rows

In `data/` the record says nothing of the end that a Q2 or Q4 statement is not supported by. A model can pass there by
looking for names. The configuration `contradicted` has what it falls for: the note names the end and says that it is
not so (denied, ruled out, of the family, an allergy, over, or yet to come; `denied_spans` shows where and how). Beside
each lies a copy of a supported row of `data/` with the same statement, of another patient.
"""

NONE_DENIED = """
This build has none: admissions that deny what others have are too few here to balance.
"""

DENIED_BALANCE = """
Each statement is contradicted as often as supported in each split, and each admission contradicts as many as it
supports. So statement or context alone tell nothing, whatever is fitted on which split. Do not cut a part off a split
by patient: what is left out would be the reverse of what stays. Both ends are named in every context, and statements
are matched by which of their ends are named once and which more often: a model that looks for names only is at chance.
"""

DENIED_LIMITS = """
- What is thought of ("return if", "as needed for") counts on neither side. A drug that was given or stopped in the stay
  is not contradicted.
- Allergies and family history count where the chosen sections speak of them.
"""


PAPER = {"admissions": ("admissions", 2015), "statements": ("distinct statements", 8350), "rows": ("rows", 37144)}
"""Of what the dataset holds what the paper counts of its own (section 4.1)."""

CONTRAINDICATED = "contraindicated"
"""Name of the configuration of true statements whose predicate no statement is called false of, and of its folder."""

TRUE_ONLY = """
## Contraindications

The configuration `contraindicated` has {rows} statements such as "metformin is contraindicated in renal failure": Q1
and Q2 in pairs. None is called false, since an ontology that is silent about a contraindication does not say that there
is none. So truth is no question here, and names are not balanced. Only what is stated of the drug or of a form of it
counts.
"""


def _by_quadrant(connection: duckdb.DuckDBPyConnection, column: str, title: str = "") -> str:
    """Return a table of the values of a column, or of an expression, by quadrant, the most frequent first."""
    counts = ", ".join(f"count(*) filter (where quadrant = '{quadrant}') as {quadrant}" for quadrant in QUADRANTS)
    result = connection.execute(
        f'with counted as (select {column} as value, {counts}, count(*) as "all" '
        f"from ground.medieval group by {column}) "
        f'select value as "{title or column}", {", ".join(QUADRANTS)}, "all" from counted '
        'order by "all" desc, value::varchar'
    )
    return left_table([name for name, *_ in result.description or ()], result.fetchall())


def _files(connection: duckdb.DuckDBPyConnection, table: str, folder: str) -> dict[str, str]:
    """Return the files of each split that a table of rows has."""
    present = {row[0] for row in connection.execute(f"select distinct split from ground.{table}").fetchall()}
    return {split: f"{folder}/{split}-*.parquet" for split in SPLITS if split in present}


def totals(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Return what the dataset holds, by the names of ``rows/total.sql``."""
    result = connection.execute(sql_text("builders/medieval/rows/total"))
    row = result.fetchone()
    assert row is not None
    return dict(zip([name for name, *_ in result.description or ()], row, strict=True))


def card_of(
    connection: duckdb.DuckDBPyConnection,
    aucs: Sequence[Auc],
    denied: Sequence[Auc],
    contraindicated: Mapping[str, int],
    dropped: dict[str, int],
    tier: LicenceTier,
) -> str:
    """Return the text of README.md for the rows in ``ground.medieval`` and ``ground.medieval_contradicted``.

    Args:
        connection: with both tables.
        aucs: baselines of the rows.
        denied: baselines of the contradicted rows and their partners.
        contraindicated: rows of the configuration of that name, by split.
        dropped: what was left out, by reason.
        tier: the licence tier.
    """
    configs: dict[str, Any] = {"default": _files(connection, "medieval", "data"), "statements": "statements.parquet"}
    if contradicted := _files(connection, "medieval_contradicted", CONTRADICTED):
        configs[CONTRADICTED] = contradicted
    if contraindicated:
        present = [split for split in SPLITS if split in contraindicated]
        configs[CONTRAINDICATED] = {split: f"{CONTRAINDICATED}/{split}-*.parquet" for split in present}
    total = totals(connection)
    facts = [
        f"- groups: {total['groups']}, complete (all four quadrants): {total['complete']}",
        f"- statements that claim more than one edge: {total['multi_hop']}",
        *(f"- release of {source}: {release}" for source, release in releases(connection)),
        *(
            f"- file of an ontology: {entry['file']}, SHA-256 {entry['sha256']}"
            for entry in inputs(connection)
            if entry["source"] == "ontology"
        ),
    ]
    parts = [
        front_matter(
            title="MediEval statements built by ontoground",
            tier=tier,
            task="text-classification",
            tags=["ontology-grounded"],
            rows=total["rows"],
            configs=configs,
        ),
        INTRODUCTION,
        "## Contents\n",
        left_table(["", "here", "the paper"], [(what, total[name], n) for name, (what, n) in PAPER.items()]),
        "",
        "\n".join(facts),
        "\n### By split\n",
        _by_quadrant(connection, "split"),
        "\n### By predicate\n",
        _by_quadrant(connection, "predicate"),
        "\n### By tier of the path, edges claimed and support\n",
        _by_quadrant(connection, "coalesce(tier, '(false)')", "tier"),
        "",
        _by_quadrant(connection, "hops", "edges claimed"),
        "",
        _by_quadrant(connection, "support_level"),
        "\n## What can be guessed from one side alone\n",
        "TF-IDF with logistic regression; intervals by resampling patients. Support must not be told by the statement, "
        "and no label by the context, so those intervals should hold 0.5. Truth can be known from medicine.\n",
        auc_table(aucs),
        *_contradicted(connection, denied),
        TRUE_ONLY.format(rows=sum(contraindicated.values())) if contraindicated else "",
        "## Left out, by reason\n",
        left_table(["reason", "n"], sorted(dropped.items())),
        "\n## Columns\n",
        columns_table("medieval"),
        LIMITS,
        "## Licence\n",
        LICENCE[tier] + "\n",
    ]
    return "\n".join(parts)


def _contradicted(connection: duckdb.DuckDBPyConnection, aucs: Sequence[Auc]) -> list[str]:
    """Return the section on the rows of ``ground.medieval_contradicted``, with the baselines of its own."""
    counts = connection.execute(sql_text("builders/medieval/contradicted/by_split")).fetchall()
    if not counts:
        return [DENIED + NONE_DENIED]
    assertions = connection.execute(sql_text("builders/medieval/contradicted/by_assertion")).fetchall()
    return [
        DENIED,
        left_table(["split", "Q2 contradicted", "Q4 contradicted", "Q1 supported", "Q3 supported"], counts),
        "",
        left_table(["the note says", "section", "rows"], assertions),
        DENIED_BALANCE,
        auc_table(aucs),
        DENIED_LIMITS,
    ]
