"""What the readers of question sets share: lines of JSON, the split in a file's name, questions that need an image."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from builders.medhal.items import QaItem
from builders.medhal.question_patterns import has, pattern
from builders.texts.origin import SourceSplit, Tally
from builders.texts.sources import TextSource
from ground.errors import InputError
from ground.stable import stable_hash

__all__ = ["combined", "distinct", "json_lines", "needs_image", "plain", "require_columns", "split_in_name"]

AS_RELEASED = "give the file as the source releases it"

SPLIT_NAMES: tuple[tuple[str, SourceSplit], ...] = (
    ("train", "train"),
    ("dev", "validation"),
    ("val", "validation"),
    ("test", "test"),
)

PICTURE_KEYS = (
    "fig",
    "image",
    "photo",
    "picture",
    "illustrat",
    "exhibit",
    "diagram",
    "graph",
    "sketch",
    "drawing",
    "histology slide",
    "tracing",
    "video",
    "audio",
    "shown",
    "depicted",
    "displayed",
    "seen below",
    "seen here",
    "seen above",
    "arrow",
    "asterisk",
    "point ",
    "marked",
    "labelled",
    "labeled",
    "d line",
    "dashed",
    "red line",
    "blue line",
    "green line",
    "curve",
    "identify",
    "img",
)
"""Parts of words without which no text points to a picture; looking for them first is several times as fast."""


def json_lines(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the number and the object of each line.

    Raises:
        InputError: a line that is no JSON object, or bytes that are no UTF-8.
    """
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line.decode("utf-8"))
            except UnicodeDecodeError:
                raise InputError(
                    "a question set is not UTF-8 text", file=path, line=number, expected="UTF-8", do=AS_RELEASED
                ) from None
            except json.JSONDecodeError:
                row = None
            if not isinstance(row, dict):
                raise InputError(
                    "a line of a question set is not a JSON object",
                    file=path,
                    line=number,
                    expected="one JSON object a line",
                    do=AS_RELEASED,
                )
            yield number, row


def require_columns(row: Mapping[str, Any], columns: Sequence[str], path: Path, line: int) -> None:
    """Raise InputError where the first row of a file lacks fields of its layout."""
    missing = [column for column in columns if column not in row]
    if missing:
        raise InputError(
            "a question set has another layout",
            file=path,
            line=line,
            found="fields " + ", ".join(sorted(row)[:20]),
            expected="fields " + ", ".join(columns),
            do=AS_RELEASED,
        )


def split_in_name(path: Path) -> SourceSplit | None:
    """Return the split that a file's name tells (``phrases_no_exclude_dev.jsonl``), None where it tells none."""
    words = re.split(r"[^a-z]+", path.stem.lower())
    for prefix, split in SPLIT_NAMES:
        if any(word.startswith(prefix) for word in words):
            return split
    return None


def needs_image(*texts: str) -> bool:
    """Tell whether one of some texts points to a picture that it does not hold."""
    return _has_picture_key("\n".join(texts)) and any(_points_to_picture(text) for text in texts)


def _has_picture_key(text: str) -> bool:
    return any(map(text.lower().__contains__, PICTURE_KEYS))


def _points_to_picture(text: str) -> bool:
    # What is quickly looked for rules out most texts.
    return (
        _has_picture_key(text)
        and has("needs_image", text)
        and has("needs_image", pattern("values_follow").sub(" listed: ", text))
    )


def combined(option: str) -> bool:
    """Tell whether an option speaks of other options (``All of the above``, ``Both A and B``)."""
    return has("combined", option.strip())


def plain(text: str) -> str:
    """Return a text with plain quotes, no byte that only printers see, no quotes left open at its ends."""
    if not text.isascii():
        text = text.replace("\u2019", "'").replace("\u2018", "'").replace("\u201c", '"').replace("\u201d", '"')
        text = text.replace("\u00a0", " ").replace("\u200b", "")
    text = text.replace("\r\n", "\n").strip()
    if '"' not in text:
        return text
    text = re.sub(r'"{2,}', '"', text)
    while text.count('"') % 2 == 1 and text[:1] == '"':
        text = text[1:].strip()
    while text.count('"') % 2 == 1 and text[-1:] == '"':
        text = text[:-1].strip()
    return text


def distinct(
    items: Iterable[tuple[SourceSplit, QaItem | str]],
    source: TextSource,
    tally: Tally,
    key: Callable[[QaItem], Sequence[str]] = lambda item: (item.question,),
) -> Iterator[QaItem]:
    """Yield the questions that were not there before, without regard to case and blanks; count all others.

    Args:
        items: questions with their splits, and in the place of others the reason why they give none.
        source: where they come from.
        tally: counts what is read and what is left out.
        key: the texts that make two questions the same; 64 bits of them are kept.
    """
    seen: set[int] = set()
    for split, item in items:
        tally.read[source.source] += 1
        if isinstance(item, str):
            tally.drop(source.source, item, split=split)
            continue
        name = stable_hash(0, *("".join(text.lower().split()) for text in key(item)))
        if name in seen:
            tally.drop(source.source, "duplicate")
        else:
            seen.add(name)
            yield item
