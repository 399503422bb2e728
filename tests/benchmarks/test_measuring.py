"""Work that is measured in a process of its own: what it took, what it left, and why it failed."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from benchmarks import measuring
from benchmarks.measures import Check, Measure, Result, at_least, at_most
from benchmarks.measuring import Done, bytes_on_disk, machine, memory_of_tree, run_apart, save, stopwatch
from benchmarks.tables import print_result
from ground.errors import InputError

MIB = 2**20


def fill(path: Path, size: int) -> Done:
    held = b"x" * size
    path.write_bytes(held[:1000])
    with stopwatch() as watch:
        time.sleep(0.3)
    return Done(7, "blocks", watch, [path], {"median ms": 2.5})


def fail() -> Done:
    raise ValueError("no such thing")


def wait() -> Done:
    time.sleep(60)
    return Done(0, "")


def test_a_measure_has_time_memory_disk_and_figures(tmp_path: Path) -> None:
    found = run_apart(fill, tmp_path / "file", 64 * MIB)
    assert (found.name, found.rows, found.unit, found.failed) == ("ontoground", 7, "blocks", "")
    assert 0.3 <= found.seconds < 30 and found.cpu_seconds < found.seconds
    assert found.peak_bytes > 64 * MIB and found.private_bytes <= found.peak_bytes
    assert found.disk_bytes == 1000 and found.figures == {"median ms": 2.5}
    assert found.rows_per_second == pytest.approx(7 / found.seconds)


def test_a_yardstick_that_fails_or_takes_too_long_is_recorded_and_ours_is_raised() -> None:
    with pytest.raises(InputError, match="no such thing"):
        run_apart(fail)
    stopped = run_apart(wait, name="slow", may_fail=True, limit_seconds=0.2)
    assert stopped.failed == "stopped after 0.2 s" and stopped.seconds == 0 and stopped.rows_per_second == 0


def test_the_memory_of_this_process_is_that_of_one() -> None:
    memory, processes = memory_of_tree(os.getpid())
    assert processes >= 1
    assert 0 < memory.private <= memory.resident or not Path("/proc/self/smaps_rollup").exists()


def test_bytes_on_disk_are_those_of_files_and_of_all_files_below_folders(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "one").write_bytes(b"12345")
    (tmp_path / "two").write_bytes(b"123")
    assert bytes_on_disk([tmp_path / "a", tmp_path / "two", tmp_path / "missing"]) == 8


def test_checks_keep_their_limits_on_the_right_side() -> None:
    assert at_most("time", 1.2, 1.3).met and not at_most("time", 1.31, 1.3).met
    assert at_least("rate", 10, 10).met and not at_least("rate", 9.9, 10).met
    assert Check("free", 5).met and not at_most("time", float("nan"), 1).met
    assert not Result("a", [Measure("x")], [at_most("time", 2, 1)]).met


def test_results_are_printed_and_saved_with_machine_and_verdicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measuring, "RESULTS", tmp_path)
    ours = Measure("ontoground", 100, "rows", 2.0, 1.0, 10 * MIB, 5 * MIB, MIB)
    result = Result("load", [ours, Measure("other", failed="was killed")], [at_most("times", 2, 1)], "a remark")
    print_result(result)
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("load", "was killed", "at most 1", "a remark", "50"))
    saved = json.loads(save("one", [result], {"scale": 0.5}).read_text())
    assert saved["settings"] == {"scale": 0.5} and saved["machine"] == json.loads(json.dumps(machine()))
    assert saved["stages"][0]["checks"] == [{"what": "times", "value": 2, "bound": "at most", "limit": 1, "met": False}]
