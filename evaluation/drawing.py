"""What several pictures of reports share: markers, error bars, and whole kinds of pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from ground.pictures import COLOURS, new_figure, picture, save

__all__ = ["Series", "confusion", "error_bars", "forest", "panels", "style_of", "titled", "wrapped"]

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
PANELS_IN_A_ROW = 3
LABEL_WIDTH = 26


def style_of(at: int) -> dict[str, Any]:
    """Return a colour and a marker of its own for each series."""
    return {"marker": MARKERS[at % len(MARKERS)], "color": COLOURS[at % len(COLOURS)]}


def wrapped(name: str) -> str:
    """Break a long name into short lines."""
    return fill(name, LABEL_WIDTH, break_on_hyphens=False)


def error_bars(estimates: Sequence[Mapping[str, float | None]]) -> tuple[Any, Any]:
    """Return values in percent and the lengths of their error bars. *Shapes:* (n,), (2, n); NaN is not drawn."""
    value, low, high = (
        np.array([np.nan if row[name] is None else row[name] for row in estimates], dtype=np.float64) * 100
        for name in ("value", "low", "high")
    )
    # A percentile interval can lie beside its value by a rounding.
    return value, np.maximum(np.stack([value - low, high - value]), 0)


def titled(title: str, *errors: Any) -> str:
    """Return the title of a picture, which names intervals where one is drawn. Shapes: (2, n) each"""
    return f"{title}, 95% intervals" if any(np.isfinite(error).any() for error in errors) else title


Series = tuple[str | None, Any, Any, Mapping[str, Any]]
"""Label (None: not in the legend), values and error bars (`error_bars`), and style."""


def forest(
    path: Path,
    rows: Sequence[str],
    series: Sequence[Series],
    mark: Callable[[Any], object] | None = None,
    *,
    title: str,
    **settings: Any,
) -> None:
    """Draw points with their intervals to the right, a line for each row, from top to bottom.

    Args:
        path: of the PNG file.
        rows: their names.
        series: what is drawn side by side in each row, in percent where ``settings`` say nothing else.
        mark: draws more into the axes.
        title: says what the points are.
        settings: of the axes.
    """
    title = titled(title, *(error for _, _, error, _ in series))
    n, height = len(rows), 1.4 + len(rows) * (0.3 + 0.16 * len(series))
    percent = {"xlim": (0, 100), "xlabel": "%"}
    with picture(path, 8.6, height, grid="x", title=title, **percent | settings) as axes:
        offsets = (np.arange(len(series)) - (len(series) - 1) / 2) * (0.7 / max(len(series), 1))
        for (label, value, error, style), offset in zip(series, offsets, strict=True):
            place = np.arange(n) + offset
            axes.errorbar(value, place, xerr=error, fmt="none", ecolor=style["color"], elinewidth=1.2, capsize=2)
            axes.plot(value, place, linestyle="none", markersize=6, clip_on=False, label=label, **style)
        axes.set(yticks=range(n), yticklabels=rows, ylim=(n - 0.5, -0.5))
        for border in np.arange(n - 1) + 0.5:
            axes.axhline(border, color="#dddddd", linewidth=0.7)
        # Markers at 0 reach out of the axes.
        axes.tick_params(axis="y", length=0, pad=7)
        if mark is not None:
            mark(axes)


def panels(n: int, size: float) -> tuple[Any, list[Any]]:
    """Return a figure of n square panels (``size`` inches), and their axes."""
    columns = min(n, PANELS_IN_A_ROW)
    rows = -(-n // columns)
    figure = new_figure(size * columns + 0.4, size * rows + 0.5)
    grid = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for empty in grid[n:]:
        empty.set_visible(False)
    return figure, grid[:n]


def confusion(
    path: Path,
    tables: Sequence[tuple[str, Any]],
    classes: Sequence[str],
    *,
    counts: bool = False,
    words: tuple[str, str] = ("answer", "label"),
) -> None:
    """Draw answers against labels, in percent of each label's rows.

    Args:
        path: of the PNG file.
        tables: a title and the numbers of rows of each panel, *shape* (k, k + 1).
        classes: k names.
        counts: write the numbers of rows below the percentages.
        words: what columns and rows are.
    """
    figure, grid = panels(len(tables), 3.4 if counts else 3.1)
    for (title, table), axes in zip(tables, grid, strict=True):
        rows = np.array(table, dtype=np.float64)
        total = rows.sum(axis=1, keepdims=True)
        shares = np.divide(100 * rows, total, out=np.zeros_like(rows), where=total > 0)
        n_columns = shares.shape[1] - (not rows[:, -1].any())
        axes.imshow(shares[:, :n_columns], cmap="Blues", vmin=0, vmax=100, aspect="auto")
        for (row, column), share in np.ndenumerate(shares[:, :n_columns]):
            label = f"{share:.0f}%\n{int(rows[row, column]):,}" if counts else f"{share:.0f}"
            size = {"fontsize": 9} if counts else {}
            colour = "white" if share > 55 else "black"
            axes.text(column, row, label, ha="center", va="center", color=colour, **size)
        axes.set_xticks(range(n_columns), [*classes, "none"][:n_columns])
        axes.set_yticks(range(len(classes)), classes, rotation=0 if len(classes[0]) < 3 else 90, va="center")
        axes.set_title(title, fontsize=10)
        axes.tick_params(length=0)
    figure.supxlabel(words[0])
    figure.supylabel(words[1])
    figure.suptitle("Answers in % of the rows of each label")
    save(figure, path)
