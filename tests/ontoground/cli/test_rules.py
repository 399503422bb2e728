"""``ontoground rules``, and what own rules of a workspace make stale and leave in the manifest."""

from __future__ import annotations

import io
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import ontoground
from ground import ROOT
from ground.storage.own_rules import EXTENDABLE
from ground.storage.workspace import Workspace
from ontoground.cli.main import invoke
from ontoground.flow.session import reading
from ontoground.flow.stages import STAGES, state_of
from tests.ontoground.cli.schemas import checked

pytestmark = pytest.mark.xdist_group("demo")

RULES = {
    "clinical_synonyms": "term\tnames\tkind\tcase\twhen\tsource\nzzz\tC9900047\tdisorder\tany\t\tours\n",
    "patterns": "pattern\textends\tpredicate\ttier\tmax_fan\tsource\nis_a . prevents\t\ttreats\tplausible\t\tours\n",
    "sections": "name\theader\tparent\tstrength\tsource\nward_plan\tward plan\t\tfirm\tours\n",
}


def written(workspace: Path, **rules: str) -> Path:
    folder = workspace / "rules"
    folder.mkdir(exist_ok=True)
    for name, text in rules.items():
        (folder / f"{name}.tsv").write_text(text)
    return workspace


def not_current(root: Path) -> list[str]:
    workspace = Workspace.existing(root)
    with reading(workspace) as connection:
        return [one.name for one in STAGES if state_of(connection, workspace, one).state != "current"]


def test_the_tables_and_own_rows_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, sections=RULES["sections"])
    assert invoke(["rules", "--workspace", str(tmp_path), "--json"]) == 0
    tables = {one["table"]: one for one in checked(capsys.readouterr().out, "rules")["tables"]}
    assert tables.keys() == EXTENDABLE.keys()
    assert {name: one["own_rows"] for name, one in tables.items() if one["own_rows"]} == {"sections": 1}
    assert invoke(["rules", "sections", "--workspace", str(tmp_path)]) == 0
    assert capsys.readouterr().out.endswith(RULES["sections"])


def test_a_bad_row_is_told_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, patterns=RULES["patterns"].replace("plausible", "certain"))
    assert invoke(["rules", "--workspace", str(tmp_path), "--json"]) == 3
    error = checked(capsys.readouterr().out, "error")["error"]
    assert (error["file"], error["line"]) == (str(tmp_path / "rules" / "patterns.tsv"), 2)
    # Columns and examples are told all the same.
    assert invoke(["rules", "patterns", "--workspace", str(tmp_path)]) == 3
    printed = capsys.readouterr()
    assert (
        printed.out.count("\n# ") > 5
        and printed.out.endswith("tier\tmax_fan\tsource\n")
        and "no such tier" in printed.err
    )


def test_own_rules_make_stale_what_reads_them_and_are_read_by_the_door(demo_copy: Callable[[], Path]) -> None:
    root = demo_copy()
    stale = {}
    for name, text in RULES.items():
        stale[name] = not_current(written(root, **{name: text}))
        (root / "rules" / f"{name}.tsv").unlink()
    assert stale == {
        "clinical_synonyms": ["mentions", "medieval"],
        "patterns": ["graph", "mentions", "medieval"],
        "sections": ["sections", "mentions", "medieval"],
    }
    assert not_current(root) == []
    written(root, clinical_synonyms=RULES["clinical_synonyms"])
    assert [one["cuis"] for one in ontoground.read_text("Has zzz.", root).mentions] == [["C9900047"]]


def test_the_example_of_the_page_runs(
    demo_copy: Callable[[], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    (example,) = (one for one in page.split("\n\n") if one.startswith("    mkdir"))
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "demo").symlink_to(demo_copy())
    monkeypatch.chdir(tmp_path)
    for line in map(str.strip, example.splitlines()):
        said, _, command = line.rpartition("ontoground ")
        if command == line:
            subprocess.run(["bash", "-ec", line], check=True)
            continue
        monkeypatch.setattr("sys.stdin", io.StringIO(said.removeprefix("echo '").rpartition("'")[0]))
        assert invoke(shlex.split(command)) == 0
    read = [line.split() for line in capsys.readouterr().out.splitlines()]
    # How certain so short a text is, is the reader's to say.
    assert [line[2:7] for line in read if "tablet" in line] == [
        ["water", "tablet", "C9950024", "furosemide", "present"]
    ]
    assert [line[5] for line in read if "lisinopril" in line and line[0].isdigit()] == ["discontinued"]
