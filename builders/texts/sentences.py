"""Sentences of a text with their places: full stops of abbreviations, initials, species and list numbers end none.

Made for biomedical text as it is stored: articles that were lower-cased (SumPubMed), notes with wrapped lines and
bullets, dialogues with spaces before full stops. Sentences and the white space between them tile the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from ground import ROOT
from ground.storage.tables import grouped, read_table

__all__ = ["Sentence", "lower_opening", "sentences_of"]

COLUMNS = ("kind", "word", "source")

STOP = re.compile(r"[.?!]+[\"'”’)\]]*(?=\s|$)")
LAST_WORD = re.compile(r"[^\s(\[\"'“‘,;:/]+$")
NEXT_WORD = re.compile(r"\s*[\"'“‘(\[]*([^\W\d_]+|\S)?")
LETTER_STOP = re.compile(r"[.?!]\s+[\"'“‘(\[]*([^\W\d_])")

PARAGRAPH = re.compile(r"\n[ \t\r]*\n\s*")
BULLET = re.compile(r"[ \t]*(?:[-*•+>#]+[ \t]+|\(?\d{1,2}[.)][ \t]|\[\w+\]|[A-Z][\w /&-]{1,40}:)")
WRAPPED = 50
"""A line shorter than this, in characters, was not wrapped: what follows it is a new sentence."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: ``text == whole[begin:end]``, without white space around it; offsets in code points."""

    begin: int
    end: int
    text: str


def sentences_of(text: str) -> list[Sentence]:
    """Return a text's sentences in order; between them, before and after lies only white space."""
    lower_cased = _is_lower_cased(text)
    cuts = {0, len(text)}
    cuts.update(match.end() for match in PARAGRAPH.finditer(text))
    cuts.update(place + 1 for place in _line_ends(text))
    cuts.update(match.end() for match in STOP.finditer(text) if _ends(text, match, lower_cased))
    places = sorted(cuts)
    spans = [_stripped(text, begin, end) for begin, end in pairwise(places)]
    return [Sentence(begin, end, text[begin:end]) for begin, end in spans if begin < end]


def lower_opening(sentence: str) -> str:
    """Return a sentence as it goes on after a comma: a capital stays where it may belong to a name.

    >>> lower_opening("The dose was halved."), lower_opening("Aspirin was stopped.")
    ('the dose was halved.', 'Aspirin was stopped.')
    """
    words = sentence.split(maxsplit=1)
    opens = (
        bool(words) and words[0] == words[0].capitalize() and words[0] != "I" and words[0].lower() in _words()["opener"]
    )
    return sentence[:1].lower() + sentence[1:] if opens else sentence


def _stripped(text: str, begin: int, end: int) -> tuple[int, int]:
    while begin < end and text[begin].isspace():
        begin += 1
    while begin < end and text[end - 1].isspace():
        end -= 1
    return begin, end


def _is_lower_cased(text: str) -> bool:
    """Tell whether sentences of a text do not start with capitals."""
    starts = LETTER_STOP.findall(text)
    return bool(starts) and 2 * sum(letter.isupper() for letter in starts) < len(starts)


def _line_ends(text: str) -> list[int]:
    """Return the line breaks that end a sentence: all but those that wrap a line."""
    ends = []
    line_begin = 0
    for match in re.finditer(r"\n", text):
        place = match.start()
        line, following = text[line_begin:place].strip(), text[place + 1 : place + 80].split("\n", 1)[0]
        opens = following.lstrip()[:1]
        if len(line) < WRAPPED or line[-1:] in ".?!:;" or BULLET.match(following) or opens.isupper():
            ends.append(place)
        line_begin = place + 1
    return ends


def _ends(text: str, stop: re.Match[str], lower_cased: bool) -> bool:
    """Tell whether a full stop ends its sentence."""
    after = NEXT_WORD.match(text, stop.end())
    following = after.group(1) if after else None
    if following is None or "?" in stop.group() or "!" in stop.group():
        return True
    if following in ",;:)]" or (not lower_cased and following.islower()):
        return False
    before = LAST_WORD.search(text, max(0, stop.start() - 40), stop.start())
    return before is None or _word_ends(text, before, following, lower_cased)


def _word_ends(text: str, before: re.Match[str], following: str, lower_cased: bool) -> bool:
    """Tell whether a full stop after a word ends the sentence, by what the word is and what follows."""
    word, kinds = before.group().lower(), _words()
    opens = following.lower() in kinds["opener"]
    if word in kinds["never"]:
        return False
    if word in kinds["number"]:
        return not (following.isdigit() or following == "<")
    if word in kinds["may_end"]:
        return opens or (not lower_cased and following[0].isupper() and word not in ("st", "al"))
    if len(word) == 1 and word.isalpha():
        return _letter_ends(text, before.start(), opens)
    return not (word.isdigit() and _numbers_a_list(text, before.start()))


def _letter_ends(text: str, begin: int, opens: bool) -> bool:
    """A single letter is an initial (``e. coli``, ``J. Smith``), or the end of a name (``hepatitis B``)."""
    earlier = text[max(0, begin - 40) : begin].split()
    return opens or bool(earlier and earlier[-1].lower() in _words()["letter_after"])


def _numbers_a_list(text: str, place: int) -> bool:
    """Tell whether a number stands at the start of a line or of a sentence (``2. Anaemia. 3. Anxiety.``)."""
    earlier = text[max(0, place - 40) : place].rstrip(" \t")
    return not earlier or earlier[-1] in "\n.?!:;"


@cache
def _words() -> dict[str, frozenset[str]]:
    rows = read_table(ROOT / "builders" / "data" / "sentence_words.tsv", COLUMNS)
    return {kind: frozenset(words) for kind, words in grouped(rows, "kind", "word").items()}
