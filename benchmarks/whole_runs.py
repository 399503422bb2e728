"""One run of a training verb from its beginning to its end: stopped behind its first checkpoint, gone on with, used.

Its model is a tiny decoder with random weights: what is shown is that all parts of a run fit each other and the device.
"""

from __future__ import annotations

import signal
import tempfile
from _thread import interrupt_main
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event, Thread
from typing import Any

import polars as pl

from ground.lm.tiny import tiny_decoder, tiny_tokenizer

__all__ = ["VERBS", "whole_run"]

STEPS, KEPT_EVERY = 6, 2
"""Optimizer steps of a run, about, and between two of its checkpoints."""
WIDTH, POSITIONS, VOCABULARY = 128, 8192, 2000
"""Of the decoder, whose 4 heads are as wide as FlexAttention wants them, at least."""
PROMPTS, GROUP = 4, 2
"""Rows of a step of GRPO, and the answers to each."""

Trains = Callable[..., dict[str, Any]]
"""Trains into a folder, with ``resume`` or without; returns the record."""
Uses = Callable[[], int]
"""Has what was trained answer rows, and returns their number."""


def whole_run(device: str, verb: str, dataset: Path) -> dict[str, Any]:
    """Begin a run of a verb, stop it behind its first checkpoint, go on with it, and have the model answer.

    Returns the optimizer steps, at which it was stopped (None: it was whole before), the first loss and the last, what
    the rest of the run took (`training.runs.resuming.Measured`), the memory that was estimated and measured, in bytes,
    how many rows were answered, and what the record says of the machine.
    """
    from training.runs.models import quiet

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with quiet():
            model = _decoder(folder / "decoder", dataset)
        train, use = VERBS[verb](device, dataset, model, folder / "run")
        stopped = _stopped(train, folder / "run")
        record = train(resume=True)
        answered = use()
    stages = record.get("stages") or [record | {"records": record["losses"]}]
    losses = [record["loss"] for stage in stages for record in stage["records"]]
    memory = record["memory"]
    return {
        "steps": record["steps"],
        "stopped_at": stopped,
        "losses": [losses[0], losses[-1]],
        "measured": stages[-1]["measured"],
        "memory": {name: memory[name] for name in ("total", "measured")},
        "answered": answered,
        "run": record["machine"],
    }


def _decoder(folder: Path, dataset: Path) -> Path:
    texts = pl.scan_parquet(dataset / "data" / "train-*.parquet").select("context", "statement").unique().collect()
    words = [text for column in texts.iter_columns() for text in column.unique(maintain_order=True)]
    tokenizer = tiny_tokenizer(words, folder, vocab_size=VOCABULARY)
    return tiny_decoder("llama", tokenizer, folder, hidden=WIDTH, positions=POSITIONS)


def _stopped(train: Trains, folder: Path) -> int | None:
    """Interrupt training once a checkpoint is written; returns its step, None where training was done before."""
    from training.runs.resuming import last_checkpoint

    done = Event()

    def written() -> list[str]:
        return [last for file in folder.rglob("checkpoint-*") if (last := last_checkpoint(file.parent))]

    def watch() -> None:
        while not done.wait(0.01):
            if written():
                interrupt_main()
                return

    # A program that a shell has put into the background ignores interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    Thread(target=watch, daemon=True).start()
    try:
        train(resume=False)
    except KeyboardInterrupt:
        return int(written()[0].rpartition("-")[2])
    finally:
        done.set()
        signal.signal(signal.SIGINT, before)
    return None


def _hardware(device: str, **own: Any) -> dict[str, Any]:
    return {"device": device, "save_steps": KEPT_EVERY, **own}


def _classifier(device: str, dataset: Path, model: Path, out: Path) -> tuple[Trains, Uses]:
    from evaluation.datasets import MedievalDataset
    from training.classifier.train import predict_classifier, train_classifier
    from training.runs.settings import ClassifierSettings

    rows, size = MedievalDataset.open(dataset), ClassifierSettings().batch_size
    epochs = STEPS * size / rows.split_rows("train").height
    settings = ClassifierSettings.model_validate({"epochs": epochs, "hardware": _hardware(device)})

    def train(*, resume: bool) -> dict[str, Any]:
        return train_classifier(rows, model, out, settings, resume=resume)

    return train, lambda: predict_classifier(out, rows, "test").height


def _corfu(device: str, dataset: Path, model: Path, out: Path) -> tuple[Trains, Uses]:
    from evaluation.datasets import MedievalDataset
    from training.corfu.run import train_corfu
    from training.corfu.scores import score_quadrants
    from training.runs.settings import CorfuSettings

    rows, size = MedievalDataset.open(dataset), CorfuSettings().batch_size
    winners = rows.split_rows("train").filter(pl.col("quadrant") == "Q1").height
    settings = CorfuSettings.model_validate({"epochs": STEPS * size / winners, "hardware": _hardware(device)})

    def train(*, resume: bool) -> dict[str, Any]:
        return train_corfu(rows, model, out, settings, resume=resume)

    return train, lambda: score_quadrants(out, rows, "test", settings).height


def _medhal(device: str, dataset: Path, model: Path, out: Path) -> tuple[Trains, Uses]:
    from evaluation.datasets import TextDataset
    from training.runs.settings import GenerationSettings, MedhalSettings
    from training.sft.generate import generate
    from training.sft.train import train_texts

    # 4-bit weights and paged states where they are meant to be.
    hardware = _hardware(device, quantize="nf4" if device == "cuda" else "none")
    rows = TextDataset.open(dataset, "medhal").count("train")
    epochs = STEPS * MedhalSettings().batch_size / rows
    settings = MedhalSettings.model_validate({"epochs": epochs, "hardware": hardware})
    answers = GenerationSettings.model_validate({"max_new_tokens": 8, "hardware": hardware})

    def train(*, resume: bool) -> dict[str, Any]:
        return train_texts("medhal", dataset, str(model), out, settings, resume=resume)

    return train, lambda: int(generate("medhal", dataset, str(out), out / "answers.parquet", answers)["rows"])


def _grpo(device: str, dataset: Path, model: Path, out: Path) -> tuple[Trains, Uses]:
    from ground.contracts.grading import Reference
    from ground.contracts.labels import parse_label
    from training.grpo.prompts import Row
    from training.grpo.train import EVALUATION, Arm, train_arm
    from training.runs.settings import GrpoSettings

    texts = pl.scan_parquet(dataset / "data" / "*.parquet").select("statement").unique().sort("statement").collect()
    asked = [f"How many drugs are named? {text}" for text in texts["statement"].head(STEPS * PROMPTS)]
    right = parse_label("1")
    rows = [Row(f"row {at}", text, Reference(right, right, right)) for at, text in enumerate(asked)]
    arm = Arm("one", rows, {"name": "statements", "licence_tier": "open"}, {"one": rows[:PROMPTS]})
    few = {"epochs": 1, "prompts_per_step": PROMPTS, "group": GROUP, "per_device_batch_size": PROMPTS * GROUP}
    settings = GrpoSettings.model_validate({**few, "max_new_tokens": 16, "hardware": _hardware(device)})

    def train(*, resume: bool) -> dict[str, Any]:
        return train_arm(arm, str(model), out, settings, resume=resume)

    return train, lambda: pl.read_parquet(out / EVALUATION).height


VERBS: Mapping[str, Callable[[str, Path, Path, Path], tuple[Trains, Uses]]] = {
    "classifier": _classifier,
    "corfu": _corfu,
    "medhal": _medhal,
    "grpo": _grpo,
}
"""How a verb's run is begun, gone on with and used: on a device, with a dataset and a base model, into a folder."""
