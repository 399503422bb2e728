"""The run folder: an error before anything was kept leaves it free, one after that leaves what was kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from ground.errors import InputError, TrainingError, UsageError
from training.runs.folder import CHECKPOINTS, drop_if_refused, model_identity, start_run


def test_a_refused_run_leaves_its_folder_free(tmp_path: Path) -> None:
    out = tmp_path / "run"
    for _ in range(2):
        start_run(out, {"kind": "classifier"}, resume=False)
        with pytest.raises(UsageError, match="no such model"), drop_if_refused(out):
            raise UsageError("no such model")
        assert not out.exists()


@pytest.mark.parametrize("error", [ValueError("of a library"), OSError(28, "disk full"), KeyboardInterrupt()])
def test_a_run_that_anything_else_ended_leaves_its_folder_free_too(tmp_path: Path, error: BaseException) -> None:
    out = tmp_path / "run"
    start_run(out, {"kind": "classifier"}, resume=False)
    # What a model was written to in the end is no checkpoint.
    (out / CHECKPOINTS / "final").mkdir()
    with pytest.raises(type(error)), drop_if_refused(out):
        raise error
    assert not out.exists()


@pytest.mark.parametrize(("kept", "said"), [(True, "with --resume goes on"), (False, "nothing of this run")])
def test_an_interrupt_says_what_is_kept(tmp_path: Path, kept: bool, said: str) -> None:
    start_run(tmp_path / "run", {"kind": "classifier"}, resume=False)
    if kept:
        (tmp_path / "run" / CHECKPOINTS / "checkpoint-2").mkdir()
    with pytest.raises(KeyboardInterrupt, match=said), drop_if_refused(tmp_path / "run"):
        raise KeyboardInterrupt


def test_a_model_of_the_hub_is_named_with_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache, commit = tmp_path / "models--made--tiny", "0123456789abcdef0123456789abcdef01234567"
    (cache / "snapshots" / commit).mkdir(parents=True)
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text(commit)
    (cache / "snapshots" / commit / "config.json").write_text('{"model_type": "llama"}')
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert model_identity("made/tiny") == {"name": "made/tiny", "commit": commit}
    assert model_identity(tmp_path)["name"] == tmp_path.name
    with pytest.raises(InputError, match="cannot be loaded"):
        model_identity("made/other")


def test_what_was_kept_before_an_error_stays(tmp_path: Path) -> None:
    start_run(tmp_path, {"kind": "classifier"}, resume=False)
    (tmp_path / CHECKPOINTS / "checkpoint-2").mkdir()
    with pytest.raises(TrainingError), drop_if_refused(tmp_path):
        raise TrainingError("the loss is not a number")
    with pytest.raises(UsageError, match="already contains a run"):
        start_run(tmp_path, {"kind": "classifier"}, resume=False)
