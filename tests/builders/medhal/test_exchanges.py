"""Words that edits put in are as often taken out: what pairs exchange, and which of them are kept."""

from __future__ import annotations

from collections import Counter

import pytest

from builders.medhal.exchanges import exchange_of
from builders.medhal.items import Claim, Pair
from builders.medhal.versions import LONE, NO_EXCHANGE, PairIndex, content_hash, select
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
    (first, way), (second, back) = (exchange_of(pair(*texts), "summarization") for texts in (one, other))
    assert (first == second) is same
    assert way is not back or not same
    assert exchange_of(pair(*one[::-1]), "summarization") == (first, not way)


def test_denials_are_one_exchange_and_what_is_drawn_from_one_list_is_none() -> None:
    added = exchange_of(pair("It helps.", "It does not help.", "negation_added"), "summarization")
    removed = exchange_of(pair("It did not end.", "It ended.", "negation_removed"), "summarization")
    assert added[0] == removed[0] and added[1] is not removed[1]
    tasks: tuple[MedhalTask, ...] = ("question_answering", "information_extraction", "record_facts")
    assert {exchange_of(pair("X is high.", "X is low."), task)[0] for task in tasks} == {NO_EXCHANGE}
    assert exchange_of(pair("X is high.", "X is low.", "lm"), "summarization")[0] == NO_EXCHANGE


def test_an_answer_that_is_denied_in_one_statement_only_is_an_exchange() -> None:
    """Of questions that are answered by yes or no, most are answered by yes."""
    task: MedhalTask = "question_answering"
    yes = exchange_of(pair("It helps.", "It does not help.", "yes_no"), task)
    no = exchange_of(pair("Age is not a risk.", "Age is a risk.", "yes_no"), task)
    assert yes[0] == no[0] != NO_EXCHANGE and yes[1] is not no[1]
    assert exchange_of(pair("It can help.", "It cannot help.", "yes_no"), task)[0] != yes[0]
    assert exchange_of(pair("It is not X.", "It is not Y.", "option"), task)[0] == NO_EXCHANGE
    assert exchange_of(pair("It helps.", "It does not help.", "lm"), task)[0] == NO_EXCHANGE


def indexed(exchanges: list[tuple[int, bool]]) -> PairIndex:
    index = PairIndex(("sumpubmed",))
    for at, exchange in enumerate(exchanges):
        index.add(
            pair=content_hash(f"pair {at}"),
            document=content_hash(f"document {at}"),
            context=content_hash(f"context {at}"),
            factual=content_hash(f"factual {at}"),
            wrong=content_hash(f"wrong {at}"),
            lot=content_hash(f"lot {at}"),
            task="summarization",
            source="sumpubmed",
            split="train",
            short=True,
            exchange=exchange,
        )
    return index


def test_no_exchange_goes_one_way_more_often_than_the_other_but_for_one() -> None:
    rarely, level = content_hash("rarely"), content_hash("level")
    exchanges = [(rarely, True)] * 9 + [(level, False)] * 4 + [(level, True)] * 6 + [(NO_EXCHANGE, True)] * 5
    selection = select(indexed(exchanges))
    kept = Counter(one for one, stays in zip(exchanges, selection.kept, strict=True) if stays)
    assert kept[rarely, True] == LONE
    assert (kept[level, False], kept[level, True]) == (4, 4 + LONE)
    assert kept[NO_EXCHANGE, True] == 5
    assert selection.dropped == {("sumpubmed", "one_way_exchange"): 9 - LONE + 6 - 4 - LONE}


def test_which_pairs_stay_does_not_depend_on_their_order() -> None:
    exchanges = [(content_hash("rarely"), True)] * 30
    index = indexed(exchanges)
    turned = indexed(exchanges)
    for name in ("pair", "document", "context", "factual", "wrong", "lot"):
        getattr(turned, name).reverse()
    assert select(turned).kept[::-1].tolist() == select(index).kept.tolist()
    assert select(indexed([])).kept.tolist() == []
