"""Labels from extracted features alone, through the local calculators: one run, since it can give one answer only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import stewardship.calculators
from ontoground.errors import UsageError
from ontoground.files import sha256_of
from ontoground.lm.cache import content_key
from stewardship.calculators.registry import Version, calculate
from stewardship.engines import Answer, Ask
from stewardship.prompts import Extracted

__all__ = ["CalculatorEngine", "calculators_digest"]

ROOT = Path(stewardship.calculators.__path__[0])


class CalculatorEngine:
    """Computes each row's score from its features; ``remark`` of a run holds the steps, or why there is no score."""

    def __init__(self, version: Version = "corrected") -> None:
        """Choose the definitions: as published, or as MedCalc-Bench v1.0 had them."""
        self.name = "calculators" if version == "corrected" else f"calculators-{version}"
        self.shows = True
        self._version = version

    def describe(self) -> dict[str, Any]:
        """Return the version and what stands for the calculators' definitions."""
        return {"engine": "calculators", "version": self._version, "definitions": calculators_digest()}

    def rows(self) -> None:
        """Return None: it abstains where it cannot compute."""

    def answers(self, asks: Iterator[Ask]) -> Iterator[Sequence[Answer]]:
        """Compute."""
        while asked := list(islice(asks, 200)):
            yield [self._answer(ask) for ask in asked]

    def _answer(self, ask: Ask) -> Answer:
        item = ask.item
        assert isinstance(item, Extracted)
        try:
            found = calculate(item.name, item.features, self._version)
        except UsageError as error:
            return Answer(ask, self.name, reason=error.what)
        told = [found.reason] if found.reason else [*found.steps, *found.assumptions]
        return Answer(ask, self.name, found.value.text(), found.value.text(), remark="; ".join(told) or None)


def calculators_digest() -> str:
    """Return a hash of the calculators' code and tables."""
    files = [*ROOT.glob("*.py"), *(ROOT.parent / "data").glob("*.tsv")]
    return content_key({path.name: sha256_of(path) for path in files})
