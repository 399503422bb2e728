"""Everyday words of a conversation bear out clinical ones of its note, and only of a conversation."""

from __future__ import annotations

import re

import pytest

from builders.medval.judge.comparison import Comparison
from builders.medval.judge.lay import COLUMNS, said_for
from builders.medval.judge.tables import DATA
from builders.medval.judge.wording import known, telling_words
from ground.storage.tables import read_table
from tests.builders.medval.rules_world import CHAT, TOLD, Engine, item

WALK = (
    "[doctor] are you walking without the cane ?\n[patient] yes , but i run out of breath on the stairs .\n"
    "[doctor] do you smoke or drink any alcohol , or use drugs ?\n[patient] nope .\n"
    "[doctor] take the tablet by mouth when you need it .\n"
)


def test_the_table_is_made_of_beginnings_that_come_once_and_expressions_that_can_be_read() -> None:
    rows = read_table(DATA / "lay_words.tsv", COLUMNS)
    assert {row["kind"] for row in rows} == {"word", "abbreviation", "name"}
    begins = [(row["kind"], begin) for row in rows for begin in row["clinical"].split("|")]
    assert len(set(begins)) == len(begins)
    assert not [begin for kind, begin in begins if kind == "word" and " " in begin]
    for row in rows:
        assert re.compile(rf"\b(?:{row['said']})").search("") is None, row
        if row["kind"] == "abbreviation":
            assert row["clinical"].isupper(), row
        else:
            assert re.fullmatch(r"[^()\[\]\\?*+]+", row["clinical"]), row


@pytest.mark.parametrize(
    ("clinical", "said"),
    [("Ambulating", "walk"), ("PRN", "need"), ("severe dyspnea", "breath"), ("tobacco use", "smok")],
)
def test_what_is_said_is_found_by_word_abbreviation_and_name(clinical: str, said: str) -> None:
    assert any(said in one for one in said_for(clinical))


@pytest.mark.parametrize("text", ["prn", "exambulating", "xyzzy", ""])
def test_nothing_is_said_for_parts_of_words_and_what_the_table_lacks(text: str) -> None:
    assert said_for(text) == ()


def test_only_what_somebody_says_is_read_in_everyday_words(rules: Engine) -> None:
    spoken = Comparison("dialogue2note", WALK, "Ambulating.", rules.validator.knowledge)
    written = Comparison("dialogue2note", "He is walking.", "Ambulating.", rules.validator.knowledge)
    assert known(spoken, "Ambulating")
    assert not known(written, "Ambulating")


@pytest.mark.parametrize("note", ["Ambulating without a cane.", "Nonsmoker.", "Tablet PO PRN."])
def test_a_note_in_clinical_words_is_borne_out(rules: Engine, note: str) -> None:
    assert rules.judge(item("dialogue2note", WALK + CHAT, None), note + TOLD).risk_level == 1


def test_nonsmoker_is_said_where_smoking_is_denied_only(rules: Engine) -> None:
    smokes = "[doctor] do you smoke ?\n[patient] yes , a pack a day .\n"
    for said, denied in ((WALK, True), (smokes, False), ("[doctor] hello .\n[patient] hi .\n", False)):
        assert known(Comparison("dialogue2note", said, "Nonsmoker.", rules.validator.knowledge), "Nonsmoker") is denied


def test_headings_say_nothing(rules: Engine) -> None:
    note = "REVIEW OF SYSTEMS\n\n- Ears, Nose and Throat: Walks. NEUROLOGIC: Walks.\nHe walks: slowly.\nAPHASIA again."
    c = Comparison("dialogue2note", WALK, note, rules.validator.knowledge)
    told = {match.group() for segment in telling_words(c) for match in segment}
    assert not told & {"REVIEW", "SYSTEMS", "Ears", "Nose", "Throat", "NEUROLOGIC"}
    assert {"Walks", "walks", "APHASIA"} <= told
