"""The executor on Ray: a real cluster of two nodes with one worker each, and the gate before it."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from ground.errors import RefusedError, UsageError, WorkerError
from ground.flow.executor import nothing
from ground.flow.executor_ray import _RUNS, RayExecutor, open_ray, store
from ground.flow.machines import check_machines
from ground.settings import RunSettings
from ground.storage.scratch import scratch_folder
from tests.ground.flow.executor_work import assert_error_arrives, assert_ordered, describe, die_at, open_text

pytest.importorskip("ray")
pytestmark = pytest.mark.xdist_group("ray")
ELSEWHERE = "203.0.113.5"  # an address of documentation (RFC 5737): no machine has it


@pytest.fixture(scope="module")
def executor(cluster: str) -> Iterator[RayExecutor]:
    with open_ray(RunSettings(executor="ray", workers=2, address=cluster), "credentialed") as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "names" / "part").mkdir(parents=True)
    (tmp_path / "names" / "part" / "text.txt").write_text("names")
    return tmp_path / "names"


def test_results_are_in_the_order_of_the_shards_and_both_workers_open_their_state_once(
    executor: RayExecutor, folder: Path
) -> None:
    shared = executor.share(folder)
    assert not getattr(shared, "files", ())  # both nodes see the file system: nothing is copied
    assert len(assert_ordered(executor, shared, 20)) == 2


def test_an_error_of_the_work_arrives_as_it_is_after_the_results_before_it(executor: RayExecutor) -> None:
    assert_error_arrives(executor)


def test_a_worker_that_dies_is_started_again_and_loses_no_shard(executor: RayExecutor, tmp_path: Path) -> None:
    assert list(executor.in_order(nothing, partial(die_at, tmp_path / "died", 1), range(6))) == list(range(6))
    assert (tmp_path / "died").read_bytes() == b"x"


def test_a_worker_that_dies_again_and_again_is_a_clear_error(executor: RayExecutor, tmp_path: Path) -> None:
    results = executor.in_order(nothing, partial(die_at, tmp_path / "died", 99), range(6))
    with pytest.raises(WorkerError, match="ended before its shard was done"):
        list(results)
    assert (tmp_path / "died").read_bytes() == b"xxx"  # once, and again as often as it was started anew


def test_workers_that_do_not_see_a_folder_read_it_from_the_object_store(executor: RayExecutor, folder: Path) -> None:
    stored = store(folder)
    folder.rename(folder.with_name("moved"))
    results = list(executor.in_order(partial(open_text, stored), describe, range(6)))
    assert {text for text, *_ in results} == {"names"}
    copy = Path(tempfile.gettempdir()) / f"ontoground-{stored.key}"
    assert (copy / "files" / "part" / "text.txt").read_text() == "names"
    assert copy.stat().st_mode & 0o777 == 0o700
    executor.discard(stored)
    assert not copy.exists()


def test_this_machine_may_read_everything() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((ELSEWHERE, 9))  # nothing is sent: it shows this machine's own address
        own = probe.getsockname()[0]
    check_machines(["127.0.0.1", "localhost", "::1", own], RunSettings(), "credentialed")


@pytest.mark.parametrize("named", [(), ("198.51.100.7",), ("198.51.100.0/24",), ("0.0.0.0",)])
def test_credentialed_data_goes_to_no_machine_that_is_not_named(named: tuple[str, ...]) -> None:
    settings = RunSettings(allow_remote_credentialed=named, allow_remote_reason="our agreement")
    with pytest.raises(RefusedError, match="not sent to machines that are not named") as caught:
        check_machines(["127.0.0.1", ELSEWHERE], settings, "credentialed")
    assert ELSEWHERE in str(caught.value.found)
    check_machines([ELSEWHERE], settings, "open")


@pytest.mark.parametrize("named", [ELSEWHERE, "203.0.113.0/24"])
def test_a_named_machine_needs_a_reason_too(named: str) -> None:
    with pytest.raises(RefusedError, match="no reason is given"):
        check_machines([ELSEWHERE], RunSettings(allow_remote_credentialed=(named,)), "credentialed")
    allowed = RunSettings(allow_remote_credentialed=(named,), allow_remote_reason="our agreement")
    check_machines([ELSEWHERE], allowed, "credentialed")


def test_a_head_that_is_not_named_is_not_even_connected_to() -> None:
    settings = RunSettings(executor="ray", address=f"{ELSEWHERE}:6379")
    with pytest.raises(RefusedError), open_ray(settings, "credentialed"):
        pass


@pytest.mark.parametrize("address", ["ray://127.0.0.1:10001", "127.0.0.1", "head:", "https://head:6379"])
def test_an_address_of_another_kind_is_wrong_usage(address: str) -> None:
    with pytest.raises(UsageError, match="no address of Ray"), open_ray(RunSettings(address=address), "open"):
        pass


def test_an_address_where_nobody_listens_is_a_clear_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    settings = RunSettings(executor="ray", address=f"127.0.0.1:{port}")
    with pytest.raises(WorkerError, match="Ray cannot be reached") as caught, open_ray(settings, "credentialed"):
        pass
    assert f"127.0.0.1:{port}" in str(caught.value)


OWN = """
import os, signal
from ground.flow import executor_ray
from ground.settings import RunSettings
with executor_ray.open_ray(RunSettings(executor="ray", workers=1), "credentialed"):
    print(executor_ray._RUNS, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_nobody_else_enters_the_folder_of_our_own_cluster_and_the_next_start_sweeps_it() -> None:
    held = set(_RUNS.iterdir()) if _RUNS.is_dir() else set()  # of other tests, and of users
    killed = subprocess.run([sys.executable, "-c", OWN], check=False, capture_output=True, text=True)
    runs = Path(killed.stderr.strip().splitlines()[-1])
    assert killed.returncode == -signal.SIGKILL and runs.is_dir()
    (left,) = set(runs.iterdir()) - held
    assert (left / "ray" / "session_latest").is_symlink()  # Ray opens its folders to all; this is where they lie
    assert [path.stat().st_mode & 0o077 for path in (runs, left)] == [0, 0]
    with scratch_folder(runs):
        assert not left.exists()
