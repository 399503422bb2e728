"""What somebody meets in a first hour: a stop, a typing error, a locked workspace, a table in a pipe."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ground.storage.warehouse import connect
from ground.storage.workspace import Workspace
from ontoground.cli.builds.options import dropped_blocks
from ontoground.cli.main import INTERRUPTED, invoke
from tests.ontoground.conftest import Demo
from tests.stewardship.datasets.folders import medval_folder, medval_triple

pytestmark = pytest.mark.xdist_group("demo")

START = "import sys; from ontoground.cli.main import main; main()"


def test_a_stopped_run_says_one_line_and_nothing_else(tmp_path: Path) -> None:
    command = ["demo", "--no-train", "--patients", "30", "--workspace", str(tmp_path / "work")]
    process = subprocess.Popen(
        [sys.executable, "-c", START, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    lines = []
    assert process.stderr is not None
    for line in process.stderr:
        lines.append(line)
        if line.startswith("open world:"):
            process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == INTERRUPTED
    printed = "".join(lines)
    assert "error: interrupted" in lines[-1], printed
    assert not any(word in printed for word in ("nanobind", "Exception ignored", "Traceback"))


def test_a_locked_workspace_says_so_and_does_not_advise_to_delete_it(empty_workspace: Path) -> None:
    connection = connect(Workspace.existing(empty_workspace).warehouse)
    try:
        other = subprocess.run(
            [sys.executable, "-c", START, "status", "--workspace", str(empty_workspace)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        connection.close()
    assert other.returncode == 3
    assert "another program is using this workspace" in other.stderr and "delete" not in other.stderr
    assert f"found: process {os.getpid()}" in other.stderr


def test_suggested_commands_can_be_pasted_where_a_folder_has_a_blank(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = Workspace.create(tmp_path / "my work")
    connect(workspace.warehouse).close()
    assert invoke(["status", "--workspace", str(workspace.root)]) == 0
    assert f"--workspace '{workspace.root}'" in capsys.readouterr().out


def test_items_of_other_splits_come_with_the_option_that_takes_them() -> None:
    *_, advice = dropped_blocks({"medqa: needs_image": 3, "medqa: other_split": 5}, 1)
    assert advice == "5 items stand in other splits of their sources; --splits all takes them too"
    (table,) = dropped_blocks({"medqa: needs_image": 3}, 1)
    assert not isinstance(table, str)


def test_a_load_of_a_missing_folder_leaves_no_workspace(tmp_path: Path) -> None:
    assert invoke(["load", "umls", str(tmp_path / "nowhere"), "--workspace", str(tmp_path / "work")]) == 3
    assert not (tmp_path / "work").exists()


def test_records_without_drugs_are_said_to_have_none(
    demo: Demo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(demo.workspace / "demo-input" / "mimic", tmp_path / "mimic")
    (file,) = (tmp_path / "mimic" / "hosp").glob("prescriptions.*")
    file.unlink()
    place = ("--workspace", str(tmp_path / "work"))
    for arguments in (["load", "mimic", str(tmp_path / "mimic")], ["status"]):
        assert invoke([*arguments, *place]) == 0
        assert "note: the records list no drugs: " in capsys.readouterr().out
    assert invoke(["status", "--workspace", str(demo.workspace), "--json"]) == 0
    assert '"warnings": []' in capsys.readouterr().out


def test_suggested_commands_name_the_workspace(demo: Demo, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["status", "--workspace", str(demo.workspace)]) == 0
    printed = capsys.readouterr().out
    dataset = demo.workspace / "datasets" / "medieval"
    assert f"ontoground validate {dataset} --workspace {demo.workspace}" in printed


def test_a_piped_table_keeps_a_row_on_a_line(
    demo: Demo, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert invoke(["sql", "-c", "select repeat('x', 300) as a", "--workspace", str(demo.workspace)]) == 0
    assert "x" * 300 in capsys.readouterr().out


def test_a_closed_pipe_is_no_failure_where_a_table_is_painted() -> None:
    program = "from ontoground.cli.main import invoke; import sys; sys.exit(invoke(['sql']))"
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b"" and process.wait(timeout=60) == 0


def test_rows_that_validate_does_not_know_are_named(
    demo: Demo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = medval_folder(tmp_path / "medval", [medval_triple(1, "Is it sepsis?", 4, [], clean="Is it gout?")])
    assert invoke(["validate", str(folder), "--workspace", str(demo.workspace)]) == 3
    assert "found: a dataset of medval" in capsys.readouterr().err
