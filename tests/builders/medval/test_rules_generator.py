"""The generator's rules: what each changes and what it leaves alone, and that an edit says exactly what was done."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.medval.items import Edit, Item, Output
from builders.medval.rules.edit_tables import weights
from builders.medval.rules.generator import EDITS, EXCHANGES, RULES_TASKS, RulesGenerator, refusal_of
from builders.medval.rules.pool import names_in
from builders.medval.rules.scene import apply_edit, entries_of
from builders.texts.origin import Refusal
from ground.contracts.rows_text import MEDVAL_CATEGORIES, MEDVAL_TASKS, RISK_LEVELS, MedvalTask
from tests.builders.medval.rules_world import COURSE, ITEMS, LISTS, PEERS, Engine, item

RULES = (*EDITS, *EXCHANGES)
LIST = ITEMS[1]
DOSED = "Home omeprazole 40 mg was given daily. Warfarin 5 mg was given too. Gout: on colchicine, from 2 mg to 4 mg."


def listed(reference: str, given: str = COURSE, name: str = "1") -> Item:
    return item("course2diagnosis", given, reference, name)


def question(given: str, reference: str) -> Item:
    return item("query2question", given, reference)


GOUT = listed("Discharge diagnoses: Pneumonia; Gout.", "Gout: treated with colchicine.")
GOUT_FIRST = listed("Discharge diagnoses: Gout; Pneumonia.", "Gout: treated with colchicine.")
ASKED = "What are the treatments for gout?"


@pytest.mark.parametrize(
    ("rule", "one", "change"),
    [
        ("spelling", listed("Discharge diagnoses: Anemia."), ("Anemia", "Anaemia")),
        ("synonym", listed("Discharge diagnoses: Hypertension."), ("Hypertension", "High blood pressure")),
        ("abbreviation", listed("Discharge diagnoses: COPD."), ("COPD", "chronic obstructive pulmonary disease")),
        ("own_words", listed("Discharge diagnoses: Hypertension.", "He has high blood pressure."),
         ("Hypertension", "High blood pressure")),
        ("reorder", LIST, ("Lisinopril; Senna", "Senna; Lisinopril")),
        ("understate_certainty", GOUT, ("Gout", "possible gout")),
        ("understate_certainty", listed("Discharge diagnoses: Pneumonia; Crohn's disease.", "Crohn's disease: stable."),
         ("Crohn's disease", "possible Crohn's disease")),
        ("understate_slightly", question("Back pain", "What helps with back pain?"), ("back pain", "mild back pain")),
        ("overstate_slightly", question("Back pain", "What helps with back pain?"), ("back pain", "severe back pain")),
        ("added_group", question("What helps with gout?", ASKED), ("", " in older people")),
        ("asked_more", question("What helps with gout?", ASKED),
         ("What are the treatments", "What are the causes and treatments")),
        ("asked_more", question("What causes gout?", "What causes gout?"), ("", ", and what are the symptoms")),
    ],
)  # fmt: skip
def test_a_rule_makes_its_change(rules: Engine, rule: str, one: Item, change: tuple[str, str]) -> None:
    assert change in rules.changed(rule, one)


@pytest.mark.parametrize(
    ("rule", "one"),
    [
        ("dose", listed("Discharge medications: Warfarin 5 mg.", DOSED)),  # grave: it weighs more than level 3
        ("dose", listed("Discharge medications: Omeprazole 20 mg.", DOSED)),  # not what the input gives
        ("added_group", question("My sister has gout. Advice?", ASKED)),  # of whom is said
        ("added_group", question("I take digoxin at 80. Advice?", "Who makes digoxin?")),
        ("asked_more", question("Why gout? How does it feel, will it go away?", ASKED)),
        ("abbreviation", listed("Discharge diagnoses: HTN (hypertension).")),
        ("understate_certainty", listed("Discharge diagnoses: Pneumonia.")),  # grave
        ("understate_certainty", GOUT_FIRST),
        ("understate_slightly", question("My back pain is 10/10.", "What helps with back pain?")),
        ("understate_slightly", question("Back pain. My back hurts so bad", "What helps with back pain?")),
    ],
)
def test_a_rule_leaves_alone_what_would_not_have_its_weight(rules: Engine, rule: str, one: Item) -> None:
    assert rules.changed(rule, one) == []


def drawn(rules: Engine, rule: str, task: MedvalTask, given: str, reference: str) -> set[tuple[str, str]]:
    """Return what a rule changes in items that differ in their names only."""
    return {change for n in range(40) for change in rules.changed(rule, item(task, given, reference, f"item {n}"))}


@pytest.mark.parametrize(
    ("rule", "reference", "changes"),
    [
        ("dose", "Discharge medications: Omeprazole 40 mg.", {("40", "5")}),
        ("critical_dose", "Discharge medications: Omeprazole 40 mg.", {("40", "500")}),  # ten times as much
        ("frequency", "Discharge medications: Omeprazole 40 mg daily.", {("daily", "bid")}),
        ("grave_problem", LISTS, {("Pneumonia", "Gout"), ("Atrial fibrillation", "Migraine")}),
        ("grave_drug", "Discharge medications: Lisinopril; Senna.", {("Senna", "Digoxin")}),
    ],
)
def test_an_exchange_puts_in_what_a_reference_says_and_the_input_does_not(
    rules: Engine, rule: str, reference: str, changes: set[tuple[str, str]]
) -> None:
    given = COURSE if "Omeprazole" not in reference else "Omeprazole 40 mg daily was resumed."
    made = drawn(rules, rule, "course2diagnosis", given, reference)
    assert made >= changes
    assert all(after in "\n".join(one.reference or "" for one in PEERS) for _, after in made)


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
    names = ("warfarin", "lisinopril", "omeprazole")
    weighed = {}
    for course in ("He has heart failure.", "He has back pain."):
        scene = rules.generator.scene(listed("", course), "")
        weighed[course] = [name for name in names if scene.weighs(scene.concepts.concepts(name)[:1])]
    assert weighed == {"He has heart failure.": ["warfarin", "lisinopril"], "He has back pain.": ["warfarin"]}


def test_a_question_is_exchanged_with_the_nouns_beside_its_problem(rules: Engine) -> None:
    given = "Is there gout surgery?"
    assert drawn(rules, "other_problem", "query2question", given, "Where is gout toe surgery done?") == set()
    scene = rules.generator.scene(question(given, ""), "Who knows about gout toe surgery?")
    assert [(name.text, name.lead) for _, name in names_in(scene)] == [("gout toe surgery", "knows about")]


def test_without_other_references_nothing_is_exchanged(rules: Engine) -> None:
    alone = RulesGenerator(rules.generator.concepts, 42, rules.validator, {}, frozenset())
    assert [rule for rule in EXCHANGES if alone.candidates(alone.scene(LIST, LISTS), rule)] == []


def test_the_article_before_a_change_suits_it(rules: Engine) -> None:
    scene = rules.generator.scene(question("Is gout an arthritis?", ASKED), "He has an asthma attack.")
    edit = scene.edit("synonym", 10, 16, "bronchitis", "")
    assert (edit.before, edit.after, edit.begin) == ("an asthma", "a bronchitis", 7)


def test_entries_of_lines_with_semicolons() -> None:
    entries = entries_of("Discharge diagnoses: a b; c.\nDischarge medications: D.\nNote: x; y")
    assert [(entry.text, entry.line) for entry in entries] == [("a b", 0), ("c", 0), ("D", 29)]


def test_every_rule_has_a_weight_and_every_weight_is_used() -> None:
    assert set(RULES) == set(weights())
    for weight in weights().values():
        assert weight.level in RISK_LEVELS
        assert (weight.category is None) is (weight.level == 1)
        assert weight.category is None or weight.category in MEDVAL_CATEGORIES


@pytest.mark.parametrize("one", ITEMS[1:], ids=lambda one: one.origin.inner_id)
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
            levels = [weights()[edit.rule].level for edit in made.edits]
            assert max(levels) == level or (level == 4 and levels.count(3) >= 3)
            assert level <= 2 or 2 not in levels


def test_an_item_with_no_edit_of_a_level_is_refused_with_that_level(rules: Engine) -> None:
    bare = listed("The visit went well.")
    assert [rules.perturb(bare, level) for level in (1, 2, 3)] == [Refusal(f"no_edit_at_level_{n}") for n in (1, 2, 3)]


def test_other_tasks_and_items_without_references_are_refused() -> None:
    refused = {task: refusal_of(item(task, "input", "reference")) for task in MEDVAL_TASKS}
    assert {task for task, refusal in refused.items() if refusal is None} == set(RULES_TASKS)
    assert set(refused.values()) == {None, Refusal("task_needs_a_language_model")}
    assert refusal_of(item("query2question", "input", " ")) == Refusal("no_reference")


def test_answers_do_not_depend_on_the_batch_or_its_order(rules: Engine) -> None:
    items, levels = ITEMS[1:], RISK_LEVELS[: len(ITEMS) - 1]
    clean = [Output(one.reference or "") for one in items]
    together = rules.generator.perturb(items, clean, levels)
    alone = [
        rules.generator.perturb([one], [out], [level])[0] for one, out, level in zip(items, clean, levels, strict=True)
    ]
    assert together == alone == rules.generator.perturb(items[::-1], clean[::-1], levels[::-1])[::-1]


def test_another_seed_chooses_other_edits(rules: Engine) -> None:
    chosen = {
        made.edits
        for seed in range(12)
        for made in RulesGenerator(rules.generator.concepts, seed, rules.validator, rules.peers, frozenset()).perturb(
            [LIST], [Output(LISTS)], [4]
        )
        if isinstance(made, Output)
    }
    assert len(chosen) > 2


@pytest.mark.parametrize(
    ("given", "reference", "reason"),
    [
        (COURSE, LISTS, None),
        ("Gout: on colchicine.", "Discharge diagnoses: Pancreatic cancer.", "reference_disputed"),
        ("Omeprazole 40 mg was given.", "Discharge medications: Omeprazole 40 mg.", None),
        ("Omeprazole was given bid, later omeprazole daily.", "Discharge medications: Omeprazole daily.",
         "reference_departs"),
        ("CHF: weight up.", "Discharge diagnoses: Acute on chronic CHF.", "reference_departs"),
        ("CHF, acute on chronic.", "Discharge diagnoses: Acute on chronic CHF.", None),
        ("AKI: better.", "Discharge diagnoses: Acute kidney injury.", None),
    ],
)  # fmt: skip
def test_a_reference_with_an_error_is_no_clean_output(
    rules: Engine, given: str, reference: str, reason: str | None
) -> None:
    made = rules.generator.clean([listed(reference, given)])[0]
    assert made == (Refusal(reason) if reason else Output(reference))


@pytest.mark.parametrize(
    "reference", ["Does ectopic pregnancies run in families?", "What are the treatmants for gout?"]
)
def test_broken_english_is_no_clean_output(rules: Engine, reference: str) -> None:
    given = reference.replace("treatmants", "treatments")
    assert rules.generator.clean([question(given, reference)]) == [Refusal("reference_broken_english")]


@given(st.text(max_size=40), st.data())
@settings(max_examples=60, deadline=None)
def test_edits_that_do_not_overlap_are_put_in_place_together(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    first = Edit("dose", None, text[:cut][:3], "<1>", 0, "")
    second = Edit("dose", None, text[cut:][:3], "<2>", cut, "")
    done = apply_edit(text, [first, second])
    assert done == "<1>" + text[len(first.before) : cut] + "<2>" + text[cut + len(second.before) :]
