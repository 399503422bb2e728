"""``ontoground steward audit``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ontoground.cli.options import Result, verb
from ontoground.cli.steward.group import group
from ontoground.cli.steward.runs import OfRuns, paint_runs, runs_payload
from ontoground.cli.steward.shares import percent

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["audit"]


@verb(
    group,
    "Phase 1: audit labels by independent runs.",
    "ontoground steward audit --endpoint http://127.0.0.1:8000/v1 \\",
    "    --endpoint-model Qwen3-32B --tools calculator,reference \\",
    "    --reference guidelines",
    "ontoground steward audit --answers verdicts.csv",
    "ontoground steward audit --engine evidence",
)
def audit(
    *,
    engine: Annotated[
        Literal["lm", "recorded", "evidence"] | None,
        typer.Option(
            help="Where runs come from; evidence: each label derived again from its row (datasets of ours), one run; "
            "recorded where --answers is given, else lm",
            show_default=False,
        ),
    ] = None,
    options: OfRuns,
) -> Result:
    """Judge each label by runs that see it with its features and derivation; 4 of 5 Suspicious make a likely error.

    Every run is stored as it is finished, with its prompt and its raw answer. A second call makes only the runs that
    are missing. The model answers at temperature 1 unless language_model.temperature says otherwise.
    """
    return Result(runs_payload("audit", engine, options), _paint)


def _paint(out: Console, payload: dict[str, Any]) -> None:
    from ontoground.cli.render import table

    summary = payload["summary"]
    rate = summary["rate"]
    rows = [
        ("likely errors", summary["flagged"], percent(rate)),
        ("passed", summary["n"] - summary["flagged"], percent(rate if rate is None else 1 - rate)),
    ]
    out.print(table(("verdict", "rows", "share"), rows))
    if set(payload["failure_modes"]) - {"not named"}:
        out.print()
        out.print(table(("failure mode of likely errors", "rows"), list(payload["failure_modes"].items())))
    out.print()
    if summary["strata"]:
        out.print(f"{summary['strata_touched']} of {summary['strata']} strata have a likely error")
    paint_runs(out, payload, "verdict")
