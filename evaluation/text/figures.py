"""Pictures of a report on detectors or validators, drawn from its JSON: forest plots, confusion, errors, agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.drawing import COLOURS, GREY, MARKERS, error_bars, new_figure, panels, save, tidy, wrapped

__all__ = ["draw_all"]

MOST_RUNS = 9
HEADLINES = {
    "non_factual_f1": "F1 of non-factual statements",
    "macro_f1": "macro-F1 over risk levels",
}
SAFETY = {
    "unsafe_sensitivity": "sensitivity\n(unsafe found)",
    "unsafe_specificity": "specificity\n(safe left alone)",
    "unsafe_f1": "F1 (unsafe)",
    "safety_accuracy": "accuracy",
}
FACTUALITY = {
    "non_factual_precision": "precision,\nnon-factual",
    "non_factual_recall": "recall,\nnon-factual",
    "non_factual_f1": "F1,\nnon-factual",
    "factual_precision": "precision,\nfactual",
    "factual_recall": "recall,\nfactual",
    "factual_f1": "F1,\nfactual",
}

Run = Mapping[str, Any]
Report = Mapping[str, Any]
Estimate = Mapping[str, float | None]


def draw_all(report: Report, folder: Path) -> None:
    """Draw every picture that the report has numbers for."""
    runs = report["runs"][:MOST_RUNS]
    if runs:
        headline = report["rows"]["headline"]
        _forest(report, runs, headline, folder / "f1_by_task.png")
        _confusion(runs, report["rows"]["classes"], folder / "confusion.png")
        _columns(runs, SAFETY if report["kind"] == "medval" else FACTUALITY, folder / "overall.png")
        _lengths(report, runs, headline, folder / "f1_by_length.png")
        _errors(runs, folder / "errors_by_task.png")
    if report["experts"]:
        _agreement(report["experts"]["agreement"], folder / "agreement.png")
        tested = [one for one in report["experts"]["non_inferiority"] if one["difference"]]
        if tested:
            _non_inferiority(tested, folder / "non_inferiority.png")


def _style(at: int) -> dict[str, Any]:
    return {"marker": MARKERS[at % len(MARKERS)], "color": COLOURS[at % len(COLOURS)]}


def _rows_of(
    figure: Any, axes: Any, rows: Sequence[str], series: Sequence[tuple[str, Sequence[Estimate]]], *, percent: bool
) -> None:
    """Draw one horizontal line of points with intervals for each row, from the top; a colour and marker a series."""
    offsets = (np.arange(len(series)) - (len(series) - 1) / 2) * (0.7 / max(len(series), 1))
    for at, ((name, estimates), offset) in enumerate(zip(series, offsets, strict=True)):
        value, error = error_bars(estimates)
        if not percent:
            value, error = value / 100, error / 100
        place, style = np.arange(len(rows)) + offset, _style(at)
        axes.errorbar(value, place, xerr=error, fmt="none", ecolor=style["color"], elinewidth=1.2, capsize=2)
        axes.plot(value, place, linestyle="none", markersize=6, clip_on=False, label=wrapped(name), **style)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    for border in np.arange(len(rows) - 1) + 0.5:
        axes.axhline(border, color="#dddddd", linewidth=0.7)
    axes.tick_params(axis="y", length=0)
    tidy(axes, "x")
    if len(series) > 1:
        figure.legend(loc="outside right upper", frameon=False, fontsize=9)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _height(rows: int, series: int) -> float:
    return 1.4 + rows * (0.3 + 0.16 * series)


def _forest(report: Report, runs: Sequence[Run], headline: str, path: Path) -> None:
    """Draw the headline F1 of every task, and over all rows or all tasks, with intervals."""
    tasks = list(report["rows"]["by_task"])
    rows = [f"{task}\n({sum(report['rows']['by_task'][task]):,} rows)" for task in tasks]
    means = all("over_tasks" in run for run in runs)
    last = "mean over tasks" if means else f"all rows\n({report['rows']['rows']:,} rows)"
    series = [
        (
            run["name"],
            [
                *(run["by_task"][task][headline] for task in tasks),
                run["over_tasks"]["all"] if means else run["overall"][headline],
            ],
        )
        for run in runs
    ]
    figure = new_figure(8.6, _height(len(rows) + 1, len(runs)))
    axes = figure.subplots()
    _rows_of(figure, axes, [*rows, last], series, percent=True)
    axes.axhline(len(rows) - 0.5, color="black", linewidth=0.9)
    axes.set(xlim=(0, 100), xlabel="%", title=f"{_capital(HEADLINES[headline])} by task")
    save(figure, path)


def _columns(runs: Sequence[Run], metrics: Mapping[str, str], path: Path) -> None:
    series = [(run["name"], [run["overall"][name] for name in metrics]) for run in runs]
    figure = new_figure(8.6, _height(len(metrics), len(runs)))
    axes = figure.subplots()
    _rows_of(figure, axes, list(metrics.values()), series, percent=True)
    title = "Safe (levels 1 and 2) against unsafe (3 and 4)" if "unsafe_f1" in metrics else "Factuality"
    axes.set(xlim=(0, 100), xlabel="%", title=f"{title}, 95% intervals")
    save(figure, path)


def _lengths(report: Report, runs: Sequence[Run], headline: str, path: Path) -> None:
    parts = report["rows"]["by_length"]
    series = [(run["name"], [run["by_length"][name][headline] for name in parts]) for run in runs]
    figure = new_figure(8.6, _height(len(parts), len(runs)))
    axes = figure.subplots()
    _rows_of(figure, axes, [f"{name}\n({n:,} rows)" for name, n in parts.items()], series, percent=True)
    what = "the context" if report["kind"] == "medhal" else "input and output"
    axes.set(xlim=(0, 100), xlabel="%", title=f"{_capital(HEADLINES[headline])}, by length of {what}")
    save(figure, path)


def _confusion(runs: Sequence[Run], classes: Sequence[str], path: Path) -> None:
    """Draw answers against labels in percent of each label's rows, with the numbers of rows."""
    figure, grid = panels(len(runs), 3.4)
    for run, axes in zip(runs, grid, strict=True):
        counts = np.array(run["confusion"], dtype=np.float64)
        total = counts.sum(axis=1, keepdims=True)
        shares = np.divide(100 * counts, total, out=np.zeros_like(counts), where=total > 0)
        shown = shares.shape[1] if counts[:, -1].any() else shares.shape[1] - 1
        axes.imshow(shares[:, :shown], cmap="Blues", vmin=0, vmax=100, aspect="auto")
        for (row, column), share in np.ndenumerate(shares[:, :shown]):
            words = f"{share:.0f}%\n{int(counts[row, column]):,}"
            axes.text(
                column, row, words, ha="center", va="center", fontsize=9, color="white" if share > 55 else "black"
            )
        short = [name.removeprefix("level ") for name in classes]
        axes.set_xticks(range(shown), [*short, "none"][:shown])
        axes.set_yticks(range(len(short)), short, rotation=0 if len(short[0]) < 3 else 90, va="center")
        axes.set_title(wrapped(run["name"]), fontsize=10)
        axes.tick_params(length=0)
    levels = classes[0].startswith("level ")
    figure.supxlabel("answered risk level" if levels else "answer")
    figure.supylabel("risk level" if levels else "label")
    figure.suptitle("Answers in % of the rows of each label")
    save(figure, path)


def _errors(runs: Sequence[Run], path: Path) -> None:
    """Draw each run's errors by task as shares that add up to 1, below the shares of the rows."""
    tasks = list(runs[0]["errors_by_task"])
    rows = [("all rows", [_share_of(runs[0], task, "share_of_rows") for task in tasks])]
    rows += [(f"errors of {run['name']}", [_share_of(run, task, "share_of_errors") for task in tasks]) for run in runs]
    figure = new_figure(8.6, 1.6 + 0.42 * len(rows))
    axes = figure.subplots()
    left = np.zeros(len(rows))
    for at, task in enumerate(tasks):
        width = 100 * np.array([values[at] for _, values in rows])
        axes.barh(range(len(rows)), width, left=left, color=COLOURS[at % len(COLOURS)], label=task, height=0.68)
        for place, (begin, part) in enumerate(zip(left, width, strict=True)):
            if part >= 7:
                axes.text(begin + part / 2, place, f"{part:.0f}", ha="center", va="center", color="white", fontsize=9)
        left = left + width
    axes.set_yticks(range(len(rows)), [wrapped(name) for name, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set(xlim=(0, 100), xlabel="% of the errors (first bar: of the rows)", title="Where the errors lie")
    axes.tick_params(axis="y", length=0)
    tidy(axes, None)
    figure.legend(loc="outside right upper", frameon=False, fontsize=9)
    save(figure, path)


def _share_of(run: Run, task: str, name: str) -> float:
    """Return a share of rows or of errors; 0 where there is no error."""
    found = run["errors_by_task"][task][name]
    value = found["value"] if isinstance(found, Mapping) else found
    return float(value or 0)


def _agreement(agreement: Mapping[str, Any], path: Path) -> None:
    tasks = list(agreement["four_levels"]["by_task"])
    rows = [f"{task}\n({agreement['four_levels']['by_task'][task]['items']:,} items)" for task in tasks]
    series = [
        (title, [*(agreement[name]["by_task"][task] for task in tasks), agreement[name]["overall"]])
        for name, title in (("four_levels", "four levels"), ("safe_unsafe", "safe or unsafe"))
    ]
    figure = new_figure(8.6, _height(len(rows) + 1, 2))
    axes = figure.subplots()
    _rows_of(
        figure, axes, [*rows, f"all\n({agreement['four_levels']['overall']['items']:,} items)"], series, percent=False
    )
    axes.axvline(0.8, color=GREY, linestyle=":", linewidth=1)
    lowest = min((one["low"] for _, values in series for one in values if one["low"] is not None), default=0.0)
    axes.set(
        xlim=(min(0.0, np.floor(lowest * 10) / 10), 1.0),
        xlabel="Krippendorff's alpha (dotted: 0.8, from which on agreement is called reliable)",
        title="Agreement of the experts, 95% intervals",
    )
    save(figure, path)


def _non_inferiority(tested: Sequence[Mapping[str, Any]], path: Path) -> None:
    figure = new_figure(8.6, _height(len(tested), 1) + 0.5)
    axes = figure.subplots()
    series = [("", [one["difference"] for one in tested])]
    _rows_of(figure, axes, [wrapped(one["name"]) for one in tested], series, percent=True)
    bounds = [100 * one["lower_bound"] for one in tested]
    axes.plot(bounds, range(len(tested)), linestyle="none", marker="|", markersize=14, color="black", clip_on=False)
    margin = 100 * tested[0]["margin"]
    axes.axvline(0, color=GREY, linewidth=1)
    axes.axvline(margin, color=COLOURS[1], linestyle="--", linewidth=1.2)
    axes.set(
        xlabel=f"macro-F1 of the model minus one expert's, in points (dashed: margin {margin:g}; bar: lower bound)",
        title="Not worse than one expert? Right of the dashed line: yes",
    )
    save(figure, path)
