"""More concepts that notes can speak of: invented kinds of the world's disorders, findings, procedures and drugs.

What is like the real thing: some concepts have very many kinds and most have few (shares fall with the rank, as in
Zipf's law); kinds have kinds, so that the hierarchy is deep in places; half of the kinds have the name of their base in
their own, a third have a synonym; drugs have the ending of what they are like (*-pril*), brands and salts; a kind has a
part of its base's facts, with its base's other ends or with kinds of these, so that degrees are uneven; in notes the
first kinds are frequent and the last ones rare; as many conditions as concepts of UMLS share a name with another one.
What is not: names are made of syllables, each kind has the place of its base in a story, abbreviations mean one thing,
and no kind has an ICD code, so that no code speaks for it. None of the other shares is measured on a release.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, partial
from itertools import product

from ground.errors import UsageError
from ground.stable import stable_hash, stable_unit
from openworld.world import Concept, Drug, Knowledge

__all__ = ["MOST_CONCEPTS", "knowledge"]

MOST_CONCEPTS = 24_000
"""Each kind of concept has the room of 10,000 CUIs (`openworld.world.CUI_BASE`)."""
SHARES = {"disorder": 0.35, "finding": 0.1, "procedure": 0.1, "drug": 0.25, "brand": 0.15, "salt": 0.05}
"""Of the concepts that are added."""
OF_KIND = 0.7
"""Share of kinds that are a kind of the base itself; the others are a kind of an earlier kind."""
KEPT_FACTS = 0.5
"""Share of the base's facts that a kind has."""
NOT_TAKEN = ("is_a", "tradename_of", "form_of", "combination_part")
"""What is said of the base alone."""
AMBIGUOUS = 0.03
"""Share of kinds that have a name in common with another one: of over a million concepts of UMLS 2005AA 36,113 had one
(Aronson and Shooshan, Ambiguity in the UMLS Metathesaurus, 2005 edition, table 1)."""
SEED = 0
ONSETS = ("b", "br", "d", "dr", "f", "g", "gl", "k", "kl", "l", "m", "n", "p", "pr", "r", "s", "t", "tr", "v", "z")
VOWELS = ("a", "e", "i", "o", "u")
CODAS = ("l", "m", "n", "r", "s", "x")
STEM_LETTERS = 4
SALTS = ("hydrochloride", "sodium", "maleate", "tartrate", "succinate")
ENDINGS = {"disorder": ("osis", "opathy", "itis"), "finding": ("algia", "uria"), "procedure": ("ectomy", "oscopy")}


def _words() -> Iterator[str]:
    """Yield invented words, each once: three syllables, in an order that mixes them."""
    syllables = ["".join(letters) for letters in product(ONSETS, VOWELS)]
    closed = ["".join(letters) for letters in product(ONSETS, VOWELS, CODAS)]
    count = len(syllables) ** 2 * len(closed)
    for number in range(count):
        # A step that has no factor in common with the count visits every word.
        place = number * 7_368_787 % count
        first, rest = divmod(place, len(syllables) * len(closed))
        second, third = divmod(rest, len(closed))
        yield syllables[first] + syllables[second] + closed[third]


def _ranked(names: list[str], count: int, about: str) -> Iterator[tuple[str, int]]:
    """Yield (name, how many of ``count`` kinds it gets): shares fall with the rank, which a hash draws."""
    ranked = sorted(names, key=lambda name: stable_hash(SEED, about, name))
    whole = sum(1 / (rank + 1) for rank in range(len(ranked)))
    given, share = 0, 0.0
    for rank, name in enumerate(ranked):
        share += 1 / (rank + 1) / whole
        yield name, round(count * share) - given
        given = round(count * share)


class _Widening:
    """Adds kinds to what is known."""

    def __init__(self, known: Knowledge, count: int) -> None:
        self.known = known
        self.words = _words()
        self.kinds: dict[str, list[str]] = {}
        self.counts = {kind: round(count * share) for kind, share in SHARES.items()}
        self.facts: dict[str, list[tuple[str, str, str]]] = {}
        for key in sorted(known.is_stated):
            for name in {key[0], key[2]}:
                self.facts.setdefault(name, []).append(key)

    def conditions(self, kind: str) -> None:
        """Add kinds of disorders, findings or procedures."""
        own = [
            concept.name
            for concept in self.known.concepts.values()
            if concept.kind == kind and concept.course != "class"
        ]
        for base, count in _ranked(own, self.counts[kind], kind):
            kinds = [base]
            for number in range(count):
                kinds.append(self._condition(base, kinds, number).name)

    def _condition(self, base: str, kinds: list[str], number: int) -> Concept:
        model, word = self.known.concepts[base], next(self.words)
        eponym, own = f"{word.capitalize()} {base}", word + ENDINGS[model.kind][number % len(ENDINGS[model.kind])]
        name, other = (eponym, own) if number % 2 else (own, eponym)
        below = base if stable_unit(SEED, "below", name) <= OF_KIND else kinds[stable_hash(SEED, name) % len(kinds)]
        synonyms: tuple[str, ...] = (other,) if stable_unit(SEED, "synonym", name) <= 1 / 3 else ()
        if number and stable_unit(SEED, "ambiguous", name) <= AMBIGUOUS / 2:
            # Two concepts have the name then.
            synonyms += (kinds[1 + stable_hash(SEED, "namesake", name) % number],)
        concept = self.known.add(name, model.kind, model.types, synonyms=synonyms, parents=(below,))
        concept.course = model.course
        self._take_after(base, name)
        return concept

    def drugs(self) -> None:
        """Add ingredients beside those of the same classes, with brands and salts."""
        own = [name for name, drug in self.known.drugs.items() if drug.ingredients == (name,)]
        brands, salts = (self.counts[kind] / self.counts["drug"] for kind in ("brand", "salt"))
        for base, count in _ranked(own, self.counts["drug"], "drug"):
            for _ in range(count):
                self._drug(self.known.drugs[base], brands, salts)

    def _drug(self, model: Drug, brands: float, salts: float) -> None:
        known, word = self.known, next(self.words)
        name = word + model.name.split()[-1][-STEM_LETTERS:]
        known.add(name, "drug", known.concepts[model.name].types, parents=model.classes)
        has = (stable_unit(SEED, "brand", name) <= brands, stable_unit(SEED, "salt", name) <= salts)
        brand = (word[::-1].capitalize() + "a",) if has[0] else ()
        salt = (f"{name} {SALTS[stable_hash(SEED, name) % len(SALTS)]}",) if has[1] else ()
        for salt_name in salt:
            known.add(salt_name, "salt", known.concepts[name].types)
            known.state(salt_name, "form_of", name)
        known.add_brands(name, tuple(brand_name for brand_name in brand if brand_name not in known.concepts))
        known.drugs[name] = replace(model, name=name, brands=brand, salts=salt, ingredients=(name,))
        self._take_after(model.name, name)

    def _take_after(self, base: str, name: str) -> None:
        """State a part of the base's facts of a kind; the other end is the base's, or a kind of that one."""
        self.known.bases[name] = base
        facts = [fact for fact in self.facts.get(base, ()) if fact[1] not in NOT_TAKEN]
        # A drug is of some use.
        use = next((fact for fact in facts if fact[0] == base and fact[1] in ("treats", "prevents")), None)
        for fact in facts:
            if fact == use or stable_unit(SEED, name, *fact) <= KEPT_FACTS:
                head, predicate, tail = fact
                if head == base:
                    self.known.state(name, predicate, self._any_kind(tail, name, predicate), self.known.is_stated[fact])
                else:
                    self.known.state(self._any_kind(head, name, predicate), predicate, name, self.known.is_stated[fact])
        self.kinds.setdefault(base, []).append(name)

    def _any_kind(self, base: str, *about: str) -> str:
        kinds: list[str] = [base, *self.kinds.get(base, ())]
        return kinds[stable_hash(SEED, base, *about) % len(kinds)]


def _widen(known: Knowledge, concepts: int) -> None:
    """Add concepts until the world has so many.

    Raises:
        UsageError: it has more of its own, or there is no room for so many.
    """
    own = len(known.concepts)
    if not own <= concepts <= MOST_CONCEPTS:
        raise UsageError(
            "the number of concepts is out of range", found=str(concepts), expected=f"{own} to {MOST_CONCEPTS}"
        )
    widening = _Widening(known, concepts - own)
    for kind in ENDINGS:
        widening.conditions(kind)
    widening.drugs()


@lru_cache(maxsize=2)
def knowledge(concepts: int = 0) -> Knowledge:
    """Return the world that ships with the package, read once; with invented kinds where more concepts are wanted.

    Raises:
        UsageError: the world has more concepts of its own, or there is no room for so many.
    """
    return Knowledge(widen=partial(_widen, concepts=concepts)) if concepts else Knowledge()
