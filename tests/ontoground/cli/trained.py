"""Runs that the tests of ``train`` and ``evaluate`` share, made through the command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.ontoground.cli.schemas import Answer, answer_to

__all__ = ["QUICK", "Lab"]

QUICK = ("--set", "epochs=0.4", "--set", "hardware.device=cpu")


@dataclass(frozen=True)
class Lab:
    """A workspace with a dataset, and a base model."""

    workspace: Path
    model: Path

    @property
    def dataset(self) -> Path:
        """The dataset folder."""
        return self.workspace / "datasets" / "medieval"

    @property
    def runs(self) -> Path:
        """The folder of runs."""
        return self.workspace / "runs"

    def say(self, *arguments: str | Path) -> Answer:
        """Run a command line in this workspace."""
        return answer_to(*arguments, "--workspace", self.workspace)

    def train(self, kind: str, *arguments: str | Path) -> Answer:
        """Train on the base model with quick settings."""
        from tests.training.estimates import estimate_each_kind_once

        estimate_each_kind_once()
        return self.say("train", kind, "--model", self.model, *QUICK, *arguments)
