"""What a sheet tells the experts: what to do, how answers are written, what labels mean."""

from __future__ import annotations

from collections.abc import Sequence

from ground import ROOT
from ground.contracts.taxonomy import risk_levels
from ground.storage.tables import read_table
from stewardship.sheets.batch import AnswerKind, BatchKind
from stewardship.sheets.cells import VERDICTS

__all__ = ["HINTS", "guidance"]

MEANINGS = ROOT / "stewardship" / "data" / "label_meanings.tsv"

HINTS: dict[AnswerKind, str] = {
    "number": "One number, with a decimal point, in the unit of the question. N/A if it cannot be computed from the "
    "context. Empty: not reviewed.",
    "date": "One date, MM/DD/YYYY. N/A if it cannot be computed from the context. Empty: not reviewed.",
    "weeks": "Weeks and days, as 14 weeks 1 day. N/A if it cannot be computed from the context. Empty: not reviewed.",
    "category": "Choose one from the list. N/A if it cannot be judged. Empty: not reviewed.",
    "verdict": "agree, disagree or unclear. Empty: not reviewed.",
}
"""What is shown beside an answer cell that is chosen."""

SHOWS = {
    "blind": "Each row of the page Answers shows a question and a context. Please answer the question from the context "
    "alone, on your own and from first principles.",
    "named": "Each row of the page Answers shows a question and a context. Please judge on your own: what the context "
    "says, from the context alone; what is right in medicine, where the question asks for it, from your knowledge.",
    "evidence": "Each row of the page Answers shows a question and a context, with what the published label rests on "
    "(mentions, paths, edits). Please judge it, and answer the question yourself.",
    "spot_check": "Each row of the page Answers shows a question, a context, the published label, and what an "
    "automated audit found wrong with it. Please say whether the critique names a label problem that matters "
    "clinically.",
}
RULES = (
    "You may consult references such as MDCalc or a guideline. Please look up neither the published labels nor what "
    "anybody else answered.",
    "A long context goes on in the columns to its right (context, context 2, ...). The columns to the left stay in "
    "view.",
    "If a question cannot be answered from its context, because something needed is missing or the question does not "
    "fit the patient, write N/A. If there are several answers, write the one you hold for right, or N/A, and say why "
    "in the comment.",
    "Leave the answer empty if you did not review a row: an empty cell says nothing, and is not N/A.",
    "The comment is yours: missing values, the time that you took, the version of a guideline, assumptions. What was "
    "computed on the way goes there too; the answer cell holds the answer alone.",
    "Rows stand in random order. Please do not change the columns item, question and context, and neither add nor "
    "repeat rows. Save the file under any name, as Excel or as CSV UTF-8.",
)
WRITTEN: dict[AnswerKind, tuple[str, str]] = {
    "number": ("a number", "25.24 or 3 or -0.31, with a decimal point and without a range (not 4,4; not 5-6; not >10)"),
    "date": ("a date", "03/21/2006: the month first, the year with four digits"),
    "weeks": ("weeks and days", "14 weeks 1 day, or 99 days with their unit"),
}


def guidance(
    kind: BatchKind, *, blind: bool, expects: Sequence[AnswerKind], categories: Sequence[str]
) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the paragraphs of the guidance, and its table: what can be answered, and what it means or looks like.

    Args:
        kind: of the batch.
        blind: whether the sheet is blind.
        expects: what belongs into the answer cells of the whole batch.
        categories: names that labels can be.
    """
    if kind == "spot_check":
        table = [
            (name, means)
            for name, means in zip(
                VERDICTS,
                (
                    "the critique is right, and the label should not stand as it is",
                    "the label is right, or the critique names nothing that matters clinically",
                    "the context does not say enough to tell",
                ),
                strict=True,
            )
        ]
        return [SHOWS["spot_check"], *RULES[:2], *RULES[3:]], table
    intro = SHOWS["evidence" if not blind else "named" if categories else "blind"]
    if categories:
        table = [(name, _meanings(categories).get(name, "")) for name in categories]
        table.append(("N/A", "it cannot be judged"))
    else:
        table = [WRITTEN[one] for one in ("number", "date", "weeks") if one in expects]
        table.append(("not computable", "N/A"))
    return [intro, *RULES], table


def _meanings(categories: Sequence[str]) -> dict[str, str]:
    levels = {row["level"]: f"{row['risk']}. {row['means']}" for row in risk_levels()}
    sets: dict[str, dict[str, str]] = {"medval": levels}
    for row in read_table(MEANINGS, ("labels", "name", "means", "source")):
        sets.setdefault(row["labels"], {})[row["name"]] = row["means"]
    return next((found for found in sets.values() if set(categories) <= set(found)), {})
