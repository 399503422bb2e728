"""The paper's own numbers for the same model and method, and the columns of its Table 1."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from ground import ROOT
from ground.contracts.rows import QUADRANTS
from ground.storage.tables import read_table

__all__ = ["PAPER_COLUMNS", "paper_results", "same_measurement"]

# Name of the metric and head of its column, in the paper's order.
PAPER_COLUMNS: Mapping[str, str] = {
    "accuracy": "Acc.",
    "precision": "Prec.",
    "recall": "Rec.",
    "f1": "F1",
    **{f"f1_{quadrant.lower()}": f"F1_{quadrant}" for quadrant in QUADRANTS},
    "hsr": "HSR",
    "tir": "TIR",
}
PAPER_FILE = ROOT / "evaluation" / "data" / "paper_results.tsv"


@cache
def paper_results() -> tuple[dict[str, Any], ...]:
    """Return every row of the paper's Tables 1 and 3: model, method, source, and the metrics as shares from 0 to 1."""
    rows = read_table(PAPER_FILE, ("model", "method", *PAPER_COLUMNS, "source"))
    names = ("model", "method", "source")
    return tuple(
        {name: row[name] for name in names}
        | {"metrics": {name: round(float(row[name]) / 100, 6) for name in PAPER_COLUMNS}}
        for row in rows
    )


def same_measurement(name: str) -> dict[str, Any] | None:
    """Return the paper's row for a model called ``NAME + METHOD``, such as ``Qwen/Qwen3-8B + SFT``.

    The name's folder or organisation and its case do not matter; the method must be the paper's own (``SFT``,
    ``DPO (Q1 vs. Q2)``, ``CoRFu (Q1 vs. mix)``, ``CoRFu (Curriculum)``, ``zero-shot`` ...). A name without a method
    matches nothing: a model's number says little without how it was trained.
    """
    model, _, method = name.partition(" + ")
    wanted = (model.rstrip("/").rpartition("/")[2].casefold(), method.strip().casefold())
    return next((row for row in paper_results() if (row["model"].casefold(), row["method"].casefold()) == wanted), None)
