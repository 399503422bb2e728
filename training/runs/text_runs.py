"""Runs on rows of one text each, through trl: what they use of the machine, and their trainer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ground.errors import UsageError
from ground.progress import progress
from training.runs.folder import Run
from training.runs.memory import Step
from training.runs.models import FLASH, adapter_config, base_of, device_of, precision_of
from training.runs.resuming import run_trainer, step_records, trainer_arguments
from training.runs.settings import HardwareSettings

__all__ = [
    "add_head",
    "build_trainer",
    "estimate_texts",
    "run_texts",
    "texts_attention",
    "texts_step",
]


def texts_attention(hardware: HardwareSettings) -> tuple[str, list[str]]:
    """Return the attention of rows of one text each, and what is not as the settings ask for, or slow.

    Raises:
        UsageError: CUDA is asked for and not there, or 4-bit weights with float64.
    """
    if hardware.quantize == "nf4" and precision_of(hardware) == torch.float64:
        raise UsageError("4-bit weights are not computed in float64", do="set hardware.quantize to none")
    notes = []
    if device_of(hardware) == "cpu" and hardware.quantize == "nf4":
        notes.append("4-bit weights are slow on a CPU")
    # The other kinds are for packed rows.
    attention = hardware.attention if hardware.attention in ("sdpa", "eager", *FLASH) else "sdpa"
    if hardware.attention not in ("auto", attention):
        notes.append(f"attention {hardware.attention} is for packed rows; {attention} is used")
    return attention, notes


def estimate_texts(run: Run, rows: int, tokens: int, answer: int, smaller: str, *, reference: bool = False) -> None:
    """Say what steps on ``rows`` of so many ``tokens``, of which the last ``answer`` are learnt, need: `Run.estimate`.

    With ``reference`` the policy is compared with a copy of itself.
    """
    attention, _ = texts_attention(run.settings.hardware)
    step = texts_step(rows, tokens, answer)
    run.estimate("causal", step, smaller, attention=attention, prepare=add_head, reference=reference)


def build_trainer(kind: Any, config: Any, run: Run, arguments: Mapping[str, Any], **own: Any) -> Any:
    """Return one of trl's trainers with the run's model and a new adapter, whose weights are trained in float32.

    Args:
        kind: the class.
        config: the class of its arguments, which leave the arithmetic to autocast in bfloat16.
        run: its model is loaded.
        arguments: what this engine sets beside `trainer_arguments`.
        own: further arguments of the class.
    """
    import transformers

    settings, hardware = run.settings, run.settings.hardware
    args = trainer_arguments(
        config,
        run.checkpoints,
        settings,
        autocast=precision_of(hardware) == torch.bfloat16,
        gradient_checkpointing=bool(hardware.gradient_checkpointing),
        gradient_checkpointing_kwargs={"use_reentrant": False},
        **arguments,
    )
    lora, (attention, notes) = settings.lora, texts_attention(hardware)
    # Before an adapter is made: its first weights are drawn.
    transformers.set_seed(settings.seed)
    model = run.load("causal", attention=attention)
    adapter = adapter_config(model, "causal", lora) if lora.r > 0 else None
    trainer = kind(model=model, args=args, peft_config=adapter, **own)
    # trl makes the adapters of 4-bit models bfloat16. A step at MedVAL's rate of 1e-5 is less than half of its spacing
    # at an adapter's usual weight of 0.01 (3e-5) and would be rounded away.
    for weight in trainer.model.parameters():
        if weight.requires_grad and weight.dtype == torch.bfloat16:
            weight.data = weight.data.float()
    run.weights = (run.weights[0], bool(args.bf16))
    run.notes += notes
    return trainer


def run_texts(
    run: Run, trainer: Any, what: str, steps: int, *, names: Sequence[str], grows: bool = False
) -> dict[str, Any]:
    """Train a run whose steps were estimated to the end, showing ``what`` is done in so many ``steps``.

    Returns what the record says of it: ``measured``, ``steps``, and ``losses``, as of `step_records`. Errors and
    ``grows`` are those of `run_trainer`.
    """
    run.rehearse(trainer.model)
    with progress(what, steps) as advance:
        how: dict[str, Any] = {"resume": run.resume, "rehearsal": run.settings.hardware.rehearsal}
        measured = run_trainer(trainer, advance, short_of_memory=run.smaller, grows=grows, **how)
    return {"measured": measured, "steps": trainer.state.global_step, "losses": step_records(trainer, names)}


def add_head(model: Any) -> None:
    """Give a model that only stands for a run's the head that trl's trainers give theirs."""
    from trl.trainer.utils import add_fused_lm_head

    add_fused_lm_head(base_of(model))


def texts_step(rows: int, tokens: int, answer: int) -> Step:
    """Return a forward pass of trl on ``rows`` of so many ``tokens``, of which the last ``answer`` are learnt."""

    def step(policy: Any) -> torch.Tensor:
        # Not 0, which may be padding: behind its embedding of zeros no gradient is a number.
        ids = torch.ones((rows, tokens), dtype=torch.int64, device=policy.device)
        labels = torch.where(torch.arange(tokens, device=ids.device) < tokens - answer, -100, ids)
        total: torch.Tensor = policy(input_ids=ids, labels=labels, fused_lm_head=True).log_probs.sum()
        return total

    return step
