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


FORMS: dict[str, Writer] = {"table": write_table}
"""Writers by the source that loads what they write."""
