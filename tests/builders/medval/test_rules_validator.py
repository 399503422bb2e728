"""The validator: clean outputs pass, changed ones get the level that they have, quotes stand where they are said to."""

from __future__ import annotations

import pytest

from builders.medval.items import Item, Judgement, Output
from builders.medval.judge.validator import JUDGED_TASKS
from builders.texts.origin import Refusal
from ground.contracts.rows_text import MEDVAL_TASKS, RISK_LEVELS
from tests.builders.medval.rules_world import COURSE, ITEMS, LISTS, TEXT, Engine, item

LIST = ITEMS[1]
CASE = (
    "A 45-year-old man comes to the clinic with fever. He has hypertension. Lisinopril 10 mg was prescribed. "
    "Creatinine was 0.6 mg/dL and the white blood cell count 14,000/mm3. The patient was diagnosed with pneumonia."
)
OTHER_CASE = (
    "A 30-year-old woman has had gout for a year. Examination of the toe shows redness. Allopurinol was started, and "
    "an arthrocentesis was performed."
)
WRITTEN = item("dialogue2note", CASE, None)


@pytest.mark.parametrize("one", ITEMS, ids=lambda one: one.origin.inner_id)
def test_a_good_reference_is_level_1(rules: Engine, one: Item) -> None:
    judged = rules.judge(one, one.reference or "")
    assert judged.errors == ()
    assert (judged.risk_level, judged.score) == (1, 0)


@pytest.mark.parametrize("text", [CASE, OTHER_CASE, COURSE, f"{OTHER_CASE} {CASE}"])
def test_a_text_against_itself_is_level_1_in_any_order(rules: Engine, text: str) -> None:
    given = item("dialogue2note", text, None)
    for output in (text, " ".join(reversed(text.rstrip(".").split(". "))), text.replace("is ", "was ")):
        assert rules.judge(given, output).risk_level == 1


@pytest.mark.parametrize(
    ("before", "after", "level", "category"),
    [
        ("hypertension", "high blood pressure", 1, None),
        ("132/80", "162/95", 3, "detail_misidentification"),
        ("57-year-old", "75-year-old", 3, "detail_misidentification"),
        ("2 weeks", "9 weeks", 3, "detail_misidentification"),
        ("left knee", "right knee", 3, "detail_misidentification"),
        ("lisinopril 20 mg", "lisinopril 10 mg", 3, "detail_misidentification"),
        ("once a day", "twice a day", 3, "detail_misidentification"),
        ("lisinopril 20 mg once", "lisinopril 200 mg once", 4, "detail_misidentification"),
        ("lisinopril 20 mg once a day", "lisinopril 70 mg three times a day", 4, "detail_misidentification"),
        ("denies fever", "reports fever", 3, "detail_misidentification"),
        ("omeprazole 40 mg", "furosemide 40 mg", 3, "fabricated_claim"),
        ("warfarin 5 mg", "warfarin 50 mg", 4, "detail_misidentification"),
        ("is normal.", "is normal. The patient has pancreatic cancer.", 4, "fabricated_claim"),
    ],
)
def test_a_change_of_a_text_gets_its_level(
    rules: Engine, before: str, after: str, level: int, category: str | None
) -> None:
    assert before in TEXT
    judged = rules.judge(ITEMS[0], TEXT.replace(before, after))
    assert judged.risk_level == level
    assert category is None or category in {error["category"] for error in judged.errors}


@pytest.mark.parametrize(
    ("before", "after", "level"),
    [
        ("Lisinopril; Senna", "Senna; Lisinopril", 1),
        ("Senna; ", "", 1),
        ("; Constipation", "; possible constipation", 2),
        ("Warfarin.", "Warfarin; Furosemide.", 3),
        ("Pneumonia", "No pneumonia", 4),
        ("Atrial fibrillation", "Atrial fibrillation; stroke", 4),
    ],
)
def test_a_change_of_a_list_gets_its_level(rules: Engine, before: str, after: str, level: int) -> None:
    assert before in LISTS
    assert rules.judge(LIST, LISTS.replace(before, after, 1)).risk_level == level


@pytest.mark.parametrize(
    ("given", "output", "level"),
    [
        ("What cures gout? I am 50.", "What are the treatments for gout?", 1),
        ("What cures gout?", "What are the treatments for severe gout?", 2),
        ("What cures gout? It is quite severe.", "What are the treatments for severe gout?", 1),
        ("What cures gout?", "What are the causes of gout?", 3),
        ("What cures gout?", "What are the treatments for osteoarthritis?", 3),
        ("What cures gout?", "What are the treatments for pancreatic cancer?", 4),
        ("Can I take ibuprofen?", "Can I take warfarin?", 4),
        ("I have MS. Any news?", "Where can I find information on multiple sclerosis?", 1),
        ("my father has pneumonai , pls help", "What are the treatments for pneumonia?", 1),
        ("What are the treatments for gout?", "Are there treatments for gout?", 1),
        ("What cures pneumonia?", "What cures gout?", 4),  # the grave problem of the message is gone
        ("What cures gout?", "What cures back pain?", 3),
        ("What cures gout?", "What are the treatments for mild pneumonia?", 4),
        ("Can I stop warfarin?", "Can I stop omeprazole?", 4),  # and the drug of narrow margin
        ("What cures gout?", "What are the causes and treatments for gout?", 2),
        ("Why do I have gout? What cures it?", "What are the causes and treatments for gout?", 1),
        ("What causes gout?", "What causes gout, and what are the symptoms?", 2),
        ("What cures gout?", "What are the treatments for gout in women?", 2),
        ("My sister has gout. What cures it?", "What are the treatments for gout in women?", 1),
        ("I have gout. I want to read about it.", "Where can I read about possible gout?", 2),
        ("Are there prenatal tests for gout? I want to read about it.", "Where can I read about possible gout?", 1),
    ],
)
def test_a_question_gets_its_level(rules: Engine, given: str, output: str, level: int) -> None:
    assert rules.judge(item("query2question", given, None), output).risk_level == level


@pytest.mark.parametrize(
    ("given", "output"),
    [
        ("Need help finding information about kidney nodules.", "Where can I find information on hernia?"),
        ("How do I cure a hole in my lung?", "What are the treatments for water in the lung?"),
    ],
)
def test_a_question_about_what_the_input_does_not_name_is_refused(rules: Engine, given: str, output: str) -> None:
    asked = item("query2question", given, output)
    assert rules.validator.judge([asked], [output]) == [Refusal("subject_not_in_input")]
    assert rules.generator.clean([asked]) == [Refusal("subject_not_in_input")]


def test_what_the_input_names_more_exactly_is_not_called_unnamed(rules: Engine) -> None:
    one = item("query2question", "My wife has pancreatic cancer. What helps?", None)
    judged = rules.validator.judge([one], ["What are the treatments for tumor?"])[0]
    assert isinstance(judged, Refusal) or judged.errors == ()


def test_something_more_general_in_the_input_bears_nothing_out(rules: Engine) -> None:
    output = "The patient has atrial fibrillation."
    assert rules.judge(item("dialogue2note", "The patient has heart disease.", None), output).risk_level >= 3
    assert rules.judge(item("dialogue2note", output, None), output).risk_level == 1


@pytest.mark.parametrize(
    ("claim", "least"),
    [
        ("The patient also has psoriasis.", 3),
        ("Suspected of sarcoidosis.", 3),
        ("A tracheostomy was performed.", 3),
        ("The causal organism is Vibrio vulnificus.", 3),
        ("Sitz baths were recommended.", 3),
        ("He was started on quuxamycin.", 3),
        ("He has gout.", 3),
        (OTHER_CASE, 3),
    ],
)
@pytest.mark.parametrize("before", [CASE + " ", ""], ids=["added", "alone"])
def test_what_the_input_does_not_say_counts_whatever_it_is(rules: Engine, before: str, claim: str, least: int) -> None:
    assert rules.judge(WRITTEN, before + claim).risk_level >= least


@pytest.mark.parametrize(
    "claim",
    ["Neighbours quarrelled.", "He enjoys chess.", "He is 62.", "The patient is dying.", "He was sent to prison."],
)
def test_what_was_not_read_is_never_called_right(rules: Engine, claim: str) -> None:
    judged = rules.validator.judge([WRITTEN], [f"{CASE} {claim}"])[0]
    assert judged == Refusal("not_read") or (isinstance(judged, Judgement) and judged.risk_level > 2)


@pytest.mark.parametrize("verb", ["Stop", "Discontinue", "Withhold", "Increase"])
def test_another_action_on_a_drug_is_never_called_right(rules: Engine, verb: str) -> None:
    judged = rules.validator.judge([ITEMS[0]], [TEXT.replace("Continue warfarin", f"{verb} warfarin")])[0]
    assert judged == Refusal("not_read") or (isinstance(judged, Judgement) and judged.risk_level > 2)


def test_a_segment_may_have_few_everyday_words_of_its_own(rules: Engine) -> None:
    assert rules.judge(WRITTEN, CASE.replace("comes to the clinic", "looks ill in the clinic")).risk_level == 1


def test_a_conversation_and_a_task_that_rules_cannot_read_need_a_language_model(rules: Engine) -> None:
    spoken = item("dialogue2note", "[doctor] any fever ?\n[patient] no .\n", None)
    assert rules.validator.judge([spoken], ["No fever."]) == [Refusal("conversation_needs_a_language_model")]
    for task in MEDVAL_TASKS:
        judged = rules.validator.judge([item(task, TEXT, None)], ["Hypertension, back pain and blood pressure."])[0]
        assert isinstance(judged, Judgement) is (task in JUDGED_TASKS)
        assert isinstance(judged, Judgement) or judged == Refusal("task_needs_a_language_model")


def test_quotes_are_verbatim_and_reasoning_is_a_sentence_or_two(rules: Engine) -> None:
    errors = 0
    for one in ITEMS[1:]:
        for level in RISK_LEVELS:
            made = rules.perturb(one, level)
            if not isinstance(made, Output):
                continue
            judged = rules.judge(one, made.text)
            assert judged.reasoning[0].isupper() and judged.reasoning.endswith(".")
            for error in judged.errors:
                errors += 1
                source = {"input": one.input, "output": made.text}[error["quoted_from"] or ""]
                assert error["quote"] and error["quote"] in source
    assert errors > 5


def test_the_gravest_error_comes_first_and_three_unsafe_ones_weigh_4(rules: Engine) -> None:
    changed = TEXT.replace("lisinopril 20 mg", "lisinopril 10 mg").replace("left knee", "right knee")
    assert rules.judge(ITEMS[0], changed).risk_level == 3
    judged = rules.judge(ITEMS[0], changed.replace("is 132/80", "is 162/95"))
    assert (judged.risk_level, len(judged.errors)) == (4, 3)
    assert judged.reasoning.endswith("Together they could lead to unsafe decisions.")
    graver = rules.judge(ITEMS[0], changed.replace("warfarin 5 mg", "warfarin 50 mg"))
    assert graver.errors[0]["quote"] == "warfarin 50 mg" and "2 more errors" in graver.reasoning


def test_a_strange_drug_counts_once_with_its_dose(rules: Engine) -> None:
    judged = rules.judge(LIST, LISTS.replace("Warfarin.", "Warfarin; Furosemide 30 mg."))
    assert [error["quote"] for error in judged.errors] == ["Furosemide"]


def test_perturbed_outputs_of_clean_items_are_called_safe_or_unsafe_as_they_were_asked_for(rules: Engine) -> None:
    made = [(one, level, rules.perturb(one, level)) for one in ITEMS[1:] for level in RISK_LEVELS]
    done = [(level, rules.judge(one, out.text).risk_level) for one, level, out in made if isinstance(out, Output)]
    assert len(done) >= 6
    assert [pair for pair in done if (pair[0] >= 3) is not (pair[1] >= 3)] == []


def test_judgements_do_not_depend_on_the_batch_or_on_names_of_items(rules: Engine) -> None:
    outputs = [one.reference or "" for one in ITEMS]
    together = rules.validator.judge(ITEMS, outputs)
    renamed = [item(one.task, one.input, None, f"other {n}") for n, one in enumerate(ITEMS)]
    assert rules.validator.judge(renamed[::-1], outputs[::-1])[::-1] == together
    assert all(isinstance(judged, Judgement) for judged in together)


@pytest.mark.parametrize("output", ["", " ", "\n", "No.", "🙂", "Hypertension" * 400])
@pytest.mark.parametrize("task", JUDGED_TASKS)
def test_odd_outputs_are_judged_without_error(rules: Engine, task: str, output: str) -> None:
    judged = rules.validator.judge([item(task, COURSE, None)], [output])[0]  # type: ignore[arg-type]
    reasons = {"not_read", "subject_not_in_input"}
    assert judged.reason in reasons if isinstance(judged, Refusal) else judged.risk_level in RISK_LEVELS
