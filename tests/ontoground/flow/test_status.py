"""What `status` says of a workspace at each point of the flow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ontoground.cli.main import invoke
from tests.ontoground.cli.schemas import checked
from tests.ontoground.conftest import SETTINGS, Demo

pytestmark = pytest.mark.xdist_group("demo")

STAGES = ("graph", "concepts", "sections", "mentions", "medieval")


def status(workspace: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert invoke(["status", "--workspace", str(workspace), "--json"]) == 0
    return checked(capsys.readouterr().out, "status")


def states(payload: dict[str, Any]) -> dict[str, str]:
    return {stage["name"]: stage["state"] for stage in payload["stages"]}


def test_an_empty_workspace_asks_for_data(empty_workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    payload = status(empty_workspace, capsys)
    assert states(payload) == dict.fromkeys(STAGES, "no input")
    assert payload["next"] == [
        f"ontoground load {source} DIR --workspace {empty_workspace}" for source in ("mimic", "umls")
    ]


def test_after_the_demo_all_is_current(demo: Demo, capsys: pytest.CaptureFixture[str]) -> None:
    payload = status(demo.workspace, capsys)
    assert states(payload) == dict.fromkeys(STAGES, "current")
    assert {load["source"] for load in payload["loads"]} == {"mimic", "umls", "rxnorm"}
    assert payload["datasets"][0]["name"] == "medieval"
    assert payload["cache_bytes"] >= sum(file.stat().st_size for file in demo.workspace.glob("cache/lexicon/*/*")) > 0
    assert any(command.startswith("ontoground validate") for command in payload["next"])


def test_a_changed_setting_makes_its_stage_stale_and_what_follows(
    demo_copy: Callable[[], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = demo_copy()
    (workspace / "ontoground.toml").write_text(SETTINGS + "seed = 7\n")
    payload = status(workspace, capsys)
    assert states(payload) == {**dict.fromkeys(STAGES, "current"), "medieval": "stale"}
    assert payload["stages"][-1]["reason"] == "changed: settings [build]"
    (workspace / "ontoground.toml").write_text(SETTINGS + "[notes]\nfuzzy = false\n")
    changed = {"sections": "stale", "mentions": "stale", "medieval": "stale"}
    assert states(status(workspace, capsys)) == {**dict.fromkeys(STAGES, "current"), **changed}
    (workspace / "ontoground.toml").write_text(SETTINGS + "[run]\nthreads = 1\n")
    assert states(status(workspace, capsys)) == dict.fromkeys(STAGES, "current")


def test_a_lost_output_is_not_called_current(demo_copy: Callable[[], Path], capsys: pytest.CaptureFixture[str]) -> None:
    workspace = demo_copy()
    (workspace / "graph").rename(workspace / "elsewhere")
    assert states(status(workspace, capsys))["graph"] == "not built"


def test_a_table_for_a_person_names_what_comes_next(demo: Demo, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["status", "--workspace", str(demo.workspace)]) == 0
    printed = capsys.readouterr().out
    assert "ground.mention" in printed and "all stages are current" in printed and "ontoground validate" in printed
    assert "few patients: " in printed and "`ontoground train classifier --folds`" in printed
    assert max(len(line.rstrip()) for line in printed.splitlines() if str(demo.workspace) not in line) <= 80
