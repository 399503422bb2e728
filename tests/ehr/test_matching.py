"""The trie finds what a plain search over normalised tokens finds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ehr.characters import codes_of
from ehr.matching import CASE_ANY, CASE_CAPITAL, CASE_UPPER, Trie, build_trie, mapped, save_arrays, tokenise


def trie_of(*names: str, case: int = CASE_ANY) -> Trie:
    trie, _ = build_trie([names], np.full(len(names), case, dtype=np.uint8))
    return trie


def found(trie: Trie, text: str) -> list[str]:
    tokens = tokenise(codes_of(text))
    matches = trie.find(tokens)
    return [text[tokens.begin[a] : tokens.end[b]] for a, b in zip(matches.first, matches.last, strict=True)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Crohn's disease", "known Crohn disease, stable"),
        ("Crohn disease", "known Crohn’s disease"),
        ("chest pain", "CHEST-PAIN"),
        ("chest pain", "chest\n   pain"),
        ("rib fracture", "rib fractures"),
        ("Ménière disease", "meniere disease"),
        ("biopsy", "biopsies"),
        ("C. difficile", "for C. difficile"),
        ("oxycodone / acetaminophen", "oxycodone/acetaminophen"),
        ("I&D", "underwent I&D"),
        ("I&D", "I & D of an abscess"),
        ("diabetes mellitus type 2", "Diabetes mellitus, type 2"),
    ],
)
def test_a_name_is_found_in_its_spellings(name: str, text: str) -> None:
    assert len(found(trie_of(name), text)) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("chest pain", "chest\n\npain"),
        ("chest pain", "chest. Pain"),
        ("chest pain", "chest (pain)"),
        ("chest pain", "chest\n- pain"),
        ("cough fever", "cough, fever"),
        ("cough fever", "cough & fever"),
        ("pain", "painting"),
        ("renal failure", "adrenal failure"),
    ],
)
def test_a_name_does_not_cross_words_or_sentences(name: str, text: str) -> None:
    assert found(trie_of(name), text) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("lisinopril20mg daily", ["lisinopril"]),
        ("LisinoprilXL daily, HumaLISINOPRIL", ["Lisinopril"]),
        ("HCTZ25, toprol", ["HCTZ"]),
        ("COVID19, Covid 19", ["COVID19", "Covid 19"]),
        ("lisINOPRIL is known", ["lisINOPRIL"]),
        ("B12x, iron2", ["iron"]),
        ("ironman, unknown10", []),
    ],
)
def test_a_name_is_read_apart_from_a_number_or_two_capitals_at_its_end(text: str, names: list[str]) -> None:
    assert found(trie_of("lisinopril", "HCTZ", "B", "iron", "COVID-19"), text) == names


def test_the_longest_name_wins() -> None:
    trie = trie_of("heart", "heart failure", "failure", "acute heart failure with shock")
    assert found(trie, "acute heart failure with edema, heart") == ["heart failure", "heart"]


def test_letters_decide_where_a_name_asks_for_capitals() -> None:
    assert found(trie_of("AIDS", case=CASE_UPPER), "hearing aids, AIDS, Aids") == ["AIDS"]
    assert found(trie_of("Ensure", case=CASE_CAPITAL), "to ensure; Ensure") == ["Ensure"]
    assert found(trie_of("DVT", case=CASE_UPPER), "two DVTs") == ["DVTs"]
    figures = trie_of("D50", "COVID-19", case=CASE_UPPER)
    assert found(figures, "D50, d50, COVID-19, Covid-19, 19") == ["D50", "COVID-19"]


def test_offsets_count_code_points() -> None:
    text = "𝛽-blocker “fever” é pain"
    assert found(trie_of("pain", "fever"), text) == ["fever", "pain"]


def test_a_saved_trie_finds_the_same(tmp_path: Path) -> None:
    trie = trie_of("chest pain", "fever")
    save_arrays(tmp_path, "trie", trie._asdict())
    assert found(Trie(*mapped(tmp_path, "trie", Trie._fields)), "fever and chest pain") == ["fever", "chest pain"]


def test_an_empty_text_and_an_empty_trie_are_allowed() -> None:
    assert found(trie_of("fever"), "") == []
    assert found(trie_of(), "fever") == []


WORDS = st.sampled_from(["ab", "cd", "efg", "hij", "zz"])
PHRASES = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)


@settings(deadline=None)
@given(st.lists(PHRASES, min_size=1, max_size=8), st.lists(WORDS, max_size=25))
def test_the_trie_agrees_with_a_plain_search(names: list[str], words: list[str]) -> None:
    known = {tuple(name.split()) for name in names}
    expected, start = [], 0
    while start < len(words):
        lengths = [n for n in (3, 2, 1) if tuple(words[start : start + n]) in known and start + n <= len(words)]
        expected += [" ".join(words[start : start + lengths[0]])] if lengths else []
        start += lengths[0] if lengths else 1
    assert found(trie_of(*names), " ".join(words)) == expected


@given(st.text(max_size=200))
def test_tokens_are_in_order_and_inside_the_text(text: str) -> None:
    tokens = tokenise(codes_of(text))
    assert (tokens.begin < tokens.end).all()
    assert (tokens.begin[1:] >= tokens.end[:-1]).all()
    assert all(text[b:e].strip() == text[b:e] for b, e in zip(tokens.begin, tokens.end, strict=True))
