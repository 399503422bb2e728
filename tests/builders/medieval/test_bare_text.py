"""Names are looked for in the whole text of every note, whatever the mentions say of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from builders.medieval.bare_text import find_names
from builders.medieval.build import build_medieval
from ehr.sources.contract import make_views
from ground.errors import InputError
from ground.flow.executor import Serial
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import connect
from kg.graph import ConceptGraph
from tests.builders.conftest import SETTINGS
from tests.builders.medieval_world import Built, Row, copied, first, table_of

# Concept, names (the first is preferred), semantic group.
CONCEPTS = [
    ("C1", ["Hemorrhagic stroke", "Bleeding stroke (disorder)"], "DISO"),
    ("C2", ["Stroke"], "DISO"),
    ("C3", ["Ketorolac tromethamine"], "CHEM"),
    ("C4", ["Toradol"], "CHEM"),
    ("C5", ["Tromethamine"], "CHEM"),
    ("C6", ["Peptic ulcer"], "DISO"),
    ("C7", ["Duodenal ulcer"], "DISO"),
    ("C8", ["Stress-ulcer"], "DISO"),
    ("C9", ["Gastric disease"], "DISO"),
    ("C10", ["Disease"], "DISO"),
    ("C11", ["Rheumatoid arthritis", "RA"], "DISO"),
    ("C12", ["Heart burn"], "DISO"),
    ("C13", ["Failure, Renal", "Azotemia"], "DISO"),
    ("C14", ["Anti-coagulant"], "CHEM"),
    ("C15", ["Curling ulcer"], "DISO"),
    ("C16", ["AIDS"], "DISO"),
]
# Concepts that a statement can name; the others are forms of them, or stand above or below.
ENDS = ("C1", "C3", "C6", "C11", "C12", "C13", "C14", "C16")
STEPS = [("C7", "C6"), ("C8", "C7"), ("C15", "C8"), ("C6", "C9"), ("C9", "C10")]
CLOSURE = [("C3", "C4", "equivalent", 0), ("C6", "C7", "descendant", 1), ("C6", "C8", "descendant", 2)]


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """What the builder knows when it looks for names."""
    warehouse = connect(tmp_path_factory.mktemp("known") / "warehouse.duckdb")
    warehouse.execute(sql_text("builders/medieval/support/macros"))
    warehouse.execute("create table kg.concept (cui varchar, groups varchar[])")
    warehouse.execute("create table kg.name (cui varchar, name varchar, normalized varchar)")
    for cui, names, group in CONCEPTS:
        warehouse.execute("insert into kg.concept values (?, [?])", [cui, group])
        for name in names:
            warehouse.execute("insert into kg.name select $1, $2, normal_name($2)", [cui, name])
    warehouse.execute("create temp table closure (cui varchar, other varchar, relation varchar, depth integer)")
    warehouse.executemany("insert into closure values ($1, $1, 'self', 0)", [[cui] for cui in ENDS])
    warehouse.executemany("insert into closure values (?, ?, ?, ?)", CLOSURE)
    warehouse.execute("create temp table nameable (code integer, cui varchar)")
    warehouse.executemany("insert into nameable values (?, ?)", list(enumerate(ENDS)))
    warehouse.execute("create temp table area_step (cui varchar, above_cui varchar)")
    warehouse.executemany("insert into area_step values (?, ?)", STEPS)
    # The gastric disease is an area, a disease is too general to be one.
    warehouse.execute("create temp table area as select 'C6' as cui, 'C9' as area_cui union select 'C7', 'C6'")
    warehouse.execute("create temp table namesake (cui varchar, other varchar)")
    warehouse.execute("create temp table statement_name as select 'C11' as cui, 'Morbus Whitby' as name")
    for table in ("discharge", "radiology"):
        warehouse.execute(f"create table mimiciv_note.{table} (subject_id bigint, hadm_id bigint, text varchar)")
    make_views(warehouse)
    yield warehouse
    warehouse.close()


@pytest.fixture
def asked(known: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """One admission of one patient, without a note."""
    known.execute("create or replace temp table cohort as select 1 as subject_id, 10 as hadm_id")
    known.execute("create or replace temp table admission as select 10 as hadm_id, 0 as number")
    known.execute("create or replace temp table admission_fact as select 0 as number")
    for table in ("discharge", "radiology"):
        known.execute(f"delete from mimiciv_note.{table}")
    return known


@pytest.fixture(scope="module")
def graph(staged: Path) -> ConceptGraph:
    """A graph of other concepts: those that are asked for have their closure already."""
    return ConceptGraph.open(staged / "graph")


def unclear(
    connection: duckdb.DuckDBPyConnection, graph: ConceptGraph, *notes: str, report: str = "", radiology: bool = False
) -> set[str]:
    """Return the concepts that the notes of the admission leave unclear."""
    for note in notes:
        connection.execute("insert into mimiciv_note.discharge values (1, 10, ?)", [note])
    connection.execute("insert into mimiciv_note.radiology values (1, 10, ?)", [report])
    meant = find_names(connection, graph, Serial(), radiology=radiology)
    names = [row[0] for row in connection.execute("select name from named").fetchall()]
    return {ENDS[code] for name in names for code in meant.concept[meant.begin[name] : meant.begin[name + 1]]}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A hemorrhagic stroke.", {"C1"}),
        ("Two Hemorrhagic\n  Strokes", {"C1"}),  # plural, capital, line break
        ("a bleeding stroke", {"C1"}),  # a name without what stands in brackets
        ("history of stroke", {"C1"}),  # the head of its name, which the release has as a name
        ("given Toradol", {"C3"}),  # a form of the drug
        ("given Toradol15mg", {"C3"}),  # a dose at its end
        ("tromethamine", set()),  # the last word of a drug is its salt
        ("two duodenal ulcers", {"C6"}),  # a descendant
        ("stress ulcer prophylaxis", {"C6"}),  # one two steps below, inside a longer name, without its hyphen
        ("a stressulcer", {"C6"}),  # as one word
        ("a Curling ulcer", set()),  # three steps below
        ("gastric disease", {"C6"}),  # above, and no more general than an area
        ("his disease", set()),  # above, and too general
        ("in RA on room air", {"C11"}),  # an acronym
        ("at the gate of Ra", set()),  # a word that is no acronym
        ("of morbus Whitby", {"C11"}),  # the name that statements print
        ("has heartburn", {"C12"}),  # two words as one
        ("no heart-burn.", {"C12"}),
        ("in renal failure", {"C13"}),  # an inverted name
        ("mild azotæmia", set()),  # no spelling of the release
        ("on an anticoagulant", {"C14"}),
        ("anti coagulants held", {"C14"}),
        ("his pep-tic ulcers", {"C6"}),  # a name of which one word has a hyphen
        ("of x/Pep-tic\nul-cer", {"C6"}),
        ("a peptic pep-tic ulcer", {"C6"}),
        ("a pep- tic ulcer", set()),
        ("wears aids", {"C16"}),  # a word of four letters is asked for in any case
        ("pain", set()),
        ("", set()),
    ],
)
def test_a_name_leaves_its_concept_unclear(
    asked: duckdb.DuckDBPyConnection, graph: ConceptGraph, text: str, found: set[str]
) -> None:
    assert unclear(asked, graph, text) == found


def test_every_note_of_the_admission_counts_and_no_name_crosses_their_border(
    asked: duckdb.DuckDBPyConnection, graph: ConceptGraph
) -> None:
    assert unclear(asked, graph, "Nothing of it.", "Addendum: a peptic ulcer") == {"C6"}
    assert unclear(asked, graph, "mild heart", "burn of hand") == {"C6"}


@pytest.mark.parametrize(("radiology", "found"), [(False, set()), (True, {"C6"})])
def test_radiology_reports_count_by_a_setting(
    asked: duckdb.DuckDBPyConnection, graph: ConceptGraph, radiology: bool, found: set[str]
) -> None:
    assert unclear(asked, graph, "Nothing of it.", report="a peptic ulcer", radiology=radiology) == found


def test_a_wider_name_that_most_notes_have_says_nothing(asked: duckdb.DuckDBPyConnection, graph: ConceptGraph) -> None:
    """The name of the concept itself does, however many have it."""
    for number in range(1, 20):
        for table, row in (("cohort", [number + 1, number + 10]), ("admission", [number + 10, number])):
            asked.execute(f"insert into {table} values (?, ?)", row)
        asked.execute("insert into admission_fact values (?)", [number])
        asked.execute(
            "insert into mimiciv_note.discharge values (?, ?, 'stroke service, gastric disease unit, peptic ulcer')",
            [number + 1, number + 10],
        )
    assert unclear(asked, graph, "peptic ulcer") == {"C6"}
    asked.execute("delete from mimiciv_note.discharge where subject_id > 5")
    assert unclear(asked, graph) == {"C1", "C6"}


def addenda(rows: list[Row]) -> dict[int, tuple[str, str]]:
    """Return, of some admissions, a concept that a row calls unsupported and a text that names it."""
    forms = (
        lambda name: f"Also noted: {name}.",
        lambda name: name.upper() + "S",
        lambda name: "pre-" + name.replace(" ", "-"),
        lambda name: f"XX{chr(10)}{name.title()} like state",
    )
    found: dict[int, tuple[str, str]] = {}
    for row in rows:
        if not row["is_supported"] and row["hadm_id"] not in found:
            end = row["replaced_end"]
            form = forms[len(found) % len(forms)]
            found[row["hadm_id"]] = (row[f"{end}_cui"], form(row[f"{end}_name"]))
    return found


def test_what_an_addendum_names_is_not_called_unsupported(medieval: Built, staged: Path, tmp_path: Path) -> None:
    """The addenda come when the mentions are read already, so that nothing else knows of them."""
    workspace = copied(staged, tmp_path / "work", SETTINGS)
    connection = connect(workspace.warehouse, workspace.settings.run)
    named = addenda(medieval.rows)
    for hadm_id, (_, text) in named.items():
        connection.execute(
            "insert into mimiciv_note.discharge by name select * replace (note_id || 'A' as note_id, $1 as text, "
            "note_seq - 1 as note_seq) from mimiciv_note.discharge where hadm_id = $2 limit 1",
            [text, hadm_id],
        )
    report = build_medieval(workspace, connection)
    rows = table_of(workspace.dataset("medieval")).to_pylist()
    connection.close()
    silent = {(row["hadm_id"], row[f"{row['replaced_end']}_cui"]) for row in rows if not row["is_supported"]}
    assert {hadm_id for hadm_id, _ in silent} & named.keys()
    assert [pair for pair in ((hadm_id, cui) for hadm_id, (cui, _) in named.items()) if pair in silent] == []
    reason = "replacement is named in the text of a note, though no mention or code means it"
    assert report.dropped[reason] > medieval.report.dropped.get(reason, 0)
    assert first(rows, "Q1")["context"] in {row["context"] for row in medieval.rows}


def test_reports_that_are_asked_for_and_not_loaded_are_missed(staged: Path, tmp_path: Path) -> None:
    workspace = copied(staged, tmp_path / "work", SETTINGS + "radiology = true\n")
    connection = connect(workspace.warehouse)
    connection.execute("drop table if exists mimiciv_note.radiology")
    with pytest.raises(InputError, match=r"ehr\.radiology_note"):
        build_medieval(workspace, connection)
    connection.close()
