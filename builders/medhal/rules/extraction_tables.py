"""The tables of information extraction: layout of the summaries, templates, and the words that values are read by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ground import ROOT
from ground.storage.tables import read_table

__all__ = ["Slot", "Template", "layout", "templates", "word_sets", "word_tables"]

FOLDER = ROOT / "builders" / "data"
NONE = "-"


@dataclass(frozen=True, slots=True)
class Slot:
    """A kind of information in a note.

    Attributes:
        reference: the concept of the same entry that says what a value is about; None where it stands alone.
        value_type: values of one type may be swapped.
        shapes: ways of writing that rules can say in a sentence, tried in this order.
    """

    reference: str | None
    value_type: str
    shapes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """A sentence with ``{value}`` and perhaps ``{reference}``, and the name of the rule."""

    rule: str
    text: str


@cache
def layout() -> Mapping[tuple[str, str], Slot]:
    """Return the slots by category and concept."""
    columns = ("category", "concept", "reference", "value_type", "shapes", "source")
    return {
        (row["category"], row["concept"]): Slot(
            reference=None if row["reference"] == NONE else row["reference"],
            value_type=row["value_type"],
            shapes=() if row["shapes"] == NONE else tuple(row["shapes"].split(",")),
        )
        for row in read_table(FOLDER / "extraction_layout.tsv", columns)
    }


@cache
def templates() -> Mapping[tuple[str, str, str], Template]:
    """Return the templates by category, concept and shape."""
    columns = ("category", "concept", "shape", "rule", "template", "source")
    return {
        (row["category"], row["concept"], row["shape"]): Template(row["rule"], row["template"])
        for row in read_table(FOLDER / "extraction_templates.tsv", columns)
    }


@cache
def word_tables() -> Mapping[str, Mapping[str, str]]:
    """Return by kind the words with what they mean."""
    found: dict[str, dict[str, str]] = {}
    for row in read_table(FOLDER / "extraction_words.tsv", ("kind", "word", "means", "source")):
        found.setdefault(row["kind"], {})[row["word"]] = row["means"]
    return found


@cache
def word_sets() -> Mapping[str, frozenset[str]]:
    """Return by kind the words."""
    return {kind: frozenset(words) for kind, words in word_tables().items()}
