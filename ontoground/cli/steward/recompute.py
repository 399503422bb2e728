"""``ontoground steward recompute``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ontoground.cli.options import Result, verb
from ontoground.cli.steward.group import group
from ontoground.cli.steward.runs import OfRuns, paint_runs, runs_payload
from ontoground.cli.steward.shares import percent

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["recompute"]

WHENCE = {"calculators": "from the extracted features alone, right or wrong", "sql": "by SQL and a second reading"}


@verb(
    group,
    "Phase 2: recompute labels by independent runs.",
    "ontoground steward recompute --endpoint http://127.0.0.1:8000/v1 \\",
    "    --endpoint-model Qwen3-32B --tools calculator,python --rows 500",
    "ontoground steward recompute --answers runs.jsonl",
    "ontoground steward recompute --engine calculators",
    "ontoground steward recompute --engine sql",
)
def recompute(
    *,
    engine: Annotated[
        Literal["lm", "recorded", "calculators", "sql"] | None,
        typer.Option(
            help="Where runs come from; calculators: from the extracted features alone, one run; sql: our own "
            "datasets by SQL over the warehouse, one run; recorded where --answers is given, else lm",
            show_default=False,
        ),
    ] = None,
    options: OfRuns,
) -> Result:
    """Make labels anew by runs that see context and question only; 4 of 5 equal answers make a label, else deferred.

    3 of 5 do where another answer is near. Every run is stored as it is finished, with its prompt and its raw answer.
    A second call makes only the runs that are missing. The model answers at temperature 1 unless
    language_model.temperature says otherwise.
    """
    return Result(runs_payload("recompute", engine, options), _paint)


def _paint(out: Console, payload: dict[str, Any]) -> None:
    from ontoground.cli.render import table

    summary = payload["summary"]
    count, coverage = max(summary["n"], 1), summary["coverage"]
    rows = [
        ("high confidence", summary["high"], percent(coverage)),
        ("  by near-consensus", summary["near"], percent(summary["near"] / count)),
        ("  abstentions (N/A)", summary["abstained"], percent(summary["abstained"] / count)),
        ("deferred", summary["deferred"], percent(coverage if coverage is None else 1 - coverage)),
    ]
    out.print(table(("consensus", "rows", "share"), rows))
    out.print()
    if payload["engine"] in WHENCE:
        out.print(f"one run a row, {WHENCE[payload['engine']]}: no consensus of several", soft_wrap=True)
    paint_runs(out, payload, "label")
