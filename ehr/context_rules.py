"""The rules of ``ehr.assertion``, read from tables: what each phrase says, as tokens.

``data/context_rules.tsv`` has one family of triggers a line; ``(was|were|) held`` stands for ``was held``, ``were
held`` and ``held``.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import get_args

from ehr.characters import plain
from ehr.sections import header_rules
from ehr.spans import Assertion, Kind
from ground import ROOT
from ground.storage.own_rules import NO_RULES, OwnRules
from ground.storage.tables import Row, read_table

__all__ = ["DIRECTIONS", "RELATIVE", "SCOPES", "Phrase", "Rule", "RuleSet", "load_rules"]

_TOKEN = re.compile(r"<[a-z]+>|[a-z0-9]+(?:'[a-z]+|\.[0-9]+)?|_+|[^\sa-z0-9]")

_DATA = ROOT / "ehr" / "data"
_RULE_COLUMNS = ("trigger", "category", "direction", "scope", "rank", "kinds", "sections", "source")
_MAX_RANK = 1000
_MAX_PHRASES = 200_000
_DEFAULT_COLUMNS = ("section", "kinds", "rank", "assertion", "source")
_CLASS_COLUMNS = ("terms", "class", "source")
RELATIVE = "<relative>"
"""Any word of the class ``relative``."""
_ALTERNATIVES = re.compile(r"\(([^()\s][^()]*\|[^()]*|\|[^()]*)\)")
DIRECTIONS = ("forward", "backward", "both", "within")
SCOPES = ("adjacent", "next", "chain", "list", "clause", "sentence", "opening")
_SCOPES = frozenset({*SCOPES, "hard", "soft", "none"})


@dataclass(frozen=True, slots=True)
class Rule:
    """What one family of triggers says, and of which mentions."""

    category: str
    """An assertion, ``stop`` (other scopes end here) or ``pseudo`` (looks like a trigger and is none)."""
    assertion: Assertion | None
    direction: str
    scope: str
    rank: int
    """Of the rules that reach a mention the highest rank wins, then the nearest trigger."""
    kinds: frozenset[str]
    """Kinds of mention, or classes of ``data/term_classes.tsv``; empty: all."""
    sections: frozenset[str]
    excluded: bool
    """Whether ``sections`` names where the rule does not hold."""
    order: int


Phrase = tuple[str, ...]
"""Its tokens."""


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All rules, by phrase."""

    phrases: dict[Phrase, list[Rule]]
    terms: dict[str, str]
    by_class: dict[str, frozenset[str]]
    defaults: dict[str, list[tuple[str, int, Assertion]]]

    def words(self, name: str) -> frozenset[str]:
        """The words of one class."""
        return self.by_class.get(name, frozenset())

    def rules(self) -> list[Rule]:
        """Return the rules that assert something, in the order of their lines."""
        by_order = {rule.order: rule for own in self.phrases.values() for rule in own}
        return [rule for _, rule in sorted(by_order.items()) if rule.assertion is not None]


@cache
def load_rules(own: OwnRules = NO_RULES) -> RuleSet:
    """The user's own rules, and those that ship with the package.

    Raises:
        InputError: a table is damaged; names its line.
    """
    classes = read_table(_DATA / "term_classes.tsv", _CLASS_COLUMNS)
    terms = {term: row["class"] for row in classes for term in row["terms"].split("|")}
    by_class = {name: frozenset(t for t, c in terms.items() if c == name) for name in sorted(set(terms.values()))}
    rules = RuleSet({}, terms, by_class, {})
    known = frozenset(get_args(Kind)) | frozenset(terms.values())
    sections = frozenset(rule.parent or rule.name for rule in header_rules(own).values())
    rows = [*own.rows("context_rules", _RULE_COLUMNS), *read_table(_DATA / "context_rules.tsv", _RULE_COLUMNS)]
    phrases, relative = 0, rules.words("relative")
    for order, row in enumerate(rows):
        phrases += math.prod(part.count("|") + 1 for part in _ALTERNATIVES.findall(row["trigger"]))
        if phrases > _MAX_PHRASES:
            raise row.refused("triggers stand for too many phrases", row["trigger"], f"at most {_MAX_PHRASES} in all")
        rule = _rule(row, order, known, sections)
        for phrase in _phrases(row["trigger"]):
            parts = tuple(RELATIVE if part in relative else part for part in _parts(phrase))
            own_rules = rules.phrases.setdefault(parts, [])
            if rule not in own_rules:
                own_rules.append(rule)
    for row in read_table(_DATA / "section_defaults.tsv", _DEFAULT_COLUMNS):
        rules.defaults.setdefault(row["section"], []).append(
            (row["kinds"], int(row["rank"]), Assertion(row["assertion"]))
        )
    return rules


def _rule(row: Row, order: int, known: frozenset[str], known_sections: frozenset[str]) -> Rule:
    category, direction, sections = row["category"], row["direction"], row["sections"]
    try:
        assertion = None if category in ("stop", "pseudo") else Assertion(category)
        kinds = frozenset() if row["kinds"] == "*" else frozenset(row["kinds"].split(","))
        rank = int(row["rank"])
        if abs(rank) > _MAX_RANK:
            raise ValueError(f"rank {rank}")
    except ValueError as error:
        expected = f"category: {', '.join((*Assertion, 'stop', 'pseudo'))}; rank: a whole number to {_MAX_RANK}"
        raise row.refused("an assertion rule cannot be read", f"{row['trigger']}: {error}", expected) from error
    for part, values, allowed in (
        ("kind", kinds, known),
        ("direction", {direction}, frozenset(DIRECTIONS)),
        ("scope", {row["scope"]}, _SCOPES),
        ("section", set() if sections == "*" else set(sections.removeprefix("!").split(",")), known_sections),
    ):
        if not values <= allowed:
            unknown = f"{row['trigger']}: {', '.join(sorted(values - allowed))}"
            raise row.refused(f"an assertion rule names an unknown {part}", unknown, ", ".join(sorted(allowed)))
    if any(word != sign for sign in "()|" for word in _ALTERNATIVES.sub("x", row["trigger"]).split() if sign in word):
        expected = "(one|other) for either word, not nested; a sign that the note has: blanks around it"
        raise row.refused("a trigger's alternatives cannot be read", row["trigger"], expected)
    if not all(map(_parts, _phrases(row["trigger"]))):
        raise row.refused("an assertion rule has no words", row["trigger"] or "nothing", "a trigger")
    named = frozenset() if sections == "*" else frozenset(sections.removeprefix("!").split(","))
    excluded = sections.startswith("!")
    return Rule(category, assertion, direction, row["scope"], rank, kinds, named, excluded, order)


def _phrases(pattern: str) -> Iterator[str]:
    """Every phrase that a trigger stands for; parentheses that stand for themselves have spaces around them."""
    pieces = _ALTERNATIVES.split(pattern)
    choices = [piece.split("|") if position % 2 else [piece] for position, piece in enumerate(pieces)]
    for choice in itertools.product(*choices):
        yield " ".join("".join(choice).split())


def _parts(phrase: str) -> list[str]:
    return _TOKEN.findall(plain(phrase).lower())
