"""``ontoground evaluate quadrants``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from app.cli.common import DEFAULT_WORKSPACE, Json, WorkspaceDir, example

__all__ = ["group"]

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Evaluate models on the datasets.")


@group.command(
    short_help="Quadrant predictions against a dataset, with intervals.",
    epilog=example(
        "ontoground evaluate quadrants --model work/runs/RUN --baselines",
        "ontoground evaluate quadrants --predictions mine.csv --dataset DIR",
        "ontoground evaluate quadrants --endpoint http://127.0.0.1:8000/v1 \\",
        "    --endpoint-model Qwen3-8B",
    ),
)
def quadrants(
    models: Annotated[
        list[str] | None,
        typer.Option("--model", metavar="RUN", help="Run folder, or one that holds runs (seeds, lambdas); repeatable"),
    ] = None,
    predictions: Annotated[
        list[Path] | None,
        typer.Option("--predictions", metavar="FILE", help="Predictions file (Parquet, CSV, JSONL); repeatable"),
    ] = None,
    dataset: Annotated[
        Path | None, typer.Option("--dataset", metavar="DIR", help="Dataset folder; the workspace's own where left out")
    ] = None,
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    split: Annotated[Literal["test", "validation"], typer.Option(help="Which rows")] = "test",
    split_column: Annotated[
        Literal["split", "fact_split"] | None,
        typer.Option(help="Split by patient, or also by fact; the runs' own where left out", show_default=False),
    ] = None,
    method: Annotated[
        Literal["auto", "head", "score"],
        typer.Option(help="head: of a classifier; score: label continuations of a policy; auto: what the run has"),
    ] = "auto",
    baselines: Annotated[bool, typer.Option(help="Fit the baselines that take shortcuts")] = True,
    missing: Annotated[
        Literal["refuse", "wrong", "leave_out"],
        typer.Option(help="What a row without a prediction is; leave_out leaves it out for all models alike"),
    ] = "refuse",
    endpoint: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Ask a language model at this OpenAI-compatible server (zero-shot)"),
    ] = None,
    endpoint_model: Annotated[str | None, typer.Option(metavar="NAME", help="The server's name of that model")] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="TOML file with [language_model] and [zeroshot] settings"),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Override hardware.* of runs, or a setting of the language model",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder of the report; the run's report/ where there is one run"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Evaluate models that name quadrants: all metrics with intervals by patient, slices, comparisons, pictures.

    Predictions are kept in the run folder and reused while model and dataset stay the same.
    """
    from app.evaluate import Asked, evaluate_quadrants_job
    from app.quadrant_tables import paint_evaluation
    from app.render import emit, note

    asked = Asked(
        workspace=workspace,
        dataset=dataset or workspace / "datasets" / "medieval",
        models=tuple(models or ()),
        predictions=tuple(predictions or ()),
        split=split,
        split_column=split_column,
        method=method,
        baselines=baselines,
        missing=missing,
        out=out,
        endpoint=endpoint,
        endpoint_model=endpoint_model,
        config=config,
        overrides=tuple(overrides or ()),
        say=note,
    )
    payload = evaluate_quadrants_job(asked)
    emit(payload, lambda screen: paint_evaluation(screen, payload), as_json=as_json)
