"""Runs that the tests of ``train`` and ``evaluate`` share, made through the command line."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from ontoground.cli.main import invoke

__all__ = ["QUICK", "Lab", "Said"]

QUICK = ("--set", "epochs=0.4", "--set", "hardware.device=cpu")


@dataclass(frozen=True)
class Said:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


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

    def say(self, *arguments: str | Path) -> Said:
        """Run a command line in this workspace."""
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = invoke([*map(str, arguments), "--workspace", str(self.workspace)])
        return Said(code, out.getvalue(), err.getvalue())

    def train(self, kind: str, *arguments: str | Path) -> Said:
        """Train on the base model with quick settings."""
        return self.say("train", kind, "--model", self.model, *QUICK, *arguments)
