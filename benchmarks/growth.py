"""How time and memory grow: the results of several scales, a fitted exponent for each step, and a drawing.

``python -m benchmarks.growth --scales 0.003 0.01 0.03 0.1`` measures the flow at each scale that has no saved result
yet, then fits and draws; without ``--scales`` it reads what is saved. The exponent is the slope of a line through the
logarithms; a step that has a fixed part, such as starting or compiling, shows a smaller one at small scales, so that
the slope between the two largest scales is given too. What a step would take at 1/1 is extrapolated from its largest
scale with the larger of these exponents, and of 1 for time; it is no measurement.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.command import parser, run
from benchmarks.flow import STEPS
from benchmarks.measuring import RESULTS
from benchmarks.tables import figures_table
from ground.errors import InputError
from ground.markdown import markdown_table
from ontoground.cli.render import console, note

__all__ = ["Growth", "concept_runs", "exponent", "growth_of", "main", "runs"]

DOCS = Path(__file__).resolve().parents[1] / "docs"
DRAWING, CONCEPT_DRAWING = DOCS / "growth.svg", DOCS / "growth-concepts.svg"
STEEP = 1.1
LEAST_SCALES = 2
FIGURES = {"seconds": "seconds", "cpu_seconds": "CPU seconds", "peak_bytes": "peak memory"}
WHOLE = "whole run"


@dataclass(frozen=True)
class Growth:
    """One figure of one step over the scales, or over the concepts that notes can speak of.

    Attributes:
        step: of the flow, or the whole run.
        figure: a number of ``Measure``.
        scales, values: in increasing order of scale.
    """

    step: str
    figure: str
    scales: tuple[float, ...]
    values: tuple[float, ...]

    @property
    def fitted(self) -> float:
        """The exponent over all scales."""
        return exponent(self.scales, self.values)

    @property
    def last(self) -> float:
        """The exponent between the two largest scales."""
        return exponent(self.scales[-2:], self.values[-2:])

    @property
    def full(self) -> float:
        """The value at 1/1: extrapolated, unless it was measured there."""
        steepness = max(self.fitted, self.last, 0.0 if self.figure == "peak_bytes" else 1.0)
        return float(self.values[-1] * (1 / self.scales[-1]) ** steepness)


def exponent(scales: Sequence[float], values: Sequence[float]) -> float:
    """Return b of the best fit value = a * scale ** b in logarithms; 0 where all values are 0."""
    known = [(scale, value) for scale, value in zip(scales, values, strict=True) if value > 0]
    if len(known) < LEAST_SCALES:
        return 0.0
    logs = np.log(np.array(known))
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def runs(folder: Path = RESULTS) -> dict[float, dict[str, Any]]:
    """Return scale -> saved result of ``benchmarks.run``, in increasing order of scale."""
    found = {}
    for file in folder.glob("run-*.json"):
        payload = json.loads(file.read_text(encoding="utf-8"))
        found[float(payload["settings"]["scale"])] = payload
    return dict(sorted(found.items()))


def concept_runs(folder: Path = RESULTS) -> dict[float, dict[str, Any]]:
    """Return number of concepts -> saved result of ``benchmarks.run --concepts``, of the largest scale with any."""
    found: dict[float, dict[float, dict[str, Any]]] = {}
    for file in folder.glob("concepts-*-run-*.json"):
        payload = json.loads(file.read_text(encoding="utf-8"))
        found.setdefault(float(payload["settings"]["scale"]), {})[float(payload["settings"]["concepts"])] = payload
    return dict(sorted(found[max(found)].items())) if found else {}


def growth_of(saved: Mapping[float, Mapping[str, Any]], figure: str) -> list[Growth]:
    """Return how a figure of every step grows, for steps that at least two scales have.

    Raises:
        InputError: fewer than two scales are saved.
    """
    if len(saved) < LEAST_SCALES:
        raise InputError(
            "growth needs results of several scales", file=RESULTS, found=f"{len(saved)}", do="give --scales A B C D"
        )
    found = []
    for step in (*STEPS, WHOLE):
        points = [(scale, value) for scale, one in saved.items() if (value := _value(one, step, figure)) is not None]
        if len(points) >= LEAST_SCALES:
            scales, values = zip(*points, strict=True)
            found.append(Growth(step, figure, scales, values))
    return found


def _value(payload: Mapping[str, Any], step: str, figure: str) -> float | None:
    # A stage with yardsticks may have the same name.
    stages = [one for one in payload["stages"] if (one["stage"], one["kind"]) == (step, "step")]
    return float(stages[0]["measures"][0][figure]) if stages else None


def growth_rows(found: Sequence[Growth], *, by_scale: bool = True) -> list[list[str]]:
    """Return one line a step: values at each scale, exponents, and (of scales) what follows for 1/1."""
    divide = 2**20 if found[0].figure == "peak_bytes" else 1
    return [
        [
            one.step,
            *(_figure(value / divide) for value in one.values),
            *_slopes(one),
            *([_figure(_full(one, found) / divide)] if by_scale else []),
        ]
        for one in found
    ]


def _full(one: Growth, found: Sequence[Growth]) -> float:
    """Return the value at 1/1; the whole run takes as long as all steps, and as much memory as the largest."""
    steps = [other.full for other in found if other.step != WHOLE]
    if one.step != WHOLE or not steps or one.scales[-1] == 1:
        return one.full
    return max(steps) if one.figure == "peak_bytes" else sum(steps)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def _slopes(one: Growth) -> tuple[str, str]:
    mark = " !" if one.figure != "peak_bytes" and max(one.fitted, one.last) > STEEP else ""
    return f"{one.fitted:.2f}", f"{one.last:.2f}{mark}"


def growth_columns(found: Sequence[Growth], *, by_scale: bool = True) -> tuple[str, ...]:
    """Return the names of the columns of ``growth_rows``."""
    scales = max((one.scales for one in found), key=len)
    last = ("at 1/1 *",) if by_scale else ()
    return ("step", *(f"{scale:,g}" for scale in scales), "exponent", "last two", *last)


def growth_table(title: str, found: Sequence[Growth]) -> Table:
    """Return the table of a figure for a terminal."""
    unit = ", MiB" if found[0].figure == "peak_bytes" else ""
    step, *numbers = growth_columns(found)
    return figures_table(f"{title}{unit}, by scale", [step], numbers, growth_rows(found))


def growth_markdown(saved: Mapping[float, Mapping[str, Any]], *, by_scale: bool = True) -> str:
    """Return the tables of all figures as Markdown, by scale or by concepts (in CPU seconds alone)."""
    parts, by = [], "scale" if by_scale else "concepts that notes can speak of"
    for figure, title in FIGURES.items():
        if figure == "seconds" and not by_scale:
            continue
        found = growth_of(saved, figure)
        unit = " in MiB" if figure == "peak_bytes" else ""
        parts.append(f"{title[0].upper()}{title[1:]}{unit}, by {by}:\n")
        columns, rows = growth_columns(found, by_scale=by_scale), growth_rows(found, by_scale=by_scale)
        parts.append(markdown_table(columns, rows))
    if by_scale:
        parts.append("\\* extrapolated, unless measured at 1/1.\n")
    return "\n".join(parts)


def draw(
    saved: Mapping[float, Mapping[str, Any]],
    path: Path,
    over: str = "scale (1 = the real releases)",
    time: str = "seconds",
) -> None:
    """Draw time and peak memory of every step over the scales, or over concepts, both axes logarithmic."""
    import matplotlib as mpl

    mpl.use("svg")
    # The same results give the same file.
    mpl.rcParams.update({"svg.hashsalt": "growth", "svg.fonttype": "none", "font.size": 8})
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    figure, axes = pyplot.subplots(1, 2, figsize=(9.5, 5.2), layout="constrained")
    for axis, name, divide, label in zip(
        axes, (time, "peak_bytes"), (1, 2**30), (FIGURES[time], "peak memory, GiB"), strict=True
    ):
        for place, one in enumerate(growth_of(saved, name)):
            style = {"color": "black", "linewidth": 2} if one.step == WHOLE else {"color": f"C{place}"}
            values = [value / divide for value in one.values]
            axis.plot(one.scales, values, marker="o", markersize=3, label=f"{one.step} ({one.fitted:.2f})", **style)
        axis.set(xscale="log", yscale="log", xlabel=over, ylabel=label)
        axis.set_xticks(list(saved), [f"{scale:,g}" for scale in saved])
        axis.xaxis.set_minor_locator(NullLocator())
        # Memory spans less than one power of ten: 0.2, 0.5, 1, 2 are marked, in plain numbers.
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if name == "peak_bytes" else (1,)))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:,g}"))
        axis.yaxis.set_minor_formatter(NullFormatter())
        axis.grid(visible=True, which="major", alpha=0.3)
        axis.legend(
            fontsize=7,
            title="step (fitted exponent)",
            title_fontsize=7,
            ncols=3,
            loc="upper center",
            bbox_to_anchor=(0.5, -0.13),
            frameon=False,
        )
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    note(f"drawn: {path}")


def _measure(scale: float, folder: Path | None, *, again: bool) -> None:
    """Measure the flow at a scale in a program of its own and save it; a folder keeps what is done if it is stopped."""
    command = [sys.executable, "-m", "benchmarks.run", "--scale", f"{scale:g}", "--save", "--stages"]
    if folder is not None:
        command += ["--folder", str(folder / f"{scale:g}")]
    if again:
        command.append("--again")
    code = subprocess.run(command, check=False).returncode
    if code:
        raise InputError("the flow could not be measured", found=f"scale {scale:g}: exit code {code}")


def whole(payload: Mapping[str, Any] | None) -> bool:
    """Tell whether a saved result has all steps of the flow."""
    return payload is not None and any(one["stage"] == WHOLE for one in payload["stages"])


def _arguments(values: list[str]) -> argparse.Namespace:
    options = parser("growth", __doc__ or "", "python -m benchmarks.growth --scales 0.003 0.01 0.03 0.1")
    options.add_argument("--scales", type=float, nargs="+", default=[], help="scales that are measured where not saved")
    options.add_argument("--again", action="store_true", help="measure them although they are saved")
    options.add_argument("--folder", type=Path, help="keep worlds and workspaces here, one folder a scale; go on there")
    return options.parse_args(values)


def main(values: list[str]) -> int:
    """Measure what is missing, print one table a figure, and draw."""
    arguments = _arguments(values)
    there = runs()
    for scale in sorted(arguments.scales):
        if arguments.again or not whole(there.get(scale)):
            _measure(scale, arguments.folder, again=arguments.again)
    saved = {scale: payload for scale, payload in runs().items() if whole(payload)}
    for figure, title in FIGURES.items():
        found = growth_of(saved, figure)
        console().print(growth_table(title, found))
    draw(saved, DRAWING)
    return 0


if __name__ == "__main__":
    run(main)
