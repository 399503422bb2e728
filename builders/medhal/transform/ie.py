"""Information extraction as pairs of claims: values are swapped between documents within a type (MedHal, section 3.3).

An extracted value is used only where its words stand in the document; a value is swapped in only where what tells it
apart does not.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from builders.medhal.extraction import Value, note_of, read_value
from builders.medhal.items import Claim, Extraction, Pair
from builders.medhal.writers import ExtractionInWords, Writer, Written
from builders.texts.origin import Refusal, Tally
from ground.stable import stable_hash

__all__ = ["SwapPool", "extraction_pairs", "stated_extractions"]

BATCH = 1_000
STEPS = 24
"""Values that an extraction tries, at most, before it is left without a partner."""
RATIO = 1.5
"""How many times larger or smaller a quantity must be to be wrong beyond doubt."""


def stated_extractions(items: Iterable[Extraction], tally: Tally) -> Iterator[Extraction]:
    """Yield the values that their documents clearly state, and count the others."""
    for item in items:
        doubt = note_of(item.document).doubt(_value(item), item.reference)
        if doubt is None:
            yield item
        else:
            tally.drop(item.origin.source, doubt)


class SwapPool:
    """Values that may be swapped in: each group lies on a ring in the order of stable hashes of its values.

    An extraction begins at the value whose hash follows its own, so that an added document changes few choices and the
    order of the items none. Texts are not kept.

    Args:
        items: all extractions, read once.
        seed: of the choices.
    """

    def __init__(self, items: Iterable[Extraction], seed: int) -> None:
        self._seed = seed
        groups: dict[str, dict[str, Value]] = {}
        for item in items:
            value = _value(item)
            if value.marks:
                spelt = groups.setdefault(_group(item, value), {})
                words = " ".join(value.words)
                spelt[words] = min(value, spelt.get(words, value), key=lambda spelling: spelling.text)
        self._rings = {
            group: sorted(
                (stable_hash(seed, "swapped in", group, words), words, value) for words, value in spelt.items()
            )
            for group, spelt in groups.items()
        }

    def wrong_value(self, item: Extraction) -> Value | None:
        """Return a value of another document that is wrong of an extraction's document, None where there is none.

        It has none of its marks there, is far enough from the right one, and names no part of the body that the right
        one names.
        """
        right, note = _value(item), note_of(item.document)
        if right.opposite is not None:
            return read_value(item.category, item.concept, right.opposite)
        ring = self._rings.get(_group(item, right), [])
        start = bisect_right(ring, stable_hash(self._seed, "swapped out", item.origin.inner_id), key=lambda at: at[0])
        nexts = (ring[(start + step) % len(ring)][2] for step in range(min(STEPS, len(ring))))
        return next((value for value in nexts if note.lacks(value) and _far(right, value)), None)


def _value(item: Extraction) -> Value:
    return read_value(item.category, item.concept, item.value)


def _group(item: Extraction, value: Value) -> str:
    return "/".join((item.origin.source, item.value_type, value.kind or "", value.group))


def _far(right: Value, wrong: Value) -> bool:
    if right.size is not None and wrong.size is not None:
        return max(right.size, wrong.size) >= RATIO * min(right.size, wrong.size)
    return right.regions.isdisjoint(wrong.regions)


def extraction_pairs(items: Iterable[Extraction], writer: Writer, tally: Tally, pool: SwapPool) -> Iterator[Pair]:
    """Turn extracted values into a factual sentence and one with a value of another document.

    Both sentences are written from the same parts but the value. The explanation of the second is the first; guidance
    is the right value.

    Yields:
        Pairs in the order of the items.
    """
    stream = iter(items)
    while batch := list(islice(stream, BATCH)):
        swaps = []
        for item in batch:
            if (wrong := pool.wrong_value(item)) is None:
                tally.drop(item.origin.source, "no_partner")
            else:
                swaps.append((item, _value(item), wrong))
        yield from _worded(swaps, writer, tally)


def _worded(swaps: Sequence[tuple[Extraction, Value, Value]], writer: Writer, tally: Tally) -> Iterator[Pair]:
    """Have both values worded, and yield the pairs for which the writer did so."""
    asked = [
        ExtractionInWords(item.category, item.concept, value.text, item.reference)
        for item, *values in swaps
        for value in values
    ]
    written = writer.extractions(asked)
    for (item, value, _), factual, wrong in zip(swaps, written[::2], written[1::2], strict=True):
        if isinstance(factual, Refusal):
            tally.drop(item.origin.source, factual.reason)
        elif isinstance(wrong, Refusal):
            tally.drop(item.origin.source, wrong.reason)
        elif factual.text == wrong.text:
            tally.drop(item.origin.source, "same_statement")
        else:
            yield _pair(item, value, factual, wrong)


def _pair(item: Extraction, value: Value, factual: Written, wrong: Written) -> Pair:
    # A quantity, and what has an opposite, has one value; a further symptom is only not mentioned.
    has_one_value = value.opposite is not None or value.size is not None
    return Pair(
        origin=item.origin,
        context=item.document,
        factual=Claim(factual.text, factual=True, explanation=None, synthetic=True, rule=factual.rule),
        wrong=Claim(
            wrong.text,
            factual=False,
            explanation=factual.text,
            synthetic=True,
            rule=wrong.rule,
            falsity="contradicted" if has_one_value else "unsupported",
        ),
        guidance=value.text,
    )
