"""Open-i: chest X-ray reports of Indiana University with findings and impression (Demner-Fushman et al. 2016).

Layouts: the reports as XML (``NLMCXR_reports.tgz``: ``ecgen-radiology/1.xml`` with AbstractText of Label FINDINGS and
IMPRESSION), or the table of the Kaggle copy (``indiana_reports.csv``: uid, findings, impression). Where both are there
the XML is read. The source has no splits: its items count as train.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from builders.medval.items import Item
from builders.medval.sources.rows import csv_rows, text_of
from builders.texts.origin import Origin, Tally
from builders.texts.sources import TextSource
from ground.contracts.rows_text import MedvalTask
from ground.errors import InputError

__all__ = ["files", "read"]

COLUMNS = ("uid", "findings", "impression")
TABLE = "indiana_reports.csv"


def files(folder: Path) -> list[Path]:
    """Return the XML reports in the order of their numbers, or the table where there are none."""
    reports = sorted(folder.rglob("*.xml"), key=lambda path: (_number(path.stem), path.as_posix()))
    return reports or sorted(folder.rglob(TABLE))


def _number(name: str) -> int:
    digits = re.search(r"\d+", name)
    return int(digits[0]) if digits else 0


def read(folder: Path, source: TextSource, task: MedvalTask, tally: Tally) -> Iterator[Item]:
    """Yield the findings; the reference is the impression for ``report2impression``, none for plain language.

    Raises:
        InputError: the table is not of the layout, or no XML file is a report.
    """
    for inner_id, findings, impression in _reports(folder, source, tally):
        tally.read[source.source] += 1
        if not findings:
            tally.drop(source.source, "no_findings")
        elif task == "report2impression" and not impression:
            tally.drop(source.source, "no_impression")
        else:
            origin = Origin(source.source, inner_id, inner_id, "train")
            yield Item(origin, task, findings, impression if task == "report2impression" else None)


def _reports(folder: Path, source: TextSource, tally: Tally) -> Iterator[tuple[str, str, str]]:
    paths, reports = files(folder), 0
    for path in paths:
        if path.suffix == ".csv":
            for _, row in csv_rows(path, COLUMNS):
                yield f"CXR{text_of(row['uid'])}", text_of(row["findings"]), text_of(row["impression"])
            continue
        report = _report(path)
        if report is None:
            tally.drop(source.source, "no_report")
            continue
        reports += 1
        yield report
    if paths and paths[0].suffix == ".xml" and not reports:
        raise InputError(
            "no file here is an Open-i report",
            file=paths[0],
            expected="XML with AbstractText elements of Label FINDINGS and IMPRESSION",
            do="unpack NLMCXR_reports.tgz into this folder",
        )


def _report(path: Path) -> tuple[str, str, str] | None:
    """Return (name, findings, impression); None where the file is no report."""
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError:
        return None
    parts = {element.get("Label", "").upper(): _words(element) for element in root.iter("AbstractText")}
    if not {"FINDINGS", "IMPRESSION"} & set(parts):
        return None
    return f"CXR{_number(path.stem)}", parts.get("FINDINGS", ""), parts.get("IMPRESSION", "")


def _words(element: ElementTree.Element) -> str:
    return " ".join("".join(element.itertext()).split())
