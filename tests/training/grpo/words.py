"""A language of a few words, and a model that says one of two answers at random: rewards can make it choose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from ground.contracts.grading import Reference
from ground.contracts.labels import parse_label
from training.grpo.prompts import read_rows
from training.grpo.train import Arm

WORDS = ("<pad>", "</s>", "<unk>", "<answer>", "</answer>", "1", "unknown")

ANSWERS = ("1", "unknown")


def word_model(folder: Path) -> Path:
    """Write a decoder that ends every text by `1` or by `unknown`, in tags, each about half of the time."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast, Qwen3Config

    from training.grpo.prompts import messages

    core = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = AutoModelForCausalLM.from_config(
            Qwen3Config(
                vocab_size=len(WORDS),
                hidden_size=32,
                intermediate_size=32,
                num_hidden_layers=2,
                num_attention_heads=2,
                num_key_value_heads=1,
                head_dim=16,
                max_position_embeddings=1024,
                pad_token_id=0,
                bos_token_id=None,
                eos_token_id=1,
            )
        )
        asked = messages(tokenizer, "question 0")
        ids = torch.tensor([tokenizer(f"{asked} <answer> {word} </answer> </s>")["input_ids"] for word in ANSWERS])
        labels = ids.clone()
        labels[:, :-4] = -100
        optimizer = torch.optim.Adam(model.parameters(), 1e-2)
        for _ in range(40):
            optimizer.zero_grad()
            model(input_ids=ids, labels=labels).loss.backward()
            optimizer.step()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def drawn_in_turn(trainer: Any, prompt_ids: Any, *_: Any, **__: Any) -> tuple[list[list[int]], None]:
    """Stand in for trl's sampling, whose draws depend on the process: of a group of four every first one abstains."""
    said = [f"<answer> {ANSWERS[place % 4 == 0]} </answer> </s>" for place in range(len(prompt_ids))]
    return [trainer.processing_class(text)["input_ids"] for text in said], None


def word_arm(folder: Path, label: str, abstained: int = 0) -> Arm:
    """Return an arm of eight rows that have one label but for the first so many, and four of them to evaluate on."""
    labels = {str(n): "N/A" if n < abstained else label for n in range(8)}
    rows = read_rows(write_rows(folder / f"{label[0]}.parquet", labels))
    return Arm(label[0], rows, {"name": "words", "licence_tier": "open"}, {"same": rows[:4]})


def write_rows(file: Path, labels: dict[str, str], *, sets: str | None = None) -> Path:
    """Write rows with a prompt each and the limits of the corrected labels; with ``sets`` as a set of evaluation."""
    rows = []
    for uid, label in labels.items():
        reference = Reference.of(parse_label(label), "corrected")
        ends = {"lower": reference.lower.text(), "upper": reference.upper.text()}
        rows.append({"uid": uid, "prompt": f"question {uid}", "label": label, **ends})
    frame = pl.DataFrame(rows)
    (frame.select(pl.lit(sets).alias("set"), pl.all()) if sets else frame).write_parquet(file)
    return file
