"""The generator's rules: what each changes and what it leaves alone, and that an edit says exactly what was done."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders.medval.items import Edit, Item, Output
from builders.medval.rules import slight
from builders.medval.rules.edit_tables import weights
from builders.medval.rules.generator import RULES, RULES_TASKS, RulesGenerator, refusal_of
from builders.medval.rules.pool import Pool, named
from builders.medval.rules.reference import departs as reference_departs
from builders.medval.rules.scene import apply_edit, entries_of
from builders.texts.origin import Refusal
from ground.contracts.rows_text import MEDVAL_CATEGORIES, MEDVAL_TASKS, RISK_LEVELS, MedvalTask
from tests.builders.medval.rules_world import COURSE, DIALOGUE, ITEMS, PEERS, Engine, item

NOTE = ITEMS[0]
LISTS = ITEMS[1]
GOUT = item("course2diagnosis", "Gout: treated with colchicine.", "Discharge diagnoses: Pneumonia; Gout.")
GOUT_FIRST = item("course2diagnosis", "Gout: treated with colchicine.", "Discharge diagnoses: Gout; Pneumonia.")


def note(reference: str, given: str = DIALOGUE) -> Item:
    return item("dialogue2note", given, reference)


def question(given: str, reference: str) -> Item:
    return item("query2question", given, reference)


@pytest.mark.parametrize(
    ("rule", "one", "change"),
    [
        ("spelling", note("She has anemia."), ("anemia", "anaemia")),
        ("synonym", note("He has hypertension."), ("hypertension", "high blood pressure")),
        ("abbreviation", note("He has COPD."), ("COPD", "chronic obstructive pulmonary disease")),
        ("wording", note("Take it twice daily."), ("twice daily", "two times a day")),
        ("own_words", note("He has hypertension.", "[doctor] you have high blood pressure ."),
         ("hypertension", "high blood pressure")),
        ("reorder", LISTS, ("Lisinopril; Senna", "Senna; Lisinopril")),
        ("understate_certainty", GOUT, ("Gout", "possible gout")),
        ("understate_slightly", question("Back pain", "What helps with back pain?"), ("back pain", "mild back pain")),
        ("overstate_slightly", question("Back pain", "What helps with back pain?"), ("back pain", "severe back pain")),
        ("omit_context", question("Back pain at night", "What eases back pain at night?"), (" at night", "")),
        ("omit_claim", question("What causes gout, what cures it?", "What are the causes and treatments for gout?"),
         ("causes and ", "")),
        ("slight_number", note("He is a 57-year-old man."), ("57", "55")),
        ("added_group", question("What helps with gout?", "What are the treatments for gout?"),
         ("", " in older people")),
        ("asked_more", question("What helps with gout?", "What are the treatments for gout?"),
         ("What are the treatments", "What are the causes and treatments")),
        ("asked_more", question("What causes gout?", "What causes gout?"), ("", ", and what are the symptoms")),
        ("omit_comparison", note("It is milder compared to the last visit."), (" compared to the last visit", "")),
        ("omit_modifier", question("My mild gout is back", "What helps with mild gout?"), ("mild gout", "gout")),
        ("laterality", note("The left knee is normal."), ("left", "right")),
        ("action", note("Continue lisinopril."), ("Continue", "Discontinue")),
        ("symptom_negation", note("The patient denies fever."), ("denies", "reports")),
        ("other_question", question("How is shingles treated?", "What are the treatments for shingles?"),
         ("What are the treatments for", "What is the prognosis for")),
        ("negation", note("There is no history of stroke.", "[doctor] do you have a stroke ?\n[patient] no , never ."),
         ("no history of", "a history of")),
        ("critical_dose", note("Start omeprazole 40 mg."), ("40", "500")),  # ten times as much
        ("critical_action", note("Continue warfarin."), ("Continue", "Discontinue")),
    ],
)  # fmt: skip
def test_a_rule_makes_its_change(rules: Engine, rule: str, one: Item, change: tuple[str, str]) -> None:
    assert change in rules.changed(rule, one)


@pytest.mark.parametrize(
    ("rule", "one"),
    [
        ("dose", note("Continue warfarin 5 mg daily.")),  # a critical drug weighs more than level 3
        ("slight_number", note("Start omeprazole for 2 weeks.")),  # how long a drug is taken
        ("slight_number", note("Walk 2 days a week.")),  # how often
        (
            "added_group",
            question("My sister has gout. Advice?", "What are the treatments for gout?"),
        ),  # of whom is said
        ("added_group", question("I take digoxin at 80. Advice?", "Who makes digoxin?")),
        ("asked_more", question("Why gout? How does it feel, will it go away?", "What are the treatments for gout?")),
        ("omit_context", note("He has back pain at night.")),  # a note need not say all
        ("dose", note("Start omeprazole 20 mg.")),  # the input gives another strength: nothing true to change
        ("action", note("Continue warfarin.")),
        ("action", note("Start omeprazole 40 mg a day.")),  # nobody avoids so much of a drug a day
        ("other_problem", note("1. Anemia.\n2. Hypertension.\n- Continue lisinopril.")),  # a heading over text
        ("number", note("Blood pressure 150/95.")),
        ("number", note("We will recheck her hemoglobin A1c.")),
        ("laterality", note("He is all right now.")),
        ("laterality", note("The left ankle is normal.")),  # the input says nothing of it
        ("symptom_negation", note("The patient denies fever or chills.")),  # more than one would be flipped
        ("abbreviation", note("He has HTN (hypertension).")),
        ("understate_certainty", item("course2diagnosis", COURSE, "Discharge diagnoses: Pneumonia.")),  # grave
        ("understate_certainty", GOUT_FIRST),
        ("negation", LISTS),  # an entry of a list is no sentence
        ("understate_slightly", question("My back pain is 10/10.", "What helps with back pain?")),
        ("understate_slightly", question("Back pain. My back hurts so bad", "What helps with back pain?")),
        ("understate_slightly", note("She has hyponatremia.", "[doctor] you have hyponatremia , sodium 124 .")),
        ("other_question", question("I have gout, what should I do?", "What are the treatments for gout?")),
    ],
)
def test_a_rule_leaves_alone_what_would_not_have_its_weight(rules: Engine, rule: str, one: Item) -> None:
    assert rules.changed(rule, one) == []


def drawn(rules: Engine, rule: str, task: MedvalTask, given: str, reference: str) -> set[tuple[str, str]]:
    """Return what a rule changes in items that differ in their names only."""
    return {change for n in range(40) for change in rules.changed(rule, item(task, given, reference, f"item {n}"))}


@pytest.mark.parametrize(
    ("rule", "reference", "befores"),
    [
        ("dose", "Start omeprazole 40 mg.", {"40"}),
        ("critical_dose", "Continue warfarin 5 mg daily.", {"5"}),
        ("frequency", "Continue lisinopril 20 mg once a day.", {"once a day"}),
        ("number", "Blood pressure: 132/80.", {"132/80"}),
        ("other_drug", "Start omeprazole 40 mg.", {"omeprazole 40 mg"}),
        ("grave_drug", "Continue warfarin 5 mg daily.", {"warfarin 5 mg"}),
        ("other_problem", "1. Hypertension.\n2. Anemia.", {"Hypertension"}),
    ],
)
def test_an_exchange_puts_in_what_a_reference_says_and_the_input_does_not(
    rules: Engine, rule: str, reference: str, befores: set[str]
) -> None:
    changes = drawn(rules, rule, "dialogue2note", DIALOGUE, reference)
    assert {before for before, _ in changes} == befores
    said = "\n".join(one.reference or "" for one in PEERS if one.task == "dialogue2note")
    assert all(after in said for _, after in changes)


def test_a_name_of_a_list_stands_in_a_list_of_its_kind(rules: Engine) -> None:
    problems = drawn(rules, "grave_problem", "course2diagnosis", COURSE, LISTS.reference or "")
    assert {after for _, after in problems} == {"Gout", "Migraine"}
    drugs = drawn(rules, "grave_drug", "course2diagnosis", COURSE, LISTS.reference or "")
    assert {after for _, after in drugs} == {"Digoxin"}


def test_what_is_lost_and_what_comes_decide_how_much_another_subject_weighs(rules: Engine) -> None:
    """No question of the peers is about a grave problem."""
    for lost, rule, other in (
        ("eczema", "other_problem", "grave_problem"),
        ("stroke", "grave_problem", "other_problem"),
    ):
        given, reference = f"I have {lost}. How is it treated?", f"What are the treatments for {lost}?"
        assert drawn(rules, rule, "query2question", given, reference)
        assert not drawn(rules, other, "query2question", given, reference)


def test_a_drug_weighs_by_its_class_and_by_what_it_treats_here(rules: Engine) -> None:
    scene = rules.generator.scene(note("", "[doctor] you have heart failure ."), "")
    cuis = {name: scene.knowledge.concepts(name)[:1] for name in ("warfarin", "lisinopril", "omeprazole")}
    assert {name: scene.weighs(cui) for name, cui in cuis.items()} == {
        "warfarin": True,
        "lisinopril": True,
        "omeprazole": False,
    }
    without = rules.generator.scene(note("", "[doctor] you have back pain ."), "")
    assert not without.weighs(cuis["lisinopril"])


def test_a_question_is_exchanged_with_the_nouns_beside_its_problem(rules: Engine) -> None:
    given = "Is there gout surgery?"
    assert drawn(rules, "other_problem", "query2question", given, "Where is gout toe surgery done?") == set()
    scene = rules.generator.scene(question(given, ""), "Who knows about gout toe surgery?")
    assert [(name.text, name.lead) for _, name in named(scene)] == [("gout toe surgery", "knows about")]


def test_words_that_no_reference_says_are_not_turned_to(rules: Engine) -> None:
    assert drawn(rules, "action", "dialogue2note", DIALOGUE, "Continue lisinopril.") <= {("Continue", "Discontinue")}
    alone = RulesGenerator(rules.knowledge, 42, rules.validator, {})
    one = note(
        "Continue lisinopril. The patient denies fever. Start omeprazole 40 mg once a day. Blood pressure: 132/80."
    )
    for name in ("action", "symptom_negation", "dose", "frequency", "number", "other_drug", "other_problem"):
        assert RulesGenerator.candidates(alone.scene(one, one.reference or ""), name) == []


def test_exchanges_go_both_ways_as_often(rules: Engine) -> None:
    """Of a word said often and its reverse said seldom, as many places go one way as the other."""
    texts = ["Continue lisinopril."] * 9 + ["Discontinue lisinopril."] * 3
    peers = [item("dialogue2note", "", text, f"peer {n}") for n, text in enumerate(texts)]
    pool = Pool(peers, rules.knowledge)
    there = sum(pool.turns("continue", "discontinue", n) for n in range(900))
    back = sum(pool.turns("discontinue", "continue", n) for n in range(300))
    assert back == 300
    assert abs(there - back) < 60


def test_the_article_before_a_change_suits_it(rules: Engine) -> None:
    one = question("Is gout an arthritis?", "Is gout a osteoarthritis?")
    scene = rules.generator.scene(one, "He has an asthma attack.")
    edit = scene.edit("synonym", 10, 16, "bronchitis", "")
    assert (edit.before, edit.after, edit.begin) == ("an asthma", "a bronchitis", 7)


def test_entries_of_marked_lines_and_of_lines_with_semicolons() -> None:
    assert [entry.body for entry in entries_of("1. One\n2. Two, too\n- Three\nFour")] == ["One", "Two, too", "Three"]
    listed = entries_of("Discharge diagnoses: a b; c.\nDischarge medications: D.\nNote: x; y")
    assert [(entry.body, entry.inline) for entry in listed] == [("a b", True), ("c", True), ("D", True)]


def test_every_rule_has_a_weight_and_every_weight_is_used() -> None:
    assert set(RULES) == set(weights())
    for weight in weights().values():
        assert weight.level in RISK_LEVELS
        assert (weight.category is None) is (weight.level == 1)
        assert weight.category is None or weight.category in MEDVAL_CATEGORIES


@pytest.mark.parametrize("one", ITEMS, ids=lambda one: one.origin.inner_id)
def test_every_edit_reproduces_the_perturbed_text_from_the_clean_one(rules: Engine, one: Item) -> None:
    clean = one.reference or ""
    for rule in RULES:
        for edit in rules.edits(rule, one):
            assert clean[edit.begin : edit.begin + len(edit.before)] == edit.before
            assert edit.rule == rule
            assert apply_edit(clean, [edit]) != clean
    for level in RISK_LEVELS:
        made = rules.perturb(one, level)
        if isinstance(made, Output):
            assert apply_edit(clean, made.edits) == made.text
            found = [weights()[edit.rule].level for edit in made.edits]
            assert max(found) == level or (level == 4 and found.count(3) >= 3)
            assert level <= 2 or 2 not in found


def test_an_item_with_no_edit_of_a_level_is_refused_with_that_level(rules: Engine) -> None:
    bare = note("The visit went well.")
    assert [rules.perturb(bare, level) for level in (1, 2, 3)] == [Refusal(f"no_edit_at_level_{n}") for n in (1, 2, 3)]


def test_tasks_without_references_are_refused() -> None:
    reasons = {}
    for task in MEDVAL_TASKS:
        refused = refusal_of(item(task, "input", "reference"))
        reasons[task] = refused.reason if refused else None
    assert {task for task, reason in reasons.items() if reason is None} == set(RULES_TASKS)
    assert set(reasons.values()) == {None, "task_needs_a_language_model"}
    assert refusal_of(item("query2question", "input", " ")) == Refusal("no_reference")


def test_answers_do_not_depend_on_the_batch_or_its_order(rules: Engine) -> None:
    levels = [RISK_LEVELS[n % 4] for n in range(len(ITEMS))]
    clean = [Output(one.reference or "") for one in ITEMS]
    together = rules.generator.perturb(ITEMS, clean, levels)
    alone = [
        rules.generator.perturb([one], [out], [level])[0] for one, out, level in zip(ITEMS, clean, levels, strict=True)
    ]
    reverse = rules.generator.perturb(ITEMS[::-1], clean[::-1], levels[::-1])[::-1]
    assert together == alone == reverse
    knowledge = type(rules.knowledge)(rules.knowledge.kept, rules.knowledge.in_names)
    fresh = RulesGenerator(knowledge, 42, rules.validator, rules.peers)
    assert fresh.perturb(ITEMS, clean, levels) == together


def test_another_seed_chooses_other_edits(rules: Engine) -> None:
    clean = Output(NOTE.reference or "")
    chosen = {
        made.edits
        for seed in range(12)
        for made in RulesGenerator(rules.knowledge, seed, rules.validator, rules.peers).perturb([NOTE], [clean], [3])
        if isinstance(made, Output)
    }
    assert len(chosen) > 2


def test_the_clean_output_is_the_reference(rules: Engine) -> None:
    made = rules.generator.clean([*ITEMS, item("bhc2spanish", "x", None)])
    assert [out.text for out in made[:-1] if isinstance(out, Output)] == [
        (one.reference or "").strip() for one in ITEMS
    ]
    assert made[-1] == Refusal("task_needs_a_language_model")


def test_a_reference_that_the_validator_disputes_is_no_clean_output(rules: Engine) -> None:
    disputed = note("The patient has pancreatic cancer. Continue warfarin 50 mg daily.")
    assert rules.generator.clean([NOTE, disputed, LISTS])[1] == Refusal("reference_disputed")
    assert [isinstance(out, Output) for out in rules.generator.clean([NOTE, disputed, LISTS])] == [True, False, True]


@pytest.mark.parametrize(
    ("said", "given", "reason"),
    [
        ("Continue lisinopril 20 mg once a day.", DIALOGUE, None),
        ("Continue metformin 500 mg daily.",
         "[doctor] metformin five hundred milligrams once a day , no , twice a day .", "reference_departs"),
        ("This is likely a stroke.", "[doctor] i'm concerned you might be having a stroke .", "reference_departs"),
        ("This may be a stroke.", "[doctor] i'm concerned you might be having a stroke .", None),
        ("He has a ulcer.", "[doctor] you have an ulcer .", "reference_broken_english"),
        ("He has pneumomia.", "[doctor] you have pneumonia .", "reference_broken_english"),
        ("He has pneumomia.", "[doctor] you have pneumomia .", None),  # of the input
        ("His count is within a normal limits.", "[doctor] the count is fine .", "reference_broken_english"),
        ("Does ectopic pregnancies run in families?", "[doctor] hi .", "reference_broken_english"),
    ],
)  # fmt: skip
def test_a_reference_that_departs_from_its_input_is_no_clean_output(
    rules: Engine, said: str, given: str, reason: str | None
) -> None:
    disputed = rules.generator._disputed(note(said, given), Output(said))  # apart from the validator's own view
    assert disputed == (Refusal(reason) if reason else None)


def test_what_a_message_doubts_as_a_whole_is_not_doubted_once_more(rules: Engine) -> None:
    assert rules.changed("understate_certainty", question("I have gout.", "What is the prognosis for gout?")) == [
        ("gout", "possible gout")
    ]
    hinted = question("My doctors hint at gout but do not say so.", "What is the prognosis for gout?")
    assert rules.changed("understate_certainty", hinted) == []


@given(st.text(max_size=40), st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_edits_that_do_not_overlap_are_put_in_place_together(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    first = Edit("dose", None, text[:cut][:3], "<1>", 0, "")
    second = Edit("dose", None, text[cut:][:3], "<2>", cut, "")
    done = apply_edit(text, [first, second])
    assert done == "<1>" + text[len(first.before) : cut] + "<2>" + text[cut + len(second.before) :]


@pytest.mark.parametrize(
    ("given", "reference", "after"),
    [
        ("I have Gout and a cold.", "What is safe with Gout?", "possible Gout"),
        ("My friend is suffering from gout.", "What are the treatments for gout?", "possible gout"),
        ("Gout. I have this problem.", "What are the treatments for gout?", "possible gout"),
        ("I am looking for tests for gout.", "Where can I find tests for gout?", None),
        ("Does gout cause fever?", "What are the complications of gout?", None),
    ],
)
def test_what_a_message_says_of_somebody_is_doubted_and_names_stay_as_written(
    rules: Engine, given: str, reference: str, after: str | None
) -> None:
    changed = [after for _, after in rules.changed("understate_certainty", question(given, reference))]
    assert [one for one in changed if one.startswith("possible")] == ([after] if after else [])


@pytest.mark.parametrize(
    ("given", "diagnosis", "after"),
    [
        ("C diff: on vancomycin.", "C diff", "possible C diff"),
        ("Gout: on colchicine.", "Gout", "possible gout"),
        ("Crohn's disease: stable.", "Crohn's disease", "possible Crohn's disease"),
    ],
)
def test_of_an_entry_only_an_ordinary_word_gets_a_small_letter(
    rules: Engine, given: str, diagnosis: str, after: str
) -> None:
    one = item("course2diagnosis", given, f"Discharge diagnoses: Pneumonia; {diagnosis}.")
    scene = rules.generator.scene(one, one.reference or "")
    made = [slight._small(scene, seen) for seen in scene.made.problems() if seen.mention.text == diagnosis]
    assert [f"possible {name}" for name in made] == [after]


@pytest.mark.parametrize(
    ("task", "given", "reference", "departs"),
    [
        ("course2diagnosis", "CHF: weight up.", "Discharge diagnoses: Acute on chronic CHF.", True),
        ("course2diagnosis", "CHF, acute on chronic.", "Discharge diagnoses: Acute on chronic CHF.", False),
        ("course2diagnosis", "AKI: better.", "Discharge diagnoses: Acute kidney injury.", False),
        ("dialogue2note", "[doctor] you have diabetes .\n[patient] yes .", "Type 2 diabetes.", True),
        ("dialogue2note", "[doctor] you have type two diabetes .\n[patient] yes .", "Type 2 diabetes.", False),
    ],
)
def test_a_reference_that_calls_a_problem_what_the_input_does_not_departs(
    rules: Engine, task: MedvalTask, given: str, reference: str, departs: bool
) -> None:
    assert reference_departs(rules.generator.scene(item(task, given, reference), reference)) is departs


def test_why_the_patient_came_is_not_exchanged_in_a_note(rules: Engine) -> None:
    given = "[doctor] you have anemia .\n[patient] and my hypertension ?\n[doctor] it is fine ."
    changed = drawn(rules, "other_problem", "dialogue2note", given, "1. Hypertension.\n2. Anemia.")
    assert {before for before, _ in changed} == {"Hypertension"}


def test_a_strength_keeps_its_place_among_those_of_its_drug(rules: Engine) -> None:
    given = "[doctor] we will raise the omeprazole from 40 milligrams to 60 milligrams ."
    changed = drawn(rules, "dose", "dialogue2note", given, "Increase omeprazole from 40 mg to 60 mg.")
    assert changed == {("40", "5"), ("40", "20"), ("60", "500")}


def test_too_little_weighs_4_only_where_a_grave_problem_is_treated(rules: Engine) -> None:
    given = "[doctor] you take omeprazole 400 milligrams a day ."
    assert {before for before, _ in drawn(rules, "dose", "dialogue2note", given, "Omeprazole 400 mg.")} == {"400"}
    assert drawn(rules, "critical_dose", "dialogue2note", given, "Omeprazole 400 mg.") == set()


def test_a_name_with_nouns_beside_it_keeps_its_phrase(rules: Engine) -> None:
    said = (
        "What are the survival rates for lymphoma?",
        "What are the treatments for gout?",
        "Who knows about gout toe surgery?",
        "How long do side effects of lisinopril last after stopping?",
    )
    peers = [item("query2question", one, one, f"peer {n}") for n, one in enumerate(said)]
    pool = Pool(peers, rules.knowledge)
    names = {name.text: (scene, name) for scene in pool._scenes for _, name in named(scene)}
    scene, gout = names["gout"]
    assert pool.suits(scene, gout, names["lymphoma"][1])
    assert not pool.suits(scene, gout, names["gout toe surgery"][1])
    assert not any("last" in name for name in names)


def test_a_chamber_of_the_heart_has_no_other_side(rules: Engine) -> None:
    given = "[doctor] your left ventricular function is reduced .\n[patient] okay ."
    assert rules.changed("laterality", note("Reduced left ventricular dysfunction.", given)) == []
