"""The model card of a fine-tuned detector or validator, written from its record."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ground.storage.files import write_text
from training.runs.card import TIERS, TITLES, front_matter

__all__ = ["write_card"]


def write_card(folder: Path, record: Mapping[str, Any]) -> None:
    """Write ``README.md`` of a run folder from what ``training.json`` holds."""
    rows, history = record["rows"], record["history"]
    left_out = ", ".join(f"{reason} {n:,}" for reason, n in rows["left_out"].items() if n) or "none"
    dataset = ", ".join(f"{name}: {value}" for name, value in record["dataset"].items())
    losses = f"{history[0]['loss']:.4f} at the start, {history[-1]['loss']:.4f} at the end" if history else "not logged"
    shape = {"medhal": "MedHal", "medval": "MedVAL"}[record["kind"]]
    notes = "".join(f"- {note}\n" for note in record["machine"]["notes"])
    write_text(
        folder / "README.md",
        f"""\
{front_matter(record)}
# {TITLES[record["kind"]][0]}

Made by supervised fine-tuning of {record["base_model"]} on rows in the shape of {shape}.
For research: nothing here has been checked for use in care.

- Dataset: {dataset}
- Rows by task: {", ".join(f"{task} {n:,}" for task, n in record["tasks"].items())}
- Rows used: {rows["used"]:,}; left out: {left_out}; without an explanation (label learnt only): \
{rows["without_explanation"]:,}
- Optimizer steps: {record["steps"]:,}; loss: {losses}
- Seed: {record["settings"]["seed"]}
{notes}
## Data
{TIERS[record["licence_tier"]]}

All settings, losses and versions: `training.json`.
""",
    )
