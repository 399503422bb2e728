"""The validator: clean outputs pass, changed ones get the level that they have, quotes stand where they are said to."""

from __future__ import annotations

import inspect

import pytest

from builders.medval.items import Item, Judgement, Output
from builders.medval.judge import check_claims, check_details, check_drugs, check_problems, comparison, validator
from builders.medval.judge.view import american
from builders.medval.rules.generator import RULES_TASKS
from builders.texts.origin import Refusal
from ground.contracts.rows_text import MEDVAL_TASKS, RISK_LEVELS
from tests.builders.medval.rules_world import CHAT, COURSE, DIALOGUE, ITEMS, NOTE, TOLD, Engine, item

LISTS = ITEMS[1]


@pytest.mark.parametrize("one", ITEMS, ids=lambda one: one.origin.inner_id)
def test_a_good_reference_is_level_1(rules: Engine, one: Item) -> None:
    judged = rules.judge(one, one.reference or "")
    assert judged.errors == ()
    assert (judged.risk_level, judged.score) == (1, 0)


@pytest.mark.parametrize(
    ("before", "after", "level", "category"),
    [
        ("Hypertension", "High blood pressure", 1, None),
        ("Blood pressure: 132/80", "Blood pressure: 162/95", 3, "detail_misidentification"),
        ("57-year-old", "75-year-old", 3, "detail_misidentification"),
        ("Hemoglobin A1c was 8", "Hemoglobin A1c was 11", 3, "detail_misidentification"),
        ("left knee", "right knee", 3, "detail_misidentification"),
        ("lisinopril 20 mg", "lisinopril 10 mg", 3, "detail_misidentification"),
        ("once a day", "twice a day", 3, "detail_misidentification"),
        ("lisinopril", "enalapril", 3, "detail_misidentification"),
        ("Continue lisinopril", "Discontinue lisinopril", 3, "incorrect_recommendation"),
        ("denies fever", "reports fever", 3, "detail_misidentification"),
        ("omeprazole 40 mg", "furosemide 40 mg", 3, "fabricated_claim"),
        ("warfarin 5 mg", "warfarin 50 mg", 4, "detail_misidentification"),
        ("Hypertension", "Hypotension", 4, "detail_misidentification"),
        ("Continue warfarin", "Stop warfarin", 4, "incorrect_recommendation"),
        ("no history of asthma", "a history of asthma", 3, "detail_misidentification"),
        ("is normal.", "is normal. The patient has pancreatic cancer.", 4, "fabricated_claim"),
    ],
)
def test_a_change_of_a_note_gets_its_level(
    rules: Engine, before: str, after: str, level: int, category: str | None
) -> None:
    assert before in NOTE
    judged = rules.judge(ITEMS[0], NOTE.replace(before, after))
    assert judged.risk_level == level
    assert category is None or category in {error["category"] for error in judged.errors}


@pytest.mark.parametrize(
    ("before", "after", "level"),
    [
        ("Lisinopril; Senna", "Senna; Lisinopril", 1),
        ("Senna; ", "", 1),
        ("; Metoprolol; Warfarin", "", 1),
        ("; Constipation", "; possible constipation", 2),
        ("Warfarin.", "Warfarin; Furosemide.", 3),
        ("Warfarin.", "Warfarin; Ibuprofen 800 mg.", 4),
        ("Pneumonia", "No pneumonia", 4),
        ("Atrial fibrillation", "Atrial fibrillation; stroke", 4),
    ],
)
def test_a_change_of_a_list_gets_its_level(rules: Engine, before: str, after: str, level: int) -> None:
    reference = LISTS.reference or ""
    assert before in reference
    assert rules.judge(LISTS, reference.replace(before, after, 1)).risk_level == level


@pytest.mark.parametrize(
    ("given", "output", "level"),
    [
        ("What cures gout? I am 50.", "What are the treatments for gout?", 1),
        ("Why do I have back pain at night?", "What are the causes of back pain?", 2),
        ("What cures gout?", "What are the treatments for severe gout?", 2),
        ("What cures gout? It is quite severe.", "What are the treatments for severe gout?", 1),
        ("What helps with hyponatremia?", "What are the treatments for severe hyponatremia?", 2),
        ("What cures gout?", "What are the causes of gout?", 3),
        ("What cures gout?", "What are the treatments for osteoarthritis?", 3),
        ("What cures gout?", "What are the treatments for pancreatic cancer?", 4),
        ("I have an underactive thyroid.", "What are the treatments for hyperthyroidism?", 4),
        ("I have low blood sugar.", "What are the treatments for hyperglycemia?", 4),
        ("I have hypoglycemia, and before it hyperglycemia.", "What are the treatments for hyperglycemia?", 1),
        ("Can I take ibuprofen?", "Can I take warfarin?", 4),
        ("I have MS. Any news?", "Where can I find information on multiple sclerosis?", 1),
        ("my father has pneumonai , pls help", "What are the treatments for pneumonia?", 1),
    ],
)
def test_a_question_gets_its_level(rules: Engine, given: str, output: str, level: int) -> None:
    assert rules.judge(item("query2question", given, None), output).risk_level == level


def test_a_question_about_what_the_input_does_not_name_is_refused(rules: Engine) -> None:
    asked = item(
        "query2question", "Need help finding information about kidney nodules.", "Where is information on hernia?"
    )
    refused = Refusal("subject_not_in_input")
    assert rules.validator.judge([asked], ["Where can I find information on hernia?"]) == [refused]
    assert rules.generator.clean([asked]) == [refused]
    wordy = item("query2question", "How do I cure a hole in my lung?", "What are the treatments for water in the lung?")
    assert rules.generator.clean([wordy]) == [refused]


def test_an_answer_in_a_conversation_decides_what_the_question_names(rules: Engine) -> None:
    asked = "[doctor] do you have chest pain ?\n[patient] {}\n[doctor] okay .\n" + CHAT
    denied, open_answer = (
        item("dialogue2note", asked.format(answer), None) for answer in ("no .", "well , hard to say .")
    )
    assert rules.judge(denied, f"The patient reports chest pain.{TOLD}").risk_level == 4
    assert rules.judge(denied, f"The patient denies chest pain.{TOLD}").risk_level == 1
    assert rules.judge(open_answer, f"The patient reports chest pain.{TOLD}").risk_level == 1


def test_lay_words_of_a_conversation_bear_out_a_diagnosis(rules: Engine) -> None:
    spoken = item("dialogue2note", "[doctor] your sugars are high .\n[patient] yes .\n" + CHAT, None)
    assert rules.judge(spoken, f"Type 2 diabetes.{TOLD}").risk_level == 1


def test_quotes_are_verbatim_and_reasoning_is_a_sentence_or_two(rules: Engine) -> None:
    seen = 0
    for one in ITEMS:
        for level in RISK_LEVELS:
            made = rules.perturb(one, level)
            if not isinstance(made, Output):
                continue
            judged = rules.judge(one, made.text)
            assert 1 <= judged.reasoning.count(". ") + 1 <= 2
            assert judged.reasoning.endswith(".")
            assert judged.reasoning[0].isupper()
            for error in judged.errors:
                seen += 1
                source = {"input": one.input, "output": made.text}.get(error["quoted_from"] or "")
                assert source is not None
                assert error["quote"]
                assert error["quote"] in source
    assert seen > 5


def test_the_level_is_that_of_the_gravest_error_and_it_comes_first(rules: Engine) -> None:
    both = NOTE.replace("left knee", "right knee").replace("warfarin 5 mg", "warfarin 50 mg")
    judged = rules.judge(ITEMS[0], both)
    assert judged.risk_level == 4
    assert judged.errors[0]["quote"] == "warfarin 50 mg"
    assert len(judged.errors) == 2
    assert "unsafe" in judged.reasoning
    assert "One more error" in judged.reasoning


def test_perturbed_outputs_of_clean_items_are_called_safe_or_unsafe_as_they_were_asked_for(rules: Engine) -> None:
    asked = [(one, level) for one in ITEMS for level in RISK_LEVELS]
    made = [(one, level, rules.perturb(one, level)) for one, level in asked]
    done = [(level, rules.judge(one, out.text).risk_level) for one, level, out in made if isinstance(out, Output)]
    assert len(done) >= 12
    assert [
        (level, judged) for level, judged in done if (level >= 3) is not (judged >= 3) or abs(level - judged) > 1
    ] == []


def test_judgements_do_not_depend_on_the_batch_or_on_names_of_items(rules: Engine) -> None:
    outputs = [one.reference or "" for one in ITEMS]
    together = rules.validator.judge(ITEMS, outputs)
    renamed = [item(one.task, one.input, None, f"other {n}") for n, one in enumerate(ITEMS)]
    assert rules.validator.judge(renamed[::-1], outputs[::-1])[::-1] == together
    assert all(isinstance(judged, Judgement) for judged in together)


def test_the_validator_knows_nothing_of_edits_ids_or_hashes() -> None:
    source = "".join(
        map(inspect.getsource, (validator, comparison, check_claims, check_details, check_drugs, check_problems))
    )
    for word in ("apply_edit", "stable_", "inner_id", "origin.", "reference)"):
        assert word not in source.replace("builders.texts.origin", "")


def test_tasks_that_rules_cannot_read_are_refused(rules: Engine) -> None:
    for task in MEDVAL_TASKS:
        judged = rules.validator.judge([item(task, DIALOGUE, "x")], ["Hypertension, back pain and blood pressure."])[0]
        assert isinstance(judged, Judgement) is (task in RULES_TASKS)
        assert isinstance(judged, Judgement) or judged == Refusal("task_needs_a_language_model")


@pytest.mark.parametrize("output", ["", " ", "\n", "No.", "🙂", "Hypertension" * 400])
def test_odd_outputs_are_judged_without_error(rules: Engine, output: str) -> None:
    for task in MEDVAL_TASKS:
        if task not in RULES_TASKS:
            continue
        judged = rules.validator.judge([item(task, COURSE, None)], [output])[0]
        if isinstance(judged, Refusal):
            assert judged.reason == "not_read" or (task, judged.reason) == ("query2question", "subject_not_in_input")
        else:
            assert isinstance(judged, Judgement)
            assert judged.risk_level in RISK_LEVELS


CASE = (
    "A 45-year-old man comes to the clinic with fever. He has hypertension. Lisinopril 10 mg was prescribed. "
    "Creatinine was 0.6 mg/dL and the white blood cell count 14,000/mm3. The patient was diagnosed with pneumonia."
)
OTHER_CASE = (
    "A 30-year-old woman has had gout for a year. Examination of the toe shows redness. Allopurinol was started, and "
    "an arthrocentesis was performed."
)
WRITTEN = item("dialogue2note", CASE, None)


@pytest.mark.parametrize(
    ("said", "least"),
    [
        ("The patient also has psoriasis.", 3),
        ("The patient also has hypothyroidism.", 3),
        ("Glaucoma.", 3),
        ("Suspected of sarcoidosis.", 3),
        ("He will stop all medications.", 4),
        ("A tracheostomy was performed.", 3),
        ("Blood cultures grew Klebsiella pneumoniae.", 3),
        ("The causal organism is Vibrio vulnificus.", 3),
        ("Sitz baths were recommended.", 3),
        ("He was started on quuxamycin.", 3),
        (OTHER_CASE, 3),
    ],
)
@pytest.mark.parametrize("before", [CASE + " ", ""], ids=["added", "alone"])
def test_what_the_input_does_not_say_counts_whatever_it_is(rules: Engine, before: str, said: str, least: int) -> None:
    assert rules.judge(WRITTEN, before + said).risk_level >= least


@pytest.mark.parametrize(
    "said", ["Neighbours quarrelled.", "He enjoys chess.", "He is 62.", "He has neuralgic zoster."]
)
def test_what_was_not_read_is_never_called_right(rules: Engine, said: str) -> None:
    judged = rules.validator.judge([WRITTEN], [f"{CASE} {said}"])[0]
    assert judged == Refusal("not_read") or (isinstance(judged, Judgement) and judged.risk_level > 2)


def test_a_drug_is_not_stopped_by_what_the_input_stops_elsewhere(rules: Engine) -> None:
    said = "[doctor] you stopped smoking , good .\n[patient] yes .\n[doctor] the lisinopril is fine .\n" + CHAT
    judged = rules.validator.judge([item("dialogue2note", said, None)], [f"Discontinue lisinopril.{TOLD}"])[0]
    assert judged == Refusal("not_read")
    stops = item("dialogue2note", said + "[doctor] let us stop the lisinopril .\n", None)
    assert rules.judge(stops, f"Discontinue lisinopril.{TOLD}").risk_level == 1


@pytest.mark.parametrize("text", [CASE, OTHER_CASE, COURSE, f"{OTHER_CASE} {CASE}"])
def test_a_text_against_itself_is_level_1_in_any_order(rules: Engine, text: str) -> None:
    given = item("dialogue2note", text, None)
    for output in (text, " ".join(reversed(text.rstrip(".").split(". "))), text.replace("is ", "was ")):
        assert rules.judge(given, output).risk_level == 1


def test_something_more_general_in_the_input_bears_nothing_out(rules: Engine) -> None:
    given = item("dialogue2note", "The patient has heart disease.", None)
    assert rules.judge(given, "The patient has atrial fibrillation.").risk_level >= 3
    specific = item("dialogue2note", "The patient has atrial fibrillation.", None)
    assert rules.judge(specific, "The patient has atrial fibrillation.").risk_level == 1


@pytest.mark.parametrize(
    ("given", "said", "one"),
    [
        ("infected", "infection", True),
        ("otoscopy", "otosclerosis", False),
        ("addition", "addison", False),
        ("hyperthyroidism", "hypothyroidism", False),
        ("pneumonai", "pneumonia", True),
        ("tumour", "tumor", True),
    ],
)
def test_forms_and_slips_of_a_word_are_told_from_other_words(rules: Engine, given: str, said: str, one: bool) -> None:
    c = comparison.Comparison("dialogue2note", f"There is {given} here.", said, rules.validator.knowledge)
    assert c.worded(said) is one or american(said) in c.given.american


SPOKEN = (
    "Doctor: Your cholesterol is still quite high, and the test shows a U T I.\nPatient: My throat hurts.\n"
    "Doctor: Is the lining of your stomach inflamed again?\nPatient: Yes.\n"
)


@pytest.mark.parametrize("said", ["Hypercholesterolemia.", "Urinary tract infection.", "Gastritis."])
def test_a_conversation_says_in_everyday_words_what_a_name_is_made_of(rules: Engine, said: str) -> None:
    assert rules.judge(item("dialogue2note", SPOKEN + CHAT, None), said + TOLD).risk_level == 1
    judged = rules.validator.judge([item("dialogue2note", "Doctor: Hello.\nPatient: I sneeze.\n", None)], [said])[0]
    assert isinstance(judged, Refusal) or judged.risk_level >= 3


def test_a_segment_may_have_few_everyday_words_of_its_own(rules: Engine) -> None:
    given = item("dialogue2note", CASE, None)
    assert rules.judge(given, CASE.replace("comes to the clinic", "looks ill in the clinic")).risk_level == 1
    for said in ("The patient is dying.", "He was sent to prison."):
        assert rules.validator.judge([given], [f"{CASE} {said}"]) == [Refusal("not_read")]


def test_a_name_inside_another_word_is_not_said(rules: Engine) -> None:
    given = item("dialogue2note", "He had pain throughout the night.", None)
    assert rules.judge(given, "He had pain throughout the night. He has gout.").risk_level >= 3


@pytest.mark.parametrize(
    ("given", "output", "quote"),
    [
        ("What cures gout?", "Where can I find information about untreated Pott's puffy anemia?",
         "untreated Pott's puffy anemia"),
        ("What cures gout?", "What should I do if I have anemia?", "anemia"),
        ("What cures gout?", "How does anemia affect me?", "anemia"),
        ("What cures gout?", "When do adults develop anemia?", "anemia"),
        ("What cures gout?", "Does loin pain anemia syndrome worsen?", "loin pain anemia syndrome"),
    ],
)  # fmt: skip
def test_a_strange_subject_is_named_whole(rules: Engine, given: str, output: str, quote: str) -> None:
    judged = rules.judge(item("query2question", given, None), output)
    assert [error["quote"] for error in judged.errors] == [quote]


@pytest.mark.parametrize(
    ("given", "level"),
    [("I have gout.", 2), ("He was diagnosed with gout.", 2), ("Are there prenatal tests for gout?", 1)],
)
def test_doubt_is_an_error_where_the_message_states_the_problem(rules: Engine, given: str, level: int) -> None:
    one = item("query2question", f"{given} I want to read about it.", None)
    assert rules.judge(one, "Where can I read about possible gout?").risk_level == level


@pytest.mark.parametrize(
    ("before", "after", "level"),
    [
        ("lisinopril 20 mg once", "lisinopril 40 mg once", 3),
        ("lisinopril 20 mg once", "lisinopril 200 mg once", 4),
        ("lisinopril 20 mg once a day", "lisinopril 70 mg three times a day", 4),  # ten times as much a day
    ],
)
def test_ten_times_a_daily_dose_weighs_4_and_counts_once(rules: Engine, before: str, after: str, level: int) -> None:
    judged = rules.judge(ITEMS[0], NOTE.replace(before, after))
    assert judged.risk_level == level
    assert len(judged.errors) == 1 + ("three" in after)


@pytest.mark.parametrize(("subject", "level"), [("pneumonia", 4), ("mild pneumonia", 3), ("duodenal ulcer", 4)])
def test_a_lesser_kind_of_a_grave_problem_is_not_grave(rules: Engine, subject: str, level: int) -> None:
    one = item("query2question", "What cures gout?", None)
    assert rules.judge(one, f"What are the treatments for {subject}?").risk_level == level


def test_another_ventricle_is_no_other_side(rules: Engine) -> None:
    one = item("report2impression", "FINDINGS: Reduced left ventricular function.", None)
    judged = rules.judge(one, "Reduced right ventricular function.")
    assert [(error["quote"], "part of the body" in error["text"]) for error in judged.errors] == [
        ("right ventricular", True)
    ]


def test_what_the_input_names_more_exactly_is_not_called_unnamed(rules: Engine) -> None:
    one = item("query2question", "My wife has pancreatic cancer. What helps?", None)
    refused = rules.validator.judge([one], ["What are the treatments for tumor?"])[0]
    assert isinstance(refused, Refusal) or refused.errors == ()


@pytest.mark.parametrize(
    ("before", "after", "level"),
    [("57-year-old", "59-year-old", 2), ("57-year-old", "27-year-old", 3), ("warfarin 5 mg", "warfarin 6 mg", 4)],
)
def test_an_age_that_is_slightly_off_weighs_less_than_another(
    rules: Engine, before: str, after: str, level: int
) -> None:
    assert rules.judge(ITEMS[0], NOTE.replace(before, after)).risk_level == level


@pytest.mark.parametrize(
    "claim",
    ["Cultures grew Klebsiella pneumoniae.", "A splenectomy was done.", "He has psoriasis."],
)
def test_a_sentence_of_which_the_conversation_says_nothing_is_a_claim(rules: Engine, claim: str) -> None:
    judged = rules.judge(ITEMS[0], f"{NOTE}{claim}")
    assert judged.risk_level == 3
    assert all((error["quote"] or "") in claim for error in judged.errors)


@pytest.mark.parametrize(
    "said",
    [
        "There was no biopsy of the skin.",  # nobody need have asked for what is denied
        "He was married in Boston.",  # everyday words
        "He drinks a bottle of vodka each day.",  # other words may have meant it
        "He has mild back pain.",  # how strong something is, is said in many words
        "An appendectomy was done.",  # the conversation may have said "appendix"
    ],
)
def test_a_sentence_that_the_conversation_may_have_meant_is_refused(rules: Engine, said: str) -> None:
    given = item("dialogue2note", "Doctor: Hello.\nPatient: I sneeze. They took my appendix out.\n", None)
    assert rules.validator.judge([given], [f"The patient sneezes. {said}"]) == [Refusal("not_read")]


def test_a_strange_drug_counts_once_with_its_dose(rules: Engine) -> None:
    judged = rules.judge(LISTS, (LISTS.reference or "").replace("Warfarin.", "Warfarin; Furosemide 30 mg."))
    assert [error["quote"] for error in judged.errors] == ["Furosemide"]


@pytest.mark.parametrize(
    ("given", "output", "level"),
    [
        ("What are the treatments for gout?", "Are there treatments for gout?", 1),
        ("Are there treatments for gout?", "Are there treatments for gout?", 1),
        ("I have gout. I want to know if there is a cure.", "Is there a cure for gout?", 1),
        ("What are the causes of gout?", "What might be the causes of gout?", 1),
        ("What are the treatments for back pain in children?", "What are the treatments for back pain?", 2),
        ("I have gout. What can I do about it?", "What are the treatments for gout?", 1),
        ("What cures pneumonia?", "What cures gout?", 4),  # the grave problem of the message is gone
        ("What cures gout?", "What cures back pain?", 3),
        ("Can I stop warfarin?", "Can I stop omeprazole?", 4),  # and the drug of narrow margin
        ("What cures gout?", "What are the causes and treatments for gout?", 2),
        ("Why do I have gout? What cures it?", "What are the causes and treatments for gout?", 1),
        ("My toe hurts. I want help with my gout.", "What are the symptoms and treatments for gout?", 2),
        ("What are the symptoms of gout? What cures it?", "What are the treatments for gout?", 2),
        ("What causes gout?", "What causes gout, and what are the symptoms?", 2),
        ("What cures gout?", "What are the treatments for gout in women?", 2),
        ("My sister has gout. What cures it?", "What are the treatments for gout in women?", 1),
    ],
)
def test_a_question_gets_its_level_from_what_it_leaves_open_and_what_is_lost(
    rules: Engine, given: str, output: str, level: int
) -> None:
    assert rules.judge(item("query2question", given, None), output).risk_level == level


def test_three_unsafe_errors_weigh_4_together(rules: Engine) -> None:
    changed = NOTE.replace("lisinopril 20 mg", "lisinopril 10 mg").replace("left knee", "right knee")
    assert rules.judge(ITEMS[0], changed).risk_level == 3
    judged = rules.judge(ITEMS[0], changed.replace("Blood pressure: 132/80", "Blood pressure: 162/95"))
    assert (judged.risk_level, len(judged.errors)) == (4, 3)
    assert judged.reasoning.endswith("Together they could lead to unsafe decisions.")
