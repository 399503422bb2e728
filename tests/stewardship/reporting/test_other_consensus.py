"""Consensus counted again under other rules, from stored runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from ground.settings import StewardSettings
from ontoground.cli.main import invoke
from stewardship.benchmark.folder import Benchmark
from stewardship.reporting.other_consensus import recounted

LABELS = "uid,note,ask,answer\na,n,q,100\nb,n,q,9\nc,n,q,5\nd,n,q,2\n"
RUNS = "uid,run1,run2,run3,run4,run5\na,100,100,100,104,7\nb,3,3,3,,\nc,5,5,5,5,5\nd,1,2,3,4,5\n"


@pytest.fixture
def benchmark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Benchmark:
    (tmp_path / "labels.csv").write_text(LABELS)
    (tmp_path / "runs.csv").write_text(RUNS)
    place = ["--workspace", str(tmp_path / "work"), "--json"]
    columns = ("uid=uid", "context=note", "question=ask", "original=answer")
    given = [part for column in columns for part in ("--column", column)]
    assert invoke(["steward", "adopt", str(tmp_path / "labels.csv"), *given, *place]) == 0
    assert invoke(["steward", "recompute", "--answers", str(tmp_path / "runs.csv"), "--settle", *place]) == 0
    capsys.readouterr()
    return Benchmark.open(tmp_path / "work")


def test_each_rule_is_counted_over_the_same_runs(benchmark: Benchmark) -> None:
    labels = benchmark.history.labels("original")
    runs = {item.rule: (item.high, item.flagged, item.n) for item in recounted(benchmark, labels, StewardSettings())}
    assert runs[""] == (2, 0, 4)
    assert runs["no near-consensus"] == (1, 0, 4)
    assert runs["numbers are near within 0.01"] == (1, 0, 4)
    assert runs["numbers are near within 0.1"] == (2, 0, 4)
    # Row b: three of three that answered; its 3 is no 9.
    assert runs["runs without an answer are left out, and the quorum is the same share of the others"] == (3, 1, 4)
    assert not any(rule.startswith("dates") for rule in runs)


def test_labels_that_came_with_a_table_have_no_runs_to_count(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("uid,was,new\n1,5,6\n")
    columns = [part for name in ("uid=uid", "original=was", "recomputed=new") for part in ("--column", name)]
    assert invoke(["steward", "adopt", str(tmp_path / "labels.csv"), *columns, "--workspace", str(tmp_path)]) == 0
    opened = Benchmark.open(tmp_path)
    assert not list(recounted(opened, opened.history.labels("original"), StewardSettings()))
