"""Weights, gradients and optimizer states split between processes (FSDP2), while steps are taken and no longer.

A process loads the whole model, keeps its share of it while it trains, and has the trained weights whole again
afterwards: what reads a model, saves it or computes its reference knows nothing of shares. It saves the memory of
gradients and optimizer states, and that of weights during the steps; a model must fit one device once as it is loaded.
Checkpoints hold each process's share of the trained weights and of the optimizer's state; as many processes as have
written one, or others, go on from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ground.errors import UsageError
from training.runs.folder import n_processes
from training.runs.models import backbone_of, base_of, quiet, restore_weights, save_model, split_parts

with quiet():
    # What it imports says what it lacks on a CPU.
    from transformers import Trainer

__all__ = ["SplitTrainer", "split", "split_weights", "whole_weights"]

SHARES, SCHEDULE = "shares", "scheduler.pt"


def split(module: Any, decoder: Any) -> None:
    """Split the weights of a module, and of each layer of the decoder in it, between the processes.

    Raises:
        UsageError: weights of 4 bits, which cannot be split.
    """
    from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method

    if not split_parts(module):
        if any(weight.dtype == torch.uint8 for weight in module.parameters()):
            raise UsageError("quantized weights are not split between processes", do="set hardware.quantize = 'none'")
        for layer in backbone_of(decoder).layers:
            fully_shard(layer)
        fully_shard(module)
        if base_of(module) is not module:
            # PEFT's goes around the module's forward, and the first layer would be taken for the whole.
            register_fsdp_forward_method(module, "generate")
    for part in split_parts(module):
        # The head is taken in several pieces, the last ones of them in the backward pass.
        part.set_reshard_after_forward(part is not module, recurse=False)
        part.reshard()


def _join(module: Any) -> None:
    """Have every process hold the weights of a split module whole."""
    for part in split_parts(module):
        part.set_reshard_after_forward(False, recurse=False)
        part.unshard()


@contextmanager
def split_weights(module: Any, decoder: Any, *, asked: bool) -> Iterator[None]:
    """Where it is asked for and there are several processes, have a module `split` inside, and whole again after."""
    if not asked or n_processes() == 1:
        yield
        return
    split(module, decoder)
    try:
        yield
    finally:
        _join(module)


@contextmanager
def whole_weights(module: Any, decoder: Any) -> Iterator[None]:
    """Have every process see the weights whole inside, in any number of forward passes; changes there are lost."""
    _join(module)
    try:
        yield
    finally:
        if split_parts(module):
            split(module, decoder)


def _states(model: nn.Module, optimizer: Any) -> dict[str, Any]:
    from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict

    weights, states = get_state_dict(model, optimizer, options=StateDictOptions(ignore_frozen_params=True))
    return {"weights": weights, "optimizer": states}


def _save_shares(model: nn.Module, optimizer: Any, folder: Path) -> None:
    """Write this process's share of the trained weights and of the optimizer's state."""
    from torch.distributed.checkpoint.state_dict_saver import save

    save(_states(model, optimizer), checkpoint_id=folder / SHARES)


def _load_shares(model: nn.Module, optimizer: Any, folder: Path) -> None:
    """Read back what `_save_shares` wrote, however many processes did."""
    from torch.distributed.checkpoint.state_dict import StateDictOptions, set_state_dict
    from torch.distributed.checkpoint.state_dict_loader import load

    states = _states(model, optimizer)
    load(states, checkpoint_id=folder / SHARES)
    set_state_dict(
        model,
        optimizer,
        model_state_dict=states["weights"],
        optim_state_dict=states["optimizer"],
        options=StateDictOptions(ignore_frozen_params=True, strict=False),
    )


class SplitTrainer(Trainer):
    """A Trainer whose model's weights may be split between processes; see `take_note`.

    Attributes:
        shares: whether checkpoints hold shares, whatever the number of processes, so that another number goes on.
        split: whether the weights are split.
    """

    shares = split = False

    def take_note(self, *, shares: bool) -> None:
        """Take note of what checkpoints are to hold, and of whether the model is split now."""
        self.shares, self.split = shares, bool(split_parts(self.model))
        # Nobody else shares the weights out or averages their gradients.
        self.is_distributed_loading_by_transformers = self.split

    @property
    def decoder(self) -> Any:
        """The model as it is saved."""
        return self.model

    def whole(self) -> Any:
        """Have the weights whole inside; see `whole_weights`."""
        return whole_weights(self.model, self.decoder) if self.split else nullcontext()

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        with self.whole():
            if self.args.should_save:
                save_model(self.decoder, self.processing_class, Path(output_dir or self.args.output_dir))

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        if not self.split:
            restore_weights(self.decoder, Path(resume_from_checkpoint))

    def _save_optimizer_and_scheduler(self, output_dir: str) -> None:
        if not self.shares:
            super()._save_optimizer_and_scheduler(output_dir)
            return
        _save_shares(self.model, self.optimizer.optimizer, Path(output_dir))
        if self.args.should_save:
            torch.save(self.lr_scheduler.state_dict(), Path(output_dir) / SCHEDULE)

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        if not self.shares or checkpoint is None:
            super()._load_optimizer_and_scheduler(checkpoint)
            return
        _load_shares(self.model, self.optimizer.optimizer, Path(checkpoint))
        self.lr_scheduler.load_state_dict(torch.load(Path(checkpoint) / SCHEDULE, weights_only=True))
