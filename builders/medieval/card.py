"""The dataset card (Hugging Face) and croissant.json: counts, distributions, baselines and limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pyarrow as pa

from builders.medieval.baselines import Auc
from ontoground.rows import QUADRANTS

__all__ = ["card_of", "croissant_of"]

SPLITS = ("train", "validation", "test")

FRONT_MATTER = """---
pretty_name: MediEval statements built by ontoground
language: [en]
license: other
license_name: {tier}
task_categories: [text-classification]
tags: [medical, clinical, ontology-grounded]
size_categories: [{size}]
configs:
- config_name: default
  default: true
  data_files:
{files}
- config_name: statements
  data_files: statements.parquet
---
"""

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

LICENCE = {
    "open": "Made from the embedded open world: invented patients, free to share.",
    "credentialed": (
        "Holds or derives from credentialed sources (MIMIC-IV, UMLS): the PhysioNet data use agreement and the UMLS "
        "licence apply to every row. Do not share it, and do not send it to services of third parties."
    ),
}


def _markdown(frame: pl.DataFrame) -> str:
    lines = ["| " + " | ".join(frame.columns) + " |", "| " + " | ".join("---" for _ in frame.columns) + " |"]
    lines += ["| " + " | ".join(str(value) for value in row) + " |" for row in frame.iter_rows()]
    return "\n".join(lines)


def _by_quadrant(rows: pl.DataFrame, column: str) -> str:
    table = rows.group_by(column).agg(
        *((pl.col("quadrant") == q).sum().alias(q) for q in QUADRANTS), pl.len().alias("all")
    )
    return _markdown(table.sort(pl.col("all"), pl.col(column).cast(pl.String), descending=[True, False]))


def _auc_table(aucs: Sequence[Auc]) -> str:
    lines = ["| sees | label | how | rows | AUC | 95% interval |", "| --- | --- | --- | --- | --- | --- |"]
    for a in aucs:
        interval = "too few patients" if a.low is None or a.high is None else f"{a.low:.3f} to {a.high:.3f}"
        lines.append(f"| {a.view} | {a.label} | {a.how} | {a.n} | {a.auc:.3f} | {interval} |")
    return "\n".join(lines)


def _size(n: int) -> str:
    for limit, name in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K")):
        if n < limit:
            return name
    return "100K<n<1M"


def card_of(table: pa.Table, aucs: Sequence[Auc], dropped: dict[str, int], tier: str) -> str:
    """Return the text of README.md for one dataset of MediEval rows."""
    rows = pl.from_arrow(table.drop_columns(["context", "path", "support_spans"]))
    assert isinstance(rows, pl.DataFrame)
    present = [split for split in SPLITS if (rows["split"] == split).any()]
    files = "\n".join(f"  - split: {split}\n    path: data/{split}-*.parquet" for split in present)
    groups = rows.group_by("group_id").agg(pl.col("quadrant").n_unique())
    facts = [
        f"- rows: {rows.height}, groups: {groups.height}, admissions: {rows['hadm_id'].n_unique()}, "
        f"distinct statements: {rows['statement'].n_unique()}",
        f"- complete groups (all four quadrants): {(groups['quadrant'] == 4).sum()}",
        f"- statements that claim more than one edge: {(rows['hops'] > 1).sum()}",
    ]
    reasons = pl.DataFrame(sorted(dropped.items()), schema=["reason", "n"], orient="row")
    parts = [
        FRONT_MATTER.format(tier=tier, size=_size(rows.height), files=files),
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
        _markdown(reasons),
        LIMITS,
        "## Licence\n",
        LICENCE[tier] + "\n",
    ]
    return "\n".join(parts)


CROISSANT_TYPES = {"int64": "sc:Integer", "int32": "sc:Integer", "bool": "sc:Boolean"}
CROISSANT_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "includes": "cr:includes",
    "recordSet": "cr:recordSet",
    "sc": "https://schema.org/",
    "source": "cr:source",
}


def croissant_of(schema: pa.Schema, tier: str) -> dict[str, Any]:
    """Return the Croissant 1.0 description of the data files; nested columns are left to the Parquet schema."""
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"rows/{field.name}",
            "name": field.name,
            "dataType": CROISSANT_TYPES.get(str(field.type), "sc:Text"),
            "source": {"fileSet": {"@id": "parquet"}, "extract": {"column": field.name}},
        }
        for field in schema
        if not pa.types.is_nested(field.type)
    ]
    return {
        "@context": CROISSANT_CONTEXT,
        "@type": "sc:Dataset",
        "name": "medieval",
        "description": "Statements in four quadrants, true or false times supported or not by one discharge summary.",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "license": LICENCE[tier],
        "distribution": [
            {
                "@type": "cr:FileSet",
                "@id": "parquet",
                "name": "parquet",
                "encodingFormat": "application/x-parquet",
                "includes": "data/*.parquet",
            }
        ],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "rows", "name": "rows", "field": fields}],
    }
