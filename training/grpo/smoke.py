"""A smoke run: a tiny random model and two steps, to see that all parts fit each other; it can do nothing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from training.runs.settings import GrpoSettings

__all__ = ["smoke_settings", "write_random_model"]

VOCABULARY = 2000
POSITIONS = 32_768
TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}{{ eos_token }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def smoke_settings(settings: GrpoSettings) -> GrpoSettings:
    """Return settings of a run that shows that the parts fit each other: two steps of a few tokens."""
    hardware = settings.hardware.model_copy(update={"gradient_checkpointing": False})
    few = {"epochs": 1, "rows": 4, "evaluate_rows": 4, "prompts_per_step": 2, "group": 2, "per_device_batch_size": 2}
    short = {"max_new_tokens": 16, "max_prompt_tokens": 100_000}
    return settings.model_copy(update={**few, **short, "hardware": hardware})


def write_random_model(folder: Path, texts: Iterable[str], *, seed: int) -> Path:
    """Write a decoder of about 0.2 million random weights and a tokenizer trained on ``texts``; returns the folder."""
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast, Qwen3Config

    core = ByteLevelBPETokenizer()
    special = ["<pad>", "</s>"]
    core.train_from_iterator(texts, VOCABULARY, min_frequency=0, show_progress=False, special_tokens=special)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core._tokenizer, pad_token="<pad>", eos_token="</s>")
    tokenizer.chat_template = TEMPLATE
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=POSITIONS,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = AutoModelForCausalLM.from_config(config)
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
