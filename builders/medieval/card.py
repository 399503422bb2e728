"""The dataset card (Hugging Face): counts, distributions, baselines and limits."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pyarrow as pa

from builders.cards import LICENCE, frame_table, front_matter
from builders.medieval.baselines import Auc
from ontoground.manifest import LicenceTier
from ontoground.rows import QUADRANTS

__all__ = ["DESCRIPTION", "card_of"]

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
- Not a source of medical advice.
"""


def _by_quadrant(rows: pl.DataFrame, column: str) -> str:
    table = rows.group_by(column).agg(
        *((pl.col("quadrant") == q).sum().alias(q) for q in QUADRANTS), pl.len().alias("all")
    )
    return frame_table(table.sort(pl.col("all"), pl.col(column).cast(pl.String), descending=[True, False]))


def _auc_table(aucs: Sequence[Auc]) -> str:
    lines = ["| sees | label | how | rows | AUC | 95% interval |", "| --- | --- | --- | --- | --- | --- |"]
    for a in aucs:
        interval = "too few patients" if a.low is None or a.high is None else f"{a.low:.3f} to {a.high:.3f}"
        lines.append(f"| {a.view} | {a.label} | {a.how} | {a.n} | {a.auc:.3f} | {interval} |")
    return "\n".join(lines)


def card_of(table: pa.Table, aucs: Sequence[Auc], dropped: dict[str, int], tier: LicenceTier) -> str:
    """Return the text of README.md for one dataset of MediEval rows."""
    rows = pl.from_arrow(table.drop_columns(["context", "path", "support_spans"]))
    assert isinstance(rows, pl.DataFrame)
    present = [split for split in SPLITS if (rows["split"] == split).any()]
    configs = {"default": {split: f"data/{split}-*.parquet" for split in present}, "statements": "statements.parquet"}
    groups = rows.group_by("group_id").agg(pl.col("quadrant").n_unique())
    facts = [
        f"- rows: {rows.height}, groups: {groups.height}, admissions: {rows['hadm_id'].n_unique()}, "
        f"distinct statements: {rows['statement'].n_unique()}",
        f"- complete groups (all four quadrants): {(groups['quadrant'] == 4).sum()}",
        f"- statements that claim more than one edge: {(rows['hops'] > 1).sum()}",
    ]
    reasons = pl.DataFrame(sorted(dropped.items()), schema=["reason", "n"], orient="row")
    parts = [
        front_matter(
            title="MediEval statements built by ontoground",
            tier=tier,
            task="text-classification",
            tags=["ontology-grounded"],
            rows=rows.height,
            configs=configs,
        ),
        INTRODUCTION,
        "## Contents\n",
        "\n".join(facts),
        "\n### By split\n",
        _by_quadrant(rows, "split"),
        "\n### By predicate\n",
        _by_quadrant(rows, "predicate"),
        "\n### By tier of the path, edges claimed and support\n",
        _by_quadrant(rows.with_columns(pl.col("tier").fill_null("(false)")), "tier"),
        "",
        _by_quadrant(rows.rename({"hops": "edges claimed"}), "edges claimed"),
        "",
        _by_quadrant(rows, "support_level"),
        "\n## What can be guessed from one side alone\n",
        "TF-IDF with logistic regression; intervals by resampling patients. Support must not be told by the statement, "
        "and no label by the context, so those intervals should hold 0.5. Truth can be known from medicine.\n",
        _auc_table(aucs),
        "\n## Left out, by reason\n",
        frame_table(reasons),
        LIMITS,
        "## Licence\n",
        LICENCE[tier] + "\n",
    ]
    return "\n".join(parts)
