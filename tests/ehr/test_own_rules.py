"""Rows of a workspace's own join the tables that notes are read with: each changes what it should, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from ehr.notes import find_mentions, split_notes
from ehr.reading import TextReader
from ground.errors import InputError
from ground.flow.fingerprints import mark_done
from ground.settings import NoteSettings, Settings
from ground.storage.own_rules import NO_RULES, OwnRules
from ground.storage.warehouse import connect
from tests.ehr.test_lexicon import fill

NOTE = (
    "Chief Complaint:\nPneumonia\n \nWard Plan:\nContinue warfarin.\n \n"
    "Brief Hospital Course:\nSugar sickness. Nixed hypertension. No pneumonia on CT. Took metoprolol.\n"
)
DIABETES = "C0011849"
HEADS = {
    "clinical_synonyms": "term names kind case when source",
    "context_rules": "trigger category direction scope rank kinds sections source",
    "name_stops": "name reason source",
    "sections": "name header parent strength source",
}
ROWS = {
    "clinical_synonyms": f"sugar sickness|Sugar Sick\t{DIABETES}\tdisorder\tany\t\tours",
    "context_rules": "nixed\tabsent\tforward\tlist\t6\t*\t*\tours",
    "name_stops": "Metoprolol\tfood\tours",
    "sections": "ward_plan\tward plan\t\tfirm\tours",
}


def own(**rows: str) -> OwnRules:
    texts = ((name, "\t".join(HEADS[name].split()) + f"\n{row}\n") for name, row in rows.items())
    return OwnRules(tuple(sorted(texts)))


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(tmp_path_factory.mktemp("named") / "warehouse.duckdb") as connection:
        fill(connection)
        mark_done(connection, "graph", "named")  # so that the lexicon of each test is kept, and mapped
        connection.execute(f"insert into kg.concept values ('{DIABETES}', 'Diabetes', [], ['T047'])")
        name = [DIABETES, "Diabetes", "diabetes", "MTH", "PN", "", True, 1]
        connection.execute("insert into kg.name values (?, ?, ?, ?, ?, ?, ?, ?)", name)
        connection.execute("create table mimiciv_note.discharge (note_id varchar, hadm_id bigint, text varchar)")
        notes = [(f"{number}-DS-1", number, NOTE) for number in range(10, 16)]
        connection.executemany("insert into mimiciv_note.discharge values (?, ?, ?)", notes)
        yield connection


Read = set[tuple[str, str, str, tuple[str, ...]]]


def read(connection: duckdb.DuckDBPyConnection, rules: OwnRules) -> Read:
    mentions = TextReader.open(connection, own=rules).read(NOTE).mentions
    return {(mention.text, str(mention.assertion), mention.section, mention.cuis) for mention in mentions}


@pytest.fixture(scope="module")
def before(named: duckdb.DuckDBPyConnection) -> Read:
    return read(named, NO_RULES)


def test_each_row_changes_what_it_should_and_nothing_else(named: duckdb.DuckDBPyConnection, before: Read) -> None:
    after = read(named, own(**ROWS))
    course = "brief_hospital_course"
    assert {mention[:3] for mention in before - after} == {
        ("hypertension", "present", course),
        ("metoprolol", "present", course),
        ("warfarin", "present", "chief_complaint"),
    }
    assert {mention[:3] for mention in after - before} == {
        ("Sugar sickness", "present", course),
        ("hypertension", "absent", course),
        ("warfarin", "present", "ward_plan"),
    }
    assert all(cuis == (DIABETES,) for text, _, _, cuis in after if text == "Sugar sickness")


def test_a_stop_silences_the_projects_own_terms_too(named: duckdb.DuckDBPyConnection, before: Read) -> None:
    after = read(named, own(name_stops="Pneumonia\tours\tours\nhypertension\tours\tours"))
    assert {mention[0].lower() for mention in before - after} == {"pneumonia", "hypertension"}
    assert not {mention[0].lower() for mention in after} & {"pneumonia", "hypertension"}


def test_own_rows_come_before_those_of_the_package(named: duckdb.DuckDBPyConnection) -> None:
    rules = own(
        clinical_synonyms=f"HTN\t{DIABETES}\tdisorder\tupper\t\tours",
        context_rules="no\tfamily\tforward\tlist\t6\t*\t*\tours",
        sections="ward_plan\tchief complaint\t\tfirm\tours",
    )
    found = TextReader.open(named, own=rules).read("Chief Complaint:\nHTN, no pneumonia\n").mentions
    assert [(one.cuis, str(one.assertion), one.section) for one in found] == [
        ((DIABETES,), "present", "ward_plan"),
        (("C2", "C10"), "family", "ward_plan"),
    ]


def test_what_own_rows_decide_is_as_certain_as_by_the_rules(named: duckdb.DuckDBPyConnection) -> None:
    rules = own(clinical_synonyms=ROWS["clinical_synonyms"], context_rules=ROWS["context_rules"])
    learned = TextReader.open(named, own=rules)
    by_rules = TextReader.of(learned.lexicon, NoteSettings(certainty="rules", fuzzy=False), rules)
    unsure = [
        {mention.text: mention.unsure for mention in reader.read(NOTE).mentions} for reader in (learned, by_rules)
    ]
    assert all(unsure[0][name] == unsure[1][name] for name in ("Sugar sickness", "hypertension"))
    assert unsure[0] != unsure[1]


def tables(connection: duckdb.DuckDBPyConnection, rules: OwnRules) -> list[list[tuple[object, ...]]]:
    split_notes(connection, Settings(), rules)
    find_mentions(connection, Settings(), rules)
    names = ("section", "segment", "mention", "unclear_mention")
    return [connection.execute(f"select * from ground.{name}").fetchall() for name in names]


def test_a_stage_runs_again_where_its_own_rules_changed_only(named: duckdb.DuckDBPyConnection) -> None:
    without = tables(named, NO_RULES)
    assert split_notes(named, Settings(), own(context_rules=ROWS["context_rules"])).skipped
    assert find_mentions(named, Settings(), NO_RULES).skipped
    assert not find_mentions(named, Settings(), own(context_rules=ROWS["context_rules"])).skipped
    assert not split_notes(named, Settings(), own(sections=ROWS["sections"])).skipped
    assert tables(named, NO_RULES) == without


@pytest.mark.parametrize(
    ("table", "row", "found"),
    [
        ("clinical_synonyms", "sugar sickness\tC9999999\tdisorder\tany\t\tours", "C9999999"),
        ("clinical_synonyms", "sugar sickness\tno such name\tdisorder\tany\t\tours", "no such name"),
        ("clinical_synonyms", f"sugar sickness\t{DIABETES}\tillness\tany\t\tours", "illness"),
        ("clinical_synonyms", f"sugar sickness\t{DIABETES}\tdisorder\tany\tbefore:(\tours", "before:("),
        ("clinical_synonyms", f"\t{DIABETES}\tdisorder\tany\t\tours", "nothing"),
        ("context_rules", "nixed\tabsent\tforward\tlist\t6\t*\tno_such_section\tours", "no_such_section"),
        ("context_rules", "nixed\tabsent\tforward\tlist\thigh\t*\t*\tours", "high"),
        ("context_rules", "(nixed\tabsent\tforward\tlist\t6\t*\t*\tours", "(nixed"),
        ("context_rules", "nixed|binned\tabsent\tforward\tlist\t6\t*\t*\tours", "nixed|binned"),
        ("context_rules", "no (more (of|for)|any)\tabsent\tforward\tlist\t6\t*\t*\tours", "no (more"),
        ("context_rules", "nixed\tgone\tforward\tlist\t6\t*\t*\tours", "gone"),
        ("sections", "ward_plan\tward plan\t\tstrong\tours", "strong"),
        ("sections", "ward_plan\tward plan:\t\tfirm\tours", "ward plan:"),
        ("sections", "Ward plan\tward orders\t\tfirm\tours", "Ward plan"),
        ("sections", "ward_plan\tÄrztliche Anordnung\t\tfirm\tours", "Ärztliche"),
        ("sections", "ward_plan\tward plan\tno_such_parent\tfirm\tours", "no_such_parent"),
        ("name_stops", "metoprolol\tfood", "2"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(named: duckdb.DuckDBPyConnection, table: str, row: str, found: str) -> None:
    with pytest.raises(InputError) as error:
        read(named, own(**{table: ROWS[table] + "\n# a note\n" + row}))
    assert (error.value.file, error.value.line) == (str(Path("rules") / f"{table}.tsv"), 4)
    assert found in str(error.value.found) and error.value.expected
