"""The demo: render the open world, run every stage on it, validate the dataset, and show what came out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ground.errors import InputError
from ground.flow.fingerprints import code_digest
from ground.storage.files import write_text
from ground.storage.workspace import Workspace
from ontoground.cli.validate_job import validated
from ontoground.flow.pipeline import Outcome, run_all
from ontoground.views.query import exploring
from ontoground.views.sample import sample_group

__all__ = ["DemoResult", "run_demo"]

INPUT = "demo-input"
STAMP = "rendered-from.txt"


@dataclass(frozen=True)
class DemoResult:
    """What the demo made: where its input lies, what the stages did, the figures, the validation and one group."""

    input_folder: Path
    outcomes: list[Outcome]
    summary: dict[str, Any]
    validation: dict[str, Any]
    sample: list[dict[str, Any]]


def run_demo(workspace: Workspace, patients: int, seed: int, say: Callable[[str], None]) -> DemoResult:
    """Run the demo in a workspace; what an earlier demo of the same size and seed left is used again.

    Raises:
        InputError: the workspace holds data that is not the demo's.
    """
    source = workspace.root / INPUT
    if workspace.warehouse.exists() and not source.is_dir():
        raise InputError(
            "this workspace holds other data", file=workspace.warehouse, do="give the demo a --workspace of its own"
        )
    folders = _rendered(source, patients, seed, say)
    outcomes, summary = run_all(workspace, folders, say=say)
    validation = validated(workspace, workspace.dataset("medieval"))
    say(f"validate (labels derived again): {len(validation['disagreements'])} disagreements")
    with exploring(workspace) as connection:
        sample = sample_group(connection)
    return DemoResult(source, outcomes, summary, validation, sample)


def _rendered(folder: Path, patients: int, seed: int, say: Callable[[str], None]) -> dict[str, Path]:
    """Render the open world where it is not there yet, and return the folders that ``run`` takes."""
    from openworld import World, render

    made_from = f"patients={patients} seed={seed} content={code_digest(('openworld',))}\n"
    stamp = folder / STAMP
    world = World(folder)
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != made_from:
        world = render(folder, patients, seed)
        write_text(stamp, made_from)
        say(f"open world: {patients} patients rendered into {folder}")
    return {"umls": world.meta, "rxnorm": world.rxnorm, "mimic": world.mimic}
