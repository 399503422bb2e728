"""Named queries and checks: each runs, says what it does, and each check finds what it is there to find."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

import duckdb
import pytest

from ground.storage.sqlfiles import sql_names, sql_text, sql_title
from ground.storage.warehouse import connect, number_of, run_sql, set_variables, table_exists, transaction
from ontoground.views import validation
from tests.builders.query_world import build_world

QUERIES = [name.removeprefix("ontoground/") for name in sql_names("ontoground/queries")]
CHECKS = [name.removeprefix("ontoground/") for name in sql_names("ontoground/checks")]

# What would be wrong, for each check.
DAMAGE = {
    "checks/admission_concept_admission": "update ground.admission_concept set hadm_id = 77 where hadm_id = 1",
    "checks/admission_concept_code": "delete from ground.admission_concept where cui = 'C0000001'",
    "checks/code_map_candidates": "update ground.code_map set n_candidates = 9 where code = '4019'",
    "checks/code_map_concept": "update ground.code_map set cui = 'C9999999' where code = '4019'",
    "checks/code_map_exact": "update ground.code_map set cui = 'C0000002' where code = '4019'",
    "checks/code_map_method": "update ground.code_map set method = 'drug_name' where code = '4019'",
    "checks/edge_concept": "delete from kg.concept where cui = 'C0000030'",
    "checks/edge_direction": "insert into kg.edge_code"
    " select tail, predicate, head, kind, not forward, rui from kg.edge_code where rui = 'R1'",
    "checks/edge_predicate": "delete from kg.predicate where predicate = 'treats'",
    "checks/fact_split": "update ground.medieval set fact_split = 'test' where id = 's1'",
    "checks/mention_assertion": "update ground.mention set assertion = 'perhaps' where text = 'reflux'",
    "checks/mention_concept": "update ground.mention set cuis = ['C9999999'] where text = 'reflux'",
    "checks/mention_section": "update ground.mention set section = 'history' where text = 'reflux'",
    "checks/mention_text": "update ground.mention set begin_offset = begin_offset + 1 where text = 'reflux'",
    "checks/note_admission": "update mimiciv_note.discharge set hadm_id = 99",
    "checks/patient_split": "update ground.medieval set split = 'test' where id = 's1'",
    "checks/section_tiling": "update ground.section set end_offset = end_offset - 1 where section = 'history'",
}

ALL_NOTES = {"first_note": "", "next_note": chr(sys.maxunicode)}


class Undo(Exception):  # noqa: N818
    """Ends a transaction whose changes are not kept."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    connection = connect(tmp_path_factory.mktemp("queries") / "warehouse.duckdb")
    build_world(connection)
    set_variables(connection, ALL_NOTES)
    yield connection
    connection.close()


def rows_of(connection: duckdb.DuckDBPyConnection, name: str) -> list[dict[str, object]]:
    answer = run_sql(connection, f"ontoground/{name}")
    columns = [column[0] for column in answer.description]
    return [dict(zip(columns, row, strict=True)) for row in answer.fetchall()]


@pytest.mark.parametrize("name", [*QUERIES, *CHECKS])
def test_a_query_is_one_select_that_says_what_it_reads(world: duckdb.DuckDBPyConnection, name: str) -> None:
    text = sql_text(f"ontoground/{name}")
    statements = duckdb.extract_statements(text)
    assert [statement.type for statement in statements] == [duckdb.StatementType.SELECT]
    header = "\n".join(line for line in text.splitlines() if line.startswith("--"))
    assert sql_title(f"ontoground/{name}")
    assert "-- Grain: one row" in header
    inputs = re.search(r"-- Inputs:(.*?)(?=\n-- [A-Z]|\Z)", header, re.S)
    assert inputs is not None
    read = set(re.findall(r"(?:from|join) ((?:ehr|umls|rxnorm|kg|ground)\.\w+)", text))
    named = {word if "." in word else f"ehr.{word}" for word in re.findall(r"[\w.]*\w", inputs[1])}
    assert read
    assert read <= named
    assert all(table_exists(world, table) for table in read)


@pytest.mark.parametrize("name", QUERIES)
def test_every_named_query_answers_in_a_total_order(world: duckdb.DuckDBPyConnection, name: str) -> None:
    rows = rows_of(world, name)
    assert rows
    assert "order by" in sql_text(f"ontoground/{name}")
    assert rows_of(world, name) == rows


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_passes_on_good_data_and_finds_the_damage(world: duckdb.DuckDBPyConnection, name: str) -> None:
    assert rows_of(world, name) == []

    with pytest.raises(Undo), transaction(world):
        world.execute(DAMAGE[name])
        assert rows_of(world, name)
        raise Undo


@pytest.mark.parametrize("name", [name.removeprefix("ontoground/") for name in validation.OF_NOTES])
def test_checks_of_notes_find_the_same_some_notes_at_a_time(
    world: duckdb.DuckDBPyConnection, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validation, "NOTES_AT_ONCE", 1)
    with pytest.raises(Undo), transaction(world):
        world.execute(DAMAGE[name])
        for table in ("mimiciv_note.discharge", "ground.section", "ground.mention"):
            world.execute(f"insert into {table} select * replace (note_id || '-2' as note_id) from {table}")
        # Notes that are not there, before the first one and after the last.
        for missing in ("0", "~"):
            world.execute(f"insert into ground.mention select * replace ('{missing}' as note_id) from ground.mention")
        whole = rows_of(world, name)
        parts = validation._parts_of_notes(world)
        assert len(parts) == number_of(world, "select count(*) from mimiciv_note.discharge") > 1
        found = []
        for part in parts:
            set_variables(world, part)
            found += rows_of(world, name)
        assert found == whole != []
        raise Undo
    set_variables(world, ALL_NOTES)


def test_every_check_has_its_damage() -> None:
    assert sorted(DAMAGE) == CHECKS


def test_coverage_counts_codes_and_rows(world: duckdb.DuckDBPyConnection) -> None:
    by_source = {(row["source"], row["vocabulary"]): row for row in rows_of(world, "queries/coverage_by_source")}
    assert by_source["diagnoses_icd", "ICD9CM"]["mapped_codes"] == 8
    assert by_source["diagnoses_icd", "ICD10CM"]["codes"] == 6
    by_volume = {row["source_table"]: row for row in rows_of(world, "queries/coverage_by_volume")}
    assert (by_volume["prescriptions"]["n_rows"], by_volume["prescriptions"]["mapped_rows"]) == (8, 7)
    by_method = rows_of(world, "queries/coverage_by_method")
    exact = [row["n_rows"] for row in by_method if row["source"] == "diagnoses_icd" and row["method"] == "exact"]
    assert exact == [1, 4]
    by_vocabulary = {row["vocabulary"]: row for row in rows_of(world, "queries/coverage_by_vocabulary")}
    assert (by_vocabulary["ICD9CM"]["codes"], by_vocabulary["drug name"]["n_rows"]) == (9, 8)
    by_admission = [(row["share"], row["n_rows"]) for row in rows_of(world, "queries/coverage_by_admission")]
    assert by_admission == [(0.8333, 12), (0.9231, 13)]
    reasons = [(row["vocabulary"], row["reason"], row["codes"]) for row in rows_of(world, "queries/unmapped_by_reason")]
    assert ("ICD10CM", "no such code", 2) in reasons


def test_unmapped_codes_come_with_their_titles(world: duckdb.DuckDBPyConnection) -> None:
    rows = rows_of(world, "queries/unmapped_codes")
    titles = {(row["source"], row["code"]): row["title"] for row in rows}
    assert titles["diagnoses_icd", "F419"] == "Anxiety disorder, unspecified"
    assert titles["prescriptions_drug", "Bag"] == "Bag"
    assert ("prescriptions_ndc", "0") not in titles


def test_ndc_and_name_that_disagree_are_shown_and_both_kept(world: duckdb.DuckDBPyConnection) -> None:
    rows = rows_of(world, "queries/ndc_name_disagreement")
    shown = [(row["drug"], row["ndc_ingredients"], row["name_ingredients"]) for row in rows]
    assert ("Metoprolol", ["Hydromorphone"], ["Metoprolol"]) in shown
    kept = world.execute(
        "select count(distinct cui) from ground.admission_concept where hadm_id = 2 and kind = 'ingredient'"
        " and cui in ('C0000030', 'C0000035')"
    ).fetchall()
    assert kept == [(2,)]


def test_questions_over_codes_notes_and_graph(world: duckdb.DuckDBPyConnection) -> None:
    ordered = rows_of(world, "queries/ordered_for")
    assert [(row["predicate"], row["drug"], row["diagnosis_cui"], row["admissions"]) for row in ordered] == [
        ("contraindicated_with", "Metoprolol", "C0000002", 2),
        ("treats", "Metoprolol", "C0000001", 2),
    ]
    silent = {row["cui"]: row["admissions_silent"] for row in rows_of(world, "queries/coded_but_silent")}
    assert "C0000001" not in silent
    assert silent["C0000007"] == 1
    quadrants = rows_of(world, "queries/quadrants_by_predicate")
    assert (quadrants[0]["q1"], quadrants[0]["q4"]) == (1, 0)
