"""MedMCQA: questions of Indian entrance examinations (Pal et al. 2022).

A row holds ``id``, ``question``, ``opa`` to ``opd`` and ``cop``, and may hold ``choice_type``, ``exp``,
``subject_name`` and ``topic_name``. The JSON release counts ``cop`` from 1, the Hugging Face hub (parquet) from 0 with
-1 in the test split; which of them a file is, its own values tell: a 0 is seen in one kind only, a 4 in the other only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from builders.medhal.items import QaItem
from builders.medhal.sources.json_files import checked_object, files_of, objects_in_lines, split_in_name
from builders.medhal.sources.question_files import cleaned, combined, distinct, needs_image
from builders.texts.origin import Origin, SourceSplit, Tally
from builders.texts.sources import TextSource
from ground.errors import InputError

__all__ = ["files", "first_place", "read"]

COLUMNS = ("id", "question", "opa", "opb", "opc", "opd")
OPTIONS = ("opa", "opb", "opc", "opd")
BATCH = 4_096


def files(folder: Path) -> list[Path]:
    """Return the question files below a folder, sorted."""
    paths = (path for kind in ("*.json", "*.jsonl", "*.parquet") for path in folder.rglob(kind))
    return sorted(path for path in paths if split_in_name(path) is not None)


def read(folder: Path, source: TextSource, tally: Tally) -> Iterator[QaItem]:
    """Yield the questions of a folder that have one right answer which is given.

    Questions whose options combine suboptions (``choice_type`` multi) are left out: what part of a combination is right
    is not told, so that the other options cannot be called wrong. Where a file does not say the type, an option that
    speaks of others tells it.

    Raises:
        InputError: no file, or a file of another layout.
    """
    paths = files_of(source.name, folder, files(folder), "train, dev or test as .json lines or parquet")
    yield from distinct(
        _items(paths, source, tally), source, tally, lambda item: (item.question, *sorted(item.options))
    )


def _items(paths: Sequence[Path], source: TextSource, tally: Tally) -> Iterator[tuple[SourceSplit, QaItem | str]]:
    for path in paths:
        split, first = split_in_name(path) or "train", first_place(path)
        for row in _rows(path, source.source, tally):
            yield split, item_of(row, first, split, source.source)


def _rows(path: Path, source: str, tally: Tally) -> Iterator[Mapping[str, Any]]:
    if path.suffix != ".parquet":
        for _, row in objects_in_lines(path, COLUMNS, source, tally):
            yield row
        return
    file = pq.ParquetFile(path)
    checked_object(dict.fromkeys(file.schema_arrow.names), COLUMNS, path)
    for batch in file.iter_batches(batch_size=BATCH):
        yield from batch.to_pylist()


def first_place(path: Path) -> int:
    """Return the number that a file gives to its first option, 0 or 1.

    Raises:
        InputError: the file holds both a 0 and a 4, or a number that is no place.
    """
    places = {place for row in _rows(path, "", Tally()) if (place := row.get("cop")) is not None}
    if not places <= {-1, 0, 1, 2, 3, 4} or {0, 4} <= places:
        raise InputError(
            "the positions of the right options have an unknown form",
            file=path,
            found="cop " + ", ".join(sorted(map(str, places))[:10]),
            expected="1 to 4 (JSON release) or 0 to 3, -1 for none (Hugging Face hub)",
        )
    if 0 in places or 4 in places:
        return 0 if 0 in places else 1
    return 0 if path.suffix == ".parquet" else 1


def item_of(row: Mapping[str, Any], first: int, split: SourceSplit, source: str) -> QaItem | str:
    """Return a row's question, or the reason why it gives none."""
    question, place, inner_id = row.get("question"), row.get("cop"), row.get("id")
    options = tuple(cleaned(row[name]) if isinstance(row.get(name), str) else "" for name in OPTIONS)
    if place is None or place == -1:
        return "no_answer_given"
    if not (isinstance(question, str) and question.strip() and isinstance(inner_id, str)) or not all(options):
        return "malformed_row"
    kind = row.get("choice_type")
    if kind != "single" and (kind is not None or any(map(combined, options))):
        return "several_suboptions"
    if needs_image(question, *options):
        return "needs_image"
    if combined(options[place - first]):
        return "answer_names_options"
    explanation = row.get("exp")
    return QaItem(
        origin=Origin(source=source, inner_id=inner_id, document=inner_id, split=split),
        context=None,
        question=cleaned(question),
        options=options,
        answer=place - first,
        why=cleaned(explanation) if isinstance(explanation, str) and explanation.strip() else None,
    )
