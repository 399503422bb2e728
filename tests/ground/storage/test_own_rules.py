"""A folder of own rules is read as it is: its files, their digests, and no file of another name."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ground import ROOT
from ground.errors import InputError
from ground.storage.own_rules import EXTENDABLE, OwnRules
from ground.storage.tables import read_table

COLUMNS = ("name", "reason", "source")
STOPS = "\ufeffname\treason\tsource\r\n# why\r\nham\tfood\tours\r\n"


def test_a_workspace_without_the_folder_has_no_rules(tmp_path: Path) -> None:
    rules = OwnRules.read(tmp_path / "rules")
    assert rules == OwnRules() and rules.inputs() == [] and rules.rows("name_stops", COLUMNS) == []


def test_files_are_told_by_their_digest_and_read_with_their_lines(tmp_path: Path) -> None:
    (tmp_path / "name_stops.tsv").write_bytes(STOPS.encode())
    (tmp_path / "README.md").write_text("why we do this")
    rules = OwnRules.read(tmp_path)
    (row,) = rules.rows("name_stops", COLUMNS)
    assert (row, row.line) == ({"name": "ham", "reason": "food", "source": "ours"}, 3)
    digest = hashlib.sha256(STOPS.encode()).hexdigest()
    assert rules.digests("mentions") == {"name_stops.tsv": digest}
    assert rules.digests("graph") == rules.digests("sections") == {}
    assert rules.inputs() == [
        {"source": "rules", "file": "name_stops.tsv", "bytes": len(STOPS.encode()), "sha256": digest}
    ]


@pytest.mark.parametrize("name", ["name_stop.tsv", "name_stops.csv", "english_words.tsv"])
def test_a_file_that_no_table_is_called_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("name\n")
    with pytest.raises(InputError, match="no table") as error:
        OwnRules.read(tmp_path)
    assert "name_stops.tsv" in str(error.value.expected) and error.value.do


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sections.tsv").write_bytes(b"name\xff")
    with pytest.raises(InputError, match="UTF-8"):
        OwnRules.read(tmp_path)


def test_every_table_that_can_be_added_to_is_there() -> None:
    for name, one in EXTENDABLE.items():
        lines = (ROOT / one.file).read_text(encoding="utf-8").splitlines()
        columns = next(line for line in lines if not line.startswith("#")).split("\t")
        assert read_table(ROOT / one.file, tuple(columns)) and Path(one.file).stem == name
