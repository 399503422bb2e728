"""What all pictures share: colours that colour-blind readers can tell apart (Okabe and Ito), markers, axes, files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

__all__ = ["COLOURS", "DPI", "GREY", "MARKERS", "error_bars", "new_figure", "panels", "save", "tidy", "wrapped"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
GREY = "#8a8a8a"
DPI = 150
PANELS_IN_A_ROW = 3
LABEL_WIDTH = 26


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure; sizes in inches."""
    # Not pyplot: no window system and no state that outlives the picture.
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=DPI, layout="constrained")


def save(figure: Any, path: Path) -> None:
    """Write a PNG file; the same figure gives the same bytes."""
    figure.savefig(path, metadata={"Software": None})


def tidy(axes: Any, grid: str | None = "y") -> None:
    """Take away what carries no data, and draw a faint grid behind the rest."""
    axes.spines[["top", "right"]].set_visible(False)
    if grid:
        axes.grid(axis=grid, color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)


def wrapped(name: str) -> str:
    """Break a long name into short lines."""
    return fill(name, LABEL_WIDTH, break_on_hyphens=False)


def error_bars(estimates: Sequence[Mapping[str, float | None]]) -> tuple[Any, Any]:
    """Return values in percent and the lengths of their error bars. *Shapes:* (n,), (2, n); NaN is not drawn."""
    value, low, high = (
        np.array([np.nan if one[name] is None else one[name] for one in estimates], dtype=np.float64) * 100
        for name in ("value", "low", "high")
    )
    # A percentile interval can lie beside its value by a rounding.
    return value, np.maximum(np.stack([value - low, high - value]), 0)


def panels(n: int, size: float) -> tuple[Any, list[Any]]:
    """Return a figure of n square panels (``size`` inches), and their axes."""
    columns = min(n, PANELS_IN_A_ROW)
    rows = -(-n // columns)
    figure = new_figure(size * columns + 0.4, size * rows + 0.5)
    grid = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for empty in grid[n:]:
        empty.set_visible(False)
    return figure, grid[:n]
