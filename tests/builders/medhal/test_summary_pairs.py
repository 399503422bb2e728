"""Summaries as pairs: one changed sentence in its place, what is refused, and a check that reads pairs on its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from builders.medhal.items import Pair, SummaryItem
from builders.medhal.rules.check_summary import check_summary
from builders.medhal.rules.contradict import contradict
from builders.medhal.sources import sumpubmed
from builders.medhal.transform.summary import capital, summary_pairs
from builders.medhal.writers import AnswerInWords, ExtractionInWords, SentenceToBreak, Writer, Written
from builders.texts.origin import Origin, Refusal, Tally
from builders.texts.sentences import sentences_of
from builders.texts.sources import text_sources
from ground.settings import MedhalSettings

SENTENCES = (
    "atrial fibrillation is a common arrhythmia of the elderly.",
    "serum potassium was significantly higher in treated patients than in untreated controls of the same age and sex.",
    "in the trial, three hospitals enrolled patients with newly diagnosed disease during the first winter season.",
    "these findings suggest that the new diuretic protects renal function in patients with advanced heart failure.",
    "it may help.",
)
SUMMARY = " ".join(SENTENCES)
TOLD = "Serum potassium was significantly higher in three treated patients than in untreated controls of the same age."
TEXT = (
    "atrial fibrillation is an arrhythmia. patients of 3 hospitals took a new diuretic. "
    "potassium rose in the treated arm. renal function was preserved."
)


class Rules:
    """The rules writer's part for summaries; it remembers what it was asked."""

    name: Literal["rules", "lm"] = "rules"

    def __init__(self, seed: int = 1) -> None:
        self.seed = seed
        self.asked: list[SentenceToBreak] = []

    def answers(self, asked: Sequence[AnswerInWords]) -> list[Written | Refusal]:
        return [Refusal("not_asked") for _ in asked]

    def extractions(self, asked: Sequence[ExtractionInWords]) -> list[Written | Refusal]:
        return [Refusal("not_asked") for _ in asked]

    def contradictions(self, asked: Sequence[SentenceToBreak]) -> list[Written | Refusal]:
        self.asked += asked
        return [contradict(one, self.seed) for one in asked]


class RefusesFirst(Rules):
    """A model that refuses the first sentence of each summary."""

    name: Literal["rules", "lm"] = "lm"

    def contradictions(self, asked: Sequence[SentenceToBreak]) -> list[Written | Refusal]:
        seen = {one.text for one in self.asked}
        made = super().contradictions(asked)
        return [found if one.text in seen else Refusal("no") for one, found in zip(asked, made, strict=True)]


def item(number: int = 1, summary: str = SUMMARY, text: str = TEXT) -> SummaryItem:
    return SummaryItem(Origin("sumpubmed", str(number), str(number), "train"), text, summary)


def pairs_of(
    items: Sequence[SummaryItem], writer: Writer | None = None, tally: Tally | None = None, pairs: int = 1
) -> list[Pair]:
    settings = MedhalSettings(pairs_per_summary=pairs)
    return list(summary_pairs(items, writer or Rules(), settings, tally if tally is not None else Tally()))


def test_a_pair_states_one_sentence_as_it_is_and_changed() -> None:
    [pair] = pairs_of([item()])
    sentence = next(one for one in SENTENCES[1:3] if pair.factual.statement == capital(one))
    assert pair.guidance == pair.factual.statement and pair.wrong.statement[0].isupper() and pair.context == TEXT
    assert pair.factual.factual and not pair.factual.synthetic and pair.factual.explanation is None
    assert not pair.wrong.factual and pair.wrong.synthetic and pair.factual.rule == "source" != pair.wrong.rule
    assert pair.wrong.statement != pair.factual.statement and len(sentences_of(pair.wrong.statement)) == 1
    assert pair.wrong.explanation == f"According to the source document, {sentence}"


def test_where_the_writer_refuses_a_sentence_the_next_one_is_changed() -> None:
    writer, tally = RefusesFirst(), Tally()
    [pair] = pairs_of([item()], writer, tally)
    assert tally.reasons()["sumpubmed: sentence_no"] == 1
    assert capital(writer.asked[1].sentence) == pair.guidance
    assert writer.asked[0].context == TEXT and writer.asked[0].text == SUMMARY


def test_the_rules_put_a_denial_in_only_where_no_sentence_has_another_edit() -> None:
    plain = "the treatment was tolerated by the patients who had been referred to the hospital during that long winter."
    lower = "the serum potassium of the patients was significantly higher after the treatment than it had been before."
    for number in range(12):
        writer = Rules()
        [mixed] = pairs_of([item(number, f"{plain} {lower}")], writer)
        assert mixed.guidance == capital(lower) and mixed.wrong.rule in ("antonym", "comparison")
        assert not any(one.denials for one in writer.asked)
        [only] = pairs_of([item(number, plain)])
        assert only.wrong.rule == "negation_added"


def test_further_pairs_state_one_sentence_that_stands_alone_and_repeat_no_statement() -> None:
    tally = Tally()
    pairs = pairs_of([item()], tally=tally, pairs=3)
    for pair in pairs:
        assert pair.factual.statement == pair.guidance and not pair.factual.statement.startswith("These")
    assert (
        len({pair.factual.statement for pair in pairs}) == len({pair.origin.inner_id for pair in pairs}) == len(pairs)
    )
    assert len(pairs) >= 2


def test_short_summaries_and_those_without_an_edit_are_counted() -> None:
    tally = Tally()
    plain = (
        "the committee of the society met in the garden of the old university near the river with guests and friends."
    )
    assert pairs_of([item(1, "it works."), item(2, plain)], tally=tally) == []
    assert tally.reasons() == {
        "sumpubmed: no_contradiction": 1,
        "sumpubmed: no_sentence_long_enough": 1,
        "sumpubmed: sentence_no_edit": 1,
    }


LOST = "potassium rose in <dig> of the treated patients, and in fewer untreated controls of the same age and sex."
SPLICED = "serum potassium was much higher in the treated patients, however, some of the controls had more of it."


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (LOST, "broken_english"),
        (SPLICED, "broken_english"),
        (SENTENCES[1].replace("untreated controls", "untreated controrls"), "broken_english"),
        (SENTENCES[1].replace(" than", ", as we found, when seen, again, than"), "of_many_parts"),
        (SENTENCES[1].replace("treated patients", "such crops"), "does_not_stand_alone"),
        (SENTENCES[1].replace("treated patients", "these pathways"), "does_not_stand_alone"),
        (SENTENCES[1].replace("treated patients", "this species"), "does_not_stand_alone"),
        (SENTENCES[1].replace("serum potassium", "serum or plasma potassium"), None),
    ],
)
def test_the_plainest_sentence_that_makes_sense_alone_is_stated(before: str, reason: str | None) -> None:
    tally = Tally()
    [pair] = pairs_of([item(1, f"{before} {SENTENCES[1]}")], tally=tally)
    assert pair.factual.statement == capital(SENTENCES[1])
    assert tally.reasons() == ({f"sumpubmed: sentence_{reason}": 1} if reason else {})


def test_pairs_do_not_depend_on_what_else_is_in_the_batch() -> None:
    items = [item(number) for number in range(300)]
    together = pairs_of(items)
    assert len(together) == 300
    assert together[137] == pairs_of([items[137]])[0]
    assert [pair.origin.inner_id for pair in together] == [f"{number}-1" for number in range(300)]


def test_a_change_that_the_text_makes_true_is_refused() -> None:
    sentence = "serum potassium concentrations increased strongly in diuretic-treated patients with heart failure."
    asked = SentenceToBreak("k", sentence, sentence)
    told = "serum potassium concentrations of diuretic-treated patients with heart failure did decrease weakly. "
    told += "serum potassium concentrations did not change strongly in diuretic-treated patients with heart failure."
    assert isinstance(contradict(asked, 1), Written)
    assert contradict(replace(asked, context=told), 1) == Refusal("stated_elsewhere")


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("keywords mouse liver genome https://example.org", "no_prose"),
        ("the committee met in the garden.", "no_edit"),
        ("it is unclear whether the dose might be higher.", "asserts_nothing"),
    ],
)
def test_sentences_that_cannot_be_contradicted_are_refused_by_reason(sentence: str, reason: str) -> None:
    assert contradict(SentenceToBreak("k", sentence, sentence), 1) == Refusal(reason)


def test_the_check_confirms_what_the_rules_write() -> None:
    plain = "the treatment was tolerated by the patients who had been referred to the hospital during that long winter."
    pairs = pairs_of([*(item(number) for number in range(40)), item(41, plain)], pairs=3)
    assert len(pairs) > 60 and {pair.wrong.rule for pair in pairs} >= {"comparison", "number", "negation_added"}
    assert [check_summary(pair) for pair in pairs] == [None] * len(pairs)


def test_the_check_finds_pairs_that_do_not_hold() -> None:
    [pair] = pairs_of([item(1, TOLD)])
    good = replace(
        pair,
        wrong=replace(
            pair.wrong,
            statement=TOLD.replace("higher", "lower"),
            explanation=f"According to the source document, {TOLD}",
        ),
    )
    assert check_summary(good) is None

    def reason(statement: str, explanation: str | None = good.wrong.explanation) -> str:
        found = check_summary(replace(good, wrong=replace(good.wrong, statement=statement, explanation=explanation)))
        assert found is not None
        return found.reason

    assert reason(pair.factual.statement) == "judge_change_is_too_large"
    assert reason("nothing of the kind was ever seen there by us at all.") == "judge_change_is_too_large"
    assert reason(good.wrong.statement, "It is wrong.") == "judge_explanation_lacks_original"
    stated = replace(good, context=f"{TEXT} {good.wrong.statement}")
    assert check_summary(stated) == Refusal("judge_changed_sentence_is_stated")
    miscounted = replace(good, context=TEXT.replace("3 hospitals", "four hospitals"))
    assert check_summary(miscounted) == Refusal("judge_number_not_in_context")
    assert check_summary(replace(good, guidance="never said.")) == Refusal("judge_original_not_in_summary")


def test_no_word_of_a_name_is_changed() -> None:
    sentence = "intervertebral disc disease is a common spinal disorder of dogs."
    asked = SentenceToBreak("k", sentence, sentence, "common spinal " * 5, denials=False)
    assert contradict(asked, 1) == Refusal("stated_elsewhere")
    assert isinstance(contradict(replace(asked, context="common spinal"), 1), Written)


@pytest.mark.real
def test_most_real_articles_give_a_pair_that_the_check_confirms(real_data: Path) -> None:
    folder, tally = real_data / "text" / "sumpubmed", Tally()
    pairs = pairs_of(list(sumpubmed.read(folder, text_sources()["sumpubmed"], tally)), tally=tally)
    assert len(pairs) >= 0.5 * tally.read["sumpubmed"]
    assert sum(check_summary(pair) is None for pair in pairs) >= 0.98 * len(pairs)
    rules = Counter(pair.wrong.rule for pair in pairs)
    assert {"antonym", "negation_added", "negation_removed", "comparison", "number"} <= rules.keys()
    assert rules["negation_added"] + rules["negation_removed"] < 0.4 * len(pairs)
