"""The rules of ``ehr.assertion`` in arrays, for its compiled scan; ``ehr/context_rules.py`` says what they mean."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ehr.certainty import ASSERTIONS
from ehr.characters import HashArray, IndexArray, hash_of
from ehr.context_rules import NOT_ANY, RELATIVE, SCOPES, Phrase, Rule, RuleSet, load_rules
from ehr.matching import mapped, save_arrays
from ehr.spans import KINDS, Assertion
from ground.storage.own_rules import NO_RULES, OwnRules

ABSENT, HISTORICAL, ALLERGY, FAMILY = map(
    ASSERTIONS.index, (Assertion.ABSENT, Assertion.HISTORICAL, Assertion.ALLERGY, Assertion.FAMILY)
)
ADJACENT, NEAR, NEXT, CHAIN, PHRASE, LIST, CLAUSE, SENTENCE, OPENING, LATEST, THESE = range(len(SCOPES))

FORWARD, BACKWARD, WITHIN = 1, 2, 4
# What a word is, as bits: ends a list's trigger at once, joins a list (closely, loosely), and single words.
CLOSER, AND_JOINT, JOINT, COMMA, STOP, AND, OR, OPEN, CLOSE, HYPHEN, NUMBER, FIGURE, NO_WILDCARD, COLON = (
    1 << bit for bit in range(14)
)
INCLUDING, AUXILIARY = (1 << bit for bit in (14, 15))
# Of classes of ``term_classes.tsv``.
DOSE, PREDICATE_END, DEGREE, STATUS, SEEN, NOW, LAST_TIME, YES, NO, EMPTY, PATIENT, REPORTS, OWNER, PRONOUN, ORDER = (
    1 << bit for bit in range(16, 31)
)
_WORD_BITS: dict[int, frozenset[str]] = {
    CLOSER: frozenset({",", ".", ";", ")"}),
    AND_JOINT: frozenset({"/", "and", "or", "&", "-"}),
    JOINT: frozenset({",", "/", "and", "or", "&", "-", "nor", "+", "and/or", "any", "including"}),
    COMMA: frozenset({","}),
    COLON: frozenset({":"}),
    AUXILIARY: frozenset({"was", "were", "is", "are", "has", "have"}),
    INCLUDING: frozenset({"including", "namely", "particularly", "especially"}),
    STOP: frozenset({".", ";"}),
    AND: frozenset({"and"}),
    OR: frozenset({"or", "nor", "and/or"}),
    OPEN: frozenset({"("}),
    CLOSE: frozenset({")"}),
    HYPHEN: frozenset({"-"}),
    NO_WILDCARD: NOT_ANY,
}
_CLASS_BITS = {
    DOSE: "dose",
    PREDICATE_END: "predicate_end",
    DEGREE: "degree",
    STATUS: "status",
    SEEN: "seen",
    NOW: "now",
    LAST_TIME: "last_time",
    YES: "yes",
    NO: "no",
    EMPTY: "empty",
    PATIENT: "patient",
    REPORTS: "reports",
    OWNER: "owner",
    PRONOUN: "pronoun",
    ORDER: "order",
}
# Words that the scan reads by their form or place: a year, a number, the answer to a label, a box before one.
_FORMS = ("<year>", "<number>", "<yes>", "<no>", "<box>", "<unticked>", "<ticked>")
YEAR, ANY_NUMBER, YES_ANSWER, NO_ANSWER, BOX, UNTICKED, TICKED = range(7)
# Tables of numbers, one type for all: each further type, and each further array, costs compilation. Columns:
KNOWN_BITS, KNOWN_CLASSES, KNOWN_FIRST, KNOWN_AHEAD = range(4)
NODE_TRIGGER, CHILD, CHILD_END, WILD, WILD_END = range(5)
(
    TRIGGER_BESIDE,
    TRIGGER_BESIDE_END,
    TRIGGER_WITHIN,
    TRIGGER_WITHIN_END,
    TRIGGER_HARD,
    TRIGGER_SOFT,
    TRIGGER_SOFT_WORD,
    TRIGGER_AHEAD,
    TRIGGER_BEHIND,
) = range(9)
RULE_ASSERTION, RULE_RANK, RULE_SCOPE, RULE_DIRECTION, RULE_CLASSES, RULE_HOLDS = range(6)
DEFAULT_CLASSES, DEFAULT_RANK, DEFAULT_ASSERTION = range(3)
MOST, WIDEST = range(2)


class Vocabulary(NamedTuple):
    """The words that rules know, numbered from 1; 0 is any other word.

    ``slots`` and ``slot_word`` are an open-addressing table from a word's hash to its number. ``known`` says what each
    word is (KNOWN_BITS, KNOWN_CLASSES), which child it leads to from the roots of the tries (KNOWN_FIRST, KNOWN_AHEAD;
    0: none). shape: (words, 4)
    ``forms`` are the numbers of words that are known by their form (YEAR to TICKED).
    """

    slots: HashArray
    slot_word: IndexArray
    known: IndexArray
    forms: IndexArray


class Tries(NamedTuple):
    """The phrases, as two tries in one table of nodes: node 0 is the root of triggers, node 1 of those that look ahead.

    A row of ``nodes``: the trigger that ends there (-1: none), the rows of ``children`` (word, node; sorted) and those
    of ``wild`` (suffix, node). Suffix ``s`` is ``suffix_codes[suffix_begin[s]:suffix_begin[s + 1]]``. ``sizes``: how
    many phrases that look ahead may start at one word and end at another (MOST), how many may be under way at once.
    """

    nodes: IndexArray
    children: IndexArray
    wild: IndexArray
    suffix_begin: IndexArray
    suffix_codes: IndexArray
    sizes: IndexArray


class Rules(NamedTuple):
    """Triggers with their rules, the rules in the order of their lines, and the defaults of sections.

    A row of ``triggers``: which of ``listed`` are its rules that assert something beside it, which those for a mention
    that holds it, and what else it does. A row of ``rules`` ends with whether it holds in each section. The rows of
    ``defaults`` for section ``s`` are ``default_begin[s]`` to ``default_begin[s + 1]``.
    """

    triggers: IndexArray
    listed: IndexArray
    rules: IndexArray
    default_begin: IndexArray
    defaults: IndexArray


class ContextArrays(NamedTuple):
    """All rules; ``sections`` numbers the sections that they name, from 1 (0: any other)."""

    vocabulary: Vocabulary
    tries: Tries
    rules: Rules
    sections: dict[str, int]

    def save(self, folder: Path, of: str) -> None:
        """Write them below a name of their own, so that other processes can map them."""
        for part in (self.vocabulary, self.tries, self.rules):
            save_arrays(folder, of, part._asdict())
        (folder / f"{of}.json").write_text(json.dumps(self.sections), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, of: str) -> ContextArrays:
        """Map what was saved below a name."""
        return cls(
            Vocabulary(*mapped(folder, of, Vocabulary._fields)),
            Tries(*mapped(folder, of, Tries._fields)),
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
    """Return the node of each beginning of a phrase; the roots of both tries come first."""
    places: dict[Phrase, int] = {(False, ()): 0, (True, ()): 1}
    for looks_ahead, parts in rules.phrases:
        for size in range(1, len(parts) + 1):
            places.setdefault((looks_ahead, parts[:size]), len(places))
    return places


def _classes(names: Iterable[str], numbers: dict[str, int]) -> int:
    return sum(1 << numbers[name] for name in set(names))


def _numbers(rules: RuleSet, places: dict[Phrase, int]) -> dict[str, int]:
    known = {word for _, parts in places for word in parts if word[0] != "*"} | set(rules.terms) | set(_FORMS)
    numbers = {word: number for number, word in enumerate(sorted(known.union(*_WORD_BITS.values(), [RELATIVE])), 1)}
    return numbers | dict.fromkeys(rules.words("relative"), numbers[RELATIVE])


def _vocabulary(
    rules: RuleSet, numbers: dict[str, int], class_numbers: dict[str, int], places: dict[Phrase, int]
) -> Vocabulary:
    known = np.zeros((len(numbers) + 1, 4), dtype=np.int64)
    held = _WORD_BITS | {bit: rules.words(name) for bit, name in _CLASS_BITS.items()}
    for word, number in numbers.items():
        if word in rules.words("relative"):
            continue
        known[number, KNOWN_BITS] = sum(bit for bit, words in held.items() if word in words) + NUMBER * word.isdigit()
        known[number, KNOWN_CLASSES] = _classes([rules.terms[word]], class_numbers) if word in rules.terms else 0
        known[number, KNOWN_FIRST], known[number, KNOWN_AHEAD] = (
            places.get((ahead, (word,)), 0) for ahead in (False, True)
        )
    size = 1 << (4 * len(numbers)).bit_length()
    slots, slot_word = np.zeros(size, dtype=np.uint64), np.zeros(size, dtype=np.int64)
    for word, number in numbers.items():
        value = hash_of(word)
        slot = value % size
        while slot_word[slot]:
            slot = (slot + 1) % size
        slots[slot], slot_word[slot] = value, number
    return Vocabulary(slots, slot_word, known, _ints(numbers[form] for form in _FORMS))


def _tries(rules: RuleSet, numbers: dict[str, int], places: dict[Phrase, int]) -> Tries:
    children: list[list[tuple[int, int]]] = [[] for _ in places]
    wild: list[list[tuple[int, int]]] = [[] for _ in places]
    suffixes = sorted({parts[-1][1:] for _, parts in places if parts and parts[-1][0] == "*"})
    for (ahead, parts), place in places.items():
        if parts and parts[-1][0] == "*":
            wild[places[ahead, parts[:-1]]].append((suffixes.index(parts[-1][1:]), place))
        elif parts:
            children[places[ahead, parts[:-1]]].append((numbers[parts[-1]], place))
    ends = np.full(len(places), -1)
    ends[[places[phrase] for phrase in rules.phrases]] = np.arange(len(rules.phrases))
    # Of those that look ahead: how many of one length begin with one word.
    most = Counter((parts[0], len(parts)) for looks_ahead, parts in rules.phrases if looks_ahead)
    child_begin, wild_begin = _begins(children), _begins(wild)
    return Tries(
        nodes=_table(zip(ends.tolist(), child_begin, child_begin[1:], wild_begin, wild_begin[1:], strict=False), 5),
        children=_table((pair for pairs in children for pair in sorted(pairs)), 2),
        wild=_table((pair for pairs in wild for pair in pairs), 2),
        suffix_begin=_ints(_begins(suffixes)),
        suffix_codes=_ints(map(ord, "".join(suffixes))),
        sizes=_ints([max(most.values(), default=0), 1 + most.total()]),
    )


def _directions(rule: Rule) -> int:
    return FORWARD * rule.forward + BACKWARD * rule.backward + WITHIN * (rule.direction == "within")


class _Trigger(NamedTuple):
    """What a phrase does.

    Attributes:
        beside, within: its rules that assert something of mentions beside it, and of a mention that holds it.
        hard: whether all scopes end here, except those of a whole sentence; ``soft``: those of lists.
        soft_word: whether it is one word that ends lists and does nothing else.
    """

    beside: list[int]
    within: list[int]
    hard: bool
    soft: bool
    soft_word: bool


def _trigger(rules: Sequence[Rule], length: int, numbers: dict[int, int]) -> _Trigger:
    """Return the trigger of a phrase of ``length`` tokens; rules are known by their order."""
    outside = [rule for rule in rules if rule.direction != "within"]
    return _Trigger(
        [numbers[rule.order] for rule in outside if rule.assertion is not None],
        [numbers[rule.order] for rule in rules if rule.direction == "within"],
        any(rule.scope == "hard" for rule in outside),
        # What stands after its mention ends the list of what stands before: "no fever was seen, cough".
        bool(outside) and all(rule.scope == "soft" or rule.direction == "backward" for rule in outside),
        length == 1 and bool(outside) and outside[0].scope == "soft",
    )


def _trigger_table(rules: RuleSet, numbers: dict[int, int]) -> tuple[IndexArray, IndexArray]:
    """Return the triggers, and the lists of rules that they name.

    Of a phrase that may look both ways, its parts follow: which of them counts depends on what stands behind it.
    """
    triggers = [_trigger(own, len(parts), numbers) for (_, parts), own in rules.phrases.items()]
    parts_of = dict[int, tuple[int, int]]()
    for place, ((_, parts), own) in enumerate(rules.phrases.items()):
        if {(True, False), (False, True)} <= {(rule.forward, rule.backward) for rule in own}:
            parts_of[place] = (len(triggers), len(triggers) + 1)
            triggers.append(_trigger([rule for rule in own if rule.forward], len(parts), numbers))
            triggers.append(_trigger([rule for rule in own if rule.backward], len(parts), numbers))
    lists = [listed for each in triggers for listed in (each.beside, each.within)]
    begins = _begins(lists)
    rows = [
        (*begins[2 * n : 2 * n + 2], *begins[2 * n + 1 : 2 * n + 3], *each[2:], *parts_of.get(n, (-1, -1)))
        for n, each in enumerate(triggers)
    ]
    return _table(rows, 9), _ints(rule for listed in lists for rule in listed)


def _rules(rules: RuleSet, class_numbers: dict[str, int], sections: dict[str, int]) -> Rules:
    listed = rules.rules()
    named = ["", *sections]
    everything = (1 << len(class_numbers)) - 1
    table, numbers = _trigger_table(rules, {rule.order: number for number, rule in enumerate(listed)})
    rows = [
        (
            -1 if rule.assertion is None else ASSERTIONS.index(rule.assertion),
            rule.rank,
            SCOPES.index(rule.scope) if rule.scope in SCOPES else -1,
            _directions(rule),
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
    return ContextArrays(vocabulary, _tries(rules, numbers, places), _rules(rules, class_numbers, sections), sections)
