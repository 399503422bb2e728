"""Augmented Clinical Notes: case reports with a structured summary (Bonnet and Boulenger 2024).

JSON lines with ``idx``, ``note`` (perhaps cut short), ``full_note`` (the whole case report), ``conversation`` and
``summary``: a JSON text from category to a value, to an object of concepts, or to a list of such objects. Values that
are not known are "None". The summary was made from the full note, which is the document here.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from builders.medhal.extraction import layout, word_table
from builders.medhal.items import Extraction
from builders.medhal.sources.json_files import files_of, objects_in_lines
from builders.texts.origin import Origin, Tally
from builders.texts.sources import TextSource

__all__ = ["files", "read"]

FIELDS = ("idx", "summary")
TEXTS = ("full_note", "note")


def files(folder: Path) -> list[Path]:
    """Return the JSON-lines files of a folder, sorted."""
    return sorted(folder.glob("*.jsonl"))


def read(folder: Path, source: TextSource, tally: Tally) -> Iterator[Extraction]:
    """Yield the values of all summaries that say something; ``inner_id`` is their path in the summary.

    The source has no splits of its own: all is ``train``.

    Raises:
        InputError: no file, or a file of another layout.
    """
    expected = "JSON lines with the fields idx, note, full_note, summary"
    seen: set[str] = set()
    for path in files_of(source.name, folder, files(folder), expected):
        for _, row in objects_in_lines(path, FIELDS, source.source, tally):
            idx = str(row["idx"])
            document = next((row[name] for name in TEXTS if isinstance(row.get(name), str) and row[name].strip()), None)
            summary = _summary(row["summary"])
            if idx in seen or document is None or summary is None:
                tally.read[source.source] += 1
                reason = "duplicate" if idx in seen else "no_note" if document is None else "summary_not_json"
                tally.drop(source.source, reason)
                continue
            seen.add(idx)
            yield from _values(idx, document, summary, source.source, tally)


def _summary(text: object) -> Mapping[str, Any] | None:
    """Return a summary's object, None where it is none; some were written with Python's None for null."""
    if isinstance(text, dict):
        return text
    if not isinstance(text, str):
        return None
    try:
        summary = json.loads(text)
    except ValueError:
        try:
            summary = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    return summary if isinstance(summary, dict) else None


def _entries(summary: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield category, path and entry (concept to value) of a summary."""
    for name, content in summary.items():
        category = str(name).strip().lower()
        entries = content if isinstance(content, list) else [content]
        for place, entry in enumerate(entries):
            path = f"{category}/{place}" if isinstance(content, list) else category
            if isinstance(entry, dict):
                yield category, path, {str(concept).strip().lower(): value for concept, value in entry.items()}
            else:
                yield category, path, {category: entry}


def _texts(value: object) -> list[str]:
    """Return the values that an entry holds for one concept, the empty ones left out."""
    several = value if isinstance(value, list) else [value]
    texts = [
        str(cell).strip() for cell in several if isinstance(cell, str | int | float) and not isinstance(cell, bool)
    ]
    return [text for text in texts if text.lower().rstrip(".") not in word_table("no_value") and text]


def _values(idx: str, document: str, summary: Mapping[str, Any], source: str, tally: Tally) -> Iterator[Extraction]:
    for category, path, entry in _entries(summary):
        for concept, value in entry.items():
            texts = _texts(value)
            tally.read[source] += len(texts)
            slot = layout().get((category, concept))
            if slot is None:
                tally.drop(source, "unknown_concept", len(texts))
                continue
            about = _texts(entry.get(slot.reference)) if slot.reference and slot.reference != concept else []
            for place, text in enumerate(texts):
                name = f"{idx}/{path}/{concept}" + (f"/{place}" if len(texts) > 1 else "")
                yield Extraction(
                    origin=Origin(source, name, document=idx, split="train"),
                    document=document,
                    category=category,
                    concept=concept,
                    value=text,
                    reference=about[0] if about else None,
                    value_type=slot.value_type,
                )
