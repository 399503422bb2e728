"""The open world's records written as other sources have them: a writer for each source, from the files of MIMIC-IV."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb

__all__ = ["FORMS", "Writer"]

Writer = Callable[[duckdb.DuckDBPyConnection, Path], None]
"""Write records into a folder; the connection has MIMIC's tables as views of text, by their bare names."""

CODES = """
select subject_id::bigint as patient, hadm_id::bigint as admission,
       if(icd_version = '9', 'ICD9CM', 'ICD10CM') as vocabulary,
       icd_code as code, admittime as time, 'diagnosis' as kind, null as name
from diagnoses_icd join admissions using (subject_id, hadm_id)
union all
select subject_id, hadm_id, if(icd_version = '9', 'icd-9-cm', 'ICD10PCS'), icd_code, chartdate, 'Procedure', null
from procedures_icd
union all
select subject_id, hadm_id, 'NDC', ndc, starttime, 'drug', drug
from prescriptions
"""


def write_table(mimic: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Write a plain table: notes as CSV with names in capitals, codes as Parquet with numbers as identifiers."""
    notes = (
        'select note_id as "ID", subject_id as "PATIENT", hadm_id as "Admission", charttime as "Time", text as "Text"'
    )
    mimic.execute(f"copy ({notes} from discharge) to '{folder}/notes.csv.gz' (header, force_quote ('Text'))")
    mimic.execute(f"copy ({CODES}) to '{folder}/CODES.parquet'")


CONCEPTS = """
create temp table used as
select row_number() over (order by vocabulary, code) + 2000000000 as concept_id, vocabulary, code
from (
    select 'ICD' || icd_version || 'CM' as vocabulary, icd_code as code from diagnoses_icd
    union
    select if(icd_version = '9', 'ICD9Proc', 'ICD10PCS'), icd_code from procedures_icd
    union
    select 'NDC', ndc from prescriptions where ndc <> '0'
) where code is not null
"""
OMOP = {
    "PERSON.csv": "select subject_id as person_id from patients",
    "visit_occurrence.parquet": """
        select hadm_id::bigint as visit_occurrence_id, subject_id::bigint as person_id, admittime::date
               as visit_start_date, admittime::timestamp as visit_start_datetime, dischtime::date as visit_end_date,
               dischtime::timestamp as visit_end_datetime
        from admissions
        """,
    "CONCEPT.csv.gz": """
        select concept_id as "CONCEPT_ID", 'a name' as "CONCEPT_NAME", vocabulary as "VOCABULARY_ID",
               if(vocabulary = 'ICD10CM' and len(code) > 3, code[:3] || '.' || code[4:], code) as "CONCEPT_CODE"
        from used
        """,
    "condition_occurrence.csv": """
        select row_number() over () as condition_occurrence_id, subject_id as person_id, 0 as condition_concept_id,
               admittime::date as condition_start_date, admittime as condition_start_datetime,
               hadm_id as visit_occurrence_id, icd_code as condition_source_value,
               concept_id as condition_source_concept_id
        from diagnoses_icd join admissions using (subject_id, hadm_id)
        join used on vocabulary = 'ICD' || icd_version || 'CM' and code = icd_code
        """,
    "procedure_occurrence.csv": """
        select row_number() over () as procedure_occurrence_id, subject_id as person_id, 0 as procedure_concept_id,
               chartdate as procedure_date, hadm_id as visit_occurrence_id, icd_code as procedure_source_value,
               concept_id as procedure_source_concept_id
        from procedures_icd join used on vocabulary = if(icd_version = '9', 'ICD9Proc', 'ICD10PCS') and code = icd_code
        """,
    "drug_exposure.parquet": """
        select row_number() over () as drug_exposure_id, subject_id::bigint as person_id, 0 as drug_concept_id,
               starttime::date as drug_exposure_start_date, starttime::timestamp as drug_exposure_start_datetime,
               hadm_id::bigint as visit_occurrence_id, drug as drug_source_value, concept_id as drug_source_concept_id
        from prescriptions left join used on vocabulary = 'NDC' and code = ndc
        """,
    "note.csv": """
        select row_number() over (order by note_id) + 1000000 as note_id, subject_id as person_id,
               charttime::date as note_date, charttime as note_datetime, 32824 as note_type_concept_id,
               hadm_id as visit_occurrence_id, text as note_text
        from discharge
        """,
}


def write_omop(mimic: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Write tables of OMOP, as CSV and Parquet with names in any case: source concepts, and drugs by NDC and name."""
    mimic.execute(CONCEPTS)
    for name, select in OMOP.items():
        mimic.execute(f"copy ({select}) to '{folder}/{name}'")


EVENTS = """
select subject_id, admittime as time, 'HOSPITAL_ADMISSION' as code, hadm_id, null as text_value from admissions
union all
select subject_id, dischtime, 'HOSPITAL_DISCHARGE', hadm_id, null from admissions
union all
select subject_id, dischtime, 'DIAGNOSIS//ICD//' || icd_version || '//' || icd_code, hadm_id, null
from diagnoses_icd join admissions using (subject_id, hadm_id)
union all
select subject_id, chartdate, 'PROCEDURE//ICD//' || icd_version || '//' || icd_code, hadm_id, null from procedures_icd
union all
select subject_id, starttime, 'MEDICATION//START//' || drug || '//' || coalesce(nullif(ndc, '0'), 'UNK'), hadm_id, null
from prescriptions
union all
select subject_id, charttime, 'NOTE//DS', hadm_id, text from discharge
"""


def write_meds(mimic: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Write MEDS: events of all kinds in one file, with the numbers of admissions; drugs by name and NDC."""
    for part in ("data/train", "metadata"):
        (folder / part).mkdir(parents=True)
    events = f"""
        select subject_id::bigint as subject_id, time::timestamp as time, code, null::float as numeric_value,
               text_value, hadm_id::bigint as hadm_id
        from ({EVENTS}) where code is not null order by subject_id, time
    """
    mimic.execute(f"copy ({events}) to '{folder}/data/train/0.parquet'")
    codes = f"select distinct code, null::varchar as description, null::varchar[] as parent_codes from ({events})"
    mimic.execute(f"copy ({codes}) to '{folder}/metadata/codes.parquet'")
    mimic.execute(
        f"copy (select subject_id::bigint as subject_id, 'train' as split from patients)"
        f" to '{folder}/metadata/subject_splits.parquet'"
    )
    (folder / "metadata" / "dataset.json").write_text('{"meds_version": "0.4.0"}')


FORMS: dict[str, Writer] = {"table": write_table, "omop": write_omop, "meds": write_meds}
"""Writers by the source that loads what they write."""
