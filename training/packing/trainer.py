"""Training on packed rows: transformers' Trainer, whose batch is one planned optimizer step.

Checkpoints, schedules, mixed precision and several processes are the Trainer's; ours are the rows of a step and the
scale of the loss. A step's loss is the weighted sum over its items by the sum of their weights, whatever the rows and
the processes that they were dealt to.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from training.packing.collate import collate_row
from training.packing.decoders import base_of, implementation_of
from training.packing.masks import FLEX_BLOCK
from training.packing.plan import Item, RowPlan, Step, deal
from training.packing.sharding import load_shares, save_shares, split_weights, whole_weights
from training.packing.tokens import EncodedTexts
from training.runs.models import restore_weights, save_model
from training.runs.resuming import OF_OPTIMIZER, Measured, logged, run_trainer, trainer_arguments
from training.runs.settings import HardwareSettings, OptimizerSettings

__all__ = [
    "Objective",
    "RunData",
    "StepRecord",
    "checkpoint_activations",
    "evaluate_rows",
    "row_tensors",
    "train_packed",
    "training_arguments",
]

RECORDS = "records.json"
SCHEDULE = "scheduler.pt"
SHORT_OF_MEMORY = (
    "lower packing.tokens_per_row (then packing.max_length), set hardware.gradient_checkpointing = true, or "
    "hardware.quantize = 'nf4'"
)


@dataclass(frozen=True)
class RunData:
    """What a run reads: encoded texts, the items of the loss and their weights. *Shape:* ``weights`` (n_items,)."""

    contexts: EncodedTexts
    statements: EncodedTexts
    items: list[Item]
    weights: npt.NDArray[np.float64]
    pad_id: int = 0


class Objective(Protocol):
    """A loss for each item from the values of its statements; ``logged`` names what it logs beside the loss."""

    logged: tuple[str, ...]

    def __call__(
        self, values: torch.Tensor, items: Sequence[int], places: torch.Tensor
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Return losses, and what is logged. *Shapes:* (n_items,) each.

        Args:
            values: what the model gives for the row's statements. *Shape:* (k,) or (k, 4).
            items: indices of the row's items.
            places: which statements of the row each item has. *Shape:* (n_items, statements of an item).
        """
        ...


@dataclass
class StepRecord:
    """One optimizer step as it is kept for learning curves."""

    step: int
    values: dict[str, float] = field(default_factory=dict)


def row_tensors(plan: RowPlan, data: RunData, model: Any) -> tuple[Any, list[int], torch.Tensor]:
    """Make a planned row's tensors on the model's device; see `collate_row`."""
    device = next(model.parameters()).device
    multiple = FLEX_BLOCK if implementation_of(model) == "flex_attention" else 1
    row, order, places = collate_row(
        plan, data.items, data.contexts, data.statements, multiple=multiple, pad_id=data.pad_id
    )
    return row.to(device), order, places.to(device)


@torch.no_grad()
def evaluate_rows(
    module: nn.Module, data: RunData, rows: Sequence[RowPlan], advance: Callable[[int], None] | None = None
) -> list[torch.Tensor]:
    """Return for each item the values of its statements, in the order of ``data.items``, without dropout.

    Processes that train together have a share of the rows each, and all get all values. *Shapes:* a list of
    (statements of an item, ...) tensors in float64 on the CPU.
    """
    group = torch.distributed if torch.distributed.is_available() and torch.distributed.is_initialized() else None
    own = rows if group is None else rows[group.get_rank() :: group.get_world_size()]
    was_training = module.training
    module.eval()
    found: dict[int, torch.Tensor] = {}
    try:
        for plan in own:
            row, order, places = row_tensors(plan, data, module.model)
            values = module(row)
            found |= {index: values[place].double().cpu() for index, place in zip(order, places, strict=True)}
            if advance:
                advance(len(order))
    finally:
        module.train(was_training)
    if group is not None:
        shares: list[dict[int, torch.Tensor]] = [{}] * group.get_world_size()
        group.all_gather_object(shares, found)
        if advance:
            advance(sum(map(len, shares)) - len(found))
        found = {index: values for share in shares for index, values in share.items()}
    return [found[index] for index in sorted(found)]


def training_arguments(
    out: Path,
    optimizer: OptimizerSettings,
    hardware: HardwareSettings,
    n_steps: int,
    seed: int,
    *,
    autocast: bool = False,
    rows: int = 1,
    accumulated: int = 1,
) -> Any:
    """Return transformers' arguments of a run of ``n_steps`` steps of ``accumulated`` batches of ``rows``."""
    from transformers import TrainingArguments

    return trainer_arguments(
        TrainingArguments,
        out / "checkpoints",
        optimizer,
        hardware,
        seed=seed,
        autocast=autocast,
        max_steps=n_steps,
        per_device_train_batch_size=rows,
        gradient_accumulation_steps=accumulated,
        remove_unused_columns=False,
        dataloader_pin_memory=False,
        ddp_find_unused_parameters=False,
        train_sampling_strategy="sequential",
    )


def checkpoint_activations(model: Any) -> None:
    """Compute activations again in the backward pass; the non-reentrant kind works behind frozen embeddings."""
    base_of(model).gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})


class _Steps(torch.utils.data.Dataset[dict[str, int]]):
    """The planned steps, each as often as there are processes: process r takes places r, r + W, r + 2 W, ..."""

    def __init__(self, n_steps: int, n_processes: int) -> None:
        self.size = n_steps * n_processes
        self.n_processes = n_processes

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> dict[str, int]:
        return {"step": index // self.n_processes}


def _packed_trainer() -> Any:
    """Return the Trainer's subclass; transformers takes seconds to import and is imported late."""
    from transformers import Trainer

    class PackedTrainer(Trainer):
        """A Trainer whose batch is one optimizer step of packed rows."""

        def __init__(
            self, *, data: RunData, plan: Sequence[Step], objective: Objective, split: bool = False, **rest: Any
        ) -> None:
            super().__init__(**rest)
            self.data, self.plan, self.objective = data, plan, objective
            self.records: list[StepRecord] = []
            self.names = frozenset({"loss", *objective.logged})
            # Where weights come split, nobody else shares them out or averages their gradients. Checkpoints hold shares
            # whatever the number of processes, so that another number goes on from them.
            self.shares, self.split = split, split and self.args.world_size > 1
            self.is_distributed_loading_by_transformers = self.split

        def training_step(self, model: nn.Module, inputs: Any, num_items_in_batch: Any = None) -> torch.Tensor:
            """Run all rows of this process, backward each; gradients are shared between processes once."""
            model.train()
            number = int(inputs["step"][0])
            step, processes = self.plan[number], self.accelerator.num_processes
            rows = deal(step, processes)[self.accelerator.process_index]
            # Processes meet in the last backward, where weights are split in every pass: where rows are fewer, one runs
            # again, at weight zero.
            passes = -(-len(step.rows) // processes) if self.split else max(len(rows), 1)
            scales = [processes / self.weight_of(step)] * len(rows) + [0.0] * (passes - len(rows))
            share = processes / step.n_items
            total = torch.zeros((), dtype=torch.float64)
            sums: dict[str, float] = {}
            for at, (plan, scale) in enumerate(zip([*rows, *step.rows[:1] * passes], scales, strict=False)):
                with self.accelerator.no_sync(model) if at + 1 < passes and not self.split else nullcontext():
                    loss, logged = self.row_loss(model, plan)
                    self.accelerator.backward(loss * scale)
                total += loss.detach().double().cpu() * scale
                for name, value in logged.items() if scale else ():
                    sums[name] = sums.get(name, 0.0) + float(value.detach().double().sum()) * share
            self.keep({"loss": float(total), **sums}, number)
            return total.to(self.args.device)

        def keep(self, shares: dict[str, float], number: int) -> None:
            """Record a step's values, averaged over the processes, each of which has its share of them."""
            names = sorted(self.names)
            own = torch.tensor([shares.get(name, 0.0) for name in names], device=self.args.device)
            means = self.accelerator.reduce(own, reduction="mean").tolist()
            self.records.append(StepRecord(number, dict(zip(names, means, strict=True))))

        def row_loss(self, model: nn.Module, plan: RowPlan) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
            """Return the weighted sum of a row's losses, and what is logged for each item."""
            inner = self.accelerator.unwrap_model(model)
            row, order, places = row_tensors(plan, self.data, inner.model)
            with self.compute_loss_context_manager():
                losses, logged = self.objective(model(row), order, places)
            weights = torch.as_tensor(self.data.weights[order], dtype=losses.dtype, device=losses.device)
            return (losses * weights).sum(), logged

        def weight_of(self, step: Step) -> float:
            """Return the sum of the weights of a step's items."""
            order = [index for row in step.rows for block in row.blocks for index in block.items]
            return float(self.data.weights[order].sum())

        def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
            folder = Path(output_dir or self.args.output_dir)
            with whole_weights(self.model) if self.split else nullcontext():
                if self.args.should_save:
                    save_model(self.model.model, self.processing_class, folder)
                    kept = [{"step": record.step, **record.values} for record in self.records]
                    (folder / RECORDS).write_text(json.dumps(kept), encoding="utf-8")

        def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
            folder = Path(resume_from_checkpoint)
            if not self.split:
                restore_weights((model or self.model).model, folder)
            kept = json.loads((folder / RECORDS).read_text(encoding="utf-8"))
            self.records = [StepRecord(int(values.pop("step")), values) for values in kept]

        def _save_optimizer_and_scheduler(self, output_dir: str) -> None:
            if not self.shares:
                super()._save_optimizer_and_scheduler(output_dir)
                return
            save_shares(self.model, self.optimizer.optimizer, Path(output_dir))
            if self.args.should_save:
                torch.save(self.lr_scheduler.state_dict(), Path(output_dir) / SCHEDULE)

        def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
            if not self.shares or checkpoint is None:
                super()._load_optimizer_and_scheduler(checkpoint)
                return
            load_shares(self.model, self.optimizer.optimizer, Path(checkpoint))
            self.lr_scheduler.load_state_dict(torch.load(Path(checkpoint) / SCHEDULE, weights_only=True))

    return PackedTrainer


def train_packed(
    module: nn.Module,
    tokenizer: Any,
    data: RunData,
    plan: Sequence[Step],
    objective: Objective,
    out: Path,
    *,
    optimizer: OptimizerSettings,
    hardware: HardwareSettings,
    seed: int,
    autocast: bool = False,
    resume: bool = False,
    advance: Callable[[int], None] | None = None,
) -> tuple[list[StepRecord], Measured]:
    """Train a `SharedPolicy` or `SharedClassifier` on planned steps; returns what each step logged, and what it took.

    Checkpoints go to ``out/checkpoints``; with ``resume`` the last one there is gone on from, and gives the weights of
    a run without a break.

    Raises:
        TrainingError: the loss is no number, training diverges, or memory is short.
    """
    if hardware.gradient_checkpointing:
        checkpoint_activations(module.model)
    arguments = training_arguments(out, optimizer, hardware, len(plan), seed, autocast=autocast)
    several = arguments.world_size > 1
    with split_weights(module) if hardware.split_weights and several else nullcontext():
        trainer = _packed_trainer()(
            data=data,
            plan=plan,
            objective=objective,
            split=hardware.split_weights,
            model=module,
            args=arguments,
            train_dataset=_Steps(len(plan), arguments.world_size),
            processing_class=tokenizer,
            data_collator=torch.utils.data.default_collate,
        )
        measured = run_trainer(trainer, advance, resume=resume, short_of_memory=SHORT_OF_MEMORY)
    records: list[StepRecord] = trainer.records
    for record, more in zip(records, logged(trainer, OF_OPTIMIZER), strict=True):
        record.values |= more
    return records, measured
