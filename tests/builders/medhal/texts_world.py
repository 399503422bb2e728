"""Invented texts in the layouts of the sources, enough of them for every split."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["ALL", "write_texts"]

ALL = ("medqa", "medmcqa", "pubmedqa", "acm", "mednli", "nli4ct", "sumpubmed")

DRUGS = ("Veltarine", "Morvastin", "Quilosept", "Darvolone", "Peltazide", "Sorbimab", "Trelocin", "Ondavir")
DISEASES = ("gout", "asthma", "migraine", "psoriasis", "epilepsy", "anemia", "glaucoma", "malaria", "scabies", "sepsis")


def write_texts(folder: Path, n: int = 40, names: Iterable[str] = ALL) -> Path:
    """Write n items of each named source below a folder and return it."""
    for name in names:
        WRITERS[name](folder, n)
    return folder


def _lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _drug(place: int) -> str:
    return f"{DRUGS[place % len(DRUGS)]} {'ABCDEFGHIJ'[place // len(DRUGS) % 10]}"


def _medqa(folder: Path, n: int) -> None:
    rows = [
        {
            "question": f"A {20 + place}-year-old woman has {DISEASES[place % 10]} of stage {place}. "
            "Which of the following drugs is the most appropriate treatment?",
            "options": {letter: _drug(place + step) for step, letter in enumerate("ABCD")},
            "answer_idx": "ABCD"[place % 4],
            "realidx": place,
        }
        for place in range(n)
    ]
    _lines(folder / "medqa" / "train.jsonl", rows)
    _lines(folder / "medqa" / "test.jsonl", [row | {"question": f"In brief: {row['question']}"} for row in rows[:5]])


def _medmcqa(folder: Path, n: int) -> None:
    rows = [
        {
            "id": f"m-{place}",
            "question": f"The drug of choice for {DISEASES[place % 10]} of type {place} is",
            **{f"op{letter}": _drug(place + step) for step, letter in enumerate("abcd")},
            "cop": place % 4 + 1,
            "choice_type": "single",
            "exp": f"It cures {DISEASES[place % 10]}.",
        }
        for place in range(n)
    ]
    _lines(folder / "medmcqa" / "train.json", rows)


def _pubmedqa(folder: Path, n: int) -> None:
    rows = [
        {
            "realidx": str(1000 + place),
            "question": f"We gave {_drug(place)} to {50 + place} adults with {DISEASES[place % 10]}.\n"
            "Most of them improved.\n"
            f"Does {_drug(place)} reduce the symptoms of {DISEASES[place % 10]}?",
            "answer": ("yes", "no", "maybe")[place % 3],
            "answer_rationale": f"{_drug(place)} was studied in {50 + place} adults.",
        }
        for place in range(n)
    ]
    _lines(folder / "pubmedqa" / "train.jsonl", rows)


def _acm(folder: Path, n: int) -> None:
    rows = []
    for place in range(n):
        drug, disease, age = _drug(place), DISEASES[place % 10], f"{20 + place} years old"
        note = (
            f"A {age} {'woman' if place % 2 else 'man'} was admitted with {disease}. "
            f"The patient took {drug} at a dosage of {place + 2} mg twice daily and left after {place + 3} days."
        )
        summary = {
            "visit motivation": disease.capitalize(),
            "patient information": {"age": age, "sex": "Female" if place % 2 else "Male"},
            "treatments": [{"name": drug, "dosage": f"{place + 2} mg twice daily"}],
        }
        rows.append({"idx": str(place), "note": note, "full_note": note, "summary": json.dumps(summary)})
    _lines(folder / "augmented_clinical_notes" / "augmented_notes_30K.jsonl", rows)


def _mednli(folder: Path, n: int) -> None:
    rows = [
        {
            "sentence1": f"Labs were notable for Cr {place}.7 and lactate 2.4.",
            "sentence2": text.format(place=place),
            "gold_label": label,
            "pairID": f"{place}-{label}",
        }
        for place in range(n)
        for text, label in (
            ("The patient has a creatinine above {place}.", "entailment"),
            ("The patient has a creatinine below {place}.", "contradiction"),
            ("The patient takes {place} drugs.", "neutral"),
        )
    ]
    _lines(folder / "mednli" / "mli_train_v1.jsonl", rows)


def _nli4ct(folder: Path, n: int) -> None:
    reports = folder / "nli4ct" / "CT json"
    reports.mkdir(parents=True, exist_ok=True)
    statements = {}
    for place in range(n):
        trial = f"NCT{place:08d}"
        report = {
            "Clinical Trial ID": trial,
            "Eligibility": ["Inclusion criteria:", f"  adults older than {place + 18} years"],
            "Intervention": [f"Arm 1: {_drug(place)}"],
            "Results": [f"Mean change: {place} points"],
            "Adverse Events": [f"Nausea {place}/100"],
        }
        (reports / f"{trial}.json").write_text(json.dumps(report), encoding="utf-8")
        for label, text in (
            ("Entailment", f"Adults of {place + 30} may join."),
            ("Contradiction", "Children may join."),
        ):
            statements[f"{place}-{label}"] = {
                "Type": "Single",
                "Section_id": "Eligibility",
                "Primary_id": trial,
                "Statement": text,
                "Label": label,
            }
    (folder / "nli4ct" / "train.json").write_text(json.dumps(statements), encoding="utf-8")


def _sumpubmed(folder: Path, n: int) -> None:
    for part in ("text", "abstract"):
        (folder / "sumpubmed" / part).mkdir(parents=True, exist_ok=True)
    for place in range(1, n + 1):
        drug, disease = _drug(place).lower(), DISEASES[place % 10]
        claim = (
            f"treatment with {drug} significantly increased the survival of adults with {disease} of type {place} "
            "in the trial, and the effect was larger in women than in men."
        )
        rest = f"the trial took place in {place + 2} hospitals. the drug was tolerated well."
        (folder / "sumpubmed" / "abstract" / f"abstract_{place}.txt").write_text(
            f"BACKGROUND\n{claim}\n\nRESULTS\n{rest}\n"
        )
        text = f"BACKGROUND\nwe studied {drug} in {disease}. {claim} {rest} the cost was low.\n"
        (folder / "sumpubmed" / "text" / f"text_{place}.txt").write_text(text)


WRITERS = {
    "medqa": _medqa,
    "medmcqa": _medmcqa,
    "pubmedqa": _pubmedqa,
    "acm": _acm,
    "mednli": _mednli,
    "nli4ct": _nli4ct,
    "sumpubmed": _sumpubmed,
}
