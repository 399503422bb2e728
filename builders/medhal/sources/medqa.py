"""MedQA and what has its layout (MedBullets): questions of the USMLE as JSON lines (Jin et al. 2020).

A row holds ``question``, ``options`` (letter to text), ``answer_idx`` (letter), and may hold ``realidx`` and
``reason``. Files tell their split by name: ``train.jsonl``, ``dev.jsonl``, ``test.jsonl`` or
``phrases_no_exclude_*.jsonl``. The Chinese parts of the release are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from builders.medhal.items import QaItem
from builders.medhal.sources.json_files import files_of, objects_in_lines, split_in_name
from builders.medhal.sources.question_files import cleaned, combined, distinct, needs_image
from builders.texts.origin import Origin, SourceSplit, Tally
from builders.texts.sources import TextSource

__all__ = ["files", "read", "reasons_of_wrong"]

LETTERS = "ABCDE"
COLUMNS = ("question", "options", "answer_idx")
OTHER_LANGUAGES = {"Mainland", "Taiwan"}
WRONG_ANSWERS = re.compile(r"^Incorrect Answers?:?\s*$", re.MULTILINE)
ANSWER = re.compile(r"^Answers? ([A-E](?:(?:, | & |, & | and |-)[A-E])*): ?", re.MULTILINE)
AFTER_ANSWERS = re.compile(r"^(?:Bullet Summary|Figures?/Illustrations?|Illustration|Figure)\b", re.MULTILINE)
SEVERAL_OR_FIGURE = re.compile(r"\b(?:figure|illustration|image|answer|choice)s?\b", re.IGNORECASE)


def files(folder: Path) -> list[Path]:
    """Return the question files below a folder, sorted; those with fewer options come first."""
    paths = (path for path in folder.rglob("*.jsonl") if not OTHER_LANGUAGES & set(path.parts))
    return sorted(path for path in paths if split_in_name(path) is not None)


def read(folder: Path, source: TextSource, tally: Tally) -> Iterator[QaItem]:
    """Yield the questions of a folder.

    Raises:
        InputError: no file, or a file of another layout.
    """
    items = _items(files_of(source.name, folder, files(folder), "train.jsonl, dev.jsonl or test.jsonl"), source, tally)
    yield from distinct(items, source, tally)


def _items(paths: Sequence[Path], source: TextSource, tally: Tally) -> Iterator[tuple[SourceSplit, QaItem | str]]:
    for path in paths:
        split = split_in_name(path) or "train"
        for line, row in objects_in_lines(path, COLUMNS, source.source, tally):
            yield split, item_of(row, f"{split}-{row.get('realidx', line - 1)}", split, source.source)


def item_of(row: Mapping[str, Any], inner_id: str, split: SourceSplit, source: str) -> QaItem | str:
    """Return a row's question, or the reason why it gives none."""
    question, options, letter = (row.get(column) for column in COLUMNS)
    if not (isinstance(question, str) and isinstance(options, dict) and isinstance(letter, str)):
        return "malformed_row"
    letters = sorted(options)
    texts = tuple(cleaned(str(options[at])) for at in letters)
    if letter not in options or len(texts) < 2 or not all(texts) or not question.strip():
        return "malformed_row"
    if needs_image(question, *texts):
        return "needs_image"
    if "%%%" in question or any("%%%" in text for text in texts):
        return "table_in_text"
    answer = letters.index(letter)
    if combined(texts[answer]):
        return "answer_names_options"
    reason = row.get("reason")
    why, why_not = (None, {}) if not isinstance(reason, str) else reasons_of_wrong(reason, options, letter)
    return QaItem(
        origin=Origin(source=source, inner_id=inner_id, document=inner_id, split=split),
        context=None,
        question=cleaned(question),
        options=texts,
        answer=answer,
        why=why,
        why_not=tuple((letters.index(at), text) for at, text in sorted(why_not.items())),
    )


def letters_of(label: str) -> str:
    """Return the letters of ``B``, ``B & D``, ``A-C & E``."""
    spans = re.sub(r"([A-E])-([A-E])", lambda m: LETTERS[LETTERS.index(m[1]) : LETTERS.index(m[2]) + 1], label)
    return "".join(letter for letter in spans if letter in LETTERS)


def reasons_of_wrong(reason: str, options: Mapping[str, Any], right: str) -> tuple[str | None, dict[str, str]]:
    """Split an explanation into why the right option is right, and by letter why a wrong one is wrong.

    A paragraph counts for its option only if it stands under ``Incorrect Answers``, names one letter, holds a long
    word of that option's text and points to no figure and no other answer; if the right letter is listed as wrong,
    the letters are not those of the options and none counts.
    """
    parts = WRONG_ANSWERS.split(reason, maxsplit=1)
    why = cleaned(parts[0]) or None
    if len(parts) == 1:
        return why, {}
    labels = list(ANSWER.finditer(parts[1]))
    why_not: dict[str, str] = {}
    ends = [*(label.start() for label in labels[1:]), len(parts[1])]
    for label, end in zip(labels, ends[: len(labels)], strict=True):
        letter = label.group(1)
        text = parts[1][label.end() : end]
        text = " ".join(cleaned(AFTER_ANSWERS.split(text)[0]).split())
        if right in letters_of(letter):
            return why, {}
        words = set(re.findall(r"[a-z]{5,}", str(options.get(letter, "")).lower()))
        if any(word in text.lower() for word in words) and not SEVERAL_OR_FIGURE.search(text):
            why_not[letter] = text
    return why, why_not
