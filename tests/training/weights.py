"""Weights of run folders, and how far two of them are apart."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file

__all__ = ["assert_same_weights", "relative", "weights_of"]


def weights_of(run: Path) -> dict[str, torch.Tensor]:
    """Return every tensor of a run folder by its name."""
    return {name: value for file in sorted(run.glob("*.safetensors")) for name, value in load_file(file).items()}


def relative(tensor: torch.Tensor, reference: torch.Tensor) -> float:
    """Return the distance of two tensors as a share of the second one's norm."""
    return float(((tensor - reference).norm() / reference.norm()).detach())


def assert_same_weights(run: Path, reference: Path, tolerance: float = 0.0) -> None:
    """Compare two run folders tensor by tensor."""
    first, second = weights_of(run), weights_of(reference)
    assert first.keys() == second.keys() and first
    for name, value in first.items():
        assert float((value - second[name]).norm()) <= tolerance * float(second[name].norm()), name
