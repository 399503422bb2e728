"""What codes, orders and lists of drugs say of mentions that are read (lasting, recorded and given of sql/ehr)."""

from __future__ import annotations

from typing import NamedTuple

import duckdb
import pytest

from ehr.notes import MENTION
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import set_table

GROUPS = {
    "pneumonia": "DISO",
    "bacterial pneumonia": "DISO",
    "ileus": "DISO",
    "diabetes": "DISO",
    "type 1 diabetes": "DISO",
    "diabetes of pregnancy": "DISO",
    "cefepime": "CHEM",
    "Maxipime": "CHEM",
    "Cefepime HCl": "CHEM",
    "steroids": "CHEM",
}
EDGES = [
    ("bacterial pneumonia", "is_a", "pneumonia"),
    ("type 1 diabetes", "is_a", "diabetes"),
    ("diabetes of pregnancy", "is_a", "diabetes"),
    ("Maxipime", "drug_form_of", "cefepime"),
    ("Cefepime HCl", "drug_form_of", "cefepime"),
]
LASTING = [("diabetes", "yes"), ("diabetes of pregnancy", "no")]
COURSE, BEFORE, AFTER = "brief_hospital_course", "medications_on_admission", "discharge_medications"


class Said(NamedTuple):
    """A mention: its concept, and what the note says of it."""

    concept: str
    section: str = COURSE
    assertion: str = "present"
    reasons: tuple[str, ...] = ()


def read(
    connection: duckdb.DuckDBPyConnection, said: list[Said], recorded: dict[str, str]
) -> list[tuple[str, str, list[str]]]:
    """Return assertion, certainty and reasons of each mention once the records are asked."""
    set_table(connection, "ground.mention_part", MENTION.empty_table(), kept=True)
    connection.execute("create table kg.concept (cui varchar, groups varchar[])")
    connection.execute("create table kg.edge (head_cui varchar, predicate varchar, tail_cui varchar)")
    connection.execute("create table ground.admission_concept (hadm_id bigint, cui varchar, kind varchar)")
    connection.execute("create temp table lasting_target (cui varchar, lasts varchar)")
    connection.executemany("insert into lasting_target values (?, ?)", LASTING)
    connection.executemany("insert into kg.concept values (?, [?])", list(GROUPS.items()))
    connection.executemany("insert into kg.edge values (?, ?, ?)", EDGES)
    # Another admission, so that the table is never empty.
    rows = [(2, "ileus", "diagnosis"), *((1, cui, kind) for cui, kind in recorded.items())]
    connection.executemany("insert into ground.admission_concept values (?, ?, ?)", rows)
    for place, one in enumerate(said):
        certainty = "unsure" if one.reasons else "certain"
        connection.execute(
            "insert into ground.mention_part values ('n', 1, ?, ?, ?, [?], ?, ?, ?, ?)",
            [place, place + 1, one.concept, one.concept, one.assertion, one.section, certainty, list(one.reasons)],
        )
    for name in ("lasting", "recorded", "given"):
        connection.execute(sql_text(f"ehr/{name}"))
    return connection.execute(
        "select assertion, certainty, reasons from ground.mention_part order by begin_offset"
    ).fetchall()


@pytest.mark.parametrize(
    ("said", "coded", "expected"),
    [
        ("pneumonia", "pneumonia", "corroborated"),
        ("pneumonia", "bacterial pneumonia", "corroborated"),
        ("bacterial pneumonia", "pneumonia", "unsure"),
    ],
)
def test_a_code_speaks_for_its_concept_and_its_parents_and_not_for_its_kinds(
    warehouse: duckdb.DuckDBPyConnection, said: str, coded: str, expected: str
) -> None:
    found = read(warehouse, [Said(said, reasons=("past",))], {coded: "diagnosis"})
    assert found == [("present", expected, ["past"])]


@pytest.mark.parametrize("reason", ["uncertain", "stopped", "said_otherwise"])
def test_an_order_speaks_for_a_doubtful_drug_and_a_code_for_no_doubtful_problem(
    warehouse: duckdb.DuckDBPyConnection, reason: str
) -> None:
    said = [Said("pneumonia", reasons=(reason,)), Said("cefepime", reasons=(reason,))]
    found = read(warehouse, said, {"pneumonia": "diagnosis", "cefepime": "drug"})
    assert [row[1] for row in found] == ["unsure", "corroborated"]


@pytest.mark.parametrize("reason", ["allergy", "other_person", "time"])
def test_codes_say_nothing_of_others_nor_of_other_places_and_times(
    warehouse: duckdb.DuckDBPyConnection, reason: str
) -> None:
    found = read(warehouse, [Said("pneumonia", reasons=(reason,))], {"pneumonia": "diagnosis"})
    assert found == [("present", "unsure", [reason])]


@pytest.mark.parametrize("section", ["past_medical_history", "history_of_present_illness"])
def test_a_code_speaks_for_no_doubtful_problem_of_a_history_unless_it_lasts(
    warehouse: duckdb.DuckDBPyConnection, section: str
) -> None:
    said = [Said(name, section, reasons=("past",)) for name in ("pneumonia", "diabetes", "cefepime")]
    found = read(warehouse, said, {"pneumonia": "diagnosis", "diabetes": "diagnosis", "cefepime": "drug"})
    assert [row[1] for row in found] == ["unsure", "corroborated", "corroborated"]


def test_a_problem_of_the_past_history_alone_is_unsure_unless_something_else_speaks_of_it(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    said = [Said("ileus", "past_medical_history"), Said("pneumonia", "past_medical_history"), Said("pneumonia")]
    assert read(warehouse, said, {"bacterial pneumonia": "procedure", "steroids": "diagnosis"}) == [
        ("present", "unsure", ["alone"]),
        ("present", "certain", []),
        ("present", "certain", []),
    ]


def test_an_illness_that_lasts_needs_no_other_word_in_the_past_history(warehouse: duckdb.DuckDBPyConnection) -> None:
    said = [Said(name, "past_medical_history") for name in ("diabetes", "type 1 diabetes", "diabetes of pregnancy")]
    assert [row[1] for row in read(warehouse, said, {"steroids": "diagnosis"})] == ["certain", "certain", "unsure"]


def test_without_any_code_of_the_admission_nothing_is_missing(warehouse: duckdb.DuckDBPyConnection) -> None:
    said = [Said("ileus", "past_medical_history"), Said("cefepime")]
    assert [row[1] for row in read(warehouse, said, {})] == ["certain", "certain"]


def test_a_drug_of_the_course_that_was_never_ordered_is_unsure(warehouse: duckdb.DuckDBPyConnection) -> None:
    said = [Said("steroids"), Said("Maxipime"), Said("steroids", BEFORE)]
    assert read(warehouse, said, {"cefepime": "drug"}) == [
        ("present", "unsure", ["not_ordered"]),
        ("present", "certain", []),
        ("present", "certain", []),
    ]


@pytest.mark.parametrize("assertion", ["present", "discontinued"])
@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([Said("steroids", AFTER)], True),
        ([Said("Cefepime HCl", AFTER)], False),
        ([Said("steroids", AFTER), Said("Maxipime", BEFORE)], False),
        ([Said("steroids", BEFORE)], False),
    ],
    ids=["on neither list", "goes on in another form", "a home drug by another name", "no list of the discharge"],
)
def test_an_ordered_drug_of_the_course_that_no_list_has_was_given(
    warehouse: duckdb.DuckDBPyConnection, assertion: str, others: list[Said], expected: bool
) -> None:
    found = read(warehouse, [Said("cefepime", assertion=assertion), *others], {"Maxipime": "drug", "cefepime": "drug"})
    assert found[0][0] == ("given" if expected else assertion)


def test_words_of_an_end_are_no_doubt_of_what_was_given(warehouse: duckdb.DuckDBPyConnection) -> None:
    said = [
        Said("cefepime", assertion="discontinued", reasons=("past",)),
        Said("Maxipime", assertion="discontinued", reasons=("past", "negated")),
        Said("steroids", AFTER),
    ]
    found = read(warehouse, said, {"cefepime": "drug"})
    assert [row[:2] for row in found[:2]] == [("given", "corroborated"), ("given", "unsure")]
