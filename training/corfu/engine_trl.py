"""CoRFu through trl's DPOTrainer, one pair of separate rows a pass: the yardstick, and the way for other decoders.

Tokens, pairs and their order are those of the engine `shared`: rows come encoded, and trl's own preparation, which
would encode context and statement together, is left out. Written for trl 1.16, whose loss sits in a private method:
the loss is taken here from the fused head's log-probabilities, which that method uses too. trl keeps a copy of a PEFT
adapter, made when the trainer is built, as the reference: the frozen snapshot that a stage needs.
"""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from trl import DPOConfig, DPOTrainer

from ground.progress import progress
from training.corfu.stage import LOGGED, CorfuStage, Policy, pair_values
from training.packing.collate import RunData
from training.packing.packed_rows import plan_steps
from training.runs.folder import passes_of
from training.runs.models import evaluating, implementation_of
from training.runs.resuming import run_trainer, step_records, trainer_arguments
from training.runs.settings import CorfuSettings

__all__ = ["pair_rows", "pair_trainer", "train_stage"]

SHORT_OF_MEMORY = "set hardware.gradient_checkpointing = true, hardware.quantize = 'nf4', or choose --engine shared"
REFERENCE = "ref"
"""trl's name of the adapter that it copies the policy's to."""


def pair_rows(data: RunData) -> Any:
    """Return pairs as a `datasets.Dataset` with prompt_ids, chosen_ids and rejected_ids, as trl's collator reads it."""
    texts = [(data.contexts[item.context], *(data.statements[at] for at in item.statements)) for item in data.items]
    names = ("prompt_ids", "chosen_ids", "rejected_ids")
    return Dataset.from_list([{name: ids.tolist() for name, ids in zip(names, row, strict=True)} for row in texts])


class CorfuTrainer(DPOTrainer):
    """DPOTrainer on encoded pairs, with CoRFu's penalty."""

    lambda_: float

    def _prepare_dataset(self, dataset: Any, *_: Any) -> Any:
        return dataset

    def pair_logps(self, model: Any, inputs: Any) -> torch.Tensor:
        """Return log-probabilities of winner and loser under the policy. *Shape:* (n, 2)."""
        labels = inputs["input_ids"].masked_fill(inputs["completion_mask"] == 0, -100)
        output = model(
            input_ids=inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
            labels=labels,
            use_cache=False,
            fused_lm_head=True,
        )
        return torch.stack(output.log_probs.sum(1).chunk(2), dim=1)

    def reference_logps(self, model: Any, inputs: Any) -> torch.Tensor:
        """Return the same under the reference, whose dropout is off. *Shape:* (n, 2)."""
        with evaluating(model):
            return torch.stack(self.compute_ref_log_probs(self.ref_model or model, inputs), dim=1)

    def compute_loss(
        self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        policy, reference = self.pair_logps(model, inputs), self.reference_logps(model, inputs)
        losses, logged = pair_values(policy, reference, self.beta, self.lambda_)
        mode = "train" if model.training else "eval"
        for name, values in logged.items():
            self._metrics[mode][name].append(float(self.accelerator.gather(values).double().mean()))
        return (losses.mean(), policy) if return_outputs else losses.mean()


def pair_trainer(
    data: RunData,
    policy: Any,
    tokenizer: Any,
    folder: Path,
    settings: CorfuSettings,
    *,
    autocast: bool = False,
    callbacks: Any = (),
) -> Any:
    """Return a trainer for a stage; the policy as it is now becomes the reference.

    Pairs follow the plan of the engine `shared`. With several epochs, steps run over their ends where the pairs of an
    epoch are no multiple of ``batch_size``.

    Raises:
        UsageError: the batch size does not fit the number of processes.
    """
    arguments = trainer_arguments(
        DPOConfig,
        folder / "checkpoints",
        settings,
        autocast=autocast,
        num_train_epochs=1,
        per_device_train_batch_size=1,
        per_device_eval_batch_size=1,
        gradient_accumulation_steps=passes_of(settings.batch_size, 1, "batch_size"),
        beta=settings.beta,
        # Rows are cut to length already, by section priority.
        max_length=None,
        # trl's default switches the adapter's dropout off; the paper's setting has it on.
        disable_dropout=False,
        gradient_checkpointing=bool(settings.hardware.gradient_checkpointing),
        # Rows are in the order of the planned steps.
        train_sampling_strategy="sequential",
    )
    order = [
        data.items[index] for step in plan_steps(data, settings, implementation_of(policy)) for index in step.items
    ]
    trainer = CorfuTrainer(
        model=policy,
        ref_model=None if hasattr(policy, "peft_config") else copy.deepcopy(policy).eval().requires_grad_(False),
        args=arguments,
        train_dataset=pair_rows(replace(data, items=order)),
        processing_class=tokenizer,
        callbacks=list(callbacks),
    )
    trainer.lambda_ = settings.lambda_
    return trainer


def train_stage(stage: CorfuStage, policy: Policy) -> dict[str, Any]:
    """Train one stage of CoRFu in place; returns its records and its validation.

    Raises:
        UsageError: the batch size does not fit the number of processes.
        TrainingError: the loss is not a number, training diverges, or memory is short.
    """
    run, data, folder = policy.run, stage.train, policy.run.checkpoints / stage.name
    trainer = pair_trainer(data, policy.model, policy.tokenizer, folder, run.settings, autocast=run.weights[1])
    steps = math.ceil(len(trainer.train_dataset) / run.settings.batch_size)
    with progress(f"{stage.name}: training", steps) as advance:
        how: dict[str, Any] = {"resume": run.resume, "rehearsal": run.settings.hardware.rehearsal}
        measured = run_trainer(trainer, advance, short_of_memory=SHORT_OF_MEMORY, **how)
    validation: dict[str, Any] = {"pairs": len(stage.validation.items)}
    if stage.validation.items:
        metrics = trainer.evaluate(pair_rows(stage.validation))
        validation |= {name: float(metrics[f"eval_{name}"]) for name in ("loss", *LOGGED)}
    # What trl patched on and copied is no part of the policy.
    if REFERENCE in getattr(policy.model, "peft_config", {}):
        policy.model.delete_adapter(REFERENCE)
    return {"records": step_records(trainer, LOGGED), "validation": validation, "measured": measured}
