"""``ontoground evaluate quadrants|medhal|medval|sheets``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from ontoground.cli.app import group_of
from ontoground.cli.options import DEFAULT_WORKSPACE, Json, WorkspaceDir, example

__all__ = ["group"]

group = group_of("evaluate", "Evaluate models on the datasets.")


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
    from ontoground.cli.evaluate.quadrants_job import Asked, evaluate_quadrants_job
    from ontoground.cli.evaluate.quadrants_tables import paint_evaluation
    from ontoground.cli.render import emit, note

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


Predictions = Annotated[
    list[Path] | None,
    typer.Option("--predictions", metavar="FILE", help="Predictions file (Parquet, CSV, JSONL); repeatable"),
]
TextModels = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="RUN", help="Run folder of a fine-tuned model, or a model; repeatable"),
]
TextReference = Annotated[
    Path | None,
    typer.Option("--reference", metavar="DIR", help="Dataset folder; the workspace's own where left out"),
]
TextSplit = Annotated[Literal["test", "validation"], typer.Option(help="Which rows")]
TextMissing = Annotated[
    Literal["refuse", "wrong", "leave_out"],
    typer.Option(help="What a row without a prediction is; leave_out leaves it out for all runs alike"),
]
Endpoint = Annotated[
    str | None, typer.Option(metavar="URL", help="Ask a language model at this OpenAI-compatible server")
]
EndpointModel = Annotated[str | None, typer.Option(metavar="NAME", help="The server's name of that model")]
Shots = Annotated[
    int | None,
    typer.Option(min=0, max=1, metavar="0|1", help="Worked examples before each question", show_default=False),
]
TextConfig = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="TOML file with [language_model] and [asked] settings"),
]
TextOverrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a setting of the language model, or of a run's answers"),
]
Ensemble = Annotated[bool, typer.Option("--ensemble", help="Add the majority of all runs; ties to the graver class")]
TextOut = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Folder of the report; the run's report/ where there is one run"),
]


@group.command(
    short_help="Detectors of non-factual statements against a dataset.",
    epilog=example(
        "ontoground evaluate medhal --model work/runs/RUN",
        "ontoground evaluate medhal --predictions a.csv --predictions b.csv",
        "ontoground evaluate medhal --endpoint http://127.0.0.1:8000/v1 \\",
        "    --endpoint-model Qwen3-8B --shots 1",
    ),
)
def medhal(
    models: TextModels = None,
    predictions: Predictions = None,
    reference: TextReference = None,
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    split: TextSplit = "test",
    missing: TextMissing = "refuse",
    endpoint: Endpoint = None,
    endpoint_model: EndpointModel = None,
    shots: Shots = None,
    config: TextConfig = None,
    overrides: TextOverrides = None,
    ensemble: Ensemble = False,
    out: TextOut = None,
    as_json: Json = False,
) -> None:
    """Evaluate detectors: precision, recall, F1, explanations, errors by task and length, comparisons, pictures.

    Labels are true (factual) and false; empty is an answer that could not be read, which counts as wrong.
    """
    from ontoground.cli.evaluate.text_job import TextAsked, evaluate_text_job
    from ontoground.cli.evaluate.text_tables import paint_text_evaluation
    from ontoground.cli.render import emit, note

    payload = evaluate_text_job(
        TextAsked(
            kind="medhal",
            workspace=workspace,
            reference=reference or workspace / "datasets" / "medhal",
            models=tuple(models or ()),
            predictions=tuple(predictions or ()),
            split=split,
            missing=missing,
            out=out,
            endpoint=endpoint,
            endpoint_model=endpoint_model,
            shots=shots,
            config=config,
            overrides=tuple(overrides or ()),
            ensemble=ensemble,
            experts=(),
            sheet_key=None,
            say=note,
        )
    )
    emit(payload, lambda screen: paint_text_evaluation(screen, payload), as_json=as_json)


@group.command(
    short_help="Validators of risk levels against a dataset and experts.",
    epilog=example(
        "ontoground evaluate medval --model work/runs/RUN",
        "ontoground evaluate medval --predictions a.csv --predictions b.csv \\",
        "    --ensemble --experts anna.xlsx --experts ben.xlsx",
        "ontoground evaluate medval --endpoint http://127.0.0.1:8000/v1 \\",
        "    --endpoint-model Qwen3-8B --shots 1",
    ),
)
def medval(
    models: TextModels = None,
    predictions: Predictions = None,
    reference: TextReference = None,
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    split: TextSplit = "test",
    missing: TextMissing = "refuse",
    endpoint: Endpoint = None,
    endpoint_model: EndpointModel = None,
    shots: Shots = None,
    config: TextConfig = None,
    overrides: TextOverrides = None,
    ensemble: Ensemble = False,
    experts: Annotated[
        list[Path] | None,
        typer.Option("--experts", metavar="SHEET", help="Filled sheet of one expert (.xlsx, .csv); repeatable"),
    ] = None,
    sheet_key: Annotated[
        Path | None,
        typer.Option("--sheet-key", metavar="FILE", help="Key of the sheets; the one beside them where left out"),
    ] = None,
    out: TextOut = None,
    as_json: Json = False,
) -> None:
    """Evaluate validators: F1 by level and task, kappa, safe against unsafe, experts' agreement, non-inferiority.

    Labels are risk levels 1 to 4; empty is an answer that could not be read, which counts as wrong.
    """
    from ontoground.cli.evaluate.text_job import TextAsked, evaluate_text_job
    from ontoground.cli.evaluate.text_tables import paint_text_evaluation
    from ontoground.cli.render import emit, note

    payload = evaluate_text_job(
        TextAsked(
            kind="medval",
            workspace=workspace,
            reference=reference or workspace / "datasets" / "medval",
            models=tuple(models or ()),
            predictions=tuple(predictions or ()),
            split=split,
            missing=missing,
            out=out,
            endpoint=endpoint,
            endpoint_model=endpoint_model,
            shots=shots,
            config=config,
            overrides=tuple(overrides or ()),
            ensemble=ensemble,
            experts=tuple(experts or ()),
            sheet_key=sheet_key,
            say=note,
        )
    )
    emit(payload, lambda screen: paint_text_evaluation(screen, payload), as_json=as_json)


@group.command(
    short_help="Write sheets in which experts grade MedVAL outputs.",
    epilog=example(
        "ontoground evaluate sheets round1.xlsx --per-task 15",
        "ontoground evaluate medval --experts anna.xlsx --experts ben.xlsx",
    ),
)
def sheets(
    file: Annotated[Path, typer.Argument(metavar="FILE.xlsx", help="The sheet; FILE.csv and FILE.key.csv beside it")],
    reference: TextReference = None,
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    split: TextSplit = "test",
    per_task: Annotated[int, typer.Option(min=1, help="Items of each task, at most; evenly over risk levels")] = 15,
    seed: Annotated[int, typer.Option(help="Seed of the draw and of the order")] = 42,
    as_json: Json = False,
) -> None:
    """Write outputs for experts to grade: no labels, names that tell nothing, an order drawn at random.

    Every expert gets a copy and saves it under a name of their own; the key stays with you.
    """
    from ontoground.cli.evaluate.text_job import write_sheets_job
    from ontoground.cli.evaluate.text_tables import paint_sheets
    from ontoground.cli.render import emit

    payload = write_sheets_job(
        workspace,
        reference or workspace / "datasets" / "medval",
        file,
        split=split,
        per_task=per_task,
        seed=seed,
    )
    emit(payload, lambda screen: paint_sheets(screen, payload), as_json=as_json)
