"""NLI as pairs of claims: an entailed and a contradicted hypothesis of the same premise (MedHal, section 3.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from builders.medhal.items import Claim, NliItem, Pair
from builders.texts.origin import Origin, Tally
from ground.settings import MedhalSettings
from ground.stable import stable_hash

__all__ = ["nli_pairs"]

RULE = "source"


@dataclass
class _Premise:
    """Hypotheses of one premise in one split, by label; each with the origin that names it."""

    text: str
    hypotheses: dict[bool, list[tuple[str, Origin]]] = field(default_factory=lambda: {True: [], False: []})


def nli_pairs(items: Iterable[NliItem], settings: MedhalSettings, tally: Tally) -> Iterator[Pair]:
    """Pair the hypotheses of each premise; they stay as their authors wrote them, and have no explanation.

    A factual row needs a partner, so what has none is counted and left out. Where a premise has several of a label
    they meet in the order of their hashes. Hypotheses of one source are held at once: the sources of this task have
    some 11,000 and 2,400 of them.

    Yields:
        Pairs in the order of the hashes of their premises, which does not depend on the order of the items.
    """
    premises: dict[tuple[str, str, int], _Premise] = {}
    for item in items:
        key = (item.origin.source, item.origin.split, stable_hash(0, "premise", item.premise))
        held = premises.setdefault(key, _Premise(item.premise))
        held.hypotheses[item.entailed].append((item.hypothesis, item.origin))
    for _, held in sorted(premises.items(), key=lambda entry: entry[0]):
        yield from _paired(held, settings.seed, tally)


def _paired(premise: _Premise, seed: int, tally: Tally) -> Iterator[Pair]:
    def order(hypothesis: tuple[str, Origin]) -> tuple[int, str]:
        return stable_hash(seed, "hypothesis", hypothesis[1].inner_id), hypothesis[1].inner_id

    entailed, contradicted = (sorted(premise.hypotheses[label], key=order) for label in (True, False))
    for (text, origin), (wrong, other) in zip(entailed, contradicted, strict=False):
        if " ".join(text.casefold().split()) == " ".join(wrong.casefold().split()):
            tally.drop(origin.source, "same_statement", 2)
            continue
        yield Pair(
            origin=replace(origin, inner_id=f"{origin.inner_id}+{other.inner_id}"),
            context=premise.text,
            factual=Claim(text, factual=True, explanation=None, synthetic=False, rule=RULE),
            wrong=Claim(wrong, factual=False, explanation=None, synthetic=False, rule=RULE, falsity="contradicted"),
        )
    paired = min(len(entailed), len(contradicted))
    for _, origin in (*entailed[paired:], *contradicted[paired:]):
        tally.drop(origin.source, "no_partner")
