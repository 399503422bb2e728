"""What a causal model in this process answers to prompts: the one place where tokens are sampled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from ground.errors import OntogroundError, UsageError

__all__ = ["BATCHING", "Batching", "Sampled", "end_tokens", "sampled"]

Batching = Literal["padded", "continuous"]
BATCHING = "padded: prompts of like length together; continuous: a prompt takes the room of an answer that ended"
SHARE_OF_A_MACHINE = 0.05
"""Of a machine's memory, for the cache of continuous batching where there is no card."""


class Sampled(NamedTuple):
    """An answer: which prompt's, its tokens, and the token that ended it; None: it was cut."""

    prompt: int
    tokens: list[int]
    end: int | None


def end_tokens(model: Any, tokenizer: Any = None) -> list[int]:
    """Return the tokens that end an answer: the model's own and, where it is given, the tokenizer's; sorted."""
    stated = model.generation_config.eos_token_id
    listed = stated if isinstance(stated, list) else [stated]
    return sorted({token for token in (*listed, getattr(tokenizer, "eos_token_id", None)) if token is not None})


def sampled(
    model: Any, prompts: Sequence[Sequence[int]], config: Any, at_once: int, batching: Batching = "padded"
) -> Iterator[Sampled]:
    """Yield each prompt's answer, longest prompts first.

    Args:
        model: a causal model, in evaluation mode.
        prompts: tokens of each.
        config: transformers' ``GenerationConfig``, with ``pad_token_id``; ``eos_token_id`` ends an answer.
        at_once: prompts of a padded batch.
        batching: ``padded``: batches of like length, padded on the left, that last as long as their longest answer;
            ``continuous``: transformers' continuous batching, where a prompt takes the room of an answer that has
            ended, and ``at_once`` has no say. Greedy answers are the same but for the last bits of a sum; sampled ones
            are other draws.

    Raises:
        OntogroundError: the device's memory is full, or continuous batching breaks off.
        UsageError: this model has no continuous batching.
    """
    import torch

    ends = config.eos_token_id if isinstance(config.eos_token_id, list) else [config.eos_token_id]
    order = sorted(range(len(prompts)), key=lambda number: (-len(prompts[number]), number))
    size = len(order) if batching == "continuous" else at_once
    make = _continuous if batching == "continuous" else _padded
    for begin in range(0, len(order), size):
        batch = order[begin : begin + size]
        try:
            # Not inference_mode: continuous batching works in a thread of its own.
            with torch.no_grad():
                answers = make(model, [list(prompts[number]) for number in batch], config)
        except torch.OutOfMemoryError as error:
            raise OntogroundError(
                "the device's memory is full",
                do="answer fewer prompts at once (batch_size, generation_batch_size), or lower the tokens of an answer",
            ) from error
        for number, answer in zip(batch, answers, strict=True):
            stop = next((place for place, token in enumerate(answer) if token in ends), None)
            yield Sampled(number, answer[:stop], None if stop is None else answer[stop])


def _padded(model: Any, prompts: list[list[int]], config: Any) -> list[list[int]]:
    import torch

    width, device = max(map(len, prompts)), next(model.parameters()).device
    ids = torch.tensor([[config.pad_token_id] * (width - len(one)) + one for one in prompts], device=device)
    mask = torch.tensor([[0] * (width - len(one)) + [1] * len(one) for one in prompts], device=device)
    out = model.generate(input_ids=ids, attention_mask=mask, generation_config=config)
    answers: list[list[int]] = out[:, width:].tolist()
    return answers


def _continuous(model: Any, prompts: list[list[int]], config: Any) -> list[list[int]]:
    if not hasattr(model, "generate_batch"):
        raise UsageError("this model has no continuous batching", do="use padded")
    from transformers import ContinuousBatchingConfig

    # The cache takes most of what is free, which is right for a card and wrong for the memory of a whole machine.
    room = ContinuousBatchingConfig(max_memory_percent=None if model.device.type == "cuda" else SHARE_OF_A_MACHINE)
    made = model.generate_batch(prompts, generation_config=config, continuous_batching_config=room)
    found = list(made.values())
    broken = len(prompts) - sum(one.error is None for one in found)
    if broken:
        raise OntogroundError(
            "continuous batching broke off", found=f"{broken} of {len(prompts)} without an answer", do="use padded"
        )
    return [list(one.generated_tokens) for one in found]
