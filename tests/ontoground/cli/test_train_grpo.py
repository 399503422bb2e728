"""``train grpo``: a run of a few steps through the command line, and what is refused."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ground.lm.tiny import tiny_decoder, tiny_tokenizer
from ontoground.cli.main import invoke
from tests.ontoground.cli.schemas import checked
from training.grpo.prompts import system_prompt

pytestmark = pytest.mark.xdist_group("grpo")
FEW = {
    **{"epochs": 1, "rows": 4, "evaluate_rows": 4, "prompts_per_step": 2, "group": 2, "per_device_batch_size": 2},
    **{"max_new_tokens": 16, "max_prompt_tokens": 100_000, "hardware.gradient_checkpointing": "false"},
}
COLUMNS = ("uid=uid", "context=note", "question=ask", "original=answer", "recomputed=new", "physician=doctor")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("trl")
    root = tmp_path_factory.mktemp("grpo")
    rows = "".join(f"{n},weighs {n} kg,What is the weight?,{n},{n + 50},{n if n < 23 else ''}\n" for n in range(20, 60))
    (root / "labels.csv").write_text("uid,note,ask,answer,new,doctor\n" + rows)
    given = [part for column in COLUMNS for part in ("--column", column)]
    assert invoke(["steward", "adopt", str(root / "labels.csv"), *given, "--workspace", str(root), "--json"]) == 0
    tokenizer = tiny_tokenizer([system_prompt(), rows], root / "model", chat=True)
    tiny_decoder("qwen3", tokenizer, root / "model", positions=32_768)
    return root


def test_a_run_trains_both_arms_on_the_same_rows(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    few = [word for name, value in (FEW | {"evaluate_every": 1}).items() for word in ("--set", f"{name}={value}")]
    asked = ["train", "grpo", "--model", str(workspace / "model"), "--workspace", str(workspace), *few, "--json"]
    assert invoke(asked) == 0
    printed = capsys.readouterr()
    payload = checked(printed.out, "train-grpo")
    assert [arm["arm"] for arm in payload["arms"]] == ["original", "recomputed"]
    assert len({arm["order_sha256"] for arm in payload["arms"]}) == 1
    assert set(payload["sets"]) == {"physician", "recomputed", "original"}
    assert all(set(one["accuracy"]) == {"base", "original", "recomputed"} for one in payload["sets"].values())
    folder = Path(payload["folder"])
    one = payload["curves"]["physician"]["recomputed"]
    assert one["steps"] == [1, 2] and one["last"]["n"] == 2 and one["last"]["value"] == sum(one["accuracy"]) / 2
    assert (folder / "curve.png").is_file() and "last evaluations" in (folder / "comparison.md").read_text()
    arms = [pl.read_parquet(folder / "data" / f"arm-{name}.parquet") for name in ("original", "recomputed")]
    assert arms[0].select("uid", "prompt").equals(arms[1].select("uid", "prompt"))
    assert not arms[0]["label"].eq(arms[1]["label"]).any()
    evaluated = pl.read_parquet(folder / "data" / "evaluate.parquet")
    assert set(evaluated.filter(set="physician")["uid"]) == {f"labels/{n}" for n in (20, 21, 22)}
    assert not set(evaluated["uid"].str.strip_prefix("labels/")) & set(arms[0]["uid"])
    assert invoke(asked) == 2 and "already contains a run" in checked(capsys.readouterr().out, "error")["error"]["what"]
    assert invoke([*asked, "--resume"]) == 0
    assert checked(capsys.readouterr().out, "train-grpo") == payload


def test_what_does_not_fit_is_refused(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, code, words in (
        (["--arm", "original", "--arm", "original"], 2, "named twice"),
        (["--arm", "final"], 3, "no such labels yet"),
        (["--evaluate", "other:original"], 3, "no such benchmark"),
        (["--set", "group=1"], 2, "setting"),
    ):
        capsys.readouterr()
        asked = ["train", "grpo", "--model", str(workspace / "model"), *arguments, "--workspace", str(workspace)]
        asked += ["--out", str(workspace / "x"), "--json"]
        assert invoke(asked) == code, arguments
        assert words in checked(capsys.readouterr().out, "error")["error"]["what"]
    assert not (workspace / "x").exists()
