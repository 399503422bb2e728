"""Words that edits put in are as often taken out: what pairs exchange, and which of them are kept."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest

from builders.medhal.exchanges import exchange_of
from builders.medhal.items import Claim, Pair
from builders.medhal.versions import INDEX, LONE, content_hash, select
from builders.texts.origin import Origin
from ground.contracts.rows_text import MedhalTask


def pair(factual: str, wrong: str, rule: str = "antonym") -> Pair:
    return Pair(
        Origin("sumpubmed", "1", "1", "train"),
        "text",
        Claim(factual, factual=True, explanation=None, synthetic=False, rule="source"),
        Claim(wrong, factual=False, explanation="because", synthetic=True, rule=rule),
    )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("X is high.", "X is low."), ("Y was low here.", "Y was high here."), True),
        (("We saw two rats.", "We saw five rats."), ("Of five dogs.", "Of two dogs."), True),
        (("It took 20 days.", "It took 40 days."), ("Some 1,200 g of it.", "Some 480 g of it."), True),
        (("X is high.", "X is low."), ("X is rare.", "X is common."), False),
    ],
)
def test_an_exchange_is_the_same_both_ways(one: tuple[str, str], other: tuple[str, str], same: bool) -> None:
    (first, way), (second, back) = (exchanged(pair(*texts)) for texts in (one, other))
    assert (first == second) is same
    assert way is not back or not same
    assert exchanged(pair(*one[::-1])) == (first, not way)


def exchanged(given: Pair, task: MedhalTask = "summarization") -> tuple[int, bool]:
    exchange = exchange_of(given, task)
    assert exchange is not None
    return exchange


def test_denials_are_one_exchange() -> None:
    added = exchanged(pair("It helps.", "It does not help.", "negation_added"))
    removed = exchanged(pair("It did not end.", "It ended.", "negation_removed"))
    assert added[0] == removed[0] and added[1] is not removed[1]


@pytest.mark.parametrize(
    ("task", "rule"),
    [
        ("question_answering", "option"),
        ("information_extraction", "antonym"),
        ("record_facts", "antonym"),
        ("summarization", "lm"),
        ("question_answering", "lm"),
    ],
)
def test_what_is_drawn_from_one_list_or_written_by_a_model_is_no_exchange(task: MedhalTask, rule: str) -> None:
    assert exchange_of(pair("It is not X.", "It is not Y.", rule), task) is None
    assert rule != "lm" or exchange_of(pair("It helps.", "It does not help.", rule), task) is None


def test_an_answer_that_is_denied_in_one_statement_only_is_an_exchange() -> None:
    """Of questions that are answered by yes or no, most are answered by yes."""
    task: MedhalTask = "question_answering"
    yes = exchanged(pair("It helps.", "It does not help.", "yes_no"), task)
    no = exchanged(pair("Age is not a risk.", "Age is a risk.", "yes_no"), task)
    assert yes[0] == no[0] and yes[1] is not no[1]
    assert exchanged(pair("It can help.", "It cannot help.", "yes_no"), task)[0] != yes[0]


def index_of(exchanges: list[tuple[int, bool] | None]) -> pl.DataFrame:
    hashes = {
        name: [content_hash(f"{name} {at}") for at in range(len(exchanges))]
        for name in ("pair", "document", "context", "factual", "wrong", "lot")
    }
    same = {"short": True, "source": "sumpubmed", "task": "summarization", "split": "train"}
    columns = {
        **hashes,
        "exchange": [one[0] if one else None for one in exchanges],
        "way": [one is not None and one[1] for one in exchanges],
        **{name: [value] * len(exchanges) for name, value in same.items()},
    }
    return pl.DataFrame(columns, INDEX)


def test_no_exchange_goes_one_way_more_often_than_the_other_but_for_one() -> None:
    rarely, level = content_hash("rarely"), content_hash("level")
    exchanges = [*[(rarely, True)] * 9, *[(level, False)] * 4, *[(level, True)] * 6, *[None] * 5]
    selection = select([index_of(exchanges)])
    kept = Counter(one for one, stays in zip(exchanges, selection.pairs["kept"], strict=True) if stays)
    assert kept[rarely, True] == LONE
    assert (kept[level, False], kept[level, True]) == (4, 4 + LONE)
    assert kept[None] == 5
    assert selection.dropped == {("sumpubmed", "one_way_exchange"): 9 - LONE + 6 - 4 - LONE}


def test_which_pairs_stay_does_not_depend_on_their_order_or_their_parts() -> None:
    index = index_of([(content_hash("rarely"), True)] * 30)
    kept = select([index]).pairs["kept"].to_list()
    assert select([index.reverse()]).pairs["kept"].to_list() == kept[::-1]
    assert select([index[:7], index[7:]]).pairs["kept"].to_list() == kept
    assert select([]).pairs.is_empty()
