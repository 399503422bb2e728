"""Splits a discharge summary into sections that tile it: no character is lost, offsets are kept."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise, product
from typing import NamedTuple

from ehr.characters import plain
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
_HEADER = re.compile(r"[a-z][ -9;-@\[-~]{0,78}")
# With what white space there may be inside a header, which may be wrapped over lines, never over a blank one.
_LONGEST = 120
# A line without a colon that is a header is not longer.
_LONGEST_LINE = 79
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

# A problem of a problem-based course: "# Hypotension: ..." or "#HTN"; "#1" style numbers are part of the header.
_PROBLEM = re.compile(r"\#+[ \t]*(?=[^\s#])[^\n:]{1,80}?(?=:|[ \t]+-{1,2}[ \t]|[.,;]?[ \t]*$|[.;][ \t])", re.M)
# What may stand between a header and its colon: "Exam (adm):".
_IN_PARENTHESES = re.compile(r"[ \t]*\([^()\n]{1,24}\)$")
# What may be a header by its layout: words alone on their line or before a colon, in marks of Markdown or without.
_CHARACTERS = r"[A-Za-z0-9 /&'(),.@-]{1,60}"
_LAYOUT = re.compile(
    rf"(?:[#*_=]{{1,4}}[ \t]*)?([A-Z](?:[A-Z0-9 /&'(),.@-]{{0,59}}[A-Z](?= - )|{_CHARACTERS}?(?=--)|"
    rf"{_CHARACTERS}+[*_=]{{0,4}}(?=[ \t]*(?::|$))))"
)
# A header does not go over it.
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
# Where a header may begin inside a line: behind a gap, or behind a sentence.
_GAP = re.compile(r"(?:[ \t]{2,}|\t|(?<=[.;])[ \t])(?=[A-Za-z#])")
_MARKS = "#*_= \t"
_CAPITALS = frozenset(string.ascii_uppercase + _MARKS)
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
    return header.lower().replace(" ", "").replace("\n", "").replace("\t", "")


def _header_rule(row: Row, sections: frozenset[str]) -> HeaderRule:
    name, header, parent = row["name"], row["header"], row["parent"]
    for column, right, expected in (
        ("name", _NAME.fullmatch(name), "small letters, digits and _, a letter first: the section that is opened"),
        ("header", _HEADER.fullmatch(header), "ASCII, no capitals, no colon; a letter first, at most 79 characters"),
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


class _Table(NamedTuple):
    """The rules of headers, what may stand on the first line of those that take two, and their words."""

    rules: dict[str, HeaderRule]
    begun: frozenset[str]
    words: frozenset[str]


@cache
def _table(own: OwnRules) -> _Table:
    parts = [header.split() for header in _written(own)]
    begun = frozenset("".join(words[:size]) for words in parts for size in range(1, len(words)))
    return _Table(header_rules(own), begun, frozenset(word for header in _written(own) for word in _words(header)))


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
            known = _table(own).words | _SMALL_WORDS
            others = [word for place, word in enumerate(words) if not any(column[place] for column in heads)]
            if header.isupper() or all(word in known for word in others):
                return HeaderRule(section, "", weak=not header.isupper() or len(words) < 2)
            return None
    return None


def _known(text: str, begin: int, rules: dict[str, HeaderRule]) -> _Header | None:
    """Return the header of the table that begins at a place, with a colon behind it; None: there is none."""
    colon = text.find(":", begin, begin + _LONGEST)
    words = text[begin:colon].rstrip(" \t") if colon > 0 else ""
    rule = rules.get(_key(words))
    if rule is None and words[-1:] == ")":
        words = _IN_PARENTHESES.sub("", words)
        rule = rules.get(_key(words))
    if rule is None or _BLANK_LINE.search(words):
        return None
    return _Header(begin, " ".join(words.split()), rule, begin + len(words))


def _problem(text: str, begin: int) -> _Header | None:
    match = _PROBLEM.match(text, begin)
    return _Header(begin, " ".join(match[0].split()), None, match.end()) if match else None


def _after_blank_line(text: str, begin: int) -> bool:
    lines = text[max(0, begin - 200) : begin].rsplit("\n", 2)
    return len(lines) < 3 or not lines[1].strip()


def _looks_like_header(text: str, begin: int, phrase: str) -> bool:
    """Tell whether a known phrase alone on its line, without a colon, is a header and not the end of a sentence."""
    if not phrase[0].isupper() or (len(phrase) < 10 and not phrase.isupper()):
        return False
    before = text[:begin].rstrip(" \t")
    return not before or before.endswith(("\n\n", "\n \n")) or before[:-1].rstrip(" \t").endswith(("\n", ":"))


def _by_layout(text: str, begin: int, row: str, own: OwnRules, table: _Table) -> tuple[int, _Header | None]:
    """Return where what has a header's layout ends (-1: nothing has), and the header if it is one."""
    match = _LAYOUT.match(row)
    if match is None:
        problem = _problem(text, begin) if row[0] == "#" else None
        return problem.end if problem else -1, problem
    words, end = match[1].rstrip(_MARKS), begin + match.end()
    has_colon = row.startswith(":", match.end())
    if row[0] != "#" and table.words.isdisjoint(_words(words)) and not (has_colon and words.upper() == words):
        return -1, None
    rule = _by_words(words, own)
    if rule is None and row[0] == "#":
        return end, _Header(begin, " ".join(match[0].split()), None, end)
    is_header = rule is not None or (has_colon and words.isupper() and len(words) > 1)
    return end, _Header(begin, words, rule, end) if is_header else None


def _at_line(text: str, begin: int, row: str, own: OwnRules, table: _Table) -> tuple[int, _Header | None]:
    """Return where what may be a header ends that begins a line (-1: nothing may), and the header if it is one."""
    has_colon = ":" in row
    key = "" if has_colon or len(row) > _LONGEST_LINE else _key(row)
    if (has_colon or key in table.begun) and (header := _known(text, begin, table.rules)):
        return header.end, header
    if key in table.rules:
        phrase = row.rstrip(" \t")
        header = _Header(begin, " ".join(row.split()), table.rules[key], begin + len(phrase))
        return header.end, header if _looks_like_header(text, begin, phrase) else None
    if row[0] in _CAPITALS and (key or has_colon or " - " in row):
        return _by_layout(text, begin, row, own, table)
    return -1, None


def _inside(text: str, begin: int, end: int, opened: bool, rules: dict[str, HeaderRule]) -> Iterator[_Header]:
    """Yield the headers inside a line: behind a gap or, where it begins with a header, behind a sentence.

    "Soc: 4 beers nightly. Fam: dad cirrhosis."
    """
    rest = text[begin + 1 : end]
    is_apart = "  " in rest or "\t" in rest or (opened and "." in rest)
    if not ("#" in rest or (":" in rest and is_apart)):
        return
    for gap in _GAP.finditer(text, begin, end):
        header = None
        if gap.end() < begin:
            continue
        if text[gap.end()] == "#":
            ends_sentence = text[gap.start() - 1] in ".;" and len(gap[0]) < 3
            header = _problem(text, gap.end()) if ends_sentence else None
        elif opened or gap[0] != " ":
            header = _known(text, gap.end(), rules)
        if header:
            begin, opened = header.end, True
            yield header


def _headers(text: str, own: OwnRules) -> list[_Header]:
    """Return the headers of a text in their order; one that begins a line has the blanks before it."""
    headers: list[_Header] = []
    table = _table(own)
    after = last = 0
    for line in text.split("\n"):
        start, after = after, after + len(line) + 1
        row = line.strip(" \t\r")
        begin, opened = start + line.find(row), -1
        if row and begin >= last:
            opened, header = _at_line(text, begin, row, own, table)
            if header:
                is_problem = header.rule is None and header.text[0] == "#"
                headers.append(header if is_problem else header._replace(begin=start))
        if ":" in row or "#" in row:
            headers += _inside(text, max(begin, last, opened), after - 1, opened >= 0, table.rules)
        last = max(last, opened, headers[-1].end if headers else 0)
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
