"""The processes that train together, as torchrun or accelerate started them, and what each sets on its device."""

from __future__ import annotations

import os

from ground.errors import UsageError

__all__ = ["any_process", "is_main", "join_processes", "n_processes", "prepare_device", "wait_for_all"]


def is_main() -> bool:
    """Say whether this process writes files; torchrun and accelerate number the processes in RANK."""
    return int(os.environ.get("RANK", "0")) == 0


def n_processes() -> int:
    """Return how many processes train together."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def prepare_device(device: str) -> None:
    """Set what runs on a GPU go by; call it before anything is put there."""
    if device == "cuda":
        import torch

        # Memory comes in segments that grow (rows differ in length, and blocks of fixed sizes would be cut up by them),
        # unless the environment says otherwise. Products of float32 weights (adapters, weights that are trained whole)
        # run on tensor cores, rounded to TF32, which is finer than the bfloat16 around them.
        os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
        torch.set_float32_matmul_precision("high")


def join_processes(device: str) -> None:
    """Prepare the device, and meet the other processes that torchrun or accelerate started, each with its own GPU.

    Raises:
        UsageError: weights are to be split between processes, and the first one could not write them whole.
    """
    prepare_device(device)
    for name in ("FSDP", "DEEPSPEED"):
        if os.environ.get(f"ACCELERATE_USE_{name}", "").lower() in ("1", "true", "yes"):
            do = "launch with --multi_gpu or torchrun, and set hardware.split_weights = true to split weights"
            raise UsageError("accelerate's own splitting of weights is not used here", found=name, do=do)
    if n_processes() > 1:
        from accelerate import PartialState

        PartialState(cpu=device == "cpu")


def wait_for_all() -> None:
    """Wait until every process of the run is here."""
    import torch

    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.barrier()


def any_process(here: bool) -> bool:
    """Return whether one of the processes that train together says so: what all must do alike is settled by it."""
    import torch

    group = torch.distributed
    if not (group.is_available() and group.is_initialized()):
        return here
    flags = [here] * group.get_world_size()
    group.all_gather_object(flags, here)
    return any(flags)
