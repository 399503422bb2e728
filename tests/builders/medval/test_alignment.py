"""What qualifies a claim of a note must be said beside it: words of the conversation, exchanged, are not level 1."""

from __future__ import annotations

import pytest

from builders.medval.items import Judgement
from builders.medval.judge.alignment import Alignment
from builders.medval.judge.comparison import Comparison
from builders.medval.judge.denials import Denials
from builders.medval.judge.tables import words
from builders.medval.judge.wording import claim_words, known
from tests.builders.medval.rules_world import CHAT, TOLD, Engine, item

KNEES = (
    "[doctor] so your left knee has been swollen since the fall ?\n[patient] yes , the left knee .\n"
    "[doctor] and your right shoulder , is it still painful ?\n[patient] yes , the right shoulder is painful .\n"
)
FAMILY = (
    "[doctor] did anybody have diabetes ?\n[patient] my mother has diabetes .\n"
    + "[doctor] okay , let me write this down in your chart before we go on with the rest of the visit .\n"
    "[patient] sure , take the time you need , i have nothing else planned for the whole morning anyway .\n"
    * 2
    + "[patient] and my brother has gout .\n"
)
DRUGS = (
    "[doctor] you take omeprazole 40 milligrams every morning ?\n[patient] yes .\n"
    "[doctor] please keep taking the omeprazole .\n"
    + "[doctor] okay , let me write this down in your chart before we go on with the rest of the visit .\n"
    "[patient] sure , take the time you need , i have nothing else planned for the whole morning anyway .\n"
    * 2
    + "[doctor] and lisinopril 20 milligrams every evening ?\n[patient] yes .\n[doctor] we will stop the lisinopril .\n"
)
PAIN = (
    "[doctor] how long have you had the back pain ?\n[patient] for three weeks , and it is severe .\n"
    + "[doctor] okay , let me write this down in your chart before we go on with the rest of the visit .\n"
    "[patient] sure , take the time you need , i have nothing else planned for the whole morning anyway .\n"
    * 2
    + "[patient] and my cough began five days ago , it is mild .\n"
    "[doctor] any fever ?\n[patient] no .\n[doctor] the cough is caused by the asthma .\n"
)


@pytest.mark.parametrize(
    ("given", "faithful", "exchanged"),
    [
        pytest.param(PAIN, "Back pain for three weeks.", "Back pain for five weeks.", id="number"),
        pytest.param(PAIN, "Back pain for three weeks.", "Back pain for three days.", id="unit"),
        pytest.param(DRUGS, "He takes omeprazole 40 mg.", "He takes omeprazole 20 mg.", id="dose"),
        pytest.param(KNEES, "The left knee is swollen.", "The right knee is swollen.", id="side"),
        pytest.param(FAMILY, "His mother has diabetes.", "His brother has diabetes.", id="person"),
        pytest.param(PAIN, "The back pain is severe.", "The back pain is mild.", id="grade"),
        pytest.param(DRUGS, "Continue omeprazole.", "Stop omeprazole.", id="action"),
        pytest.param(PAIN, "Cough due to asthma.", "Back pain due to asthma.", id="cause"),
        pytest.param(PAIN, "The patient denies fever.", "The patient reports fever.", id="denial"),
        pytest.param(PAIN, "The patient reports cough.", "The patient denies cough.", id="denied"),
    ],
)
def test_a_qualifier_of_something_else_is_not_level_1_and_its_faithful_twin_is(
    rules: Engine, given: str, faithful: str, exchanged: str
) -> None:
    spoken = item("dialogue2note", given + CHAT, None)
    assert rules.judge(spoken, faithful + TOLD).risk_level == 1
    judged = rules.validator.judge([spoken], [exchanged + TOLD])[0]
    assert not isinstance(judged, Judgement) or judged.risk_level > 1


def _comparison(rules: Engine, given: str, output: str) -> Comparison:
    return Comparison("dialogue2note", given, output, rules.validator.knowledge)


def test_a_denial_reaches_the_end_of_its_clause_and_an_answer_its_question(rules: Engine) -> None:
    c = _comparison(rules, PAIN, "No fever, but a cough.")
    denials = Denials(c)
    assert denials.ours(c.output.index("fever"), 0)
    assert not denials.ours(c.output.index("cough"), 0)
    fever, cough = c.given.lower.index("fever"), c.given.lower.index("cough")
    assert denials.differ([fever], ours=False)  # the answer denies it
    assert not denials.differ([fever], ours=True)
    assert not denials.differ([cough], ours=False)


ASKED = (
    "[doctor] you have no swelling in the wrist . is your stream weak , do you feel empty after ?\n[patient] no .\n"
    "[doctor] he is six years old . children are screened between ages nine and eleven .\n"
    "[doctor] take the thyroxine in the morning .\n"
    "[patient] it was my right elbow , wait , it is my left arm that hurts .\n"
)


def test_a_denial_ends_at_a_preposition_and_an_answer_is_to_the_last_question(rules: Engine) -> None:
    c = _comparison(rules, ASKED, "No swelling in the wrist.")
    said = c.given.lower.index
    assert c.output.lower().startswith("no swelling")
    assert Denials(c).differ([said("swelling")], ours=False)
    assert not Denials(c).differ([said("wrist")], ours=False)
    assert not Denials(c).differ([said("weak")], ours=False)
    assert Denials(c).differ([said("empty")], ours=False)


@pytest.mark.parametrize(
    "note",
    [
        "Children are screened at 9 to 11 years.",
        "Thyroxine once daily.",
        "The left arm hurts.",
        "A 6-year-old boy.",
        "Stream and elbow, both improved.",
    ],
)
def test_ages_once_a_day_and_a_side_in_its_own_words_are_said(rules: Engine, note: str) -> None:
    assert [*Alignment(_comparison(rules, ASKED, note)).unread()] == []


def test_a_number_that_is_no_age_bears_out_none_where_ages_are_said(rules: Engine) -> None:
    said = ASKED + "[doctor] do it 30 times .\n"
    note = "A 30-year-old patient, both elbows hurt."
    assert {kind for kind, _ in Alignment(_comparison(rules, said, note)).unread()} == {"age", "side"}
    assert "age" not in {kind for kind, _ in Alignment(_comparison(rules, KNEES, note)).unread()}


def test_an_answer_denies_all_that_one_question_names(rules: Engine) -> None:
    said = "[doctor] how about alcohol , do you drink ?\n[patient] no sir .\n"
    assert Denials(_comparison(rules, said, "No alcohol.")).differ([said.index("alcohol")], ours=False)


def test_a_word_is_known_in_its_forms_and_a_claim_is_told_by_its_beginning(rules: Engine) -> None:
    c = _comparison(rules, KNEES, "Swelling of the knees. Amputation.")
    assert known(c, "knees")
    assert not known(c, "amputation")
    assert not known(c, "x-ray")
    assert known(c, "swelling-free")
    assert all(claim_words().match(begin) for begin in words("claim") if begin.isalpha())


def test_a_name_that_a_conversation_does_not_have_is_compared_by_its_words(rules: Engine) -> None:
    c = _comparison(rules, "[doctor] any injury of the kidney ?\n[patient] no .\n", "Acute kidney injury.")
    [named] = c.made.problems()
    assert not c.given.like(named.family)
    assert ("denial", c.output.index("kidney")) in list(Alignment(c).unread())
