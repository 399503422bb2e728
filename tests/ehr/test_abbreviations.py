"""The term tables are well formed, contexts decide between senses, and defined abbreviations are found."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ehr.abbreviations import (
    Term,
    around,
    defined_abbreviations,
    edge_behind_letter,
    read_terms,
    scispacy_abbreviations,
)


def term(text: str) -> Term:
    return next(found for found in read_terms() if found.text == text)


def meant(text: str, note: str, section: str = "brief_hospital_course") -> str | None:
    """Return the kind of the first sense that holds (``none`` too), or None where the term is unclear."""
    begin = note.index(text)
    place = around(note.lower(), begin, begin + len(text), section)
    for sense in term(text).senses:
        if sense.holds(place):
            return f"{sense.kind}:{sense.names[0]}" if sense.kind != "none" else "none"
    return None


def test_the_tables_hold_several_hundred_abbreviations() -> None:
    terms = read_terms()
    assert len(terms) > 2000
    assert len({found.text for found in terms}) == len(terms)
    assert {"HTN", "CAD", "COPD", "ESRD", "EGD", "HCTZ"} <= {found.text for found in terms}


@pytest.mark.parametrize(
    ("text", "note", "expected"),
    [
        ("MR", "TTE with moderate MR", "disorder:mitral regurgitation"),
        ("MR", "seen by MR team", "none"),
        ("LAD", "no cervical LAD", "disorder:lymphadenopathy"),
        ("LAD", "DES to LAD", "none"),
        ("SBP", "no h/o SBP", "disorder:spontaneous bacterial peritonitis"),
        ("SBP", "cirrhosis, no h/o SBP\n2. HIV", "disorder:spontaneous bacterial peritonitis"),
        ("SBP", "Baseline SBP is in the 90s", "none"),
        ("SBP", "cirrhosis with SBP\n90", "none"),
        ("PCN", "aztreonam given PCN allergy. Chest tube removed", "drug:penicillin"),
        ("PCN", "PCN exchanged by IR", "none"),
        ("plts", "plts 212", "none"),
        ("calcium", "hyperkalemia treated w/ insulin, calcium", "drug:calcium"),
        ("calcium", "hypercalcemia with calcium 12.1, IV fluids", "none"),
        ("RA", "98% RA", "none"),
        ("RA", "RA on methotrexate", "disorder:rheumatoid arthritis"),
        ("PT", "PT recommended rehab", "none"),
        ("PCP", "bactrim for PCP ppx", "disorder:pneumocystis pneumonia"),
        ("PCP", "follow up with PCP", "none"),
        ("HD", "on HD TThS", "procedure:hemodialysis"),
        ("HD", "on HD 3 she improved", "none"),
        ("potassium", "potassium 20 meq given", "drug:potassium"),
        ("potassium", "potassium was 5.2", "none"),
        ("cold", "had a cold last week", "finding:common cold"),
        ("cold", "cold feet", "none"),
        ("discharge", "discharge home", "none"),
        ("pain", "seen by the pain service", "none"),
    ],
)
def test_the_context_decides(text: str, note: str, expected: str) -> None:
    assert meant(text, note) == expected


def test_a_word_that_denies_says_so() -> None:
    assert [sense.denied for sense in term("afebrile").senses] == [True]


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("with hepatic encephalopathy (HE), and", "HE", "hepatic encephalopathy"),
        ("graft-versus-host disease (GVHD)", "GVHD", "graft-versus-host disease"),
        ("a short word, deep vein thrombosis (DVT).", "DVT", "deep vein thrombosis"),
    ],
)
def test_a_defined_abbreviation_is_found_with_its_long_form(text: str, short: str, long: str) -> None:
    (found,) = defined_abbreviations(text)
    assert (found.short, text[found.long_begin : found.long_end]) == (short, long)
    assert text[found.short_begin :].startswith(short)


@pytest.mark.parametrize(
    "text", ["Oxycodone (Immediate Release)", "warfarin (Coumadin)", "fever (T 101)", "pain (PRN)"]
)
def test_other_brackets_define_nothing(text: str) -> None:
    assert defined_abbreviations(text) == []


@given(st.text(alphabet="ab (A)B", max_size=60))
def test_the_detector_stays_inside_the_text(text: str) -> None:
    for found in defined_abbreviations(text):
        assert 0 <= found.long_begin < found.long_end <= found.short_begin < len(text)


def test_the_detector_of_scispacy_gives_the_same_kind_of_answer() -> None:
    pytest.importorskip("scispacy")
    text = "Admitted with hepatic encephalopathy (HE). The HE resolved."
    (found,) = scispacy_abbreviations(text)
    assert (found.short, text[found.long_begin : found.long_end]) == ("HE", "hepatic encephalopathy")


@given(
    st.sampled_from([r"\bab", r"b|\ba\b|ba", r"\bab?", r"a\bb|\bb\b", r"\\b", r"(\ba|1)\s*\bb", r"^\ba\b$"]),
    st.text(alphabet="ab1 \n-\\_"),
)
def test_a_quick_expression_finds_the_same(pattern: str, text: str) -> None:
    found = [[one.span() for one in re.finditer(written, text)] for written in (pattern, edge_behind_letter(pattern))]
    assert found[0] == found[1]


def test_lines_that_mean_the_same_are_one_sense_with_all_names_that_a_release_may_have() -> None:
    (sense,) = next(term for term in read_terms() if term.text == "ACE inhibitor").senses
    assert {"ace inhibitors", "angiotensin-converting enzyme (ace) inhibitors"} <= set(sense.names)
    assert len(set(sense.names)) == len(sense.names)
