"""Pictures of a report on detectors or validators, drawn from its JSON: forest plots, confusion, errors, agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.drawing import COLOURS, GREY, confusion, dots, error_bars, picture, style_of, wrapped

__all__ = ["draw_all"]

MOST_RUNS = 9
HEADLINES = {
    "non_factual_f1": "F1 of non-factual statements",
    "macro_f1": "Macro-F1 over risk levels",
}
SAFETY = {
    "unsafe_sensitivity": "sensitivity\n(unsafe found)",
    "unsafe_specificity": "specificity\n(safe left alone)",
    "unsafe_f1": "F1 (unsafe)",
    "safety_accuracy": "accuracy",
}
FACTUALITY = {
    f"{name.replace('-', '_')}_{rate}": f"{word},\n{name}"
    for name in ("non-factual", "factual")
    for rate, word in (("precision", "precision"), ("recall", "recall"), ("f1", "F1"))
}

Run = Mapping[str, Any]
Report = Mapping[str, Any]
Estimate = Mapping[str, float | None]


def draw_all(report: Report, folder: Path) -> None:
    """Draw every picture that the report has numbers for."""
    if runs := report["runs"][:MOST_RUNS]:
        detectors, classes = report["kind"] == "medhal", report["rows"]["classes"]
        _by_task(report, runs, folder / "f1_by_task.png")
        tables = [(wrapped(run["name"]), run["confusion"]) for run in runs]
        words = ("answer", "label") if detectors else ("answered risk level", "risk level")
        short = [name.removeprefix("level ") for name in classes]
        confusion(folder / "confusion.png", tables, short, counts=True, words=words)
        names = FACTUALITY if detectors else SAFETY
        title = "Factuality" if detectors else "Safe (levels 1 and 2) against unsafe (3 and 4)"
        overall = [[run["overall"][name] for name in names] for run in runs]
        _forest(folder / "overall.png", list(names.values()), runs, overall, title=f"{title}, 95% intervals")
        _by_length(report, runs, folder / "f1_by_length.png")
        _errors(runs, folder / "errors_by_task.png")
    if report["experts"]:
        _agreement(report["experts"]["agreement"], folder / "agreement.png")
        if tested := [one for one in report["experts"]["non_inferiority"] if one["difference"]]:
            _non_inferiority(tested, folder / "non_inferiority.png")


def _height(rows: int, series: int) -> float:
    return 1.4 + rows * (0.3 + 0.16 * series)


def _forest(
    path: Path, rows: Sequence[str], runs: Sequence[Run], estimates: Sequence[Sequence[Estimate]], **settings: Any
) -> None:
    """Draw one horizontal line of points with intervals for each row, from the top; a colour and marker a run."""
    alone = len(runs) == 1
    series = [
        (None if alone else wrapped(run["name"]), *error_bars(values), style_of(at))
        for at, (run, values) in enumerate(zip(runs, estimates, strict=True))
    ]
    last = settings.pop("line_before", None)
    with picture(path, 8.6, _height(len(rows), len(runs)), grid="x", xlim=(0, 100), xlabel="%", **settings) as axes:
        dots(axes, rows, series, across=True)
        if last is not None:
            axes.axhline(last - 0.5, color="black", linewidth=0.9)


def _by_task(report: Report, runs: Sequence[Run], path: Path) -> None:
    """Draw the headline F1 of every task, and over all rows or all tasks, with intervals."""
    tasks, headline = report["rows"]["by_task"], report["rows"]["headline"]
    rows = [f"{task}\n({sum(counts):,} rows)" for task, counts in tasks.items()]
    means = report["kind"] == "medval"
    last = "mean over tasks" if means else f"all rows\n({report['rows']['rows']:,} rows)"
    values = [
        [
            *(run["by_task"][task][headline] for task in tasks),
            run["over_tasks"]["all"] if means else run["overall"][headline],
        ]
        for run in runs
    ]
    _forest(path, [*rows, last], runs, values, title=f"{HEADLINES[headline]} by task", line_before=len(rows))


def _by_length(report: Report, runs: Sequence[Run], path: Path) -> None:
    parts, headline = report["rows"]["by_length"], report["rows"]["headline"]
    what = "the context" if report["kind"] == "medhal" else "input and output"
    values = [[run["by_length"][name][headline] for name in parts] for run in runs]
    rows = [f"{name}\n({n:,} rows)" for name, n in parts.items()]
    _forest(path, rows, runs, values, title=f"{HEADLINES[headline]}, by length of {what}")


def _errors(runs: Sequence[Run], path: Path) -> None:
    """Draw each run's errors by task as shares that add up to 1, below the shares of the rows."""
    tasks = list(runs[0]["errors_by_task"])
    # Where there is no error, there is no share of them.
    shares = [[run["errors_by_task"][task]["share_of_errors"]["value"] or 0 for task in tasks] for run in runs]
    shares.insert(0, [runs[0]["errors_by_task"][task]["share_of_rows"] for task in tasks])
    names, n = ["all rows", *(wrapped(f"errors of {run['name']}") for run in runs)], len(shares)
    words = {"xlabel": "% of the errors (first bar: of the rows)", "title": "Where the errors lie"}
    with picture(path, 8.6, 1.6 + 0.42 * n, grid=None, xlim=(0, 100), ylim=(n - 0.5, -0.5), **words) as axes:
        left = np.zeros(n)
        for at, (task, width) in enumerate(zip(tasks, 100 * np.array(shares, dtype=np.float64).T, strict=True)):
            axes.barh(range(n), width, left=left, color=COLOURS[at % len(COLOURS)], label=task, height=0.68)
            for place, (begin, part) in enumerate(zip(left, width, strict=True)):
                if part >= 7:
                    style = {"ha": "center", "va": "center", "color": "white", "fontsize": 9}
                    axes.text(begin + part / 2, place, f"{part:.0f}", **style)
            left = left + width
        axes.set_yticks(range(n), names)
        axes.tick_params(axis="y", length=0)


def _agreement(agreement: Mapping[str, Any], path: Path) -> None:
    four = agreement["four_levels"]
    parts = [*four["by_task"].items(), ("all", four["overall"])]
    rows = [f"{task}\n({one['items']:,} items)" for task, one in parts]
    series, lowest = [], 0.0
    for at, (name, title) in enumerate((("four_levels", "four levels"), ("safe_unsafe", "safe or unsafe"))):
        values = [*agreement[name]["by_task"].values(), agreement[name]["overall"]]
        value, error = error_bars(values)
        series.append((title, value / 100, error / 100, style_of(at)))
        lowest = min([lowest, *(one["low"] for one in values if one["low"] is not None)])
    words = {
        "xlabel": "Krippendorff's alpha (dotted: 0.8, from which on agreement is called reliable)",
        "title": "Agreement of the experts, 95% intervals",
        "xlim": (np.floor(lowest * 10) / 10, 1.0),
    }
    with picture(path, 8.6, _height(len(rows), 2), grid="x", **words) as axes:
        dots(axes, rows, series, across=True)
        axes.axvline(0.8, color=GREY, linestyle=":", linewidth=1)


def _non_inferiority(tested: Sequence[Mapping[str, Any]], path: Path) -> None:
    margin, n = 100 * tested[0]["margin"], len(tested)
    words = {
        "xlabel": f"macro-F1 of the model minus one expert's, in points (dashed: margin {margin:g}; bar: lower bound)",
        "title": "Not worse than one expert? Right of the dashed line: yes",
    }
    with picture(path, 8.6, _height(n, 1) + 0.5, grid="x", **words) as axes:
        value, error = error_bars([one["difference"] for one in tested])
        dots(axes, [wrapped(one["name"]) for one in tested], [(None, value, error, style_of(0))], across=True)
        bounds = [100 * one["lower_bound"] for one in tested]
        axes.plot(bounds, range(n), linestyle="none", marker="|", markersize=14, color="black", clip_on=False)
        axes.axvline(0, color=GREY, linewidth=1)
        axes.axvline(margin, color=COLOURS[1], linestyle="--", linewidth=1.2)
