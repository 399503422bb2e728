"""Cores that are ours by quotas of control groups, and the defaults of OpenMP."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ground import machine

V1 = {"cpu.cfs_quota_us": "250000\n", "cpu.cfs_period_us": "100000\n"}


@pytest.mark.parametrize(
    ("groups", "files", "quotas"),
    [
        ("0::/", {}, []),
        ("0::/", {"cpu.max": "max 100000\n"}, []),
        # A container sees its own group as the top, whatever its name is outside.
        ("0::/", {"cpu.max": "150000 100000\n"}, [1.5]),
        ("0::/user.slice/job", {"user.slice/job/cpu.max": "max 100000", "user.slice/cpu.max": "300000 100000"}, [3.0]),
        ("4:memory:/a\n1:cpu,cpuacct:/docker/c", {f"cpu/{name}": text for name, text in V1.items()}, [2.5]),
        ("1:cpu:/", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, []),
    ],
)
def test_quotas_of_this_group_and_those_above_count(
    tmp_path: Path, groups: str, files: dict[str, str], quotas: list[float]
) -> None:
    for name, text in {"proc/self/cgroup": groups, **{f"sys/fs/cgroup/{name}": files[name] for name in files}}.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert list(machine._quotas(tmp_path)) == quotas


def test_a_quota_bounds_cores_and_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_allowed", lambda: 64)
    monkeypatch.setattr(machine, "_quotas", lambda: iter((6.5, 8.0)))
    monkeypatch.setattr(os, "environ", {})
    machine.bound_threads()
    assert machine.own_cores() == 7
    assert os.environ == {"OMP_NUM_THREADS": "7", "GOMP_SPINCOUNT": "10000", "KMP_BLOCKTIME": "1"}


def test_what_the_user_says_of_threads_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "own_cores", lambda: 0)
    said = {"OMP_WAIT_POLICY": "active", "OMP_NUM_THREADS": "3"}
    monkeypatch.setattr(os, "environ", dict(said))
    machine.bound_threads()
    assert os.environ == said
