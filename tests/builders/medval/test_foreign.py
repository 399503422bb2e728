"""The rules' validator over other people's texts, by the command line."""

from __future__ import annotations

import json
import shutil
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import polars as pl

from ontoground.cli.main import invoke
from tests.evaluation.test_foreign import SAID, bench, verifact
from tests.ontoground.cli.schemas import checked


def test_the_validator_judges_texts_from_elsewhere(staged: Path, tmp_path: Path) -> None:
    # Other tests hold the workspace itself open.
    work = str(shutil.copytree(staged, tmp_path / "work"))

    def judged(texts: str) -> Any:
        out, err = StringIO(), StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = invoke(["evaluate", "medval", "--workspace", work, "--rules", "--texts", texts, "--json"])
        assert code == 0, err.getvalue()
        return checked(out.getvalue(), "evaluate-medval")

    # Answers about medication need a language model.
    file = bench(tmp_path / "bench.csv", "1", "4", more={"task": ["dialogue2note"] * 2})
    (run,) = judged(f"{file}:medval_bench")["runs"]
    assert run["overall"]["unsafe_f1"]["value"] == 1.0 and run["overall"]["macro_f1"]["value"] is not None
    (run,) = judged(f"{verifact(tmp_path / 'verifact')}:verifact_bhc")["runs"]
    assert run["overall"]["non_factual_f1"]["value"] == 1.0
    file = tmp_path / "mine.jsonl"
    file.write_text(json.dumps({"input": SAID, "output": f"{SAID} He likes gastrolabes.", "risk_level": 3}) + "\n")
    payload = judged(str(file))
    assert payload["runs"][0]["outcomes"] == {"not_read": 1}
    answers = pl.read_parquet(payload["predictions"][0]["file"])
    assert answers.select("label", "outcome").rows() == [(None, "not_read")]
