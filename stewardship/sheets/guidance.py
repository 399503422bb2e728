"""What a sheet or a page tells the experts: what to do, how answers are written, what labels mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ground import ROOT
from ground.contracts.taxonomy import risk_levels
from ground.storage.tables import read_table
from stewardship.sheets.batch import AnswerKind, BatchKind
from stewardship.sheets.cells import VERDICTS

__all__ = ["HINTS", "guidance"]

MEANINGS = ROOT / "stewardship" / "data" / "label_meanings.tsv"
INSTRUCTIONS = ROOT / "stewardship" / "data" / "instructions.tsv"

HINTS: dict[AnswerKind, str] = {
    "number": "One number, with a decimal point, in the unit of the question. N/A if it cannot be computed from the "
    "context.",
    "date": "One date, MM/DD/YYYY. N/A if it cannot be computed from the context.",
    "weeks": "Weeks and days, as 14 weeks 1 day. N/A if it cannot be computed from the context.",
    "category": "Choose one from the list. N/A if it cannot be judged.",
    "verdict": "agree, disagree or unclear.",
}
"""What is shown beside an answer."""

WRITTEN: dict[AnswerKind, tuple[str, str]] = {
    "number": ("a number", "25.24 or 3 or -0.31, with a decimal point and without a range (not 4,4; not 5-6; not >10)"),
    "date": ("a date", "03/21/2006: the month first, the year with four digits"),
    "weeks": ("weeks and days", "14 weeks 1 day, or 99 days with their unit"),
}

SPOT_CHECKED = (
    "the critique is right, and the label should not stand as it is",
    "the label is right, or the critique names nothing that matters clinically",
    "the context does not say enough to tell",
)
"""What each verdict of a spot check means."""


def guidance(
    kind: BatchKind,
    *,
    blind: bool,
    expects: Sequence[AnswerKind],
    categories: Sequence[str],
    on: Literal["sheet", "page"] = "sheet",
) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the paragraphs of the guidance, and its table: what can be answered, and what it means or looks like.

    Args:
        expects: what belongs into the answers of the whole batch.
        on: where it is read, a spreadsheet or a page of a browser.
    """
    labels, means = _meanings(categories)
    batch = "spot_check" if kind == "spot_check" else "evidence" if not blind else "named" if categories else "blind"
    columns = ("batch", "on", "labels", "says", "source")
    lines = [
        row["says"]
        for row in read_table(INSTRUCTIONS, columns)
        if (not row["batch"] or batch in row["batch"].split())
        and row["on"] in ("", on)
        and row["labels"] in ("", labels)
    ]
    if kind == "spot_check":
        table = list(zip(VERDICTS, SPOT_CHECKED, strict=True))
    elif categories:
        table = [*((name, means.get(name, "")) for name in categories), ("N/A", "it cannot be judged")]
    else:
        table = [*(WRITTEN[item] for item in ("number", "date", "weeks") if item in expects), ("not computable", "N/A")]
    return lines, table


def _meanings(categories: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Return which set of labels the names are of, and what each means; nothing where the set is not known."""
    levels = {row["level"]: f"{row['risk']}. {row['means']}" for row in risk_levels()}
    sets: dict[str, dict[str, str]] = {"medval": levels}
    for row in read_table(MEANINGS, ("labels", "name", "means", "source")):
        sets.setdefault(row["labels"], {})[row["name"]] = row["means"]
    known = ((name, meanings) for name, meanings in sets.items() if categories and set(categories) <= set(meanings))
    return next(known, ("none", {}))
