"""What a person reads of an evaluation of quadrants: two tables in percent, and where the report lies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console

from ontoground.cli.render import number, relative, table

__all__ = ["paint_evaluation"]

SHARES = ("accuracy", "precision", "recall", "f1", "f1_q1", "f1_q2", "f1_q3", "f1_q4")
HEADS = ("model", "Acc.", "Prec.", "Rec.", "F1", "Q1", "Q2", "Q3", "Q4")


def paint_evaluation(out: Console, payload: dict[str, Any]) -> None:
    """Show what ``ontoground evaluate quadrants --json`` prints."""
    models = payload["models"]
    patients = f"{number(payload['patients'])} patient{'' if payload['patients'] == 1 else 's'}"
    out.print(f"{number(payload['rows'])} rows of {patients} ({payload['split']}), in percent\n")
    rows = [(model["name"], *(_percent(model, name) for name in SHARES)) for model in models]
    out.print(table(HEADS, rows))
    out.print("\nF1 with its interval; HSR: unsupported taken for Q1; TIR: false taken for Q1 (lower is better)\n")
    safety = [(model["name"], *(_interval(model, name) for name in ("f1", "hsr", "tir"))) for model in models]
    out.print(table(("model", "F1", "HSR", "TIR"), safety))
    out.print()
    out.print(f"report    {relative(Path(payload['report']['markdown']))}", soft_wrap=True)
    out.print(f"numbers   {relative(Path(payload['report']['json']))}", soft_wrap=True)
    out.print(f"pictures  {relative(Path(payload['report']['folder']) / 'figures')}", soft_wrap=True)


def _percent(model: dict[str, Any], metric: str) -> str:
    value = model["metrics"][metric]["value"]
    return f"{'–' if value is None else format(100 * value, '.1f'):>5}"


def _interval(model: dict[str, Any], metric: str) -> str:
    found = model["metrics"][metric]
    if found["low"] is None or found["high"] is None:
        return _percent(model, metric)
    return f"{_percent(model, metric)} ({100 * found['low']:.1f}-{100 * found['high']:.1f})"
