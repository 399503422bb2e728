"""Forms of words by which questions become statements: capitals, number, verb forms."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise, takewhile

from builders.medhal.question_tables import pattern, words
from builders.texts.edits.model import article_of

__all__ = [
    "AUXILIARIES",
    "BE",
    "agree",
    "articled",
    "begins_bare",
    "capital",
    "counted",
    "finite",
    "head_of",
    "is_plural",
    "lacks_article",
    "lowered",
    "one_of",
    "placed",
    "sentence",
    "sure_verbs",
    "third_person",
    "third_persons",
]

BE = {"is": "are", "was": "were", "has": "have", "does": "do"}
PLURAL_BE = {many: one for one, many in BE.items()}
MODALS = {"will", "would", "can", "could", "should", "may", "might", "must", "cannot", "did", "had"}
AUXILIARIES = frozenset({*BE, *PLURAL_BE, *MODALS})
IRREGULAR = {"have": "has", "be": "is", "do": "does", "go": "goes"}
HEAD_END = re.compile(r"[,;:(]|\s-\s")
COORDINATED = re.compile(r"[^,]+,(?: [^,]+,)* and \w")
FIRST_WORD = re.compile(r"[A-Za-z][\w'-]*")
TOKEN = re.compile(r"[\w'-]+|[^\w\s]")
DESCRIBED = ("al", "ar", "ary", "ory", "oid", "ous", "ic", "ive", "ed")
BARE_BEHIND = frozenset({"at", "by", "following", "from", "in", "of", "on", "to", "under", "upon"})
BETWEEN = re.compile(r" \([^()]+\)(?= \w)")
RELATIVE = re.compile(r" (?:who|which|that|whose) ")
ATTRIBUTE = re.compile(r"(?<=\w) (?:\w+ed (?:by|from|in|on|to|with)|\w+ing (?:an?|the|on|from|in|to|with)) ")
SUPERLATIVE = re.compile(r"best|\w{3,}est")
TWO_NAMES = re.compile(r"[A-Za-z][a-z'-]+ [A-Z][a-z]+\b")


def third_person(verb: str) -> str:
    """Return a verb's form after he, she, it.

    >>> third_person("suffer"), third_person("comply"), third_person("stay"), third_person("have")
    ('suffers', 'complies', 'stays', 'has')
    """
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


@cache
def third_persons() -> dict[str, str]:
    """Return base forms by third person, of all known verbs; some are plural nouns too."""
    return {third_person(verb): verb for verb in words("verb", "verb_or_noun")}


@cache
def sure_verbs() -> frozenset[str]:
    """Return third persons that are no plural nouns."""
    return frozenset(third_person(verb) for verb in words("verb") - words("verb_or_noun"))


def finite(word: str) -> bool:
    """Tell whether a word is surely a finite verb: an auxiliary or the third person of a verb that is no noun."""
    return word in AUXILIARIES or word in sure_verbs()


def agree(verb: str, plural: bool) -> str | None:
    """Return a finite verb in the number that is asked; None where its forms are not known.

    >>> agree("explains", True), agree("are", False), agree("would", True), agree("shown", True)
    ('explain', 'is', 'would', None)
    """
    low = verb.lower()
    if low in MODALS:
        return low
    base = PLURAL_BE.get(low, low) if low in AUXILIARIES else third_persons().get(low, low)
    if low in AUXILIARIES:
        return BE[base] if plural else base
    if base == low and low not in words("verb"):
        return None
    return base if plural else third_person(base)


@cache
def _endings() -> tuple[str, ...]:
    return tuple(words("ending"))


def lowered(option: str) -> str:
    """Return an option as it stands inside a sentence: without its capital where the first word is no known name.

    >>> lowered("Acute appendicitis"), lowered("Kawasaki disease"), lowered("CT scan"), lowered("Cushing disease")
    ('acute appendicitis', 'Kawasaki disease', 'CT scan', 'Cushing disease')
    """
    if option[:1] in "'\"" and option[1:2].isupper():
        return option[0] + lowered(option[1:])
    if option.startswith("Anti-"):
        return f"a{option[1:]}"
    first = FIRST_WORD.match(option)
    if first is None or _keeps_capital(first.group(), option):
        return option
    low, second = first.group().lower(), option[first.end() :].split(maxsplit=1)[:1]
    known = _is_common(low) or low.endswith(_endings()) or "-" in low
    named = low.endswith("'s") or (not known and bool(second) and second[0].lower().strip(",.") in words("eponym_of"))
    return option if named else option[0].lower() + option[1:]


def articled(phrase: str) -> str:
    """Return a phrase that ends with a part of the body with the article that English wants there.

    >>> articled("axillary nerve"), articled("a branch of inferior mesenteric artery"), articled("horseshoe kidney")
    ('the axillary nerve', 'a branch of the inferior mesenteric artery', 'horseshoe kidney')
    """
    head = head_of(phrase)
    if (
        len(head) > 1
        and "(" not in phrase
        and head[-1] in words("part")
        and all(map(pattern("place").fullmatch, head[:-1]))
    ):
        return f"the {phrase}"
    *before, last = phrase.split() or [""]
    if last.lower() not in words("part"):
        return phrase
    while before and pattern("place").fullmatch(before[-1]):
        before.pop()
    if before and before[-1].lower() not in words("preposition"):
        return phrase
    return " ".join([*before, "the", *phrase.split()[len(before) :]])


def placed(text: str) -> str:
    """Return a text in which every part of the body behind a preposition has its article.

    >>> placed("occurs at anterior wall of first part"), placed("carcinoma of liver cells in pelvis")
    ('occurs at the anterior wall of the first part', 'carcinoma of liver cells in the pelvis')
    """
    tokens = text.split()
    low = [token.lower().strip("(),.;:") for token in tokens]
    opened = set()
    for at, word in enumerate(low):
        if word not in words("part") or not _ends_a_phrase(tokens, low, at):
            continue
        begin = at
        while begin and pattern("place").fullmatch(low[begin - 1]) and not tokens[begin - 1].endswith((",", ";", ":")):
            begin -= 1
        preposition = begin and (low[begin - 1] in words("preposition") or low[begin - 1] == "to")
        if preposition and low[max(0, begin - 2) : begin] != ["the", "following"]:
            opened.add(begin)
    return " ".join(f"the {token}" if at in opened else token for at, token in enumerate(tokens))


def _ends_a_phrase(tokens: list[str], low: list[str], at: int) -> bool:
    fronted = tokens[at][-1] == "," and low[0] in words("preposition") and "," not in "".join(tokens[:at])
    if at + 1 == len(tokens) or tokens[at][-1] in ".;:)" or fronted:
        return True
    return low[at + 1] in words("preposition", "relative") | {"and", "or", "to", "now"} or finite(low[at + 1])


def counted(phrase: str) -> str:
    """Return a phrase about one thing that is counted with the article that it lacks.

    >>> counted("receptor antagonist"), counted("CT scan of the chest"), counted("ACE inhibitor"), counted("two scans")
    ('a receptor antagonist', 'a CT scan of the chest', 'an ACE inhibitor', 'two scans')
    >>> counted("diastolic murmur best heard at the apex"), counted("chest radiograph anterior-posterior and lateral")
    ('a diastolic murmur best heard at the apex', 'a chest radiograph anterior-posterior and lateral')
    """
    first, *others = head_of(ATTRIBUTE.split(BETWEEN.sub("", phrase))[0]) or [""]
    head = [first, *takewhile(lambda word: word not in words("participle", "adverb"), others)]
    placed_behind = {"and", *filter(pattern("place").fullmatch, head)} - words("counted_noun")
    while len(head) > 1 and head[-1] in placed_behind:
        head.pop()
    if first in words("always_the") and phrase.lower().startswith(f"{first} of "):
        return f"the {phrase}"
    opened = first in words("determiner", "quantifier") or first.isdigit() or SUPERLATIVE.fullmatch(first)
    bare = head[-1] in words("counted_noun") and not (opened or _is_gerund(first) or is_plural(" ".join(head)))
    return f"{article_of(phrase)} {phrase}" if bare else phrase


def _is_gerund(word: str) -> bool:
    """Tell whether a word is what is done ("measuring"), no attribute ("bulging")."""
    stem = word.removesuffix("ing")
    known = words("action_verb", "verb", "takes_object")
    return stem != word and bool({stem, f"{stem}e", stem[:-1]} & known)


def lacks_article(text: str, prepositions: frozenset[str]) -> bool:
    """Tell whether behind one of some prepositions stands one thing that is counted without an article or the like.

    >>> known = frozenset({"for", "on"})
    >>> lacks_article("It is suitable for biological predictor", known), lacks_article("It is seen for an hour", known)
    (True, False)
    """
    low = TOKEN.findall(text.lower())
    counted_nouns, bare_nouns = words("counted_noun"), words("bare_noun")
    heads = ((at, word) for at, word in enumerate(low) if word in counted_nouns and _is_head(low, at))
    return any(
        _behind_preposition(low[:at], prepositions - BARE_BEHIND if word in bare_nouns else prepositions)
        for at, word in heads
    )


def begins_bare(text: str, document: str = "") -> bool:
    """Tell whether a sentence begins with one thing that is counted, without an article or the like.

    What its document says twice in the plural is counted, too.

    >>> begins_bare("Third trimester ultrasound predicts labor."), begins_bare("The trial of zinc failed.")
    (True, False)
    >>> begins_bare("Liver plays a role."), begins_bare("Liver disease plays a role.")
    (True, False)
    >>> begins_bare("Halo of zinc is seen.", "Two halos and other halos fade."), begins_bare("Halo of zinc is seen.")
    (True, False)
    """
    low = TOKEN.findall(BETWEEN.sub("", text.lower()))
    if low[0] in words("always_the") and low[1:2] == ["of"]:
        return True
    if low[0][0].isdigit() or low[0].endswith("ing") or low[0] in words("determiner", "quantifier", "preposition"):
        return False
    ends = (at for at, (word, after) in enumerate(pairwise([*low, ""])) if _closes(word) or _takes(word, after))
    end = next((at for at in ends if at), 0)
    owned = any(word.endswith(("'s", "s'")) or word in words("determiner") for word in low[:end])
    if end == 0 or low[end] == "and" or owned:
        return False
    noun = low[end - 1]
    return noun in words("counted_noun", "part") or document.count(f" {noun}s ") > 1


def _takes(word: str, after: str) -> bool:
    """Tell whether a word that may be a noun is a verb: an article follows it."""
    return after in {"a", "an", "the"} and word in third_persons()


@cache
def _closes(word: str) -> bool:
    """Tell whether a word ends the noun phrase that it follows."""
    known = word in words("preposition", "relative", "adverb", "participle") or word in {"and", "or", "to"}
    return known or finite(word) or not word[0].isalnum()


def _is_head(low: list[str], at: int) -> bool:
    after = low[at + 1] if at + 1 < len(low) else "."
    return not after[0].isalnum() or after in words("preposition", "relative") or finite(after)


def _behind_preposition(before: list[str], prepositions: frozenset[str]) -> bool:
    for word in reversed(before):
        if word in prepositions or (word.endswith("ing") and before[before.index(word) - 1] in BE):
            return True
        ends = not word[0].isalnum() or word.endswith(("'s", "s'")) or word in {"and", "or"} or finite(word)
        if ends or word in words("preposition", "determiner", "quantifier", "relative"):
            return False
    return False


def _keeps_capital(word: str, option: str) -> bool:
    """Tell whether a first word is an abbreviation, a letter or a name."""
    stem = re.split(r"['-]", word)[0]
    if word == "A":
        return re.match(r"A [a-z\d]", option) is None
    if word[1:] != word[1:].lower() or len(stem) == 1 or any(letter.isdigit() for letter in stem):
        return True
    return bool({word, stem} & words("name", "genus")) or (
        not _is_common(word.lower()) and TWO_NAMES.match(option) is not None
    )


def _is_common(low: str) -> bool:
    """Tell whether a word is surely no name."""
    return low in words("common", "action_verb", "action_or_noun", "part", "adjective") or low.endswith(("ive", "ed"))


def capital(text: str) -> str:
    """Return a text with a capital first letter; words that carry a capital inside (mRNA, pH) stay."""
    if text[:1] in "'\"" and text[1:2].islower():
        return text[0] + capital(text[1:])
    first = re.match(r"[\w-]*", text)
    if first and any(letter.isupper() for letter in first.group().split("-")[0][1:]):
        return text
    return text[:1].upper() + text[1:] if text[:1].isascii() else text


def sentence(text: str) -> str:
    """Return a text as one sentence: single blanks, a capital, one full stop.

    >>> sentence("the  most likely cause is aspirin .")
    'The most likely cause is aspirin.'
    """
    text = " ".join(text.split())
    text = re.sub(r"\s+([,.;:])", r"\1", text).rstrip(" .")
    return capital(text) + ("" if text.endswith(('."', '!"', '?"')) else ".")


def head_of(phrase: str) -> list[str]:
    """Return the words of a noun phrase up to its head: before a preposition, a clause or a comma.

    >>> head_of("Gram-positive cocci in pairs"), head_of("genes encoding a toxin")
    (['gram-positive', 'cocci'], ['genes'])
    """
    found: list[str] = []
    for word in HEAD_END.split(phrase)[0].lower().split():
        attribute = word.endswith("ing") and found and _plural_noun(found[-1])
        if found and (attribute or word in words("preposition", "relative")):
            break
        found.append(word)
    return found


def is_plural(phrase: str) -> bool:
    """Tell the number of a noun phrase by its head.

    >>> is_plural("Inhibitors of DNA gyrase"), is_plural("Pseudomonas aeruginosa"), is_plural("Aspirin and clopidogrel")
    (True, False, True)
    """
    found = head_of(phrase)
    if ("and" in found[1:-1] and not _described(found[found.index("and", 1) - 1])) or COORDINATED.match(
        RELATIVE.split(phrase)[0]
    ):
        return "and" not in found or found[-1] not in words("test")
    if len(found) == 2 and phrase.split(maxsplit=1)[0] in words("genus"):
        return False
    gerund = len(found) > 1 and len(found[0]) > 5 and found[0].endswith("ing")
    return bool(found) and not gerund and _plural_noun(phrase.split()[len(found) - 1].strip(".,;:)"))


def _described(word: str) -> bool:
    """Tell whether a word before "and" is an adjective: both belong to the noun behind."""
    return (word.endswith(DESCRIBED) or word in words("adjective")) and word not in words("noun_in_al", "singular")


def _plural_noun(noun: str) -> bool:
    low = noun.lower()
    if low in words("plural"):
        return True
    singular = low in words("singular") or low.endswith(("ss", "us", "is", "os", "'s")) or noun.isupper()
    return not singular and low.endswith(("s", "ae"))


def one_of(noun: str) -> str:
    """Return a regular plural's singular; other words stay.

    >>> one_of("properties"), one_of("diagnoses"), one_of("changes"), one_of("process")
    ('property', 'diagnosis', 'change', 'process')
    """
    low = noun.lower()
    if not low.endswith("s") or low == "species" or not _plural_noun(noun):
        return noun
    if low.endswith("ies"):
        return noun[:-3] + "y"
    if low.endswith(("noses", "bases", "ypotheses", "crises", "theses")):
        return noun[:-2] + "is"
    return noun[:-2] if low.endswith(("sses", "xes", "ches", "shes")) else noun[:-1]
