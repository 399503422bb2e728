"""One measurement of the whole flow: every step once, in order, with what it made and what it should reach."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.flow import STAGES
from app.openworld import render
from benchmarks import measuring
from benchmarks import run as program
from benchmarks.flow import MADE, STEPS, flow_checks, run_step, whole_run
from benchmarks.measuring import Measure
from benchmarks.run import Options, main, measured
from ontoground.errors import UsageError


def test_every_step_of_the_flow_can_be_measured_and_says_what_it_made(tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    root.mkdir(mode=0o700)
    # What is tested is the way, not how well the balance comes out.
    (root / "ontoground.toml").write_text("[build]\nbalance_trials = 1\nbalance_rounds = 1\n")
    world = render(tmp_path / "world", 5)
    done = {step: run_step(root, world, step) for step in STEPS}
    assert list(done) == ["load mimic", "load umls", "load rxnorm", *(stage.name for stage in STAGES), "validate"]
    assert all(one.rows and one.watch and one.watch.seconds for one in done.values())
    assert done["validate"].rows == done["medieval"].rows and not done["validate"].figures["disagrees"]
    notes = world.counts["note/discharge"]
    assert done["mentions"].figures["notes"] == notes and done["mentions"].figures["MB of text"] > 0.002 * notes


def test_each_stage_of_the_flow_has_a_figure() -> None:
    assert set(MADE) == {stage.name for stage in STAGES}


def test_steps_are_held_to_their_speed_a_core_and_the_run_to_its_time_at_full_size() -> None:
    fast = Measure("ontoground", 10, "samples", 1.0, 2.0, 2**30, figures={"notes": 400.0, "MB of text": 3.0})
    (statements,) = flow_checks("medieval", fast)
    assert (statements.found, statements.met) == (200, True)
    (text,) = flow_checks("mentions", fast)
    assert (text.found, text.met) == (1.5, False)
    whole = whole_run([fast, fast], 0.001)
    assert (whole.ours.seconds, whole.ours.rows, whole.ours.peak_bytes) == (2, 20, 2**30)
    memory, minutes = whole.checks
    assert memory.met and minutes.found == pytest.approx(33.3) and "not measured" in whole.remark


def test_a_measurement_is_printed_and_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measuring, "RESULTS", tmp_path / "results")
    world = render(tmp_path / "world", 1)
    folder = tmp_path / "folder"
    arguments = ["--scale", "0.0005", "--world", str(world.folder), "--folder", str(folder), "--workers", "1"]
    assert main([*arguments, "--steps", "load rxnorm", "--stages", "--save", "--no-warm-up"]) == 0
    assert "load rxnorm" in capsys.readouterr().out
    saved = json.loads((tmp_path / "results" / "run-0.0005.json").read_text())
    assert [one["stage"] for one in saved["stages"]] == ["load rxnorm", "whole run"]
    (one,) = saved["stages"][0]["measures"]
    assert one["rows"] == sum(rows for name, rows in world.counts.items() if name.startswith("RXN"))
    assert one["disk_bytes"] > 0 and one["peak_bytes"] > 0
    assert "workers = 1" in (folder / "workspace" / "ontoground.toml").read_text()
    with pytest.raises(UsageError, match="not empty"):
        main([*arguments, "--steps", "--stages"])


def test_every_stage_with_yardsticks_has_its_function() -> None:
    for module in program.STAGES.values():
        assert callable(__import__(module, fromlist=["measure"]).measure)


def test_a_scale_out_of_range_is_refused(tmp_path: Path) -> None:
    options = Options(2.0, 1, 1, "1GB", [], [])
    with pytest.raises(Exception, match="scale"):
        measured(tmp_path, options)


def test_a_stage_that_fails_costs_its_own_figures_only(tmp_path: Path) -> None:
    world = render(tmp_path / "world", 0)
    kept: list[int] = []
    options = Options(0.0005, 1, 1, "1GB", ["mentions"], [])
    results = measured(tmp_path / "folder", options, world, lambda found: kept.append(len(found)))
    assert [one.stage for one in results] == ["mentions"] and kept == [0, 1]
    assert "no warehouse" in results[0].ours.failed
