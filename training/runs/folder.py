"""The run folder: what a run is, whether one may be started or gone on with, and its record ``training.json``.

The record is written last: a folder that has one holds a whole run. Where several processes train together, the first
of them writes and the others wait.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from platform import python_version
from typing import Any

import torch

from evaluation.quadrants.dataset import MedievalDataset
from ground import __version__
from ground.errors import InputError, UsageError
from ground.flow.manifest import to_json, versions
from ground.settings import Section
from ground.storage.files import private_directory, sha256_of, write_text
from training.packing.decoders import backbone_of, base_of, implementation_of
from training.runs.models import device_of, hub_commit, prepare_device
from training.runs.settings import HardwareSettings

__all__ = [
    "CHECKPOINTS",
    "RECORD",
    "base_record",
    "dataset_identity",
    "drop_if_refused",
    "finish_run",
    "is_main",
    "join_processes",
    "loss_records",
    "machine_record",
    "model_identity",
    "read_run",
    "run_plan",
    "software",
    "start_run",
    "wait_for_all",
]

RECORD = "training.json"
CHECKPOINTS = "checkpoints"
PLAN = "plan.json"
FINAL = "final"
# Weights are not hashed: hashing those of a large model takes minutes.
IDENTITY_FILES = ("config.json", "adapter_config.json", "tokenizer.json", RECORD)

# Libraries that a trained model depends on.
SOFTWARE = ("accelerate", "bitsandbytes", "peft", "tokenizers", "torch", "transformers", "trl")


def software() -> dict[str, str]:
    """Return the versions of ontoground, Python and the libraries that are installed."""
    installed = {package: version for package, version in versions(SOFTWARE).items() if version is not None}
    return {"ontoground": __version__, "python": python_version(), **installed}


def is_main() -> bool:
    """Say whether this process writes files; torchrun and accelerate number the processes in RANK."""
    return int(os.environ.get("RANK", "0")) == 0


def join_processes(device: str) -> None:
    """Prepare the device, and meet the other processes that torchrun or accelerate started, each with its own GPU.

    Raises:
        UsageError: weights are to be split between processes, and the first one could not write them whole.
    """
    prepare_device(device)
    for name in ("FSDP", "DEEPSPEED"):
        if os.environ.get(f"ACCELERATE_USE_{name}", "").lower() in ("1", "true", "yes"):
            raise UsageError(
                "weights split between processes are not supported",
                found=name,
                do="launch with --multi_gpu, or torchrun",
            )
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        from accelerate import PartialState

        PartialState(cpu=device == "cpu")


def wait_for_all() -> None:
    """Wait until every process of the run is here."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.barrier()


def dataset_identity(dataset: MedievalDataset) -> dict[str, Any]:
    """Return what a run says of its dataset."""
    return {
        "name": dataset.folder.resolve().name,
        "manifest_sha256": dataset.manifest_sha256,
        "licence_tier": dataset.licence_tier,
        "rows": dataset.rows.height,
    }


def model_identity(model: str | Path) -> dict[str, Any]:
    """Return a model's name with its commit on the hub, or the hashes of what describes it where it is a folder.

    Raises:
        InputError: there is no such model.
    """
    folder = Path(model)
    if not folder.is_dir():
        return {"name": str(model), "commit": hub_commit(model)}
    files = {name: sha256_of(folder / name) for name in IDENTITY_FILES if (folder / name).is_file()}
    return {"name": folder.resolve().name, "sha256": files}


def base_record(model: Any) -> dict[str, Any]:
    """Return what a run says of the base model below its adapter: its name, and its commit on the hub."""
    name = base_of(model).config._name_or_path
    return {"base_model": Path(name).resolve().name if Path(name).is_dir() else name, "base_commit": hub_commit(name)}


def run_plan(
    kind: str, model: str | Path, dataset: Mapping[str, Any], settings: Section, **more: Any
) -> dict[str, Any]:
    """Return what makes two runs the same, as `start_run` takes it.

    Args:
        kind: of the run.
        model: what is trained.
        dataset: what the run says of it, such as `dataset_identity`.
        settings: all of them.
        more: what else decides the weights, such as the engine.
    """
    return {
        "kind": kind,
        **more,
        "base": model_identity(model),
        "dataset": dict(dataset),
        "settings": settings.model_dump(mode="json", by_alias=True),
    }


def machine_record(model: Any, hardware: HardwareSettings, *, autocast: bool) -> dict[str, Any]:
    """Return what a run says of how the machine was used."""
    return {
        "device": device_of(hardware),
        "precision": str(backbone_of(model).dtype).removeprefix("torch."),
        "autocast": autocast,
        "attention": implementation_of(model),
        "quantize": hardware.quantize,
    }


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    return dict(json.loads(to_json(value)))


def start_run(out: Path, plan: Mapping[str, Any], *, resume: bool) -> dict[str, Any] | None:
    """Open a run folder, and return the record of a run that is whole already.

    Args:
        out: the run folder, made with mode 0700.
        plan: what makes two runs the same: kind, model, dataset, settings, engine.
        resume: go on with what the folder holds; without it a folder that holds a run is refused.

    Raises:
        UsageError: the folder holds a run and ``resume`` is off, or it was started with another plan.
    """
    record, stated = out / RECORD, out / CHECKPOINTS / PLAN
    found = next((file for file in (record, stated) if file.is_file()), None)
    # Every process has looked before the first one writes.
    wait_for_all()
    if found is not None and not resume:
        raise UsageError("this folder already holds a run", file=out, do="choose another --out, or --resume this run")
    if found is not None:
        before = json.loads(found.read_text(encoding="utf-8"))
        changed = [name for name, value in _plain(plan).items() if before.get(name) != value]
        if changed:
            raise UsageError(
                "the run in this folder was started otherwise",
                file=out,
                found=f"another {', '.join(changed)}",
                do="resume with what it was started with, or choose another folder",
            )
        if found == record:
            return dict(before)
    if is_main():
        private_directory(stated.parent)
        # One that was there already may have been open to others.
        out.chmod(0o700)
        write_text(stated, to_json(plan))
    return None


@contextmanager
def drop_if_refused(out: Path) -> Iterator[None]:
    """Forget a run that ended before anything of it was kept, whatever ended it: its folder may be taken again.

    Raises:
        KeyboardInterrupt: as it came, with what was kept and how to go on.
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


def finish_run(out: Path, record: Mapping[str, Any], write: Callable[[Path], None]) -> dict[str, Any]:
    """Put a run's files in place, its record last, and drop its checkpoints; returns the record as it was written.

    Args:
        out: the run folder.
        record: what ``training.json`` says; the versions of the software and hashes of the files are added.
        write: writes the model, its tokenizer and card into a folder.
    """
    whole = {**record, "software": software()}
    if is_main():
        part = out / CHECKPOINTS / FINAL
        shutil.rmtree(part, ignore_errors=True)
        private_directory(part)
        write(part)
        whole["files"] = {file.name: sha256_of(file) for file in sorted(part.iterdir()) if file.name != "README.md"}
        for file in sorted(part.iterdir()):
            file.replace(out / file.name)
        write_text(out / RECORD, to_json(whole))
        shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)
    wait_for_all()
    return _plain(whole)


def read_run(folder: Path, *kinds: str) -> dict[str, Any]:
    """Read the record of a run that is whole.

    Raises:
        InputError: there is none, or it is of none of the kinds asked for.
    """
    path = folder / RECORD
    if not path.is_file():
        unfinished = (folder / CHECKPOINTS / PLAN).is_file()
        raise InputError(
            "this run did not finish" if unfinished else "this folder holds no run",
            file=folder,
            expected=RECORD,
            do="go on with it: the same command with --resume" if unfinished else "ontoground train classifier",
        )
    record = dict(json.loads(path.read_text(encoding="utf-8")))
    if kinds and record.get("kind") not in kinds:
        raise InputError(
            "the run is of another kind", file=path, found=str(record.get("kind")), expected=", ".join(kinds)
        )
    return record


def loss_records(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of a run's ``training.json`` in order: stage, step (from 1), loss and what else was logged."""
    if record["kind"] == "corfu":
        return [
            {"stage": stage["stage"], **one, "step": step}
            for stage in record["stages"]
            for step, one in enumerate(stage["records"], 1)
        ]
    if record["kind"] == "encoder":
        return [{"stage": "", "step": step, "loss": loss} for step, loss in enumerate(record["losses"], 1)]
    if record["kind"] == "classifier":
        return [{"stage": "", **one, "step": step} for step, one in enumerate(record["losses"], 1)]
    return [{"stage": "", **one} for one in record["history"]]
