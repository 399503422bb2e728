"""``ontoground demo``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from ground.errors import InputError
from ontoground.cli.app import VERBS, app
from ontoground.cli.options import Configured, Result, WorkspaceDir, verb
from ontoground.cli.render import Blocks, indented, note, number, relative, text, unfolded

if TYPE_CHECKING:
    from ground.storage.workspace import Workspace

__all__ = ["demo"]

STAMP = "rendered-from.txt"


@dataclass(frozen=True, kw_only=True)
class Demo(Configured):
    """Options of the verb."""

    # Not ./work itself, so that the open world never mixes with credentialed data.
    workspace: WorkspaceDir = Path("work") / "demo"
    patients: Annotated[int, Option(min=1, max=1_000_000, help="Patients of the open world")] = 120
    seed: Annotated[int, Option(min=0, help="Seed of the open world")] = 7
    train: Annotated[
        bool, Option("--train/--no-train", help="Train a classifier at the end: about two minutes on two cores")
    ] = True

    @property
    def source(self) -> Path:
        """The folder of the open world."""
        return self.workspace / "demo-input"


@verb(
    app,
    VERBS["demo"],
    "ontoground demo",
    "ontoground demo --patients 40 --workspace /tmp/demo",
)
def demo(options: Demo) -> Result:
    """Run everything on a small open world that ships with ontoground: no data and no network needed.

    The world is written by hand from general medical knowledge; its patients are invented and its CUIs (C99.....) are
    none of UMLS.
    """
    from ontoground.cli.demo_classifier import train_and_evaluate
    from ontoground.flow.pipeline import run_all
    from ontoground.views.query import exploring
    from ontoground.views.sample import sample_group
    from ontoground.views.validation import validated

    opened = options.open(create=True)
    if opened.warehouse.exists() and not options.source.is_dir():
        raise InputError(
            "this workspace holds other data", file=opened.warehouse, do="give the demo another --workspace"
        )
    outcomes, summary = run_all(opened, _rendered(options), say=note)
    validation = validated(opened, opened.dataset("medieval"))
    note(f"validate (labels derived again): {len(validation['disagreements'])} disagreements")
    with exploring(opened) as connection:
        sample = sample_group(connection)
    return options.result(
        "demo",
        lambda payload: _blocks(payload, opened),
        0 if validation["agrees"] else 1,
        input=str(options.source),
        stages=[outcome.as_dict() for outcome in outcomes],
        summary=summary,
        validation=validation,
        sample=sample,
        classifier=train_and_evaluate(opened, opened.settings.build.seed, note) if options.train else None,
    )


def _rendered(options: Demo) -> dict[str, Any]:
    """Render the open world, unless one of the same size and seed is there, and return the folders to load."""
    from ground.flow.fingerprints import code_digest
    from ground.storage.files import write_text
    from ontoground.flow.compiling import compile_beside
    from openworld import World, render

    made_from = f"patients={options.patients} seed={options.seed} content={code_digest(('openworld',))}\n"
    stamp = options.source / STAMP
    world = World(options.source)
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != made_from:
        compile_beside()
        world = render(options.source, options.patients, options.seed)
        write_text(stamp, made_from)
        note(f"open world: {options.patients} patients rendered into {options.source}")
    return {"umls": world.meta, "rxnorm": world.rxnorm, "mimic": world.mimic}


def _blocks(payload: dict[str, Any], workspace: Workspace) -> Blocks:
    from kg.graph import ConceptGraph
    from ontoground.cli.evaluate.quadrants import evaluation_blocks
    from ontoground.cli.run import summary_blocks
    from ontoground.views.concepts import Phrases
    from ontoground.views.sample import reasons

    yield from summary_blocks(payload)
    yield text("One fact of one patient, and the four statements made of it", "bold")
    phrases = Phrases(ConceptGraph.open(workspace.graph))
    for row in payload["sample"]:
        yield text(f"\n{row['quadrant']}  {row['statement']}", "bold")
        yield from (indented(reason, 4) for reason in reasons(row, phrases))
    checked = payload["validation"]
    wrong = sum(check["rows"] for check in checked["checks"])
    yield (
        f"\nvalidated: {number(checked['rows'])} rows derived again from the warehouse,"
        f" {number(len(checked['disagreements']))} disagreements;"
        f" {len(checked['checks'])} checks of the warehouse, {number(wrong)} offending rows"
    )
    if payload["classifier"] is not None:
        yield text("\nA classifier of the four, and baselines that read less than the task needs", "bold")
        yield from evaluation_blocks(payload["classifier"]["evaluation"])
    yield from _next_blocks(payload, workspace)


def _next_blocks(payload: dict[str, Any], workspace: Workspace) -> Blocks:
    places = {
        "dataset": workspace.dataset("medieval"),
        "warehouse": workspace.warehouse,
        "graph": workspace.graph,
        "input": Path(payload["input"]),
    }
    yield ""
    yield from (unfolded(f"{name:10}{relative(path)}") for name, path in places.items())
    yield "\nwhat to try next:"
    first = payload["sample"][0]
    for command in (
        "sql quadrants_by_predicate",
        f"graph relations {first['head_cui']} {first['tail_cui']}",
        f"notes mentions --hadm {first['hadm_id']}",
        "build medhal --sources mimic",
        "build medval --tasks course2diagnosis",
    ):
        yield unfolded(f"  {_program()} {command} --workspace {relative(workspace.root)}")


def _program() -> str:
    """Return how this program is called here: by its path where the shell would not find it by name."""
    import shutil
    import sys

    called = Path(sys.argv[0])
    by_path = called.name == "ontoground" and shutil.which("ontoground") is None
    return relative(called) if by_path else "ontoground"
