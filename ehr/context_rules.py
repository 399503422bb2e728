"""The rules of ``ehr.assertion``: read from tables, and as arrays for its compiled scan.

``data/context_rules.tsv`` has one family of triggers a line; ``(was|were|) held`` stands for ``was held``, ``were
held`` and ``held``.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, get_args

import numpy as np

from ehr.certainty import ASSERTIONS
from ehr.characters import HashArray, IndexArray, hash_of, plain
from ehr.sections import header_rules
from ehr.spans import KINDS, Assertion, Kind
from ground import ROOT
from ground.storage.own_rules import NO_RULES, OwnRules
from ground.storage.tables import Row, read_table

__all__ = ["ContextArrays", "Phrase", "Rule", "Rules", "Trie", "Vocabulary", "context_arrays", "load_rules"]

_TOKEN = re.compile(r"<[a-z]+>|[a-z0-9]+(?:'[a-z]+|\.[0-9]+)?|_+|\.{3}|[^\sa-z0-9]")
_DATA = ROOT / "ehr" / "data"
_RULE_COLUMNS = ("trigger", "category", "direction", "scope", "rank", "kinds", "sections", "source")
_MAX_RANK = 1000
_MAX_PHRASES = 200_000
_RELATIVE = "<relative>"
"""Any word of the class ``relative``."""
_ALTERNATIVES = re.compile(r"\(([^()\s][^()]*\|[^()]*|\|[^()]*)\)")
ABSENT, HISTORICAL = map(ASSERTIONS.index, (Assertion.ABSENT, Assertion.HISTORICAL))
SCOPES = ("adjacent", "next", "chain", "list", "clause", "sentence", "opening")
ADJACENT, NEXT, CHAIN, LIST, CLAUSE, SENTENCE, OPENING = range(len(SCOPES))
FORWARD, BACKWARD, WITHIN = 1, 2, 4
DIRECTIONS = {"forward": FORWARD, "backward": BACKWARD, "both": FORWARD | BACKWARD, "within": WITHIN}
# What a word is, as bits: the name of a class of ``term_classes.tsv``, or the words themselves. CLOSER ends a list's
# trigger at once; AND_JOINT joins a list closely, JOINT loosely.
_WORDS: tuple[str | frozenset[str], ...] = (
    frozenset({",", ".", ";", ")"}),
    frozenset({"/", "and", "or", "&", "-"}),
    frozenset({",", "/", "and", "or", "&", "-", "nor", "+", "and/or", "any", "including"}),
    *(frozenset(words.split()) for words in (",", ". ; ...", "and", "-", "on with w/ in since", ":")),
    *("dose", "status", "owner"),
)
CLOSER, AND_JOINT, JOINT, COMMA, STOP, AND, HYPHEN = (1 << bit for bit in range(7))
PREPOSITION, COLON, DOSE, STATUS, OWNER = (1 << bit for bit in range(7, len(_WORDS)))
# A number, a word with figures.
NUMBER, FIGURE = 1 << len(_WORDS), 2 << len(_WORDS)
# What the scan reads by its form: a year, a number, the end of a segment; and what stands over all of a section.
_FORMS = ("<year>", "<number>", "<end>", "<section>")
YEAR, ANY_NUMBER, SEGMENT_END, OF_SECTION = range(len(_FORMS))
# Tables of numbers, one type for all: each further type, and each further array, costs compilation. Columns:
KNOWN_BITS, KNOWN_CLASSES, KNOWN_NODE = range(3)
NODE_TRIGGER, CHILD, CHILD_END = range(3)
TRIGGER_RULES, TRIGGER_END, TRIGGER_HARD, TRIGGER_SOFT, TRIGGER_SOFT_WORD = range(5)
RULE_ASSERTION, RULE_RANK, RULE_SCOPE, RULE_DIRECTION, RULE_CLASSES, RULE_HOLDS = range(6)


@dataclass(frozen=True, slots=True)
class Rule:
    """What one family of triggers says, and of which mentions.

    Attributes:
        assertion: None of what ends other scopes, and of what looks like a trigger and is none.
        rank: of the rules that reach a mention the highest wins, then the nearest trigger.
        kinds: of mention, or classes of ``data/term_classes.tsv``; empty: all.
        excluded: whether ``sections`` names where the rule does not hold.
        order: of its line.
    """

    assertion: Assertion | None
    direction: str
    scope: str
    rank: int
    kinds: frozenset[str]
    sections: frozenset[str]
    excluded: bool
    order: int


Phrase = tuple[str, ...]
"""Its tokens."""


@cache
def _classes() -> dict[str, str]:
    """Return the class of each term that has one."""
    rows = read_table(_DATA / "term_classes.tsv", ("terms", "class", "source"))
    return {term: row["class"] for row in rows for term in row["terms"].split("|")}


@cache
def load_rules(own: OwnRules = NO_RULES) -> dict[Phrase, list[Rule]]:
    """Return the user's own rules, and those that ship with the package, by phrase.

    Raises:
        InputError: a table is damaged; names its line.
    """
    known = frozenset(get_args(Kind)) | frozenset(_classes().values())
    sections = frozenset(rule.parent or rule.name for rule in header_rules(own).values())
    rules: dict[Phrase, list[Rule]] = {}
    phrases = 0
    rows = [*own.rows("context_rules", _RULE_COLUMNS), *read_table(_DATA / "context_rules.tsv", _RULE_COLUMNS)]
    for order, row in enumerate(rows):
        phrases += math.prod(part.count("|") + 1 for part in _ALTERNATIVES.findall(row["trigger"]))
        if phrases > _MAX_PHRASES:
            raise row.refused("triggers stand for too many phrases", row["trigger"], f"at most {_MAX_PHRASES} in all")
        rule = _rule(row, order, known, sections)
        for phrase in _phrases(row["trigger"]):
            parts = tuple(_RELATIVE if _classes().get(part) == "relative" else part for part in _parts(phrase))
            if rule not in (own_rules := rules.setdefault(parts, [])):
                own_rules.append(rule)
    return rules


def _rule(row: Row, order: int, known: frozenset[str], known_sections: frozenset[str]) -> Rule:
    trigger, category, direction, sections = row["trigger"], row["category"], row["direction"], row["sections"]
    try:
        assertion = None if category in ("stop", "pseudo") else Assertion(category)
        rank = int(row["rank"])
        if abs(rank) > _MAX_RANK:
            raise ValueError(f"rank {rank}")
    except ValueError as error:
        expected = f"category: {', '.join((*Assertion, 'stop', 'pseudo'))}; rank: a whole number to {_MAX_RANK}"
        raise row.refused("an assertion rule cannot be read", f"{trigger}: {error}", expected) from error
    kinds = frozenset() if row["kinds"] == "*" else frozenset(row["kinds"].split(","))
    named = frozenset() if sections == "*" else frozenset(sections.removeprefix("!").split(","))
    for part, values, allowed in (
        ("kind", kinds, known),
        ("direction", {direction}, frozenset(DIRECTIONS)),
        ("scope", {row["scope"]}, frozenset({*SCOPES, "hard", "soft", "none"})),
        ("section", named, known_sections),
    ):
        if not values <= allowed:
            unknown = f"{trigger}: {', '.join(sorted(values - allowed))}"
            raise row.refused(f"an assertion rule names an unknown {part}", unknown, ", ".join(sorted(allowed)))
    if any(word != sign for sign in "()|" for word in _ALTERNATIVES.sub("x", trigger).split() if sign in word):
        expected = "(one|other) for either word, not nested; a sign that the note has: blanks around it"
        raise row.refused("a trigger's alternatives cannot be read", trigger, expected)
    if not all(map(_parts, _phrases(trigger))):
        raise row.refused("an assertion rule has no words", trigger or "nothing", "a trigger")
    return Rule(assertion, direction, row["scope"], rank, kinds, named, sections.startswith("!"), order)


def _phrases(pattern: str) -> Iterator[str]:
    """Every phrase that a trigger stands for; parentheses that stand for themselves have spaces around them."""
    pieces = _ALTERNATIVES.split(pattern)
    choices = [piece.split("|") if position % 2 else [piece] for position, piece in enumerate(pieces)]
    for choice in itertools.product(*choices):
        yield " ".join("".join(choice).split())


def _parts(phrase: str) -> list[str]:
    return _TOKEN.findall(plain(phrase).lower())


class Vocabulary(NamedTuple):
    """The words that rules know, numbered from 1; 0 is any other word.

    ``slots`` and ``slot_word`` are an open-addressing table from a word's hash to its number. ``known`` says what each
    word is (KNOWN_BITS, KNOWN_CLASSES), and with which node of the trie it begins a phrase (KNOWN_NODE; 0: none).
    ``forms`` are the numbers of words that are known by their form (YEAR to OF_SECTION).
    """

    slots: HashArray
    slot_word: IndexArray
    known: IndexArray
    forms: IndexArray


class Trie(NamedTuple):
    """The phrases. A row of ``nodes``: the trigger that ends there (-1: none), the rows of ``children`` (word, node;
    sorted)."""

    nodes: IndexArray
    children: IndexArray


class Rules(NamedTuple):
    """Triggers with their rules, and the rules in the order of their lines.

    A row of ``triggers``: which of ``listed`` are its rules that assert something, and whether it ends scopes. A row of
    ``rules`` ends with whether it holds in each section.
    """

    triggers: IndexArray
    listed: IndexArray
    rules: IndexArray


class ContextArrays(NamedTuple):
    """All rules; ``sections`` numbers the sections that they name, from 1 (0: any other)."""

    vocabulary: Vocabulary
    trie: Trie
    rules: Rules
    sections: dict[str, int]


def _table(rows: Iterable[Sequence[int]], columns: int) -> IndexArray:
    return np.array([tuple(row) for row in rows], dtype=np.int64).reshape(-1, columns)


def _vocabulary(numbers: dict[str, int], class_bits: dict[str, int], nodes: dict[Phrase, int]) -> Vocabulary:
    known = np.zeros((len(numbers) + 1, 3), dtype=np.int64)
    for word, number in numbers.items():
        own = _classes().get(word, "")
        held = (own == words if isinstance(words, str) else word in words for words in _WORDS)
        bits = sum(is_held << bit for bit, is_held in enumerate(held))
        known[number] = bits | NUMBER * word.isdigit(), class_bits.get(own, 0), nodes.get((word,), 0)
    numbers = numbers | {word: numbers[_RELATIVE] for word, own in _classes().items() if own == "relative"}
    size = 1 << (4 * len(numbers)).bit_length()
    slots, slot_word = np.zeros(size, dtype=np.uint64), np.zeros(size, dtype=np.int64)
    for word, number in numbers.items():
        value = hash_of(word)
        slot = value % size
        while slot_word[slot]:
            slot = (slot + 1) % size
        slots[slot], slot_word[slot] = value, number
    return Vocabulary(slots, slot_word, known, np.array([numbers[form] for form in _FORMS], dtype=np.int64))


def _trie(phrases: Iterable[Phrase], numbers: dict[str, int], nodes: dict[Phrase, int]) -> Trie:
    children: list[list[tuple[int, int]]] = [[] for _ in nodes]
    for phrase, node in nodes.items():
        if phrase:
            children[nodes[phrase[:-1]]].append((numbers[phrase[-1]], node))
    triggers = {nodes[phrase]: trigger for trigger, phrase in enumerate(phrases)}
    begins = [0, *itertools.accumulate(map(len, children))]
    rows = ((triggers.get(node, -1), *begins[node : node + 2]) for node in nodes.values())
    return Trie(_table(rows, 3), _table((pair for pairs in children for pair in sorted(pairs)), 2))


def _rules(
    phrases: dict[Phrase, list[Rule]], listed: Sequence[Rule], class_bits: dict[str, int], sections: Iterable[str]
) -> Rules:
    """Return the rules in arrays.

    A hard trigger ends all scopes but those of a whole sentence, a soft one those of lists. What stands after its
    mention ends the list of what stands before: "no fever was seen, cough".
    """
    named = ["", *sections]
    rows = [
        (
            ASSERTIONS.index(rule.assertion or Assertion.PRESENT),
            rule.rank,
            SCOPES.index(rule.scope) if rule.scope in SCOPES else -1,
            DIRECTIONS[rule.direction],
            sum(class_bits[kind] for kind in rule.kinds or class_bits),
            *(not rule.sections or (name in rule.sections) != rule.excluded for name in named),
        )
        for rule in listed
    ]
    numbers = {rule.order: number for number, rule in enumerate(listed)}
    triggers, of_triggers = list[tuple[int, ...]](), list[int]()
    for phrase, own in phrases.items():
        begin = len(of_triggers)
        of_triggers += [numbers[rule.order] for rule in own if rule.assertion is not None]
        outside = [rule for rule in own if rule.direction != "within"]
        is_hard = any(rule.scope == "hard" for rule in outside)
        is_soft = bool(outside) and all(rule.scope == "soft" or rule.direction == "backward" for rule in outside)
        triggers.append((begin, len(of_triggers), is_hard, is_soft, len(phrase) == 1 and own[0].scope == "soft"))
    return Rules(_table(triggers, 5), np.array(of_triggers, dtype=np.int64), _table(rows, RULE_HOLDS + len(named)))


@cache
def context_arrays(own: OwnRules = NO_RULES) -> ContextArrays:
    """Return the user's own rules and those that ship with the package.

    Raises:
        InputError: a table is damaged; names its line.
    """
    phrases, classes = load_rules(own), _classes()
    nodes: dict[Phrase, int] = {(): 0}
    for phrase in phrases:
        for size in range(1, len(phrase) + 1):
            nodes.setdefault(phrase[:size], len(nodes))
    known = {word for phrase in phrases for word in phrase} | {*_FORMS, _RELATIVE}
    known |= {term for term, own_class in classes.items() if own_class != "relative"}
    known = known.union(*(words for words in _WORDS if not isinstance(words, str)))
    numbers = {word: number for number, word in enumerate(sorted(known), 1)}
    class_bits = {name: 1 << bit for bit, name in enumerate((*KINDS, *sorted(set(classes.values()))))}
    by_order = {rule.order: rule for rules in phrases.values() for rule in rules if rule.assertion is not None}
    listed = [rule for _, rule in sorted(by_order.items())]
    sections = {name: n for n, name in enumerate(sorted({name for rule in listed for name in rule.sections}), 1)}
    rules = _rules(phrases, listed, class_bits, sections)
    return ContextArrays(_vocabulary(numbers, class_bits, nodes), _trie(phrases, numbers, nodes), rules, sections)
