"""Tries MedVAL's rules validator on texts and errors of other people, one half by hash at a time.

It reads MEDEC (real errors beside corrected texts) and MeQSum (questions by people), and makes trials of them: the
pairs as they are; a text against itself, also with its sentences reordered and reworded, and with names exchanged for
synonyms; another patient's text as output; one error planted; a claim appended that the input does not make. What is
put in stands here and nowhere else; each half has claims of its own. ``a diff``: pairs with a sentence that their input
lacks, which is what a comparison of sentences would call unsafe.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.command import parser, run
from builders.medval.items import Item, Judgement, Validator
from builders.medval.rules.engine import open_rules
from builders.medval.sources import READERS
from builders.texts.origin import Origin, Tally
from builders.texts.sources import text_sources
from ground.stable import stable_hash
from ground.storage.files import write_text
from ground.storage.foreign import read_foreign
from ground.storage.workspace import Workspace
from ontoground.cli.render import console, table

__all__ = ["HALVES", "Trial", "half_of", "main", "planted", "reworded", "trials"]

HALVES = ("developed", "held")
MEDEC = ("Text ID", "Text", "Error Flag", "Error Type", "Corrected Text")
UNSAFE_FROM = 3
SAME_CASE = 2 / 5
"""Two texts that share so many of their words are of one case; of those of two, nearly none shares a third."""
CLAIMS = {
    "developed": (
        "The patient also has psoriasis.",
        "She has a history of hypothyroidism.",
        "Past history is notable for glaucoma.",
        "Addison disease was diagnosed last year.",
        "He underwent a cholecystectomy in 2015.",
        "Cultures grew Klebsiella pneumoniae.",
        "A lumbar puncture will be performed tomorrow.",
        "Methotrexate 15 mg weekly was started.",
        "The serum potassium is 6.9 mEq/L.",
        "We will stop all medications.",
        "Transfer to the intensive care unit is arranged.",
        "His daughter has epilepsy.",
    ),
    "held": (
        "The patient also has ulcerative colitis.",
        "He has a history of bipolar disorder.",
        "Past history is notable for gout.",
        "She underwent a splenectomy last year.",
        "Wound cultures grew Pseudomonas aeruginosa.",
        "A bone marrow biopsy is planned for Monday.",
        "Warfarin 5 mg daily was started.",
        "The serum sodium is 118 mEq/L.",
        "All treatment will be withdrawn.",
        "The left leg was amputated.",
        "The patient is pregnant.",
        "His brother died of leukemia.",
    ),
}
"""Claims to append, by half; one is left out where the input has its telling word."""
TELLING = re.compile(
    "psoria|thyroid|glaucom|addison|cholecyst|klebsiella|lumbar|methotrexate|potassium|stop all|intensive|epilep"
    "|colitis|bipolar|gout|splen|pseudomonas|marrow|warfarin|sodium|withdr|amputat|pregnan|leukemi",
    re.IGNORECASE,
)
REWORDINGS = (
    (r"\bcomes to\b", "presents to"),
    (r"\bis brought to\b", "was taken to"),
    (r"\bpresents with\b", "comes in with"),
    (r"\bbecause of\b", "due to"),
    (r"\bshows\b", "reveals"),
    (r"\breveals\b", "shows"),
    (r"\bthere is no\b", "there is not any"),
    (r"\bphysical examination\b", "exam"),
    (r"\bbegun on\b", "started on"),
    (r"\bstarted on\b", "put on"),
    (r"\bfor the past\b", "over the last"),
    (r"\bman\b", "gentleman"),
    (r"\bwoman\b", "lady"),
    (r"\bthe patient\b", "this patient"),
    (r"\bapproximately\b", "about"),
    (r"\bmedications?\b", "drugs"),
    (r"\bhas a history of\b", "previously had"),
    (r"\bwithin normal limits\b", "normal"),
    (r"\bappears\b", "looks"),
    (r"\bprior to\b", "before"),
    (r"\bdaily\b", "every day"),
    (r"\btwice a day\b", "bid"),
    (r"\bdiagnosed with\b", "found to have"),
    (r"\bsevere\b", "marked"),
)

SYNONYMS = {
    "hypertension": "high blood pressure", "high blood pressure": "hypertension", "shortness of breath": "dyspnea",
    "dyspnea": "shortness of breath", "fever": "pyrexia", "myocardial infarction": "heart attack",
    "vomiting": "emesis", "itching": "pruritus", "pruritus": "itching", "jaundice": "icterus", "edema": "swelling",
    "fatigue": "tiredness", "headache": "cephalgia", "abdominal pain": "belly pain",
    "hypotension": "low blood pressure",
    "tachycardia": "rapid heart rate", "bruising": "ecchymosis", "syncope": "fainting", "diarrhea": "loose stools",
    "rash": "skin eruption", "difficulty swallowing": "dysphagia", "dysphagia": "difficulty swallowing",
    "painful urination": "dysuria", "dysuria": "painful urination", "kidney": "renal", "renal": "kidney",
    "hepatic": "liver", "pulmonary": "lung", "cardiac": "heart", "tablets": "pills", "physician": "doctor",
    "emergency department": "emergency room", "vision loss": "loss of vision", "blurry vision": "blurred vision",
    "stroke": "cerebrovascular accident", "hyperlipidemia": "high cholesterol", "acetaminophen": "paracetamol",
    "epinephrine": "adrenaline", "hematuria": "blood in the urine", "tumor": "neoplasm",
    "numbness": "loss of sensation", "comes to": "presents to", "because of": "due to",
}  # fmt: skip
_OTHERS = {"left": "right", "right": "left", "day": "week", "week": "month", "month": "year", "hour": "day"}
_DENIED = {
    "has ": "has no ",
    "reports ": "denies ",
    "had ": "had no ",
    "denies ": "reports ",
    "no ": "",
    "without ": "with ",
}
_SYMPTOM = (
    "fever|chills|nausea|vomiting|headache|cough|chest pain|abdominal pain|hypertension|diabetes|diarrhea|dyspnea"
    "|weight loss|rash|swelling|edema|pain|murmurs?|tenderness|lymphadenopathy|shortness of breath|history of"
)
_COUNTS = ("two", "three", "four", "five", "six")


def _later(count: str) -> str:
    return str((int(count) if count.isdigit() else _COUNTS.index(count.lower()) + 2) * 3 + 1)


PLANTED: dict[str, tuple[str, Callable[[str], str]]] = {
    "dose": (r"\b\d+(?:\.\d+)?(?= ?(?:mg|mcg|g|units?)\b(?!/))", lambda said: f"{3 * float(said):g}"),
    "dose, tenfold": (r"\b\d+(?:\.\d+)?(?= ?(?:mg|mcg|g|units?)\b(?!/))", lambda said: f"{10 * float(said):g}"),
    "frequency": (r"\b(?:twice daily|once daily|daily|twice a day|weekly)\b", lambda _: "four times daily"),
    "number": (
        r"(?<![\d./,-])\d{2,3}(?:\.\d+)?\b(?![./,-]?\d|-year| ?mg|-(?:day|week|month|year))",
        lambda said: f"{float(said) * 1.4 + 7:.{int('.' in said)}f}",
    ),
    "pressure": (r"\b\d{2,3}(?=/\d{2,3} ?mm ?Hg)", lambda said: f"{int(said) + 40}"),
    "age": (r"\b\d{2}(?=-year-old)", lambda said: f"{(int(said) + 31) % 80 + 10}"),
    "side": (r"\b(?:left|right)\b", lambda said: _OTHERS[said.lower()]),
    "denied": (rf"\b(?:has|reports|had) (?=(?:an? )?(?:{_SYMPTOM}))", lambda said: _DENIED[said.lower()]),
    "not denied": (rf"\b(?:denies|no|without) (?=(?:any )?(?:{_SYMPTOM}))", lambda said: _DENIED[said.lower()]),
    "time": (
        rf"\b(?:\d+|{'|'.join(_COUNTS)})(?=[ -](?:day|week|month|year|hour)s? (?!old)|[ -](?:day|week|month|hour)[ -])",
        _later,
    ),
    "unit of time": (r"(?<=\d[ -])(?:day|week|month|hour)(?=s?\b)", lambda said: _OTHERS[said]),
}
"""By sort of error: words of a text (regex), and what is written instead of them, at one place of a text."""


@dataclass(frozen=True)
class Trial:
    """One pair of a row of the table; ``name`` tells pairs apart."""

    row: str
    name: str
    item: Item
    output: str


def _medec(folder: Path) -> Iterator[tuple[str, str, str, str]]:
    """Yield name, text, its kind of error (empty: none) and the corrected text."""
    for path in sorted(folder.glob("MEDEC*.csv")):
        frame = read_foreign(path, "MEDEC", MEDEC).fill_null("")
        for row in frame.iter_rows(named=True):
            if row["Text"].strip():
                wrong = row["Error Flag"] == "1"
                right = row["Corrected Text"] if wrong else row["Text"]
                yield row["Text ID"], row["Text"], row["Error Type"] if wrong else "", right


def _sentences(text: str) -> list[str]:
    return [part for part in re.split(r"(?<=[a-z)%][.?!])\s+(?=[A-Z])", text.strip()) if part]


def _reordered(text: str, name: str) -> str:
    parts = _sentences(text)
    return " ".join(sorted(parts, key=lambda part: stable_hash(1, name, part)))


def reworded(text: str) -> str:
    """Say the same in other words, each place once."""
    places = re.compile("|".join(f"(?P<r{place}>{said})" for place, (said, _) in enumerate(REWORDINGS)), re.IGNORECASE)
    return places.sub(lambda match: _like(match, REWORDINGS[int((match.lastgroup or "r0")[1:])][1]), text)


def in_synonyms(text: str) -> str:
    """Say the same with other names."""
    places = re.compile(rf"\b(?:{'|'.join(map(re.escape, SYNONYMS))})\b", re.IGNORECASE)
    return places.sub(lambda match: _like(match, SYNONYMS[match.group().lower()]), text)


def _like(match: re.Match[str], other: str) -> str:
    return other.capitalize() if match.group()[0].isupper() else other


def half_of(name: str) -> str:
    """Return the half of a text of other people."""
    return HALVES[stable_hash(19, name) % 2]


def planted(name: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield a text with one error, for each sort of error that it allows."""
    for sort, (said, other) in PLANTED.items():
        places = [*re.finditer(said, text)]
        if places:
            place = places[stable_hash(5, name, sort) % len(places)]
            yield sort, text[: place.start()] + other(place.group()) + text[place.end() :]


def _item(name: str, given: str) -> Item:
    return Item(Origin("trial", name, name, "test"), "dialogue2note", given, None)


def trials(texts: Path, half: str) -> Iterator[Trial]:
    """Yield the pairs of all rows of a half."""
    cases = [one for one in _medec(texts / "medec") if half_of(one[0]) == half]
    for name, text, kind, right in cases:
        item = _item(name, right)
        if kind:
            yield Trial(f"MEDEC error: {kind}", name, item, text)
            yield Trial("MEDEC error, reordered and reworded", name, item, _reordered(reworded(text), name))
        yield Trial("against itself", name, item, right)
        yield Trial("against itself, reordered", name, item, _reordered(right, name))
        yield Trial("against itself, reordered and reworded", name, item, _reordered(reworded(right), name))
        if (other := in_synonyms(right)) != right:
            yield Trial("against itself, in synonyms", name, item, other)
        for sort, wrong in planted(name, right):
            yield Trial(f"planted: {sort}", name, item, wrong)
        yield from _appended(name, item)
    yield from _others([(name, right) for name, _, _, right in cases])
    for one in READERS["meqsum"].read(texts / "meqsum", text_sources()["meqsum"], "query2question", Tally()):
        if half_of(one.origin.inner_id) == half:
            yield Trial("MeQSum, clean", one.origin.inner_id, one, one.reference or "")


def _others(cases: Sequence[tuple[str, str]]) -> Iterator[Trial]:
    """Yield each text with the next one as output, unless both are of one case: some are written down twice."""
    mixed = sorted(cases, key=lambda case: stable_hash(2, case[0]))
    for (name, text), (other, theirs) in zip(mixed, [*mixed[1:], *mixed[:1]], strict=True):
        ours, others = (set(re.findall(r"[a-z]{4,}", one.lower())) for one in (text, theirs))
        if len(ours & others) < SAME_CASE * len(ours | others):
            yield Trial("another patient", f"{name}/{other}", _item(name, text), theirs)


def _appended(name: str, item: Item) -> Iterator[Trial]:
    """Yield a text with a claim appended that its input does not make."""
    claims = CLAIMS[half_of(name)]
    claim = claims[stable_hash(3, name) % len(claims)]
    telling = TELLING.search(claim)
    if telling and telling.group().lower() not in item.input.lower():
        yield Trial("claim appended", name, item, f"{item.input.strip()} {claim}")


@dataclass(frozen=True)
class Answer:
    """What the validator says of a trial: a level (0: refused), its findings."""

    trial: Trial
    level: int
    errors: tuple[str, ...]


def answers_of(validator: Validator, asked: Sequence[Trial]) -> list[Answer]:
    """Ask a validator."""
    judged = validator.judge([trial.item for trial in asked], [trial.output for trial in asked])
    return [
        Answer(trial, one.risk_level, tuple(f"{error['category']}: {error['text']}" for error in one.errors))
        if isinstance(one, Judgement)
        else Answer(trial, 0, (one.reason,))
        for trial, one in zip(asked, judged, strict=True)
    ]


def _print(answers: Sequence[Answer]) -> None:
    rows: dict[str, Counter[int]] = {}
    differing = Counter[str]()
    for answer in answers:
        kind, colon, _ = answer.trial.row.partition(":")
        for row in (answer.trial.row, kind) if colon else (answer.trial.row,):
            rows.setdefault(row, Counter[int]())[answer.level] += 1
            differing[row] += not set(_sentences(answer.trial.output)) <= set(_sentences(answer.trial.item.input))
    cells: list[tuple[str | int, ...]] = [
        (
            row,
            levels.total(),
            *(f"{100 * n / levels.total():.1f}" for n in (levels[1], levels[2], levels[3] + levels[4], levels[0])),
            f"{100 * differing[row] / levels.total():.1f}",
        )
        for row, levels in sorted(rows.items())
    ]
    console().print(table(("row", "pairs", "level 1", "2", "3 or 4", "refused", "a diff"), cells))


def main(arguments: Sequence[str]) -> int:
    """Print the table; with ``--save`` write each pair's answer (texts among them: into a folder of one's own)."""
    options = parser(
        "validator_trial", __doc__ or "", "python -m benchmarks.validator_trial --texts DIR --workspace DIR"
    )
    options.add_argument("--texts", type=Path, required=True, help="the folder of the texts of other people")
    options.add_argument("--workspace", type=Path, required=True)
    options.add_argument("--half", choices=HALVES, default="developed")
    options.add_argument("--save", type=Path)
    given = options.parse_args(list(arguments))
    workspace = Workspace.existing(given.workspace)
    _, validator = open_rules(workspace, {})
    asked = list(trials(given.texts, given.half))
    begin = time.process_time()
    answers = answers_of(validator, asked)
    seconds = time.process_time() - begin
    _print(answers)
    console().print(f"{len(asked):,} pairs, {seconds:.1f} CPU seconds")
    if given.save:
        lines = (
            json.dumps(
                {"row": one.trial.row, "name": one.trial.name, "level": one.level, "errors": one.errors,
                 "input": one.trial.item.input, "output": one.trial.output}
            )
            for one in answers
        )  # fmt: skip
        write_text(given.save, "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    run(main)
