"""Sections tile the note, and headers are told from prose."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ehr.sections import UNKNOWN, header_rules, split_sections

# Sections are separated by a line that holds one blank.
NOTE = """
Name:  ___                     Unit No:   ___

Date of Birth:  ___             Sex:   F

Service: MEDICINE

Allergies:
Penicillins

Chief Complaint:
Cough

Major Surgical or Invasive
Procedure:
None

HPI:
She has a cough. Labs: WBC 12.
On arrival: febrile.

PMH:
- HTN
PSH:
- appendectomy

Physical Exam:
ADMISSION:
Afebrile
DISCHARGE:
Well

Pertinent Results:
ADMISSION LABS:
WBC-12

Hospital Course:
ACTIVE ISSUES:
# Pneumonia: treated with azithromycin. # GERD: omeprazole.
# HTN

TRANSITIONAL ISSUES:
[ ] CXR in 6 weeks
GOALS OF CARE:
full code

Meds on admission:
1. Aspirin: 81 mg daily

DISCHARGE DIAGNOSES:
Primary: Pneumonia
""".replace("\n\n", "\n \n")

PIECES = st.lists(
    st.sampled_from(
        [
            "\n",
            "\n\n",
            "   ",
            "Sex:",
            "Name: ",
            "PMH:",
            "# HTN: ",
            "ACTIVE ISSUES:\n",
            "Labs: ",
            "word ",
            "é𝛽",
            ":",
            "#",
            "Allergies",
        ]
    ),
    max_size=30,
)


@pytest.mark.parametrize(
    ("name", "header", "contained"),
    [
        ("name", "Name", "___"),
        ("unit_number", "Unit No", "___"),
        ("date_of_birth", "Date of Birth", "___"),
        ("sex", "Sex", "F"),
        ("service", "Service", "MEDICINE"),
        ("allergies", "Allergies", "Penicillins"),
        ("major_surgical_or_invasive_procedure", "Major Surgical or Invasive Procedure", "None"),
        ("history_of_present_illness", "HPI", "cough"),
        ("past_medical_history", "PMH", "HTN"),
        ("past_medical_history", "PSH", "appendectomy"),
        ("physical_exam", "ADMISSION", "Afebrile"),
        ("physical_exam", "DISCHARGE", "Well"),
        ("pertinent_results", "ADMISSION LABS", "WBC-12"),
        ("brief_hospital_course", "ACTIVE ISSUES", ""),
        ("brief_hospital_course", "# Pneumonia", "azithromycin"),
        ("brief_hospital_course", "# GERD", "omeprazole"),
        ("brief_hospital_course", "# HTN", ""),
        ("brief_hospital_course", "TRANSITIONAL ISSUES", "CXR"),
        ("brief_hospital_course", "GOALS OF CARE", "full code"),
        ("medications_on_admission", "Meds on admission", "Aspirin: 81"),
        ("discharge_diagnosis", "Primary", "Pneumonia"),
    ],
)
def test_a_header_opens_its_section(name: str, header: str, contained: str) -> None:
    found = [part for part in split_sections(NOTE) if part.section == name and part.header == header]
    assert len(found) == 1
    assert contained in NOTE[found[0].begin : found[0].end]


def test_the_sections_of_the_example_are_in_their_order() -> None:
    sections = split_sections(NOTE)
    assert sections[0].begin == 0
    assert "".join(NOTE[part.begin : part.end] for part in sections) == NOTE


@given(st.one_of(st.text(max_size=400), PIECES.map("".join)))
def test_sections_tile_any_text(text: str) -> None:
    sections = split_sections(text)
    assert "".join(text[part.begin : part.end] for part in sections) == text
    assert all(part.begin < part.end for part in sections)
    assert all(before.end == after.begin for before, after in pairwise(sections))


def test_a_note_without_headers_is_one_unknown_section() -> None:
    text = "Patient did well. Aspirin: 81 mg.\nHe went home: alone."
    (section,) = split_sections(text)
    assert (section.section, section.header, section.begin, section.end) == (UNKNOWN, "", 0, len(text))


def test_an_empty_note_has_no_sections() -> None:
    assert split_sections("") == []


@pytest.mark.parametrize(
    "line",
    [
        "Lisinopril: 10 mg daily",
        "She was told: rest.",
        "1. Aspirin 81 mg: daily",
        "discharge medications",
        "Plan: none",
    ],
)
def test_an_ordinary_line_with_a_colon_opens_no_section(line: str) -> None:
    text = f"Brief Hospital Course:\nShe did well.\n{line}\nand went home.\n"
    assert [part.section for part in split_sections(text)] == ["brief_hospital_course"]


def test_an_abbreviation_that_is_also_a_header_does_not_end_the_hospital_course() -> None:
    text = "Brief Hospital Course:\nShe did well.\n\nPE: started heparin.\n\nDischarge Medications:\nnone\n"
    assert [part.section for part in split_sections(text)] == [
        "brief_hospital_course",
        "brief_hospital_course",
        "discharge_medications",
    ]


def test_every_header_of_the_table_opens_its_own_section() -> None:
    for key, rule in header_rules().items():
        (section, *_) = split_sections(f"{key.upper()}: text")
        assert section.section in {rule.name, rule.parent}


def test_laboratory_values_inside_the_course_end_where_its_next_problem_begins() -> None:
    text = (
        "Brief Hospital Course:\n# Pneumonia: treated.\nADMISSION LABS:\nWBC 12\n# Gout: colchicine.\n"
        "Medications on Admission:\n1. Aspirin\n"
    )
    found = [(section.section, section.header) for section in split_sections(text)]
    assert found == [
        ("brief_hospital_course", "Brief Hospital Course"),
        ("brief_hospital_course", "# Pneumonia"),
        ("pertinent_results", "ADMISSION LABS"),
        ("brief_hospital_course", "# Gout"),
        ("medications_on_admission", "Medications on Admission"),
    ]


@pytest.mark.parametrize(
    ("header", "section"),
    [
        ("COURSE IN THE HOSPITAL:", "brief_hospital_course"),
        ("SECONDARY DIAGNOSES PRIOR TO HOSPITALIZATION:", "past_medical_history"),
        ("ALLERGIES/ADVERSE REACTIONS:", "allergies"),
        ("**Family History**", "family_history"),
        ("## Allergies", "allergies"),
        ("Allergies / Reactions", "allergies"),
        ("STOP TAKING:", "stopped_medications"),
        ("DO NOT TAKE:", "stopped_medications"),
        ("Medications to hold", "stopped_medications"),
        ("**Stop taking these medicines**", "stopped_medications"),
        ("MEDS DISCONTINUED AT ADMISSION:", "stopped_medications"),
        ("Medications to continue:", "discharge_medications"),
        ("WHEN TO CALL", "warning_signs"),
    ],
)
def test_a_header_that_the_table_does_not_have_is_known_by_its_words(header: str, section: str) -> None:
    text = f"Chief Complaint:\nCough\n{header}\nsomething\n"
    assert [part.section for part in split_sections(text)] == ["chief_complaint", section]


def test_a_mark_at_the_beginning_of_a_file_hides_no_header() -> None:
    assert [(part.section, part.begin) for part in split_sections("\ufeffAllergies: sulfa")] == [("allergies", 0)]


def test_a_header_behind_a_sentence_counts_where_its_line_begins_with_one() -> None:
    assert [part.section for part in split_sections("PMH: gout. All: sulfa.")] == ["past_medical_history", "allergies"]
    assert [part.section for part in split_sections("She fell. Allergies: sulfa.")] == [UNKNOWN]
