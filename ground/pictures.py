"""What all pictures share: colours that colour-blind readers can tell apart (Okabe and Ito), axes, files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["COLOURS", "GREY", "new_figure", "picture", "save", "tidy"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY = "#8a8a8a"
DPI = 150


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure; sizes in inches."""
    # Not pyplot: no window system and no state that outlives the picture.
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=DPI, layout="constrained")


def save(figure: Any, path: Path) -> None:
    """Write a PNG file; the same figure gives the same bytes."""
    figure.savefig(path, format="png", metadata={"Software": None})


@contextmanager
def picture(path: Path, width: float, height: float, *, grid: str | None = "y", **settings: Any) -> Iterator[Any]:
    """Yield the axes of a picture; afterwards they are set and tidied, what has a label stands in a legend beside them.

    Args:
        path: of the PNG file.
        width: in inches.
        height: in inches.
        grid: the axis with a grid, as `tidy` takes it.
        settings: of the axes: limits, labels, title.
    """
    figure = new_figure(width, height)
    axes = figure.subplots()
    yield axes
    axes.set(**settings)
    tidy(axes, grid)
    if axes.get_legend_handles_labels()[1]:
        figure.legend(loc="outside right upper", frameon=False, fontsize=9)
    save(figure, path)


def tidy(axes: Any, grid: str | None = "y") -> None:
    """Take away what carries no data, and draw a faint grid behind the rest."""
    axes.spines[["top", "right"]].set_visible(False)
    if grid:
        axes.grid(axis=grid, color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
