"""The store of runs: whole after any kill, added to only, nothing stored twice."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ground.errors import InputError, UsageError
from ground.lm.results import Message
from stewardship.runs.store import Run, RunStore, differences, message_key, read_messages, read_runs
from stewardship.tools.base import ToolUse

DESCRIBED = {"engine": "lm", "model": "m", "temperature": 1.0}
SYSTEM = Message(role="system", content="Compute.")


def run(uid: str, number: int, parsed: str = "16") -> Run:
    """A run that was answered."""
    return Run(uid=uid, phase="recompute", run=number, outcome="answered", parsed=parsed, kind="number", model="m")


def opened(folder: Path) -> RunStore:
    return RunStore(folder, "recompute", "m", DESCRIBED)


def test_what_was_stored_is_read_back_with_all_that_was_asked(tmp_path: Path) -> None:
    asked = Message(role="user", content="What is the gap?\nIn mEq/L.")
    used = ToolUse(tool="python", arguments={"code": "1/0"}, result="ZeroDivisionError", ok=False)
    item = run("7", 1).model_copy(
        update={"prompt": (message_key(SYSTEM), message_key(asked)), "tools": (used,), "seed": 43, "temperature": 1.0}
    )
    with opened(tmp_path) as store:
        store.append([item], [SYSTEM, asked])
        folder = store.folder
    assert list(read_runs(folder)) == [item]
    answer = read_messages(folder)
    assert [answer[key] for key in item.prompt] == [SYSTEM, asked]


def test_a_message_is_stored_once_however_many_runs_were_asked_with_it(tmp_path: Path) -> None:
    for numbers in (1, 2), (3,):
        with opened(tmp_path) as store:
            store.append([run("7", number) for number in numbers], [SYSTEM, SYSTEM])
    assert len((store.folder / "messages.jsonl").read_text().splitlines()) == 1
    assert [item.run for item in read_runs(store.folder)] == [1, 2, 3]


def test_a_run_that_is_stored_is_not_stored_again(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.append([run("7", 1, "16"), run("7", 1, "17")])
        store.append([run("7", 1, "18"), run("8", 1)])
        assert ("7", 1) in store and ("7", 2) not in store and len(store) == 2
    # Of one batch the last said counts; of two, the first: it may have been counted already.
    assert [(item.uid, item.parsed) for item in read_runs(store.folder)] == [("7", "17"), ("8", "16")]


@pytest.mark.parametrize("kept", range(1, 12))
def test_a_line_that_a_kill_cut_is_taken_away_and_its_run_made_again(tmp_path: Path, kept: int) -> None:
    with opened(tmp_path) as store:
        store.append([run("7", 1), run("7", 2), run("7", 3)], [SYSTEM])
    file = store.folder / "runs.jsonl"
    whole = file.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    file.write_bytes(whole[: last + (len(whole) - last) * kept // 12])
    assert [item.run for item in read_runs(store.folder)] == [1, 2]
    with opened(tmp_path) as store:
        assert ("7", 2) in store and ("7", 3) not in store
        store.append([run("7", 3)])
    assert [item.run for item in read_runs(store.folder)] == [1, 2, 3]


def test_a_first_line_that_was_cut_leaves_an_empty_store(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.append([run("7", 1)], [Message(role="user", content="x" * 200_000)])
    for name in ("runs.jsonl", "messages.jsonl"):
        file = store.folder / name
        file.write_bytes(file.read_bytes()[:-2])
    with opened(tmp_path) as store:
        assert len(store) == 0
        store.append([run("7", 1)], [SYSTEM])
    assert list(read_messages(store.folder)) == [message_key(SYSTEM)]


def test_a_line_that_is_no_run_is_named_without_its_text(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.append([run("7", 1), run("7", 2)])
    file = store.folder / "runs.jsonl"
    file.write_text(file.read_text().replace('"run":2', '"run":"secret note"'))
    with pytest.raises(InputError, match="no run") as error:
        opened(tmp_path)
    assert error.value.line == 2 and "secret" not in str(error.value)


def test_two_processes_are_not_at_one_series(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from stewardship.runs.store import RunStore\n"
        f"RunStore(Path(sys.argv[1]), 'recompute', 'm', {DESCRIBED!r})"
    )
    with opened(tmp_path) as store:
        other = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False
        )
        assert other.returncode == 1 and "another process" in other.stderr
        with pytest.raises(UsageError, match="another process"):
            opened(tmp_path)
        store.append([run("7", 1)])
    with opened(tmp_path) as store:
        assert len(store) == 1


def test_many_threads_store_whole_lines(tmp_path: Path) -> None:
    with opened(tmp_path) as store, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: store.append([run(str(number), 1)], [SYSTEM]), range(40)))
        assert len(store) == 40
    assert {item.uid for item in read_runs(store.folder)} == {str(number) for number in range(40)}


def test_runs_of_other_settings_are_another_series_and_what_differs_is_named(tmp_path: Path) -> None:
    warmer = {**DESCRIBED, "temperature": 0.5}
    with opened(tmp_path) as store:
        store.append([run("7", 1)])
    assert differences(tmp_path, "recompute", warmer) == {store.series: ["temperature"]}
    with RunStore(tmp_path, "recompute", "m", warmer) as other:
        assert len(other) == 0 and other.folder != store.folder
    assert differences(tmp_path, "recompute", warmer) == {}
    assert differences(tmp_path, "recompute", {**DESCRIBED, "model": "n"}) == {}
