"""What a note may mean beyond its words: concepts that the release calls alike, and members of a class of drugs."""

from __future__ import annotations

import duckdb
import pytest

from ground.storage.sqlfiles import sql_text

CONCEPTS = [
    ("C1", "Hyperlipidemia", "DISO"),
    ("C2", "Hyperlipemia", "DISO"),
    ("C3", "Lipid test", "PROC"),
    ("C4", "Multiple sclerosis", "DISO"),
    ("C5", "Mitral stenosis", "DISO"),
    ("C6", "Insulin", "CHEM"),
    ("C7", "Insulins", "CHEM"),
    ("C8", "Insulin lispro", "CHEM"),
    ("C9", "Humalog", "CHEM"),
    ("C10", "Agents for diabetes", "CHEM"),
    ("C11", "Lipid disorder", "DISO"),
]
# Concept, name, whether it is the preferred one.
NAMES = [
    *((cui, name, True) for cui, name, _ in CONCEPTS),
    ("C2", "familial hyperlipidemia", False),
    ("C1", "familial hyperlipidemia", False),
    ("C2", "hyperlipoproteinemia", False),
    ("C1", "hyperlipoproteinemia", False),
    ("C3", "hyperlipidemia", False),
    ("C11", "hyperlipoproteinemia", False),
    ("C4", "MS", False),
    ("C5", "MS", False),
]
EDGES = [
    ("C8", "has_pharmacologic_class", "C7"),
    ("C7", "is_a", "C10"),
    ("C9", "drug_form_of", "C8"),
    ("C1", "is_a", "C11"),
]


@pytest.fixture
def world(warehouse: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    warehouse.execute("create table kg.concept (cui varchar, name varchar, groups varchar[])")
    warehouse.executemany("insert into kg.concept values (?, ?, [?])", CONCEPTS)
    warehouse.execute("create table kg.name (cui varchar, name varchar, normalized varchar, is_preferred boolean)")
    warehouse.executemany("insert into kg.name select ?, $2, lower($2), ?", NAMES)
    warehouse.execute("create table kg.edge (head_cui varchar, predicate varchar, tail_cui varchar)")
    warehouse.executemany("insert into kg.edge values (?, ?, ?)", EDGES)
    warehouse.execute("create temp table closure (cui varchar, other varchar, relation varchar, depth integer)")
    for cui, _, _ in CONCEPTS:
        warehouse.execute("insert into closure values ($1, $1, 'self', 0)", [cui])
    warehouse.execute("insert into closure values ('C9', 'C8', 'equivalent', 0), ('C8', 'C9', 'equivalent', 0)")
    warehouse.execute("create temp table linked_base as select cui, cui as base_cui from kg.concept")
    warehouse.execute(sql_text("builders/medieval/support/namesake"))
    warehouse.execute(sql_text("builders/medieval/support/class_member"))
    return warehouse


def others(connection: duckdb.DuckDBPyConnection, table: str, cui: str) -> set[str]:
    return {row[0] for row in connection.execute(f"select other from {table} where cui = $1", [cui]).fetchall()}


@pytest.mark.parametrize(
    ("cui", "alike"),
    [
        ("C1", {"C2"}),  # two names in common; the test of the same name is another kind of thing
        ("C2", {"C1"}),
        ("C11", set()),  # one name that neither prefers is not enough
        ("C4", set()),  # an abbreviation that two diseases share makes them no namesakes
        ("C6", {"C7"}),  # a plural is the same name
    ],
)
def test_concepts_are_called_alike_by_a_preferred_name_or_by_two(
    world: duckdb.DuckDBPyConnection, cui: str, alike: set[str]
) -> None:
    assert others(world, "namesake", cui) == alike


@pytest.mark.parametrize(
    ("mentioned", "meant"),
    [("C7", {"C8", "C9"}), ("C6", {"C8", "C9"}), ("C10", {"C7", "C8", "C9"}), ("C8", set()), ("C11", set())],
    ids=["class", "its namesake", "class of the class", "member", "no drug"],
)
def test_a_class_of_drugs_may_mean_its_members_and_their_brands(
    world: duckdb.DuckDBPyConnection, mentioned: str, meant: set[str]
) -> None:
    assert others(world, "class_member", mentioned) == meant
