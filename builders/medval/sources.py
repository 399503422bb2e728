"""Readers of MedVAL's text sources, one for each layout.

- ACI-Bench (Yim et al. 2023), conversations with the note of the visit: ``challenge_data/*.csv`` (train, valid, and
  three test files). The reference is the part of the note with assessment and plan.
- MTS-Dialog (Ben Abacha et al. 2023), short conversations with a section of a note:
  ``MTS-Dialog-{TrainingSet,ValidationSet,TestSet-*}.csv``. Of its 20 kinds of section only ASSESSMENT and PLAN are an
  answer to what `dialogue2note` asks. Very short sections are left out, and so are conversations in which no patient
  or relative speaks.
- MedicationQA (Ben Abacha et al. 2019), consumers' questions about medications with answers from trusted pages:
  ``MedInfo2019-QA-Medications.xlsx``.
- MeQSum (Ben Abacha and Demner-Fushman 2019), consumer health questions with the question an expert would ask: one
  workbook, ``MeQSum*.xlsx``.
- Open-i (Demner-Fushman et al. 2016), chest X-ray reports of Indiana University: the XML of ``NLMCXR_reports.tgz``, or
  the table of the Kaggle copy (``indiana_reports.csv``) where there is no XML.

Sources without splits of their own count as train.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import polars as pl

from builders.medval.items import Item
from builders.texts.origin import Origin, SourceSplit, Tally
from builders.texts.sources import TextSource
from ground.contracts.rows_text import MedvalTask
from ground.errors import InputError
from ground.storage.foreign import read_foreign

__all__ = ["READERS", "Reader", "assessment_and_plan"]

# A line of its own in capitals.
HEADING = re.compile(r"^[ \t]*([A-Z][A-Z ,/&-]{2,})[ \t]*:?[ \t]*$", re.MULTILINE)
VISIT = frozenset({"ASSESSMENT AND PLAN", "ASSESSMENT & PLAN", "ASSESSMENT/PLAN", "ASSESSMENT", "IMPRESSION", "PLAN"})
SECTIONS = frozenset({"ASSESSMENT", "PLAN"})
# A shorter section ("As tolerated.") keeps silent about most of its conversation (characters).
SHORTEST = 40
PATIENT = re.compile(r"^[ \t]*(?:Patient|Guest_family)[\w ]*:", re.MULTILINE)
Row = Mapping[str, str]


@dataclass(frozen=True)
class Entry:
    """An item as its source has it; ``document`` is what items share that no split may tear apart."""

    inner_id: str
    input: str
    reference: str | None
    split: SourceSplit = "train"
    document: str | None = None


@dataclass(frozen=True)
class Reader:
    """A reader of one layout.

    Attributes:
        files: the files that are read, in order; none where the folder holds no such source.
        entries: the entries of a file, or the reasons why they cannot be used.
    """

    files: Callable[[Path], list[Path]]
    entries: Callable[[Path, MedvalTask], Iterator[Entry | str]]

    def read(self, folder: Path, source: TextSource, task: MedvalTask, tally: Tally) -> Iterator[Item]:
        """Yield the items for one of the source's tasks; what is left out is counted.

        Raises:
            InputError: a file is not of the layout.
        """
        for path in self.files(folder):
            for entry in self.entries(path, task):
                tally.read[source.source] += 1
                if isinstance(entry, str):
                    tally.drop(source.source, entry)
                    continue
                origin = Origin(source.source, entry.inner_id, entry.document or entry.inner_id, entry.split)
                yield Item(origin, task, entry.input, entry.reference)


# ---- tables


def _rows(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of a table as text: line ends of one kind, no white space around a value."""
    frame = _sheet(path) if path.suffix == ".xlsx" else read_foreign(path, "a table of a text source", columns)
    if missing := [name for name in columns if name not in frame.columns]:
        raise InputError(
            "a workbook lacks columns", file=path, found=f"no {', '.join(missing)}", expected=", ".join(columns)
        )
    for row in frame.select(pl.col(columns).cast(pl.String).fill_null("")).iter_rows(named=True):
        yield {name: value.replace("\r\n", "\n").replace("\r", "\n").strip() for name, value in row.items()}


def _sheet(path: Path) -> pl.DataFrame:
    try:
        return pl.read_excel(path, engine="calamine", infer_schema_length=0)
    except Exception as error:  # the engine's own errors share no base class
        raise InputError(
            "a workbook cannot be read",
            file=path,
            found=type(error).__name__,
            expected="an .xlsx file with a header line",
            do="download the file from its source again",
        ) from None


def _table_entries(
    columns: Sequence[str], entry: Callable[[Row, Path], Entry | str], path: Path, _task: MedvalTask
) -> Iterator[Entry | str]:
    return (entry(row, path) for row in _rows(path, columns))


def _split(path: Path) -> SourceSplit:
    name = path.name.lower()
    return "train" if "train" in name else "validation" if "valid" in name else "test"


# ---- one function for each source


def _aci_bench(row: Row, path: Path) -> Entry | str:
    reference = assessment_and_plan(row["note"])
    if not (row["dialogue"] and row["encounter_id"]):
        return "empty_field"
    if reference is None:
        return "no_assessment_and_plan"
    return Entry(row["encounter_id"], row["dialogue"], reference, _split(path))


def assessment_and_plan(note: str) -> str | None:
    """Return the part of a note with assessment and plan, its headings kept; None where there is no such part.

    It ends before the next heading of another kind. A note with a plan alone, or an assessment alone, is no reference
    for both.
    """
    headings = [*HEADING.finditer(note)]
    ends = [*(heading.start() for heading in headings[1:]), len(note)]
    parts = {
        heading[1].strip(): note[heading.start() : end].strip()
        for heading, end in zip(headings, ends, strict=True)
        if heading[1].strip() in VISIT and note[heading.end() : end].strip()
    }
    both = any("PLAN" in name for name in parts) and any(name != "PLAN" for name in parts)
    return "\n\n".join(parts.values()) if both else None


def _mts_dialog(row: Row, path: Path) -> Entry | str:
    dialogue, section = row["dialogue"], row["section_text"]
    if row["section_header"].upper() not in SECTIONS:
        return "other_section"
    if not (dialogue and section):
        return "empty_field"
    if len(section) < SHORTEST:
        return "short_section"
    if not PATIENT.search(dialogue):
        return "no_patient_speaks"
    return Entry(f"{path.stem.removeprefix('MTS-Dialog-')}/{row['ID']}", dialogue, section, _split(path))


def _medication_qa(path: Path, _task: MedvalTask) -> Iterator[Entry | str]:
    for line, row in enumerate(_rows(path, ("Question", "Answer")), 2):
        question = row["Question"]
        # The same question stands in several rows with other answers: they share a split.
        document = " ".join(question.lower().split())
        yield Entry(f"row {line}", question, row["Answer"] or None, document=document) if question else "no_question"


def _meqsum(row: Row, _path: Path) -> Entry | str:
    # Questions keep their SUBJECT and MESSAGE marks; a summary is one line without double blanks.
    summary = " ".join(row["Summary"].split())
    complete = row["CHQ"] and summary and row["File"]
    return Entry(row["File"], row["CHQ"], summary) if complete else "empty_field"


def _open_i_files(folder: Path) -> list[Path]:
    """Return the XML reports in the order of their numbers, or the table where there are none."""
    reports = sorted(folder.rglob("*.xml"), key=lambda path: (_number(path), path.as_posix()))
    return reports or sorted(folder.rglob("indiana_reports.csv"))


def _open_i(path: Path, task: MedvalTask) -> Iterator[Entry | str]:
    rows = _rows(path, ("uid", "findings", "impression")) if path.suffix == ".csv" else [_report(path)]
    for row in rows:
        if not row:
            yield "no_report"
        elif not row["findings"]:
            yield "no_findings"
        elif task == "report2impression" and not row["impression"]:
            yield "no_impression"
        else:
            # Plain language has no reference.
            reference = row["impression"] if task == "report2impression" else None
            yield Entry(f"CXR{row['uid']}", row["findings"], reference)


def _number(path: Path) -> int:
    digits = re.search(r"\d+", path.stem)
    return int(digits[0]) if digits else 0


def _report(path: Path) -> Row:
    """Return a report as a row of the table; an empty one where the file is no report."""
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError:
        return {}
    texts = {element.get("Label", "").lower(): element.itertext() for element in root.iter("AbstractText")}
    parts = {label: " ".join("".join(text).split()) for label, text in texts.items()}
    if not {"findings", "impression"} & parts.keys():
        return {}
    return {"findings": "", "impression": "", **parts, "uid": str(_number(path))}


def _below(pattern: str, folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob(pattern) if "metadata" not in path.name)


READERS: Mapping[str, Reader] = {
    "aci_bench": Reader(
        partial(_below, "**/*.csv"), partial(_table_entries, ("encounter_id", "dialogue", "note"), _aci_bench)
    ),
    "medicationqa": Reader(partial(_below, "MedInfo2019-QA-Medications*.xlsx"), _medication_qa),
    "meqsum": Reader(partial(_below, "MeQSum*.xlsx"), partial(_table_entries, ("File", "CHQ", "Summary"), _meqsum)),
    "mts_dialog": Reader(
        partial(_below, "MTS-Dialog-*.csv"),
        partial(_table_entries, ("ID", "section_header", "section_text", "dialogue"), _mts_dialog),
    ),
    "openi": Reader(_open_i_files, _open_i),
}
