"""Pictures of a report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ground.pictures import COLOURS, new_figure, save, tidy
from stewardship.adjudication.agreement import Estimate
from stewardship.adjudication.discrepancy import Flag
from stewardship.reporting.report import LABELLERS, Report

__all__ = ["draw"]

BLUE, ORANGE = COLOURS[:2]
PALE = "#c9c9c9"
OF_LABEL = {"original": ORANGE, "recomputed": BLUE}
STRATA = 45
NAME = 44
FLOOR = 1e-5
"""Relative errors below it are drawn as none."""
ALIKE = (4e-6, 6.5e-6)
"""Where their bar stands, left of the scale."""


def draw(report: Report, folder: Path) -> list[str]:
    """Draw what there is to draw and return the names of the files, in the page's order."""
    results = []
    if report.phase3 is not None and any(share.n for share in report.phase3.agreement.values()):
        _agreement(report, folder / "agreement.png")
        results.append("agreement.png")
    if report.triage is not None and report.triage.strata_flagged:
        _strata(report, folder / "flagged_by_stratum.png")
        results.append("flagged_by_stratum.png")
    if report.table is not None and report.table.filter(pl.col("unit").eq_missing("rel_err")).height:
        _distances(report, folder / "relative_error.png")
        results.append("relative_error.png")
    return results


def _agreement(report: Report, path: Path) -> None:
    """Agreement and sMAPE of both kinds of labels, with their intervals."""
    phase3 = report.phase3
    if phase3 is None:
        return
    errors = any(item.value is not None for item in phase3.smape.values())
    figure = new_figure(8 if errors else 4.2, 3)
    panels = figure.subplots(1, 2 if errors else 1, squeeze=False)[0]
    _points(panels[0], [phase3.agreement[name] for name in LABELLERS], 100, 100)
    panels[0].set_xlabel("agreement with the physician (%)")
    if errors:
        end = max(100.0, *(1.05 * (item.high or 0) for item in phase3.smape.values()))
        _points(panels[1], [phase3.smape[name] for name in LABELLERS], 1, end)
        panels[1].set_xlabel("sMAPE against the physician (%)")
        panels[1].set_yticklabels([])
    figure.suptitle(f"{len(phase3.rows)} reviewed rows, 95% intervals", fontsize="medium")
    save(figure, path)


def _points(axes: Any, estimates: Sequence[Estimate], scale: float, end: float) -> None:
    for at, (name, item) in enumerate(zip(LABELLERS, estimates, strict=True)):
        if item.value is None or item.low is None or item.high is None:
            continue
        value, low, high = (scale * number for number in (item.value, item.low, item.high))
        sides = [[max(value - low, 0)], [max(high - value, 0)]]
        axes.errorbar([value], [at], xerr=sides, fmt="o", color=OF_LABEL[name], capsize=4, markersize=7, linewidth=1.8)
        text = f"{value:.1f} [{low:.1f}, {high:.1f}], n = {item.n}"
        # The text keeps to the interval's inner side: around its middle it would run over the axis.
        place, side = (high, "right") if 2 * value > end else (low, "left")
        axes.annotate(text, (place, at), xytext=(0, 9), textcoords="offset points", ha=side, fontsize="small")
    axes.set_xlim(0, end)
    axes.set_yticks(range(len(LABELLERS)), LABELLERS)
    axes.set_ylim(len(LABELLERS) - 0.5, -0.6)
    tidy(axes, "x")


def _strata(report: Report, path: Path) -> None:
    """Flagged rows of each stratum that has some, as parts of its compared rows."""
    if report.triage is None:
        return
    flagged = [
        (name, counts) for name, counts in report.triage.by_stratum.items() if counts["differ"] + counts["abstained"]
    ]
    listed = flagged[:STRATA]
    names = [name if len(name) <= NAME else name[: NAME - 1] + "…" for name, _ in listed]
    figure = new_figure(8, 1.3 + 0.21 * len(listed))
    axes = figure.subplots()
    places = np.arange(len(listed))
    start = np.zeros(len(listed))
    for label, colour, values in (
        ("labels differ", ORANGE, [counts["differ"] for _, counts in listed]),
        ("one label abstains", BLUE, [counts["abstained"] for _, counts in listed]),
        ("not flagged", PALE, [counts["n"] - counts["differ"] - counts["abstained"] for _, counts in listed]),
    ):
        axes.barh(places, values, left=start, color=colour, label=label, height=0.75)
        start += np.array(values)
    axes.set_yticks(places, names, fontsize="small")
    axes.set_ylim(len(listed) - 0.4, -0.6)
    axes.set_xlabel("rows with a recomputed label")
    axes.xaxis.get_major_locator().set_params(integer=True)
    more = report.triage.strata - len(listed)
    if more:
        least = "no flag" if len(flagged) == len(listed) else "no flag or fewer"
        axes.set_title(f"{more} further strata have {least}", fontsize="small", loc="left")
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    tidy(axes, "x")
    save(figure, path)


def _distances(report: Report, path: Path) -> None:
    """Relative error between both labels, on a logarithmic scale; equal labels in a bar of their own."""
    table = report.table
    if table is None:
        return
    rows = table.filter(pl.col("unit").eq_missing("rel_err"), pl.col("original") != "N/A")
    values = rows["distance"].to_numpy()
    limit = float(report.settings["flag_rel_err"])
    edges = np.logspace(np.log10(FLOOR), np.log10(2), 33)
    # The limit is an edge, so that no bar holds flagged and other rows.
    if FLOOR < limit < edges[-1]:
        edges[np.argmin(np.abs(np.log(edges / limit)))] = limit
    figure = new_figure(8, 3.4)
    axes = figure.subplots()
    differ = (rows["flag"] == Flag.DIFFERS.value).to_numpy()
    axes.hist(
        [values[~differ], values[differ]],
        bins=edges.tolist(),
        stacked=True,
        color=[PALE, ORANGE],
        label=[f"not flagged ({(~differ).sum():,})", f"flagged ({differ.sum():,})"],
    )
    axes.set(xscale="log", xlabel="relative error between original and recomputed label", ylabel="rows")
    axes.axvline(limit, color="black", linewidth=1, linestyle="--")
    axes.text(limit, 0.98, f" {limit:g}", va="top", fontsize="small", transform=axes.get_xaxis_transform())
    alike = int((values < FLOOR).sum())
    axes.bar(ALIKE[0], alike, width=ALIKE[1] - ALIKE[0], align="edge", color=PALE)
    axes.annotate(f" {alike} alike", (ALIKE[1], alike), va="top", fontsize="small")
    axes.set_xlim(ALIKE[0] * 0.8, 2.5)
    ticks = [10.0**power for power in range(-4, 1)]
    axes.set_xticks([float(np.sqrt(ALIKE[0] * ALIKE[1])), *ticks], ["< 0.00001", *(f"{tick:g}" for tick in ticks)])
    axes.legend(frameon=False, loc="upper center")
    tidy(axes, "y")
    save(figure, path)
