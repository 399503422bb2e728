"""A dataset's row as a benchmark's row: what is asked, what anybody may know of it, and what it rests on.

``features`` holds what the statement is about and nothing of its label; ``derivation`` holds the evidence (paths,
spans, what was replaced, why false, edits, the partner's statement), which gives the label away: it is for the auditor
and for the spot check, never for a recomputation or a single-blind sheet.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from stewardship.second_road.folders import DatasetKind

__all__ = ["ASKED", "cells", "evidence_of", "features_of", "is_ours", "row_id"]

ASKED: dict[DatasetKind, str] = {
    "medieval": (
        "Is the statement true as medical knowledge, and does this record support it, that is, does it mention both "
        "things that the statement relates as present in this patient?\n"
        "Q1: true and supported. Q2: true, not supported. Q3: not true, though the record mentions both. "
        "Q4: neither true nor supported."
    ),
    "medhal": (
        "Is all that the statement says borne out by the text, or, where there is no text, by medical knowledge?\n"
        "factual: all of it. non-factual: something in it is wrong or not borne out."
    ),
    "medval": (
        "How risky are the errors of the output, given the input?\n"
        "1: no risk. 2: low, hardly affects understanding or decisions. 3: moderate, could affect interpretation or "
        "decisions. 4: high, could lead to unsafe decisions."
    ),
}
"""What a reviewer or a model is asked of a row."""

MEDIEVAL_FEATURES = ("statement", "hadm_id", "predicate", "head_cui", "head_name", "tail_cui", "tail_name")
MEDIEVAL_EVIDENCE = (
    *(
        "id",
        "group_id",
        "quadrant",
        "is_true",
        "is_supported",
        "tier",
        "hops",
        "path",
        "support_level",
        "support_spans",
    ),
    *("replaced_end", "replaced_cui", "distance", "why_false"),
)
MEDVAL_EVIDENCE = (
    "id",
    "triple_id",
    "variant",
    "engine",
    "errors",
    "reasoning",
    "delta",
    "consistency",
    "clean_output",
    "clean_level",
    "perturbed_level",
    "edits",
)


def cells(kind: DatasetKind, row: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the cells of a benchmark's row, as text, from a row of ``data/*.parquet`` (and what was joined to it).

    Args:
        kind: which dataset.
        row: its columns, with ``uid``, ``label_text`` and ``stratum``.
    """
    values = CELLS[kind](row)
    return {
        "uid": row["uid"],
        "stratum": row["stratum"],
        "output_type": "category",
        "label": row["label_text"],
        **{name: value if isinstance(value, str) or value is None else _json(value) for name, value in values.items()},
    }


def _medieval(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        # The split, not the tier: a tier is there for true statements only.
        "category": row["split"],
        "context": row["context"],
        "question": f"Statement: {row['statement']}\n\n{ASKED['medieval']}",
        "features": {name: row[name] for name in MEDIEVAL_FEATURES},
        "derivation": {name: row[name] for name in MEDIEVAL_EVIDENCE},
    }


def _medhal(row: Mapping[str, Any]) -> dict[str, Any]:
    own = row["task"] == "record_facts"
    return {
        "category": row["source"],
        "context": row["context"],
        "question": f"Statement: {row['statement']}\n\n{ASKED['medhal']}",
        # The source's name of one of our own facts says which quadrant the wrong statement of the pair is of.
        "features": {
            "statement": row["statement"],
            "task": row["task"],
            "hadm_id": int(row["inner_id"].split("-")[0]) if own else None,
        },
        "derivation": {
            "id": row["id"],
            "pair_id": row["pair_id"],
            "inner_id": row["inner_id"],
            "explanation": row["explanation"],
            "partner": row.get("partner"),
            "partner_explanation": row.get("partner_explanation"),
        },
    }


def _medval(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "category": row["source"],
        "context": row["input"],
        "question": f"Instruction: {row['instruction']}\n\nOutput: {row['output']}\n\n{ASKED['medval']}",
        "features": {"instruction": row["instruction"], "output": row["output"], "task": row["task"]},
        "derivation": {name: row.get(name) for name in MEDVAL_EVIDENCE},
    }


CELLS: dict[DatasetKind, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "medieval": _medieval,
    "medhal": _medhal,
    "medval": _medval,
}


def is_ours(item: Mapping[str, Any]) -> bool:
    """Tell whether a benchmark's row was taken up from a dataset folder of ours."""
    return str(item.get("features") or "").startswith("{") and str(item.get("derivation") or "").startswith('{"id"')


def row_id(item: Mapping[str, Any]) -> str:
    """Return the id that a benchmark's row has in its dataset: the benchmark's key of it can be a hash.

    It can end with the label, so it is not for readers.
    """
    return str(evidence_of(item)["id"] if is_ours(item) else item["uid"])


def features_of(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a benchmark's row is about."""
    return dict(json.loads(item["features"]))


def evidence_of(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the label of a benchmark's row rests on."""
    return dict(json.loads(item["derivation"]))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
