"""Splits a discharge summary into sections that tile it: no character is lost, offsets are kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise, product
from typing import NamedTuple

from ehr.characters import codes_of, plain
from ehr.header_scan import HeaderTrie, header_places, header_trie
from ehr.spans import Section
from ground import ROOT
from ground.storage.own_rules import NO_RULES, OwnRules
from ground.storage.tables import Row, read_table

__all__ = ["ANY_PARENT", "SECTION_TABLE", "UNKNOWN", "HeaderRule", "header_rules", "split_sections"]

SECTION_TABLE = ROOT / "ehr" / "data" / "sections.tsv"
UNKNOWN = "unknown"
ANY_PARENT = "*"
HEAD_TABLE = ROOT / "ehr" / "data" / "section_heads.tsv"
WORD_TABLE = ROOT / "ehr" / "data" / "header_words.tsv"
_COLUMNS = ("name", "header", "parent", "strength", "source")
_STRENGTHS = frozenset({"firm", "weak"})
_NAME = re.compile(r"[a-z][a-z0-9_]*")
# The compiled search compares letters of ASCII.
_HEADER = re.compile(r"[a-z][ -@\[-~]{0,78}")
# Sections that assert something of all their text: a paragraph under an unknown header is not part of them.
_CLOSED = frozenset({"family_history", "allergies", "stopped_medications", "warning_signs"})
# A line of allergies that tells of something else.
_ASIDE = re.compile(r"\n(?=(?:Now|Currently|Today|Takes|Taking|Receiv\w+)\b)")
_FILLED = re.compile(r"[^\n:]*:[ \t]*\S")
_RELATIVES = re.compile(
    r"(?i:mother|father|brother|sister|son|daughter|aunt|uncle|cousin|grand|maternal|paternal|sibling|parent|mom|dad|"
    r"family|child|niece|nephew|[mp]g[mf]|drug|food|allerg)"
)
# In these sections prose may hold lines such as "Labs: ..." or "PE: started heparin"; a weak header does not end them.
_NARRATIVE = frozenset({"brief_hospital_course", "discharge_instructions", "followup_instructions"})

# White space inside a header: a header may be wrapped over two lines, never over a blank line.
_GAP = r"[ \t]*(?:\n[ \t]*)?"
_LETTERS = {" ": _GAP, "/": r"[ \t]*/[ \t]*"}
# A problem of a problem-based course: "# Hypotension: ..." or "#HTN"; "#1" style numbers are part of the header.
_PROBLEM = r"\#+[ \t]*(?=[^\s#])[^\n:]{1,80}?(?=:|[ \t]+-{1,2}[ \t]|[.,;]?[ \t]*$|[.;][ \t])"
# What may stand between a header and its colon: "Exam (adm):".
_IN_PARENTHESES = r"(?:\([^()\n]{1,24}\)[ \t]*)"
# What may be a header by its layout: words alone on their line or before a colon, in marks of Markdown or without.
_LAYOUT = (
    r"(?:[#*_=]{1,4}[ \t]*)?[A-Z][A-Za-z0-9 /&'(),.@-]{1,60}?[ \t]*[*_=]{0,4}(?=[ \t]*(?::|--|$)|(?-i:(?<=[A-Z])) - )"
)
_MARKS = "#*_= \t"
# Words that headers have besides those that say which section it is.
_SMALL_WORDS = frozenset(
    {"of", "the", "and", "in", "on", "at", "to", "for", "this", "with", "by", "or", "other", "during", "upon", "from"}
    | {"these", "you", "your", "following", "not", "do", "should", "be", "were", "have", "been", "taking", "take"}
    | {"stop", "start", "continue", "hold", "keep", "new", "things", "call", "us", "doctor", "home", "if", "when"}
)


@dataclass(frozen=True, slots=True)
class HeaderRule:
    """One line of ``sections.tsv``: the section that a header opens and, for a sub-header, where it belongs."""

    name: str
    parent: str
    weak: bool


class _Header(NamedTuple):
    begin: int
    text: str
    rule: HeaderRule | None
    end: int


def _key(header: str) -> str:
    return re.sub(r"\s+", "", header.lower())


def _header_rule(row: Row, sections: frozenset[str]) -> HeaderRule:
    name, header, parent = row["name"], row["header"], row["parent"]
    for column, right, expected in (
        ("name", _NAME.fullmatch(name), "small letters, digits and _, a letter first: the section that is opened"),
        (
            "header",
            _HEADER.fullmatch(header) and header[-1] != ":",
            "ASCII, no capitals, no colon at its end; a letter first, at most 79 characters",
        ),
        ("strength", row["strength"] in _STRENGTHS, "firm or weak"),
    ):
        if not right:
            raise row.refused(f"a header's {column} cannot be read", row[column] or "nothing", expected)
    if parent not in sections:
        known = ", ".join(sorted(sections - {"", ANY_PARENT}))
        raise row.refused("a header's parent is no section", parent, f"empty, * (whichever is open), or {known}")
    return HeaderRule(name, parent, row["strength"] == "weak")


@cache
def _written(own: OwnRules) -> dict[str, HeaderRule]:
    """Return the rule of each header as it may be written: with short words for long ones; own headers come first."""
    words: dict[str, list[str]] = {}
    for row in read_table(WORD_TABLE, ("word", "written", "source")):
        words.setdefault(row["word"], [row["word"]]).append(row["written"])
    own_rows = own.rows("sections", _COLUMNS)
    opened: dict[str, str] = {}
    for row in own_rows:
        if opened.setdefault(row["header"], row["name"]) != row["name"]:
            raise row.refused(
                "a header opens two sections", row["header"], f"one line of it; another has {opened[row['header']]}"
            )
    rows = [*own_rows, *read_table(SECTION_TABLE, _COLUMNS)]
    sections = frozenset({"", ANY_PARENT, *(row["name"] for row in rows if not row["parent"])})
    rules: dict[str, HeaderRule] = {}
    for row in rows:
        rules.setdefault(row["header"], _header_rule(row, sections))
    for header, rule in list(rules.items()):
        parts = re.split(r"([ /]+)", header)
        for written in product(*(words.get(part, [part]) for part in parts)):
            rules.setdefault("".join(written), rule)
    return rules


@cache
def header_rules(own: OwnRules = NO_RULES) -> dict[str, HeaderRule]:
    """Return the rule of each header, keyed by the header in lower case without white space.

    Raises:
        InputError: a line of a table cannot be read.
    """
    return {_key(header): rule for header, rule in _written(own).items()}


@lru_cache(maxsize=4096)
def _known(words: str, own: OwnRules) -> tuple[str, HeaderRule]:
    """Return a header of the table as it is written, on one line, and its rule."""
    return " ".join(words.split()), header_rules(own)[_key(words)]


@lru_cache(maxsize=1024)
def _patterns(first: str, own: OwnRules) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what may stand at the beginning of a line and what after a gap inside one, where a character stands.

    All headers take long to compile; those of one first letter are compiled when a text has such a line.
    """
    headers = {" ".join(header.split()) for header in _written(own) if header[0] == first}
    spaced = ["".join(_LETTERS.get(letter, re.escape(letter)) for letter in header) for header in headers]
    known = "|".join(sorted(spaced, key=len, reverse=True)) or "(?!)"
    at_line = re.compile(
        rf"(?P<line>(?ai:{known}))(?=[ \t]*{_IN_PARENTHESES}?:)"
        rf"|(?P<alone>(?ai:{known}))(?=[ \t]*$)"
        rf"|(?P<layout>{_LAYOUT})"
        rf"|(?P<problem>{_PROBLEM})",
        re.MULTILINE,
    )
    inside = re.compile(rf"(?P<inline>(?ai:{known}))(?=[ \t]*:)|(?P<problem>{_PROBLEM})", re.MULTILINE)
    return at_line, inside


@cache
def _trie(own: OwnRules) -> HeaderTrie:
    return header_trie(
        header_rules(own), {word for words in _header_words(own) for word in re.findall("[a-z]+", words)}
    )


def _words(header: str) -> list[str]:
    return re.findall(r"[a-z0-9-]+", header.lower())


@cache
def _heads() -> tuple[tuple[tuple[re.Pattern[str], ...], str], ...]:
    """Return what the words of a header must be, and the section that it opens then."""
    rows = read_table(HEAD_TABLE, ("words", "section", "source"))
    return tuple((tuple(re.compile(part) for part in row["words"].split()), row["section"]) for row in rows)


@lru_cache(maxsize=4096)
def _by_words(header: str, own: OwnRules) -> HeaderRule | None:
    """Return the rule of a header that the table does not have; None where its words are not those of headers."""
    words = _words(header)
    exact = header_rules(own).get(_key(header))
    if exact is not None:
        return exact
    for parts, section in _heads():
        heads = [[part.match(word) for word in words] for part in parts]
        if all(map(any, heads)):
            known = _header_words(own) | _SMALL_WORDS
            others = [word for place, word in enumerate(words) if not any(column[place] for column in heads)]
            if header.isupper() or all(word in known for word in others):
                return HeaderRule(section, "", weak=not header.isupper() or len(words) < 2)
            return None
    return None


@cache
def _header_words(own: OwnRules) -> frozenset[str]:
    return frozenset(word for header in _written(own) for word in _words(header))


def _candidates(text: str, own: OwnRules) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield where the line or the gap before each possible header begins, and the header."""
    end = 0
    opened = -1
    for position, start in header_places(codes_of(text), _trie(own)).tolist():
        if position < end:
            continue
        begins_line = start == 0 or text[start - 1] == "\n"
        row = text.rfind("\n", 0, position)
        if not begins_line and position == start + 1 and text[start] == " " and opened != row and text[position] != "#":
            # "Soc: 4 beers nightly. Fam: dad cirrhosis.": behind a sentence only where the line begins with a header.
            continue
        at_line, inside = _patterns(text[position].lower(), own)
        match = (at_line if begins_line else inside).match(text, position)
        if match is not None and (match.lastgroup != "problem" or begins_line or text[position] == "#"):
            end, opened = match.end(), row
            yield start, match


def _after_blank_line(text: str, begin: int) -> bool:
    lines = text[max(0, begin - 200) : begin].rsplit("\n", 2)
    return len(lines) < 3 or not lines[1].strip()


def _looks_like_header(text: str, begin: int, phrase: str) -> bool:
    """Tell whether a known phrase alone on its line, without a colon, is a header and not the end of a sentence."""
    if not phrase[0].isupper() or (len(phrase) < 10 and not phrase.isupper()):
        return False
    before = text[:begin].rstrip(" \t")
    return not before or before.endswith(("\n\n", "\n \n")) or before[:-1].rstrip(" \t").endswith(("\n", ":"))


def _headers(text: str, own: OwnRules) -> list[_Header]:
    headers = []
    for line, match in _candidates(text, own):
        group = str(match.lastgroup)
        words = match.group(group)
        begin = match.start(group)
        if group == "alone" and not _looks_like_header(text, begin, words):
            continue
        if group == "layout":
            header = words.strip(_MARKS)
            rule = _by_words(header, own)
            has_colon = text[match.end() :].lstrip(" \t").startswith(":")
            if rule is None and words[0] == "#":
                header, group = " ".join(words.split()), "problem"
            elif rule is None and not (has_colon and header.isupper() and len(header) > 1):
                continue
        elif group == "problem":
            header, rule = " ".join(words.split()), None
        else:
            header, rule = _known(words, own)
        start = begin if group in {"inline", "problem"} else line
        headers.append(_Header(start, header, rule, match.end()))
    return headers


_PROBLEM_MARK = re.compile(r"\s*#")


def _section_of(text: str, header: _Header, current: str) -> str:
    rule = header.rule
    if rule is None:
        is_closed = current in _CLOSED and not _RELATIVES.match(header.text)
        return UNKNOWN if header.text[:1].isalpha() and is_closed else current
    if rule.parent == ANY_PARENT:
        return rule.name if current == UNKNOWN else current
    if rule.weak and (
        current in _NARRATIVE or (current == "history_of_present_illness" and not _after_blank_line(text, header.begin))
    ):
        return current
    return rule.parent or rule.name


def split_sections(text: str, own: OwnRules = NO_RULES) -> list[Section]:
    """Return the sections of a note in their order; their texts joined are the note.

    Text before the first header is a section ``unknown`` with an empty header (blanks there belong to the first
    section), so a note without headers is one section ``unknown``; an empty note has none. A part under a sub-header
    keeps the section of its parent and carries its own header. Headers are those of ``sections.tsv``
    and of ``own`` rules, problem headings (``# Problem:``), and lines that have a header's layout and its words
    (``section_heads.tsv``).
    """
    if not text:
        return []
    text = plain(text)
    headers = _headers(text, own)
    if not headers or text[: headers[0].begin].strip():
        headers.insert(0, _Header(0, "", None, 0))
    begins = [0, *(header.begin for header in headers[1:]), len(text)]
    sections: list[Section] = []
    current = around = UNKNOWN
    for header, (begin, end) in zip(headers, pairwise(begins), strict=True):
        is_problem = header.rule is None and _PROBLEM_MARK.match(header.text) is not None
        is_unknown = header.text.isupper() and not (header.rule or is_problem) and _FILLED.match(text, header.end)
        before = current
        if is_problem and (around in _NARRATIVE or current in _CLOSED):
            # Laboratory values inside the hospital course end where its next problem begins; relatives have no "#".
            current = around if around in _NARRATIVE else "brief_hospital_course"
        else:
            current = _section_of(text, header, current)
        if is_unknown and current == before and sections:
            # "CHF: weight up." is a problem with what is told of it.
            sections[-1] = replace(sections[-1], end=end)
            continue
        if header.rule is not None and (not header.rule.parent or current in _NARRATIVE):
            around = current
        aside = _ASIDE.search(text, header.end, end) if current == "allergies" else None
        stop = aside.end() if aside else end
        sections.append(Section(current, "" if is_unknown else header.text, begin, stop))
        if stop < end:
            current = around = UNKNOWN
            sections.append(Section(current, "", stop, end))
    return sections
