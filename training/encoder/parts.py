"""The parts of a step, each in a thread of its own.

Torch shares out every operation, so its threads wait for one another some thousand times a step, and on a machine with
other work one of them is always late. Parts wait once a step. Each draws its dropout from a generator of its own and
their gradients are added in their order: which thread works when changes no result, nor do one thread or as many as
there are parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

import torch
from torch import nn

from ground.flow.executors import Threads
from ground.stable import stable_hash

__all__ = ["Map", "PartDropout", "drawing", "sharing"]

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]

_GENERATOR: ContextVar[torch.Generator | None] = ContextVar("_GENERATOR", default=None)


@contextmanager
def drawing(device: torch.device, seed: int, *part: str | int) -> Iterator[None]:
    """Let dropout follow a generator that is seeded by what the part is."""
    # 53 bits, as every generator takes.
    generator = torch.Generator(device).manual_seed(stable_hash(seed, "dropout", *part) >> 11)
    token = _GENERATOR.set(generator)
    try:
        yield
    finally:
        _GENERATOR.reset(token)


class PartDropout(nn.Dropout):
    """Dropout that `drawing` rules; torch's own has one generator for all threads."""

    @classmethod
    def replace_in(cls, module: nn.Module) -> None:
        """Put it in the place of every dropout in a module."""
        for parent in list(module.modules()):
            for name, child in parent.named_children():
                if type(child) is nn.Dropout:
                    setattr(parent, name, cls(child.p))

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Set numbers to 0 with probability ``p`` while training, and scale the others up."""
        if not self.training or not self.p:
            return input
        kept = torch.empty_like(input).bernoulli_(1 - self.p, generator=_GENERATOR.get())
        return input * kept.div_(1 - self.p)


@contextmanager
def sharing(device: torch.device, parts: int) -> Iterator[Map]:
    """Yield a map over parts of a step, of which there are mostly so many.

    On a CPU it works on as many at once as torch has threads, and deals torch's threads to them; outside of it, torch
    has one: what is left is too small to share out.
    """
    cores = torch.get_num_threads()
    if device.type != "cpu":
        yield map
        return
    executor, setup = Threads(min(cores, parts)), partial(torch.set_num_threads, max(1, cores // parts))
    torch.set_num_threads(1)
    try:
        yield lambda work, items: executor.in_order(setup, lambda _, item: work(item), items)
    finally:
        torch.set_num_threads(cores)
