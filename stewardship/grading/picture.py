"""The picture of a leaderboard: each model's accuracy under both sets of labels, joined by a line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ground.pictures import COLOURS, GREY, new_figure, save, tidy
from ground.storage.files import atomic_path
from stewardship.grading.leaderboard import Board, Entry

__all__ = ["draw_board"]

GAIN, LOSS, SAME = *COLOURS[:2], GREY
MEANING = ((GAIN, "gains"), (LOSS, "loses"), (SAME, "interval of the change holds 0"))
LONGEST = 28
# Inches between two lines of names.
LINE = 0.16


def draw_board(board: Board, file: Path) -> None:
    """Write a PNG; the same board gives the same bytes."""
    count = len(board.entries)
    height = max(3.4, 2.0 + 0.3 * count)
    figure = new_figure(8.6, height)
    axes = figure.subplots()
    for number, entry in enumerate(board.entries):
        # Side by side, so that the bars of equal models can be told apart.
        _line(axes, entry, 0.04 * (number / max(1, count - 1) - 0.5))
    axes.set_xlim(-0.95, 1.95)
    axes.set_xticks([0, 1], [f"{name} labels" for name in board.labels])
    axes.set_ylabel("accuracy, %")
    axes.set_title(f"{board.rows:,} rows that both label; bars are Wilson 95% intervals", loc="left", fontsize=9)
    tidy(axes)
    low, high = axes.get_ylim()
    for side in (0, 1):
        _names(axes, board, side, LINE * (high - low) / (height - 1.2))
    axes.set_ylim(min(low, axes.get_ylim()[0]), max(high, axes.get_ylim()[1]))
    handles = [axes.plot([], [], color=colour, marker="o", label=words)[0] for colour, words in MEANING]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    with atomic_path(file) as temporary:
        save(figure, temporary)


def _line(axes: Any, entry: Entry, shift: float) -> None:
    change = entry.difference
    colour = GAIN if change.low > 0 else LOSS if change.high < 0 else SAME
    values = [100 * (side.value or 0) for side in entry.shares]
    # An interval that ends at 100% may end a rounding error below it.
    lows = [max(0, 100 * ((side.value or 0) - (side.low or 0))) for side in entry.shares]
    highs = [max(0, 100 * ((side.high or 0) - (side.value or 0))) for side in entry.shares]
    axes.errorbar([shift, 1 + shift], values, yerr=[lows, highs], color=colour, marker="o", capsize=3, linewidth=1.6)


def _names(axes: Any, board: Board, side: int, line: float) -> None:
    """Write rank, name and accuracy beside the points, moved apart where they would overlap, with a thin line."""
    ordered = sorted(
        board.entries, key=lambda entry: (entry.shares[side].value or 0, -entry.places[side].rank, entry.model)
    )
    values = [100 * (item.shares[side].value or 0) for item in ordered]
    near, far = (1.05, 1.12) if side else (-0.05, -0.12)
    for item, value, place in zip(ordered, values, _apart(values, line), strict=True):
        name = item.model if len(item.model) <= LONGEST else item.model[: LONGEST - 1] + "…"
        rank = item.places[side].rank
        words = f"{rank}. {name}  {value:.1f}"
        axes.plot([near, far], [value, place], color="#bbbbbb", linewidth=0.7)
        axes.text(
            far + (0.01 if side else -0.01), place, words, ha="left" if side else "right", va="center", fontsize=8
        )


def _apart(values: list[float], line: float) -> list[float]:
    """Return ascending places at least a line apart, each group of names centred on its values."""
    groups: list[list[float]] = []
    for value in values:
        groups.append([value])
        while len(groups) > 1 and _ends(groups[-2], line)[1] + line > _ends(groups[-1], line)[0]:
            groups[-2:] = [groups[-2] + groups[-1]]
    return [_ends(group, line)[0] + number * line for group in groups for number in range(len(group))]


def _ends(group: list[float], line: float) -> tuple[float, float]:
    middle, half = sum(group) / len(group), line * (len(group) - 1) / 2
    return middle - half, middle + half
