"""Home drugs that a note stops in other words than their own name: both roads say the same of each."""

from __future__ import annotations

import duckdb
import pytest

from ground.settings import BuildSettings
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import set_variables

HOME, COURSE = "medications_on_admission", "brief_hospital_course"
Said = tuple[str, str, str, str, str]
"""Section, what is named (none: medications as such; after ?: no concept), assertion, certainty, reason."""

CASES: list[tuple[str, bool, list[Said]]] = [
    ("nothing else", False, []),
    ("its class is held", True, [(COURSE, "class", "discontinued", "unsure", "")]),
    ("a class above it is held", True, [(COURSE, "wide", "discontinued", "certain", "")]),
    ("another class", False, [(COURSE, "other", "discontinued", "certain", "")]),
    ("all home drugs are held", True, [(COURSE, "", "discontinued", "unsure", "")]),
    ("they may be", False, [(COURSE, "", "present", "unsure", "stopped")]),
    ("a drug that the release lacks", False, [(COURSE, "?Entresto", "discontinued", "certain", "")]),
    ("they are stopped before the stay", True, [("history_of_present_illness", "", "discontinued", "certain", "")]),
    ("a combination with it", True, [(COURSE, "mixture", "discontinued", "certain", "")]),
    ("its brand", True, [(COURSE, "brand", "discontinued", "certain", "")]),
    ("left open", True, [(COURSE, "brand", "planned", "certain", "")]),
    ("its class is only planned", False, [(COURSE, "class", "planned", "certain", "")]),
    (
        "held with its class and given again",
        False,
        [(COURSE, "class", "discontinued", "certain", ""), ("discharge_medications", "drug", "present", "certain", "")],
    ),
    (
        "the class is held and given again",
        False,
        [(COURSE, "class", "discontinued", "certain", ""), (COURSE, "class", "present", "certain", "")],
    ),
]
EDGES = [
    ("brand", "drug_form_of", "drug"),
    ("mixture", "contains_drug", "drug"),
    ("drug", "has_pharmacologic_class", "class"),
    ("class", "is_a", "wide"),
]
CLOSURE = [("drug", "drug", "self"), ("drug", "brand", "equivalent"), ("drug", "mixture", "composition")]
CLOSURE += [(name, name, "self") for name in ("class", "wide", "other", "mixture")]
CLOSURE += [("brand", "brand", "self"), ("brand", "drug", "equivalent")]


@pytest.fixture(scope="module")
def roads() -> duckdb.DuckDBPyConnection:
    """A note for each case, and what both roads need to read it."""
    connection = duckdb.connect()
    settings = BuildSettings().attesting()
    set_variables(connection, {**settings, "first_note": "00", "last_note": "99"})
    connection.execute(
        "create schema kg; create schema ground; create schema ehr;"
        "create table kg.edge(head_cui text, predicate text, tail_cui text);"
        "create table kg.concept(cui text, groups text[], name text);"
        "create table kg.name(cui text, normalized text, is_preferred boolean);"
        "create table ground.mention(note_id text, hadm_id bigint, begin_offset integer, text text, cuis text[],"
        " assertion text, section text, certainty text, reasons text[]);"
        "create table ground.unclear_mention as from ground.mention;"
        "create table ground.admission_concept(hadm_id bigint, cui text);"
        "create table ehr.discharge_note(note_id text, hadm_id bigint, text text);"
        "create table admission(number integer, note_id text); create table part_admission(hadm_id bigint);"
        "create table claim_end(cui text); create table closure(cui text, other text, relation text);"
        "create table class_member(cui text, other text);"
        "create table mention_concept(number integer, mention integer, assertion text)"
    )
    connection.executemany("insert into kg.edge values (?, ?, ?)", EDGES)
    names = sorted({name for line in CLOSURE for name in line[:2]})
    connection.executemany("insert into kg.concept values (?, ['CHEM'], ?)", [(name, name) for name in names])
    connection.executemany("insert into closure values (?, ?, ?)", CLOSURE)
    connection.execute("insert into class_member values ('class', 'drug'), ('wide', 'drug')")
    for number, (_, _, said) in enumerate(CASES):
        home = (HOME, "drug", "present", "certain", "")
        connection.execute("insert into admission values (?, ?)", [number, f"{number:02}"])
        connection.execute("insert into part_admission values (?)", [number])
        for place, (section, cui, assertion, certainty, reason) in enumerate([home, *said]):
            cuis, reasons = [cui] * (cui[:1] not in ("", "?")), [reason] * bool(reason)
            row = [
                f"{number:02}",
                number,
                place,
                cui.lstrip("?") or "home medications",
                cuis,
                assertion,
                section,
                certainty,
                reasons,
            ]
            connection.execute("insert into ground.mention values (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    connection.execute("insert into mention_concept select hadm_id, begin_offset, assertion from ground.mention")
    connection.execute(sql_text("builders/medieval/support/stopped_home"))
    for step in ("graph/cover", "mentions/ended", "mentions/record"):
        connection.execute(sql_text(f"stewardship/second_road/{step}"))
    return connection


@pytest.mark.parametrize("number", range(len(CASES)), ids=[name for name, *_ in CASES])
def test_both_roads_end_a_home_drug_where_the_note_does(roads: duckdb.DuckDBPyConnection, number: int) -> None:
    built = roads.execute("select assertion from mention_concept where number = ? and mention = 0", [number]).fetchone()
    again = roads.execute(
        "select assertion from part_mention where hadm_id = ? and begin_offset = 0", [number]
    ).fetchone()
    expected = ("discontinued" if CASES[number][1] else "present",)
    assert (built, again) == (expected, expected)
