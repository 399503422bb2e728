"""How time and memory grow: the results of several scales, a fitted exponent for each step, and a drawing.

``python -m benchmarks.growth --scales 0.003 0.01 0.03 0.1`` measures the flow at each scale that has no saved result
yet, then fits and draws; without ``--scales`` it reads what is saved. The exponent is the slope of a line through the
logarithms. A step with a fixed part, such as starting or compiling, shows a smaller one at small scales, so the slope
between the two largest scales is given too.
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

from benchmarks.command import parser, run
from benchmarks.flow import STEPS
from benchmarks.measuring import RESULTS
from ground import ROOT
from ground.errors import InputError
from ground.markdown import markdown_table
from ontoground.cli.render import console, note, table

__all__ = ["DRAWING", "LEAST_SCALES", "Growth", "draw", "exponent", "growth_markdown", "growth_of", "main", "runs"]

DRAWING = ROOT / "docs" / "growth.svg"
STEEP = 1.1
LEAST_SCALES = 2
FIGURES = {"seconds": "seconds", "cpu_seconds": "CPU seconds", "peak_bytes": "peak memory, MiB"}
MIB = 2**20
WHOLE = "whole run"


@dataclass(frozen=True)
class Growth:
    """One figure of one step over the scales.

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
    def cells(self) -> list[str]:
        """The line of a table: values at each scale, then both exponents, a steep one with a mark."""
        divide = MIB if self.figure == "peak_bytes" else 1
        steep = self.figure != "peak_bytes" and max(self.fitted, self.last) > STEEP
        exponents = [f"{self.fitted:.2f}", f"{self.last:.2f}{' !' if steep else ''}"]
        return [self.step, *(_figure(value / divide) for value in self.values), *exponents]


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def exponent(scales: Sequence[float], values: Sequence[float]) -> float:
    """Return b of the best fit value = a * scale ** b in logarithms; 0 where all values are 0."""
    known = [(scale, value) for scale, value in zip(scales, values, strict=True) if value > 0]
    if len(known) < LEAST_SCALES:
        return 0.0
    logs = np.log(np.array(known))
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def runs(folder: Path = RESULTS) -> dict[float, dict[str, Any]]:
    """Return scale -> saved result of ``benchmarks.run``, in increasing order of scale."""
    payloads = [json.loads(file.read_text(encoding="utf-8")) for file in folder.glob("run-*.json")]
    return {payload["settings"]["scale"]: payload for payload in sorted(payloads, key=_scale)}


def _scale(payload: Mapping[str, Any]) -> float:
    return float(payload["settings"]["scale"])


def growth_of(saved: Mapping[float, Mapping[str, Any]], figure: str) -> list[Growth]:
    """Return how a figure of every step grows, for steps that at least two scales have.

    Raises:
        InputError: fewer than two scales are saved.
    """
    if len(saved) < LEAST_SCALES:
        raise InputError(
            "growth needs results of several scales", file=RESULTS, found=f"{len(saved)}", do="give --scales A B C D"
        )
    growths = []
    for step in (*STEPS, WHOLE):
        points = [
            (scale, value) for scale, payload in saved.items() if (value := _value(payload, step, figure)) is not None
        ]
        if len(points) >= LEAST_SCALES:
            scales, values = zip(*points, strict=True)
            growths.append(Growth(step, figure, scales, values))
    return growths


def _value(payload: Mapping[str, Any], step: str, figure: str) -> float | None:
    # A stage with yardsticks may have the same name.
    stages = [stage for stage in payload["stages"] if (stage["stage"], stage["kind"]) == (step, "step")]
    return float(stages[0]["measures"][0][figure]) if stages else None


def _columns(growths: Sequence[Growth]) -> tuple[str, ...]:
    scales = max((growth.scales for growth in growths), key=len)
    return ("step", *(f"{scale:,g}" for scale in scales), "exponent", "last two")


def growth_markdown(saved: Mapping[float, Mapping[str, Any]]) -> str:
    """Return the tables of CPU seconds and of peak memory as Markdown."""
    parts = []
    for figure in ("cpu_seconds", "peak_bytes"):
        growths = growth_of(saved, figure)
        parts.append(f"{FIGURES[figure][0].upper()}{FIGURES[figure][1:]}, by scale:\n")
        parts.append(markdown_table(_columns(growths), [growth.cells for growth in growths]))
    return "\n".join(parts)


def draw(saved: Mapping[float, Mapping[str, Any]], path: Path) -> None:
    """Draw time and peak memory of every step over the scales, both axes logarithmic."""
    import matplotlib as mpl

    mpl.use("svg")
    # The same results give the same file.
    mpl.rcParams.update({"svg.hashsalt": "growth", "svg.fonttype": "none", "font.size": 8})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9.5, 5.2), layout="constrained")
    for axis, name in zip(axes, ("seconds", "peak_bytes"), strict=True):
        _draw_axis(axis, growth_of(saved, name), list(saved), FIGURES[name])
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    note(f"drawn: {path}")


def _draw_axis(axis: Any, growths: Sequence[Growth], scales: Sequence[float], label: str) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    memory = growths[0].figure == "peak_bytes"
    for place, growth in enumerate(growths):
        style = {"color": "black", "linewidth": 2} if growth.step == WHOLE else {"color": f"C{place}"}
        values = [value / (MIB if memory else 1) for value in growth.values]
        axis.plot(
            growth.scales, values, marker="o", markersize=3, label=f"{growth.step} ({growth.fitted:.2f})", **style
        )
    axis.set(xscale="log", yscale="log", xlabel="scale (1 = the real releases)", ylabel=label)
    axis.set_xticks(scales, [f"{scale:,g}" for scale in scales])
    axis.xaxis.set_minor_locator(NullLocator())
    # Memory spans less than one power of ten: 1, 2 and 5 times each are marked.
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if memory else (1,)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:,g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.grid(visible=True, which="major", alpha=0.3)
    legend = {"fontsize": 7, "title": "step (fitted exponent)", "title_fontsize": 7, "ncols": 3, "frameon": False}
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), **legend)


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


def _is_whole(payload: Mapping[str, Any] | None) -> bool:
    """Tell whether a saved result has all steps of the flow."""
    return payload is not None and any(stage["stage"] == WHOLE for stage in payload["stages"])


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
        if arguments.again or not _is_whole(there.get(scale)):
            _measure(scale, arguments.folder, again=arguments.again)
    saved = {scale: payload for scale, payload in runs().items() if _is_whole(payload)}
    for figure, title in FIGURES.items():
        growths = growth_of(saved, figure)
        lines = [growth.cells for growth in growths]
        console().print(table(_columns(growths), lines, title=f"{title}, by scale"))
    draw(saved, DRAWING)
    return 0


if __name__ == "__main__":
    run(main)
