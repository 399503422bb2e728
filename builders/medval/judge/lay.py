"""What people say in place of clinical words, abbreviations and names (``builders/data/lay_words.tsv``)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache

from builders.medval.judge.tables import DATA
from ground.storage.tables import Row, read_table

__all__ = ["COLUMNS", "said_for"]

COLUMNS = ("clinical", "said", "kind", "source")
# Rows are looked up by so many letters of their beginning.
_KEY = 4
_WHOLE = "$"


@lru_cache(maxsize=65536)
def said_for(text: str) -> tuple[str, ...]:
    """Return what people say in place of a word or name (regexes over beginnings of words in lower case).

    >>> [any("walk" in said for said in said_for(word)) for word in ("ambulating", "walking")]
    [True, False]
    """
    if text.isupper() and text in _abbreviations():
        return (_abbreviations()[text],)
    low = text.lower()
    starts = [at for at in range(len(low)) if at == 0 or not low[at - 1].isalnum()]
    return tuple(said for at in starts for said in _beginning(low[at:], within=at > 0 or " " in low))


def _beginning(low: str, *, within: bool) -> Iterator[str]:
    """Yield what is said for what begins a text; of a name of several words (``within``) only names count."""
    for begin, said, kind in _by_key().get(low[:_KEY], ()):
        if _begins(low, begin) and (kind == "name" or not within):
            yield said


def _begins(low: str, begin: str) -> bool:
    bare = begin.removesuffix(_WHOLE)
    return low.startswith(bare) and (bare == begin or not low[len(bare) : len(bare) + 1].isalnum())


@cache
def _abbreviations() -> dict[str, str]:
    return {row["clinical"]: row["said"] for row in _rows() if row["kind"] == "abbreviation"}


@cache
def _by_key() -> dict[str, list[tuple[str, str, str]]]:
    """Return beginnings with what is said for them and their kind, by their first letters."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for row in _rows():
        for begin in row["clinical"].split("|") if row["kind"] != "abbreviation" else ():
            found.setdefault(begin.removesuffix(_WHOLE)[:_KEY], []).append((begin, row["said"], row["kind"]))
    return found


@cache
def _rows() -> list[Row]:
    return read_table(DATA / "lay_words.tsv", COLUMNS)
