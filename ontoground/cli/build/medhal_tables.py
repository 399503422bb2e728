"""What a person reads after ``ontoground build medhal``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ontoground.cli.render import number, table

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["paint_medhal"]

TOP_REASONS = 5


def paint_medhal(out: Console, payload: Mapping[str, Any]) -> None:
    """Print rows by source and label, kept shares, the commonest reasons of refusal, and where the dataset is."""
    rows = [
        [
            one["source"],
            one["task"],
            one["items"],
            one["pairs"],
            one["judge"] or "none",
            "" if one["kept_share"] is None else f"{100 * one['kept_share']:.1f}%",
            one["factual"],
            one["non_factual"],
        ]
        for one in payload["sources"]
    ]
    columns = ("source", "task", "items", "pairs", "judge", "confirmed", "factual", "not factual")
    out.print(table(columns, rows, title=f"MedHal, engine {payload['engine']}"))
    reasons = sorted(payload["dropped"].items(), key=lambda one: (-one[1], one[0]))
    if reasons:
        out.print()
        out.print(table(("left out, most frequent", "n"), [list(one) for one in reasons[:TOP_REASONS]]))
    versions = ", ".join(
        f"{version.replace('_', ' ')} {number(sum(tasks.values()))}" for version, tasks in payload["versions"].items()
    )
    dataset = payload["dataset"]
    splits = ", ".join(f"{split} {number(n)}" for split, n in dataset["splits"].items())
    out.print(f"\nversions: {versions}")
    if payload["language_model"] is not None:
        asked = payload["language_model"]
        out.print(
            f"{asked['model']}: {number(asked['requests'])} requests, {number(asked['cached'])} from the cache,"
            f" {number(sum(asked['failures'].values()))} without an answer"
        )
    out.print(f"{number(dataset['rows'])} rows ({splits}) in {dataset['folder']}", soft_wrap=True)
