"""Labels from extracted features alone, through the local calculators: one run, since it can give one answer only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ground.errors import UsageError
from stewardship.calculators.registry import calculate, calculators, definitions_digest
from stewardship.runs.engines import Answer, Ask, Engine
from stewardship.runs.prompts import Extracted

__all__ = ["CalculatorEngine", "unread_features"]


class CalculatorEngine(Engine):
    """Computes each row's score, as published, from its features.

    ``remark`` of a run holds the steps, or why there is no score. A row without a score of which a feature's name was
    not read has no answer.
    """

    name = "calculators"
    alone = True

    def describe(self) -> dict[str, Any]:
        """Return the version and what stands for the calculators' definitions."""
        return {"engine": "calculators", "version": "corrected", "definitions": definitions_digest()}

    def answer(self, ask: Ask) -> Answer:
        """Compute."""
        item = ask.item
        assert isinstance(item, Extracted)
        try:
            result = calculate(item.name, item.features)
        except UsageError as error:
            return Answer(ask, self.name, reason=error.what)
        if result.reason and result.unread:
            # What was not read may be what is missing: nothing is known of the row, not even that it has no score.
            return Answer(ask, self.name, reason=result.reason)
        lines = [result.reason] if result.reason else [*result.steps, *result.assumptions]
        return Answer(ask, self.name, result.value.text(), result.value.text(), remark="; ".join(lines) or None)


def unread_features(items: Iterable[Extracted]) -> dict[str, tuple[str, ...]]:
    """Return by uid the features whose names are not known to the row's calculator, of rows that have such."""
    known = {name for calculator in calculators() for name in (str(calculator.id), calculator.name)}
    unread_of = ((item.uid, calculate(item.name, item.features).unread) for item in items if item.name in known)
    return {uid: unread for uid, unread in unread_of if unread}
