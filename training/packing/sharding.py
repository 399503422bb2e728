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
from training.runs.models import backbone_of, split_parts

__all__ = ["load_shares", "save_shares", "split_weights", "whole_weights"]

SHARES = "shares"


@contextmanager
def split_weights(module: Any) -> Iterator[None]:
    """Split the weights of a `SharedPolicy` or `SharedClassifier` between the processes inside; whole again after.

    Raises:
        UsageError: weights of 4 bits, which cannot be split.
    """
    from torch.distributed.fsdp import fully_shard

    if not split_parts(module):
        if any(weight.dtype == torch.uint8 for weight in module.parameters()):
            raise UsageError("quantized weights are not split between processes", do="set hardware.quantize = 'none'")
        for layer in backbone_of(module.model).layers:
            fully_shard(layer)
        fully_shard(module)
    for part in split_parts(module):
        # The head is taken in several pieces, the last ones of them in the backward pass.
        part.set_reshard_after_forward(part is not module)
        part.reshard()
    try:
        yield
    finally:
        for part in split_parts(module):
            part.set_reshard_after_forward(False)
            part.unshard()


@contextmanager
def whole_weights(module: Any) -> Iterator[None]:
    """Have every process see the weights whole inside; what is changed there is lost."""
    for part in split_parts(module):
        part.unshard()
    yield
    for part in split_parts(module):
        part.reshard()


def _states(model: nn.Module, optimizer: Any) -> dict[str, Any]:
    from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict

    weights, states = get_state_dict(model, optimizer, options=StateDictOptions(ignore_frozen_params=True))
    return {"weights": weights, "optimizer": states}


def save_shares(model: nn.Module, optimizer: Any, folder: Path) -> None:
    """Write this process's share of the trained weights and of the optimizer's state."""
    from torch.distributed.checkpoint.state_dict_saver import save

    save(_states(model, optimizer), checkpoint_id=folder / SHARES)


def load_shares(model: nn.Module, optimizer: Any, folder: Path) -> None:
    """Read back what `save_shares` wrote, however many processes did."""
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
