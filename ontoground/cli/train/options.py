"""What the verbs of ``ontoground train`` share: their options, the losses of a run, and what is shown of it."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from ground.errors import UsageError
from ontoground.cli.app import group_of
from ontoground.cli.options import DatasetFolder, InWorkspace, Result
from ontoground.cli.render import Blocks, note, number, relative, table, unfolded
from ontoground.cli.runs import SettingsModel, run_folder, run_settings

__all__ = [
    "PACKAGES",
    "OnDataset",
    "Run",
    "Seeds",
    "Trained",
    "group",
    "name_of_seeds",
    "require_decoder",
    "seeds_of",
    "state_of",
    "steps_of",
    "trained",
]

group = group_of("train", ("classifier", "corfu", "medhal", "medval", "grpo"))

PACKAGES = ("torch", "transformers", "peft", "accelerate", "safetensors")

Seeds = Annotated[str | None, Option("--seeds", metavar="N,N,...", help="Train once for each seed, as 42,43,44")]

Run = tuple[Path, dict[str, Any], str]
"""A run's folder, its record, and ``done`` or, where it was whole already, ``current``."""


def require_decoder(model: str, what: str) -> None:
    """Refuse a model that writes no text or is not there, before torch is imported; ``what`` is to be trained."""
    from ground.lm.local import check_model
    from training.encoder.pretrained import PACKAGED

    if model in PACKAGED and not Path(model).is_dir():
        raise UsageError(f"{what} needs a decoder", found=f"{model} is an encoder", do="choose a decoder with --model")
    check_model(model)


@dataclass(frozen=True, kw_only=True)
class Trained(InWorkspace):
    """Options of every verb that trains."""

    out: Annotated[
        Path | None, Option(metavar="DIR", help="Run folder; default: in runs/, named after model and settings")
    ] = None
    config: Annotated[Path | None, Option(metavar="FILE", help="TOML file of settings (docs/settings.md)")] = None
    overrides: Annotated[
        list[str] | None, Option("--set", metavar="KEY=VALUE", help="Override one setting, as epochs=2")
    ] = None
    resume: Annotated[
        bool, Option("--resume", help="Continue the run in the folder; a finished run stays unchanged.")
    ] = False

    def settings(self, kind: type[SettingsModel], *more: str) -> SettingsModel:
        """Return the settings of this kind of run; ``more`` are overrides that options of their own give."""
        return run_settings(kind, self.config, [*(self.overrides or ()), *more])

    def folder(self, *name: str) -> Path:
        """Return the folder that was asked for, or the default one of this name."""
        return self.out or run_folder(self.workspace, *name)


@dataclass(frozen=True, kw_only=True)
class OnDataset(Trained):
    """Options of a verb that trains on a dataset folder."""

    model: Annotated[str, Option(metavar="NAME_OR_PATH", help="Base model: hub name, local folder, or a run folder")]
    dataset: DatasetFolder = None

    def data(self, name: str) -> Path:
        """Return the folder of the dataset: the one asked for, or the workspace's own of this name.

        It is said where it tests on few patients and its folds are not asked for.
        """
        from ontoground.flow.status import few_patients
        from training.runs.processes import is_main

        folder = self.dataset or self.workspace / "datasets" / name
        if is_main() and not getattr(self, "folds", False) and (few := few_patients(folder)):
            note(few)
        return folder


def state_of(folder: Path) -> str:
    """Say whether a run is whole already (``current``) or is yet to be ``done``."""
    from training.runs.folder import RECORD

    return "current" if (folder / RECORD).is_file() else "done"


def steps_of(rows: int, batch_size: int, epochs: float) -> int:
    """Return optimizer steps; the last step of an epoch may be short (training.packing.plan)."""
    each = math.ceil(rows / batch_size)
    return each * int(epochs) + (max(1, round(each * (epochs % 1))) if epochs % 1 else 0)


def trained(options: OnDataset, kind: str, data: Path, engine: str, out: Path, runs: Sequence[Run]) -> Result:
    """Sum up the runs of a verb, which lie in ``out`` or are it, and say what may follow."""
    from training.runs.processes import is_main

    # Of several processes that train together one speaks.
    if not is_main():
        raise typer.Exit
    whole, first, *place = (shlex.quote(relative(path)) for path in (out, runs[0][0], data, options.workspace))
    where = "--dataset {} --workspace {}".format(*place)
    evaluate = f"ontoground evaluate quadrants --model {whole} --baselines {where}"
    head = f"ontoground train classifier --model {first} --freeze-backbone {where}"
    payload = {
        "verb": f"train {kind}",
        "workspace": str(options.workspace),
        "dataset": str(data),
        "model": options.model,
        "engine": engine,
        "folder": str(out),
        "runs": [_summary(*run) for run in runs],
        "next": {"classifier": [evaluate], "corfu": [evaluate, head]}.get(kind, []),
    }
    return Result(payload, _blocks)


def _summary(folder: Path, record: dict[str, Any], state: str) -> dict[str, Any]:
    cut = record.get("truncation")
    return {
        "folder": str(folder),
        "state": state,
        "seed": record["settings"]["seed"],
        "lambda": record["settings"].get("lambda"),
        "steps": record["steps"],
        "contexts": cut and {name: cut[name] for name in ("contexts", "truncated", "tokens_cut")},
        "losses": _loss_parts(record),
    }


def _loss_parts(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the mean loss of about a fifth of the recorded steps of each stage at a time."""
    from training.runs.card import loss_records

    parts = []
    for stage, group in groupby(loss_records(record), key=lambda step: step["stage"]):
        steps = list(group)
        size = math.ceil(len(steps) / 5)
        for part in (steps[begin : begin + size] for begin in range(0, len(steps), size)):
            mean = sum(step["loss"] for step in part) / len(part)
            parts.append({"stage": stage, "first_step": part[0]["step"], "last_step": part[-1]["step"], "loss": mean})
    return parts


def _blocks(payload: dict[str, Any]) -> Blocks:
    for run in payload["runs"]:
        # A column of stages where there are any.
        first = 0 if any(part["stage"] for part in run["losses"]) else 1
        rows = []
        for part in run["losses"]:
            steps = " to ".join(map(number, dict.fromkeys((part["first_step"], part["last_step"]))))
            rows.append((part["stage"], steps, round(part["loss"], 4))[first:])
        yield table(("stage", "steps", "mean loss")[first:], rows)
        cut = run["contexts"]
        if cut and cut["truncated"]:
            counts = (number(cut[name]) for name in ("truncated", "contexts", "tokens_cut"))
            yield "contexts cut to fit: {} of {} ({} tokens)".format(*counts)
        was = " (was whole already)" if run["state"] == "current" else ""
        yield unfolded(f"run: {relative(Path(run['folder']))}{was}")
    if payload["next"]:
        yield "\nwhat to try next:"
    yield from (unfolded(f"  {command}") for command in payload["next"])


def seeds_of(text: str | None) -> list[int]:
    """Return the seeds of ``--seeds``.

    Raises:
        UsageError: a part is no whole number, or a seed is there twice.
    """
    try:
        seeds = [int(part) for part in text.split(",")] if text else []
    except ValueError as error:
        raise UsageError(
            "--seeds is no list of numbers", found=text, expected="whole numbers with commas, as 42,43,44"
        ) from error
    if len(set(seeds)) < len(seeds):
        raise UsageError("--seeds has a seed twice", found=text, expected="each seed once: equal seeds train alike")
    return seeds


def name_of_seeds(seeds: Sequence[int]) -> str:
    """Return the part of a folder's name that says the seeds."""
    return ("seeds" if len(seeds) > 1 else "seed") + "-".join(map(str, seeds))
