"""One answer cell of a filled sheet: a label as a whole, or a message that says why it is none.

Stricter than `ground.contracts.labels.parse_label`, which reads tables as they were published: an expert can be asked
again, so nothing that could mean two things is taken.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from ground import ROOT
from ground.contracts.labels import LabelKind, LabelValue, parse_label
from ground.storage.tables import read_table
from stewardship.sheets.batch import AnswerKind

__all__ = ["VERDICTS", "CellAnswer", "expected_of", "read_answer"]

VERDICTS = ("agree", "disagree", "unclear")
"""What a spot check answers: whether the critique names a label problem that matters clinically."""

UNITS = ROOT / "stewardship" / "data" / "answer_units.tsv"
# Said of a score that cannot be computed; beside the spellings that `parse_label` knows in every table.
ABSTAINING = frozenset(
    {"multiple", "n.a.", "n. a.", "not computable", "cannot be computed", "cannot be calculated", "cannot calculate"}
)
DIGITS = r"\d+\.?\d*|\.\d+"
THOUSANDS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?"
EXPONENT = r"(?:[eE][-+]?\d+)?"
NUMBER = re.compile(rf"(?P<number>[-+\u2212]?\s?(?:{THOUSANDS}|{DIGITS}){EXPONENT})\s*(?P<unit>\D.*)?")
COMMA = re.compile(r"(?P<number>[-+\u2212]?\d*,\d+)\D*")
DAY = re.compile(r"(?:\d{1,2}/\d{1,2}/\d{4}|\d{4}([/-])\d{1,2}\1\d{1,2})(?:[T ]0{1,2}:00(?::00(?:\.0+)?)?)?")
MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?"
ANY_DAY = re.compile(
    rf"\d{{1,4}}([/.-])\d{{1,2}}\1\d{{2,4}}(?!\d).*"
    rf"|\d{{1,2}}[. -]*{MONTH}(?:[, -]*\d{{2,4}})?|{MONTH} ?\d{{1,2}}(?:[, ]+\d{{4}})?",
    re.IGNORECASE,
)
WEEKS = re.compile(r".*\d\s*w.*|\(.*,.*\)", re.IGNORECASE)
BOUND = re.compile(r"\s*(?:[<>\u2264\u2265~\u2248]|about\b|approx|ca\b|at least\b|at most\b|up to\b).*", re.IGNORECASE)
ERROR = re.compile(r"#[A-Z0-9/]+[!?]?")
WORD = re.compile(r"m\^2|[a-z\u00b5\u03bc%]+[2\u00b2]?")
# The body surface to which a filtration rate is scaled is part of its unit.
SURFACE = re.compile(r"1[.,]73\s*(?=m)")
SQUARE = re.compile(r"m(?:2|\^2)(?!\d)", re.IGNORECASE)

EXPECTED: dict[AnswerKind, str] = {
    "number": "one number with a decimal point, in the question's unit; or N/A",
    "date": "one date, MM/DD/YYYY; or N/A",
    "weeks": "weeks and days, as 14 weeks 1 day; or a number of days, as 99 days; or N/A",
    "verdict": "agree, disagree or unclear",
}


@dataclass(frozen=True)
class CellAnswer:
    """What one cell says.

    Attributes:
        value: the label; missing where the cell is empty, None where it is refused.
        do: what to do about it.
        note: what a person should know of a cell that was taken.
    """

    value: LabelValue | None
    problem: str = ""
    do: str = ""
    note: str = ""


BROKEN = CellAnswer(None, "an error of the spreadsheet's in place of an answer", "type the answer")
MORE = CellAnswer(None, "more than a number", "write the number alone; what else there is to say is a comment")


def expected_of(kind: AnswerKind, categories: Sequence[str] = ()) -> str:
    """Say in words what belongs into an answer cell."""
    return f"one of {', '.join(categories)}; or N/A" if kind == "category" else EXPECTED[kind]


def read_answer(
    text: str | None, kind: AnswerKind, *, question: str = "", categories: Sequence[str] = ()
) -> CellAnswer:
    """Read one answer cell.

    Args:
        question: the row's question: a unit behind a number must be named there.
    """
    body = " ".join((text or "").split())
    if not body or ERROR.fullmatch(body):
        return BROKEN if body else CellAnswer(LabelValue(LabelKind.MISSING))
    if kind != "verdict" and (parse_label(body).kind is LabelKind.ABSTENTION or body.casefold() in ABSTAINING):
        return CellAnswer(LabelValue(LabelKind.ABSTENTION), note="" if body == "N/A" else "read as N/A: not computable")
    match kind:
        case "verdict":
            return _name(body, VERDICTS)
        case "category":
            return _name(body, categories)
        case "date":
            return _date(body)
    return _weeks(body, question) if kind == "weeks" else _number(body, question)


def _name(body: str, names: Sequence[str]) -> CellAnswer:
    known = {name.casefold(): name for name in names}
    if named := known.get(body.casefold()):
        return CellAnswer(LabelValue(LabelKind.CATEGORY, named))
    near = get_close_matches("".join(body.casefold().split()), known, n=1, cutoff=0.6)
    return CellAnswer(
        None, "no name that is known", f"did you mean {known[near[0]]}?" if near else "choose one from the list"
    )


def _date(body: str) -> CellAnswer:
    if DAY.fullmatch(body):
        value = parse_label(body)
        if value.kind is LabelKind.DATE:
            return CellAnswer(value)
        return CellAnswer(None, "no day of the calendar", "write the month first: MM/DD/YYYY")
    if ANY_DAY.fullmatch(body):
        return CellAnswer(None, "a date that can be read in several ways", "write it as MM/DD/YYYY, the month first")
    if NUMBER.fullmatch(body) or COMMA.fullmatch(body):
        return CellAnswer(None, "a number where a date belongs", "write the date as MM/DD/YYYY")
    return CellAnswer(None, "no date", "write the date alone, as MM/DD/YYYY; what else there is to say is a comment")


def _weeks(body: str, question: str) -> CellAnswer:
    value = parse_label(body)
    if value.weeks_days:
        return CellAnswer(value)
    if re.fullmatch(r"[-+]?[\d.]+", body):
        return CellAnswer(
            None, "a number without its unit", "write 14 weeks 1 day, or the days with their unit: 99 days"
        )
    if WEEKS.fullmatch(body):
        return CellAnswer(
            None, "weeks and days that cannot be read", "write whole weeks and whole days: 14 weeks 1 day"
        )
    return _number(body, question)


def _number(body: str, question: str) -> CellAnswer:
    text = SURFACE.sub("", body)
    if ANY_DAY.fullmatch(body):
        return CellAnswer(
            None, "a date where a number belongs", "write the number; a day on which it holds is a comment"
        )
    match = NUMBER.fullmatch(text)
    if match is None or re.search(r"\d", SQUARE.sub("", match["unit"] or "")):
        return _no_number(body)
    if match["unit"] and (refused := _unit_refused(match["unit"], question)):
        return refused
    digits = match["number"].replace(" ", "")
    value = parse_label(digits)
    if value.kind is not LabelKind.NUMBER:
        return CellAnswer(None, "a number that is too large", "write it without an exponent")
    return CellAnswer(value, note=f"read as {value.text()}: the comma is a thousands mark" if "," in digits else "")


def _no_number(body: str) -> CellAnswer:
    if comma := COMMA.fullmatch(body):
        return CellAnswer(
            None,
            "a comma that can be a decimal point, or part two numbers",
            f"write a decimal point, as {comma['number'].replace(',', '.')}, or the one number that is meant",
        )
    if not any(map(str.isdigit, body)):
        return CellAnswer(None, "words that are neither a label nor N/A", "write N/A where it cannot be computed")
    if BOUND.fullmatch(body):
        return CellAnswer(None, "a bound or an estimate in place of a value", "write the value, or N/A")
    if WEEKS.fullmatch(body):
        return CellAnswer(
            None, "a length of time in weeks where a number belongs", "write the number that is asked for"
        )
    if len(re.findall(r"\d+(?:\.\d+)?", body)) == 1:
        return MORE
    return CellAnswer(
        None, "more than one number", "write one number; alternatives and intermediate results are comments"
    )


def _unit_refused(unit: str, question: str) -> CellAnswer | None:
    """Return why a unit is refused: it is none, or not the question's; a label is never converted."""
    known = _units()
    words = _words(unit)
    rest = re.sub(r"(?<=.)[\s/.*\u00b7]+(?=.)", "", WORD.sub("x", _spelled(unit))).replace("x", "")
    if rest or not words:
        return MORE
    if any(word not in known for word in words):
        return CellAnswer(None, "a unit that is not known", "write the number alone, in the question's unit")
    named = {known.get(word, word) for word in _words(question)}
    if all(not known[word] or known[word] in named for word in words):
        return None
    return CellAnswer(None, "a unit that the question does not name", "write the number alone, in the question's unit")


def _spelled(text: str) -> str:
    return SURFACE.sub("", text.lower()).replace("mm hg", "mmhg").replace(" per ", "/").strip()


def _words(text: str) -> list[str]:
    return WORD.findall(_spelled(text))


@functools.cache
def _units() -> dict[str, str]:
    return {row["spelling"]: row["unit"] for row in read_table(UNITS, ("spelling", "unit", "source"))}
