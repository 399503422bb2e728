"""Invented texts in the layouts of MedVAL's sources."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import xlsxwriter  # type: ignore[import-untyped]

__all__ = ["aci_bench", "indiana", "medicationqa", "meqsum", "mts_dialog", "openi", "table", "workbook"]


def workbook(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Path:
    """Write an .xlsx workbook of one sheet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        for line, row in enumerate([header, *rows]):
            sheet.write_row(line, 0, row)
    return path


def table(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Path:
    """Write a CSV file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def meqsum(texts: Path, n: int = 12) -> Path:
    """Write n questions; each asks about another drug and dose."""
    rows = [
        (
            f"{number}.txt",
            f"SUBJECT: my medicine\nMESSAGE: I am {30 + number} and take {drug} {5 * number + 5} mg for my {problem}. "
            f"My neighbour says it is bad. Is {effect} one of the side effects of {drug}? Thank you.",
            f"What are the  side effects of {drug}?",
        )
        for number, (drug, problem, effect) in enumerate(
            (drug, problem, effect)
            for drug in ("lisinopril", "metformin", "warfarin", "atorvastatin", "furosemide", "prednisone")
            for problem, effect in (("hypertension", "cough"), ("diabetes", "nausea"), ("gout", "headache"))
        )
    ][:n]
    workbook(texts / "meqsum" / "MeQSum_ACL2019_Invented.xlsx", ("File", "CHQ", "Summary"), rows)
    return texts


def medicationqa(texts: Path) -> Path:
    """Write four questions, one of them twice with another answer, one without an answer."""
    header = ("Question", "Focus (Drug)", "Question Type", "Answer", "Section Title", "URL")
    rows = [
        ("How does rivarox work", "rivarox", "Action", "It thins the blood.", "About", "http://a.example"),
        ("how does  rivarox work", "rivarox", "Action", "It blocks factor Xa.", "Use", "http://b.example"),
        ("Can I take it with food", "rivarox", "Usage", "", "", ""),
        ("", "rivarox", "Usage", "Yes.", "", ""),
    ]
    workbook(texts / "medicationqa" / "MedInfo2019-QA-Medications.xlsx", header, rows)
    return texts


REPORT = """<?xml version="1.0" encoding="utf-8"?>
<eCitation><uId id="CXR{number}"/><MedlineCitation><Article><Abstract>
<AbstractText Label="COMPARISON">None.</AbstractText><AbstractText Label="INDICATION">Cough</AbstractText>
<AbstractText Label="FINDINGS">{findings}</AbstractText>
<AbstractText Label="IMPRESSION">{impression}</AbstractText>
</Abstract></Article></MedlineCitation></eCitation>
"""


def openi(texts: Path, reports: Sequence[tuple[str, str]]) -> Path:
    """Write XML reports (findings, impression), numbered from 1."""
    folder = texts / "openi" / "ecgen-radiology"
    folder.mkdir(parents=True, exist_ok=True)
    for number, (findings, impression) in enumerate(reports, 1):
        (folder / f"{number}.xml").write_text(
            REPORT.format(number=number, findings=findings, impression=impression), encoding="utf-8"
        )
    return texts


def indiana(texts: Path, reports: Sequence[tuple[str, str]]) -> Path:
    """Write the reports as the table of the Kaggle copy, numbered from 1."""
    header = ("uid", "MeSH", "Problems", "image", "indication", "comparison", "findings", "impression")
    rows = [(str(n), "normal", "normal", "PA", "Cough", "None.", *report) for n, report in enumerate(reports, 1)]
    table(texts / "openi" / "indiana_reports.csv", header, rows)
    return texts


NOTE = """CHIEF COMPLAINT

Follow-up.

ASSESSMENT

Hypertension, under good control on lisinopril 20 mg daily.

PLAN

Continue lisinopril 20 mg daily. Return in 6 weeks.

INSTRUCTIONS

Bring your pressure log.
"""


def aci_bench(texts: Path, notes: Sequence[str] = (NOTE,), file: str = "train.csv") -> Path:
    """Write encounters with these notes, and the metadata file that lies beside them."""
    folder = texts / "aci_bench" / "challenge_data"
    dialogue = "[doctor] how is the pressure ?\n[patient] fine , i take my lisinopril 20 mg every day ."
    rows = [("virtassist", f"X{n:03d}{file[:2]}", f"{dialogue} visit {n} .", note) for n, note in enumerate(notes, 1)]
    table(folder / file, ("dataset", "encounter_id", "dialogue", "note"), rows)
    table(folder / file.replace(".csv", "_metadata.csv"), ("dataset", "encounter_id", "cc"), [("a", "b", "c")])
    return texts


def mts_dialog(texts: Path, rows: Sequence[Sequence[str]], file: str = "MTS-Dialog-TrainingSet.csv") -> Path:
    """Write (ID, section_header, section_text, dialogue) rows."""
    table(texts / "mts_dialog" / file, ("ID", "section_header", "section_text", "dialogue"), rows)
    return texts
