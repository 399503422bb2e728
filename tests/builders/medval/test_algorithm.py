"""Algorithm S1: levels, consistency, the filter, and what refusals leave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.medval.algorithm import Triple, _names_all, consistency, levels_of, make_triples, triple_id
from builders.medval.items import NO_EDIT, Edit, Item, Judgement, Output
from builders.texts.origin import Refusal
from ground.contracts.rows_text import RISK_LEVELS, MedvalErrorRow, RiskLevel
from ground.settings import MedvalSettings
from tests.builders.medval.toy_engine import ToyGenerator, ToyValidator, item

SEED = 7
THIRDS = st.sampled_from([0.0, 1 / 3, 2 / 3, 1.0])


def triples(*items: Item, tau: float = 0.9) -> list[Triple]:
    return make_triples(items, ToyGenerator(), ToyValidator(), MedvalSettings(seed=SEED, tau=tau))


@pytest.mark.parametrize(
    ("clean", "perturbed", "delta", "expected"),
    [
        (0, 1, 1, 1.0),  # full agreement: nothing is lost
        (0, 2 / 3, 1, 1 - (0 + 1 / 9 + 1 / 9) / 6),  # one level too low
        (1 / 3, 1, 1, 1 - (1 / 9 + 0 + 1 / 9) / 6),  # the clean output one level too high
        (1 / 3, 1, 2 / 3, 1 - (1 / 9 + 1 / 9 + 0) / 6),  # both one level too high: their difference is right
        (0, 1 / 3, 1, 1 - (0 + 4 / 9 + 4 / 9) / 6),  # two levels too low
        (1, 0, 1, 0.0),  # all that can be wrong
    ],
)
def test_consistency_worked_by_hand(clean: float, perturbed: float, delta: float, expected: float) -> None:
    assert consistency(clean, perturbed, delta) == pytest.approx(expected, abs=1e-12)


@given(THIRDS, THIRDS, THIRDS)
def test_consistency_lies_between_0_and_1_and_is_1_for_full_agreement_only(
    clean: float, perturbed: float, delta: float
) -> None:
    value = float(consistency(clean, perturbed, delta))
    assert 0.0 <= value <= 1.0
    assert (value == 1.0) == (clean == 0.0 and perturbed == delta)


def test_levels_are_uniform_over_the_four_and_depend_on_seed_and_name_only() -> None:
    items = [item(number) for number in range(4000)]
    orders = [levels_of(SEED, one) for one in items]
    assert {tuple(sorted(order)) for order in orders} == {(1, 2), (3, 4)}
    for turn in range(2):
        assert all(900 < Counter(order[turn] for order in orders)[level] < 1100 for level in RISK_LEVELS)
    assert orders == [levels_of(SEED, item(number, text="other words")) for number in range(4000)]
    assert orders != [levels_of(SEED + 1, one) for one in items]


class ReachesSome(ToyGenerator):
    """Reaches level 4 only, and none of an input of length one."""

    def perturb(
        self, items: Sequence[Item], clean: Sequence[Output], levels: Sequence[RiskLevel]
    ) -> list[Output | Refusal]:
        made = super().perturb(items, clean, levels)
        return [
            answer if level == 4 and len(one.input) > 1 else Refusal(f"{NO_EDIT}{level}")
            for one, level, answer in zip(items, levels, made, strict=True)
        ]


def test_a_level_that_cannot_be_reached_gives_way_to_the_other_safe_or_unsafe_one() -> None:
    items = [item(number) for number in range(40)]
    found = make_triples(items, ReachesSome(), ToyValidator(), MedvalSettings(seed=SEED, tau=0))
    for triple in found:
        assert triple.drawn == levels_of(SEED, triple.item)[0]
        assert (triple.perturbed is not None) is (triple.drawn > 2 and triple.clean is not None)
    assert {triple.level for triple in found if triple.perturbed} == {4}
    assert {triple.drawn for triple in found if triple.perturbed} == {3, 4}


def test_without_redrawing_or_without_any_level_the_refusal_names_the_level_drawn() -> None:
    items = [item(number) for number in range(40)]
    once = make_triples(items, ReachesSome(), ToyValidator(), MedvalSettings(seed=SEED, tau=0, redraw=False))
    low = [triple for triple in once if triple.drawn < 3 and triple.clean is not None]
    assert low and all(triple.refusal == f"perturb: {NO_EDIT}{triple.drawn}" for triple in low)
    none = make_triples([item(1, text="x")], ReachesSome(), ToyValidator(), MedvalSettings(seed=SEED))[0]
    assert none.refusal == f"perturb: {NO_EDIT}{none.drawn}"
    assert none.perturbed is None


def test_a_triple_is_named_by_source_task_and_item() -> None:
    names = {
        triple_id(one)
        for one in (item(1), item(2), item(1, source="other"), item(1, task="dialogue2note"), item(1, text="x"))
    }
    assert len(names) == 4 and all(len(name) == 16 for name in names)


def test_the_filter_keeps_from_tau_on_and_tau_0_keeps_all_that_was_judged() -> None:
    harsh = [item(number, f"harsh {number}") for number in range(8)]
    by_tau = {tau: [one.kept for one in triples(*harsh, tau=tau)] for tau in (0.0, 0.5, 1.0)}
    # Both outputs are judged 4: M = 1 - (1 + (1 - delta)^2 + delta^2) / 6.
    expected = [1 - (1 + (1 - one.delta) ** 2 + one.delta**2) / 6 for one in triples(*harsh)]
    assert [one.consistency for one in triples(*harsh)] == pytest.approx(expected)
    assert by_tau[0.0] == [True] * 8 and by_tau[1.0] == [False] * 8
    assert by_tau[0.5] == [value >= 0.5 for value in expected]
    assert all(one.kept for one in triples(*(item(number) for number in range(8)), tau=1.0))


@pytest.mark.parametrize(
    ("words", "refusal", "there"),
    [
        ("no clean", "clean: no_clean", (False, False, False, False)),
        ("no perturb", "perturb: no_perturb", (True, False, False, False)),
        ("no judge", "judge_clean: no_judge", (True, True, False, False)),
        ("no judge perturbed only", "judge_perturbed: no_judge", (True, True, True, False)),
    ],
)
def test_a_refusal_is_named_with_its_step_and_leaves_what_came_before(
    words: str, refusal: str, there: tuple[bool, ...]
) -> None:
    made = triples(item(1), item(2, words), item(3))
    assert [one.item.origin.inner_id for one in made] == ["1", "2", "3"]
    assert [(one.kept, one.consistency, one.refusal) for one in made[::2]] == [(True, 1.0, None)] * 2
    found = (made[1].clean, made[1].perturbed, made[1].judged_clean, made[1].judged_perturbed)
    assert tuple(one is not None for one in found) == there
    assert (made[1].refusal, made[1].consistency) == (refusal, None)


def test_a_perturbed_output_like_the_clean_one_is_refused_except_at_level_1() -> None:
    made = triples(*(item(number, f"same {number}") for number in range(40)))
    assert {one.level for one in made} == set(RISK_LEVELS)
    assert all((one.refusal == "perturb: unchanged") == (one.level > 1) for one in made)
    assert all(one.kept == (one.level == 1) for one in made)


class QuotesElsewhere(ToyValidator):
    """Gives the right level for the wrong reason."""

    def judge(self, items: Sequence[Item], outputs: Sequence[str]) -> list[Judgement | Refusal]:
        return [
            replace(one, errors=tuple({**error, "quote": "output"} for error in one.errors))
            if isinstance(one, Judgement)
            else one
            for one in super().judge(items, outputs)
        ]


def test_an_output_with_an_error_that_is_not_named_is_no_row() -> None:
    items = [item(number) for number in range(40)]
    made = make_triples(items, ToyGenerator(), QuotesElsewhere(), MedvalSettings(seed=SEED))
    assert {one.level for one in made} == set(RISK_LEVELS)
    assert all((one.refusal == "judge_perturbed: unnamed_edit") == (one.level > 1) == (not one.kept) for one in made)
    named = make_triples(items, ToyGenerator(), ToyValidator(), MedvalSettings(seed=SEED))
    assert all(one.kept for one in named)


@pytest.mark.parametrize(
    ("before", "after", "quote", "named"),
    [
        ("tramadol 50 mg", "carvedilol 25 mg", "25 mg", False),
        ("tramadol 50 mg", "carvedilol 25 mg", "carvedilol", True),
        ("tramadol 50 mg", "tramadol 500 mg", "500 mg", True),
        ("no fever, ", "", "no fever", True),
    ],
)
def test_another_dose_does_not_name_another_drug(before: str, after: str, quote: str, named: bool) -> None:
    edit = Edit("made", "fabricated_claim", before, after, 0, "")
    error: MedvalErrorRow = {"category": "fabricated_claim", "text": "", "quote": quote, "quoted_from": "output"}
    assert _names_all(Judgement("", (error,), 3), [edit]) is named


def test_triples_do_not_depend_on_what_is_worked_on_together() -> None:
    items = [item(number, words) for number, words in enumerate(["", "harsh", "no judge", "same", "no clean", ""])]
    assert triples(*items) == [one for single in items for one in triples(single)]


class Constructs(ToyGenerator):
    """Knows the levels of its outputs."""

    by_construction = True


class OneTooHigh(ToyValidator):
    """Calls a perturbed output one level worse than it is."""

    def judge(self, items: Sequence[Item], outputs: Sequence[str]) -> list[Judgement | Refusal]:
        judged = super().judge(items, outputs)
        return [
            replace(one, risk_level=RISK_LEVELS[min(one.risk_level, 3)])
            if isinstance(one, Judgement) and "worse" in output
            else one
            for one, output in zip(judged, outputs, strict=True)
        ]


def test_levels_known_by_construction_have_no_consistency_and_the_validator_may_refuse_them() -> None:
    items = [item(number) for number in range(40)]
    agreed = make_triples(items, Constructs(), ToyValidator(), MedvalSettings(seed=SEED, tau=1))
    assert all(one.kept and one.consistency is None for one in agreed)
    bases = {one.label_basis(one.level, one.judged_perturbed) for one in agreed if one.judged_perturbed}
    assert bases == {"by_construction"}
    disputed = make_triples(items, Constructs(), OneTooHigh(), MedvalSettings(seed=SEED))
    of_level = {one.level: one for one in disputed}
    assert of_level[2].refusal == "judge_perturbed: other_outcome" and not of_level[2].kept
    for level, basis in ((1, "validator"), (3, "validator"), (4, "by_construction")):
        one = of_level[RISK_LEVELS[level - 1]]
        assert one.kept and one.judged_perturbed
        assert one.label_basis(one.level, one.judged_perturbed) == basis
