"""What `make gpu` does without a card, and that its parts run: they are tried on a CPU, at sizes of a second."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
import torch

from benchmarks.gpu import PARTS, main, packed, speed, texts
from benchmarks.whole_runs import whole_run
from tests.ontoground.cli.medieval_folder import medieval_folder


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a card")
def test_without_a_card_it_says_so_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--results", str(tmp_path)]) == 0
    assert "skipped: there is no CUDA device" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_packed_rows_are_within_the_noise_of_separate_ones() -> None:
    found = packed("cpu", "probe", "none")
    assert found["within_noise"] and found["difference"] < 1e-4


def test_speed_has_tokens_and_a_share_of_the_matrix_rate() -> None:
    found = speed("cpu", "probe", "corfu_shared")
    # One context of 200 tokens, two items of two statements.
    assert found["tokens_per_second"] == pytest.approx((200 + 2 * 25 * 2) / found["seconds"])
    assert 0 < found["share_of_matrix_rate"] < 1 and found["peak_bytes"] > 0


def test_steps_on_rows_of_one_text_have_tokens_and_grpo_samples_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.gpu.matrix_rate", lambda _: 1e12)  # measured above
    found = texts("cpu", "probe", grpo=True)
    assert found["tokens_per_second"] == pytest.approx(2 * 200 / found["seconds"])
    assert 0 < found["share_of_matrix_rate"] < 1 and found["peak_bytes"] > 0
    assert found["sampled_tokens_per_second"] > 0


def test_a_part_whose_run_is_over_measures_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    with pytest.raises(SystemExit, match="is over"):
        main(["--one", "masks", "--device", "cpu"])
    assert capsys.readouterr().out == ""


def test_without_the_open_worlds_dataset_learning_is_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["--results", str(tmp_path), "--device", "cpu", "--parts", "learning"]) == 0
    assert "learning: skipped, since work/demo/datasets/medieval is not there" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_parts_that_are_kept_are_passed_over_and_those_without_time_or_of_another_card_are_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results"
    asked = ["--results", str(results), "--device", "cpu", "--minutes", "1"]
    assert main([*asked, "--parts", "masks"]) == 0
    assert "masks: left for the next call" in capsys.readouterr().err and results.is_dir()
    for name in PARTS:
        (results / f"gpu-{name}.json").write_text(json.dumps({"machine": {}, "figures": {}}))
    assert main(asked) == 0
    assert capsys.readouterr().err == ""
    (results / "gpu-masks.json").unlink()
    (results / "gpu-run-grpo.json").write_text(json.dumps({"machine": {"card": "another one"}, "figures": {}}))
    assert main(asked) == 0
    said = capsys.readouterr().err
    assert "masks: left for the next call" in said and "run-grpo: " in said and "packed-nf4" not in said


def test_a_run_is_stopped_gone_on_with_and_used(tmp_path: Path) -> None:
    found = whole_run("cpu", "classifier", medieval_folder(tmp_path / "dataset"))
    assert 0 < found["stopped_at"] < found["steps"]
    assert found["answered"] > 0 and found["memory"]["total"] > 0 and found["measured"]["tokens"] > 0
