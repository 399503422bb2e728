"""A small study through the command line: stopped, gone on with, shared, reported."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import pytest
from filelock import SoftFileLease

from ontoground.studies.work import LEASE, RENEWAL, work
from tests.ontoground.cli.medieval_folder import medieval_folder, medieval_model
from tests.ontoground.cli.schemas import answer_to, checked
from tests.ontoground.studies.test_plan import cells

SMALL = """
title = "A small study"
dataset = "{root}/medieval"
seeds = [1]
[models]
tiny = "{root}/TinyLlama"
[train.sft]
verb = "classifier"
settings = {{epochs = 0.4, "hardware.device" = "cpu"}}
[evaluate.table-1]
verb = "quadrants"
options = {{baselines = false}}
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    medieval_folder(tmp_path / "medieval")
    medieval_model(tmp_path / "TinyLlama")
    file = tmp_path / "small.toml"
    file.write_text(SMALL.format(root=tmp_path))
    return file


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verbs of cells run in this process, which has torch already; one of its own fails below."""

    def run(
        arguments: Sequence[str], *, hub: bool, errors: IO[bytes] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        answer = answer_to(*(["--hub"] if hub else []), *arguments)
        if errors is not None:
            errors.write(answer.err.encode())
        return subprocess.CompletedProcess(arguments, answer.code, answer.out.encode())

    for module in ("work", "report", "rehearsal"):
        monkeypatch.setattr(f"ontoground.studies.{module}.run_verb", run)


@pytest.mark.usefixtures("here", "no_ink")
def test_a_study_is_planned_done_once_and_reported(study: Path, tmp_path: Path) -> None:
    where = ("--workspace", tmp_path / "work", "--json")
    planned = answer_to("study", "plan", study, "--rehearse", *where).payload("study")
    assert [cell["state"] for cell in planned["cells"]] == ["ready", "waiting"] and not planned["missing"]
    assert planned["cells"][0]["by"] == "a rehearsal" and planned["cells"][0]["forecast"] > 0
    small = answer_to("study", "plan", study, "--card", "0.001", *where)
    assert small.code == 1 and checked(small.out, "study")["missing"][0]["what"] == "a cell does not fit the card"
    done = answer_to("study", study, *where)
    payload = done.payload("study")
    assert [cell["state"] for cell in payload["cells"]] == ["done", "done"] and "sft: tiny, seed 1" in done.err
    folder = Path(payload["cells"][0]["folder"])
    before = (folder / "cell.json").read_bytes()
    again = answer_to("study", study, *where)
    assert again.code == 0 and not again.err and (folder / "cell.json").read_bytes() == before
    page = Path(answer_to("study", "report", study, *where).payload("study")["report"])
    numbers = json.loads((page.parent / "table-1" / "report.json").read_text())
    assert [model["seeds"] for model in numbers["models"]] == [[1]]
    text = page.read_text()
    assert "2 of 2 cells are done" in text and "| TinyLlama + SFT |" in text and "missing" not in text


def test_what_a_verb_would_refuse_is_said_before_anything_runs(study: Path, tmp_path: Path) -> None:
    text = study.read_text()
    for old, new, code, words in (
        ("epochs", "epoch", 2, "unknown setting epoch"),
        ("{baselines", "{baseline", 2, "No such option"),
        (f"{tmp_path}/TinyLlama", "someone/TinyLlama", 3, "the model cannot be loaded"),
        (f"{tmp_path}/medieval", f"{tmp_path}/medeval", 2, "the dataset is not there"),
    ):
        study.write_text(text.replace(old, new))
        answer = answer_to("study", study, "--workspace", tmp_path / "work", "--json")
        assert answer.code == code and words in checked(answer.out, "error")["error"]["what"]
    study.write_text(text.replace(f"{tmp_path}/TinyLlama", "someone/TinyLlama"))
    planned = answer_to("study", "plan", study, "--workspace", tmp_path / "work", "--json").payload("study")
    assert planned["fetched"] == ["someone/TinyLlama"] and not planned["missing"]
    assert not (tmp_path / "work" / "studies").exists()


def test_a_claimed_cell_is_left_to_its_owner_and_a_failed_one_stops_no_other(tmp_path: Path) -> None:
    text = '[train.{0}]\nverb = "classifier"\noptions = {{nonsense = 1}}\n'
    head = 'title = "t"\n[models]\na = "x"\n[evaluate.e]\nverb = "quadrants"\n'
    claimed, other, *_ = made = cells(head + text.format("one") + text.format("two"), tmp_path)
    claimed.folder.mkdir(parents=True)
    lines: list[str] = []
    owner = SoftFileLease(claimed.folder / "claim", lease_duration=LEASE, heartbeat_interval=RENEWAL)
    with owner:
        work([other], hub=False, say=lines.append)
        assert not (claimed.folder / "cell.json").exists()
    record = json.loads((other.folder / "cell.json").read_text())
    assert record["exit_code"] == 2 and "No such option" in record["error"]["what"]
    assert [line.partition(":")[0] for line in lines] == ["two", "two"]
    work(made[:1], hub=False, say=lines.append)
    assert json.loads((claimed.folder / "cell.json").read_text())["exit_code"] == 2
