"""Executors in this process, its threads and several: order, state, errors, and workers that end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from ground.errors import InputError, UsageError, WorkerError
from ground.flow.executor import Executor, Serial, nothing
from ground.flow.executors import Processes, Threads, open_executor, open_threads
from ground.settings import RunSettings
from tests.ground.flow.executor_work import assert_error_arrives, assert_ordered, die_at, process_of

ROOT = Path(__file__).resolve().parents[3]
EXECUTORS = [Serial(), Threads(2), Processes(2)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "text.txt").write_text("names")
    return tmp_path


def is_running(process: int) -> bool:
    status = Path(f"/proc/{process}/status")
    return status.is_file() and "(zombie)" not in status.read_text()


def wait_for_end(process: int, seconds: float = 20) -> bool:
    until = time.monotonic() + seconds
    while is_running(process) and time.monotonic() < until:
        time.sleep(0.05)
    return not is_running(process)


@pytest.mark.parametrize("executor", EXECUTORS, ids=type)
def test_results_are_in_the_order_of_the_shards_and_each_worker_opens_its_state_once(
    executor: Executor, folder: Path
) -> None:
    assert assert_ordered(executor, executor.share(folder), 9)


@pytest.mark.parametrize("executor", EXECUTORS, ids=type)
def test_an_error_of_the_work_arrives_as_it_is_after_the_results_before_it(executor: Executor) -> None:
    assert_error_arrives(executor)


def test_a_worker_that_dies_is_a_clear_error_after_the_results_before_it(tmp_path: Path) -> None:
    results = Processes(1).in_order(nothing, partial(die_at, tmp_path / "died", 1), range(9))
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(WorkerError, match="ended before its shard was done") as caught:
        next(results)
    assert "goes on after the shards that are finished" in str(caught.value)


def test_workers_end_at_once_where_the_results_are_no_longer_wanted() -> None:
    results = Processes(1).in_order(nothing, process_of, range(9))
    process = next(results)
    begin = time.monotonic()
    results.close()  # type: ignore[attr-defined]
    assert wait_for_end(process)
    assert time.monotonic() - begin < 60  # not the ten minutes of a shard


@pytest.mark.parametrize("ends", ["an error", "no more wanted"])
def test_threads_stop_what_is_under_way_and_begin_nothing_more(ends: str) -> None:
    begun, interrupted = list[int](), threading.Event()

    def work(_: object, shard: int) -> int:
        begun.append(shard)
        if shard == 1 and ends == "an error":
            raise InputError("this shard is wrong")
        # A query that ends only where its connection is interrupted.
        if shard:
            interrupted.wait(60)
        return shard

    results = Threads(2, lambda _: interrupted.set()).in_order(nothing, work, range(9))
    assert next(results) == 0
    if ends == "an error":
        with pytest.raises(InputError, match="this shard is wrong"):
            next(results)
    else:
        results.close()  # type: ignore[attr-defined]
    # What waited for a worker was cancelled; a worker takes at most one shard between the end and its cancellation.
    assert interrupted.is_set() and len(begun) <= 5
    before = list(begun)
    time.sleep(0.05)
    assert begun == before


KILLED = """
import os
from ground.flow.executor import nothing
from ground.flow.executors import Processes
from tests.ground.flow.executor_work import process_of

if __name__ == "__main__":
    results = Processes(1).in_order(nothing, process_of, range(9))
    print(next(results), flush=True)
    os.kill(os.getpid(), 9)
"""


def test_no_worker_is_left_where_the_program_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    ran = subprocess.run(
        [sys.executable, str(script)],
        check=False,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=120,
    )
    assert ran.returncode == -9
    assert wait_for_end(int(ran.stdout))


def test_the_settings_choose_the_executor() -> None:
    for run, kind, workers in (
        (RunSettings(), Serial, 1),
        (RunSettings(executor="serial", workers=8), Serial, 1),
        (RunSettings(workers=3), Processes, 3),
    ):
        with open_executor(run, "credentialed") as executor:
            assert (type(executor), executor.workers) == (kind, workers)


def test_the_settings_choose_how_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ground.flow.executors.own_cores", lambda: 4)
    assert [open_threads(RunSettings(workers=workers)).workers for workers in (3, 64)] == [3, 4]
    assert open_threads(RunSettings(executor="serial", workers=8)).workers == 1


def test_an_address_without_ray_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match=r"run\.address is Ray's"), open_executor(RunSettings(address="auto"), "open"):
        pass
