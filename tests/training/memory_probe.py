"""Run as a program: trains one step of a decoder made from a config, and prints the estimate and what was used."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from training.collate import packed_row
from training.memory import estimate_memory
from training.models import load_model
from training.settings import HardwareSettings, LoraSettings
from training.shared import SharedClassifier
from training.trainer import checkpoint_activations


def main(model: str, tokens: int, rank: int, checkpointing: bool) -> dict[str, Any]:
    """Return the estimate, and the growth of the resident memory from before the model is loaded."""
    numbers = np.random.default_rng(0)
    context = numbers.integers(3, 200, tokens - 8 * 25)
    row = packed_row([(context, [numbers.integers(3, 200, 25) for _ in range(8)])])
    hardware = HardwareSettings(device="cpu", gradient_checkpointing=checkpointing)
    lora = LoraSettings(r=rank)
    estimate = estimate_memory(
        model, "quadrants", lambda made: SharedClassifier(made)(row).sum(), lora, hardware, attention="sdpa"
    )
    # Kernels and libraries are loaded by a first step of another size, so that they are not counted.
    torch.nn.functional.scaled_dot_product_attention(*torch.ones(3, 1, 4, 64, 32)).sum()
    before = resident()
    loaded = load_model(model, "quadrants", hardware, lora=lora, attention="sdpa").train()
    if checkpointing:
        checkpoint_activations(loaded)
    optimizer = torch.optim.AdamW([p for p in loaded.parameters() if p.requires_grad])
    # The second step has the optimizer's states, and its second row the gradients of its first one.
    for rows in (1, 2):
        for _ in range(rows):
            SharedClassifier(loaded)(row).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    return estimate.as_dict() | {"measured": peak() - before}


def resident() -> int:
    """Return the memory of this process that is resident now."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()


def peak() -> int:
    """Return the most that was resident since this program began; ru_maxrss would hold its parent's memory too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    folder, tokens, rank, checkpointing = sys.argv[1:]
    json.dump(main(folder, int(tokens), int(rank), checkpointing == "1"), sys.stdout)
