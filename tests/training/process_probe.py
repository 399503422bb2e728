"""Run by torchrun: trains as many processes as there are, whole or with split weights; one run is killed on its way."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import torch

from tests.training.classifier.test_train import descent
from tests.training.corfu.test_run import settings
from tests.training.toy import toy_dataset
from tests.training.worlds import small_dataset
from training.classifier.train import train_classifier
from training.corfu.run import train_corfu
from training.runs.settings import ClassifierSettings, CorfuSettings, HardwareSettings, LoraSettings

WHOLE = HardwareSettings(device="cpu", precision="float64", save_steps=1)
SPLIT = WHOLE.model_copy(update={"split_weights": True})


def three_stages(*, split: bool) -> CorfuSettings:
    """Three stages of two steps."""
    return settings("curriculum", batch_size=9, hardware=SPLIT if split else WHOLE)


def all_weights(*, split: bool) -> ClassifierSettings:
    """No adapter: every weight is trained."""
    return descent(hardware=SPLIT if split else WHOLE, lora=LoraSettings(r=0))


@contextmanager
def _killed_in_the_second_stage(what: str, _total: int) -> Iterator[Callable[[int], None]]:
    done = 0

    def advance(n: int) -> None:
        nonlocal done
        done += n
        if what == "stage-2: training" and done == 2:
            # All of them: one that waits for a dead one waits for ever.
            torch.distributed.barrier()
            os.kill(os.getpid(), signal.SIGKILL)

    yield advance


def _train_until_killed(policy: Path, out: Path) -> None:
    """Do so in a process of its own, which meets its like at another place."""
    if child := os.fork():
        os.waitpid(child, 0)
        return
    rank, store = int(os.environ["RANK"]), out.with_suffix(".store").absolute()
    torch.distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    try:
        with patch("training.corfu.run.progress", _killed_in_the_second_stage):
            train_corfu(toy_dataset(), policy, out, three_stages(split=True))
    finally:
        os._exit(1)


def main(base: Path, out: Path) -> None:
    """Train everything into folders of ``out``."""
    policy, resumed = base / "policy", out / "corfu-split"
    _train_until_killed(policy, resumed)
    left = resumed / "checkpoints" / "stage-2" / "checkpoints" / "checkpoint-1" / "shares"
    assert left.is_dir() and not (resumed / "training.json").exists()
    train_corfu(toy_dataset(), policy, resumed, three_stages(split=True), resume=True)
    train_corfu(toy_dataset(), policy, out / "corfu", settings("q1_q2", batch_size=9, hardware=WHOLE))
    # 24 rows of training in steps of 20 and 4: the last step is one packed row.
    dataset, own = small_dataset(base, admissions=3), str(base)
    train_classifier(dataset, own, out / "shared", descent())
    train_classifier(dataset, own, out / "plain", descent(), engine="plain")
    train_classifier(dataset, own, out / "all-split", all_weights(split=True))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
