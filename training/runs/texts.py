"""Runs on rows of one text each, through trl: what they use of the machine, their trainer, and answers in batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ground.errors import OntogroundError, UsageError
from training.packing.attention import attention_of_texts
from training.runs.folder import Run
from training.runs.models import adapter_config, device_of, dropout_note, load_config, precision_of, usable_length
from training.runs.settings import HardwareSettings

__all__ = ["Machine", "answers", "build_trainer", "choose_machine", "rows_length"]


@dataclass(frozen=True)
class Machine:
    """What a run uses; ``notes`` says where that is not what the settings ask for."""

    device: str
    precision: str
    attention: str
    notes: tuple[str, ...]


def choose_machine(hardware: HardwareSettings) -> Machine:
    """Resolve ``auto`` settings.

    Raises:
        UsageError: CUDA is asked for and not there, or 4-bit weights with float64.
    """
    device = device_of(hardware)
    precision = str(precision_of(hardware)).removeprefix("torch.")
    if hardware.quantize == "nf4" and precision == "float64":
        raise UsageError("4-bit weights are not computed in float64", do="set hardware.quantize to none")
    notes = []
    if hardware.quantize == "nf4" and device == "cpu":
        notes.append("4-bit weights are slow on a CPU")
    attention = attention_of_texts(hardware)
    if hardware.attention not in ("auto", attention):
        notes.append(f"attention {hardware.attention} is for packed rows; {attention} is used")
    return Machine(device, precision, attention, tuple(notes))


def rows_length(model: str, max_length: int) -> tuple[int, str | None]:
    """Return how many tokens a row may have with this model, and why where that is less than asked for."""
    length = usable_length(load_config(model), max_length)
    if length == max_length:
        return max_length, None
    return length, f"the model has {length:,} positions: longer rows are left out (max_length {max_length:,})"


def build_trainer(kind: Any, run: Run, machine: Machine, **own: Any) -> Any:
    """Return one of trl's trainers with the run's model and a new adapter, whose weights are trained in float32.

    Args:
        kind: the class.
        run: its model is loaded.
        machine: what of the machine is used.
        own: further arguments of the class.
    """
    import transformers

    lora = run.settings.lora
    # Before an adapter is made: its first weights are drawn.
    transformers.set_seed(run.settings.seed)
    model = run.load("causal", attention=machine.attention)
    adapter = adapter_config(model, "causal", lora) if lora.r > 0 else None
    trainer = kind(model=model, peft_config=adapter, **own)
    # trl makes the adapters of 4-bit models bfloat16. A step at MedVAL's rate of 1e-5 is less than half of its spacing
    # at an adapter's usual weight of 0.01 (3e-5) and would be rounded away.
    for weight in trainer.model.parameters():
        if weight.requires_grad and weight.dtype == torch.bfloat16:
            weight.data = weight.data.float()
    dropout = dropout_note(trainer.model, lora)
    run.notes += [*machine.notes, *([dropout] if dropout else [])]
    return trainer


def ends_of(model: Any, tokenizer: Any) -> list[int]:
    """Return the tokens that end an answer."""
    stated = model.generation_config.eos_token_id
    listed = stated if isinstance(stated, list) else [stated]
    return sorted({token for token in (*listed, tokenizer.eos_token_id) if token is not None})


@torch.inference_mode()
def answers(
    model: Any,
    tokenizer: Any,
    prompts: Mapping[Any, Sequence[int]],
    at_once: int,
    less: str,
    **sampling: Any,
) -> Iterator[dict[Any, tuple[str, bool]]]:
    """Yield batches of answers, each with whether it was cut before its end; prompts of like length together.

    Args:
        model: a causal one.
        tokenizer: of it.
        prompts: token ids by what the answers are yielded by; longer ones are answered first.
        at_once: prompts in a batch, padded on the left.
        less: what to change where memory is short.
        sampling: transformers' generation options.

    Raises:
        OntogroundError: memory is short.
    """
    from transformers import GenerationConfig

    ends, padding = ends_of(model, tokenizer), tokenizer.pad_token_id
    config = GenerationConfig(pad_token_id=padding, eos_token_id=ends, **sampling)
    device = next(model.parameters()).device
    # Sorting is stable: of equal length, the first comes first.
    order = sorted(prompts, key=lambda name: -len(prompts[name]))
    for batch in (order[begin : begin + at_once] for begin in range(0, len(order), at_once)):
        width = len(prompts[batch[0]])
        ids = torch.tensor([[padding] * (width - len(prompts[one])) + list(prompts[one]) for one in batch])
        lengths = torch.tensor([[len(prompts[one])] for one in batch])
        mask = (torch.arange(width) >= width - lengths).long()
        try:
            out = model.generate(input_ids=ids.to(device), attention_mask=mask.to(device), generation_config=config)
        except torch.OutOfMemoryError as error:
            raise OntogroundError("the device's memory is full", do=less) from error
        found = {}
        for one, said in zip(batch, out[:, width:].tolist(), strict=True):
            stop = next((place for place, token in enumerate(said) if token in ends), None)
            found[one] = (tokenizer.decode(said[:stop], skip_special_tokens=True), stop is None)
        yield found
