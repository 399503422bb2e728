"""One measurement of the whole flow: every stage once, in order, with what it made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.flow import STAGES
from benchmarks.measuring import machine
from benchmarks.run import MADE, main, measured
from ontoground.errors import UsageError


def test_every_stage_is_measured_once_with_what_it_made(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir(mode=0o700)
    # What is tested is the way, not how well the balance comes out.
    (workspace / "ontoground.toml").write_text("[build]\nbalance_trials = 1\nbalance_rounds = 1\n")
    measures, agrees = measured(tmp_path, 5, 1.0)
    loads = ["load mimic", "load umls", "load rxnorm"]
    assert [one.stage for one in measures] == ["render", *loads, *(stage.name for stage in STAGES), "validate"]
    assert agrees
    rows = {one.stage: one.rows for one in measures}
    assert all(rows.values()) and rows["validate"] == rows["medieval"]
    peaks = [one.peak_bytes for one in measures]
    assert peaks == sorted(peaks) and peaks[0] > 0
    assert measures[0].warehouse_bytes == 0 and measures[-1].warehouse_bytes == sum(
        file.stat().st_size for file in workspace.glob("warehouse.duckdb*")
    )


def test_each_stage_of_the_flow_has_a_figure() -> None:
    assert set(MADE) == {stage.name for stage in STAGES}


def test_the_machine_is_described_by_what_its_speed_depends_on_only() -> None:
    described = machine()
    assert set(described) == {"cores", "memory_gib", "system", "python", "packages"}
    assert described["cores"] >= 1 and described["memory_gib"] > 0
    json.dumps(described)


def test_a_world_without_patients_is_refused() -> None:
    with pytest.raises(UsageError):
        main(["--scale", "0.001"])
