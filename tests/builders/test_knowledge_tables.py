"""The tables of medical knowledge that guard the labels of statements."""

from __future__ import annotations

from pathlib import Path

import pytest

from ground.storage.tables import Row, read_table

DATA = Path(__file__).parents[2] / "builders" / "data"
COLUMNS = {
    "disputed_facts": ("head", "predicate", "tail", "reason", "source"),
    "known_uses": ("use_group", "use", "kind", "source"),
    "known_use_groups": ("substance", "use_group", "source"),
}
KEYS = {
    "disputed_facts": ("head", "predicate", "tail"),
    "known_uses": ("use_group", "use"),
    "known_use_groups": ("substance",),
}


@pytest.fixture(scope="module")
def tables() -> dict[str, list[Row]]:
    return {name: read_table(DATA / f"{name}.tsv", columns) for name, columns in COLUMNS.items()}


def _uses(tables: dict[str, list[Row]], substance: str) -> set[str]:
    groups = {row["use_group"] for row in tables["known_use_groups"] if row["substance"] == substance}
    return {row["use"] for row in tables["known_uses"] if row["use_group"] in groups}


def test_groups_of_substances_and_of_uses_are_the_same(tables: dict[str, list[Row]]) -> None:
    assert {row["use_group"] for row in tables["known_uses"]} == {
        row["use_group"] for row in tables["known_use_groups"]
    }


@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_one_row_a_key_in_order(tables: dict[str, list[Row]], name: str) -> None:
    keys = [tuple(row[column] for column in KEYS[name]) for row in tables[name]]
    assert keys == sorted(set(keys))


@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_fields_are_filled_trimmed_and_names_lower_case(tables: dict[str, list[Row]], name: str) -> None:
    names = [row[column] for row in tables[name] for column in KEYS[name]]
    assert [text for text in names if text != text.lower()] == []
    fields = [text for row in tables[name] for text in row.values()]
    assert [text for text in fields if not text or text != " ".join(text.split())] == []


def test_words_of_the_closed_columns(tables: dict[str, list[Row]]) -> None:
    assert {row["predicate"] for row in tables["disputed_facts"]} == {"treats", "prevents", "classified_as"}
    assert {row["kind"] for row in tables["known_uses"]} == {"labelled", "off_label", "supportive"}


def test_no_disputed_classification_points_at_itself(tables: dict[str, list[Row]]) -> None:
    assert [row for row in tables["disputed_facts"] if row["head"] == row["tail"]] == []


@pytest.mark.parametrize(
    ("head", "predicate", "tail", "disputed"),
    [
        ("thyroxine", "treats", "thyrotoxicosis", True),
        ("magnesium hydroxide", "treats", "gastrointestinal hemorrhage", True),
        ("isosorbide", "treats", "gastroesophageal reflux disease", True),
        ("lithium", "treats", "post-traumatic stress disorder", True),
        ("propofol", "treats", "pain", True),
        ("aspirin", "treats", "gout", True),
        ("cefepime", "treats", "fever", True),
        ("eye disorder", "classified_as", "nervous system disease", True),
        ("diabetic ketoacidosis", "classified_as", "type 2 diabetes mellitus", True),
        ("lisinopril", "treats", "hypertension", False),
        ("furosemide", "treats", "congestive heart failure", False),
        ("insulin", "treats", "type 1 diabetes mellitus", False),
        ("vancomycin", "treats", "staphylococcal infections", False),
        ("heparin", "prevents", "thromboembolism", False),
        ("asthma", "classified_as", "obstructive lung disease", False),
    ],
)
def test_what_a_clinician_disputes_is_listed_and_known_facts_are_not(
    tables: dict[str, list[Row]], head: str, predicate: str, tail: str, disputed: bool
) -> None:
    facts = {(row["head"], row["predicate"], row["tail"]) for row in tables["disputed_facts"]}
    assert ((head, predicate, tail) in facts) is disputed


@pytest.mark.parametrize(
    ("substance", "known", "unknown"),
    [
        (
            "metoprolol",
            {"hypertension", "congestive heart failure", "atrial fibrillation", "migraine", "tremor"},
            {"asthma"},
        ),
        ("morphine", {"pain", "chest pain", "dyspnea", "pulmonary edema", "cough", "diarrhea"}, set()),
        (
            "furosemide",
            {"edema", "ascites", "acute renal failure", "hyperkalemia", "hypercalcemia", "dyspnea"},
            {"fever"},
        ),
        ("acetaminophen", {"fever", "pain", "headache"}, set()),
        ("ceftriaxone", {"pneumonia", "sepsis", "urinary tract infection", "fever", "neutropenia"}, set()),
        ("sodium chloride", {"hypotension", "dehydration", "acute renal failure", "hyponatremia", "shock"}, set()),
        ("insulin", {"diabetic ketoacidosis", "hyperkalemia", "hyperglycemia"}, set()),
        ("warfarin", {"atrial fibrillation", "pulmonary embolism"}, {"depression"}),
        ("metformin", set(), {"pneumonia"}),
        ("atorvastatin", set(), {"urinary tract infection"}),
        ("docusate", set(), {"congestive heart failure"}),
    ],
)
def test_well_known_uses_are_listed_and_uses_that_nobody_makes_are_not(
    tables: dict[str, list[Row]], substance: str, known: set[str], unknown: set[str]
) -> None:
    uses = _uses(tables, substance)
    assert known <= uses and uses.isdisjoint(unknown)
