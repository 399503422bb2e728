"""Decoders with random weights and tokenizers trained on the spot: no weights are fetched, all loads as a real model.

They can do nothing; they show that parts fit each other, and are what is measured and tested where words do not matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

__all__ = ["tiny_decoder", "tiny_tokenizer"]

Kind = Literal["llama", "qwen3", "mistral", "mixtral"]

# Roles between marks, as Qwen's and Llama's templates have them; the mark after an answer is the end-of-text token.
CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}{{ eos_token }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def tiny_tokenizer(texts: Iterable[str], folder: Path, chat: bool = False, vocab_size: int = 512) -> Any:
    """Train a byte-level BPE on ``texts``, save it to ``folder`` and return it; ``chat`` gives it a template.

    Every text can be encoded (all 256 bytes are in the vocabulary) and decoded to itself.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=["<pad>", "<s>", "</s>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    core.train_from_iterator(texts, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        clean_up_tokenization_spaces=False,
    )
    if chat:
        tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.save_pretrained(folder)
    return tokenizer


def tiny_decoder(
    kind: Kind, tokenizer: Any, folder: Path, hidden: int = 32, layers: int = 2, seed: int = 0, positions: int = 4096
) -> Path:
    """Save a decoder with random weights (4 heads, 2 key-value heads) and its tokenizer to ``folder``; return it.

    ``AutoModelForCausalLM.from_pretrained(folder)`` and ``AutoTokenizer.from_pretrained(folder)`` load it.
    """
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    sizes: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": hidden,
        "intermediate_size": 2 * hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": hidden // 4,
        "max_position_embeddings": positions,
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
    }
    if kind in ("mistral", "mixtral"):
        sizes["sliding_window"] = None
    if kind == "mixtral":
        sizes |= {"num_local_experts": 4, "num_experts_per_tok": 2}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **sizes))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
