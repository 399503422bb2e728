"""Is the paper's ordering seen? A small decoder, pretrained on invented notes, then SFT, DPO and CoRFu (Q1 over Q2).

MediEval, section 5.2 and appendix F, at the size that a machine allows: the figures say what happens to this small
model on the open world, and nothing of large models.
``python -m benchmarks.learning --dataset work/demo/datasets/medieval``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.command import parser, run
from benchmarks.measuring import RESULTS, machine
from benchmarks.training import PACKAGES
from ground.lm.tiny import tiny_tokenizer
from ground.stable import stable_hash
from ground.storage.files import private_directory, write_text
from ontoground.cli.render import note
from openworld import render

__all__ = ["SEEDS", "Recipe", "experiment", "main"]

WORLD_SEED = 11
"""Of the patients whose notes are pretrained on; the dataset's own world has another seed, so other patients."""
VOCABULARY = 2000
LAMBDAS = (0.0, 0.5, 1.0, 2.0)
SEEDS = (42, 43, 44)


@dataclass(frozen=True)
class Recipe:
    """Sizes of the experiment."""

    patients: int = 1300
    hidden: int = 128
    layers: int = 3
    length: int = 512
    pretraining_epochs: float = 1.0
    epochs: float = 3.0
    max_length: int = 160
    device: str = "cpu"


SIZES = {
    "patients": "invented patients whose notes are pretrained on",
    "hidden": "width of the decoder",
    "layers": "layers of the decoder",
    "pretraining_epochs": "passes over the notes",
    "epochs": "passes of the classifiers",
    "max_length": "tokens of context and statement",
}


def notes_of(folder: Path, patients: int) -> list[str]:
    """Return the discharge summaries of a rendered world."""
    world = render(folder, patients, WORLD_SEED)
    file = next(world.mimic.rglob("discharge.csv*"))
    return pl.read_csv(file)["text"].to_list()


def pretrain(recipe: Recipe, folder: Path) -> dict[str, Any]:
    """Train a decoder on notes of an open world; returns its losses. It is used again where it is there."""
    record = folder / "pretraining.json"
    if record.is_file():
        return dict(json.loads(record.read_text(encoding="utf-8")))
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, Trainer, TrainingArguments

    begin = time.perf_counter()
    texts = notes_of(folder.parent / "world", recipe.patients)
    tokenizer = tiny_tokenizer(texts, folder, vocab_size=VOCABULARY)
    ids = [np.array([1, *tokenizer(text, add_special_tokens=False)["input_ids"], 2]) for text in texts]
    order = sorted(range(len(ids)), key=lambda i: stable_hash(SEEDS[0], "note", i))
    stream = np.concatenate([ids[i] for i in order])
    rows = torch.from_numpy(stream[: len(stream) // recipe.length * recipe.length].reshape(-1, recipe.length))
    note(f"{len(texts):,} notes, {len(stream):,} tokens; pretraining ...")
    torch.manual_seed(SEEDS[0])
    model = AutoModelForCausalLM.from_config(
        AutoConfig.for_model(
            "llama",
            vocab_size=len(tokenizer), hidden_size=recipe.hidden, intermediate_size=3 * recipe.hidden,
            num_hidden_layers=recipe.layers, num_attention_heads=4, num_key_value_heads=4,
            max_position_embeddings=4096, pad_token_id=0, bos_token_id=1, eos_token_id=2, tie_word_embeddings=True,
        )
    )  # fmt: skip
    arguments = TrainingArguments(
        output_dir=str(folder / "checkpoints"), num_train_epochs=recipe.pretraining_epochs,
        per_device_train_batch_size=16, learning_rate=2e-3, warmup_steps=0.05, lr_scheduler_type="cosine",
        weight_decay=0.1, adam_beta2=0.95, save_strategy="no", logging_steps=20, report_to="none", disable_tqdm=True,
        use_cpu=recipe.device == "cpu", bf16=recipe.device == "cuda", seed=SEEDS[0],
    )  # fmt: skip
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=[{"input_ids": row, "labels": row} for row in rows],
    )
    trainer.train()
    model.save_pretrained(folder)
    found = {
        "notes": len(texts),
        "tokens": len(stream),
        "parameters": model.num_parameters(),
        "seconds": time.perf_counter() - begin,
        "losses": [[log["step"], log["loss"]] for log in trainer.state.log_history if "loss" in log],
    }
    write_text(record, json.dumps(found) + "\n")
    return found


def _settings(recipe: Recipe, seed: int) -> tuple[Any, Any]:
    """Return the classifier's and the policy's settings: small models learn at larger rates than the paper's 8B.

    All weights are trained (adapters of a model of this size learn nothing of other patients in a few epochs), and
    contexts are cut to ``max_length`` by section priority: short lists first.
    """
    from training.runs.settings import (
        ClassifierSettings,
        CorfuSettings,
        HardwareSettings,
        LoraSettings,
        OptimizerSettings,
        PackingSettings,
    )

    shared = {
        "seed": seed,
        "lora": LoraSettings(r=0),
        "optimizer": OptimizerSettings(learning_rate=2e-3, warmup_ratio=0.05),
        "hardware": HardwareSettings(device="cuda" if recipe.device == "cuda" else "cpu", save_steps=10**6),
    }

    def packing(most: int) -> PackingSettings:
        return PackingSettings(max_length=recipe.max_length, tokens_per_row=2048, max_per_context=most)

    return (
        ClassifierSettings.model_validate(
            {**shared, "epochs": recipe.epochs, "batch_size": 64, "packing": packing(32)}
        ),
        CorfuSettings.model_validate({**shared, "regime": "q1_q2", "batch_size": 32, "packing": packing(16)}),
    )


def arms(dataset: Any, base: Path, out: Path, recipe: Recipe, seed: int) -> list[Path]:
    """Train every arm of one seed and write its predictions of the test split; what is there is used again.

    SFT fits adapter and head on the pretrained model; DPO (lambda 0) and CoRFu train a policy first, on which adapter
    and head are then fitted in the same way (`fit-head`), and which also answers by itself (`score`).
    """
    from evaluation.predictions import write_predictions
    from training.classifier.train import predict_classifier, train_classifier
    from training.corfu.run import train_corfu
    from training.corfu.scores import score_quadrants

    classifier, corfu = _settings(recipe, seed)
    files = []

    def classified(name: str, model: Path, folder: Path) -> None:
        file = folder / "predictions-test.parquet"
        if not file.is_file():
            train_classifier(dataset, model, folder, classifier, resume=True)
            write_predictions(file, predict_classifier(folder, dataset, "test", name=name))
        files.append(file)

    classified("small decoder + SFT", base, out / f"sft-{seed}")
    for value in LAMBDAS:
        policy = out / f"lambda-{value:g}-{seed}"
        train_corfu(dataset, base, policy, corfu.model_copy(update={"lambda_": value}), resume=True)
        arm = arm_name(value)
        classified(arm, policy, out / f"head-{value:g}-{seed}")
        file = policy / "predictions-test.parquet"
        if not file.is_file():
            write_predictions(file, score_quadrants(policy, dataset, "test", corfu, name=f"{arm}, score"))
        files.append(file)
    return files


def arm_name(value: float) -> str:
    """Return what the report calls an arm."""
    return "small decoder + DPO" if value == 0 else f"small decoder + CoRFu lambda {value:g}"


def experiment(dataset_folder: Path, out: Path, recipe: Recipe, seeds: Sequence[int]) -> dict[str, Any]:
    """Pretrain, train every arm with every seed, and evaluate all of them in one report."""
    from evaluation.datasets import MedievalDataset
    from evaluation.report import evaluate_quadrants
    from training.runs.models import quiet

    dataset = MedievalDataset.open(dataset_folder)
    with quiet():
        pretraining = pretrain(recipe, private_directory(out / "decoder"))
        files = [file for seed in seeds for file in arms(dataset, out / "decoder", out, recipe, seed)]
        report = evaluate_quadrants(
            dataset, files, out / "report", lambdas={arm_name(value): ("CoRFu", value) for value in LAMBDAS}
        )
    kept = [{name: model[name] for name in ("name", "kind", "seeds", "metrics")} for model in report["models"]]
    return {"pretraining": pretraining, "evaluated": report["dataset"], "models": kept}


def _arguments(values: list[str]) -> argparse.Namespace:
    options = parser("learning", __doc__ or "", "python -m benchmarks.learning --dataset work/demo/datasets/medieval")
    options.add_argument("--dataset", type=Path, required=True, help="a dataset of the open world (ontoground demo)")
    options.add_argument("--out", type=Path, default=Path("work/learning"), help="folder of models and report")
    for name, what in SIZES.items():
        default = getattr(Recipe, name)
        told = f"{what} (default {default})"
        options.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default, help=told)
    options.add_argument("--seeds", default=",".join(map(str, SEEDS)), help="seeds of the arms")
    options.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where it runs (default cpu)")
    options.add_argument("--save", action="store_true", help="write benchmarks/results/learning-DEVICE.json")
    return options.parse_args(values)


def main(values: list[str]) -> int:
    """Run the experiment and say where its report is."""
    given = _arguments(values)
    recipe = Recipe(**{one.name: getattr(given, one.name) for one in fields(Recipe) if hasattr(given, one.name)})
    seeds = [int(seed) for seed in given.seeds.split(",")]
    found = experiment(given.dataset, given.out, recipe, seeds)
    note(f"report: {given.out / 'report' / 'report.md'}")
    if given.save:
        described = machine()
        described["packages"] |= {name: version(name) for name in PACKAGES}
        settings = {**vars(recipe), "seeds": seeds, "lambdas": LAMBDAS, "dataset": given.dataset.name}
        path = RESULTS / f"learning-{given.device}.json"
        write_text(path, json.dumps({"settings": settings, "machine": described, **found}, indent=2) + "\n")
        note(f"written: {path}")
    return 0


if __name__ == "__main__":
    run(main)
