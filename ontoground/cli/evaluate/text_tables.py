"""What a person reads of an evaluation of detectors or validators: few tables, and where the report lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from ontoground.cli.render import number, relative, table

__all__ = ["paint_sheets", "paint_text_evaluation"]

UNDEFINED = "–"
# Heads of the tables of each kind: the first with values alone, the second with intervals.
VALUES: Mapping[str, Mapping[str, str]] = {
    "medhal": {
        "non_factual_precision": "Prec.",
        "non_factual_recall": "Rec.",
        "non_factual_f1": "F1",
        "factual_precision": "P fact.",
        "factual_recall": "R fact.",
        "factual_f1": "F1 fact.",
        "accuracy": "Acc.",
    },
    "medval": {
        "unsafe_sensitivity": "Sens.",
        "unsafe_specificity": "Spec.",
        "unsafe_f1": "F1 unsafe",
        "safety_accuracy": "Acc.",
        **{f"f1_level_{level}": f"F1 {level}" for level in range(1, 5)},
    },
}
WORDS = {
    "medhal": "non-factual is what is to be found (P, R, F1 fact.: factual)",
    "medval": "unsafe is level 3 or 4; F1 1 to 4: of each level",
}


def paint_text_evaluation(out: Console, payload: dict[str, Any]) -> None:
    """Show what ``ontoground evaluate medhal|medval --json`` prints."""
    kind = payload["verb"].rpartition(" ")[2]
    where = f"{number(payload['clusters'])} {payload['clusters_are']}"
    out.print(f"{number(payload['rows'])} rows of {where} ({payload['split']}), in percent; {WORDS[kind]}\n")
    runs, columns = payload["runs"], VALUES[kind]
    if runs:
        rows = [(run["name"], *(_percent(run["overall"][name]) for name in columns)) for run in runs]
        out.print(table(("run", *columns.values()), rows))
        out.print()
        out.print(_second(kind, runs))
        out.print()
    if payload.get("experts"):
        _paint_experts(out, payload["experts"])
    out.print(f"report    {relative(Path(payload['report']['markdown']))}", soft_wrap=True)
    out.print(f"numbers   {relative(Path(payload['report']['json']))}", soft_wrap=True)
    out.print(f"pictures  {relative(Path(payload['report']['folder']) / 'figures')}", soft_wrap=True)


def _second(kind: str, runs: Sequence[Mapping[str, Any]]) -> Any:
    """Return the table of the headline with its interval, and of what goes with it."""
    if kind == "medhal":
        return table(
            ("run", "F1 (95%)", "unreadable", "BLEU", "R1", "R2", "N"),
            [
                (
                    run["name"],
                    _interval(run["overall"]["non_factual_f1"]),
                    _percent(run["share_unparseable"]),
                    *(_coefficient(run["explanation"][name]) for name in ("bleu", "rouge1", "rouge2")),
                    run["explanation"]["n"],
                )
                for run in runs
            ],
        )
    return table(
        ("run", "macro-F1 over tasks (95%)", "all rows", "kappa", "unreadable"),
        [
            (
                run["name"],
                _interval(run["over_tasks"]["all"]),
                _percent(run["overall"]["macro_f1"]),
                _coefficient(run["overall"]["kappa_linear"]),
                _percent(run["share_unparseable"]),
            )
            for run in runs
        ],
    )


def _paint_experts(out: Console, experts: Mapping[str, Any]) -> None:
    four, two = (_coefficient(experts["krippendorff_alpha"][name]) for name in ("four_levels", "safe_unsafe"))
    raters = f"{len(experts['raters'])} rater{'' if len(experts['raters']) == 1 else 's'}"
    out.print(
        f"experts: {raters}, {number(experts['items'])} items, of which "
        f"{number(experts['items_with_several'])} with several ratings"
    )
    out.print(f"Krippendorff's alpha: {four} over four levels, {two} for safe or unsafe")
    tested = [one for one in experts["non_inferiority"] if one["difference"]]
    if tested:
        rows = [
            (one["name"], _interval(one["difference"]), _points(one["lower_bound"]), _verdict(one)) for one in tested
        ]
        out.print("macro-F1 minus a single expert's, in points")
        out.print(table(("run", "difference (95%)", "lower bound", f"margin {100 * tested[0]['margin']:g}"), rows))
    out.print()


def _verdict(one: Mapping[str, Any]) -> str:
    return "not inferior" if one["non_inferior"] else "not shown"


def _points(value: float) -> str:
    return f"{100 * value:.1f}"


def _percent(estimate: Mapping[str, Any]) -> str:
    return f"{UNDEFINED if estimate['value'] is None else format(100 * estimate['value'], '.1f'):>5}"


def _coefficient(estimate: Mapping[str, Any]) -> str:
    return UNDEFINED if estimate["value"] is None else f"{estimate['value']:.2f}"


def _interval(estimate: Mapping[str, Any]) -> str:
    if estimate["low"] is None or estimate["high"] is None:
        return _percent(estimate)
    return f"{_percent(estimate)} ({100 * estimate['low']:.1f} to {100 * estimate['high']:.1f})"


def paint_sheets(out: Console, payload: dict[str, Any]) -> None:
    """Show what ``ontoground evaluate sheets --json`` prints."""
    out.print(f"{number(payload['items'])} items ({payload['split']})\n")
    out.print(table(("task", "items"), list(payload["by_task"].items())))
    out.print()
    if payload["too_long"]:
        out.print(f"{number(payload['too_long'])} rows are too long for a cell and were passed over")
    out.print(f"sheet     {relative(Path(payload['sheet']))}, and as {Path(payload['csv']).name}", soft_wrap=True)
    out.print(f"key       {relative(Path(payload['key']))} (not for the experts)", soft_wrap=True)
    if payload["licence_tier"] != "open":
        out.print("credentialed texts: only for experts under the same data use agreements", soft_wrap=True)
