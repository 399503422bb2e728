"""The run folder, and the one life of every run: opened, trained or gone on with, recorded, given its card.

`open_run` is what every verb trains in. The record ``training.json`` is written last: a folder that has one holds a
whole run. Where several processes train together, the first of them writes and the others wait.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from platform import python_version
from typing import Any

from ground import __version__
from ground.errors import InputError, TrainingError, UsageError
from ground.flow.manifest import to_json, versions
from ground.storage.files import private_directory, sha256_of, write_text
from training.runs.card import write_card
from training.runs.memory import GIB, Estimate, Step, estimate_memory, rehearse
from training.runs.models import (
    Task,
    backbone_of,
    base_of,
    compile_layers,
    device_of,
    has_experts,
    hub_commit,
    implementation_of,
    load_model,
    lora_of,
    name_of,
    quiet,
    trained_weights,
)
from training.runs.processes import any_process, is_main, join_processes, n_processes, wait_for_all
from training.runs.resuming import choose_optimizer, memory_errors
from training.runs.settings import HardwareSettings, LoraSettings, OptimizerSettings

__all__ = [
    "CHECKPOINTS",
    "RECORD",
    "Run",
    "drop_if_refused",
    "model_identity",
    "open_run",
    "passes_of",
    "read_run",
    "start_run",
]

RECORD = "training.json"
CHECKPOINTS = "checkpoints"
PLAN = "plan.json"
FINAL = "final"
# Weights are not hashed: hashing those of a large model takes minutes.
IDENTITY_FILES = ("config.json", "adapter_config.json", "tokenizer.json", RECORD)

SPLIT_BY = ("shared", "trl GRPOTrainer")
"""Engines that split weights between processes where that is asked for."""
REHEARSED_ON = ("cuda",)
# Libraries that a trained model depends on.
SOFTWARE = ("accelerate", "bitsandbytes", "peft", "tokenizers", "torch", "transformers", "trl")


def passes_of(rows: int, at_once: int, what: str) -> int:
    """Return how many forward passes of ``at_once`` rows each process makes in a step of so many rows.

    Raises:
        UsageError: they are not whole; ``what`` are the settings that the rows of a step come from.
    """
    if rows % (together := at_once * n_processes()):
        raise UsageError(
            f"{what} is not a multiple of the rows of a forward pass in all processes",
            found=f"{rows}, and {at_once} in each of {n_processes()}",
            expected=f"a multiple of {together}",
        )
    return rows // together


def model_identity(model: str | Path) -> dict[str, Any]:
    """Return a model's name with its commit on the hub, or the hashes of what describes it where it is a folder."""
    folder = Path(model)
    if not folder.is_dir():
        return {"name": name_of(model), "commit": hub_commit(model)}
    files = {name: sha256_of(folder / name) for name in IDENTITY_FILES if (folder / name).is_file()}
    return {"name": name_of(model), "sha256": files}


def start_run(out: Path, plan: Mapping[str, Any], *, resume: bool) -> dict[str, Any] | None:
    """Open a run folder, and return the record of a run that is whole already.

    ``plan`` is what makes two runs the same: kind, model, dataset, settings, engine. Without ``resume`` a folder that
    holds a run is refused, and with it one that was started with another plan.
    """
    record, stated = out / RECORD, out / CHECKPOINTS / PLAN
    existing = next((file for file in (record, stated) if file.is_file()), None)
    # Every process has looked before the first one writes.
    wait_for_all()
    if existing is not None and not resume:
        raise UsageError(
            "this folder already contains a run", file=out, do="choose another --out, or --resume this run"
        )
    if existing is not None:
        before = json.loads(existing.read_text(encoding="utf-8"))
        now = json.loads(to_json(plan))
        changed = [key for name in now for key in _changed(before.get(name), now[name], name)]
        if changed:
            raise UsageError(
                "the run in this folder was started with other settings",
                file=out,
                found=f"another {', '.join(changed)}",
                do="resume it with the same settings, or choose another folder",
            )
        if existing == record:
            return dict(before)
    if is_main():
        private_directory(stated.parent)
        # One that was there already may have been open to others.
        out.chmod(0o700)
        write_text(stated, to_json(plan))
    return None


def _changed(before: Any, now: Any, name: str) -> list[str]:
    """Return the names of what differs in two values of this name, down to the settings of a table."""
    if isinstance(before, dict) and isinstance(now, dict):
        parts = sorted(before.keys() | now.keys())
        return [key for part in parts for key in _changed(before.get(part), now.get(part), f"{name}.{part}")]
    return [] if before == now else [name]


@contextmanager
def drop_if_refused(out: Path) -> Iterator[None]:
    """Forget a run that ended before anything of it was kept, whatever ended it: its folder may be taken again.

    An interrupt goes on with words on what was kept and how to go on.
    """
    try:
        yield
    except BaseException as error:
        checkpoints = out / CHECKPOINTS
        kept = checkpoints.is_dir() and not {file.name for file in checkpoints.iterdir()} <= {PLAN, FINAL}
        if is_main() and checkpoints.is_dir() and not kept:
            shutil.rmtree(checkpoints)
            if not any(out.iterdir()):
                out.rmdir()
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(
                "interrupted: what this run had written down is kept; the same command with --resume goes on from there"
                if kept
                else "interrupted: nothing of this run was written down yet; the same command begins it again"
            ) from None
        raise


@dataclass
class Run:
    """A run that is open.

    Attributes:
        out: its folder; ``model``, ``resume`` and ``say`` (of several processes one speaks) as of `open_run`.
        settings: all of them; an adapter that goes on being trained keeps its own in ``lora``.
        plan: what makes two runs the same.
        optimizer: transformers' name of the one that is used.
        whole: its record, where it was whole already.
        memory: what it is thought to need, where that was estimated for a ``step``.
        compiled: whether its layers are.
        notes: where the machine is not used as the settings ask for.
    """

    out: Path
    model: str | Path
    settings: Any
    plan: dict[str, Any]
    resume: bool
    say: Callable[[str], None]
    optimizer: str
    whole: dict[str, Any] | None = None
    memory: Estimate | None = None
    step: Step = field(init=False)
    smaller: str = field(init=False)
    compiled: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def checkpoints(self) -> Path:
        """The folder of what its resumption needs, which goes when the run is whole."""
        return self.out / CHECKPOINTS

    @cached_property
    def weights(self) -> tuple[HardwareSettings, bool]:
        """How the model is loaded, and whether half precision is left to autocast; see `trained_weights`."""
        whole = self.settings.lora.r == 0 and not self.plan.get("freeze_backbone", False)
        return trained_weights(self.settings.hardware, whole=whole)

    def estimate(self, task: Task, step: Step, smaller: str, *, choose_later: bool = False, **options: Any) -> None:
        """Say what the run's largest step needs before anything is loaded, and warn where that is more than there is.

        ``smaller`` says what to change where memory is short; ``options`` are those of `estimate_memory`. What decides
        whether activations are computed again is the estimate or, with ``choose_later`` on a GPU, `rehearse`.
        """
        (hardware, autocast), lora = self.weights, self.settings.lora
        self.step, self.smaller = step, smaller
        tried = choose_later and self._rehearsed
        for checkpointing in self.ways[-1:] if tried else self.ways:
            hardware = self.recompute(checkpointing)
            self.memory = estimate_memory(str(self.model), task, step, lora, hardware, autocast=autocast, **options)
            warning = self.memory.warning(hardware, smaller)
            if not any_process(warning is not None):
                break
        if not tried:
            self.ways = (checkpointing,)
        self.say(str(self.memory))
        if warning is not None:
            self.say(warning)

    @cached_property
    def ways(self) -> tuple[bool, ...]:
        """Whether activations are computed again: as the settings ask for it, or either where nothing decided yet."""
        asked = self.settings.hardware.gradient_checkpointing
        return (False, True) if asked == "auto" else (asked,)

    @property
    def _rehearsed(self) -> bool:
        """Whether the step is run before training: not a model's that is split between processes later."""
        hardware = self.weights[0]
        return device_of(hardware) in REHEARSED_ON and not (hardware.split_weights and n_processes() > 1)

    def recompute(self, checkpointing: bool) -> HardwareSettings:
        """Settle whether activations are computed again; returns how the model is loaded."""
        update = {"gradient_checkpointing": checkpointing}
        self.settings = self.settings.model_copy(update={"hardware": self.settings.hardware.model_copy(update=update)})
        self.weights = (self.weights[0].model_copy(update=update), self.weights[1])
        return self.weights[0]

    def compile(self, model: Any) -> None:
        """Have the layers of a decoder that reads packed rows compiled, where the settings and the machine let it."""
        hardware = self.settings.hardware
        dense = hardware.quantize == "none" and not hardware.split_weights and not has_experts(model)
        if hardware.compile is True or (
            hardware.compile == "auto" and dense and implementation_of(model) == "flex_attention"
        ):
            compile_layers(model)
            self.compiled = True

    def rehearse(self, model: Any) -> None:
        """Run the estimated step on a GPU before training: memory is short now, or (but for fragments) never.

        ``model`` is as it is trained. Where it is open whether activations are computed again, they are if the step
        fills more than its share of the memory without.
        """
        if self.memory is None or not self._rehearsed:
            return
        # AdamW's two states, and what processes hold of gradients to exchange them.
        copies = 2 * self.optimizer.startswith("adamw_torch") + (n_processes() > 1)
        for checkpointing in self.ways:
            hardware, last = self.recompute(checkpointing), checkpointing is self.ways[-1]
            fits = False
            try:
                with memory_errors(self.smaller):
                    most = rehearse(model, self.step, hardware, autocast=self.weights[1], copies=copies)
                self.memory = replace(self.memory, measured=most)
                fits = most <= hardware.memory_margin * self.memory.free
            except TrainingError:
                if last:
                    raise
            if last or not any_process(not fits):
                break
        again = ", computing activations again" if checkpointing else ""
        self.say(f"memory: {most / GIB:.1f} GiB when the largest step was run{again}")

    def load(self, task: Task, *, attention: str | None, lora: LoraSettings | None = None) -> Any:
        """Load the model that is trained, with its own adapter or, where ``lora`` is given, a new one."""
        seed, hardware = self.settings.seed, self.weights[0]
        with memory_errors("set hardware.quantize = 'nf4', or choose a smaller base model"):
            loaded = load_model(self.model, task, hardware, lora=lora, seed=seed, attention=attention, trainable=True)
        asked = self.settings.lora
        if asked.r > 0 and asked.dropout and has_experts(loaded):
            note = f"lora.dropout is 0, not {asked.dropout:g}: PEFT has none for experts stacked in one parameter"
            self.notes.append(note)
            self.say(note)
        return loaded

    def finish(self, model: Any, results: Mapping[str, Any], save: Callable[[Path], None]) -> dict[str, Any]:
        """Put a run's files in place, its record last, and drop its checkpoints; returns the record as it was written.

        Args:
            model: what was trained.
            results: what the record says beside the plan, the model, the machine, software and hashes of the files.
            save: writes the model, its tokenizer and what else is kept into a folder; the card is added.
        """
        name, parameters = base_of(model).config._name_or_path, list(model.parameters())
        installed = {package: version for package, version in versions(SOFTWARE).items() if version is not None}
        record = {
            **self.plan,
            "licence_tier": self.plan["dataset"]["licence_tier"],
            "base_model": name_of(name),
            "base_commit": hub_commit(name),
            "seed": self.settings.seed,
            "parameters": {
                "all": sum(p.numel() for p in parameters),
                "trained": sum(p.numel() for p in parameters if p.requires_grad),
            },
            "machine": {
                "device": device_of(self.settings.hardware),
                "precision": str(backbone_of(model).dtype).removeprefix("torch."),
                "autocast": self.weights[1],
                "attention": implementation_of(model),
                "compiled": self.compiled,
                "gradient_checkpointing": bool(self.settings.hardware.gradient_checkpointing),
                "quantize": self.settings.hardware.quantize,
                "optimizer": self.optimizer,
                "trained_weights": str(next(p.dtype for p in parameters if p.requires_grad)).removeprefix("torch."),
                "notes": self.notes,
            },
            "memory": self.memory and self.memory.as_dict(),
            **results,
            "software": {"ontoground": __version__, "python": python_version(), **installed},
        }
        if is_main():
            part = self.checkpoints / FINAL
            shutil.rmtree(part, ignore_errors=True)
            save(private_directory(part))
            write_card(part, record)
            record["files"] = {
                file.name: sha256_of(file) for file in sorted(part.iterdir()) if file.name != "README.md"
            }
            for file in sorted(part.iterdir()):
                file.replace(self.out / file.name)
            write_text(self.out / RECORD, to_json(record))
            shutil.rmtree(self.checkpoints, ignore_errors=True)
        wait_for_all()
        return dict(json.loads(to_json(record)))


@contextmanager
def open_run(
    kind: str,
    model: str | Path,
    out: Path,
    dataset: Mapping[str, Any],
    settings: Any,
    *,
    resume: bool,
    say: Callable[[str], None] | None,
    alone: bool = False,
    **more: Any,
) -> Iterator[Run]:
    """Yield a run, in silence of the libraries; one that ends with nothing kept leaves its folder free.

    Every verb trains in it: it takes ``out``, ``settings``, ``resume`` and ``say`` as they are here, raises what is
    said here, and returns what ``training.json`` holds.

    Args:
        kind: of the run.
        model: what is trained.
        out: the run folder, made with mode 0700.
        dataset: what the run says of it, such as its ``identity``; ``licence_tier`` is in it.
        settings: all of them, the paper's by default; ``hardware`` is among them.
        resume: go on from the last checkpoint in the folder, from the start where there is none; a run that is whole is
            left as it is. Without it a folder that holds a run is refused.
        say: takes what a person is told: the memory estimate, and where the machine is not used as was asked for.
        alone: whether one process alone can train it.
        more: what else decides the weights, such as the engine.

    Raises:
        UsageError: settings that do not fit each other, the model or this machine; the folder holds a run and
            ``resume`` is off, or it was started with another plan; more processes than can train it.
        InputError: no such model, or nothing to train on.
        TrainingError: the loss is not a number, training diverges, or memory is short.
    """
    if alone and n_processes() > 1:
        raise UsageError(f"{kind} is trained by one process", do="start it without torchrun or accelerate")
    if settings.hardware.split_weights and more.get("engine") not in SPLIT_BY:
        raise UsageError(
            "this engine does not split weights between processes",
            found=f"hardware.split_weights, {kind}",
            expected="train classifier or corfu with the engine shared, or train grpo",
        )
    join_processes(device_of(settings.hardware))
    if (lora := lora_of(model, settings.lora)) != settings.lora:
        settings = settings.model_copy(update={"lora": lora})
    plan = {
        "kind": kind,
        **more,
        "base": model_identity(model),
        "dataset": dict(dataset),
        "settings": settings.model_dump(mode="json", by_alias=True),
    }
    wanted = getattr(settings, "optimizer", OptimizerSettings()).optimizer
    optimizer, why = choose_optimizer(wanted, device_of(settings.hardware))
    tell = say if say is not None and is_main() else lambda _text: None
    whole, notes = start_run(out, plan, resume=resume), [why] if why else []
    with drop_if_refused(out) if whole is None else nullcontext(), quiet():
        yield Run(out, model, settings, plan, resume, tell, optimizer, whole, notes=notes)


def read_run(folder: Path, *kinds: str) -> dict[str, Any]:
    """Read the record of a run that is whole, or raise `InputError`: there is none, or it is of none of these kinds."""
    path = folder / RECORD
    if not path.is_file():
        unfinished = (folder / CHECKPOINTS / PLAN).is_file()
        raise InputError(
            "this run did not finish" if unfinished else "this folder holds no run",
            file=folder,
            expected=RECORD,
            do="continue it: the same command with --resume" if unfinished else "ontoground train classifier",
        )
    record = dict(json.loads(path.read_text(encoding="utf-8")))
    if record.get("kind") not in kinds:
        raise InputError(
            "this is another kind of run", file=path, found=str(record.get("kind")), expected=", ".join(kinds)
        )
    return record
