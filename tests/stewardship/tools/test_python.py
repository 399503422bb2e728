"""The Python sandbox computes, and reaches nothing."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ground.errors import UsageError
from stewardship.tools.base import Toolbox
from stewardship.tools.python import INSIDE, PythonArguments, PythonTool

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a process without rights")


@functools.cache
def sandbox() -> PythonTool:
    """The tool with narrow limits."""
    return PythonTool(seconds=1, memory_mb=256)


def ran(code: str) -> tuple[str, bool]:
    """Run code; return what it said, and whether it was fine."""
    result = sandbox().use(PythonArguments(code=code))
    return result.text, result.ok


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("140 - 100 - 24", "16"),
        ("import math\nprint(math.sqrt(2))\nround(math.pi, 2)", "1.4142135623730951\n3.14"),
        (
            "from datetime import datetime, timedelta\n"
            "(datetime.strptime('01/02/2020', '%m/%d/%Y') + timedelta(days=280)).strftime('%m/%d/%Y')",
            "10/08/2020",
        ),
        ("x = 1", "(nothing was printed)"),
        ("'\N{MICRO SIGN}g'", "\N{MICRO SIGN}g"),
    ],
)
def test_arithmetic_and_dates_are_computed(code: str, answer: str) -> None:
    assert ran(code) == (answer, True)


def test_the_same_code_says_the_same_each_time() -> None:
    code = "import random\nprint(random.random(), hash('a'), {'a', 'b', 'c'})"
    with ThreadPoolExecutor(2) as pool:
        assert len(set(pool.map(ran, [code] * 2))) == 1


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import socket", "No module named 'socket'"),
        ("import numpy", "No module named 'numpy'"),
        ("open('/etc/passwd')", "Permission denied"),
        ("open('made', 'w')", "Permission denied"),
        ("import os\nos.listdir('/')", "Permission denied"),
        ("import os\nos.chroot('/')", "Permission denied"),
        ("import os\nos.setuid(0)", "not permitted"),
        ("import os\nos.kill(1, 9)", "not permitted"),
        ("import os\nos.fork()", "BlockingIOError"),
        ("import time\ntime.sleep(60)", "ran longer than 1 s"),
        ("import os, time\nos.setsid()\ntime.sleep(60)", "ran longer than 1 s"),
        ("while True:\n  try:\n    while True: pass\n  except: pass", "ran longer than 1 s"),
        ("1/0", "ZeroDivisionError: division by zero (line 1)"),
        ("x = (", "SyntaxError"),
        ("[0] * 10**10", "more memory"),
        ("print('a' * 10**6)", "printed more than 16,000 bytes"),
        ("raise SystemExit(0)", "SystemExit"),
        ("def f(): f()\nf()", "RecursionError"),
    ],
)
def test_what_reaches_out_or_goes_wrong_fails_with_a_clear_word(code: str, message: str) -> None:
    text, ok = ran(code)
    assert not ok and message in text


def test_it_runs_as_nobody_and_alone() -> None:
    assert ran("import os\nprint(os.getuid(), os.getgid(), os.getgroups(), os.getppid())")[0] == "65534 65534 [] 1"


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert ran("1") == ("1", True) and list(tmp_path.iterdir()) == []


def test_a_result_is_kept_and_given_again_without_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = PythonArguments(code="import time\ntime.time()")
    box = Toolbox([sandbox()], tmp_path / "tools.sqlite")
    first = box.use("python", code)
    box.close()
    monkeypatch.setattr(subprocess, "Popen", None)
    again = Toolbox([sandbox()], tmp_path / "tools.sqlite")
    assert again.use("python", code) == first and first.ok
    again.close()


def test_a_long_result_is_cut_where_the_model_sees_it() -> None:
    box = Toolbox([sandbox()])
    used = box.use("python", PythonArguments(code="'a' * 9000"))
    assert used.result.startswith("a" * 4000) and used.result.endswith("[cut: 5,000 characters more]")
    box.close()


CONTAINER = """#!/bin/sh
echo "$@" >> "{log}"
[ "$1" = run ] || exit 0
while [ "$1" != python3 ]; do shift; done
shift
exec setpriv --reuid 65534 --regid 65534 --clear-groups "{python}" "$@"
"""


def test_an_image_of_the_user_runs_it_without_network_rights_or_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = tmp_path / "docker"
    runtime.write_text(CONTAINER.format(log=tmp_path / "log", python=sys.executable))
    runtime.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    tool = PythonTool(seconds=1, memory_mb=256, image="python:3.11-slim")
    tool.use(PythonArguments(code="1"))
    calls = (tmp_path / "log").read_text().splitlines()
    asked = next(call for call in calls if call.startswith("run"))
    for option in ("--network=none", "--read-only", "--cap-drop=ALL", "--user=65534:65534", "--memory=256m"):
        assert option in asked
    names = [call.split("--name=")[1].split()[0] for call in calls if call.startswith("run")]
    assert [call for call in calls if call.startswith("rm")] == [f"rm --force {name}" for name in names]
    assert tool.describe()["enclosure"] == "container python:3.11-slim"


@pytest.mark.parametrize(
    ("user", "image", "result"),
    [(1000, "", "no right to give up privileges"), (0, "python:3.11-slim", "no docker or podman")],
)
def test_without_container_and_without_root_it_is_refused(
    user: int, image: str, result: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: user)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(subprocess, "Popen", None)
    with pytest.raises(UsageError, match="cannot run on this machine") as refused:
        PythonTool(image=image)
    assert refused.value.found == result


def test_the_inside_runs_nothing_as_root() -> None:
    program = [sys.executable, "-c", INSIDE, "1", "256"]
    done = subprocess.run(program, check=False, input="print('ran')", capture_output=True, text=True)
    assert done.returncode and "ran" not in done.stdout and "as root" in done.stderr
