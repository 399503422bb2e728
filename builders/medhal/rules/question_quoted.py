"""Questions that no template words well: the statement names the question and says what its right answer is.

Examinations ask in telegrams ("Afferent fibres of the Hering-Breuer reflex run in?"), which no sentence may take over.
Quoted, they stand as they are: ``The right answer to "Only abductor of the vocal cord" is "Posterior cricoarytenoid".``
and ``The right ending of "Glass syringes are sterilised in hot air oven at …" is "160 deg C for 2 hours".``
"""

from __future__ import annotations

import re

from builders.medhal.question_tables import has, pattern, words
from builders.medhal.rules.question_words import AUXILIARIES
from builders.medhal.sources.question_files import combined, plain
from builders.medhal.writers import Written
from builders.texts.english import is_broken, is_damaged
from builders.texts.origin import Refusal

__all__ = ["quoted"]

ENDS = re.compile(r"[\s:.,;\-\u2013\u2014_=]+(?=\??$)|\s+(?=\?$)")
OF_OPTIONS = re.compile(r"\b(?:following|these|above|below|options?|except)\b", re.IGNORECASE)
ASKING = frozenset({"how", "what", "when", "where", "which", "who", "why"})
FEWEST_WORDS, MOST_WORDS = 3, 30
LONGEST_OPTION = 120


def quoted(question: str, option: str) -> Written | Refusal:
    """Return a statement on a question; a question that asks of its options alone, or is no short text, is refused."""
    asked, option = (" ".join(plain(text).split()).replace('"', "'") for text in (question, option))
    asked, option = pattern("exam_note").sub("", ENDS.sub("", asked)), option.rstrip(" .;,")
    asked = asked[:1].upper() + asked[1:]
    if asked.split(maxsplit=1)[:1] and asked.split()[0].lower() in ASKING and not asked.endswith("?"):
        asked += "?"
    if OF_OPTIONS.search(asked) or not FEWEST_WORDS <= len(asked.split()) <= MOST_WORDS:
        return Refusal("unknown_shape")
    if not option or len(option) > LONGEST_OPTION or combined(option):
        return Refusal("option_is_no_phrase")
    if has("two_questions", asked.rstrip("? ")) or is_broken(asked):
        return Refusal("unknown_shape")
    if is_damaged(f"{option}."):
        return Refusal("broken_english")
    if asked.endswith("?") or asked.split()[-1].lower() not in words("preposition", "takes_object") | AUXILIARIES:
        return Written(f'The right answer to "{asked}" is "{option}".', "quoted")
    return Written(f'The right ending of "{asked} \u2026" is "{option}".', "quoted")
