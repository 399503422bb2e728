"""The rules of ``ehr.assertion`` in arrays, for its compiled scan; ``ehr/context_rules.py`` says what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ehr.characters import ByteArray, CodeArray, HashArray, IntArray, codes_of, hash_of
from ehr.context_rules import NOT_ANY, Node, Rule, RuleSet, Trigger, load_rules
from ehr.spans import KINDS, Assertion

__all__ = [
    "ADJACENT",
    "ASSERTIONS",
    "CHAIN",
    "CLAUSE",
    "KIND_CLASSES",
    "LIST",
    "NEAR",
    "NEXT",
    "PHRASE",
    "SENTENCE",
    "ContextArrays",
    "Rules",
    "Tries",
    "Words",
    "context_arrays",
]

MaskArray = npt.NDArray[np.uint16]

ASSERTIONS: tuple[Assertion, ...] = tuple(Assertion)
ADJACENT, NEAR, NEXT, CHAIN, PHRASE, LIST, CLAUSE, SENTENCE = range(8)
_SCOPES = ("adjacent", "near", "next", "chain", "phrase", "list", "clause", "sentence")

FORWARD, BACKWARD, WITHIN = 1, 2, 4
# What a word is, as bits: ends a list's trigger at once, joins a list (closely, loosely), and single words.
CLOSER, AND_JOINT, JOINT, COMMA, STOP, AND, OPEN, CLOSE, HYPHEN, NUMBER, DOSE, PREDICATE_END, NO_WILDCARD = (
    1 << bit for bit in range(13)
)
_WORD_BITS: dict[int, frozenset[str]] = {
    CLOSER: frozenset({",", ".", ";", ")"}),
    AND_JOINT: frozenset({"/", "and", "or", "&", "-"}),
    JOINT: frozenset({",", "/", "and", "or", "&", "-", "nor", "+", "and/or", "any"}),
    COMMA: frozenset({","}),
    STOP: frozenset({".", ";"}),
    AND: frozenset({"and"}),
    OPEN: frozenset({"("}),
    CLOSE: frozenset({")"}),
    HYPHEN: frozenset({"-"}),
    NO_WILDCARD: NOT_ANY,
}
# Classes of mentions are bits: their kinds come first, in the order of KINDS.
KIND_CLASSES = len(KINDS)


class Words(NamedTuple):
    """The words that rules know, numbered from 1; 0 is any other word.

    ``slots`` and ``slot_word`` are an open-addressing table from a word's hash to its number; ``bits`` and ``classes``
    say what each word is.
    """

    slots: HashArray
    slot_word: IntArray
    bits: MaskArray
    classes: MaskArray


class Tries(NamedTuple):
    """The phrases, as two tries in one array of nodes: node 0 is the root of triggers, node 1 of those that look ahead.

    ``first`` and ``first_ahead`` give the roots' child of each word (0: none). The other children of node ``n`` are
    ``child_node[child_begin[n]:child_begin[n + 1]]``, sorted by ``child_word``; its wildcards, each with the number of
    a suffix, lie alike. ``trigger`` is -1 where no phrase ends. ``most`` (one element) is how many phrases that look
    ahead may start at one word and end at another, ``widest`` how many may be under way at once.
    """

    first: IntArray
    first_ahead: IntArray
    child_begin: IntArray
    child_word: IntArray
    child_node: IntArray
    wild_begin: IntArray
    wild_suffix: IntArray
    wild_node: IntArray
    suffix_begin: IntArray
    suffix_codes: CodeArray
    trigger: IntArray
    most: IntArray
    widest: IntArray


class Rules(NamedTuple):
    """Triggers with their rules, and the rules in the order of their lines.

    Rules of trigger ``t`` that assert something beside it are ``beside[beside_begin[t]:beside_begin[t + 1]]``, those
    for a mention that holds it lie alike. ``holds`` says in which section a rule holds. shape: (rules, sections)
    """

    beside_begin: IntArray
    beside: IntArray
    within_begin: IntArray
    within: IntArray
    hard: ByteArray
    soft: ByteArray
    soft_word: ByteArray
    ahead: IntArray
    behind: IntArray
    assertion: IntArray
    rank: IntArray
    scope: IntArray
    direction: ByteArray
    classes: MaskArray
    holds: ByteArray
    default_begin: IntArray
    default_classes: MaskArray
    default_rank: IntArray
    default_assertion: IntArray


class ContextArrays(NamedTuple):
    """All rules; ``sections`` numbers the sections that they name, from 1 (0: any other)."""

    words: Words
    tries: Tries
    rules: Rules
    sections: dict[str, int]


def _ints(values: Iterable[int]) -> IntArray:
    return np.fromiter(values, dtype=np.int32)


def _lists(lists: Sequence[Sequence[int]]) -> tuple[IntArray, IntArray]:
    """Return where each list begins (and the last one ends), and the lists one after another."""
    return _ints(np.cumsum([0, *map(len, lists)])), _ints(value for values in lists for value in values)


def _nodes(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [*node.children.values(), *(child for _, child in node.suffixes)]


def _classes(names: Iterable[str], numbers: dict[str, int]) -> int:
    return sum(1 << numbers[name] for name in set(names))


def _words(rules: RuleSet, nodes: Sequence[Node], class_numbers: dict[str, int]) -> tuple[dict[str, int], Words]:
    known = {word for node in nodes for word in node.children} | set(rules.terms)
    known = known.union(*_WORD_BITS.values())
    numbers = {word: number for number, word in enumerate(sorted(known), 1)}
    bits = np.zeros(len(numbers) + 1, dtype=np.uint16)
    classes = np.zeros(len(numbers) + 1, dtype=np.uint16)
    held = _WORD_BITS | {DOSE: rules.words("dose"), PREDICATE_END: rules.words("predicate_end")}
    for word, number in numbers.items():
        bits[number] = sum(bit for bit, words in held.items() if word in words) + NUMBER * word.isdigit()
        classes[number] = _classes([rules.terms[word]], class_numbers) if word in rules.terms else 0
    size = 1 << (4 * len(numbers)).bit_length()
    slots, slot_word = np.zeros(size, dtype=np.uint64), np.zeros(size, dtype=np.int32)
    for word, number in numbers.items():
        value = hash_of(word)
        slot = value % size
        while slot_word[slot]:
            slot = (slot + 1) % size
        slots[slot], slot_word[slot] = value, number
    return numbers, Words(slots, slot_word, bits, classes)


def _first(root: Node, numbers: dict[str, int], places: dict[int, int]) -> IntArray:
    first = np.zeros(len(numbers) + 1, dtype=np.int32)
    for word, child in root.children.items():
        first[numbers[word]] = places[id(child)]
    return first


def _most(root: Node) -> int:
    """Return how many phrases of one length begin at a node, at most."""
    most, level = 0, [root]
    while level:
        most = max(most, sum(node.trigger is not None for node in level))
        level = [child for node in level for child in (*node.children.values(), *(end for _, end in node.suffixes))]
    return most


def _tries(rules: RuleSet, nodes: Sequence[Node], numbers: dict[str, int], triggers: dict[int, int]) -> Tries:
    places = {id(node): place for place, node in enumerate(nodes)}
    children = [sorted((numbers[word], places[id(child)]) for word, child in node.children.items()) for node in nodes]
    suffixes = sorted({suffix for node in nodes for suffix, _ in node.suffixes})
    wild = [[(suffixes.index(suffix), places[id(child)]) for suffix, child in node.suffixes] for node in nodes]
    child_begin, child_word = _lists([[word for word, _ in pairs] for pairs in children])
    wild_begin, wild_suffix = _lists([[suffix for suffix, _ in pairs] for pairs in wild])
    return Tries(
        first=_first(rules.root, numbers, places),
        first_ahead=_first(rules.lookahead, numbers, places),
        child_begin=child_begin,
        child_word=child_word,
        child_node=_ints(place for pairs in children for _, place in pairs),
        wild_begin=wild_begin,
        wild_suffix=wild_suffix,
        wild_node=_ints(place for pairs in wild for _, place in pairs),
        suffix_begin=_ints(np.cumsum([0, *map(len, suffixes)])),
        suffix_codes=codes_of("".join(suffixes)),
        trigger=_ints(triggers[id(node.trigger)] if node.trigger is not None else -1 for node in nodes),
        most=_ints([max((_most(child) for child in rules.lookahead.children.values()), default=0)]),
        widest=_ints([1 + sum(node.trigger is not None for node in _nodes(rules.lookahead))]),
    )


def _directions(rule: Rule) -> int:
    return FORWARD * rule.forward + BACKWARD * rule.backward + WITHIN * (rule.direction == "within")


def _rules(
    rules: RuleSet, triggers: Sequence[Trigger], class_numbers: dict[str, int], sections: dict[str, int]
) -> Rules:
    ordered = sorted(
        {rule.order: rule for trigger in triggers for rule in (*trigger.rules, *trigger.within)}.items(),
        key=lambda pair: pair[0],
    )
    numbers = {order: number for number, (order, _) in enumerate(ordered)}
    listed = [rule for _, rule in ordered]
    places = {id(trigger): place for place, trigger in enumerate(triggers)}
    beside_begin, beside = _lists([[numbers[rule.order] for rule in trigger.rules] for trigger in triggers])
    within_begin, within = _lists([[numbers[rule.order] for rule in trigger.within] for trigger in triggers])
    named = ["", *sections]
    defaults = [rules.defaults.get(section, []) for section in named]
    everything = (1 << len(class_numbers)) - 1
    default_begin, default_rank = _lists([[rank for _, rank, _ in lines] for lines in defaults])
    holds = [[not rule.sections or (name in rule.sections) != rule.excluded for name in named] for rule in listed]

    def part(trigger: Trigger | None) -> int:
        return -1 if trigger is None else places[id(trigger)]

    return Rules(
        beside_begin=beside_begin,
        beside=beside,
        within_begin=within_begin,
        within=within,
        hard=np.array([trigger.hard for trigger in triggers], dtype=np.uint8),
        soft=np.array([trigger.soft for trigger in triggers], dtype=np.uint8),
        soft_word=np.array([trigger.soft_word for trigger in triggers], dtype=np.uint8),
        ahead=_ints(part(trigger.ahead) for trigger in triggers),
        behind=_ints(part(trigger.behind) for trigger in triggers),
        assertion=_ints(-1 if rule.assertion is None else ASSERTIONS.index(rule.assertion) for rule in listed),
        rank=_ints(rule.rank for rule in listed),
        scope=_ints(_SCOPES.index(rule.scope) if rule.scope in _SCOPES else -1 for rule in listed),
        direction=np.array([_directions(rule) for rule in listed], dtype=np.uint8),
        classes=np.array(
            [_classes(rule.kinds, class_numbers) if rule.kinds else everything for rule in listed], dtype=np.uint16
        ),
        holds=np.array(holds, dtype=np.uint8),
        default_begin=default_begin,
        default_classes=np.array(
            [everything if kind == "*" else 1 << class_numbers[kind] for lines in defaults for kind, _, _ in lines],
            dtype=np.uint16,
        ),
        default_rank=default_rank,
        default_assertion=_ints(ASSERTIONS.index(assertion) for lines in defaults for _, _, assertion in lines),
    )


def _triggers(nodes: Sequence[Node]) -> list[Trigger]:
    whole = [node.trigger for node in nodes if node.trigger is not None]
    parts: list[Any] = [part for trigger in whole for part in (trigger.ahead, trigger.behind) if part is not None]
    return [*whole, *parts]


@cache
def context_arrays() -> ContextArrays:
    """Return the rules that ship with the package.

    Raises:
        InputError: a table is damaged; names its line.
    """
    rules = load_rules()
    looking = list(_nodes(rules.lookahead))
    nodes = [rules.root, looking[0], *list(_nodes(rules.root))[1:], *looking[1:]]
    triggers = _triggers(nodes)
    class_numbers = {name: number for number, name in enumerate((*KINDS, *sorted(rules.by_class)))}
    numbers, words = _words(rules, nodes, class_numbers)
    tries = _tries(rules, nodes, numbers, {id(trigger): place for place, trigger in enumerate(triggers)})
    used = {name for trigger in triggers for rule in (*trigger.rules, *trigger.within) for name in rule.sections}
    sections = {name: number for number, name in enumerate(sorted(used | set(rules.defaults)), 1)}
    return ContextArrays(words, tries, _rules(rules, triggers, class_numbers, sections), sections)
