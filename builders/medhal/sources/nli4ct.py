"""NLI4CT: statements about sections of clinical trial reports (Jullien et al. 2023).

The folder holds ``train.json``, ``dev.json`` and ``test.json`` (an object from uuid to ``Type``, ``Section_id``,
``Primary_id``, ``Secondary_id``, ``Statement``, ``Label``) and ``CT json/NCT....json``, one report each: an object from
section to a list of lines. The premise is the whole section, of both reports where the type is Comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from builders.medhal.items import NliItem
from builders.medhal.sources.json_files import checked_object, files_of, object_in
from builders.texts.origin import Origin, SourceSplit, Tally
from builders.texts.sources import TextSource

__all__ = ["files", "read"]

FILES: dict[str, SourceSplit] = {"train.json": "train", "dev.json": "validation", "test.json": "test"}
REPORTS = "CT json"
SECTIONS = ("Eligibility", "Intervention", "Results", "Adverse Events")
LABELS = {"Entailment": True, "Contradiction": False}
REPORTS_AT_ONCE = 256

Report = tuple[tuple[str, tuple[str, ...]], ...]


def files(folder: Path) -> list[Path]:
    """Return the files of statements, train first, and the reports, sorted."""
    statements = [path for name in FILES if (path := folder / name).is_file()]
    return [*statements, *sorted((folder / REPORTS).glob("*.json"))] if statements else []


def read(folder: Path, source: TextSource, tally: Tally) -> Iterator[NliItem]:
    """Yield the statements of a folder.

    The document of an item is its primary report, which several sections and statements share.

    Raises:
        InputError: no file, or a file of another layout.
    """
    statements = [path for path in files(folder) if path.name in FILES and (folder / REPORTS).is_dir()]
    expected = f"{', '.join(FILES)} and a folder {REPORTS!r} of reports"
    name = source.source
    for path in files_of(source.name, folder, statements, expected):
        for uuid, row in object_in(path).items():
            tally.read[name] += 1
            item = _item(uuid, row, FILES[path.name], name, folder)
            if isinstance(item, str):
                tally.drop(name, item)
            else:
                yield item


@lru_cache(maxsize=REPORTS_AT_ONCE)
def _report(folder: Path, trial: str) -> Report | None:
    """Return the sections of a report, None where there is none."""
    path = folder / REPORTS / f"{trial}.json"
    if not trial.isalnum() or not path.is_file():
        return None
    report = object_in(path)
    if not any(section in report for section in SECTIONS):
        checked_object(report, SECTIONS, path)
    return tuple((section, _lines(report.get(section))) for section in SECTIONS)


def _lines(section: object) -> tuple[str, ...]:
    lines = section if isinstance(section, list) else [section] if isinstance(section, str) else []
    # Indentation tells levels apart, such as a criterion below "Inclusion Criteria:".
    return tuple(line.rstrip() for line in lines if isinstance(line, str) and line.strip())


def _premise(section: str, trials: list[tuple[str, str]], folder: Path) -> str | None:
    """Return a section of one or two reports, each under a heading; None where one is not there."""
    parts = []
    for role, trial in trials:
        report = _report(folder, trial)
        lines = dict(report)[section] if report is not None else ()
        if not lines:
            return None
        parts.append("\n".join((f"{role} trial, {section}:", *lines)))
    return "\n\n".join(parts)


def _item(uuid: str, row: object, split: SourceSplit, source: str, folder: Path) -> NliItem | str:
    """Return a statement with its premise, or why there is none."""
    if not isinstance(row, Mapping):
        return "malformed_row"
    kind, section, primary = (row.get(name) for name in ("Type", "Section_id", "Primary_id"))
    statement, label = row.get("Statement"), row.get("Label")
    if not (isinstance(statement, str) and statement.strip() and isinstance(primary, str)):
        return "malformed_row"
    if kind not in ("Single", "Comparison") or section not in SECTIONS:
        return "malformed_row"
    if label not in LABELS:
        return "no_label"
    trials = [("Primary", primary)]
    if kind == "Comparison":
        trials.append(("Secondary", str(row.get("Secondary_id"))))
    premise = _premise(section, trials, folder)
    if premise is None:
        return "no_report"
    return NliItem(Origin(source, uuid, primary, split), premise, statement.strip(), LABELS[label])
