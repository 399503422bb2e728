"""Pictures of a report, drawn from its JSON; every model or run has a colour and a marker of its own.

Of quadrants F1, risk, lambda, learning curves, confusion and calibration; of detectors and validators forest plots,
confusion, errors and agreement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from evaluation.drawing import Series, confusion, error_bars, forest, panels, style_of, titled, wrapped
from evaluation.paper import paper_results
from ground.contracts.rows import QUADRANTS
from ground.pictures import COLOURS, GREY, picture, save, tidy

__all__ = ["draw_quadrants", "draw_texts"]

MOST_PANELS = 9
# A bin with fewer rows than this is drawn faint, and no line leads to it.
FEW_ROWS = 10
# A model above this in HSR or TIR takes nearly everything for Q1; the others are to be told apart, so it is left out.
FAR = 0.7
# The axes of the risk picture reach this far at least, in percent.
FRAME = 30.0
MEANING = {"Q1": "true, supported", "Q2": "true, unsupported", "Q3": "false, supported", "Q4": "false, unsupported"}
HEADLINES = {"non_factual_f1": "F1 of non-factual statements", "macro_f1": "Macro-F1 over risk levels"}
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

Model = Mapping[str, Any]
Report = Mapping[str, Any]
Losses = Mapping[str, Sequence[Mapping[str, Any]]]


def draw_quadrants(report: Report, losses: Losses, folder: Path) -> None:
    """Draw every picture that the report has numbers for; ``losses`` as `learning_figure` takes them."""
    for draw, name in ((f1_figure, "f1_by_quadrant"), (risk_figure, "risk"), (confusion_figure, "confusion")):
        draw(report["models"], folder / f"{name}.png")
    calibration_figure(report["models"], folder / "calibration.png")
    if report["lambda"]:
        lambda_figure(report["lambda"], folder / "lambda.png")
    if losses:
        learning_figure(losses, folder / "learning.png")


def draw_texts(report: Report, folder: Path) -> None:
    """Draw every picture that the report has numbers for."""
    if runs := report["runs"][:MOST_PANELS]:
        detectors, classes = report["kind"] == "medhal", report["rows"]["classes"]
        _by_task(report, runs, folder / "f1_by_task.png")
        tables = [(wrapped(run["name"]), run["confusion"]) for run in runs]
        words = ("answer", "label") if detectors else ("answered risk level", "risk level")
        short = [name.removeprefix("level ") for name in classes]
        confusion(folder / "confusion.png", tables, short, counts=True, words=words)
        names = FACTUALITY if detectors else SAFETY
        title = "Factuality" if detectors else "Safe (levels 1 and 2) against unsafe (3 and 4)"
        overall = _series(runs, [[run["overall"][name] for name in names] for run in runs])
        forest(folder / "overall.png", list(names.values()), overall, title=title)
        _by_length(report, runs, folder / "f1_by_length.png")
        _errors(runs, folder / "errors_by_task.png")
        _lengths(report["rows"]["bins"], runs, folder / "lengths_of_errors.png")
    if report["error_categories"]:
        _categories(report["error_categories"], report["rows"]["classes"], folder / "error_categories.png")
    if report["scores"]:
        _correlations(report["scores"], folder / "scores.png")
    if report["experts"]:
        _agreement(report["experts"]["agreement"], folder / "agreement.png")
        if tested := [run for run in report["experts"]["non_inferiority"] if run["difference"]]:
            _non_inferiority(tested, folder / "non_inferiority.png")


def _labels(models: Sequence[Model]) -> list[str]:
    """Return names without their folder or organisation where they stay distinct, in short lines."""
    short = []
    for model in models:
        name, plus, method = model["name"].partition(" + ")
        short.append(name.rstrip("/").rpartition("/")[2] + plus + method)
    names = short if len(set(short)) == len(short) else [model["name"] for model in models]
    return [wrapped(name) for name in names]


def _styles(models: Sequence[Model]) -> list[dict[str, Any]]:
    """Return marker and colour of each model; baselines, which come last, are grey and hollow."""
    own = sum(model["kind"] != "baseline" for model in models)
    hollow = {"color": GREY, "markerfacecolor": "white"}
    return [style_of(at) if at < own else style_of(at - own) | hollow for at in range(len(models))]


def _series(models: Sequence[Model], values: Sequence[Sequence[Mapping[str, float | None]]]) -> list[Series]:
    """Return what `forest` draws of each model, which is named also where it is alone."""
    bars = map(error_bars, values)
    return [(label, *bar, style) for label, bar, style in zip(_labels(models), bars, _styles(models), strict=True)]


def f1_figure(models: Sequence[Model], path: Path) -> None:
    """Draw F1 of every quadrant."""
    values = [[model["metrics"][f"f1_{quadrant.lower()}"] for quadrant in QUADRANTS] for model in models]
    rows = [f"{quadrant}\n({meaning})" for quadrant, meaning in MEANING.items()]
    forest(path, rows, _series(models, values), title="F1 by quadrant")


def _is_far(model: Model) -> bool:
    return model["kind"] == "baseline" and any((model["metrics"][name]["value"] or 0) > FAR for name in ("hsr", "tir"))


def risk_figure(models: Sequence[Model], path: Path) -> None:
    """Draw hallucinated support against truth inversion; the paper's models faintly, if it measured one of these."""
    names = {"xlabel": "TIR: Q3 taken for Q1 (%)", "ylabel": "HSR: Q2 taken for Q1 (%)"}
    errors = (error_bars([model["metrics"][name]])[1] for model in models for name in ("tir", "hsr"))
    title = titled("Critical errors: the lower left is safest", *errors)
    with picture(path, 8.2, 5.6, grid="both", title=title, **names) as axes:
        paper = np.array([(row["metrics"]["tir"], row["metrics"]["hsr"]) for row in paper_results()]) * 100
        highest = FRAME
        if any(model.get("paper") for model in models):
            style = {"marker": ".", "color": "#c0c0c0", "label": "the paper's models\n(on its own data)"}
            axes.plot(*paper.T, linestyle="none", **style)
            highest = paper.max()
        for model, label, style in zip(models, _labels(models), _styles(models), strict=True):
            x, x_error = error_bars([model["metrics"]["tir"]])
            y, y_error = error_bars([model["metrics"]["hsr"]])
            if _is_far(model):
                outside = f"{label}\n(outside: TIR {x[0]:.0f}, HSR {y[0]:.0f})"
                axes.plot([], [], linestyle="none", markersize=8, label=outside, **style)
                continue
            highest = np.nanmax([highest, *(x + np.nan_to_num(x_error[1])), *(y + np.nan_to_num(y_error[1]))])
            axes.errorbar(x, y, y_error, x_error, fmt="none", ecolor=style["color"], elinewidth=1, alpha=0.6)
            axes.plot(x, y, linestyle="none", markersize=8, label=label, clip_on=False, zorder=3, **style)
        limits = (-1, min(101, 5 * np.ceil(highest / 5) + 1))
        axes.set(xlim=limits, ylim=limits)
        axes.set_aspect("equal", anchor="NW")


def lambda_figure(points: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw macro-F1, HSR and TIR over CoRFu's lambda (the paper's figure 6), a panel for each backbone and regime.

    Bars are 95% intervals, where the metrics have some.

    Args:
        points: ``series``, ``lambda`` and ``metrics`` of each model, by series and lambda; lambda 0 is DPO.
        path: of the PNG file.
    """
    by_series = {name: list(part) for name, part in groupby(points, key=lambda point: point["series"])}
    figure, grid = panels(len(by_series), 3.6)
    for axes, (series, part) in zip(grid, by_series.items(), strict=True):
        lambdas = [point["lambda"] for point in part]
        for at, (name, label) in enumerate({"f1": "macro-F1", "hsr": "HSR", "tir": "TIR"}.items()):
            value, error = error_bars([point["metrics"][name] for point in part])
            lines = {"capsize": 3, "linewidth": 1.6, "elinewidth": 1, "clip_on": False}
            axes.errorbar(lambdas, value, error, label=label, **lines, **style_of(at))
        axes.set_xticks(lambdas, ["0 (DPO)" if tick == 0 else f"{tick:g}" for tick in lambdas])
        axes.set(ylim=(0, 100), xlabel="lambda", ylabel="%")
        axes.set_title(wrapped(series), fontsize=9)
        tidy(axes)
    figure.legend(*grid[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    save(figure, path)


def learning_figure(losses: Losses, path: Path) -> None:
    """Draw the loss over steps: faint as recorded, strong as a running mean.

    Args:
        losses: for each run its records, with ``step`` and ``loss``.
        path: of the PNG file.
    """
    words = {"xlabel": "optimizer step", "ylabel": "loss", "title": "Learning curves"}
    with picture(path, 7.6, 4.4, **words) as axes:
        for at, (name, records) in enumerate(losses.items()):
            steps, values = (pl.Series([step[key] for step in records], dtype=pl.Float64) for key in ("step", "loss"))
            colour = style_of(at)["color"]
            axes.plot(steps, values, color=colour, alpha=0.25, linewidth=0.8)
            # Over a twentieth of the run.
            mean = values.rolling_mean(max(1, len(values) // 20), min_samples=1)
            axes.plot(steps, mean, color=colour, linewidth=1.8, label=wrapped(name))
        axes.set_ylim(bottom=0)
        axes.locator_params(axis="x", integer=True)


def _telling(models: Sequence[Model]) -> list[Model]:
    """Leave out baselines that give one answer to everything, then all beyond nine models."""
    answers = [np.count_nonzero(np.sum(model["confusion"], axis=0)) for model in models]
    kept = [model for model, n in zip(models, answers, strict=True) if model["kind"] == "model" or n > 1]
    return (kept or list(models))[:MOST_PANELS]


def confusion_figure(models: Sequence[Model], path: Path) -> None:
    """Draw answers against labels, in percent of each quadrant's rows (nine models at most)."""
    telling = _telling(models)
    tables = [(label, model["confusion"]) for label, model in zip(_labels(telling), telling, strict=True)]
    confusion(path, tables, QUADRANTS)


def calibration_figure(models: Sequence[Model], path: Path) -> None:
    """Draw how often a model is right against how sure it is, where any gave scores.

    The area of a dot is the share of the model's rows; bins with few rows are faint.
    """
    telling = _telling([model for model in models if model["calibration"]])
    if not telling:
        return
    figure, grid = panels(len(telling), 3.1)
    for model, label, axes in zip(telling, _labels(telling), grid, strict=True):
        bins = model["calibration"]
        rows, x, y = (
            np.array([group[name] for group in bins], dtype=np.float64)
            for name in ("rows", "mean_confidence", "share_right")
        )
        x, y, many = x * 100, y * 100, rows >= FEW_ROWS
        axes.plot([0, 100], [0, 100], color=GREY, linestyle=":", linewidth=1)
        axes.plot(x[many], y[many], color=COLOURS[0], linewidth=1)
        alpha = np.where(many, 0.8, 0.25)
        axes.scatter(x, y, s=14 + 220 * rows / rows.sum(), color=COLOURS[0], alpha=alpha, zorder=3, clip_on=False)
        axes.set_title(f"{label}\nECE {100 * model['metrics']['ece']['value']:.1f}%", fontsize=10)
        axes.set(xlim=(0, 102), ylim=(0, 102))
        tidy(axes, "both")
    figure.supxlabel("mean probability of the answer (%)")
    figure.supylabel("right answers (%)")
    figure.suptitle(f"Calibration (faint: fewer than {FEW_ROWS} rows; on the dotted line: as right as sure)")
    save(figure, path)


def _by_task(report: Report, runs: Sequence[Model], path: Path) -> None:
    """Draw the headline F1 of every task, and over all rows or all tasks, with intervals."""
    tasks, headline = report["rows"]["by_task"], report["rows"]["headline"]
    rows = [f"{task}\n({sum(counts):,} rows)" for task, counts in tasks.items()]
    means = report["kind"] == "medval"
    last = "mean over tasks" if means else f"all rows\n({report['rows']['rows']:,} rows)"
    overall = [run["over_tasks"]["all"] if means else run["overall"][headline] for run in runs]
    parts = [[run["by_task"][task][headline] for task in tasks] for run in runs]
    series = _series(runs, [[*own, whole] for own, whole in zip(parts, overall, strict=True)])

    def mark(axes: Any) -> None:
        axes.axhline(len(rows) - 0.5, color="black", linewidth=0.9)

    forest(path, [*rows, last], series, mark, title=f"{HEADLINES[headline]} by task")


def _by_length(report: Report, runs: Sequence[Model], path: Path) -> None:
    parts, headline = report["rows"]["by_length"], report["rows"]["headline"]
    what = "the context" if report["kind"] == "medhal" else "input and output"
    series = _series(runs, [[run["by_length"][name][headline] for name in parts] for run in runs])
    rows = [f"{name}\n({n:,} rows)" for name, n in parts.items()]
    forest(path, rows, series, title=f"{HEADLINES[headline]}, by length of {what}")


def _errors(runs: Sequence[Model], path: Path) -> None:
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


def _lengths(bins: Mapping[str, Sequence[float]], runs: Sequence[Model], path: Path) -> None:
    """Draw how the lengths of wrongly answered rows are spread, beside those of all rows (MedHal, figure 9)."""
    edges = np.array([0.5, *bins["edges"][1:]])
    words = {"xlabel": "words of what was read (logarithmic; the first bin: none)", "ylabel": "% of the rows"}
    with picture(path, 8.6, 4.2, xscale="log", title="Lengths of the rows that were answered wrongly", **words) as axes:
        counts = np.array(bins["rows"], dtype=np.float64)
        axes.stairs(100 * counts / counts.sum(), edges, fill=True, color="#dddddd", label="all rows")
        for at, run in enumerate(runs):
            wrong = np.array(run["errors_by_bin"], dtype=np.float64)
            if wrong.any():
                label = wrapped(f"errors of {run['name']}")
                axes.stairs(100 * wrong / wrong.sum(), edges, color=style_of(at)["color"], label=label, linewidth=1.6)


def _categories(named: Mapping[str, Mapping[str, Sequence[int]]], classes: Sequence[str], path: Path) -> None:
    """Draw errors of each category, stacked by risk level (MedVAL, figure S6): of the rows, then of runs."""
    shown = list(named.items())[:MOST_PANELS]
    names = list(dict.fromkeys(name for _, own in shown for name in own))
    figure, grid = panels(len(shown), 3.6)
    for axes, (source, own) in zip(grid, shown, strict=True):
        counts = np.array([own.get(name, [0] * len(classes)) for name in names])
        left = np.zeros(len(names))
        for at, level in enumerate(classes):
            axes.barh(range(len(names)), counts[:, at], left=left, color=COLOURS[at], label=level)
            left = left + counts[:, at]
        axes.set_yticks(range(len(names)), [name.replace("_", " ") for name in names], fontsize=8)
        axes.set_title("labels of the rows" if source == "labels" else wrapped(source), fontsize=9)
        axes.set(ylim=(len(names) - 0.5, -0.5), xlabel="errors")
        axes.locator_params(axis="x", integer=True, nbins=5)
        tidy(axes, "x")
    figure.legend(*grid[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    save(figure, path)


def _correlations(scores: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw the correlation of each score with the labels (MedVAL, figure S7)."""
    series = []
    for at, (name, title) in enumerate((("pearson", "Pearson's r"), ("spearman", "Spearman's rho"))):
        value, error = error_bars([score[name] for score in scores])
        series.append((title, value / 100, error / 100, style_of(at)))
    words: dict[str, Any] = {"title": "Scores against the labels", "xlabel": "correlation", "xlim": (-1, 1)}
    rows = [f"{wrapped(score['name'])}\n({score['n']:,} rows)" for score in scores]
    forest(path, rows, series, lambda axes: axes.axvline(0, color=GREY, linewidth=1), **words)


def _agreement(agreement: Mapping[str, Any], path: Path) -> None:
    series, lowest = [], 0.0
    for at, (name, title) in enumerate((("four_levels", "four levels"), ("safe_unsafe", "safe or unsafe"))):
        parts = agreement[name]["by_task"] | {"all": agreement[name]["overall"]}
        value, error = error_bars(list(parts.values()))
        series.append((title, value / 100, error / 100, style_of(at)))
        lowest = min([lowest, *(part["low"] for part in parts.values() if part["low"] is not None)])
    words: dict[str, Any] = {
        "xlabel": "Krippendorff's alpha (dotted: 0.8, from which on agreement is called reliable)",
        "title": "Agreement of the experts",
        "xlim": (np.floor(lowest * 10) / 10, 1.0),
    }
    rows = [f"{task}\n({part['items']:,} items)" for task, part in parts.items()]
    forest(path, rows, series, lambda axes: axes.axvline(0.8, color=GREY, linestyle=":", linewidth=1), **words)


def _non_inferiority(tested: Sequence[Mapping[str, Any]], path: Path) -> None:
    margin = 100 * tested[0]["margin"]
    words: dict[str, Any] = {
        "xlabel": f"macro-F1 of the model minus one expert's, in points (dashed: margin {margin:g}; bar: lower bound)",
        "title": "Black bar right of the dashed line: not worse than one expert",
        "xlim": None,
    }
    bars = error_bars([run["difference"] for run in tested])
    bounds = [100 * run["lower_bound"] for run in tested]

    def mark(axes: Any) -> None:
        axes.plot(bounds, range(len(tested)), linestyle="none", marker="|", markersize=14, color="black", clip_on=False)
        axes.axvline(0, color=GREY, linewidth=1)
        axes.axvline(margin, color=COLOURS[1], linestyle="--", linewidth=1.2)

    forest(path, [wrapped(run["name"]) for run in tested], [(None, *bars, style_of(0))], mark, **words)
