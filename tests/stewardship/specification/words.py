"""Labels as the cases write and show them."""

from __future__ import annotations

from datetime import date

from ground.contracts.labels import LabelKind, LabelValue, parse_label

__all__ = ["MISSING", "NA", "SPRING", "UNPARSEABLE", "labels", "value_or_kind"]

NA, MISSING, UNPARSEABLE = LabelKind.ABSTENTION, LabelKind.MISSING, LabelKind.UNPARSEABLE
SPRING = date(2006, 3, 21)


def value_or_kind(value: LabelValue) -> float | date | str | LabelKind | None:
    """What a label is, short: its value, else its kind."""
    return value.kind if value.value is None else value.value


def labels(*texts: str | None) -> list[LabelValue]:
    """Read labels as a physician's cells are not read."""
    return [parse_label(text) for text in texts]
