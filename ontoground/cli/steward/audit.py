"""``ontoground steward audit|recompute``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ontoground.cli.options import DEFAULT_WORKSPACE, Json, WorkspaceDir, example
from ontoground.cli.steward.group import BenchmarkName, group, steward_settings

__all__: list[str] = []

Answers = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Recorded answers: uid, run1, ..., runN; or uid, run, answer"),
]
Endpoint = Annotated[
    str | None, typer.Option(metavar="URL", help="Ask a language model at this OpenAI-compatible server")
]
EndpointModel = Annotated[str | None, typer.Option(metavar="NAME", help="The server's name of that model")]
ModelConfig = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="TOML file with [language_model] settings")
]
Tools = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Tools of the model by commas: calculator, python, reference; or none. Where left out: calculator,python, "
        "and none where labels are names",
    ),
]
Reference = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Your texts (.md, .txt, .html) that the model may search")
]
Runs = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Runs of each row; the settings' (5) where left out")
]
Rows = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="A sample of rows, in proportion to the strata; all if left out")
]
Settle = Annotated[bool, typer.Option("--settle", help="Count runs that could not be made as empty votes")]
RunOverrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override a setting, as steward.quorum=3 or language_model.concurrency=4"
    ),
]


@group.command(
    short_help="Phase 1: audit labels by independent runs.",
    epilog=example(
        "ontoground steward audit --endpoint http://127.0.0.1:8000/v1 \\",
        "    --endpoint-model Qwen3-32B --tools calculator,reference \\",
        "    --reference guidelines",
        "ontoground steward audit --answers verdicts.csv",
        "ontoground steward audit --engine evidence",
    ),
)
def audit(
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    benchmark: BenchmarkName = None,
    engine: Annotated[
        Literal["lm", "recorded", "evidence"] | None,
        typer.Option(
            help="Where runs come from; evidence: each label derived again from its row (datasets of ours), one run; "
            "recorded where --answers is given, else lm",
            show_default=False,
        ),
    ] = None,
    answers: Answers = None,
    endpoint: Endpoint = None,
    endpoint_model: EndpointModel = None,
    config: ModelConfig = None,
    tools: Tools = None,
    reference: Reference = None,
    runs: Runs = None,
    rows: Rows = None,
    settle: Settle = False,
    overrides: RunOverrides = None,
    as_json: Json = False,
) -> None:
    """Judge each label by runs that see it with its features and derivation; 4 of 5 Suspicious make a likely error.

    Every run is stored as it is finished, with its prompt and its raw answer. A second call makes only the runs that
    are missing. The model answers at temperature 1 unless language_model.temperature says otherwise.
    """
    _make_runs(
        "audit",
        workspace,
        (endpoint, endpoint_model, config),
        overrides,
        as_json=as_json,
        benchmark=benchmark,
        engine=engine,
        answers=answers,
        tools=tools,
        reference=reference,
        runs=runs,
        rows=rows,
        settle=settle,
    )


@group.command(
    short_help="Phase 2: recompute labels by independent runs.",
    epilog=example(
        "ontoground steward recompute --endpoint http://127.0.0.1:8000/v1 \\",
        "    --endpoint-model Qwen3-32B --tools calculator,python --rows 500",
        "ontoground steward recompute --answers runs.jsonl",
        "ontoground steward recompute --engine calculators",
        "ontoground steward recompute --engine sql",
    ),
)
def recompute(
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    benchmark: BenchmarkName = None,
    engine: Annotated[
        Literal["lm", "recorded", "calculators", "sql"] | None,
        typer.Option(
            help="Where runs come from; calculators: from the extracted features alone, one run; sql: our own "
            "datasets by SQL over the warehouse, one run; recorded where --answers is given, else lm",
            show_default=False,
        ),
    ] = None,
    answers: Answers = None,
    endpoint: Endpoint = None,
    endpoint_model: EndpointModel = None,
    config: ModelConfig = None,
    tools: Tools = None,
    reference: Reference = None,
    runs: Runs = None,
    rows: Rows = None,
    settle: Settle = False,
    overrides: RunOverrides = None,
    as_json: Json = False,
) -> None:
    """Make labels anew by runs that see context and question only; 4 of 5 equal answers make a label, else deferred.

    3 of 5 do where another answer is near. Every run is stored as it is finished, with its prompt and its raw answer.
    A second call makes only the runs that are missing. The model answers at temperature 1 unless
    language_model.temperature says otherwise.
    """
    _make_runs(
        "recompute",
        workspace,
        (endpoint, endpoint_model, config),
        overrides,
        as_json=as_json,
        benchmark=benchmark,
        engine=engine,
        answers=answers,
        tools=tools,
        reference=reference,
        runs=runs,
        rows=rows,
        settle=settle,
    )


def _make_runs(
    phase: Literal["audit", "recompute"],
    workspace: Path,
    model: tuple[str | None, str | None, Path | None],
    overrides: list[str] | None,
    *,
    as_json: bool,
    **asked: Any,
) -> None:
    """Do what both verbs do; ``asked`` are the other fields of `ontoground.cli.steward.audit_job.RunsAsked`."""
    from ontoground.cli.render import emit, note
    from ontoground.cli.steward.audit_job import RunsAsked, paint_audit, paint_recompute, runs_job
    from ontoground.cli.text_options import ModelOptions, split_overrides

    own, of_model = split_overrides(overrides)
    payload = runs_job(
        RunsAsked(
            phase=phase,
            workspace=workspace,
            settings=steward_settings(workspace, own),
            model=ModelOptions(*model, of_model),
            say=note,
            **asked,
        )
    )
    paint = paint_audit if phase == "audit" else paint_recompute
    emit(payload, lambda screen: paint(screen, payload), as_json=as_json)
