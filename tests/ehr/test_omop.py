"""An OMOP CDM: versions, names in any case, codes of sources and standard concepts, notes, and what is refused."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from builders.concepts import map_codes
from builders.note_nlp import export_note_nlp
from ehr.sources.omop import load_omop
from ground import ROOT
from ground.errors import InputError
from ground.settings import LoadSettings
from ground.storage.tables import read_table

SETTINGS = LoadSettings()
MRCONSO = next(
    row["columns"].lower().split(",")
    for row in read_table(ROOT / "kg/data/rrf_columns.tsv", ("release", "file", "need", "columns", "key", "source"))
    if row["file"] == "MRCONSO"
)
TABLES = {
    "PERSON.csv": "person_id\n1\n2\n",
    "visit_occurrence.CSV": "visit_occurrence_id,person_id,visit_start_date,visit_end_date\n"
    "10,1,2020-01-01,2020-01-03\n20,2,2020-02-01,2020-02-02\n",
    "Concept.csv": "concept_id\tconcept_name\tvocabulary_id\tconcept_code\tstandard_concept\n"
    '101\tFever of "unknown" origin\tICD10CM\tR50.9\t\n102\tFever\tSNOMED\t386661006\tS\n103\tOwn fever\tHouse\tF1\t\n'
    "104\tHypertension, own\tICD10CM\tI10\t\n105\tHypertension\tSNOMED\t38341003\tS\n106\tAspirin\tRxNorm\t1191\tS\n",
    "concept_relationship.csv": "concept_id_1,concept_id_2,relationship_id,invalid_reason\n104,105,Maps to,\n",
    "cdm_source.csv": "cdm_source_name,cdm_version\nInvented,CDM v5.3.1\n",
    "condition_occurrence.csv": "condition_occurrence_id,person_id,condition_concept_id,condition_start_date,"
    "visit_occurrence_id,condition_source_value,condition_source_concept_id\n"
    "1,1,102,2020-01-01,10,R50.9,101\n2,1,102,2020-01-01,10,F1,103\n3,2,0,2020-02-01,20,I10,104\n4,2,0,2020-02-01,20,?,0\n",
    "drug_exposure.csv": "drug_exposure_id,person_id,drug_concept_id,drug_exposure_start_date,visit_occurrence_id,"
    "drug_source_value,drug_source_concept_id\n1,1,106,2020-01-02,10,Aspirin 81 mg,0\n",
    "note.csv": "note_id,person_id,note_date,note_type_concept_id,note_title,note_text,visit_occurrence_id\n"
    '7,1,2020-01-03,32824,,"No fever, ""really"".",10\n8,2,2020-02-02,0,Radiology Report,Clear.,20\n',
}
"""Files by name; CONCEPT has tabs and no quotes, as Athena writes it."""


def folder_of(path: Path, **changed: str | None) -> Path:
    path.mkdir()
    stems = {name.split(".")[0].lower(): name for name in TABLES}
    for name, text in {**TABLES, **{stems[stem]: text for stem, text in changed.items()}}.items():
        if text is not None:
            (path / name).write_text(text)
    return path


def release(warehouse: duckdb.DuckDBPyConnection) -> None:
    """Make a release with invented SNOMED rows: no code of ICD-10-CM but R50.9."""
    warehouse.execute(f"create table umls.mrconso ({', '.join(f'{column} varchar' for column in MRCONSO)})")
    atoms = [("C1", "ICD10CM", "R50.9"), ("C2", "SNOMEDCT_US", "386661006"), ("C3", "SNOMEDCT_US", "38341003")]
    warehouse.executemany("insert into umls.mrconso by name select ? as cui, 'PT' as tty, ? as sab, ? as code", atoms)
    warehouse.execute("create table umls.mrsty (cui varchar, tui varchar)")
    warehouse.execute("create schema if not exists release; create view release.mrconso as from umls.mrconso")


def test_codes_are_of_the_source_else_of_the_standard_concept(
    warehouse: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    report = load_omop(warehouse, folder_of(tmp_path / "cdm"), SETTINGS)
    assert report.release == "Invented, OMOP CDM 5.3.1"
    diagnoses = warehouse.execute("select hadm_id, vocabulary, code from ehr.diagnosis order by all").fetchall()
    assert diagnoses == [
        (10, "ICD10CM", "R50.9"),
        (10, "SNOMEDCT_US", "386661006"),
        (20, "ICD10CM", "I10"),
        (20, "None", "?"),
    ]
    notes = warehouse.execute("select note_id, hadm_id, kind, text from ehr.note order by 1").fetchall()
    assert notes == [("7", 10, "discharge", 'No fever, "really".'), ("8", 20, "radiology", "Clear.")]
    assert warehouse.execute("select code, name from ehr.drug").fetchall() == [("1191", "Aspirin 81 mg")]
    release(warehouse)
    map_codes(warehouse)
    mapped = warehouse.execute(
        "select code, cui, method from ground.code_map where source = 'condition_occurrence' order by code"
    ).fetchall()
    assert mapped == [("386661006", "C2", "exact"), ("I10", "C3", "map"), ("R50.9", "C1", "exact")]
    again = load_omop(warehouse, tmp_path / "cdm", SETTINGS)
    assert all(file.skipped_because_done for file in again.tables)


def test_a_duckdb_file_and_a_connection_are_read_as_files_are(
    warehouse: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path / "cdm")
    load_omop(warehouse, folder, SETTINGS)
    query = "select * from ehr.diagnosis order by all"
    expected = warehouse.execute(query).fetchall()
    with duckdb.connect(tmp_path / "cdm.duckdb") as other:
        other.execute("create schema omop")
        for file in folder.iterdir():
            other.execute(f"create table omop.{file.stem} as from read_csv('{file}')")
        load_omop(warehouse, other, SETTINGS)
        assert warehouse.execute(query).fetchall() == expected
    load_omop(warehouse, tmp_path / "cdm.duckdb", SETTINGS)
    assert warehouse.execute(query).fetchall() == expected


def test_mentions_become_rows_of_note_nlp(warehouse: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    load_omop(warehouse, folder_of(tmp_path / "cdm"), SETTINGS)
    release(warehouse)
    with pytest.raises(InputError, match="no mentions"):
        export_note_nlp(warehouse, tmp_path / "nlp.csv")
    warehouse.execute(
        "create table ground.mention as select '7' as note_id, 10 as hadm_id, 3 as begin_offset, 8 as end_offset, "
        "'fever' as text, ['C1', 'C2'] as cuis, 'absent' as assertion, 'allergies' as section, 'certain' as certainty"
    )
    for name, reader in (("nlp.csv", "read_csv"), ("nlp.parquet", "read_parquet")):
        assert export_note_nlp(warehouse, tmp_path / name).with_concept == 1
        rows = warehouse.execute(
            'select note_id, "offset"::integer, lexical_variant, note_nlp_concept_id, term_exists, term_temporal, '
            f"term_modifiers from {reader}('{tmp_path / name}')"
        ).fetchall()
        modifiers = "negated=true,subject=patient,conditional=false,section=allergies,certainty=certain,cui=C1|C2"
        assert rows == [(7, 3, "fever", 102, "N", "present", modifiers)]


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"cdm_source": "cdm_version\n6.0\n"}, "this version of the OMOP CDM is not read"),
        ({"concept": None}, "required files are missing: concept"),
        ({"concept": "concept_id,concept_name,vocabulary_id,concept_code\n"}, "CONCEPT has no rows"),
        ({"person": "person_id\n"}, "PERSON has no rows"),
        ({"concept": TABLES["Concept.csv"] + "106\tAgain\tRxNorm\t1\tS\n"}, "key is empty or occurs twice"),
        ({"person": "id\n1\n"}, "lacks needed columns: person_id"),
        ({"person": "person_id\nP-1\nP-2\n"}, "malformed|does not fit"),
        ({"person": "person_id\n1\n1\n"}, "twice|same"),
        ({"note": 'note_id,person_id,note_text,visit_occurrence_id\n7,1,"open,10\n'}, "malformed"),
    ],
)
def test_what_is_no_cdm_is_an_error(
    warehouse: duckdb.DuckDBPyConnection, tmp_path: Path, changed: dict[str, str | None], what: str
) -> None:
    with pytest.raises(InputError, match=what):
        load_omop(warehouse, folder_of(tmp_path / "cdm", **changed), SETTINGS)


def test_rows_that_cannot_be_are_refused_and_counted(warehouse: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    visits = TABLES["visit_occurrence.CSV"] + "30,9,2020-01-01,2020-01-02\n40,1,2020-01-02,2020-01-01\n"
    notes = TABLES["note.csv"] + "9,1,,0,,Of the other.,20\n10,1,,0,,Of none.,77\n11,,,0,,Of nobody.,10\n12,1,,0,,,10\n"
    report = load_omop(warehouse, folder_of(tmp_path / "cdm", visit_occurrence=visits, note=notes), SETTINGS)
    assert warehouse.execute("select raw, reason from ground.reject order by file, raw::bigint").fetchall() == [
        ("9", "the admission is another patient's"),
        ("10", "there is no such admission"),
        ("11", "no patient is named"),
        ("12", "it says nothing"),
        ("30", "there is no such patient"),
        ("40", "the admission ends before it begins"),
    ]
    assert {file.file: file.rows_rejected for file in report.tables}["note.csv"] == 4


def test_a_record_of_no_visit_is_of_the_visit_in_which_its_time_lies_and_unknown_targets_are_counted(
    warehouse: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    drugs = TABLES["drug_exposure.csv"] + "2,1,106,2020-01-03,,Aspirin,0\n3,1,106,2020-01-04,,Aspirin,0\n"
    links = TABLES["concept_relationship.csv"] + "103,999,Maps to,\n104,999,Maps to,\n"
    conditions = TABLES["condition_occurrence.csv"] + "5,2,0,2020-02-01,20,F1,103\n"
    changed = {"drug_exposure": drugs, "concept_relationship": links, "condition_occurrence": conditions}
    report = load_omop(warehouse, folder_of(tmp_path / "cdm", **changed), SETTINGS)
    assert warehouse.execute("select hadm_id from ehr.drug order by time").fetchall() == [(10,), (10,), (None,)]
    counted = warehouse.execute("select n, reason from ground.drop where stage = 'load omop' order by 2").fetchall()
    assert counted == [
        (1, "rows of drug_exposure name no visit: their time lies in none"),
        (1, "rows of drug_exposure name no visit: they are of the one in which their time lies"),
        (1, 'source concepts are mapped ("Maps to") to a concept that is not in CONCEPT'),
    ]
    assert all(f"{n} {reason}" in report.warnings for n, reason in counted)
