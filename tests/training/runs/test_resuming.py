"""When a run is stopped, and which checkpoint is gone on from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ground.errors import TrainingError
from training.runs.resuming import last_checkpoint, stop_if_broken


def test_a_mean_loss_that_grows_tenfold_is_a_divergence() -> None:
    first = [1.0] * 20
    stop_if_broken([*first, *[9.9] * 20], 40)
    with pytest.raises(TrainingError, match="training diverges") as error:
        stop_if_broken([*first, *[10.1] * 20], 40)
    assert "step 40" in str(error.value)


def test_a_few_bad_steps_are_no_divergence() -> None:
    stop_if_broken([1.0] * 30 + [50.0], 31)
    stop_if_broken([1.0] * 38 + [50.0] * 3 + [1.0] * 17, 58)


def test_a_policys_loss_may_grow_and_must_be_a_number() -> None:
    stop_if_broken([1e-9] * 20 + [1.0] * 20, 40, grows=True)
    with pytest.raises(TrainingError, match="not a number"):
        stop_if_broken([1e-9, float("nan")], 2, grows=True)


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_one_loss_that_is_no_number_is_enough(loss: float) -> None:
    with pytest.raises(TrainingError, match="not a number"):
        stop_if_broken([1.0, loss], 2)


def test_a_checkpoint_that_was_not_written_to_its_end_is_passed_over(tmp_path: Path) -> None:
    assert last_checkpoint(tmp_path) is None
    for step in (2, 10):
        (tmp_path / f"checkpoint-{step}").mkdir()
        (tmp_path / f"checkpoint-{step}" / "trainer_state.json").write_text(json.dumps({"global_step": step}))
    (tmp_path / "checkpoint-12").mkdir()
    (tmp_path / "checkpoint-14").mkdir()
    (tmp_path / "checkpoint-14" / "trainer_state.json").write_text('{"global_st')
    assert last_checkpoint(tmp_path) == str(tmp_path / "checkpoint-10")
