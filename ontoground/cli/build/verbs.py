"""``ontoground build medieval|medhal|medval``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ontoground.cli.app import group_of
from ontoground.cli.options import (
    DEFAULT_WORKSPACE,
    Address,
    Executor,
    Force,
    Json,
    Overrides,
    Workers,
    WorkspaceDir,
    example,
    open_to_work,
    open_workspace,
)

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["group"]

Sources = Annotated[
    str | None,
    typer.Option(metavar="NAMES", help="Sources by commas, each NAME or NAME=DIR; those that are found where left out"),
]
Texts = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder of the texts, with one folder a source (medqa, ...)")
]
Engine = Annotated[Literal["rules", "lm"], typer.Option(help="Who writes and judges: rules, or a language model")]
Splits = Annotated[
    Literal["train", "validation", "test", "all"] | None,
    typer.Option(help="Splits of the sources that are used; the settings' where left out", show_default=False),
]
Endpoint = Annotated[str | None, typer.Option(metavar="URL", help="OpenAI-compatible server of the engine lm")]
EndpointModel = Annotated[str | None, typer.Option(metavar="NAME", help="The server's name of its model")]
ModelConfig = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="TOML file with [language_model] settings")
]
TextOverrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override a setting, as medhal.seed=7 or language_model.concurrency=4"
    ),
]

group = group_of("build", "Build datasets from what the workspace holds.")


@group.command(
    short_help="Build the quadrant statements.",
    epilog=example("ontoground build medieval --workspace work --set build.seed=7"),
)
def medieval(
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    workers: Workers = None,
    executor: Executor = None,
    address: Address = None,
    overrides: Overrides = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Build the quadrant statements (true or false, supported or not) into datasets/medieval.

    Stages that it needs and that are missing or stale run first.
    """
    from ontoground.cli.render import emit, note
    from ontoground.flow.pipeline import run_stages
    from ontoground.flow.session import writing
    from ontoground.flow.status import dataset_counts
    from ontoground.flow.summary import quadrant_table

    opened = open_to_work(workspace, overrides, workers, executor, address)
    with writing(opened) as connection:
        outcomes = run_stages(opened, connection, ["medieval"], force=force, say=note)
        quadrants = quadrant_table(connection)
    payload: dict[str, Any] = {
        "verb": "build medieval",
        "workspace": str(workspace),
        "dataset": dataset_counts(opened.dataset("medieval")),
        "quadrants": quadrants,
        "stages": [outcome.as_dict() for outcome in outcomes],
    }
    emit(payload, lambda out: _paint(out, payload), as_json=as_json)


def _paint(out: Console, payload: dict[str, Any]) -> None:
    from ontoground.cli.render import number
    from ontoground.flow.summary import paint_quadrants

    paint_quadrants(out, payload["quadrants"])
    dataset = payload["dataset"]
    splits = ", ".join(f"{split} {number(rows)}" for split, rows in dataset["splits"].items())
    out.print(f"\n{number(dataset['rows'])} rows ({splits}) in {dataset['folder']}", soft_wrap=True)


@group.command(
    short_help="Build statements that are factual or not.",
    epilog=example(
        "ontoground build medhal --texts DIR",
        "ontoground build medhal --sources medqa,sumpubmed,mimic --texts DIR \\",
        "    --splits all",
        "ontoground build medhal --sources pubmedqa=DIR --engine lm \\",
        "    --endpoint http://127.0.0.1:8000/v1 --endpoint-model Qwen3-8B",
    ),
)
def medhal(
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    sources: Sources = None,
    texts: Texts = None,
    engine: Engine = "rules",
    splits: Splits = None,
    endpoint: Endpoint = None,
    endpoint_model: EndpointModel = None,
    config: ModelConfig = None,
    review: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Readers' verdicts (CSV: id, verdict) to show in the card")
    ] = None,
    overrides: TextOverrides = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Build medical statements, factual or not, in pairs, into datasets/medhal.

    Sources are text sets on disk, and mimic: the workspace's own facts, whose missing stages run first. A language
    model's answers are kept: a run that was stopped goes on where it was.
    """
    from ontoground.cli.build.medhal_job import MedhalAsked, build_medhal_job
    from ontoground.cli.build.medhal_tables import paint_medhal
    from ontoground.cli.render import emit, note
    from ontoground.cli.text_options import ModelOptions, split_overrides

    own, of_model = split_overrides(overrides)
    if splits is not None:
        own.append(f"medhal.splits={splits}")
    asked = MedhalAsked(
        workspace=open_workspace(workspace, own, needs_warehouse=False),
        sources=sources,
        texts=texts,
        engine=engine,
        model=ModelOptions(endpoint, endpoint_model, config, of_model),
        review=review,
        force=force,
        say=note,
    )
    payload = build_medhal_job(asked)
    emit(payload, lambda out: paint_medhal(out, payload), as_json=as_json)


@group.command(
    short_help="Build outputs of text tasks, judged for errors.",
    epilog=example(
        "ontoground build medval --texts DIR",
        "ontoground build medval --tasks query2question,course2diagnosis \\",
        "    --texts DIR --tau 0",
        "ontoground build medval --tasks bhc2spanish --engine lm \\",
        "    --endpoint http://127.0.0.1:8000/v1 --endpoint-model Qwen3-8B",
    ),
)
def medval(
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    tasks: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Tasks by commas; those that the engine can do and has inputs for"),
    ] = None,
    texts: Texts = None,
    engine: Engine = "rules",
    tau: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Consistency from which on a triple is kept; 0 keeps all", show_default=False),
    ] = None,
    splits: Splits = None,
    endpoint: Endpoint = None,
    endpoint_model: EndpointModel = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="TOML file with [language_model] and, to judge by another, [validator_model]",
        ),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Override a setting, as medval.seed=7 or validator_model.concurrency=4"
        ),
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Build outputs of medical text tasks, clean and perturbed, with errors and risk levels, into datasets/medval.

    Inputs are text sets on disk and the workspace's own notes, whose missing stages run first. A language model's
    answers are kept: a run that was stopped goes on where it was.
    """
    from ontoground.cli.build.medval_job import ROLES, MedvalAsked, build_medval_job, paint_medval
    from ontoground.cli.render import emit, note
    from ontoground.cli.text_options import ModelOptions, split_overrides

    own, of_models = split_overrides(overrides, ROLES)
    own += [] if tau is None else [f"medval.tau={tau}"]
    own += [] if splits is None else [f"medval.splits={splits}"]
    asked = MedvalAsked(
        workspace=open_workspace(workspace, own, needs_warehouse=False),
        tasks=tuple(name.strip() for name in tasks.split(",") if name.strip()) if tasks else (),
        texts=texts,
        engine=engine,
        models=ModelOptions(endpoint, endpoint_model, config, of_models),
        force=force,
        say=note,
    )
    payload = build_medval_job(asked)
    emit(payload, lambda out: paint_medval(out, payload), as_json=as_json)
