"""Answers of a causal model in this process: the only place where messages become tokens and answers are sampled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from ground.errors import OntogroundError, UsageError

__all__ = [
    "BATCHING",
    "Batching",
    "Sampled",
    "WrittenAnswer",
    "answers",
    "end_tokens",
    "prompt_tokens",
    "sampled",
    "unmarked",
]

Batching = Literal["padded", "continuous"]
BATCHING = "padded: prompts of like length together; continuous: a prompt takes the room of an answer that ended"
SHARE_OF_A_MACHINE = 0.05
"""Share of the memory that the cache of continuous batching takes where there is no GPU."""


class Sampled(NamedTuple):
    """An answer: the number of its prompt, its tokens, and the token that ended it (None: it was cut)."""

    prompt: int
    tokens: list[int]
    end: int | None


class WrittenAnswer(NamedTuple):
    """An answer as text (None: too long a prompt), the number of its prompt and of its tokens, whether it was cut."""

    prompt: int
    text: str | None
    tokens: int
    cut: bool


def unmarked(tokenizer: Any, text: str) -> str:
    """Break the special tokens in a text, since chat templates would read them as their own."""
    marks = [str(token) for token in tokenizer.added_tokens_decoder.values() if token.special]
    if not any(mark in text for mark in marks):
        return text
    for mark in sorted(marks, key=len, reverse=True):
        text = text.replace(mark, f"{mark[0]} {mark[1:]}")
    return text


def prompt_tokens(tokenizer: Any, messages: Sequence[Mapping[str, str]], **template: Any) -> list[int]:
    """Return the tokens of a conversation (``role``, ``content``) up to where the answer begins.

    With the tokenizer's chat template where it has one, which is told ``template``; else as plain text, a blank line
    between the messages and, unless the last ends its line, behind them, after the tokens that the tokenizer puts
    first. Special tokens that stand in the messages are read as their letters.
    """
    if tokenizer.chat_template:
        readable = [{**message, "content": unmarked(tokenizer, message["content"])} for message in messages]
        text = tokenizer.apply_chat_template(readable, tokenize=False, add_generation_prompt=True, **template)
        # The template has written the special tokens itself.
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])
    text = "\n\n".join(message["content"] for message in messages)
    ids = list(tokenizer(text if text.endswith("\n") else f"{text}\n\n", split_special_tokens=True)["input_ids"])
    return ids[:-1] if ids and ids[-1] == tokenizer.eos_token_id else ids


def answers(
    model: Any,
    tokenizer: Any,
    prompts: Sequence[Sequence[int]],
    room: int,
    tokens: int,
    at_once: int,
    batching: Batching = "padded",
    *,
    temperature: float | None,
    **more: Any,
) -> Iterator[WrittenAnswer]:
    """Yield what a model says to each prompt: to those of more than ``room`` tokens nothing, then longest first.

    An answer has ``tokens``, at most. ``at_once``, ``batching`` and errors are those of `sampled`; at ``temperature`` 0
    answers are greedy, with None as the model has it; ``more`` are further generation options of transformers.
    """
    from transformers import GenerationConfig

    fitting = [number for number, prompt in enumerate(prompts) if len(prompt) <= room]
    yield from (WrittenAnswer(number, None, 0, False) for number in range(len(prompts)) if len(prompts[number]) > room)
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id or 0
    if temperature is not None:
        more |= {"do_sample": temperature > 0, "temperature": temperature or None}
    ends = end_tokens(model, tokenizer)
    config = GenerationConfig(pad_token_id=pad, eos_token_id=ends, max_new_tokens=tokens, **more)
    for answer in sampled(model, [prompts[number] for number in fitting], config, at_once, batching):
        text, cut = tokenizer.decode(answer.tokens, skip_special_tokens=True), answer.end is None
        yield WrittenAnswer(fitting[answer.prompt], text, len(answer.tokens) + (not cut), cut)


def end_tokens(model: Any, tokenizer: Any) -> list[int]:
    """Return the tokens that end an answer, the model's own and the tokenizer's; sorted."""
    stated = model.generation_config.eos_token_id
    listed = stated if isinstance(stated, list) else [stated]
    return sorted({token for token in (*listed, tokenizer.eos_token_id) if token is not None})


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
    size = at_once if batching == "padded" else len(order) or 1
    make = _continuous if batching == "continuous" else _padded
    for begin in range(0, len(order), size):
        batch = order[begin : begin + size]
        try:
            # Not inference_mode, since continuous batching works in a thread of its own.
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
    ids = torch.tensor([[config.pad_token_id] * (width - len(prompt)) + prompt for prompt in prompts], device=device)
    mask = torch.tensor([[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts], device=device)
    out = model.generate(input_ids=ids, attention_mask=mask, generation_config=config)
    answers: list[list[int]] = out[:, width:].tolist()
    return answers


def _continuous(model: Any, prompts: list[list[int]], config: Any) -> list[list[int]]:
    if not hasattr(model, "generate_batch"):
        raise UsageError("this model has no continuous batching", do="use padded")
    from transformers import ContinuousBatchingConfig

    # By default the cache takes most of the free memory, which is right on a GPU and wrong in main memory.
    room = ContinuousBatchingConfig(max_memory_percent=None if model.device.type == "cuda" else SHARE_OF_A_MACHINE)
    outputs = model.generate_batch(prompts, generation_config=config, continuous_batching_config=room)
    results = list(outputs.values())
    broken = len(prompts) - sum(result.error is None for result in results)
    if broken:
        raise OntogroundError(
            "continuous batching broke off", found=f"{broken} of {len(prompts)} without an answer", do="use padded"
        )
    return [list(result.generated_tokens) for result in results]
