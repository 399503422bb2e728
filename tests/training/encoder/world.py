"""A tiny encoder with a tokenizer trained on the spot, and a small dataset that can be learned from its texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from evaluation.datasets import COLUMNS, MedievalDataset
from tests.manifests import write_manifest

__all__ = ["DRUGS", "small_dataset", "tiny_encoder", "tiny_word_tokenizer"]

DRUGS = ("aspirin", "warfarin", "insulin", "metformin", "lisinopril", "cefepime", "morphine", "zolpidem")
FILLER = "the patient came in with pain and was given"


def tiny_word_tokenizer() -> Any:
    """Return a BERT tokenizer whose words are those of the small dataset; letters spell all others."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    core.normalizer = normalizers.BertNormalizer()
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    trainer = trainers.WordPieceTrainer(vocab_size=400, special_tokens=special, show_progress=False)
    core.train_from_iterator([*DRUGS, FILLER, "is classified as medicine disease . 0 1 2 3 4 5 6 7 8 9"] * 20, trainer)
    core.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )


def tiny_encoder(folder: Path, kind: str = "bert", layers: int = 2, hidden: int = 32, positions: int = 64) -> Path:
    """Save an encoder with random weights and its tokenizer as a hub model lies on disk; return the folder."""
    import torch
    from transformers import AutoConfig, AutoModel

    tokenizer = tiny_word_tokenizer()
    sizes: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": hidden,
        "intermediate_size": 2 * hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "max_position_embeddings": positions,
        "pad_token_id": tokenizer.pad_token_id,
        "cls_token_id": tokenizer.cls_token_id,
        "sep_token_id": tokenizer.sep_token_id,
        "bos_token_id": None,
        "eos_token_id": None,
    }
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = AutoConfig.for_model(kind, **sizes)
        model = AutoModel.from_config(config)
        # As in trained encoders, a word weighs more than its place.
        model.get_input_embeddings().weight.data.mul_(10)
        model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _context(admission: int, given: set[int]) -> str:
    """Name the given drugs far apart, so that windows matter."""
    words = [f"{FILLER} {DRUGS[i]} {admission}" for i in sorted(given)]
    return ". ".join(words) + f". {FILLER}" * 3 + "."


def small_dataset(folder: Path, admissions: int = 8) -> MedievalDataset:
    """Write a dataset whose labels follow from its texts.

    One word of a statement makes it true or false; it is supported where the context names its drug.

    Training and test rows have other admissions; every quadrant is there in each.
    """
    rows = []
    for admission in range(admissions):
        given = {(admission + step) % len(DRUGS) for step in range(4)}
        split = "test" if admission == admissions - 1 else "validation" if admission == admissions - 2 else "train"
        for i, drug in enumerate(DRUGS):
            for true in (True, False):
                named = "medicine" if true else "disease"
                rows.append(
                    {
                        "id": f"{admission}-{i}-{int(true)}",
                        "group_id": f"{admission}-{i}",
                        "subject_id": admission,
                        "hadm_id": 100 + admission,
                        "statement": f"{drug} is classified as {named}.",
                        "quadrant": {(1, 1): "Q1", (1, 0): "Q2", (0, 1): "Q3", (0, 0): "Q4"}[(true, i in given)],
                        "is_true": true,
                        "is_supported": i in given,
                        "predicate": "classified_as",
                        "head_name": drug,
                        "tail_name": named,
                        "hops": 1,
                        "tier": "stated" if true else None,
                        "support_level": "stated" if i in given else "silent",
                        "split": split,
                        "fact_split": split,
                        "given": "none",
                        "fold": admission % 3,
                        "context": _context(admission, given),
                    }
                )
    (folder / "data").mkdir(parents=True)
    frame = pl.DataFrame(rows)
    assert set(COLUMNS["medieval"]) <= set(frame.columns)
    for name in ("train", "validation", "test"):
        frame.filter(pl.col("split") == name).write_parquet(folder / "data" / f"{name}-00000-of-00001.parquet")
    write_manifest(folder, "medieval")
    return MedievalDataset.open(folder)
