"""Reports in words and tables: templates filled with what ``report.json`` holds, and the one way to write a cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ground.markdown import harmless, markdown_table

__all__ = ["UNDEFINED", "difference_cell", "estimate_cell", "percent_cell", "rendered", "share_cell"]

UNDEFINED = "–"
TEMPLATES = Path(__file__).parent / "templates"

Fields = Mapping[str, Any]


def rendered(template: str, report: Fields, pictures: Sequence[str], **more: Any) -> str:
    """Return a report as Markdown.

    Args:
        template: a file's name in ``evaluation/templates``.
        report: what ``report.json`` holds; its parts are the template's variables.
        pictures: names of the files under ``figures/``.
        more: further variables.
    """

    def in_order(titles: Mapping[str, str]) -> str:
        pictures_text = "".join(f"![{title}](figures/{name})\n\n" for name, title in titles.items() if name in pictures)
        return f"\n## Pictures\n\n{pictures_text}" if pictures_text else ""

    # Names of models, raters and tasks come from files of others.
    return harmless(_templates().get_template(template).render(report, report=report, pictures=in_order, **more))


@cache
def _templates() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals |= {
        "head": _head,
        "row": _row,
        "share": share_cell,
        "cells": lambda estimates, names: [percent_cell(estimates[name]) for name in names],
        "spreads": lambda values: [UNDEFINED if value is None else _percent(value) for value in values],
        "differences": lambda estimates, names: [difference_cell(estimates[name]) for name in names],
    }
    environment.filters |= {
        "para": lambda text: " ".join(line for line in text.splitlines() if line) + "\n",
        "number": "{:,}".format,
        "mean_count": lambda count: f"{count:,.0f}" if float(count).is_integer() else f"{count:,.1f}",
        "p": lambda value: "<0.001" if value < 0.001 else f"{value:.3f}",
        "percent": percent_cell,
        "difference": difference_cell,
        "plain": estimate_cell,
        "answered": "Answered {}".format,
        "words": lambda name: name.replace("_", " "),
        "ranked": _ranked,
        "extract": lambda name, names: names[name],
    }
    return environment


def _flat(cells: Iterable[object]) -> list[str]:
    """Return cells one by one, where some stand for several."""
    parts = (([cell] if isinstance(cell, str | int) else cell) for cell in cells)
    return [str(item) for part in parts for item in part]  # type: ignore[attr-defined]


def _head(*names: object, left: int = 1) -> str:
    return markdown_table(_flat(names), [], left).rstrip("\n")


def _row(*cells: object) -> str:
    return markdown_table(_flat(cells), []).partition("\n")[0]


def _ranked(models: Iterable[Fields], metric: str) -> list[Fields]:
    """Return models by a metric, the best first; where it is not defined they come last."""
    values = {id(model): model["metrics"][metric]["value"] for model in models}
    return sorted(models, key=lambda model: -1.0 if values[id(model)] is None else values[id(model)], reverse=True)


def _percent(value: float) -> str:
    # No "-0.0".
    return f"{round(100 * value, 1) + 0.0:.1f}"


def percent_cell(estimate: Fields | float) -> str:
    """Write an estimate in percent with its interval, and its spread over seeds where there are several."""
    known = estimate if isinstance(estimate, Mapping) else {"value": estimate}
    value, low, high, spread = (known.get(name) for name in ("value", "low", "high", "spread"))
    if value is None:
        return UNDEFINED
    seeds = "" if spread is None else f" ±{_percent(spread)}"
    interval = "" if low is None or high is None else f" ({_percent(low)} to {_percent(high)})"
    return _percent(value) + seeds + interval


def difference_cell(estimate: Fields) -> str:
    """Write a difference in percentage points, with its sign and interval."""
    value = estimate["value"]
    sign = "+" if value is not None and round(100 * value, 1) > 0 else ""
    return sign + percent_cell({name: estimate[name] for name in ("value", "low", "high")})


def estimate_cell(estimate: Fields) -> str:
    """Write a coefficient (kappa, alpha, BLEU) with its interval, not in percent."""
    if estimate["value"] is None:
        return UNDEFINED
    interval = "" if estimate["low"] is None else f" ({estimate['low']:.3f} to {estimate['high']:.3f})"
    return f"{estimate['value']:.3f}{interval}"


def share_cell(part: float, whole: float) -> str:
    """Write a count and its share in percent."""
    return f"{part:,.0f} ({_percent(part / whole)}%)" if whole else f"{part:,.0f}"
