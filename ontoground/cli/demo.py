"""``ontoground demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ontoground.cli.app import app
from ontoground.cli.options import Json, Overrides, WorkspaceDir, example, open_workspace

if TYPE_CHECKING:
    from rich.console import Console

    from ground.storage.workspace import Workspace
    from ontoground.cli.demo_job import DemoResult

__all__ = ["register"]

EXAMPLE = example("ontoground demo", "ontoground demo --patients 40 --workspace /tmp/demo")
# Not ./work itself, so that the open world never mixes with credentialed data.
DEMO_WORKSPACE = Path("work") / "demo"


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(name="demo", short_help="Run everything on a small open world: no data needed.", epilog=EXAMPLE)(_demo)


def _demo(
    patients: Annotated[int, typer.Option(min=1, help="Patients of the open world")] = 120,
    seed: Annotated[int, typer.Option(help="Seed of the open world")] = 7,
    train: Annotated[
        bool, typer.Option("--train/--no-train", help="End with a classifier: some two minutes on two cores")
    ] = True,
    workspace: WorkspaceDir = DEMO_WORKSPACE,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Run everything on a small open world that ships with ontoground: no data and no network needed.

    The world is written by hand from general medical knowledge; its patients are invented and its CUIs (C99.....) are
    none of UMLS.
    """
    from ontoground.cli.demo_classifier import train_and_evaluate
    from ontoground.cli.demo_job import run_demo
    from ontoground.cli.render import emit, note

    opened = open_workspace(workspace, overrides, create=True)
    result = run_demo(opened, patients, seed, note)
    classifier = train_and_evaluate(opened, opened.settings.build.seed, note) if train else None
    payload = {
        "verb": "demo",
        "workspace": str(workspace),
        "input": str(result.input_folder),
        "stages": [outcome.as_dict() for outcome in result.outcomes],
        "summary": result.summary,
        "validation": result.validation,
        "sample": result.sample,
        "classifier": classifier,
    }
    emit(payload, lambda out: _paint(out, opened, result, classifier), as_json=as_json)
    if not result.validation["agrees"]:
        raise typer.Exit(1)


def _paint(out: Console, workspace: Workspace, result: DemoResult, classifier: dict[str, Any] | None) -> None:
    from kg.graph import ConceptGraph
    from kg.predicates import read_vocabulary
    from ontoground.cli.render import text
    from ontoground.flow.summary import paint_summary
    from ontoground.views.concepts import Phrases
    from ontoground.views.sample import paint_group

    paint_summary(out, result.summary, [outcome.as_dict() for outcome in result.outcomes])
    out.print()
    out.print(text("One fact of one patient, and the four statements made of it", "bold"))
    paint_group(out, result.sample, Phrases(ConceptGraph.open(workspace.graph), read_vocabulary()))
    out.print()
    _paint_validation(out, result.validation)
    if classifier is not None:
        _paint_classifier(out, classifier["evaluation"])
    _paint_places(out, workspace, result)


def _paint_validation(out: Console, validation: dict[str, Any]) -> None:
    from ontoground.cli.render import number

    wrong = sum(check["rows"] for check in validation["checks"])
    out.print(
        f"validated: {number(validation['rows'])} rows derived again from the warehouse,"
        f" {number(len(validation['disagreements']))} disagreements;"
        f" {len(validation['checks'])} checks of the warehouse, {number(wrong)} offending rows"
    )


def _paint_classifier(out: Console, evaluation: dict[str, Any]) -> None:
    from ontoground.cli.evaluate.quadrants import paint
    from ontoground.cli.render import text

    out.print()
    out.print(text("A classifier of the four, and baselines that read less than the task needs", "bold"))
    paint(out, evaluation)


def _paint_places(out: Console, workspace: Workspace, result: DemoResult) -> None:
    from ontoground.cli.render import relative

    root = relative(workspace.root)
    out.print()
    for name, path in (
        ("dataset", workspace.dataset("medieval")),
        ("warehouse", workspace.warehouse),
        ("graph", workspace.graph),
        ("input", result.input_folder),
    ):
        out.print(f"{name:10}{relative(path)}", soft_wrap=True)
    out.print("\nwhat to try next:")
    program = _program()
    for command in (
        f"{program} sql quadrants_by_predicate --workspace {root}",
        f"{program} graph relations {_pair(result)} --workspace {root}",
        f"{program} notes mentions --hadm {_hadm(result)} --workspace {root}",
        f"{program} build medhal --sources mimic --workspace {root}",
        f"{program} build medval --tasks course2diagnosis --workspace {root}",
    ):
        out.print(f"  {command}", soft_wrap=True)


def _program() -> str:
    """Return how this program is called here: by its path where the shell would not find it by name."""
    import shutil
    import sys

    from ontoground.cli.render import relative

    called = Path(sys.argv[0])
    by_path = called.name == "ontoground" and shutil.which("ontoground") is None
    return relative(called) if by_path else "ontoground"


def _pair(result: DemoResult) -> str:
    first = result.sample[0]
    return f"{first['head_cui']} {first['tail_cui']}"


def _hadm(result: DemoResult) -> int:
    return int(result.sample[0]["hadm_id"])


register(app)
