"""Question and option as a statement (MedHal, section 3.2; engine ``rules``).

A vignette is no part of what is asked: it becomes the context of the row, and its last sentence the statement, so that
the statement is one claim, short enough to be judged.

A question is taken over word for word, so that nothing has to be inflected, and the option stands behind a colon or
between quotes, where a phrase, an imperative and a sentence are equally right. Which of the wordings a question gets
depends on the question alone: a right and a wrong option are worded alike.

| question | statement | wording |
|---|---|---|
| Which of the following best explains X? | The following best explains X: {option}. | smooth |
| What is the most likely cause of X? | The following is the most likely cause of X: {option}. | smooth |
| X is most likely to show which of the following? | X is most likely to show the following: {option}. | smooth |
| The drug of choice for X is | The drug of choice for X is the following: {option}. | smooth |
| any other question | The right answer to "...?" is "{option}". | framed |
| any other stem | The right ending of "... …" is "{option}". | framed |
"""

from __future__ import annotations

import re
from functools import lru_cache

from builders.medhal.question_patterns import has, pattern
from builders.medhal.sources.question_files import cleaned, combined
from builders.medhal.writers import Written
from builders.texts.english import is_broken, is_damaged
from builders.texts.origin import Refusal
from builders.texts.sentences import sentences_of

__all__ = ["split_question", "statement_of"]

LONGEST_QUESTION = 600
LONGEST_OPTION = 400
"""Characters of what is asked, and of an option, at most."""
FEWEST_WORDS, MOST_WORDS = 3, 60
TAIL = re.compile(r"[\s?:.,;\-\u2013\u2014_=\u2026]+$")
WHICH_OF = "which of the following"
BEHIND_VALUES = re.compile(r"(?<=[^,;:\s])\s+(?=(?:Which|What) (?:one )?(?:of the|is the|are the))")
"""Before a question that follows a list of values, which no full stop ends."""
STEM_END = re.compile(r"^(?:The|An?|This) .+ (?:is|are|was|were)$")
SHOUTED = re.compile(r"\b(?:MOST|LEAST|NOT|BEST)\b")


@lru_cache(maxsize=64)
def split_question(text: str) -> tuple[str | None, str]:
    """Return the vignette of a question, None where there is none, and what is asked: its last sentence.

    >>> split_question("A man has S. aureus. He coughs. Which of the following is best?")
    ('A man has S. aureus. He coughs.', 'Which of the following is best?')

    A question is asked once for each of its options: the last ones are kept.
    """
    text = cleaned(text)
    cut = max(0, len(text) - LONGEST_QUESTION)
    sentences = sentences_of(text[cut:])
    begin = cut + sentences[-1].begin if len(sentences) > 1 else 0
    for match in BEHIND_VALUES.finditer(text, begin):
        begin = match.end()
    return text[:begin].strip() or None, " ".join(text[begin:].split())


def statement_of(question: str, option: str) -> Written | Refusal:
    """Turn what is asked and one option into a statement that adds nothing, or refuse.

    Args:
        question: one sentence; a vignette before it is left out of the statement (`split_question`).
        option: as the source has it.
    """
    option = " ".join(cleaned(option).split()).replace('"', "'").rstrip(" .;,")
    asked = _asked(question)
    if not option or len(option) > LONGEST_OPTION or "?" in option or is_damaged(f"{option}."):
        return Refusal("option_is_no_phrase")
    if combined(option):
        return Refusal("option_names_options")
    if not FEWEST_WORDS <= len(asked.split()) <= MOST_WORDS:
        return Refusal("unknown_shape")
    if has("two_questions", asked.rstrip("? ")):
        return Refusal("two_questions")
    if is_broken(asked):
        return Refusal("broken_english")
    return _smooth(TAIL.sub("", asked), option) or _framed(asked, option)


@lru_cache(maxsize=64)
def _asked(question: str) -> str:
    """Return what is asked without the name of an examination and marks of a gap, its capital and question mark set."""
    asked = " ".join(cleaned(split_question(question)[1]).split()).replace('"', "'")
    is_question = asked.endswith("?") or pattern("asks").match(asked) is not None
    asked = pattern("exam_note").sub("", TAIL.sub("", asked))
    return f"{asked[:1].upper()}{asked[1:]}{'?' if is_question else ''}"


def _framed(asked: str, option: str) -> Written:
    if asked.endswith("?"):
        return Written(f'The right answer to "{asked}" is "{option}".', "answer", framed=True)
    return Written(f'The right ending of "{asked} \u2026" is "{option}".', "ending", framed=True)


def _smooth(asked: str, option: str) -> Written | None:
    """Return a sentence for the questions whose words surely make one, None for all others.

    A list, a denial (the option is the exception) and a second clause are left to the frame.
    """
    if has("not_smooth", asked) or option.lower() in {"yes", "no"}:
        return None
    asked = SHOUTED.sub(lambda match: match[0].lower(), pattern("which").sub(WHICH_OF, asked))
    front, which, behind = _parted(asked)
    if not which:
        stem = STEM_END.match(asked)
        return Written(f"{asked} the following: {option}.", "stem") if stem else None
    if behind and not (pattern("predicate").match(behind) and not pattern("inverted").search(behind)):
        return None
    if not front:
        return Written(f"The following {behind}: {option}.", "subject") if behind else None
    if pattern("inverted_front").match(front) or (behind and not pattern("preposition_last").search(front)):
        return None
    return Written(f"{front} the following{' ' * bool(behind)}{behind}: {option}.", "in_place")


def _parted(asked: str) -> tuple[str, str, str]:
    """Return what stands before the question word, the word, and what stands behind it."""
    opening = re.match(r"(?:what|which)(?= (?:is|was) )", asked, re.IGNORECASE)
    if opening:
        return "", opening[0], asked[opening.end() :].strip()
    match = re.search(WHICH_OF, asked, re.IGNORECASE)
    if match is None:
        return asked, "", ""
    return asked[: match.start()].strip(), match[0], asked[match.end() :].strip()
