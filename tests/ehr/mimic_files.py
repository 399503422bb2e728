"""Tiny MIMIC-IV folders for the tests of the loader."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

__all__ = ["NOTE_TEXT", "csv_text", "write_mimic", "write_table"]

# Quotes, commas, leading and trailing blanks, line ends of both kinds, a tab, and characters beyond ASCII.
NOTE_TEXT = (
    ' \nName:  ___   Unit No:   ___\n \nAllergies: "sulfa", latex\r\n\tT 38.5°C – β-blocker 😀\n\nDischarge:\n  '
)

TABLES: dict[str, tuple[str, list[str]]] = {
    "hosp/patients": ("subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod", ["1,F,60,2180,2011 - 2013,"]),
    "hosp/admissions": (
        "subject_id,hadm_id,admittime,dischtime,deathtime,admission_type,hospital_expire_flag",
        ["1,10,2180-05-06 22:23:00,2180-05-07 17:15:00,,URGENT,0", "1,11,2181-05-06 22:23:00,,,EW EMER.,0"],
    ),
    "hosp/diagnoses_icd": (
        "subject_id,hadm_id,seq_num,icd_code,icd_version",
        ["1,10,1,0010,9", "1,10,2,01882,9", "1,11,1,I10,10"],
    ),
    "hosp/procedures_icd": ("subject_id,hadm_id,seq_num,chartdate,icd_code,icd_version", ["1,10,1,2180-05-07,0044,9"]),
    "hosp/prescriptions": (
        "subject_id,hadm_id,pharmacy_id,starttime,stoptime,drug_type,drug,gsn,ndc,prod_strength,doses_per_24_hrs",
        ['1,10,5,2180-05-07 00:00:00,,MAIN,"Lisinopril, oral",000391,00093111301,"5""mg tab",1'],
    ),
}


def _field(value: object) -> str:
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\r\n') else text


def csv_text(header: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """CSV as PostgreSQL writes it: quotes where needed, doubled inside."""
    lines = [",".join(header), *(",".join(_field(row[name]) for name in header) for row in rows)]
    return "\n".join(lines) + "\n"


def write_table(folder: Path, name: str, text: str | bytes, suffix: str = ".csv.gz") -> Path:
    """Write one file of a module, gzipped where its suffix says so."""
    path = folder / f"{name}{suffix}"
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data, mtime=0) if suffix.endswith(".gz") else data)
    return path


def write_mimic(folder: Path, suffix: str = ".csv.gz", notes: Sequence[str] = (NOTE_TEXT,)) -> Path:
    """Write the required tables and, where notes are given, note/discharge with one row a note."""
    for name, (header, rows) in TABLES.items():
        write_table(folder, name, "\n".join([header, *rows]) + "\n", suffix)
    if notes:
        columns = ["note_id", "subject_id", "hadm_id", "note_type", "note_seq", "charttime", "storetime", "text"]
        notes_rows: list[dict[str, object]] = [
            {"note_id": f"1-DS-{n}", "subject_id": 1, "hadm_id": 10, "note_type": "DS", "note_seq": n, "text": text}
            | {"charttime": "2180-05-07 00:00:00", "storetime": ""}
            for n, text in enumerate(notes)
        ]
        write_table(folder, "note/discharge", csv_text(columns, notes_rows), suffix)
    return folder
