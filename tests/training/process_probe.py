"""Run by torchrun: trains as many processes as there are, whole or with split weights; one run is killed midway."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from shutil import copytree
from unittest.mock import patch

import torch
from trl import GRPOTrainer

from tests.training.classifier.test_train import descent
from tests.training.corfu.test_run import settings
from tests.training.estimates import estimate_each_kind_once
from tests.training.grpo.words import drawn_in_turn, word_arm
from tests.training.toy import toy_dataset
from tests.training.worlds import small_dataset
from training.classifier.train import train_classifier
from training.corfu.run import train_corfu
from training.grpo.train import Arm, train_arm
from training.runs.settings import ClassifierSettings, CorfuSettings, GrpoSettings, HardwareSettings, LoraSettings

WHOLE = HardwareSettings(device="cpu", precision="float64", save_steps=1)
ABSTAINED = 3
"""Rows whose label is an abstention: an odd number, so that processes with half of the rows each learn other things."""
SPLIT = WHOLE.model_copy(update={"split_weights": True})


def three_stages(*, split: bool) -> CorfuSettings:
    """Three stages of two steps."""
    return settings("curriculum", batch_size=9, hardware=SPLIT if split else WHOLE)


def all_weights(*, split: bool) -> ClassifierSettings:
    """No adapter: every weight is trained."""
    return descent(hardware=SPLIT if split else WHOLE, lora=LoraSettings(r=0))


def rewarded(*, split: bool, responses_at_once: int, rank: int) -> GrpoSettings:
    """Two steps of 32 responses, of an adapter or (rank 0) of all weights beside a reference; evaluated in between."""
    return GrpoSettings(
        epochs=2, prompts_per_step=8, group=4, per_device_batch_size=responses_at_once, max_new_tokens=4,
        evaluate_every=1, lora=LoraSettings(r=rank), hardware=SPLIT if split else WHOLE, kl_beta=0.1,
        optimizer=descent().optimizer,
    )  # fmt: skip


def _killed_in_the_second_step(of: str) -> Callable[[str, int], AbstractContextManager[Callable[[int], None]]]:
    """Return a progress that ends the process in the second step of what is named so."""

    @contextmanager
    def progress(what: str, _total: int) -> Iterator[Callable[[int], None]]:
        done = 0

        def advance(n: int) -> None:
            nonlocal done
            done += n
            if what.startswith(of) and done == 2:
                # All of them: one that waits for a dead one waits for ever.
                torch.distributed.barrier()
                os.kill(os.getpid(), signal.SIGKILL)

        yield advance

    return progress


def _train_until_killed(out: Path, train: Callable[[], object]) -> None:
    """Do so in a process of its own, which meets its like at another place."""
    if child := os.fork():
        os.waitpid(child, 0)
        return
    rank, store = int(os.environ["RANK"]), out.with_suffix(".store").absolute()
    torch.distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    try:
        train()
    finally:
        os._exit(1)


def _arm(out: Path) -> Arm:
    """Return an arm, its rows in a file of this process's own."""
    folder = out / f"rows-{os.environ['RANK']}"
    folder.mkdir(exist_ok=True)
    return word_arm(folder, "1", ABSTAINED)


def _killed_and_gone_on_with(base: Path, out: Path) -> None:
    """Train GRPO with split weights; it is killed on its way, and resumed from its shares."""
    grpo = out / "grpo-split"

    def rewarded_by_label(*, resume: bool = False) -> None:
        settings = rewarded(split=True, responses_at_once=8, rank=4)
        # Not before: polars has threads, which no fork keeps.
        train_arm(_arm(out), str(base / "words"), grpo, settings, resume=resume)

    with patch("training.runs.text_runs.progress", _killed_in_the_second_step("arm")):
        _train_until_killed(grpo, rewarded_by_label)
    assert (grpo / "checkpoints/checkpoint-1" / "shares").is_dir() and not (grpo / "training.json").exists()
    if os.environ["RANK"] == "0":
        copytree(grpo, out / "grpo-left")
    rewarded_by_label(resume=True)


def main(base: Path, out: Path) -> None:
    """Train everything into folders of ``out``."""
    estimate_each_kind_once()
    _killed_and_gone_on_with(base, out)
    train_corfu(toy_dataset(), base / "policy", out / "corfu-split", three_stages(split=True))
    # 24 rows of training in steps of 20 and 4: the last step is one packed row.
    dataset, own = small_dataset(base, admissions=3), str(base)
    train_classifier(dataset, own, out / "shared", descent())
    # One process is short of memory: both compute activations again, or they would wait for one another's weights.
    free = {"0": 1 << 40, "1": 1}[os.environ["RANK"]]
    with patch("training.runs.memory.free_memory", lambda _device: free):
        train_classifier(dataset, own, out / "all-split", all_weights(split=True))
    words, arm = str(base / "words"), _arm(out)
    train_arm(arm, words, out / "grpo-whole", rewarded(split=False, responses_at_once=8, rank=4))
    with patch.object(GRPOTrainer, "_generate_single_turn", drawn_in_turn):
        train_arm(arm, words, out / "grpo-all-split", rewarded(split=True, responses_at_once=8, rank=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
