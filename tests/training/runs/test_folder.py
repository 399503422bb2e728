"""The run folder: an error before anything was kept leaves it free, one after that leaves what was kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from ground.errors import TrainingError, UsageError
from training.runs.folder import CHECKPOINTS, drop_if_refused, start_run


def test_a_refused_run_leaves_its_folder_free(tmp_path: Path) -> None:
    out = tmp_path / "run"
    for _ in range(2):
        start_run(out, {"kind": "classifier"}, resume=False)
        with pytest.raises(UsageError, match="no such model"), drop_if_refused(out):
            raise UsageError("no such model")
        assert not out.exists()


def test_what_was_kept_before_an_error_stays(tmp_path: Path) -> None:
    start_run(tmp_path, {"kind": "classifier"}, resume=False)
    (tmp_path / CHECKPOINTS / "checkpoint-2").mkdir()
    with pytest.raises(TrainingError), drop_if_refused(tmp_path):
        raise TrainingError("the loss is not a number")
    with pytest.raises(UsageError, match="already holds a run"):
        start_run(tmp_path, {"kind": "classifier"}, resume=False)
