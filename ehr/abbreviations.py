"""The project's own terms: abbreviations, lay words and word forms, with the context in which each has its meaning.

A term may have several senses, one line each, in the order in which they are tried: the first whose conditions hold
is meant. A sense of kind ``none`` is not a mention (PE = physical exam). Where no sense holds, the term is unclear.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import chain
from typing import Any, Literal, cast, get_args

import re2

from ehr.spans import KINDS, Kind
from ground import ROOT
from ground.errors import UsageError
from ground.storage.own_rules import NO_RULES, OwnRules
from ground.storage.tables import Row, read_table

__all__ = [
    "CUI",
    "TERM_COLUMNS",
    "TERM_TABLES",
    "Around",
    "Definition",
    "Sense",
    "Term",
    "around",
    "defined_abbreviations",
    "edge_behind_letter",
    "long_forms_of",
    "read_terms",
    "scispacy_abbreviations",
]

_DATA = ROOT / "ehr" / "data"
# In the order in which senses of one term are tried: contexts first, plain names last.
TERM_TABLES = ("ambiguous_words", "abbreviations", "clinical_synonyms", "drug_terms", "common_terms")
TERM_COLUMNS = ("term", "names", "kind", "case", "when", "source")
_CASES = ("any", "capital", "upper")
CUI = re.compile(r"C\d{7}")
_EDGE = re.compile(r"(?<!\\)\\b([a-z])(?![?*+{])")
_WINDOW = 60
_LONGEST_FORM = 120
# RE2 refuses more than 1,000 repetitions, but takes a number of nine digits or more for the letters it is written with.
_LITERAL_COUNT = re.compile(r"(?<!\\)(?:\\\\)*\{\d*,?\d{9}")
_QUIET = re2.Options()
_QUIET.log_errors = False

Around = tuple[str, str, str, str, str, int, int]
"""The term, what stands before it and after it, its section; the whole text and the offsets of the term in it."""
Place = Literal["section", "text", "after", "before", "near", "line"]
_PLACES: tuple[Place, ...] = get_args(Place)
"""In the order of what it takes to look there."""


@dataclass(frozen=True)
class _Condition:
    place: Place
    negated: bool
    pattern: str
    is_own: bool

    @cached_property
    def is_met(self) -> Callable[[Around], object]:
        """Looks for the pattern around a term."""
        pattern = _compiled(self.pattern, self.is_own)
        match self.place:
            case "text":
                return lambda place: pattern.fullmatch(place[0])
            case "before":
                return lambda place: pattern.search(place[1])
            case "after":
                return lambda place: pattern.match(place[2])
            case "near":
                return lambda place: pattern.search(place[1]) or pattern.search(place[2])
            case "line":
                return lambda place: pattern.search(_line(*place[4:]))
            case "section":
                return lambda place: pattern.fullmatch(place[3])


def around(text: str, begin: int, end: int, section: str) -> Around:
    """Return what stands around a term of a text in lower case: the term, what is before and after it, and where."""
    before = text[begin - _WINDOW if begin > _WINDOW else 0 : begin]
    return text[begin:end], before, text[end : end + _WINDOW], section, text, begin, end


def _line(text: str, begin: int, end: int) -> str:
    """Return the line, or the lines, in which something stands."""
    return text[text.rfind("\n", 0, begin) + 1 : (text.find("\n", end) + 1 or len(text) + 1) - 1]


@cache
def _compiled(pattern: str, is_own: bool) -> re.Pattern[str]:
    """Return the expression of a condition, compiled when first asked for: few of them are, in one text.

    A user's may be of the kind that `re` never ends with: the time of another engine is the text's length.
    """
    compiled: re.Pattern[str] = re2.compile(pattern, _QUIET) if is_own else re.compile(edge_behind_letter(pattern))
    return compiled


TermKind = Kind | Literal["test", "none"]
"""What a term is: ``test`` is a procedure of nearly every admission, which is read but not asserted; none: nothing."""
_TERM_KINDS = frozenset({*KINDS, "test", "none"})


@dataclass(frozen=True, slots=True)
class Sense:
    """One meaning of a term.

    ``names`` are CUIs, or long forms to look up in the release, the first that it has is taken (``=`` is the term
    itself); ``denied``: the term itself says that there is none of it (afebrile); ``long_form_first``: all of them are
    meant, in their order, even where the release has the term itself as a name (varices, Toprol XL; CUIs);
    ``conditions``: none that is negated may hold and, where there are others, one of them must; negated ones come
    first, and among their like those that are quickly tried.
    """

    names: tuple[str, ...]
    kind: TermKind
    conditions: tuple[_Condition, ...]
    denied: bool = False
    long_form_first: bool = False

    def holds(self, place: Around) -> bool:
        """Tell whether a term is meant in this sense where it stands."""
        for condition in self.conditions:
            if condition.is_met(place):
                return not condition.negated
        return not self.conditions or self.conditions[-1].negated


@dataclass(frozen=True, slots=True)
class Term:
    """A term as notes write it, the rule for its letters (any, capital, upper) and its senses in order."""

    text: str
    case: str
    senses: tuple[Sense, ...]


def edge_behind_letter(pattern: str) -> str:
    """Return an equivalent expression that is faster: it checks for a word's edge after the first letter.

    `re` leaves an alternative at its first letter at once, but at an edge only when it tries it.
    """
    return _EDGE.sub(r"\1(?<=\\b\1)", pattern)


def _condition(part: str, row: Row) -> _Condition:
    place, _, pattern = part.partition(":")
    negated = place.startswith("not_")
    place = place.removeprefix("not_")
    try:
        if place not in _PLACES:
            raise ValueError(place)
        if place == "before" and pattern.endswith("$"):
            pattern = pattern.removesuffix("$") + r"\s*$"
        condition = _Condition(place, negated, pattern, row.file.parent != _DATA)
        if condition.is_own and _LITERAL_COUNT.search(pattern):
            raise ValueError(pattern)
        _compiled(pattern, condition.is_own)
    except (ValueError, re.error, re2.error) as error:
        raise row.refused(
            "a condition of a term cannot be read",
            f"{row['term']}: {part}",
            "text:, before:, after:, near:, line: or section:, also with not_, and a regular expression"
            " (a user's: RE2, at most 1,000 repetitions)",
        ) from error
    return condition


@cache
def read_terms(own: OwnRules = NO_RULES) -> tuple[Term, ...]:
    """Return the user's own terms and those of all tables; a line may give several spellings, separated by ``|``.

    Raises:
        InputError: a kind, a case or a condition that is not known.
    """
    senses: dict[str, list[Sense]] = {}
    cases: dict[str, str] = {}
    tables = (read_table(_DATA / f"{table}.tsv", TERM_COLUMNS) for table in TERM_TABLES)
    for row in (*own.rows("clinical_synonyms", TERM_COLUMNS), *chain.from_iterable(tables)):
        if row["kind"] not in _TERM_KINDS or row["case"] not in _CASES:
            expected = f"{', '.join(sorted(_TERM_KINDS))}; {', '.join(_CASES)}"
            raise row.refused("a term has an unknown kind or case", f"{row['kind']} {row['case']}", expected)
        parts = [_condition(part.strip(), row) for part in row["when"].split(" ; ") if part.strip()]
        conditions = tuple(sorted(parts, key=lambda part: (not part.negated, _PLACES.index(part.place))))
        names = row["names"]
        kind = cast(TermKind, row["kind"])
        long_forms = long_forms_of(row)
        by_cui = all(map(CUI.fullmatch, long_forms))
        for spelling in row["term"].split("|"):
            if not any(letter.isalnum() for letter in spelling):
                raise row.refused("a term has no letters", spelling or "nothing", "words, with | between spellings")
            written = tuple(spelling.lower() if name == "=" else name for name in long_forms)
            sense = Sense(written, kind, conditions, names.startswith("!"), by_cui or names.startswith("^"))
            known = senses.setdefault(spelling, [])
            if (
                known
                and not (conditions or sense.long_form_first)
                and known[-1] == replace(sense, names=known[-1].names)
            ):
                # Of two lines that mean the same, the second has what a release may call it besides.
                sense = replace(sense, names=tuple(dict.fromkeys((*known.pop().names, *sense.names))))
            known.append(sense)
            cases.setdefault(spelling, row["case"])
    return tuple(Term(text, cases[text], tuple(dict.fromkeys(words))) for text, words in senses.items())


def long_forms_of(row: Row) -> tuple[str, ...]:
    """Return the meanings in a line of terms: long forms, ``=`` or CUIs."""
    return tuple(row["names"].removeprefix("!").removeprefix("^").split("|"))


@dataclass(frozen=True, slots=True)
class Definition:
    """An abbreviation that a note defines: ``hepatic encephalopathy (HE)``. Offsets of both in the note."""

    short: str
    short_begin: int
    long_begin: int
    long_end: int


_DEFINED = re.compile(r"\(([A-Z][A-Za-z0-9&/-]{1,9})\)")
# A long form does not go over these.
_WORD_ENDS = "().;:,"


def defined_abbreviations(text: str) -> list[Definition]:
    """Return the abbreviations that a note defines in brackets after their long form.

    Source: the algorithm of Schwartz and Hearst (Pacific Symposium on Biocomputing 2003): the letters of the short
    form must occur in their order in the words before the bracket, the first of them at the start of a word.
    """
    definitions = []
    for match in _DEFINED.finditer(text):
        short = match.group(1)
        if sum(map(str.isupper, short)) < 2:
            continue
        words = min(len(short) + 5, 2 * len(short))
        window = max(0, match.start() - _LONGEST_FORM)
        first = _words_begin(text[window : match.start()], words)
        if first is None:
            continue
        before = text[window + first : match.start()].rstrip()
        begin = _long_form(short, before)
        if begin is not None:
            start = window + first
            definitions.append(Definition(short, match.start(1), start + begin, start + len(before)))
    return definitions


@cache
def _scispacy() -> Callable[[str], Any]:
    try:
        import scispacy.abbreviation  # noqa: F401 - registers the component
        import spacy
    except ImportError as error:
        raise UsageError(
            "notes.abbreviation_detector is scispacy, which is not installed",
            do="install the extra `linking`, or set notes.abbreviation_detector to own",
        ) from error
    pipeline = spacy.blank("en")
    pipeline.add_pipe("abbreviation_detector")
    return pipeline


def scispacy_abbreviations(text: str) -> list[Definition]:
    """Return the abbreviations that scispaCy's detector finds, in the order of their first use.

    Raises:
        UsageError: scispaCy is not installed.
    """
    document = _scispacy()(text)
    definitions = [
        Definition(short.text, short.start_char, short._.long_form.start_char, short._.long_form.end_char)
        for short in document._.abbreviations
    ]
    first: dict[str, Definition] = {}
    for definition in sorted(definitions, key=lambda each: each.short_begin):
        first.setdefault(definition.short, definition)
    return list(first.values())


def _words_begin(text: str, most: int) -> int | None:
    """Return where the last words of a text begin, as many as ``most``, with nothing but blanks between them."""
    begin = max(map(text.rfind, _WORD_ENDS)) + 1
    parts = text[begin:].rsplit(None, most)
    if not parts:
        return None
    if len(parts) > most:
        begin += len(parts[0])
    while text[begin].isspace():
        begin += 1
    return begin


def _long_form(short: str, words: str) -> int | None:
    """Return where in ``words`` the long form of ``short`` begins."""
    # lower() turns this one letter into two.
    lowered = words.replace("\u0130", " ").lower()
    position = len(words)
    for index in range(len(short) - 1, -1, -1):
        letter = short[index].lower()
        if not letter.isalnum():
            continue
        position = lowered.rfind(letter, 0, position)
        while index == 0 and position > 0 and words[position - 1].isalnum():
            position = lowered.rfind(letter, 0, position)
        if position < 0:
            return None
    return position if len(words) - position > len(short) else None
