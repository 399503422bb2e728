"""Extracted values: how each is written (shape), how a sentence says it, what must be absent for it to be wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from builders.medhal.rules.extraction_tables import layout, word_sets, word_tables
from builders.medhal.rules.reading import STOP, canonical, mark, normal_words

__all__ = ["OTHER", "Value", "is_plain", "opposite_of", "read_value"]

OTHER = "other"
LONGEST = 8
"""Words of a noun phrase, at most."""
OLDEST = 120
TIME_RATIO = 2.0
"""How many times longer or shorter a time must be to be wrong beyond doubt."""

NUMBER = r"\d+(?:\.\d+)?"
PLAIN = re.compile(r"[A-Za-zÀ-ÿ0-9][A-Za-zÀ-ÿ0-9' -]*[A-Za-zÀ-ÿ0-9]")
DOSE = re.compile(
    rf"{NUMBER}(?: ?(?:-|–|to) ?{NUMBER})? ?(?:mg|g|mcg|µg|μg|ml|units?|iu|meq|gy|milligrams?|grams?|micrograms?)"
    r"(?: ?/ ?(?:kg|day|d|m2|h|hr|week))*"
    r"(?: (?:per|a|once|twice|three|four|times|daily|every|day|week|hours?|\d{1,2}))*",
    re.IGNORECASE,
)
LEAD_OF_TIME = re.compile(r"^(?:for|over|during|the|past|last) ", re.IGNORECASE)
HISTORY = re.compile(r"^(?:(?:past|prior|known|previous) )*history of ", re.IGNORECASE)
ADJECTIVE = re.compile(r"(?:ous|ile|able|ible|ful|ed)$")
"""Endings of last words that leave a phrase without its noun: "febrile", "neck painful"."""
ABOUT = {"about", "around", "approximately", "nearly", "almost"}


@dataclass(frozen=True, slots=True)
class Value:
    """A value as rules read it.

    Attributes:
        shape: how it is written (``builders/data/extraction_layout.tsv``), or ``other``.
        said: as a sentence says it.
        words: its normal words.
        group: values of one type and group may be swapped: a dose in mg per day only for another one.
        marks: what must be absent from a text for the value to be wrong there; empty where nothing tells it apart. Of
            a quantity its number alone: a note may write the unit once for several ("10, 20 and 40 mg").
        regions: parts of the body that it names, where it names a site.
        size: a number that tells how near two values of a group are (days, years, times a day).
        ratio: how many times larger or smaller another size must be.
    """

    shape: str
    said: str
    words: tuple[str, ...]
    group: str = ""
    marks: tuple[int, ...] = ()
    regions: tuple[str, ...] = ()
    size: float | None = None
    ratio: float = 1.0


@lru_cache(maxsize=50_000)
def read_value(category: str, concept: str, value: str) -> Value:
    """Read a value by the shapes that its concept can have, tried in order; ``other`` where none fits."""
    text = " ".join(value.split()).rstrip(".").strip()
    words = tuple(normal_words(text))
    slot = layout().get((category, concept))
    for shape in slot.shapes if slot is not None else ():
        if words and (found := SHAPES[shape](text, words)) is not None:
            return found
    return Value(OTHER, text, words, marks=_marks(words))


def opposite_of(value: Value) -> str | None:
    """Return the other value of an attribute that has two, None for every other attribute."""
    pairs = {"male": "female", "female": "male", "a smoker": "a non-smoker", "a non-smoker": "a smoker"}
    return pairs.get(value.said) if value.shape in ("sex", "smoking") else None


def is_plain(text: str, words: tuple[str, ...]) -> bool:
    """Tell whether a value is a plain noun phrase: short, affirmed, certain, without a clause or punctuation."""
    raw = text.lower().split()
    if PLAIN.fullmatch(text) is None or not 1 <= len(raw) <= LONGEST or STOP in words:
        return False
    sets = word_sets()
    if raw[0] in sets["opening"] or raw[-1] in sets["stop"] | sets["opening"] or ADJECTIVE.search(raw[-1]):
        return False
    refused = sets["negation"] | sets["hedge"] | sets["clause"]
    # The parts of "non-contrast" and "ill-defined" are words too.
    return not refused.intersection(re.split(r"[ -]", text.lower())) and any(len(w) > 2 and w.isalpha() for w in words)


def _marks(words: tuple[str, ...]) -> tuple[int, ...]:
    """Return the marks of the words that tell a value apart."""
    sets = word_sets()
    general = sets["generic"] | sets["stop"]
    telling = [word for word in canonical([w for w in words if w not in general]) if word not in general]
    return tuple(sorted({mark(word) for word in telling if len(word) > 2 or word[0].isdigit()}))


def _phrase(text: str, words: tuple[str, ...]) -> Value | None:
    said = HISTORY.sub("", text)
    words = tuple(normal_words(said))
    return Value("phrase", said, words, marks=_marks(words)) if is_plain(said, words) else None


def _finding(text: str, words: tuple[str, ...]) -> Value | None:
    # "Normal" and "abnormal findings" say nothing that another test would not.
    if len(text.split()) < 2 or not is_plain(text, words) or not (telling := _marks(words)):
        return None
    return Value("finding", text, words, marks=telling)


def _age(_text: str, words: tuple[str, ...]) -> Value | None:
    rest = list(words)
    if rest[0] in ABOUT:
        return None
    if not rest[0].isdigit() or rest[1:] not in ([], ["year"], ["year", "old"], ["month", "old"], ["day", "old"]):
        return None
    number, unit = int(rest[0]), (rest[1] if len(rest) > 1 else "year")
    if unit == "year" and number > OLDEST:
        return None
    said = f"{number} {unit}{'s' if number != 1 else ''} old"
    telling = (mark(str(number)),)
    return Value("age", said, (str(number), unit), group=unit, marks=telling, size=float(number))


def _sex(_text: str, words: tuple[str, ...]) -> Value | None:
    said = word_tables()["sex"].get(words[0]) if len(words) == 1 else None
    return Value("sex", said, (said,)) if said else None


def _smoking(_text: str, words: tuple[str, ...]) -> Value | None:
    said = word_tables()["smoking"].get(" ".join(words))
    return Value("smoking", said, words) if said else None


def _measure(text: str, words: tuple[str, ...]) -> Value | None:
    if len(words) != 2 or re.fullmatch(NUMBER, words[0]) is None or words[1] not in {"kg", "lb", "g", "cm", "m"}:
        return None
    telling = (mark(words[0]),)
    return Value("measure", text, words, group=words[1], marks=telling, size=float(words[0]))


def _dose(text: str, words: tuple[str, ...]) -> Value | None:
    if DOSE.fullmatch(text) is None:
        return None
    units = set(word_tables()["unit"].values())
    unit = next((word for word in words if word in units), None)
    numbers = [word for word in words[: words.index(unit)] if word[0].isdigit()] if unit else []
    if not numbers:
        return None
    pattern = re.sub(NUMBER, "#", text.lower())
    telling = tuple(sorted(map(mark, numbers)))
    return Value("dose", text, words, group=pattern, marks=telling, size=float(numbers[0]))


def _days(words: tuple[str, ...]) -> float | None:
    """Return the days of a time such as ("4", "month")."""
    days = word_tables()["days"]
    if len(words) == 2 and re.fullmatch(NUMBER, words[0]) and words[1] in days:
        return float(words[0]) * float(days[words[1]])
    return None


def _duration(text: str, _words: tuple[str, ...]) -> Value | None:
    said = text
    while LEAD_OF_TIME.match(said):
        said = LEAD_OF_TIME.sub("", said)
    words = tuple(normal_words(said))
    size = _days(words[1:] if words and words[0] in ABOUT else words)
    if not size:
        return None
    telling = (mark(words[-2]),)
    return Value("duration", _lowered(said), words, group="duration", marks=telling, size=size, ratio=TIME_RATIO)


def _onset(text: str, words: tuple[str, ...]) -> Value | None:
    for tail in (("ago",), ("prior", "to", "admission"), ("prior", "to", "presentation"), ("before", "admission")):
        if words[-len(tail) :] != tail:
            continue
        time = words[: -len(tail)]
        if size := _days(time[1:] if time and time[0] in ABOUT else time):
            telling = (mark(time[-2]),)
            return Value("onset", _lowered(text), words, " ".join(tail), telling, size=size, ratio=TIME_RATIO)
    return None


def _intensity(text: str, words: tuple[str, ...]) -> Value | None:
    said = list(canonical(words))
    if len(said) != 1 or not said[0].startswith("level="):
        return None
    # Ranks start at 1 and lie at least half a rank apart.
    return Value("intensity", text.lower(), words, marks=(mark(said[0]),), size=float(said[0][6:]), ratio=1.1)


def _frequency(text: str, words: tuple[str, ...]) -> Value | None:
    said = list(canonical(words))
    if len(said) != 1 or not said[0].startswith("frequency="):
        return None
    return Value("frequency", text.lower(), words, marks=(mark(said[0]),), size=float(said[0][10:]), ratio=1.5)


def _location(text: str, words: tuple[str, ...]) -> Value | None:
    said = re.sub(r"^the ", "", text, flags=re.IGNORECASE)
    table = word_tables()["region"]
    regions = tuple(sorted({table[word] for word in words if word in table}))
    if not regions or not is_plain(said, words):
        return None
    return Value("location", said, words, marks=_marks(words), regions=regions)


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


SHAPES: Mapping[str, Callable[[str, tuple[str, ...]], Value | None]] = {
    "phrase": _phrase,
    "finding": _finding,
    "age": _age,
    "sex": _sex,
    "smoking": _smoking,
    "measure": _measure,
    "dose": _dose,
    "duration": _duration,
    "onset": _onset,
    "intensity": _intensity,
    "frequency": _frequency,
    "location": _location,
}
