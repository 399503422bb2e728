"""The reference of ``course2diagnosis``: diagnoses and medications of a discharge that its hospital course supports.

What the note lists at discharge but the course does not mention would be an invention for a reader of the course. So an
entry stays only if the course states its concept (the same, an equivalent or a more specific one) as present, and
nowhere denies it, doubts it, stops it or plans otherwise. Other words of the entry stay only if they stand beside a
mention of the concept in the course.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kg.graph import ConceptGraph

__all__ = ["Links", "Mention", "Part", "reference_of"]


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention at half-open offsets of its part's text."""

    begin: int
    end: int
    cuis: tuple[str, ...]
    assertion: str


@dataclass(frozen=True, slots=True)
class Part:
    """A section's text and its mentions."""

    text: str
    mentions: tuple[Mention, ...]

    def cut(self, begin: int) -> Part:
        """Return the text from ``begin`` on, without white space around it."""
        begin += len(self.text[begin:]) - len(self.text[begin:].lstrip())
        text = self.text[begin:].rstrip()
        within = (mention for mention in self.mentions if mention.begin >= begin and mention.end - begin <= len(text))
        return Part(
            text, tuple(replace(mention, begin=mention.begin - begin, end=mention.end - begin) for mention in within)
        )


PROBLEMS, DRUGS = "DISO", "CHEM"
# How a course may speak of what is there at discharge; one mention of any other kind makes the entry doubtful.
STATED = frozenset({"present", "planned"})
# A more general name than the course's own is supported by it, up to this many steps.
STEPS_UP = 1
# Words of an entry count as said of its concept where they stand this near to a mention of it (characters).
NEAR = 60
# The dose that follows a drug's name in the course stands within this many characters.
DOSE_WITHIN = 45
MOST_CUIS = 3

NUMBERED = re.compile(r"^[ \t]*(?:\d{1,2}[.)]|[-*•#]+)[ \t]*", re.MULTILINE)
TITLE = re.compile(r"\A\s*discharge\s+(?:diagnos[ei]s|medications?)[ \t]*:?", re.IGNORECASE)
# Where a line of diagnoses holds several; a comma between a problem and what qualifies it cuts too: what is left of
# such a piece has no concept and falls away.
BETWEEN = re.compile(r"[;,\n]|\.(?=\s|\Z)|:(?=\s)")
LABEL = re.compile(
    r"^[ \t]*(?:primary|secondary|active|chronic|acute|other)(?:[ \t]+diagnos[ei]s)?[ \t]*:", re.I | re.M
)
MEDICATION = re.compile(r"^[ \t]*\d{1,2}[.)][ \t]*(?=\S)", re.MULTILINE)
DOSE = re.compile(r"(?<![\d.,/-])(\d[\d,]*(?:\.\d+)?)[ \t]*(mg|mcg|g|gm|units?|mEq)\b(?!/)", re.IGNORECASE)
FREQUENCY = re.compile(r"\b(BID|TID|QID|DAILY|QHS|QAM|QPM|QOD|Q\d{1,2}H)\b", re.IGNORECASE)
AS_NEEDED = re.compile(r"\bprn\b|as needed", re.IGNORECASE)
# What the patient is after is no diagnosis of the discharge.
AFTER = re.compile(r"(?:s/p|status[ -]post|history of|h/o)\b", re.IGNORECASE)
# What a course names may have been for the stay only: these words, in the drug's own sentence, say so, unless others
# say that it goes on.
PASSING = re.compile(
    r"\b(?:IV|intravenous\w*|gtt|drip|bolus\w*|infusion|x ?\d|once|(?:one|single|a|extra) (?:time )?dose|doses? of|"
    r"given|gave|received|after|before|prior to|overnight|initially|early on|prophyla\w+|SQH?|SC|sub-?q\w*|"
    r"subcutaneous\w*|(?:ex|in)tubat\w+|in the (?:ED|ICU|OR|PACU)|peri-?operative\w*|while (?:inpatient|in house))\b",
    re.IGNORECASE,
)
GOES_ON = re.compile(
    r"\b(?:cont|continu\w+|home|resum\w+|restart\w+|discharge[ds]?|then PO|(?:convert|switch|transition|chang)\w* to|"
    r"outpatient|begun|began|goes on|ended up on|to complete)\b",
    re.IGNORECASE,
)
# A line flush is no treatment with the drug.
FLUSH = re.compile(r"[ \t]*(?:lock[ \t]+)?flush", re.IGNORECASE)
SENTENCE_END = re.compile(r"[.;](?=\s|\Z)|\n[ \t]*\n|\n[ \t]*[-#*]")
WORD = re.compile(r"[A-Za-z0-9]+")
# Labels write capitals inside the names of drugs that look alike; prose writes them small.
TALL_MAN = re.compile(r"\b(?=\w*[a-z])\w*[A-Za-z][A-Z]\w*\b")
# Words that carry nothing of their own.
PLAIN = frozenset({"and", "of", "the", "a", "an", "with", "in", "to", "due", "from"})
LATERALITY = {"l": "left", "r": "right", "lt": "left", "rt": "right", "bl": "bilateral", "b": "bilateral"}


class Links:
    """Which concepts a text also says by saying a concept, by the graph; kept for those that were asked for."""

    def __init__(self, graph: ConceptGraph) -> None:
        self.graph = graph
        self._same: dict[str, tuple[str, ...]] = {}
        self._implied: dict[str, tuple[str, ...]] = {}

    def same(self, cui: str) -> tuple[str, ...]:
        """Return a concept and the other names of the same drug."""
        if cui not in self._same:
            self._same[cui] = (cui, *self.graph.equivalents(cui))
        return self._same[cui]

    def implied(self, cui: str) -> tuple[str, ...]:
        """Return the concept, other names of the same drug, and the next more general problems."""
        if cui not in self._implied:
            problem = PROBLEMS in self.graph.groups(cui)
            general = sorted(self.graph.ancestors(cui, max_depth=STEPS_UP)) if problem else []
            self._implied[cui] = tuple(dict.fromkeys([*self.same(cui), *general]))
        return self._implied[cui]


def reference_of(course: Part, diagnoses: Part, medications: Part, links: Links) -> str | None:
    """Return the lists, one line each, or None where the diagnoses are not borne out.

    Entries are separated by semicolons and stand in the order of the note; the line of medications is left out where
    there is none.
    """
    evidence = _Evidence(course, links)
    named = _diagnoses(diagnoses, evidence)
    if not named:
        return None
    drugs = list(_medications(medications, evidence))
    lines = [f"Discharge diagnoses: {'; '.join(named)}."]
    return "\n".join([*lines, f"Discharge medications: {'; '.join(drugs)}."] if drugs else lines)


class _Evidence:
    """What a course says of concepts."""

    def __init__(self, course: Part, links: Links) -> None:
        self.course = course
        self.links = links
        self._stated: dict[str, list[Mention]] = {}
        self._implied: dict[str, list[Mention]] = {}
        for mention in course.mentions:
            for cui in self.concepts(mention):
                self._stated.setdefault(cui, []).append(mention)
                for other in links.implied(cui):
                    self._implied.setdefault(other, []).append(mention)

    def concepts(self, mention: Mention) -> tuple[str, ...]:
        """Return the concepts of a mention that the graph knows; a mention with many candidates names none."""
        known = self.links.graph
        return tuple(cui for cui in mention.cuis if cui in known) if len(mention.cuis) <= MOST_CUIS else ()

    def is_a(self, mention: Mention, group: str) -> bool:
        """Tell whether all concepts of a mention are of a semantic group."""
        concepts = self.concepts(mention)
        return bool(concepts) and all(group in self.links.graph.groups(cui) for cui in concepts)

    def supporting(self, mention: Mention) -> list[Mention]:
        """Return the course's mentions of what an entry's mention names; none where one of them is in doubt."""
        others = {other for cui in self.concepts(mention) for other in self._implied.get(cui, ())}
        # What denies or doubts the concept itself; a denied special form leaves the general one as it is.
        names = {same for cui in self.concepts(mention) for same in self.links.same(cui)}
        if any(other.assertion not in STATED for name in names for other in self._stated.get(name, ())):
            return []
        return sorted((other for other in others if other.assertion == "present"), key=lambda other: other.begin)


def _tokens(text: str) -> set[str]:
    words = (word.lower() for word in WORD.findall(text))
    return {LATERALITY.get(word, word) for word in words} - PLAIN


def _diagnoses(part: Part, evidence: _Evidence) -> list[str]:
    """Return the entries that stay; none where the first one does not, or fewer than half of them do.

    The first is the main reason of the stay: a list without it, or whose first line is in words that are not known,
    would keep silent about what matters most.
    """
    seen: set[str] = set()
    kept: list[list[str]] = []
    for begin, end in _pieces(part.text):
        problems = [
            mention
            for mention in part.mentions
            if begin <= mention.begin and mention.end <= end and evidence.is_a(mention, PROBLEMS)
        ]
        if AFTER.match(part.text, begin) or (kept and not problems):
            continue
        if problems and all(seen.intersection(evidence.concepts(mention)) for mention in problems):
            continue
        kept.append(_entries(part, begin, end, problems, seen, evidence))
        seen.update(cui for mention in problems for cui in evidence.concepts(mention))
    stay = [entries for entries in kept if entries]
    if not stay or not kept[0] or 2 * len(stay) < len(kept):
        return []
    return [entry for entries in stay for entry in entries]


def _entries(
    part: Part, begin: int, end: int, problems: list[Mention], seen: set[str], evidence: _Evidence
) -> list[str]:
    """Return what stays of one diagnosis: itself, the words of its concepts, or nothing."""
    supported = {mention: evidence.supporting(mention) for mention in problems if mention.assertion == "present"}
    if not problems or not all(supported.get(mention) for mention in problems):
        return []
    new = [mention for mention in problems if not seen.intersection(evidence.concepts(mention))]
    piece = " ".join(part.text[begin:end].split()).strip(" .")
    whole = len(new) == len(problems) and piece.split()[-1].lower() not in PLAIN
    if whole and _words_are_said(part, begin, end, supported, evidence):
        return [_in_prose(piece)]
    return [_in_prose(" ".join(part.text[mention.begin : mention.end].split())) for mention in new]


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each diagnosis stands: lines, and what commas and semicolons part within them."""
    masked = text
    for pattern in (TITLE, LABEL, NUMBERED):
        masked = pattern.sub(lambda match: "\n" * len(match[0]), masked)
    # A line that was wrapped in the middle of an item goes on in small letters.
    masked = re.sub(r"\n(?=[a-z])", " ", masked)
    begin = 0
    for cut in [*BETWEEN.finditer(masked), None]:
        end = cut.start() if cut else len(masked)
        piece = masked[begin:end]
        if piece.strip():
            yield begin + len(piece) - len(piece.lstrip()), begin + len(piece.rstrip())
        begin = cut.end() if cut else end


def _words_are_said(
    part: Part, begin: int, end: int, supported: dict[Mention, list[Mention]], evidence: _Evidence
) -> bool:
    """Tell whether the words of an entry beyond its mentions stand in the course, near to what they are said of."""
    rest, last = [], begin
    for mention in supported:
        rest.append(part.text[last : mention.begin])
        last = mention.end
    wanted = _tokens(" ".join([*rest, part.text[last:end]]))
    course = evidence.course.text
    return all(
        any(wanted <= _tokens(course[max(0, other.begin - NEAR) : other.end + NEAR]) for other in others)
        for others in supported.values()
    )


def _in_prose(entry: str) -> str:
    """Write capitals that tell drugs apart on labels as prose has them: ``LeVETiracetam`` as Levetiracetam."""
    return TALL_MAN.sub(lambda match: match[0].capitalize() if match[0][0].isupper() else match[0].lower(), entry)


def _medications(part: Part, evidence: _Evidence) -> Iterator[str]:
    seen: set[str] = set()
    for number in MEDICATION.finditer(part.text):
        begin = number.end()
        line_end = part.text.find("\n", begin)
        line_end = len(part.text) if line_end < 0 else line_end
        inside = [mention for mention in part.mentions if begin <= mention.begin and mention.end <= line_end]
        # The drug is the first thing on the line; "HELD- Lisinopril" is no medication of the discharge.
        drug = next((mention for mention in inside if evidence.is_a(mention, DRUGS)), None)
        if drug is None or part.text[begin : drug.begin].strip() or drug.assertion != "present":
            continue
        if FLUSH.match(part.text, drug.end):
            continue
        stated = _medication(part.text[drug.begin : drug.end], drug, evidence)
        if not stated or seen.intersection(evidence.concepts(drug)):
            continue
        seen.update(same for cui in evidence.concepts(drug) for same in evidence.links.same(cui))
        name = _in_prose(" ".join(part.text[drug.begin : drug.end].split()))
        yield name + _dose(part.text[drug.end : line_end], stated, evidence.course)


def _medication(name: str, drug: Mention, evidence: _Evidence) -> list[Mention]:
    """Return the course's mentions of a drug; a salt or form other than the course's own does not count."""
    words = [word.lower() for word in WORD.findall(name)]
    stated = []
    for mention in evidence.supporting(drug):
        spoken = [word.lower() for word in WORD.findall(evidence.course.text[mention.begin : mention.end])]
        if spoken[:1] == words[:1] and len(spoken) > 1 and len(words) > 1 and spoken != words:
            return []
        stated.append(mention)
    return [] if all(_is_passing(evidence.course.text, mention) for mention in stated) else stated


def _is_passing(course: str, drug: Mention) -> bool:
    """Tell whether the sentence of a drug speaks of the stay alone."""
    begin = max((stop.end() for stop in SENTENCE_END.finditer(course, 0, drug.begin)), default=0)
    end = SENTENCE_END.search(course, drug.end)
    sentence = course[begin : end.start() if end else len(course)]
    return PASSING.search(sentence) is not None and GOES_ON.search(sentence) is None


def _dose(listed: str, stated: list[Mention], course: Part) -> str:
    """Return the listed dose (and frequency) where the course states the same right after the drug, else nothing."""
    dose = DOSE.search(listed)
    if dose is None:
        return ""
    for mention in stated:
        window = _window(course, mention)
        amounts = [*DOSE.finditer(window)]
        if amounts and _amount(amounts[-1]) == _amount(dose) and len({_amount(each) for each in amounts}) == 1:
            listed_times, said_times = FREQUENCY.findall(listed), FREQUENCY.findall(window)
            same = [word.upper() for word in listed_times] == [word.upper() for word in said_times]
            as_needed = AS_NEEDED.search(listed) or AS_NEEDED.search(window)
            times = f" {listed_times[0]}" if same and len(listed_times) == 1 and not as_needed else ""
            return f" {dose[1]} {dose[2]}{times.lower() if times.strip().lower() == 'daily' else times}"
    return ""


def _window(course: Part, mention: Mention) -> str:
    """Return what follows a mention in its sentence, up to the next mention of anything."""
    following = (other.begin for other in course.mentions if other.begin >= mention.end)
    end = min([mention.end + DOSE_WITHIN, len(course.text), *following])
    stop = SENTENCE_END.search(course.text, mention.end, end)
    return course.text[mention.end : stop.start() if stop else end]


def _amount(dose: re.Match[str]) -> tuple[float, str]:
    unit = dose[2].lower().rstrip("s")
    return float(dose[1].replace(",", "")), "g" if unit == "gm" else unit
