"""Is the paper's ordering seen? A small decoder is pretrained on invented notes; the study ``learning.toml`` trains it.

MediEval, section 5.2 and appendix F, at the size that a machine allows: SFT, DPO and CoRFu (Q1 over Q2), and a head on
each policy. The figures say what happens to this small model on the open world, and nothing of large models.
``python -m benchmarks.learning --workspace work/demo``.
"""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.command import parser, run
from ground.lm.tiny import tiny_decoder, tiny_tokenizer
from ground.stable import stable_hash
from ontoground.cli.main import invoke
from ontoground.cli.render import note
from openworld import render

__all__ = ["main", "pretrain"]

STUDY = Path(__file__).with_suffix(".toml")
MODEL = Path("models/pretrained")
WORLD_SEED = 11
"""Of the patients whose notes are pretrained on; the dataset's own world has another seed, so other patients."""
PATIENTS, VOCABULARY, LENGTH, HIDDEN, LAYERS = 1300, 2000, 512, 128, 3


def pretrain(folder: Path, patients: int, world: Path) -> None:
    """Train a decoder on the discharge summaries of an open world, which is written, for one epoch."""
    import torch
    from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

    texts = pl.read_csv(next(render(world, patients, WORLD_SEED).mimic.rglob("discharge.csv*")))["text"].to_list()
    tokenizer = tiny_tokenizer(texts, folder, vocab_size=VOCABULARY)
    ids = [np.array([1, *tokenizer(text, add_special_tokens=False)["input_ids"], 2]) for text in texts]
    order = sorted(range(len(ids)), key=lambda i: stable_hash(WORLD_SEED, "note", i))
    stream = np.concatenate([ids[i] for i in order])
    rows = torch.from_numpy(stream[: len(stream) // LENGTH * LENGTH].reshape(-1, LENGTH))
    note(f"{len(texts):,} notes, {len(stream):,} tokens; pretraining ...")
    start = tiny_decoder("llama", tokenizer, folder.with_name("untrained"), hidden=HIDDEN, layers=LAYERS)
    arguments = TrainingArguments(
        output_dir=str(folder.with_name("pretraining")), num_train_epochs=1, per_device_train_batch_size=16,
        learning_rate=2e-3, warmup_steps=0.05, lr_scheduler_type="cosine", weight_decay=0.1, adam_beta2=0.95,
        save_strategy="no", report_to="none", disable_tqdm=True, bf16=torch.cuda.is_available(), seed=WORLD_SEED,
    )  # fmt: skip
    model = AutoModelForCausalLM.from_pretrained(start)
    Trainer(model=model, args=arguments, train_dataset=[{"input_ids": row, "labels": row} for row in rows]).train()
    model.save_pretrained(folder)


def main(values: list[str]) -> int:
    """Pretrain what is not there, do the study in a workspace, and write its report."""
    options = parser("learning", __doc__ or "", "python -m benchmarks.learning --workspace work/demo")
    options.add_argument("--workspace", type=Path, required=True, help="of the open world (ontoground demo)")
    options.add_argument("--patients", type=int, default=PATIENTS, help=f"pretrained on (default {PATIENTS})")
    given = options.parse_args(values)
    with chdir(given.workspace):
        if not (MODEL / "model.safetensors").is_file():
            pretrain(MODEL, given.patients, Path("models/world"))
        return max(invoke(["study", verb, str(STUDY), "--workspace", "."]) for verb in ("run", "report"))


if __name__ == "__main__":
    run(main)
