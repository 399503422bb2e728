"""Edits of numbers: another value, far outside rounding, in the same format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache

from builders.texts.edits.model import SentenceEdit, edit_at, like
from builders.texts.edits.tables import alternatives, read_edit_table

__all__ = ["counted", "number_edits"]

COUNT_COLUMNS = ("kind", "word", "other", "source")

NUMBER = re.compile(
    r"(?<![\w.,/<>=+±−–—:#^(\[-])(?<![\d)]\s)(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![\d,./:^–—−-]*\d)"
)
BLOCKED_LEFT = re.compile(
    r"(?:<dig>|[\d%)]|[<>=≤≥±~–—−/-]|\b(?:to|and|or|than|from|between|by|over|under|above|below|least|most|p|type|class|"
    r"stage|grade|phase|figure|fig\.?|table|step|chapter|section|day|week|month|year|no\.?|number|level|group|case|patient|"
    r"version|release|chromosome|exon|intron|domain|species|cluster|in|since|until|of|with|vs\.?|versus|"
    r"mean|respectively))\s*$",
    re.IGNORECASE,
)
BLOCKED_RIGHT = re.compile(
    r"\s*(?:<dig>|[–—−±/-]\s*\d|to\s+\d|and\s+\d|or\s+\d|to\s+<|and\s+<|or\s+<|±|×|x\s*\d|\(?\d|-fold)", re.IGNORECASE
)
AGE = re.compile(r"(?:-|\s)?(?:year|month|week|day|yo|y/o)s?(?:-|\s)?(?:old)", re.IGNORECASE)
PER_CENT = re.compile(
    r"\s?(?:%|percent\b|per cent\b)(?!\s*(?:ci\b|confidence|credib|c\.i|epiboly|power|ethanol))", re.IGNORECASE
)
FACTORS = (Decimal(2), Decimal(3), Decimal("0.4"))


def number_edits(sentence: str) -> Iterator[SentenceEdit]:
    """Yield the sentence with another value for a number that measures or counts something."""
    for match in NUMBER.finditer(sentence):
        if BLOCKED_LEFT.search(sentence[: match.start()]) or BLOCKED_RIGHT.match(sentence, match.end()):
            continue
        for after in _other_values(match.group("number"), sentence, match.end()):
            if not re.search(rf"(?<![\d.]){re.escape(after)}(?![\d.]*\d)", sentence):
                yield edit_at(sentence, match.start(), match.end(), after, "number")
    yield from _words(sentence)


def _other_values(number: str, sentence: str, end: int) -> list[str]:
    """Return other values in the format of ``number``; none where it is not known what it measures."""
    value = Decimal(number.replace(",", ""))
    percent = bool(PER_CENT.match(sentence, end))
    age = bool(AGE.match(sentence, end))
    counts = bool(_counted_pattern().match(sentence, end))
    unit = bool(_unit_after().match(sentence, end))
    if not (percent or age or counts or unit) or value == 0 or (value < 2 and counts) or _is_year(number):
        return []
    highest = Decimal(100) if percent else Decimal(95) if age else None
    values = (_like_number(number, value * factor) for factor in FACTORS)
    kept = [text for text in values if _differs(text, value) and (highest is None or _value(text) <= highest)]
    return [text for text in kept if not (counts or age) or _value(text) >= 2]


def _value(text: str) -> Decimal:
    return Decimal(text.replace(",", ""))


def _differs(text: str, value: Decimal) -> bool:
    return _value(text) > 0 and abs(_value(text) - value) >= value * Decimal("0.4")


def _is_year(number: str) -> bool:
    return number.isdigit() and len(number) == 4 and 1800 <= int(number) <= 2100


def _like_number(number: str, value: Decimal) -> str:
    """Return a value with the decimals and the thousands separators of ``number``."""
    decimals = len(number.partition(".")[2])
    return f"{value:,.{decimals}f}" if "," in number else f"{value:.{decimals}f}"


def _words(sentence: str) -> Iterator[SentenceEdit]:
    """Yield the sentence with another number in words: ``two genes`` -> ``five genes``, and the reverse."""
    others = _number_words()
    for match in _word_pattern().finditer(sentence):
        word, left, right = match.group("word"), sentence[: match.start()], sentence[match.end("word") :]
        if BLOCKED_LEFT.search(left) or re.search(
            r"\b(?:other|another|the|these|those|all|remaining|last|first|every|any|its|their)\s*$", left, re.I
        ):
            continue
        if re.match(r"\s*(?:or|to|and|of|-)\b|\s*<dig>", right):
            continue
        after = others[word.lower()]
        if not re.search(rf"\b{after}\b", sentence, re.IGNORECASE):
            yield edit_at(sentence, match.start("word"), match.end("word"), like(word, after), "number")


@cache
def counted() -> re.Pattern[str]:
    """Return a pattern for a number, also one that was masked (``<dig>``), with what it counts."""
    return re.compile(rf"(?:\d|<dig>|\b{alternatives(_number_words())}){_counted_pattern().pattern}", re.IGNORECASE)


@cache
def _number_words() -> dict[str, str]:
    """Return each number in words with the one that takes its place: one way only would tell what was put in."""
    rows = [row for row in read_edit_table("edit_counts", COUNT_COLUMNS) if row["kind"] == "word"]
    pairs = [(row["word"], row["other"]) for row in rows]
    return dict([*pairs, *((other, word) for word, other in pairs)])


@cache
def _any(kind: str) -> str:
    """Return a pattern for the nouns that are counted, or the units."""
    return alternatives(row["word"] for row in read_edit_table("edit_counts", COUNT_COLUMNS) if row["kind"] == kind)


@cache
def _word_pattern() -> re.Pattern[str]:
    """A number in words before what it counts, with at most two adjectives between."""
    words = alternatives(_number_words())
    return re.compile(
        rf"(?<![\w-])(?P<word>{words})(?=\s+(?:(?!of\b|and\b|or\b|in\b)[a-z-]+\s+){{0,2}}{_any('noun')}(?![\w-]))",
        re.IGNORECASE,
    )


@cache
def _counted_pattern() -> re.Pattern[str]:
    return re.compile(rf"\s+(?:(?!of\b|and\b|or\b|in\b)[a-z-]+\s+){{0,2}}{_any('noun')}(?![\w-])", re.IGNORECASE)


@cache
def _unit_after() -> re.Pattern[str]:
    return re.compile(rf"\s?{_any('unit')}(?![\w/-])", re.IGNORECASE)
