"""The Python sandbox computes, and reaches nothing."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ground.errors import UsageError
from stewardship.tools.base import Toolbox
from stewardship.tools.python import INSIDE, PythonArguments, PythonTool, filtered

TOOL = PythonTool(seconds=1, memory_mb=256)


def ran(code: str) -> tuple[str, bool]:
    """Run code; return what it said, and whether it was fine."""
    result = TOOL.use(PythonArguments(code=code))
    return result.text, result.ok


@pytest.mark.parametrize(
    ("code", "said"),
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
def test_arithmetic_and_dates_are_computed(code: str, said: str) -> None:
    assert ran(code) == (said, True)


def test_the_same_code_says_the_same_each_time() -> None:
    code = "import random\nprint(random.random(), hash('a'), {'a', 'b', 'c'})"
    with ThreadPoolExecutor(2) as pool:
        assert len(set(pool.map(ran, [code] * 2))) == 1


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import socket", "no module socket"),
        ("import os", "no module os"),
        ("open('/etc/passwd')", "no files"),
        ("import json\njson.codecs.open('/etc/passwd')", "no files"),
        ("import datetime\ndatetime.sys.modules['posix'].listdir('/')", "no os.listdir"),
        ("import datetime\ndatetime.sys.modules['posix'].fork()", "no os.fork"),
        ("import datetime\ndatetime.sys.modules['posix'].system('id')", "no os.system"),
        ("import datetime\ndatetime.sys.modules['ctypes'].CDLL(None)", "no ctypes"),
        ("import time\ntime.sleep(60)", "Operation not permitted"),
        ("1/0", "ZeroDivisionError: division by zero (line 1)"),
        ("x = (", "SyntaxError"),
        ("[0] * 10**10", "more memory"),
        ("print('a' * 10**6)", "printed more than 16,000 bytes"),
        ("raise SystemExit(0)", "SystemExit"),
        ("def f(): f()\nf()", "RecursionError"),
    ],
)
def test_what_reaches_out_or_goes_wrong_fails_with_a_clear_word(code: str, told: str) -> None:
    said, ok = ran(code)
    assert not ok and told in said


def test_an_endless_loop_that_catches_everything_ends() -> None:
    code = "while True:\n  try:\n    while True: pass\n  except: pass"
    assert ran(code) == ("[stopped: it ran longer than 1 s]", False)


@pytest.mark.skipif(not filtered(), reason="the kernel's filter is for Linux on two processors")
def test_the_kernel_refuses_even_what_python_would_let_through(tmp_path: Path) -> None:
    reaches = (
        "open('/etc/passwd')",
        "open('made', 'w')",
        "socket.socket()",
        "os.fork()",
        "os.execv('/bin/true', ['true'])",
        "os.kill(os.getppid(), 0)",
        "os.listdir('/')",
    )
    tries = "".join(
        f"try:\n    {reach}\n    print({reach!r})\nexcept PermissionError as error:\n"
        "    print(error.errno, flush=True)\n"
        for reach in reaches
    )
    program = f"import os, runpy, socket\nrunpy.run_path({str(INSIDE)!r})['shut']()\n{tries}"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["1"] * len(reaches) and list(tmp_path.iterdir()) == []


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert ran("1") == ("1", True) and list(tmp_path.iterdir()) == []


def test_a_result_is_kept_and_given_again_without_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = PythonArguments(code="import time\ntime.time()")
    box = Toolbox([TOOL], tmp_path / "tools.sqlite")
    first = box.use("python", code)
    box.close()
    monkeypatch.setattr(subprocess, "Popen", None)
    again = Toolbox([PythonTool(seconds=1, memory_mb=256)], tmp_path / "tools.sqlite")
    assert again.use("python", code) == first and first.ok
    again.close()


def test_a_long_result_is_cut_where_the_model_sees_it() -> None:
    box = Toolbox([TOOL])
    used = box.use("python", PythonArguments(code="'a' * 9000"))
    assert used.result.startswith("a" * 4000) and used.result.endswith("[cut: 5,000 characters more]")
    box.close()


def test_nothing_runs_where_the_filter_is_not_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(UsageError, match="does not run on this machine"):
        PythonTool()
    program = "import platform, runpy, sys; platform.machine = lambda: 'riscv64'; "
    program += f"sys.argv = ['inside', '1', '256']; runpy.run_path({str(INSIDE)!r}, run_name='__main__')"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=False, input="print('ran')", capture_output=True, text=True)
    assert done.returncode and "ran" not in done.stdout and "no system-call filter" in done.stderr
