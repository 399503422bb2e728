"""Measures how much each kind of evidence of MedVAL's rules validator tells: in wrong notes, and in faithful ones.

Faithful are notes of ACI-Bench, whole and their assessment and plan, sections of MTS-Dialog, and notes of the written
visits, the developed halves. Wrong are the same notes with one error each: planted by the writer of the visits, a claim
appended, a name exchanged for another note's, or a word as below; and another conversation's note. What the faithful
note has too is not counted. Prints rows of ``builders/data/judge_evidence.tsv``, each with the
sort of error that it finds best.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.command import parser, run
from benchmarks.validator_trial import HALVES, Trial, appended, half_of, spoken_item, trials, visits
from builders.medval.judge.checks import CHECKS, LAST
from builders.medval.judge.comparison import Comparison, read_ahead
from builders.medval.judge.evidence import COLUMNS
from builders.medval.judge.validator import RulesValidator
from builders.medval.rules.engine import open_rules
from builders.medval.sources import aci_bench
from builders.medval.sources.rows import csv_rows, text_of
from ground.settings import MedvalSettings
from ground.stable import stable_hash
from ground.storage.warehouse import connect
from ground.storage.workspace import Workspace

__all__ = ["exchanged", "main"]

SOURCE = "benchmarks.judge_evidence on the developed halves of ACI-Bench, MTS-Dialog and the written visits"
_SECTIONS = ("aci_bench, clean", "mts_dialog, clean", "mts_dialog, other sections")
# A whole note of errors says nothing of how one is found, but for the kind of evidence that is about whole notes.
_OTHERS_NOTE, _WHOLE = "another's note", "note, unheard"
_TOGETHER = 256
# Sorts of error with fewer notes tell nothing.
_FEW = 20
_OTHERS = {
    "left": "right", "right": "left", "mother": "father", "father": "mother", "sister": "brother", "brother": "sister",
    "denies": "reports", "denied": "reported", "reports": "denies", "endorses": "denies", "continue": "stop",
    "start": "stop", "no": "some", "positive": "negative", "negative": "positive",
    "hyper": "hypo", "hypo": "hyper",
}  # fmt: skip
EXCHANGES: dict[str, tuple[str, Callable[[str], str]]] = {
    "side": (r"\b(?:left|right)\b", lambda said: _OTHERS[said.lower()]),
    "relative": (r"\b(?:mother|father|sister|brother)\b", lambda said: _OTHERS[said.lower()]),
    "denied": (r"\b(?:reports|endorses|positive)\b", lambda said: _OTHERS[said.lower()]),
    "not denied": (r"\b(?:denies|denied|no|negative)\b", lambda said: _OTHERS[said.lower()]),
    "action": (r"\b(?:continue|start)\b", lambda said: _OTHERS[said.lower()]),
    "amount": (r"\b\d+(?:\.\d+)?(?= ?(?:mg|mcg|units?|g)\b)", lambda said: f"{2 * float(said):g}"),
    "time": (r"\b\d+(?=[ -](?:day|week|month|year)s?\b(?![ -]old))", lambda said: f"{int(said) + 3}"),
    "more often": (r"\b(?:twice daily|bid|b\.i\.d\.|twice a day)(?!\w)", lambda _: "four times daily"),
    "twice": (r"\b(?:once daily|daily|once a day)\b", lambda _: "twice daily"),
    "value": (r"\b\d+\.\d+\b(?! ?(?:mg|mcg|units?|g)\b)", lambda said: f"{float(said) + 1.3:g}"),
    "number": (r"(?<![\d./-])\d{2,3}\b(?![./-]?\d| ?[a-z%])", lambda said: f"{int(said) + 17}"),
    "measure": (r"\b\d+(?= ?(?:%|mm|cm|kg|lbs?|pounds)(?!\w))", lambda said: f"{int(said) + 7}"),
    "pressure": (r"\b\d{2,3}/\d{2,3}\b(?!/)", lambda said: f"{int(said[:2]) + 2}{said[2:]}"),
    "age near": (r"\b\d{2}(?=[- ]years?[- ]old|[- ]?y/?o\b)", lambda said: f"{int(said) + 2}"),
    "age far": (r"\b\d{2}(?=[- ]years?[- ]old|[- ]?y/?o\b)", lambda said: f"{(int(said) + 27) % 90 + 5}"),
    "opposite": (r"\b(?:hyper|hypo)(?=tensi|thyroid|glyc|kal|natr)", lambda said: _OTHERS[said.lower()]),
    "allergy left out": (r"[^.\n]*\ballerg[^.\n]*[.\n]", lambda _: ""),
}
"""By sort of error: words of a note (regex), and what is said instead of them, at one place of a note."""


Alarms = dict[str, list[set[str]]]
"""By sort of error: the kinds of evidence in each note."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """A faithful note, by its place, with one error of a sort."""

    place: int
    sort: str
    output: str


def exchanged(name: str, note: str) -> Iterator[tuple[str, str]]:
    """Yield a note with one word exchanged, for each sort of error that it allows."""
    for sort, (said, other) in EXCHANGES.items():
        places = [*re.finditer(said, note, re.IGNORECASE)]
        if places:
            place = places[stable_hash(5, name, sort) % len(places)]
            yield sort, note[: place.start()] + other(place.group()) + note[place.end() :]


def _notes(texts: Path) -> Iterator[Trial]:
    """Yield the whole notes of the developed half of ACI-Bench."""
    for path in aci_bench.files(texts / "aci_bench"):
        for _, row in csv_rows(path, aci_bench.COLUMNS):
            name, dialogue, note = (text_of(row[column]) for column in aci_bench.COLUMNS)
            if half_of(name) == HALVES[0] and dialogue and note:
                yield Trial("aci_bench", name, spoken_item(name, dialogue), note)


def _others(faithful: Sequence[Trial]) -> Iterator[Wrong]:
    """Yield each note with that of another conversation of its row."""
    for row in dict.fromkeys(one.row for one in faithful):
        places = [place for place, one in enumerate(faithful) if one.row == row]
        places.sort(key=lambda place: stable_hash(8, faithful[place].name))
        for place, other in zip(places, [*places[1:], *places[:1]], strict=True):
            yield Wrong(place, _OTHERS_NOTE, faithful[other].output)


def _renamed(compared: Sequence[Comparison]) -> Iterator[tuple[int, str, str]]:
    """Yield each note with a name exchanged for one of its kind that another note has, for each kind that it has."""
    names: dict[str, list[str]] = {}
    named = [[(one.mention.kind, one.mention) for one in c.made.seen if one.polarity == "present"] for c in compared]
    for kinds in named:
        for kind, mention in kinds:
            names.setdefault(kind, []).append(mention.text)
    for place, (c, kinds) in enumerate(zip(compared, named, strict=True)):
        for kind in dict.fromkeys(kind for kind, _ in kinds):
            mine = [mention for one, mention in kinds if one == kind]
            one = mine[stable_hash(6, c.output, kind) % len(mine)]
            other = names[kind][stable_hash(7, c.output, kind) % len(names[kind])]
            if other.lower() not in f"{c.input} {c.output}".lower():
                yield place, f"name of a {kind}", c.output[: one.begin] + other + c.output[one.end :]


def _compared(validator: RulesValidator, pairs: Sequence[tuple[str, str]]) -> Iterator[Comparison]:
    for begin in range(0, len(pairs), _TOGETHER):
        group = pairs[begin : begin + _TOGETHER]
        read_ahead("dialogue2note", group, validator.knowledge)
        yield from (Comparison("dialogue2note", *pair, validator.knowledge) for pair in group)


def _evidence(compared: Comparison) -> frozenset[tuple[str, str | None]]:
    """Return the kinds of evidence that the validator finds in an output, with the words that they are about."""
    said = [finding for check in (*CHECKS, LAST) for finding in check(compared)]
    return frozenset((finding.evidence, finding.quote) for finding in said if finding.evidence)


def main(arguments: Sequence[str]) -> int:
    """Print the rows of the table."""
    options = parser(
        "judge_evidence", __doc__ or "", "python -m benchmarks.judge_evidence --texts DIR --visits FILE --workspace DIR"
    )
    options.add_argument("--texts", type=Path, required=True)
    options.add_argument("--visits", type=Path, required=True)
    options.add_argument("--workspace", type=Path, required=True)
    given = options.parse_args(list(arguments))
    sections = (one for one in trials(given.texts, HALVES[0]) if one.row in _SECTIONS)
    faithful, wrong = [*_notes(given.texts), *sections], list[Wrong]()
    for one in visits(given.visits, HALVES[0]):
        if one.row.startswith("visits, clean"):
            faithful.append(one)
        elif one.row.startswith("visits, planted"):
            # Its faithful note is the last one but one.
            wrong.append(Wrong(len(faithful) - 2, "planted", one.output))
    for place, one in enumerate(faithful):
        wrong += [Wrong(place, sort, output) for sort, output in exchanged(one.name, one.output)]
        wrong += [Wrong(place, "claim appended", more.output) for more in appended("", one.name, one.item, one.output)]
    wrong += _others(faithful)
    workspace = Workspace.existing(given.workspace)
    with connect(workspace.warehouse, workspace.settings.run, read_only=True) as connection:
        _, validator = open_rules(workspace, connection, MedvalSettings(), {})
        if isinstance(validator, RulesValidator):
            _print(*_told(validator, faithful, wrong))
    return 0


def _told(validator: RulesValidator, faithful: Sequence[Trial], wrong: list[Wrong]) -> tuple[Alarms, Alarms]:
    """Return the kinds of evidence of faithful notes, and by sort of error those of wrong ones that are new in them."""
    compared = [*_compared(validator, [(one.item.input, one.output) for one in faithful])]
    wrong += [Wrong(*one) for one in _renamed(compared)]
    said = [_evidence(one) for one in compared]
    pairs = [(faithful[one.place].item.input, one.output) for one in wrong]
    told = [_evidence(one) - said[wrong[place].place] for place, one in enumerate(_compared(validator, pairs))]
    alarms: Alarms = {"": [{kind for kind, _ in kinds} for kinds in said]}
    found: Alarms = {}
    for one, kinds in zip(wrong, told, strict=True):
        found.setdefault(one.sort, []).append({kind for kind, _ in kinds})
    return alarms, found


def _print(alarms: Alarms, found: Alarms) -> None:
    """Print a row for each kind: the sort of error that it finds best."""
    said = alarms[""]
    lines: list[tuple[str, ...]] = [COLUMNS]
    for kind in sorted(
        {kind for kinds in (*said, *(one for told in found.values() for one in told)) for kind in kinds}
    ):
        sorts = [
            (sum(kind in one for one in told), len(told), sort)
            for sort, told in found.items()
            if len(told) >= _FEW and (sort == _OTHERS_NOTE) == (kind == _WHOLE)
        ]
        best = max(sorts, key=lambda sort: (sort[0] / sort[1], sort))
        lines.append(
            (kind, best[2], *map(str, best[:2]), str(sum(kind in one for one in said)), str(len(said)), SOURCE)
        )
    print("\n".join("\t".join(line) for line in lines))  # noqa: T201


if __name__ == "__main__":
    run(main)
