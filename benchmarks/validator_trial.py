"""Tries MedVAL's rules validator on texts and errors of other people, one half by hash at a time.

It reads MEDEC (real errors beside corrected texts), ACI-Bench, MTS-Dialog and MeQSum (clean pairs by people), and makes
four trials of them: the pairs as they are, a text against itself (also with its sentences reordered and reworded),
another patient's text as output, and a claim appended that the input does not make. The rewordings and the claims stand
here and nowhere else; each half has claims of its own. ``a diff``: pairs with a sentence that their input lacks, which
is what a comparison of sentences would call unsafe.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.command import parser, run
from builders.medval.items import Item, Judgement, Validator
from builders.medval.rules.engine import open_rules
from builders.medval.sources import READERS, mts_dialog
from builders.medval.sources.rows import csv_rows, text_of
from builders.texts.origin import Origin, Refusal, Tally
from builders.texts.sources import text_sources
from ground.contracts.rows_text import MedvalTask
from ground.settings import MedvalSettings
from ground.stable import stable_hash
from ground.storage.files import write_text
from ground.storage.warehouse import connect
from ground.storage.workspace import Workspace
from ontoground.cli.render import console, table

__all__ = ["HALVES", "Trial", "appended", "half_of", "main", "reworded", "spoken_item", "trials", "visits"]

HALVES = ("developed", "held")
SOURCES: dict[str, MedvalTask] = {
    "aci_bench": "dialogue2note",
    "mts_dialog": "dialogue2note",
    "meqsum": "query2question",
}
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
        for _, row in csv_rows(path, MEDEC):
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
    places = re.compile("|".join(f"(?P<r{place}>{one})" for place, (one, _) in enumerate(REWORDINGS)), re.IGNORECASE)

    def other(match: re.Match[str]) -> str:
        said = REWORDINGS[int((match.lastgroup or "r0")[1:])][1]
        return said.capitalize() if match.group()[0].isupper() else said

    return places.sub(other, text)


def half_of(name: str) -> str:
    """Return the half of a text of other people."""
    return HALVES[stable_hash(19, name) % 2]


def spoken_item(name: str, given: str) -> Item:
    """Return what a note is written from."""
    return Item(Origin("trial", name, name, "test"), "dialogue2note", given, None)


def trials(texts: Path, half: str) -> Iterator[Trial]:
    """Yield the pairs of all rows of a half."""
    notes = [one for one in _medec(texts / "medec") if half_of(one[0]) == half]
    for name, text, kind, right in notes:
        item = spoken_item(name, right)
        if kind:
            yield Trial(f"MEDEC error: {kind}", name, item, text)
            yield Trial("MEDEC error, reordered and reworded", name, item, _reordered(reworded(text), name))
        yield Trial("MEDEC against itself", name, item, item.input)
        yield Trial("MEDEC against itself, reordered", name, item, _reordered(item.input, name))
        yield Trial("MEDEC against itself, reordered and reworded", name, item, _reordered(reworded(item.input), name))
        yield from appended("MEDEC", name, item, item.input)
    yield from _others("MEDEC", [(name, spoken_item(name, right)) for name, _, _, right in notes])
    for source, task in SOURCES.items():
        read = READERS[text_sources()[source].layout].read(texts / source, text_sources()[source], task, Tally())
        items = {one.input: one for one in read if half_of(one.origin.inner_id) == half}
        for item in items.values():
            yield Trial(f"{source}, clean", item.origin.inner_id, item, item.reference or "")
            if task != "query2question":
                yield from appended(source, item.origin.inner_id, item, item.reference or "")
        if task != "query2question":
            yield from _others(source, [(one.origin.inner_id, one) for one in items.values()])
    yield from _other_sections(texts / "mts_dialog", half)


def _other_sections(folder: Path, half: str) -> Iterator[Trial]:
    """Yield clean sections of MTS-Dialog that no task reads (history, review of systems): no table fits them."""
    for path in mts_dialog.files(folder):
        for _, row in csv_rows(path, mts_dialog.COLUMNS):
            dialogue, section = text_of(row["dialogue"]), text_of(row["section_text"])
            name = f"{path.stem.removeprefix('MTS-Dialog-')}/{text_of(row['ID'])}"
            wanted = row["section_header"].strip().upper() not in mts_dialog.WANTED and half_of(name) == half
            if wanted and len(section) >= mts_dialog.SHORTEST and mts_dialog.PATIENT.search(dialogue):
                item = spoken_item(name, dialogue)
                yield Trial("mts_dialog, other sections", name, item, section)
                yield from appended("mts_dialog, other sections", name, item, section)


def visits(path: Path, half: str) -> Iterator[Trial]:
    """Yield the cases of a file of visits: two faithful notes, one with a planted error, and another case's note."""
    read = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    cases = [case for case in read if HALVES[stable_hash(0, case["id"]) % 2] == half]
    items = [(case["id"], spoken_item(case["id"], case["conversation"])) for case in cases]
    for case, (name, item) in zip(cases, items, strict=True):
        yield Trial("visits, clean", name, item, case["note"])
        yield Trial("visits, clean again", name, item, case["note_again"])
        yield Trial(f"visits, planted error: {case['error_kind']}", name, item, case["unsafe"])
        yield from appended("visits", name, item, case["note"])
    noted = [(name, replace(item, reference=case["note"])) for case, (name, item) in zip(cases, items, strict=True)]
    yield from _others("visits", noted)


def _others(source: str, items: Sequence[tuple[str, Item]]) -> Iterator[Trial]:
    """Yield each input with the next one's output, unless both are of one case: some are written down twice."""
    mixed = sorted(items, key=lambda one: stable_hash(2, one[0]))
    for (name, item), (other, theirs) in zip(mixed, [*mixed[1:], *mixed[:1]], strict=True):
        ours, others = (set(re.findall(r"[a-z]{4,}", text.lower())) for text in (item.input, theirs.input))
        if len(ours & others) >= SAME_CASE * len(ours | others):
            continue
        yield Trial(f"{source}, another patient", f"{name}/{other}", item, theirs.reference or theirs.input)


def appended(source: str, name: str, item: Item, output: str) -> Iterator[Trial]:
    """Yield an output with a claim appended that its input does not make."""
    claims = CLAIMS[half_of(name)]
    claim = claims[stable_hash(3, name) % len(claims)]
    telling = TELLING.search(claim)
    if telling and telling.group().lower() not in item.input.lower():
        yield Trial(f"{source}, claim appended", name, item, f"{output.strip()} {claim}")


@dataclass(frozen=True)
class Told:
    """What the validator said of a trial: a level (0: refused), its findings."""

    trial: Trial
    level: int
    errors: tuple[str, ...]


def tell(validator: Validator, found: Sequence[Trial]) -> list[Told]:
    """Ask a validator."""
    judged = validator.judge([one.item for one in found], [one.output for one in found])
    return [
        Told(trial, one.risk_level, tuple(f"{error['category']}: {error['text']}" for error in one.errors))
        if isinstance(one, Judgement)
        else Told(trial, 0, (one.reason,))
        for trial, one in zip(found, judged, strict=True)
        if isinstance(one, Judgement | Refusal)
    ]


def main(arguments: Sequence[str]) -> int:
    """Print the table; with ``--save`` write each pair's answer (texts among them: into a folder of one's own)."""
    options = parser(
        "validator_trial", __doc__ or "", "python -m benchmarks.validator_trial --texts DIR --workspace DIR"
    )
    read = options.add_mutually_exclusive_group(required=True)
    read.add_argument("--texts", type=Path, help="the folder of the texts of other people")
    read.add_argument("--visits", type=Path, help="a file as benchmarks/written/visits.jsonl")
    options.add_argument("--workspace", type=Path, required=True)
    options.add_argument("--half", choices=HALVES, default="developed")
    options.add_argument("--save", type=Path)
    given = options.parse_args(list(arguments))
    workspace = Workspace.existing(given.workspace)
    with connect(workspace.warehouse, workspace.settings.run, read_only=True) as connection:
        _, validator = open_rules(workspace, connection, MedvalSettings(), {})
        found = list(visits(given.visits, given.half) if given.visits else trials(given.texts, given.half))
        begin = time.process_time()
        told = tell(validator, found)
    seconds = time.process_time() - begin
    rows: dict[str, Counter[int]] = {}
    differing = Counter[str]()
    for one in told:
        kind, colon, _ = one.trial.row.partition(":")
        for row in (one.trial.row, kind) if colon else (one.trial.row,):
            rows.setdefault(row, Counter[int]())[one.level] += 1
            differing[row] += not set(_sentences(one.trial.output)) <= set(_sentences(one.trial.item.input))
    cells: list[tuple[str | int, ...]] = [
        (
            row,
            said.total(),
            *(f"{100 * share / said.total():.1f}" for share in (said[1], said[2], said[3] + said[4], said[0])),
            f"{100 * (1 - said[0] / said.total()):.1f}",
            f"{100 * differing[row] / said.total():.1f}",
        )
        for row, said in sorted(rows.items())
    ]
    console().print(table(("row", "pairs", "level 1", "2", "3 or 4", "refused", "answered", "a diff"), cells))
    console().print(
        f"{len(found):,} pairs, {seconds:.1f} CPU seconds, {1000 * seconds / max(1, len(found)):.1f} ms each"
    )
    if given.save:
        lines = (
            json.dumps(
                {
                    "row": one.trial.row,
                    "name": one.trial.name,
                    "level": one.level,
                    "errors": one.errors,
                    "input": one.trial.item.input,
                    "output": one.trial.output,
                }
            )
            for one in told
        )
        write_text(given.save, "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    run(main)
