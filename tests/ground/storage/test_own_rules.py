"""A folder of own rules is read as it is: its files, their digests, and no file of another name."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ehr.abbreviations import around, read_terms
from ground import ROOT
from ground.errors import InputError
from ground.storage.own_rules import EXTENDABLE, MAX_BYTES, MAX_FIELD, OwnRules
from ground.storage.tables import read_table
from ontoground.flow.stages import check_rules

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


@pytest.mark.parametrize("link", [False, True])
def test_rules_that_are_no_folder_are_refused(tmp_path: Path, link: bool) -> None:
    rules = tmp_path / "rules"
    rules.symlink_to(tmp_path / "nowhere") if link else rules.touch()
    with pytest.raises(InputError, match="no folder"):
        OwnRules.read(rules)


def test_a_folder_in_the_place_of_a_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sections.tsv").mkdir()
    with pytest.raises(InputError, match="own rules are no file"):
        OwnRules.read(tmp_path)


def test_files_and_fields_have_limits(tmp_path: Path) -> None:
    text = "name\treason\tsource\n" + "x" * (MAX_FIELD + 1) + "\tfood\tours\n"
    (tmp_path / "name_stops.tsv").write_text(text)
    with pytest.raises(InputError, match="field is too long") as error:
        OwnRules.read(tmp_path).rows("name_stops", COLUMNS)
    assert error.value.line == 2
    (tmp_path / "name_stops.tsv").write_text(text + "#" * MAX_BYTES)
    with pytest.raises(InputError, match="too large"):
        OwnRules.read(tmp_path)


HEADERS = {
    "clinical_synonyms": "term\tnames\tkind\tcase\twhen\tsource",
    "context_rules": "trigger\tcategory\tdirection\tscope\trank\tkinds\tsections\tsource",
    "sections": "name\theader\tparent\tstrength\tsource",
    "patterns": "pattern\textends\tpredicate\ttier\tmax_fan\tsource",
}


@pytest.mark.parametrize(
    ("table", "row", "what"),
    [
        ("clinical_synonyms", "ward word\tfurosemide\tdrug\tany\tnear:(?<=a)b\tours", "condition"),
        ("clinical_synonyms", "ward word\tfurosemide\tdrug\tany\tnear:a{4294967296}\tours", "1,000 repetitions"),
        ("clinical_synonyms", "ward word\tfurosemide\tdrug\tany\tnear:a{1,100000000}\tours", "1,000 repetitions"),
        ("clinical_synonyms", "ward word\tfurosemide\tdrug\tany\tnear:a{1001}\tours", "1,000 repetitions"),
        ("context_rules", "nixed\tstop\tboth\tlist\t99999999999999999999\t*\t*\tours", "assertion rule"),
        ("context_rules", "(a|b)" * 40 + "\tstop\tboth\tlist\t6\t*\t*\tours", "too many phrases"),
        ("sections", "allergies\tward\t\tfirm\tours\nmeds\tward\t\tfirm\tours", "two sections"),
        ("patterns", "treats\t\ttreats\tstated\t99999999999999999999\tours", "max_fan"),
    ],
)
def test_what_a_stage_would_fail_on_is_refused_where_rules_are_read(table: str, row: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        check_rules(OwnRules(((table, f"{HEADERS[table]}\n{row}\n"),)))


def test_an_own_expression_takes_no_longer_than_its_text_is_long() -> None:
    own = OwnRules((("clinical_synonyms", f"{HEADERS['clinical_synonyms']}\nww\tx\tdrug\tany\tbefore:(a+)+$\tours\n"),))
    (sense,) = next(term for term in read_terms(own) if term.text == "ww").senses
    assert sense.holds(around("aa ww", 3, 5, "")) and not sense.holds(around("a" * 58 + "b ww", 60, 62, ""))


def test_every_table_that_can_be_added_to_is_there() -> None:
    for name, one in EXTENDABLE.items():
        lines = (ROOT / one.file).read_text(encoding="utf-8").splitlines()
        columns = next(line for line in lines if not line.startswith("#")).split("\t")
        assert read_table(ROOT / one.file, tuple(columns)) and Path(one.file).stem == name
