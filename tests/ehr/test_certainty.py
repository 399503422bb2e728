"""How sure a mention is: which words beside it, which other mentions and which places make it unsure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ehr.assertion import assert_arrays
from ehr.certainty import (
    ASSERTIONS,
    DOUBTS,
    NOTHING_AGAINST,
    SAID_OTHERWISE,
    TIME,
    UNSURE,
    in_words,
    named_in,
    reasons_of,
)
from ehr.characters import IndexArray, codes_of, cut_out
from ehr.learned import GROUPS, MODEL, inputs_of, load_model
from ehr.learned_scan import (
    BESIDE,
    COLUMNS,
    LAYOUT,
    TABLE,
    ChoiceArray,
    Inputs,
    Model,
    WeightArray,
    features_of,
    scores_of,
)
from ehr.lexicon import Lexicon, build_lexicon
from ehr.reading import TextReader
from ehr.segments import segment_arrays
from ehr.spans import KINDS, Assertion, Kind, Section
from ground.compiled import read_only
from ground.errors import InputError
from ground.settings import NoteSettings
from ground.storage.warehouse import connect
from tests.ehr.test_lexicon import fill

COURSE = "brief_hospital_course"


def reasons(text: str, *mentions: tuple[str, Kind], section: str = COURSE) -> list[tuple[str, list[str]]]:
    """Return what is asserted of the mentions of a one-section note, and why each is unsure."""
    sections = [Section(section, "", 0, len(text))]
    begins = [text.index(mention) for mention, _ in mentions]
    codes = codes_of(text)
    found, doubts = assert_arrays(
        codes,
        [0],
        [section],
        [False],
        segment_arrays(codes, sections),
        np.array(begins, dtype=np.int32),
        np.array([begin + len(mention) for begin, (mention, _) in zip(begins, mentions, strict=True)], dtype=np.int32),
        np.array([KINDS.index(kind) for _, kind in mentions], dtype=np.int32),
    )
    assertions = [ASSERTIONS[number] for number in found.tolist()]
    concepts, kinds = range(len(mentions)), [kind for _, kind in mentions]
    named = named_reasons(list(concepts), kinds, section, assertions, doubts.tolist())
    return [(assertion.value, list(why)) for assertion, why in zip(assertions, named, strict=True)]


def named_reasons(
    concepts: Sequence[int], kinds: Sequence[Kind], section: str, assertions: Sequence[Assertion], doubts: Sequence[int]
) -> list[tuple[str, ...]]:
    """Return why each mention of a text is unsure."""
    numbers = [np.array([KINDS.index(kind) for kind in kinds], dtype=np.int32), np.array(concepts, dtype=np.int32)]
    one = np.zeros_like(numbers[0])
    said = np.array([ASSERTIONS.index(assertion) for assertion in assertions], dtype=np.int64)
    named = named_in(one, numbers[1])
    found = reasons_of(named, numbers[0], [section], one, said, np.array(doubts, dtype=np.int64), one > 0)
    return [tuple(names) for names in in_words(found, NOTHING_AGAINST).to_pylist()]


def test_a_plain_statement_is_certain() -> None:
    found = reasons("Pneumonia improved on ceftriaxone.", ("Pneumonia", "disorder"), ("ceftriaxone", "drug"))
    assert found == [("present", []), ("present", [])]


@pytest.mark.parametrize(
    ("text", "mention", "kind", "why"),
    [
        ("Steroids, without need, for psychosis.", "Steroids", "drug", "negated"),
        ("Cough s/p hysterectomy for cancer.", "cancer", "disorder", "past"),
    ],
)
def test_a_trigger_that_does_not_reach_a_mention_makes_it_unsure(text: str, mention: str, kind: Kind, why: str) -> None:
    ((assertion, found),) = reasons(text, (mention, kind))
    assert assertion == "present" and why in found


def test_a_clause_ends_the_reach_of_triggers() -> None:
    (_, first), (_, second) = reasons("Edema is worse; no fever was seen.", ("Edema", "finding"), ("fever", "finding"))
    assert first == [] and second == []


def test_an_allergen_is_doubtful_wherever_it_is_named_and_a_symptom_that_went_is_not() -> None:
    assertions = [Assertion.PRESENT, Assertion.ALLERGY, Assertion.PRESENT, Assertion.ABSENT]
    found = named_reasons([1, 1, 2, 2], ["drug", "drug", "finding", "finding"], COURSE, assertions, [0] * 4)
    assert found == [(SAID_OTHERWISE,), (), (), ()]


def test_the_lists_of_the_discharge_stand_for_themselves() -> None:
    bits = 1 << DOUBTS.index("past")
    for section, why in (("discharge_diagnosis", ()), (COURSE, ("past",))):
        assert named_reasons([1], ["disorder"], section, [Assertion.PRESENT], [bits]) == [why]
    stopped = 1 << DOUBTS.index("stopped")
    assert named_reasons([1], ["drug"], "discharge_medications", [Assertion.PRESENT], [stopped]) == [("stopped",)]


def test_a_treatment_of_the_history_may_be_of_another_time() -> None:
    for kind, why in (("drug", (TIME,)), ("procedure", (TIME,)), ("disorder", ())):
        found = named_reasons([1], [kind], "history_of_present_illness", [Assertion.PRESENT], [0])  # type: ignore[list-item]
        assert found == [why]


def test_what_a_mention_is_said_to_be_is_no_reason_to_doubt_it() -> None:
    assert named_reasons([1], ["disorder"], COURSE, [Assertion.ABSENT], [1 << DOUBTS.index("negated")]) == [()]


NOTES = (
    "Chief Complaint:\nPneumonia\n \nPast Medical History:\nHTN, no COPD\n \nBrief Hospital Course:\n"
    "Started on warfarin. No pneumonia on CT. Question of COPD in 2019, ruled out last winter.\n",
    "",
    "Denies pneumonia.\nCOPD: No\nHTN: Yes\r\nEdema at her mother's.",
    "warfarin\n\n\nwarfarin was stopped ___ and hypertension came back",
)


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory: pytest.TempPathFactory) -> Lexicon:
    with connect(tmp_path_factory.mktemp("named") / "warehouse.duckdb") as connection:
        fill(connection)
        return build_lexicon(connection)


def reader(lexicon: Lexicon, certainty: Literal["learned", "rules"]) -> TextReader:
    return TextReader.of(lexicon, NoteSettings(certainty=certainty))


def read_inputs(lexicon: Lexicon, notes: Sequence[str]) -> Inputs:
    texts, _, _ = reader(lexicon, "rules").join(notes)
    judged = reader(lexicon, "rules").judge(texts)
    named = named_in(judged.clear.owner, lexicon.best[judged.clear.entry])
    return inputs_of(texts, judged.clear, lexicon, named, judged.assertion, judged.unsure)


def model_of(weights: WeightArray, least: IndexArray, choice: ChoiceArray | None = None) -> Model:
    """Return a model as the learned one is opened: a scan is compiled once more for arrays that can be written."""
    choice = np.zeros((TABLE, len(ASSERTIONS) + 1), np.int8) if choice is None else choice
    return Model(read_only(weights), read_only(least), read_only(choice))


def test_a_score_is_the_sum_of_whole_weights_of_its_own_group(lexicon: Lexicon) -> None:
    inputs, model = read_inputs(lexicon, NOTES), load_model()
    sums, likeliest, against = scores_of(inputs, model)
    group = inputs.mentions[:, COLUMNS.index("group")]
    assert group.size >= 8 and set(group.tolist()) == {0, 1, 2}
    least = model.least[group, inputs.mentions[:, COLUMNS.index("kind")]]
    assert (against[sums >= least] == -1).all() and (sums < least).any()
    by_rules = inputs.mentions[:, COLUMNS.index("assertion")]
    assert (likeliest == by_rules)[sums >= least].all()
    ones = [np.full((len(GROUPS), TABLE), one, np.int16) for one in (1, -2)]
    counted, twice = (scores_of(inputs, model_of(weights, model.least))[0] for weights in ones)
    assert (counted > 0).all() and (twice == -2 * counted).all()
    for number in range(len(GROUPS)):
        own = np.where(np.arange(len(GROUPS))[:, None] == number, model.weights, 0).astype(np.int16)
        assert (scores_of(inputs, model_of(own, model.least))[0] == np.where(group == number, sums, 0)).all()


def test_what_was_learned_says_the_same_of_a_note_among_others(lexicon: Lexicon) -> None:
    # With weights drawn at random no two features are taken for one another.
    weights = np.random.default_rng(0).integers(-9_000, 9_000, (len(GROUPS), TABLE)).astype(np.int16)
    drawn = model_of(weights, np.zeros((len(GROUPS), len(KINDS)), np.int64))
    alone = [scores_of(read_inputs(lexicon, [note]), drawn)[0].tolist() for note in NOTES]
    for order in ((0, 1, 2, 3), (3, 2, 0, 1), (2, 2, 0, 3)):
        together = scores_of(read_inputs(lexicon, [NOTES[number] for number in order]), drawn)[0].tolist()
        assert together == [score for number in order for score in alone[number]]


def test_what_mentions_share_is_as_if_each_stood_alone(lexicon: Lexicon) -> None:
    inputs = read_inputs(lexicon, NOTES)
    together, rows = features_of(inputs)[:, LAYOUT:BESIDE], range(len(inputs.mentions))
    alone = [features_of(inputs._replace(mentions=inputs.mentions[row : row + 1].copy())) for row in rows]
    assert together.shape[0] >= 8 and (together == np.concatenate(alone)[:, LAYOUT:BESIDE]).all()


def test_rules_alone_decide_where_that_is_set(lexicon: Lexicon) -> None:
    by_rules, learned = (reader(lexicon, one).read_all(NOTES) for one in ("rules", "learned"))
    pairs = [
        pair
        for texts in zip(by_rules, learned, strict=True)
        for pair in zip(*(one.mentions for one in texts), strict=True)
    ]
    assert {why for rules, _ in pairs for why in rules.unsure} <= {*UNSURE}
    assert all((rules.begin, rules.end) == (one.begin, one.end) for rules, one in pairs)
    assert all(rules.assertion == one.assertion for rules, one in pairs if not one.unsure)
    words = [why for _, one in pairs for why in one.unsure if why not in UNSURE]
    assert words and all(re.fullmatch(r"learned: (\S| )+", why) for why in words)
    assert any('"' in why for why in words)


def test_a_model_of_no_weights_trusts_nothing_and_says_so(lexicon: Lexicon) -> None:
    nothing = model_of(np.zeros((len(GROUPS), TABLE), np.int16), np.ones((len(GROUPS), len(KINDS)), np.int64))
    (read,) = TextReader(lexicon, model=nothing).read_all(["Pneumonia. Father had COPD."])
    assert [one.unsure for one in read.mentions] == [("learned: little speaks for it",)] * 2


def test_an_unsure_mention_has_the_likeliest_assertion(lexicon: Lexicon) -> None:
    weights, least = np.zeros((len(GROUPS), TABLE), np.int16), np.ones((len(GROUPS), len(KINDS)), np.int64)
    for asserted in (*ASSERTIONS, None):
        choice = np.zeros((TABLE, len(ASSERTIONS) + 1), np.int8)
        choice[:, ASSERTIONS.index(asserted) if asserted else -1] = 1
        learned, rules = (
            TextReader(lexicon, model=model).read_all(["Pneumonia. Father had COPD."])[0]
            for model in (model_of(weights, least, choice), None)
        )
        read, by_rules = ([one.assertion for one in reading.mentions] for reading in (learned, rules))
        if asserted is None:
            assert (read, [one.reason for one in learned.unclear]) == ([], ["other_meaning"] * 2)
        else:
            # A problem is no allergen and is not stopped.
            is_kept = asserted in (Assertion.ALLERGY, Assertion.DISCONTINUED)
            assert read == (by_rules if is_kept else [asserted] * 2)
        sure = model_of(weights, least - 1, choice)
        assert [
            one.assertion for one in TextReader(lexicon, model=sure).read_all(["Pneumonia."])[0].mentions
        ] == by_rules[:1]


def test_the_learned_file_is_small_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    assert MODEL.stat().st_size < 1_000_000
    damaged, other = tmp_path / "damaged.npz", tmp_path / "other.npz"
    damaged.write_bytes(MODEL.read_bytes()[:5000])
    with pytest.raises(InputError, match=r"cannot be read(.|\n)*damaged.npz"):
        load_model(damaged)
    np.savez(
        other, weights=np.zeros(8, np.int16), least=np.zeros((3, 4), np.int64), choice=np.zeros(1), slots=np.array(1)
    )
    with pytest.raises(InputError, match="another form"):
        load_model(other)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), st.lists(st.tuples(*[st.integers(0, 30)] * 4)))
def test_stretches_of_a_text_are_cut_out_as_slices(text: str, rows: list[tuple[int, int, int, int]]) -> None:
    places = np.minimum(np.array(rows, dtype=np.int64).reshape(-1, 2, 2), len(text))
    cut = ["".join(text[begin:end] for begin, end in row) for row in places.tolist()]
    begin, end = places[:, :, 0], places[:, :, 1]
    assert cut_out(codes_of(text), begin, end).to_pylist() == cut
