"""What sharing costs in accuracy: one small decoder, trained with 1, 4, 8 or 16 statements of an admission in a step.

A step of 32 statements holds 32 admissions where each gives one, and 2 where each gives 16. Same rows, steps, weights
and seeds otherwise. The decoder is drawn at random and trained whole, so that the figures say what happens to a small
model that learns from nothing. ``python -m benchmarks.mixing --dataset work/demo/datasets/medieval``.
"""

from __future__ import annotations

import argparse
import json
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.command import parser, run
from benchmarks.measuring import RESULTS, machine
from benchmarks.tokenizer import train_tokenizer
from benchmarks.training import PACKAGES
from ground.storage.files import private_directory, write_text
from ontoground.cli.render import note

__all__ = ["main"]

KEPT = ("accuracy", "f1", "hsr", "tir", "is_true_accuracy", "is_supported_accuracy")
VOCABULARY = 2000


def decoder(folder: Path, texts: list[str], hidden: int, layers: int) -> Path:
    """Write a decoder of random weights and a tokenizer of these texts; what is there is used again."""
    if (folder / "config.json").is_file():
        return folder
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    tokenizer = train_tokenizer(texts, private_directory(folder), VOCABULARY)
    torch.manual_seed(0)
    config = AutoConfig.for_model(
        "llama",
        vocab_size=len(tokenizer), hidden_size=hidden, intermediate_size=3 * hidden, num_hidden_layers=layers,
        num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=4096,
        pad_token_id=0, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    return folder


def _settings(given: argparse.Namespace, seed: int, most: int) -> Any:
    from training.runs.settings import ClassifierSettings

    return ClassifierSettings.model_validate(
        {
            "seed": seed,
            "epochs": given.epochs,
            "batch_size": given.batch_size,
            "lora": {"r": 0},
            "optimizer": {"learning_rate": given.learning_rate, "warmup_ratio": 0.05},
            "packing": {"max_length": given.max_length, "tokens_per_row": 2048, "max_per_context": most},
            "hardware": {"device": given.device, "save_steps": 10**6, "gradient_checkpointing": False},
        }
    )


def experiment(given: argparse.Namespace, chosen: list[int], seeds: list[int]) -> dict[str, Any]:
    """Train and predict with every setting and seed, and evaluate all of them in one report."""
    from evaluation.predictions import write_predictions
    from evaluation.quadrants.dataset import MedievalDataset
    from evaluation.quadrants.report import evaluate_quadrants
    from training.classifier.train import predict_classifier, train_classifier

    dataset = MedievalDataset.open(given.dataset)
    texts = [*dataset.contexts["context"], *dataset.rows["statement"]]
    base = decoder(given.out / "decoder", texts, given.hidden, given.layers)
    files, seconds = [], {}
    for seed in seeds:
        for most in chosen:
            folder = given.out / f"{most}-{seed}"
            files.append(folder / f"predictions-{given.split}.parquet")
            if files[-1].is_file():
                continue
            begin = time.perf_counter()
            train_classifier(dataset, base, folder, _settings(given, seed, most), resume=True)
            seconds[f"{most}-{seed}"] = time.perf_counter() - begin
            name = f"at most {most} of an admission"
            write_predictions(files[-1], predict_classifier(folder, dataset, given.split, name=name))
            note(f"{name}, seed {seed}: {seconds[f'{most}-{seed}']:.0f} s")
    report = evaluate_quadrants(dataset, files, given.out / "report", split=given.split, baselines=False)
    models = [
        {"name": one["name"], "seeds": one["seeds"], "metrics": {name: one["metrics"][name] for name in KEPT}}
        for one in report["models"]
    ]
    differences = [{name: one[name] for name in ("a", "b", "differences")} for one in report["comparisons"]]
    return {"evaluated": report["dataset"], "models": models, "comparisons": differences, "seconds": seconds}


def _arguments(values: list[str]) -> argparse.Namespace:
    options = parser("mixing", __doc__ or "", "python -m benchmarks.mixing --dataset work/demo/datasets/medieval")
    options.add_argument("--dataset", type=Path, required=True, help="a dataset of the open world (ontoground demo)")
    options.add_argument("--out", type=Path, default=Path("work/mixing"), help="folder of models and report")
    options.add_argument("--split", choices=("validation", "test"), default="test", help="which rows are judged")
    options.add_argument("--most", default="1,4,8,16", help="statements of an admission in a step, at most")
    options.add_argument("--seeds", default="42,43,44", help="seeds of each setting")
    options.add_argument("--hidden", type=int, default=64, help="width of the decoder (default 64)")
    options.add_argument("--layers", type=int, default=2, help="layers of the decoder (default 2)")
    options.add_argument("--epochs", type=float, default=3, help="passes (default 3)")
    options.add_argument("--batch-size", type=int, default=32, help="statements in a step (default 32)")
    options.add_argument("--learning-rate", type=float, default=2e-3, help="peak learning rate (default 0.002)")
    options.add_argument("--max-length", type=int, default=128, help="tokens of context and statement (default 128)")
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
        names = ("hidden", "layers", "epochs", "batch_size", "learning_rate", "max_length", "device", "split")
        settings = {name: getattr(given, name) for name in names} | {"most": chosen, "seeds": seeds}
        settings |= {"dataset": given.dataset.name, "vocabulary": VOCABULARY}
        path = RESULTS / f"mixing-{given.device}.json"
        write_text(path, json.dumps({"settings": settings, "machine": described, **found}, indent=2) + "\n")
        note(f"written: {path}")
    return 0


if __name__ == "__main__":
    run(main)
