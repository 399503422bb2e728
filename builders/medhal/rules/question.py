"""Question and option to a statement, by syntax and tables (MedHal, section 3.2; engine ``rules``).

A vignette is no part of what is asked. The paper's statements hold whole questions (its Table 1 shows one without a
vignette); here the vignette becomes the context of the row and its last sentence the statement, so that the statement
is one claim, short enough to be judged, and a detector reads the case where it reads every other context.

What an option is (a noun phrase, an imperative, a clause) chooses the template, and the template's name is the rule
that is reported: a right and a wrong option are paired only under one rule, so that wording tells no label.

| question | statement | rule |
|---|---|---|
| Which of the following is the most likely X? | The most likely X is {option}. | copula |
| What is the best next step? | The best next step is to {imperative}. | copula_to |
| Which of the following drugs would prevent X? | {Option} would prevent X. | subject |
| Which of the following best explains X? (clauses) | The following best explains X: {option}. | subject_list |
| X is most likely to show which of the following? | X is most likely to show {option}. | in_place |
| Which of the following would you expect to see in X? | You would expect to see {option} in X. | object |
| The drug of choice for X is | The drug of choice for X is {option}. | stem |
| All of the following are causes of X except | {Option} is not among the causes of X. | except |
| Does X reduce Y? (yes, no) | X reduces Y. X does not reduce Y. | yes_no_do |
"""

from __future__ import annotations

import re

from builders.medhal.rules.question_stem import except_of, stem_of
from builders.medhal.rules.question_which import in_place, which_of
from builders.medhal.rules.question_words import option_kind, sentence, words
from builders.medhal.rules.question_yes_no import yes_no
from builders.medhal.sources.question_files import combined, plain
from builders.medhal.writers import Written
from builders.texts.origin import Refusal

__all__ = ["split_question", "statement_of"]

BOUNDARY = re.compile(
    r"[.?!][\")]*\s+(?=[\"'(]?[A-Z0-9])|\n+|[^,;:\s](\s+)(?=(?:Which|What) (?:of the|one of|is the|are the))"
)
WHICH = re.compile(
    r"\bwhich (?:one )?(?:of )?(?:the )?(?:following|these)(?: (?:options|choices|answers|answer choices))?\b(?! (?:patients|findings))",
    re.IGNORECASE,
)
OF_THESE = re.compile(
    r"^(?:of|among|given) (?:the |these )?(?:following|these|options)(?: (?:options|choices|answers))?(?: below)?, (?:which|what)\b",
    re.IGNORECASE,
)
BELOW = re.compile(r"\bwhich (?:one )?of the (\w+(?: \w+)?) below\b", re.IGNORECASE)
TWO_QUESTIONS = re.compile(r"\b(?:and|or|&),? (?:what|which|how|why|where|who|when)\b|\?.*\w", re.IGNORECASE)
FRONTED = re.compile(r"^(?P<front>[A-Z][^?]*?), (?=(?:which|what)\b)")
TAIL = re.compile(r"[\s?:.\-\u2013\u2014_=]+$")
LONGEST_OPTION = 400
LONGEST_ASKED = 600
"""Characters of an option, and of what is asked, at most."""


def split_question(text: str) -> tuple[str | None, str]:
    """Return the vignette of a question, None where there is none, and what is asked: its last sentence.

    >>> split_question("A man has S. aureus. He coughs. Which of the following is best?")
    ('A man has S. aureus. He coughs.', 'Which of the following is best?')
    """
    text = plain(text)
    begin = max(0, len(text) - LONGEST_ASKED)
    for found in reversed(list(BOUNDARY.finditer(text, begin))):
        asked = text[found.end() :].strip()
        if asked and (asked[0].isupper() or asked[0] == '"') and not _abbreviated(text[: found.end()].rstrip(), asked):
            return text[: found.end()].strip() or None, " ".join(asked.split())
    return None, " ".join(text.split())


def _abbreviated(before: str, after: str) -> bool:
    """Tell whether a full stop ends an abbreviation: a genus (``S. aureus``), unless what follows begins a sentence."""
    last = before.rpartition(" ")[2]
    if not last.endswith("."):
        return False
    following = re.match(r"[\"'(]*([A-Za-z]+)", after)
    opener = following is not None and following[1].lower() in words("opener")
    if re.fullmatch(r"\(?[A-Z]\.", last):
        return not opener
    return last[:-1] in words("abbreviation") and not (last[:-1] == "No" and opener)


def statement_of(question: str, option: str) -> Written | Refusal:
    """Turn what is asked and one option into a statement that adds nothing, or refuse.

    Args:
        question: one sentence; a vignette before it is left out of the statement (`split_question`).
        option: as the source has it.
    """
    _, asked = split_question(question)
    option = " ".join(plain(option).split()).rstrip(" .;,")
    if option.lower() in {"yes", "no"}:
        return _checked(yes_no(" ".join(plain(question).split()), option.lower() == "yes"))
    refused = _hopeless(asked, option)
    if refused is not None:
        return refused
    return _checked(_shape(_normal(asked), option))


def _hopeless(asked: str, option: str) -> Refusal | None:
    if not option or len(option) > LONGEST_OPTION or "\n" in option or "?" in option:
        return Refusal("option_is_no_phrase")
    if combined(option):
        return Refusal("option_names_options")
    if re.search(r"[:;]\s*\w", asked) or re.search(r"\b\d\)", asked):
        return Refusal("no_plain_question")
    if TWO_QUESTIONS.search(asked.rstrip("? ")):
        return Refusal("two_questions")
    if option_kind(option) == "adverbial":
        return Refusal("option_is_no_phrase")
    return None


def _normal(asked: str) -> str:
    """Return what is asked with one wording of "which of the following" and without its end."""
    asked = TAIL.sub("", asked)
    asked = OF_THESE.sub("which of the following", asked)
    asked = BELOW.sub(r"which of the following \1", asked)
    asked = asked.replace("the most likely the ", "the most likely ")
    return WHICH.sub("which of the following", asked)


def _shape(asked: str, option: str) -> Written | Refusal:
    if re.search(r"\bexcept(?:ing|ion)?\b", asked, re.IGNORECASE):
        return except_of(asked, option)
    fronted = FRONTED.match(asked)
    if fronted:
        rest = which_of(asked[fronted.end() :], option)
        if isinstance(rest, Refusal):
            return rest
        return Written(f"{fronted['front']}, {rest.text}", f"fronted_{rest.rule}")
    if re.match(r"(?:which|what)\b", asked, re.IGNORECASE):
        return which_of(asked, option)
    if re.search(r"\b(?:which|what)\b", asked, re.IGNORECASE):
        return in_place(asked, option)
    return stem_of(asked, option)


def _checked(made: Written | Refusal) -> Written | Refusal:
    """Close the sentence; refuse one that still asks."""
    if isinstance(made, Refusal):
        return made
    text = sentence(made.text)
    if "?" in text.replace('?"', "") or re.search(
        r"\bwhich of the following\b|\bfollowing following\b|_{2,}", text, re.I
    ):
        return Refusal("still_asks")
    return Written(text, made.rule)
