"""Sentences: they tile the text, and full stops inside sentences end none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.texts.sentences import lower_opening, sentences_of

PIECES = st.sampled_from(
    ["e.g. ", "p. syringae", "Dr. Smith", "p < 0.05. ", "Fig. 2", ".", ". ", "? ", "\n", "\n\n", " ", "the", "We",
     "3. ", "<dig>", "b. ", "hepatitis B. ", "é", "!", ") ", "Plan:", "- ", "\t", "\r\n", "et al. "]
)  # fmt: skip


def split(text: str) -> list[str]:
    return [sentence.text for sentence in sentences_of(text)]


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=120))
def test_sentences_and_the_white_space_between_them_tile_any_text(text: str) -> None:
    place = 0
    for sentence in sentences_of(text):
        assert sentence.text == text[sentence.begin : sentence.end] == sentence.text.strip() != ""
        assert text[place : sentence.begin].strip() == "" and sentence.begin >= place
        place = sentence.end
    assert text[place:].strip() == ""


@pytest.mark.parametrize(
    "sentences",
    [
        ["We saw Dr. Smith on 3 May.", "He gave 0.5 mg i.v. twice."],
        ["P was low (p < 0.05).", "It rose, e.g. in men."],
        ["See Fig. 2 and ref. 7 for details.", "No. 3 was lost."],
        ["Smith et al. showed this.", "Others did not."],
        ["She has hepatitis B.", "The liver is normal."],
        ["Is it?", "Yes!"],
        ["Hemoglobin A1c is elevated at 8.", "Repeat it."],
    ],
)
def test_abbreviations_initials_and_decimals_end_no_sentence(sentences: list[str]) -> None:
    assert split(" ".join(sentences)) == sentences


def test_lower_cased_articles_are_split_at_full_stops_but_not_at_species_names() -> None:
    text = (
        "the genome of p. syringae pv. tomato dc <dig> was used. genes of s. cerevisiae and b. subtilis differ. "
        "it encodes protein c. we saw 25% of them."
    )
    assert split(text) == [
        "the genome of p. syringae pv. tomato dc <dig> was used.",
        "genes of s. cerevisiae and b. subtilis differ.",
        "it encodes protein c.",
        "we saw 25% of them.",
    ]


def test_notes_are_split_at_bullets_and_headings_but_not_where_a_line_is_wrapped() -> None:
    text = (
        "ASSESSMENT AND PLAN\nThe patient was admitted with pain that had begun some two\nweeks before.\n"
        "- Metformin 500 mg\n- Lisinopril 10 mg\n\n1.  Anemia.  2.  Anxiety disorder."
    )
    assert split(text) == [
        "ASSESSMENT AND PLAN",
        "The patient was admitted with pain that had begun some two\nweeks before.",
        "- Metformin 500 mg",
        "- Lisinopril 10 mg",
        "1.  Anemia.",
        "2.  Anxiety disorder.",
    ]


def test_a_sentence_loses_its_capital_only_where_that_is_no_name() -> None:
    assert lower_opening("These results hold.") == "these results hold."
    assert lower_opening("I agree.") == "I agree."
    assert lower_opening("DNA was found.") == "DNA was found."
    assert lower_opening("") == ""
