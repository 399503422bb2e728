"""What nobody can say in other words is an error where nobody said it; weaker evidence is no error, and no level 1."""

from __future__ import annotations

import pytest

from builders.medval.items import Judgement
from builders.medval.judge.check_drugs import drugs
from builders.medval.judge.comparison import Comparison
from builders.medval.judge.evidence import tells
from builders.medval.judge.unheard import unheard
from builders.texts.origin import Refusal
from tests.builders.medval.rules_world import Engine, item

SAID = (
    "[doctor] how have you been ?\n[patient] my left knee hurts . it started six weeks ago .\n"
    "[doctor] your pressure is one thirty two over eighty , a one c eight two .\n"
    "[patient] i take lisinopril twenty milligrams twice a day . my father had diabetes .\n"
    "[doctor] any allergies ?\n[patient] i am allergic to penicillin .\n"
)
NOTE = (
    "The left knee hurts for 6 weeks. BP 132/80, A1c 8.2. Lisinopril 20 mg twice daily. Father had diabetes. "
    "Allergic to penicillin."
)


def _kinds(rules: Engine, note: str) -> list[str]:
    return [one.evidence for one in unheard(Comparison("dialogue2note", SAID, note, rules.validator.knowledge))]


def test_what_a_conversation_says_in_other_words_is_heard(rules: Engine) -> None:
    assert _kinds(rules, NOTE) == []


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("6 weeks", "11 weeks", "time, unheard"),
        ("6 weeks", "7 wks", "time, near"),
        ("132/80", "182/80", "pressure, unheard"),
        ("8.2", "9.7", "decimal, unheard"),
        ("20 mg", "40 mg", "amount, unheard"),
        ("twice daily", "four times daily", "frequency, unheard"),
        ("left", "right", "side, unheard"),
        ("Father", "Sister", "relative, unheard"),
        ("Allergic to penicillin.", "", "allergy, left out"),
    ],
)
def test_what_nobody_said_is_named_by_its_kind(rules: Engine, before: str, after: str, kind: str) -> None:
    assert before in NOTE
    assert set(_kinds(rules, NOTE.replace(before, after))) == {kind}


def test_the_amount_of_a_strange_drug_does_not_name_the_drug(rules: Engine) -> None:
    quotes = []
    for drug in ("Lisinopril", "Metformin"):
        note = NOTE.replace("Lisinopril 20 mg", f"{drug} 35 mg")
        found = unheard(Comparison("dialogue2note", SAID, note, rules.validator.knowledge))
        quotes += [one.quote for one in found if one.evidence == "amount, unheard"]
    assert quotes == ["Lisinopril 35 mg", "35 mg"]


def test_an_assessment_alone_leaves_out_no_allergy(rules: Engine) -> None:
    assert _kinds(rules, f"ASSESSMENT\n{NOTE.replace('Allergic to penicillin.', '')}") == []


@pytest.mark.parametrize(
    ("said", "note", "kind"),
    [
        ("wait thirty to sixty minutes before coffee", "Wait 1 hour before coffee.", "time, unheard"),
        ("last year it was the other foot, not the right one", "Previously the left foot.", "side, unheard"),
        ("i take omeprazole . \n[doctor] any allergies ?\n[patient] plasters", "Dyspepsia.", "allergy, left out"),
    ],
)
def test_what_is_said_in_another_unit_or_of_another_thing_is_no_evidence(
    rules: Engine, said: str, note: str, kind: str
) -> None:
    compared = Comparison("dialogue2note", f"[doctor] hello\n[patient] {said}", note, rules.validator.knowledge)
    assert kind not in {one.evidence for one in unheard(compared)}


def test_evidence_that_faithful_notes_give_too_is_no_error(rules: Engine) -> None:
    assert not tells("grade, another")
    assert not tells("a kind that was never measured")
    assert tells("")
    spoken = item("dialogue2note", SAID, None)
    mild = "His father had mild diabetes. He is allergic to penicillin."
    assert rules.validator.judge([spoken], [mild]) == [Refusal("not_read")]


def test_what_people_call_a_drug_is_its_name_in_part(rules: Engine) -> None:
    kinds = []
    for said in ("i take a blood thinner", "i take nothing else", "i swallow an oral tablet"):
        c = Comparison("dialogue2note", f"{SAID}[patient] {said} .\n", "Takes warfarin.", rules.validator.knowledge)
        kinds += [one.evidence for one in drugs(c)]
    assert kinds == ["drug, said in part", "drug, unheard", "drug, unheard"]


def test_an_allergy_that_was_only_asked_for_is_not_left_out(rules: Engine) -> None:
    asked = "[doctor] any allergy to penicillin ?\n[patient] no .\n[doctor] good .\n"
    found = unheard(Comparison("dialogue2note", asked, "She is well today.", rules.validator.knowledge))
    assert [one.evidence for one in found] == []


def test_a_wrong_dose_is_found_among_many_claims(rules: Engine) -> None:
    judged = rules.validator.judge([item("dialogue2note", SAID, None)], [NOTE.replace("20 mg", "40 mg")])[0]
    assert isinstance(judged, Judgement)
    assert judged.risk_level >= 3
