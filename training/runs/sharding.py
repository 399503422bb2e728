"""Weights, gradients and optimizer states split between processes (FSDP2), while steps are taken and no longer.

A process loads the whole model, keeps its share of it while it trains, and has the trained weights whole again
afterwards: what reads a model, saves it or computes its reference knows nothing of shares. It saves the memory of
gradients and optimizer states, and that of weights during the steps; a model must fit one device once as it is loaded.
Checkpoints hold each process's share of the trained weights and of the optimizer's state; as many processes as have
written one, or others, go on from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ground.errors import UsageError
from training.runs.models import backbone_of, base_of, quiet, restore_weights, save_model, split_parts
from training.runs.processes import n_processes

with quiet():
    # What it imports says what it lacks on a CPU.
    from transformers import Trainer

__all__ = ["SplitTrainer", "split_weights", "whole_weights"]

SHARES, SCHEDULE = "shares", "scheduler.pt"


@contextmanager
def split_weights(module: Any, *, asked: bool, decoder: Any = None) -> Iterator[None]:
    """Split the weights of a module (None: of nothing) between the processes inside, layer by layer; whole again after.

    They stay whole in one process, and where it is not ``asked`` for. ``decoder`` is what has the layers, where the
    module is not a model itself.

    Raises:
        UsageError: weights of 4 bits, which cannot be split.
    """
    from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method

    if module is None or not asked or n_processes() == 1:
        yield
        return
    if not split_parts(module):
        if any(weight.dtype == torch.uint8 for weight in module.parameters()):
            raise UsageError("quantized weights are not split between processes", do="set hardware.quantize = 'none'")
        for layer in backbone_of(decoder or module).layers:
            fully_shard(layer)
        fully_shard(module)
        if base_of(module) is not module:
            # PEFT's goes around the module's forward, and the first layer would be taken for the whole.
            register_fsdp_forward_method(module, "generate")
    _apart(module)
    try:
        yield
    finally:
        _together(module)


@contextmanager
def whole_weights(module: Any) -> Iterator[None]:
    """Have every process see split weights whole inside, in any number of forward passes; changes there are lost."""
    _together(module)
    try:
        yield
    finally:
        _apart(module)


def _apart(module: Any) -> None:
    for part in split_parts(module):
        # The head is taken in several pieces, the last ones of them in the backward pass.
        part.set_reshard_after_forward(part is not module, recurse=False)
        part.reshard()


def _together(module: Any) -> None:
    for part in split_parts(module):
        part.set_reshard_after_forward(False, recurse=False)
        part.unshard()


def _states(model: nn.Module, optimizer: Any) -> dict[str, Any]:
    """Return this process's share of the trained weights and of the optimizer's state."""
    from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict

    weights, states = get_state_dict(model, optimizer, options=StateDictOptions(ignore_frozen_params=True))
    return {"weights": weights, "optimizer": states}


class SplitTrainer(Trainer):
    """A Trainer whose model's weights may be split between processes (`split_weights`).

    With ``shares`` checkpoints hold shares, whatever the number of processes, so that another number goes on from them.
    """

    shares = False

    @property
    def decoder(self) -> Any:
        """The model as it is saved."""
        return self.model

    @property
    def split(self) -> bool:
        """Whether the weights are split."""
        return bool(split_parts(self.model))

    def train(self, *given: Any, **named: Any) -> Any:
        """Train; nobody else shares out weights that are split, or averages their gradients."""
        self.is_distributed_loading_by_transformers = self.split
        return super().train(*given, **named)

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        with whole_weights(self.model):
            if self.args.should_save:
                save_model(self.decoder, self.processing_class, Path(output_dir or self.args.output_dir))

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        if not self.split:
            restore_weights(self.decoder, Path(resume_from_checkpoint))

    def _save_optimizer_and_scheduler(self, output_dir: str) -> None:
        from torch.distributed.checkpoint.state_dict_saver import save

        if not self.shares:
            super()._save_optimizer_and_scheduler(output_dir)
            return
        save(_states(self.model, self.optimizer.optimizer), checkpoint_id=Path(output_dir) / SHARES)
        if self.args.should_save:
            torch.save(self.lr_scheduler.state_dict(), Path(output_dir) / SCHEDULE)

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        from torch.distributed.checkpoint.state_dict import StateDictOptions, set_state_dict
        from torch.distributed.checkpoint.state_dict_loader import load

        if not self.shares or checkpoint is None:
            super()._load_optimizer_and_scheduler(checkpoint)
            return
        model, optimizer, folder = self.model, self.optimizer.optimizer, Path(checkpoint)
        states, trained = _states(model, optimizer), StateDictOptions(ignore_frozen_params=True, strict=False)
        load(states, checkpoint_id=folder / SHARES)
        of_model, of_optimizer = states["weights"], states["optimizer"]
        set_state_dict(model, optimizer, model_state_dict=of_model, optim_state_dict=of_optimizer, options=trained)
        self.lr_scheduler.load_state_dict(torch.load(folder / SCHEDULE, weights_only=True))
