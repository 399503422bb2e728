"""The rules of ``ehr.assertion`` in arrays, for its compiled scan; ``ehr/context_rules.py`` says what they mean."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ehr.certainty import ASSERTIONS
from ehr.characters import HashArray, IndexArray, hash_of
from ehr.context_rules import DIRECTIONS, RELATIVE, SCOPES, Phrase, RuleSet, load_rules
from ehr.matching import mapped, save_arrays
from ehr.spans import KINDS, Assertion
from ground.storage.own_rules import NO_RULES, OwnRules

ABSENT, HISTORICAL = map(ASSERTIONS.index, (Assertion.ABSENT, Assertion.HISTORICAL))
ADJACENT, NEXT, CHAIN, LIST, CLAUSE, SENTENCE, OPENING = range(len(SCOPES))

# Directions as bits, a rule's in the order of ``DIRECTIONS``.
FORWARD, BACKWARD, WITHIN = 1, 2, 4
_DIRECTION_BITS = dict(zip(DIRECTIONS, (FORWARD, BACKWARD, FORWARD | BACKWARD, WITHIN), strict=True))
# What a word is, as bits: the name of a class of ``term_classes.tsv``, or the words themselves.
_WORDS: tuple[str | frozenset[str], ...] = (
    frozenset({",", ".", ";", ")"}),
    frozenset({"/", "and", "or", "&", "-"}),
    frozenset({",", "/", "and", "or", "&", "-", "nor", "+", "and/or", "any", "including"}),
    frozenset({","}),
    frozenset({".", ";"}),
    frozenset({"and"}),
    frozenset({"-"}),
    frozenset({"on", "with", "w/", "in", "since"}),
    frozenset({":"}),
    "dose",
    "status",
    "yes",
    "no",
    "owner",
)
# CLOSER ends a list's trigger at once; AND_JOINT joins a list closely, JOINT loosely.
(
    CLOSER,
    AND_JOINT,
    JOINT,
    COMMA,
    STOP,
    AND,
    HYPHEN,
    PREPOSITION,
    COLON,
    DOSE,
    STATUS,
    YES,
    NO,
    OWNER,
) = (1 << bit for bit in range(len(_WORDS)))
# A number, a word with figures.
NUMBER, FIGURE = 1 << len(_WORDS), 2 << len(_WORDS)
# Words that the scan reads by their form or place: a year, a number, the answer to a label, a box before one.
_FORMS = ("<year>", "<number>", "<yes>", "<no>", "<box>", "<ticked>")
YEAR, ANY_NUMBER, YES_ANSWER, NO_ANSWER, BOX, TICKED = range(6)
# Tables of numbers, one type for all: each further type, and each further array, costs compilation. Columns:
KNOWN_BITS, KNOWN_CLASSES, KNOWN_NODE = range(3)
NODE_TRIGGER, CHILD, CHILD_END = range(3)
TRIGGER_RULES, TRIGGER_END, TRIGGER_HARD, TRIGGER_SOFT, TRIGGER_SOFT_WORD = range(5)
RULE_ASSERTION, RULE_RANK, RULE_SCOPE, RULE_DIRECTION, RULE_CLASSES, RULE_HOLDS = range(6)
DEFAULT_CLASSES, DEFAULT_RANK, DEFAULT_ASSERTION = range(3)


class Vocabulary(NamedTuple):
    """The words that rules know, numbered from 1; 0 is any other word.

    ``slots`` and ``slot_word`` are an open-addressing table from a word's hash to its number. ``known`` says what each
    word is (KNOWN_BITS, KNOWN_CLASSES), and with which node of the trie it begins a phrase (KNOWN_NODE; 0: none).
    ``forms`` are the numbers of words that are known by their form (YEAR to TICKED).
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
    """Triggers with their rules, the rules in the order of their lines, and the defaults of sections.

    A row of ``triggers``: which of ``listed`` are its rules that assert something, and whether it ends scopes. A row of
    ``rules`` ends with whether it holds in each section. The rows of ``defaults`` for section ``s`` are
    ``default_begin[s]`` to ``default_begin[s + 1]``.
    """

    triggers: IndexArray
    listed: IndexArray
    rules: IndexArray
    default_begin: IndexArray
    defaults: IndexArray


class ContextArrays(NamedTuple):
    """All rules; ``sections`` numbers the sections that they name, from 1 (0: any other)."""

    vocabulary: Vocabulary
    trie: Trie
    rules: Rules
    sections: dict[str, int]

    def save(self, folder: Path, of: str) -> None:
        """Write them below a name of their own, so that other processes can map them."""
        for part in (self.vocabulary, self.trie, self.rules):
            save_arrays(folder, of, part._asdict())
        (folder / f"{of}.json").write_text(json.dumps(self.sections), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, of: str) -> ContextArrays:
        """Map what was saved below a name."""
        return cls(
            Vocabulary(*mapped(folder, of, Vocabulary._fields)),
            Trie(*mapped(folder, of, Trie._fields)),
            Rules(*mapped(folder, of, Rules._fields)),
            json.loads((folder / f"{of}.json").read_text(encoding="utf-8")),
        )


def _ints(values: Iterable[int]) -> IndexArray:
    return np.fromiter(values, dtype=np.int64)


def _begins(lists: Sequence[Sequence[object]]) -> list[int]:
    """Return where each list begins when they lie one after another, and where the last one ends."""
    return [0, *accumulate(map(len, lists))]


def _table(rows: Iterable[Sequence[int]], columns: int) -> IndexArray:
    return np.array([tuple(row) for row in rows], dtype=np.int64).reshape(-1, columns)


def _places(rules: RuleSet) -> dict[Phrase, int]:
    """Return the node of each beginning of a phrase; the root comes first."""
    places: dict[Phrase, int] = {(): 0}
    for phrase in rules.phrases:
        for size in range(1, len(phrase) + 1):
            places.setdefault(phrase[:size], len(places))
    return places


def _classes(names: Iterable[str], numbers: dict[str, int]) -> int:
    return sum(1 << numbers[name] for name in set(names))


def _numbers(rules: RuleSet, places: dict[Phrase, int]) -> dict[str, int]:
    known = {word for phrase in places for word in phrase} | set(rules.terms) | {*_FORMS, RELATIVE}
    known.update(*(words for words in _WORDS if not isinstance(words, str)))
    numbers = {word: number for number, word in enumerate(sorted(known), 1)}
    return numbers | dict.fromkeys(rules.words("relative"), numbers[RELATIVE])


def _vocabulary(
    rules: RuleSet, numbers: dict[str, int], class_numbers: dict[str, int], places: dict[Phrase, int]
) -> Vocabulary:
    known = np.zeros((len(numbers) + 1, 3), dtype=np.int64)
    held = [rules.words(words) if isinstance(words, str) else words for words in _WORDS]
    for word in numbers.keys() - rules.words("relative"):
        number = numbers[word]
        known[number, KNOWN_BITS] = sum(1 << bit for bit, words in enumerate(held) if word in words)
        known[number, KNOWN_BITS] |= NUMBER * word.isdigit()
        known[number, KNOWN_CLASSES] = _classes([rules.terms[word]], class_numbers) if word in rules.terms else 0
        known[number, KNOWN_NODE] = places.get((word,), 0)
    size = 1 << (4 * len(numbers)).bit_length()
    slots, slot_word = np.zeros(size, dtype=np.uint64), np.zeros(size, dtype=np.int64)
    for word, number in numbers.items():
        value = hash_of(word)
        slot = value % size
        while slot_word[slot]:
            slot = (slot + 1) % size
        slots[slot], slot_word[slot] = value, number
    return Vocabulary(slots, slot_word, known, _ints(numbers[form] for form in _FORMS))


def _trie(rules: RuleSet, numbers: dict[str, int], places: dict[Phrase, int]) -> Trie:
    children: list[list[tuple[int, int]]] = [[] for _ in places]
    for phrase, place in places.items():
        if phrase:
            children[places[phrase[:-1]]].append((numbers[phrase[-1]], place))
    ends = np.full(len(places), -1)
    ends[[places[phrase] for phrase in rules.phrases]] = np.arange(len(rules.phrases))
    begins = _begins(children)
    return Trie(
        nodes=_table(zip(ends.tolist(), begins, begins[1:], strict=False), 3),
        children=_table((pair for pairs in children for pair in sorted(pairs)), 2),
    )


def _trigger_table(rules: RuleSet, numbers: dict[int, int]) -> tuple[IndexArray, IndexArray]:
    """Return the triggers, and the lists of rules that they name; rules are known by their order.

    A hard trigger ends all scopes but those of a whole sentence, a soft one those of lists. What stands after its
    mention ends the list of what stands before: "no fever was seen, cough".
    """
    rows, listed = list[tuple[int, ...]](), list[int]()
    for phrase, own in rules.phrases.items():
        begin = len(listed)
        listed += [numbers[rule.order] for rule in own if rule.assertion is not None]
        outside = [rule for rule in own if rule.direction != "within"]
        is_hard = any(rule.scope == "hard" for rule in outside)
        is_soft = bool(outside) and all(rule.scope == "soft" or rule.direction == "backward" for rule in outside)
        rows.append((begin, len(listed), is_hard, is_soft, len(phrase) == 1 and own[0].scope == "soft"))
    return _table(rows, 5), _ints(listed)


def _rules(rules: RuleSet, class_numbers: dict[str, int], sections: dict[str, int]) -> Rules:
    listed = rules.rules()
    named = ["", *sections]
    everything = (1 << len(class_numbers)) - 1
    table, numbers = _trigger_table(rules, {rule.order: number for number, rule in enumerate(listed)})
    rows = [
        (
            ASSERTIONS.index(rule.assertion or Assertion.PRESENT),
            rule.rank,
            SCOPES.index(rule.scope) if rule.scope in SCOPES else -1,
            _DIRECTION_BITS[rule.direction],
            _classes(rule.kinds, class_numbers) if rule.kinds else everything,
            *(not rule.sections or (name in rule.sections) != rule.excluded for name in named),
        )
        for rule in listed
    ]
    defaults = [rules.defaults.get(section, []) for section in named]
    default_rows = [
        (everything if kind == "*" else 1 << class_numbers[kind], rank, ASSERTIONS.index(assertion))
        for lines in defaults
        for kind, rank, assertion in lines
    ]
    return Rules(
        triggers=table,
        listed=numbers,
        rules=_table(rows, RULE_HOLDS + len(named)),
        default_begin=_ints(_begins(defaults)),
        defaults=_table(default_rows, 3),
    )


@cache
def context_arrays(own: OwnRules = NO_RULES) -> ContextArrays:
    """Return the user's own rules and those that ship with the package.

    Raises:
        InputError: a table is damaged; names its line.
    """
    rules = load_rules(own)
    places = _places(rules)
    class_numbers = {name: number for number, name in enumerate((*KINDS, *sorted(rules.by_class)))}
    numbers = _numbers(rules, places)
    used = {name for rule in rules.rules() for name in rule.sections}
    sections = {name: number for number, name in enumerate(sorted(used | set(rules.defaults)), 1)}
    vocabulary = _vocabulary(rules, numbers, class_numbers, places)
    return ContextArrays(vocabulary, _trie(rules, numbers, places), _rules(rules, class_numbers, sections), sections)
