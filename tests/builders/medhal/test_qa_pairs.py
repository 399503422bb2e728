"""Questions as pairs of claims: wording alike, choice by hash, explanations, what gives no pair; and their check."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from builders.medhal.items import Pair, QaItem
from builders.medhal.rules.check_question import check_question
from builders.medhal.rules.writer import RulesWriter
from builders.medhal.sources import medqa, pubmedqa
from builders.medhal.transform import qa
from builders.medhal.transform.odds import Odds
from builders.medhal.transform.overlap import overlap
from builders.medhal.transform.qa import qa_pairs
from builders.texts.origin import Origin, Refusal, Tally
from ground.settings import MedhalSettings
from tests.builders.medhal.question_files import mcq, source

SETTINGS = MedhalSettings(splits="all")
NEXT = "Which of the following is the best next step in management?"


def item(question: str, options: Sequence[str], answer: int = 0, name: str = "q", **more: Any) -> QaItem:
    """Return a question of MedQA."""
    origin = Origin("medqa", name, name, "train")
    return replace(QaItem(origin, None, question, tuple(options), answer), **more)


def pairs_of(items: Sequence[QaItem], tally: Tally | None = None, settings: MedhalSettings = SETTINGS) -> list[Pair]:
    """Return the pairs of questions by the rules engine."""
    return list(qa_pairs(items, RulesWriter(settings.seed), tally or Tally(), Odds(items, settings.seed)))


def one(question: str, options: Sequence[str], answer: int = 0, **more: Any) -> Pair:
    """Return the pair of a question."""
    (pair,) = pairs_of([item(question, options, answer, **more)])
    return pair


def test_a_vignette_becomes_the_context_and_its_question_the_statements() -> None:
    pair = one(mcq("A man has a swollen toe."), ("Gout", "Lupus"))
    assert pair.context == "A man has a swollen toe."
    assert pair.factual.statement == "The following is the most likely diagnosis: Gout."
    assert pair.wrong.statement == "The following is the most likely diagnosis: Lupus."
    assert (pair.factual.factual, pair.wrong.factual) == (True, False)
    assert (pair.factual.explanation, pair.wrong.explanation) == (None, pair.factual.statement)
    assert pair.guidance == "Gout"
    assert pair.factual.synthetic
    assert check_question(pair) is None


def test_an_option_one_letter_off_a_word_of_other_questions_is_not_stated() -> None:
    known = [item(mcq(f"A man takes hydrochlorothiazide {n}."), ("Gout", "Lupus"), name=str(n)) for n in range(2)]
    asked = item(mcq("A man is ill.", "Which of the following drugs was prescribed?"), ("Zinc", "Hydrochlorthiazide"))
    tally = Tally()
    assert len(pairs_of([*known, asked], tally)) == len(known)
    assert tally.reasons() == {"medqa: no_wrong_option_alike": 1}
    assert len(pairs_of([asked])) == 1


def test_options_of_any_kind_are_worded_alike() -> None:
    options = ("Administer zinc", "Blood transfusion", "Both A and B")
    pair = one(mcq("A man is ill.", NEXT), options)
    assert pair.factual.statement == "The following is the best next step in management: Administer zinc."
    assert pair.wrong.statement == "The following is the best next step in management: Blood transfusion."
    assert pair.factual.rule == pair.wrong.rule and not pair.factual.framed and not pair.wrong.framed


def test_a_question_is_framed_where_no_sentence_is_sure() -> None:
    pair = one(mcq("A man is ill.", "How does zinc work?"), ("Binding", "By heat", "Oxidation"))
    assert pair.context == "A man is ill." and check_question(pair) is None
    assert pair.factual.statement == 'The right answer to "How does zinc work?" is "Binding".'
    assert pair.factual.framed and pair.wrong.framed


def test_a_wrong_option_neither_equals_nor_holds_the_right_one() -> None:
    options = ("Aspirin", "aspirin", "Aspirin and zinc", "Zinc")
    assert one(mcq("A man is ill."), options).wrong.statement.endswith("diagnosis: Zinc.")
    assert overlap("0.5", "50%")
    assert overlap("Zinc and iron", "iron, zinc")
    assert not overlap("1.5 mg", "15 mg")
    assert overlap("4th arch", "4&6 arch")
    assert overlap("2-4 weeks", "3 weeks") and overlap("10 to 20%", "15-25%")
    assert not overlap("2-4 weeks", "6 weeks")


def test_the_wrong_option_depends_on_seed_and_question_only() -> None:
    options = ("Gout", "Lupus", "Rickets", "Scurvy")
    items = [item(mcq(f"Man {at} is ill."), options, name=str(at)) for at in range(40)]
    chosen = [pair.wrong.statement for pair in pairs_of(items)]
    assert {text.split()[-1].lower() for text in chosen} == {"lupus.", "rickets.", "scurvy."}
    assert [pair.wrong.statement for pair in pairs_of(items[::-1])][::-1] == chosen
    assert [pair.wrong.statement for pair in pairs_of(items, settings=MedhalSettings(seed=7))] != chosen


def test_pairs_do_not_depend_on_the_size_of_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    items = [item(mcq(f"Man {at} is ill."), ("Gout", "Lupus", "By zinc"), name=str(at)) for at in range(9)]
    whole = pairs_of(items)
    monkeypatch.setattr(qa, "BATCH", 2)
    assert pairs_of(items) == whole


def test_the_explanation_adds_why_the_wrong_option_is_wrong() -> None:
    pair = one(mcq("A man is ill."), ("Gout", "Lupus"), why="Crystals.", why_not=((1, "Lupus has a rash."),))
    assert pair.wrong.explanation == "The following is the most likely diagnosis: Gout. Lupus has a rash."


def test_a_long_answer_explains_a_yes_no_question() -> None:
    pair = one("Does zinc reduce colds?", ("yes", "no"), 1, context="We gave zinc.", why="Zinc did not help.")
    assert pair.context == "We gave zinc."
    assert pair.factual.statement == 'The right answer to "Does zinc reduce colds?" is "no".'
    assert pair.wrong.explanation == f"{pair.factual.statement} Zinc did not help."
    assert check_question(pair) is None


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ("The following is the least likely diagnosis: Lupus.", "statements_differ"),
        ("The following is the most likely diagnosis: Lupus or gout or both.", "wrong_statement_holds_the_answer"),
        ("Is the most likely diagnosis Lupus?", "statement_asks"),
    ],
)
def test_the_check_refuses_pairs_that_say_something_else(wrong: str, reason: str) -> None:
    pair = one(mcq("A man is ill."), ("Gout", "Lupus"))
    changed = replace(pair, wrong=replace(pair.wrong, statement=wrong))
    assert check_question(changed) == Refusal(f"judge_{reason}")
    swapped = replace(pair, factual=pair.wrong, wrong=pair.factual)
    assert check_question(swapped) == Refusal("judge_answer_not_in_statement")
    asked = replace(pair, context="A man is ill. What is it?")
    assert check_question(asked) == Refusal("judge_context_asks")


@pytest.mark.parametrize(
    ("question", "answer", "why", "reason"),
    [
        ("Does zinc reduce colds?", "yes", "Zinc shortened colds.", None),
        ("Does zinc reduce colds?", "yes", "Zinc was not associated with shorter colds.", "disagrees"),
        ("Does zinc reduce colds?", "yes", "Zinc should be investigated as a treatment of colds.", "disagrees"),
        ("Does zinc reduce colds?", "no", "Zinc did not help.", None),
        ("Does zinc reduce colds?", "no", "Zinc shortened colds.", "disagrees"),
        # That something has no role is more than that none was shown.
        ("Is zinc involved in colds?", "no", "Zinc was not found in most, thus ruling out a role in colds.", None),
        ("Is zinc involved in colds?", "no", "The role of zinc in colds has not been established.", "disagrees"),
        ("Is zinc involved in colds?", "no", "Zinc makes only a small contribution to colds.", "disagrees"),
        ("Can zinc reduce colds?", "no", "Colds were as long as ever. Other drugs did not help.", "disagrees"),
        ("Can zinc reduce colds?", "no", "Other drugs did not help.", "speaks_of_other_things"),
        ("Can zinc reduce colds?", "yes", "Other drugs helped.", "speaks_of_other_things"),
        ("Can zinc reduce colds?", "no", "Zinc did not shorten colds.", None),
        ("Does zinc reduce colds?", "yes", "Zinc may help. It could reduce colds.", "only_supposes"),
        ("Does zinc reduce colds?", "yes", "Zinc may help. It reduced colds.", None),
        ("Can zinc possibly reduce colds?", "yes", "Zinc may reduce colds.", None),
    ],
)
def test_the_check_holds_a_short_answer_against_the_long_one(
    question: str, answer: str, why: str, reason: str | None
) -> None:
    options = ("yes", "no")
    pair = one(question, options, options.index(answer), context="We gave zinc.", why=why)
    assert check_question(pair) == (Refusal(f"judge_long_answer_{reason}") if reason else None)


CASE = "Which of the following is the most likely cause of this patient's symptoms?"


@pytest.mark.parametrize(
    ("question", "options", "context", "reason"),
    [
        (CASE, ("Gout", "Lupus"), None, "speaks_of_a_case_that_is_not_given"),
        (mcq("Is he ill?"), ("Gout", "Lupus"), None, "two_questions"),
        ("Who and what is it?", ("Gout", "Lupus"), None, "two_questions"),
        ("Is zinc necessary for colds?", ("yes", "no"), "We gave zinc.", "asks_for_a_verdict"),
        ("Is there a role for zinc in colds?", ("yes", "no"), "We gave zinc.", "asks_for_a_verdict"),
        ("Which of the following is another finding?", ("Rash", "Fever"), "A.", "relation_not_exclusive"),
        ("Which of the following tests should also be ordered?", ("Biopsy", "CT"), "A.", "relation_not_exclusive"),
        ("Which of the following takes part in shock?", ("TNF", "Interleukin-12"), None, "relation_not_exclusive"),
        ("Morphine can result in", ("Cough", "Rash"), None, "relation_not_exclusive"),
        ("Which of the following may cause gout?", ("Cough", "Rash"), None, "relation_not_exclusive"),
        ("Gout is associated with which of the following?", ("Cough", "Rash"), None, "relation_not_exclusive"),
        ("Which of the following is most likely to cause gout?", ("Cough", "Rash"), None, None),
        ("All of the following can cause gout except", ("Cough", "Rash"), None, None),
        ("What is the drug of choice for gout?", ("Cough", "Rash"), None, None),
    ],
)
def test_a_question_that_gives_no_pair_is_counted(
    question: str, options: tuple[str, str], context: str | None, reason: str | None
) -> None:
    tally = Tally()
    pairs = pairs_of([item(question, options, context=context)], tally)
    assert tally.reasons() == ({f"medqa: {reason}": 1} if reason else {})
    assert bool(pairs) is (reason is None)


@pytest.mark.real
@pytest.mark.parametrize(("name", "share", "held"), [("medqa", 0.6, 0.95), ("pubmedqa", 0.3, 0.75)])
def test_most_real_questions_give_pairs_that_the_check_confirms(
    name: str, share: float, held: float, real_data: Path
) -> None:
    tally = Tally()
    reader = {"medqa": medqa, "pubmedqa": pubmedqa}[name]
    items = list(reader.read(real_data / "text" / name, source(name), tally))
    pairs = pairs_of(items, tally)
    confirmed = [pair for pair in pairs if check_question(pair) is None]
    assert len(confirmed) >= share * tally.read[name]
    assert len(confirmed) >= held * len(pairs)
    assert len(pairs) + sum(tally.dropped.values()) == tally.read[name]


def test_wrong_options_are_drawn_until_their_words_are_as_often_right() -> None:
    """Of two wrong options one is the right answer elsewhere: it is drawn more often than the other."""
    asked = "Which of the following is the most likely diagnosis?"
    items = [item(f"Case {n}. {asked}", ("Gout", "Lupus", "Rickets"), n % 2, str(n)) for n in range(200)]
    said = Counter(pair.wrong.statement.lower().split()[-1] for pair in pairs_of(items))
    likely = said["lupus."] + said["gout."]
    assert likely > 180
    odds, again = Odds(items, 1), Odds(items[::-1], 1)
    assert (odds.right, odds.wrong, odds.power) == (again.right, again.wrong, again.power)


def test_wrong_options_are_drawn_by_their_endings_too() -> None:
    """No word stands in two options, but right ones all end alike: so does the wrong one that is drawn more often."""
    draw = random.Random(20270801)
    stems = ("".join(draw.choices("bcdfglmnprstv", k=6)).capitalize() for _ in iter(int, 1))
    asked = "Which of the following is the most likely diagnosis?"
    items = [
        item(f"Case {n}. {asked}", [f"{next(stems)}{end}" for end in ("itis", "itis", "oma")], 0, str(n))
        for n in range(200)
    ]
    said = Counter(pair.wrong.statement[-5:] for pair in pairs_of(items))
    assert said["itis."] > 2 * said.total() / 3


def test_words_are_no_more_balanced_than_by_chance() -> None:
    """With few questions the full odds would make what is right in one wrong in the others."""
    draw = random.Random(20261211)
    items = [
        item(f"Case {n}. What is it?", draw.sample([f"Disease {k}" for k in range(100)], 4), 0, str(n))
        for n in range(150)
    ]
    assert Odds(items, 1).power < 0.2
