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
| Enzyme deficient in X | The enzyme deficient in X is {option}. | named_stem |
| All of the following are causes of X except | {Option} is not among the causes of X. | except |
| Does X reduce Y? (yes, no) | X reduces Y. X does not reduce Y. | yes_no_do |

Stems are read by `builders.medhal.rules.question_stem`; what is refused here may be quoted (`question_quoted`).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from builders.medhal.question_tables import has, pattern, words
from builders.medhal.rules.question_except import except_of
from builders.medhal.rules.question_option import Option, is_uneven, read_option
from builders.medhal.rules.question_place import in_place
from builders.medhal.rules.question_stem import stem_of
from builders.medhal.rules.question_which import which_of
from builders.medhal.rules.question_words import begins_bare, lacks_article, lowered, placed, sentence, sure_verbs
from builders.medhal.rules.question_yes_no import yes_no
from builders.medhal.sources.question_files import combined, plain
from builders.medhal.writers import Written
from builders.texts.english import is_damaged, stray_capitals
from builders.texts.origin import Refusal

__all__ = ["split_question", "statement_of"]

TAIL = re.compile(r"[\s?:.\-\u2013\u2014_=]+$")
INNER_LIST = re.compile(r"[:;]\s*\w|\b\d\)")
WHICH_OF = re.compile(r"\bwhich of the following\b", re.IGNORECASE)
ABOUT = frozenset({"about", "concerning", "regarding"})
LONGEST_OPTION = 400
LONGEST_ASKED = 600
"""Characters of an option, and of what is asked, at most."""


@lru_cache(maxsize=64)
def split_question(text: str) -> tuple[str | None, str]:
    """Return the vignette of a question, None where there is none, and what is asked: its last sentence.

    >>> split_question("A man has S. aureus. He coughs. Which of the following is best?")
    ('A man has S. aureus. He coughs.', 'Which of the following is best?')

    A question is asked once for each of its options: the last ones are kept.
    """
    text = plain(text)
    begin = max(0, len(text) - LONGEST_ASKED)
    for found in reversed(list(pattern("boundary").finditer(text, begin))):
        before, asked = text[: found.end()].strip(), text[found.end() :].strip()
        if asked and (asked[0].isupper() or asked[0] == '"') and not _abbreviated(before, asked):
            return before or None, " ".join(asked.split())
    return None, " ".join(text.split())


def _abbreviated(before: str, after: str) -> bool:
    """Tell whether a full stop ends an abbreviation or a genus (``S. aureus``) and what follows begins no sentence."""
    last = before.rpartition(" ")[2]
    following = re.match(r"[\"'(]*([A-Za-z]+)", after)
    if not last.endswith(".") or (following is not None and following[1].lower() in words("opener")):
        return False
    return re.fullmatch(r"\(?[A-Z]\.", last) is not None or last[:-1] in words("abbreviation")


def statement_of(question: str, option: str) -> Written | Refusal:
    """Turn what is asked and one option into a statement that adds nothing, or refuse.

    Args:
        question: one sentence; a vignette before it is left out of the statement (`split_question`).
        option: as the source has it.
    """
    option = " ".join(plain(option).split()).rstrip(" .;,")
    if option.lower() in {"yes", "no"}:
        return _checked(yes_no(" ".join(plain(question).split()), option.lower() == "yes"))
    asked = _normal(split_question(question)[1])
    telegraphic = not WHICH_OF.search(asked)
    hopeless = _hopeless(asked, option)
    if hopeless is not None:
        return hopeless
    read = read_option(option)
    bare = lacks_article(option, words("before_article")) or (
        read.kind == "clause" and "," not in option and begins_bare(option)
    )
    return Refusal("broken_english") if bare else _checked(_shape(asked, read), telegraphic)


def _hopeless(asked: str, option: str) -> Refusal | None:
    if not option or len(option) > LONGEST_OPTION or "?" in option or is_uneven(option):
        return Refusal("option_is_no_phrase")
    if combined(option):
        return Refusal("option_names_options")
    if INNER_LIST.search(asked):
        return Refusal("no_plain_question")
    return Refusal("two_questions") if has("two_questions", asked.rstrip("? ")) else None


@lru_cache(maxsize=64)
def _normal(asked: str) -> str:
    """Return what is asked with one wording of "which of the following", without its end, its slips mended."""
    asked = pattern("exam_note").sub("", TAIL.sub("", asked))
    asked = pattern("is_are").sub("is", asked)
    asked = pattern("topic_first").sub(_topic_last, asked)
    asked = pattern("lacks_genitive").sub("'s", pattern("spare_article").sub("", asked))
    asked = pattern("of_these").sub("which of the following", asked)
    asked = pattern("below").sub(r"which of the following \1", asked)
    return pattern("which").sub("which of the following", asked)


def _topic_last(found: re.Match[str]) -> str:
    """Return ``X: true is`` as ``true about X``."""
    return f"{found['says']} about {lowered(found['topic'])}{found['end'] or ''}"


def _shape(asked: str, option: Option) -> Written | Refusal:
    asks = re.search(r"\b(?:which|what)\b", asked, re.IGNORECASE)
    if asks and option.kind == "adverbial":
        return Refusal("option_is_no_phrase")
    if re.search(r"\bexcept(?:ing|ion)?\b", asked, re.IGNORECASE):
        return except_of(asked, option)
    fronted = pattern("fronted").match(asked)
    if fronted:
        made = which_of(asked[fronted.end() :], option)
        front = fronted["front"]
        return made if isinstance(made, Refusal) else Written(f"{front}, {made.text}", f"fronted_{made.rule}")
    if re.match(r"(?:which|what)\b", asked, re.IGNORECASE):
        return which_of(asked, option)
    relative = asks and asks.start() and not WHICH_OF.search(asked)
    if relative:
        made = stem_of(asked, option)
        return in_place(asked, option) if isinstance(made, Refusal) else made
    return in_place(asked, option) if asks else stem_of(asked, option)


@cache
def _openers(telegraphic: bool) -> frozenset[str]:
    """Return words behind which what is counted has its article."""
    return sure_verbs() | (words("preposition") - ABOUT if telegraphic else words("before_article"))


def _checked(made: Written | Refusal, telegraphic: bool = False) -> Written | Refusal:
    """Close the sentence; refuse one that still asks, or that is no good English: telegrams leave articles out."""
    if isinstance(made, Refusal):
        return made
    text = sentence(placed(made.text))
    if has("still_asks", text):
        return Refusal("still_asks")
    stray = stray_capitals(text) - words("name", "genus")
    bare = lacks_article(text, _openers(telegraphic)) or (telegraphic and begins_bare(text))
    return Refusal("broken_english") if stray or bare or is_damaged(text) else Written(text, made.rule)
