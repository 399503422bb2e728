"""What each calculator reads (``stewardship/data/calculator_inputs.tsv``)."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from ground import ROOT
from ground.storage.tables import read_table

__all__ = ["Input", "inputs_of"]

INPUTS = ROOT / "stewardship" / "data" / "calculator_inputs.tsv"
COLUMNS = ("calculator", "feature", "kind", "unit", "words", "absent", "source")


@dataclass(frozen=True)
class Input:
    """A feature that a calculator reads.

    Attributes:
        kind: quantity, number, flag, choice, date or dose.
        units: that the benchmark's rows have; others that measure the same are converted.
        absent: what is taken where it is not given; empty where the calculator abstains without it.
    """

    feature: str
    kind: str
    units: tuple[str, ...]
    words: tuple[str, ...]
    absent: str


@functools.cache
def inputs_of(number: int) -> tuple[Input, ...]:
    """Return what a calculator reads; nothing for a number that is none."""
    return tuple(
        Input(row["feature"], row["kind"], _split(row["unit"]), _split(row["words"]), row["absent"])
        for row in _rows()
        if int(row["calculator"]) == number
    )


@functools.cache
def _rows() -> tuple[dict[str, str], ...]:
    return tuple(read_table(INPUTS, COLUMNS))


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";") if part.strip())
