"""Edits of one sentence: what they change, and where they are refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.texts.edits import RULES, SentenceEdit, edits_of, ordered_edits
from builders.texts.edits.asserted import contradicts
from builders.texts.edits.elsewhere import stated_elsewhere
from builders.texts.edits.numbers import COUNT_COLUMNS
from builders.texts.edits.tables import cues, read_edit_table
from builders.texts.edits.words import COLUMNS


def texts(sentence: str, rule: str) -> set[str]:
    return {edit.text for edit in edits_of(sentence) if edit.rule == rule}


@pytest.mark.parametrize(
    ("rule", "sentence", "changed"),
    [
        ("antonym", "An increase in heart rate was seen.", "A decrease in heart rate was seen."),
        ("antonym", "The mass was benign.", "The mass was malignant."),
        ("antonym", "little is known about its cause.", "much is known about its cause."),
        ("antonym", "it plays an important role in growth.", "it plays a minor role in growth."),
        ("antonym", "an atp-dependent step was found.", "an atp-independent step was found."),
        ("antonym", "akirin genes are present in plants.", "akirin genes are absent from plants."),
        ("comparison", "Levels were HIGHER than in controls.", "Levels were LOWER than in controls."),
        ("comparison", "more than 25% of them died.", "less than 25% of them died."),
        ("laterality", "Left kidney was small.", "Right kidney was small."),
        ("laterality", "She has bilateral effusions.", "She has unilateral effusions."),
        ("laterality", "Pain in the RUQ.", "Pain in the LUQ."),
        ("intensity", "There is mild stenosis.", "There is severe stenosis."),
        ("negation_added", "x was detected in the liver.", "x was not detected in the liver."),
        ("negation_added", "x can be used in children.", "x cannot be used in children."),
        ("negation_added", "x has been shown to help.", "x has not been shown to help."),
        ("negation_removed", "x was not detected.", "x was detected."),
        ("negation_removed", "They do not differ here.", "They differ here."),
        ("negation_removed", "They showed no significant difference.", "They showed a significant difference."),
        ("negation_removed", "No differences were seen.", "Differences were seen."),
        ("negation_removed", "The patient denies chest pain.", "The patient reports chest pain."),
        ("negation_removed", "x cannot be excluded here.", "x can be excluded here."),
        ("number", "Two patients died.", "Five patients died."),
        ("number", "Five patients died.", "Two patients died."),
    ],
)  # fmt: skip
def test_an_edit_is_made_in_correct_english(rule: str, sentence: str, changed: str) -> None:
    assert changed in texts(sentence, rule)


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("antonym", "it was seen in high school students."),
        ("antonym", "true positive rates were given."),
        ("antonym", "the increase and the decrease were alike."),
        ("antonym", "acute respiratory distress syndrome was seen."),
        ("antonym", "the cyclin-dependent kinase was cloned."),
        ("antonym", "present studies are small-scale."),
        ("comparison", "higher plants have roots."),
        ("comparison", "he has no lower extremity edema."),
        ("comparison", "expression was higher in men and lower in women."),
        ("laterality", "That is the right answer."),
        ("laterality", "The patient left the hospital."),
        ("laterality", "Strength is equal in left and right arm."),
        ("negation_added", "some genes were detected in the liver."),
        ("negation_added", "a total of <dig> genes were detected."),
        ("negation_added", "x was detected in <dig> of <dig> samples."),
        ("negation_added", "the gene that was lost may return."),
        ("negation_added", "x was not detected."),
        ("negation_added", "was it detected?"),
        ("negation_added", "we show that x is safe."),
        ("negation_added", "x was isolated and characterized."),
        ("negation_added", "a problem of this kind is acquiring data."),
        ("negation_added", "the rate was lower, suggesting that x was detected."),
        ("negation_removed", "it is not only large."),
        ("negation_removed", "x did not show any effect."),
        ("negation_removed", "He does not smoke, drink or gamble."),
        ("negation_removed", "where x was not detected, y was."),
        ("negation_removed", "Denies any pain."),
        ("negation_removed", "43% of them were not ridden."),
        ("number", "It was published in 1998 and 2004."),
        ("number", "Patients with type 2 diabetes were seen."),
        ("number", "Between 20 and 30 mg were given."),
        ("number", "The range was 20-30 mg."),
        ("number", "p < 0.05 was significant, see table 3."),
        ("number", "The 95% CI was wide."),
        ("number", "80- <dig> db were needed."),
    ],
)
def test_an_edit_that_cannot_be_done_well_is_refused(rule: str, sentence: str) -> None:
    assert texts(sentence, rule) == set()


def test_a_changed_number_keeps_its_format_and_is_far_outside_rounding() -> None:
    cases = (("He lost 1.5 kg.", "1.5"), ("We gave 1,200 mg.", "1,200"), ("In all, 25% died.", "25"))
    for sentence, number in cases:
        edits = [edit for edit in edits_of(sentence) if edit.rule == "number"]
        assert edits
        for edit in edits:
            old, new = (float(text.replace(",", "")) for text in (edit.before, edit.after))
            assert edit.before == number and abs(old - new) >= 0.4 * old
            assert len(edit.after.partition(".")[2]) == len(number.partition(".")[2])


def test_percentages_stay_below_a_hundred_and_ages_human() -> None:
    shares = [edit.after for edit in edits_of("In all, 60% died.") if edit.rule == "number"]
    ages = [edit.after for edit in edits_of("A 57-year-old man came.") if edit.rule == "number"]
    assert shares and all(float(share) <= 100 for share in shares)
    assert ages and all(2 <= int(age) <= 95 for age in ages)


SENTENCES = [
    "Left kidney was small and the 57-year-old man takes 50 mg of x for 3 days without evidence of mild stenosis.",
    "we show that expression of x was significantly higher in patients than in controls.",
    "There was no significant difference, and an increase in heart rate was seen in more than 25% of patients.",
    "Denies chest pain. Findings suggestive of pneumonia; our results suggest that it plays an important role.",
]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SENTENCES), st.text(alphabet=" abc.,-12%<dig>\n", max_size=25))
def test_an_edit_says_exactly_what_it_changed_in_any_sentence(sentence: str, more: str) -> None:
    sentence += more
    for edit in edits_of(sentence):
        end = edit.begin + len(edit.before)
        assert sentence[edit.begin : end] == edit.before != edit.after
        assert edit.text == sentence[: edit.begin] + edit.after + sentence[end:]
        assert edit.rule in RULES


def test_edits_come_in_the_order_of_rules_and_places() -> None:
    edits = edits_of(SENTENCES[0])
    assert [(RULES.index(edit.rule), edit.begin) for edit in edits] == sorted(
        (RULES.index(edit.rule), edit.begin) for edit in edits
    )
    assert len({edit.rule for edit in edits}) >= 5


def test_the_order_depends_on_seed_and_key_only_and_keeps_to_the_rules() -> None:
    keys = [f"key {number}" for number in range(60)]
    orders = [ordered_edits(1, key, SENTENCES[0]) for key in keys]
    assert orders == [ordered_edits(1, key, SENTENCES[0]) for key in keys]
    assert len({order[0].rule for order in orders}) >= 5
    assert {edit.rule for key in keys for edit in ordered_edits(1, key, SENTENCES[0], ("number", "laterality"))} == {
        "number",
        "laterality",
    }
    assert ordered_edits(1, "key", "Nothing of note.", ("number",)) == []


def only(sentence: str, rule: str) -> SentenceEdit:
    [edit] = [edit for edit in edits_of(sentence) if edit.rule == rule]
    return edit


def test_an_opposite_contradicts_only_what_is_asserted() -> None:
    for sentence, expected in (
        ("the dose was higher in men.", True),
        ("the dose was not higher in men.", False),
        ("the dose may be higher in men.", False),
        ("we asked whether the dose was higher in men.", False),
        ("in some hospitals the dose was higher in men.", False),
        ("<dig> small hospitals had a higher dose in men.", False),
    ):
        assert contradicts(sentence, only(sentence, "comparison")) is expected


def test_a_change_that_the_text_states_elsewhere_is_found() -> None:
    sentence = "serum creatinine was markedly increased in treated diabetic rats."
    edit = only(sentence, "antonym")
    args = (edit.text, edit.before, edit.after, edit.begin)
    assert stated_elsewhere("in treated diabetic rats a decrease of serum creatinine was seen. they lived.", *args)
    assert not stated_elsewhere("body weight decreased slowly. treated diabetic rats had serum creatinine.", *args)


def test_every_row_of_the_word_table_has_a_source_and_words_in_lower_case() -> None:
    rows = read_edit_table("edit_words", COLUMNS)
    for row in rows:
        assert row["source"] and row["family"] and row["rule"] in RULES
        assert row["word"] == row["word"].lower() != row["opposite"] == row["opposite"].lower()
    assert len({(row["word"], row["opposite"]) for row in rows}) == len(rows)
    assert all(cues()[kind] for kind in ("side", "negative", "polarity", "quantifier", "open", "anaphor"))


def test_numbers_in_words_stand_for_each_other() -> None:
    """A number that edits put in and never take out would tell a changed sentence."""
    rows = [row for row in read_edit_table("edit_counts", COUNT_COLUMNS) if row["kind"] == "word"]
    said = [word for row in rows for word in (row["word"], row["other"])]
    assert len(said) == len(set(said))
    for row in rows:
        for word, other in ((row["word"], row["other"]), (row["other"], row["word"])):
            assert f"We saw {other} patients." in texts(f"We saw {word} patients.", "number")
