"""Our own facts as pairs of claims: both statements are written by rule, the second one with its explanation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from builders.medhal.items import Claim, FactPair, Pair
from builders.texts.origin import Tally

__all__ = ["fact_pairs"]


def fact_pairs(items: Iterable[FactPair], tally: Tally) -> Iterator[Pair]:
    """Turn pairs of statements into pairs of claims; the rule of a claim names its quadrant.

    The judge of these rows is the graph (`builders.medhal.judge_graph`), which needs no guidance.
    """
    for item in items:
        if item.statement == item.wrong:
            tally.drop(item.origin.source, "same_statement")
            continue
        wrong = f"record_fact_{item.quadrant.lower()}"
        yield Pair(
            origin=item.origin,
            context=item.context,
            factual=Claim(item.statement, factual=True, explanation=None, synthetic=True, rule="record_fact_q1"),
            # Neither record nor graph is complete: what they lack is not refuted.
            wrong=Claim(
                item.wrong,
                factual=False,
                explanation=item.explanation,
                synthetic=True,
                rule=wrong,
                falsity="unsupported",
            ),
        )
