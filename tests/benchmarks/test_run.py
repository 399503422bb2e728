"""One measurement of the whole flow: every step once, in order, with what it made and what it should reach."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import measuring
from benchmarks import run as program
from benchmarks.flow import MADE, STEPS, flow_checks, run_step, whole_run
from benchmarks.kept import Kept
from benchmarks.measures import Measure, Result, at_most
from benchmarks.run import Options, main, measured, results_of, workspace_of
from benchmarks.tables import print_checks, print_flow, print_result, short
from ground.errors import InputError, UsageError
from ontoground.flow.stages import STAGES
from openworld import World, render


def test_steps_of_the_flow_can_be_measured_and_say_what_they_made(tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    root.mkdir(mode=0o700)
    world = render(tmp_path / "world", 3)
    assert list(STEPS) == ["load mimic", "load umls", "load rxnorm", *(stage.name for stage in STAGES), "validate"]
    # The last two are measured as these are, and take as long as all of them.
    done = {step: run_step(root, world, step) for step in STEPS[:-2]}
    assert all(one.rows and one.watch and one.watch.seconds for one in done.values())
    notes = world.counts["note/discharge"]
    assert done["mentions"].figures["notes"] == notes and done["mentions"].figures["MB of text"] > 0.002 * notes


def test_each_stage_of_the_flow_has_a_figure() -> None:
    assert set(MADE) == {stage.name for stage in STAGES}


def test_steps_are_held_to_their_speed_a_core_and_the_run_to_its_time_and_memory_at_full_size() -> None:
    fast = Measure("ontoground", 10, "samples", 1.0, 2.0, 2**30, figures={"notes": 400.0, "MB of text": 3.0})
    (statements,) = flow_checks("medieval", fast)
    assert (statements.value, statements.met) == (200, True)
    (text,) = flow_checks("mentions", fast)
    assert (text.value, text.met) == (1.5, False)
    whole = whole_run([fast, fast], 0.2)
    assert (whole.ours.seconds, whole.ours.rows, whole.ours.peak_bytes) == (2, 20, 2**30)
    minutes, memory, *_ = whole.checks
    assert minutes.value == pytest.approx(0.1667) and memory.value == 5 and memory.met
    assert "extrapolated" in minutes.what and "not measured" in whole.remark and not whole.remark.endswith("size.")
    assert whole_run([fast], 0.01).remark.endswith("size.")
    full = whole_run([fast], 1.0)
    assert [check.what for check in full.checks] == ["minutes at 1/1", "peak GiB at 1/1"] and not full.remark


def arguments_of(world: World, folder: Path) -> list[str]:
    return ["--scale", "0.0005", "--world", str(world.folder), "--folder", str(folder), "--workers", "1"]


def test_steps_are_measured_one_after_another_into_one_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measuring, "RESULTS", tmp_path / "results")
    world = render(tmp_path / "world", 1)
    folder = tmp_path / "folder"
    arguments = [*arguments_of(world, folder), "--save", "--no-warm-up", "--stages"]
    assert main([*arguments, "--steps", "load rxnorm"]) == 0
    assert "load rxnorm" in capsys.readouterr().out
    path = tmp_path / "results" / "run-0.0005.json"
    (one,) = json.loads(path.read_text())["stages"]
    assert (one["stage"], one["kind"]) == ("load rxnorm", "step")
    (measure,) = one["measures"]
    assert measure["rows"] == sum(rows for name, rows in world.counts.items() if name.startswith("RXN"))
    assert measure["disk_bytes"] > 0 and measure["peak_bytes"] > 0 and measure["figures"]["MB of files"] > 0
    assert "workers = 1" in (folder / "workspace" / "ontoground.toml").read_text()
    # What was measured stays as it is; the sum waits for the last step.
    assert main([*arguments, "--steps", "load rxnorm", "load mimic"]) == 0
    both = json.loads(path.read_text())["stages"]
    assert [each["stage"] for each in both] == ["load mimic", "load rxnorm"] and both[1] == one
    with pytest.raises(UsageError, match="other settings"):
        main([*arguments, "--memory-limit", "1GB", "--steps"])
    with pytest.raises(InputError, match="measured after"):
        main([*arguments, "--steps", "mentions"])


def test_a_run_begins_with_an_empty_workspace_only_where_all_steps_are_measured_again(tmp_path: Path) -> None:
    kept = Kept.open(tmp_path, {})
    options = Options(0.5, 1, 1, "1GB", (), STEPS, again=True)
    trace = workspace_of(tmp_path, options, kept) / "trace"
    for step in STEPS:
        assert trace.parent.is_dir()
        trace.touch()
        workspace_of(tmp_path, options, kept)
        assert trace.exists()
        kept.put(step, Result(step, [Measure("ontoground", 1, "rows", 60.0)]))
    for other in (replace(options, again=False), replace(options, steps=STEPS[1:])):
        workspace_of(tmp_path, other, kept)
        assert trace.exists()
    assert workspace_of(tmp_path, options, kept) == trace.parent and not trace.exists()


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(UsageError, match="not empty"):
        Kept.open(tmp_path, {})


def test_all_steps_have_a_sum_and_stages_come_behind(tmp_path: Path) -> None:
    kept = Kept.open(tmp_path / "folder", {"scale": 0.5})
    for name in (*STEPS, "stage graph"):
        kept.put(name, Result(name.removeprefix("stage "), [Measure("ontoground", 1, "rows", 60.0)]))
    results = results_of(kept, 0.5)
    assert [one.stage for one in results] == [*STEPS, "whole run", "graph"]
    assert results[-2].checks[0].value == 2 * len(STEPS)
    kept.put("graph", Result("graph", [Measure("ontoground", failed="stopped")]))
    assert kept.get("graph") is None and kept.get("stage graph") is not None


def test_tables_fit_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    ours = Measure("ontoground", 77_300_000, "rows", 3600.5, 7000.0, 12 * 2**30, 2**30, 30 * 2**30, 2)
    theirs = replace(ours, name="facts of 10000 admissions, true ones", unit="edges visited")
    checks = [at_most("time of a cohort five times as large, times what its edges visited grew by", 1.23456, 1.3)]
    result = Result("graph queries", [ours, theirs, Measure("slow", failed="stopped after 3600 s")], checks, "x " * 60)
    print_flow([result])
    print_checks([result])
    print_result(result)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    text = " ".join(" ".join(lines).split())
    assert "77.3M" in text and "12,288" in text and "7,000" in text and "at most 1.3" in text
    assert [short(value) for value in (0, 99_999, 100_000, 999_499, 999_500, 1.61e9)] == [
        *("0", "99,999", "100k", "999k", "1M", "1.61G")
    ]


def test_every_stage_with_yardsticks_has_its_function() -> None:
    for module in program.STAGES.values():
        assert callable(__import__(module, fromlist=["measure"]).measure)


def test_a_scale_out_of_range_is_refused(tmp_path: Path) -> None:
    options = Options(2.0, 1, 1, "1GB", [], [])
    with pytest.raises(Exception, match="scale"):
        measured(tmp_path, options, Kept.open(tmp_path / "folder", {}))


def test_a_stage_that_fails_costs_its_own_figures_only(tmp_path: Path) -> None:
    world = render(tmp_path / "world", 0)
    told: list[int] = []
    options = Options(0.0005, 1, 1, "1GB", ["mentions"], [], world.folder)
    kept = Kept.open(tmp_path / "folder", {})
    results = measured(tmp_path / "folder", options, kept, lambda found: told.append(len(found)))
    assert [one.stage for one in results] == ["mentions"] and told == [1]
    assert "no warehouse" in results[0].ours.failed
