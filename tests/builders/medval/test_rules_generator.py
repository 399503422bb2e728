"""The generator's rules: what each changes and what it leaves alone, and that an edit says exactly what was done."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders.medval.items import Edit, Item, Output
from builders.medval.rules.generator import RULES, RULES_TASKS, RulesGenerator, refusal_of
from builders.medval.rules.scene import Scene, apply_edit, entries_of
from builders.medval.rules.tables import serious_diagnoses, weights
from builders.texts.origin import Refusal
from ground.contracts.rows_text import MEDVAL_CATEGORIES, MEDVAL_TASKS, RISK_LEVELS, MedvalTask
from tests.builders.medval.rules_world import COURSE, DIALOGUE, ITEMS, Engine, item

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
        ("reorder", LISTS, ("Lisinopril; Senna", "Senna; Lisinopril")),
        ("understate_certainty", GOUT, ("Gout", "possible gout")),
        ("added_mildness", question("Back pain", "What helps with back pain?"), ("back pain", "mild back pain")),
        ("omit_modifier", question("Back pain at night", "What eases back pain at night?"), (" at night", "")),
        ("omit_modifier", question("My mild gout is back", "What helps with mild gout?"), ("mild gout", "gout")),
        ("dose", note("Start omeprazole 40 mg."), ("40", "80")),
        ("frequency", note("Continue lisinopril 20 mg once a day."), ("once a day", "twice a day")),
        ("number", note("Blood pressure 132/80."), ("132/80", "162/95")),
        ("laterality", note("The left knee is normal."), ("left", "right")),
        ("sibling_drug", note("Continue lisinopril 20 mg."), ("lisinopril", "enalapril")),
        ("sibling_diagnosis", question("I have gout", "What causes gout?"), ("gout", "osteoarthritis")),
        ("action", note("Continue lisinopril."), ("Continue", "Discontinue")),
        ("symptom_negation", note("The patient denies fever."), ("denies", "reports")),
        ("other_question", question("How is shingles treated?", "What are the treatments for shingles?"),
         ("What are the treatments for", "What are the causes of")),
        ("opposite_diagnosis", note("He has hypertension."), ("hypertension", "hypotension")),
        ("opposite_diagnosis", question("I have hypothyroidism", "What helps with hypothyroidism?"),
         ("hypothyroidism", "hyperthyroidism")),
        ("negation", note("There is no history of asthma."), ("no history of", "a history of")),
        ("critical_dose", note("Continue warfarin 5 mg daily."), ("5", "50")),
        ("critical_action", note("Continue warfarin."), ("Continue", "Discontinue")),
    ],
)  # fmt: skip
def test_a_rule_makes_its_change(rules: Engine, rule: str, one: Item, change: tuple[str, str]) -> None:
    assert change in rules.changed(rule, one)


@pytest.mark.parametrize(
    ("rule", "one"),
    [
        ("dose", note("Continue warfarin 5 mg daily.")),  # a critical drug weighs more than level 3
        ("dose", note("Start omeprazole 20 mg.")),  # the input gives another strength: nothing true to change
        ("critical_dose", note("Start omeprazole 40 mg.")),
        ("action", note("Continue warfarin.")),
        ("number", note("Blood pressure 150/95.")),
        ("number", note("We will recheck her hemoglobin A1c.")),
        ("laterality", note("He is all right now.")),
        ("laterality", note("The left ankle is normal.")),  # the input says nothing of it
        ("symptom_negation", note("The patient denies fever or chills.")),  # more than one would be flipped
        ("sibling_drug", note("He is allergic to lisinopril.")),
        ("sibling_diagnosis", note("He has hypertension.")),  # its opposite weighs more than level 3
        ("opposite_diagnosis", note("He has hypotension.")),  # the input does not name it
        ("opposite_diagnosis", note("He has hypotension.", "[doctor] hypotension , and elevated blood pressure .")),
        ("opposite_diagnosis", note("No hypertension.", "[doctor] no hypertension .")),
        ("abbreviation", note("He has HTN (hypertension).")),
        ("understate_certainty", item("course2diagnosis", COURSE, "Discharge diagnoses: Pneumonia.")),  # grave
        ("understate_certainty", GOUT_FIRST),
        ("negation", LISTS),  # an entry of a list is no sentence
        ("wrong_subject", question("Where is a shingles vaccine?", "Who gives the shingles vaccine?")),
        ("wrong_subject", question("I had food poisoning", "What helps with food poisoning?")),
        ("added_mildness", question("My back pain is 10/10.", "What helps with back pain?")),
        ("added_mildness", question("Back pain. My back hurts so bad", "What helps with back pain?")),
        ("added_mildness", note("She has hyponatremia.", "[doctor] you have hyponatremia , sodium 124 .")),
        ("other_question", question("I have gout, what should I do?", "What are the treatments for gout?")),
    ],
)
def test_a_rule_leaves_alone_what_would_not_have_its_weight(rules: Engine, rule: str, one: Item) -> None:
    assert rules.changed(rule, one) == []


def test_a_drug_that_a_problem_forbids_is_added(rules: Engine) -> None:
    given = "She has asthma and is short of breath."
    one = item("course2diagnosis", given, "Discharge diagnoses: Asthma.\nDischarge medications: Albuterol.")
    added = rules.edits("contraindicated_drug", one)
    assert added
    for edit in added:
        assert edit.before == ""
        assert edit.after.startswith("; ")
        assert edit.evidence.startswith("contraindicated with C")
    # Acute kidney injury that improved forbids nothing for good.
    assert rules.edits("contraindicated_drug", LISTS) == []


def test_a_drug_of_an_allergy_is_added(rules: Engine) -> None:
    one = item("course2diagnosis", "She is allergic to amoxicillin. Pneumonia was treated with azithromycin.",
               "Discharge diagnoses: Pneumonia.\nDischarge medications: Azithromycin.")  # fmt: skip
    assert rules.changed("allergic_drug", one) == [("", "; amoxicillin")]


def test_an_invented_diagnosis_is_in_neither_text(rules: Engine) -> None:
    for edit in rules.edits("invented_diagnosis", LISTS):
        name = edit.after.removeprefix("; ").removeprefix("a ")
        assert name.lower() not in (COURSE + (LISTS.reference or "")).lower()
        assert not rules.knowledge.akin(
            rules.knowledge.concepts(name)[:1], Scene(LISTS, "", rules.knowledge).given_families
        )


def invented(rules: Engine, given: str, task: MedvalTask = "dialogue2note") -> set[str]:
    """Return the diagnoses of many items that differ in their names only."""
    names = set()
    for n in range(60):
        one = item(task, given, "He has a rash.", f"item {n}")
        for edit in rules.edits("invented_diagnosis", one):
            names |= {name for name in serious_diagnoses() if name.lower() in edit.after.lower()}
    return names


def test_invented_diagnoses_suit_age_and_sex(rules: Engine) -> None:
    infant = invented(rules, "[doctor] how old is the baby ?\n[patient] he is 8 months old and has a rash .")
    man = invented(rules, "[doctor] he is an 80 year old man with a rash .")
    assert infant
    assert man - infant
    table = serious_diagnoses()
    assert all(table[name].min_age == 0 and table[name].sex != "female" for name in infant)
    assert all(table[name].max_age >= 80 and table[name].sex != "female" for name in man)


def test_an_invented_diagnosis_is_worded_in_many_ways_that_the_validator_reads(rules: Engine) -> None:
    wordings = set()
    for n in range(40):
        one = item("dialogue2note", "[doctor] the rash is better .", "The rash is better.", f"item {n}")
        for edit in rules.edits("invented_diagnosis", one):
            name = next(name for name in serious_diagnoses() if name.lower() in edit.after.lower())
            wordings.add(edit.after.lower().replace(name.lower(), "").strip())
            assert rules.judge(one, f"The rash is better.{edit.after}").risk_level == 4
    assert len(wordings) >= 6


def test_the_article_before_a_change_suits_it(rules: Engine) -> None:
    one = question("Is gout an arthritis?", "Is gout a osteoarthritis?")
    scene = Scene(one, "He has an asthma attack.", rules.knowledge)
    edit = scene.edit("synonym", 10, 16, "bronchitis", "")
    assert (edit.before, edit.after, edit.begin) == ("an asthma", "a bronchitis", 7)


def test_entries_of_marked_lines_and_of_lines_with_semicolons() -> None:
    assert [entry.body for entry in entries_of("1. One\n2. Two, too\n- Three\nFour")] == ["One", "Two, too", "Three"]
    listed = entries_of("Discharge diagnoses: a b; c.\nDischarge medications: D.\nNote: x; y")
    assert [(entry.body, entry.inline) for entry in listed] == [("a b", True), ("c", True), ("D", True)]


def test_every_rule_has_a_weight_and_every_weight_is_used() -> None:
    validator_only = {"fabricated"}
    assert set(RULES) | validator_only == set(weights())
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
            assert [weights()[edit.rule].level for edit in made.edits] == [level]


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
    knowledge = type(rules.knowledge)(rules.knowledge.graph, rules.knowledge.reader)
    fresh = RulesGenerator(knowledge, 42, rules.validator)
    assert fresh.perturb(ITEMS, clean, levels) == together


def test_another_seed_chooses_other_edits(rules: Engine) -> None:
    clean = Output(NOTE.reference or "")
    chosen = {
        made.edits
        for seed in range(12)
        for made in RulesGenerator(rules.knowledge, seed, rules.validator).perturb([NOTE], [clean], [3])
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


@given(st.text(max_size=40), st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_edits_that_do_not_overlap_are_put_in_place_together(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    first = Edit("dose", None, text[:cut][:3], "<1>", 0, "")
    second = Edit("dose", None, text[cut:][:3], "<2>", cut, "")
    done = apply_edit(text, [first, second])
    assert done == "<1>" + text[len(first.before) : cut] + "<2>" + text[cut + len(second.before) :]
