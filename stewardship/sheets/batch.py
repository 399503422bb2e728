"""A batch of sheets: the key that says which row and which rater an item is, kept apart from the sheets themselves."""

from __future__ import annotations

import hashlib
import hmac
import re
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from ground.errors import InputError
from ground.storage.files import private_directory, write_text

__all__ = ["NAME", "SHEETS", "AnswerKind", "BatchKind", "Item", "SheetBatch", "item_name", "keys_of", "read_batches"]

SHEETS = "sheets"
KEYS = "keys"
NAME = re.compile(r"[\w-]{1,40}")
"""Names of batches and of raters, of which files are named."""

BatchKind = Literal["blind", "sample", "adjudication", "spot_check"]
"""What a batch asks: a label from the flagged rows, one from a balanced sample, one where raters disagreed, or whether
an audit's critique is right (the only kind that shows the label)."""

AnswerKind = Literal["number", "date", "weeks", "category", "verdict"]
"""What belongs into an answer cell; ``weeks`` is a length of time in weeks and days."""


class Item(BaseModel):
    """One row on one rater's sheet.

    Attributes:
        question: mark of the question (`ground.spreadsheet.text_mark`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    item: str
    uid: str
    rater: str
    expects: AnswerKind
    question: str
    context: str


class SheetBatch(BaseModel):
    """Sheets that were written together.

    Attributes:
        drawn: how its rows were drawn: ``sampled`` or ``top`` of the ranked list, ``any``, ``balanced``, ``open``
            (rows that raters disagree on), ``audit``.
        blind: whether neither a label nor what it rests on is shown.
        seed: of the draw, the order and the items' names.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    kind: BatchKind
    drawn: str
    blind: bool
    seed: int
    items: tuple[Item, ...]

    @property
    def raters(self) -> tuple[str, ...]:
        """The raters, in alphabetical order."""
        return tuple(sorted({item.rater for item in self.items}))

    def save(self, benchmark: Path) -> Path:
        """Write the key into a benchmark's folder, readable by its owner only, and return the file."""
        file = private_directory(benchmark / SHEETS / KEYS) / f"{self.name}.json"
        write_text(file, self.model_dump_json(indent=1) + "\n")
        return file


def keys_of(benchmark: Path) -> list[Path]:
    """Return the key files of a benchmark's folder, by name."""
    return sorted((benchmark / SHEETS / KEYS).glob("*.json"))


def read_batches(benchmark: Path) -> list[SheetBatch]:
    """Read the keys of all batches of a benchmark's folder.

    Raises:
        InputError: a key was changed so that it is none.
    """
    batches = []
    for file in keys_of(benchmark):
        try:
            batches.append(SheetBatch.model_validate_json(file.read_text(encoding="utf-8")))
        except (ValidationError, UnicodeDecodeError) as error:
            raise InputError("the key of a batch of sheets cannot be read", file=file) from error
    return batches


def item_name(seed: int, benchmark: str, batch: str, rater: str, uid: str) -> str:
    """Return an item's name: a keyed hash of row and rater, which tells nothing of either without the key."""
    key = f"{seed}\x1f{benchmark}\x1f{batch}".encode()
    # Not digits alone: a spreadsheet would take it for a number, and 12e4567 for another one.
    return "i" + hmac.new(key, f"{rater}\x1f{uid}".encode(), hashlib.sha256).hexdigest()[:11]
