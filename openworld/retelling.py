"""Stories told again: later patients have the rows of earlier ones, but identifiers and laboratory values of their own.

To make a story takes some milliseconds, to tell it again some microseconds; a world of the real sizes needs both. Rows
are text as they stand in the files: a subject and an admission have 8 digits, a pharmacy_id is an admission's number
and two digits.
"""

from __future__ import annotations

from collections.abc import Callable

from openworld.patients import FIRST_SUBJECT

__all__ = ["retold"]

DIGITS = 8
LAST_VALUE = "Lactate-"
"""A block of laboratory values ends with the line that has it."""
BEFORE, AFTER = "\nADMISSION LABS:\n", "\nDISCHARGE LABS:\n"


def retold(shard: dict[str, list[str]], by: int, patients: int, turn: int) -> dict[str, list[str]]:
    """Return the rows of a shard as those of patients with numbers higher by ``by``.

    Args:
        shard: file -> rows, without the truth.
        by: difference of the patients' numbers.
        patients: rows of patients with this number or a higher one are left out.
        turn: which telling it is; notes get the laboratory values of the note that many places on.
    """
    last = FIRST_SUBJECT + patients
    found = {}
    for name, rows in shard.items():
        if name == "note/discharge":
            told = _notes(rows, by, turn)
        else:
            change = CHANGES.get(name, _of_admission)
            told = [change(row, by) for row in rows]
        place = len("12345678-DS-1,") if name == "note/discharge" else 0
        found[name] = [row for row in told if int(row[place : place + DIGITS]) < last]
    return found


def _of_patient(row: str, by: int) -> str:
    return f"{int(row[:DIGITS]) + by}{row[DIGITS:]}"


def _of_admission(row: str, by: int) -> str:
    subject, admission, rest = row.split(",", 2)
    return f"{int(subject) + by},{int(admission) + 2 * by},{rest}"


def _of_order(row: str, by: int) -> str:
    subject, admission, pharmacy, rest = row.split(",", 3)
    shifted = int(admission) + 2 * by
    return f"{int(subject) + by},{shifted},{shifted}{pharmacy[DIGITS:]},{rest}"


CHANGES: dict[str, Callable[[str, int], str]] = {"hosp/patients": _of_patient, "hosp/prescriptions": _of_order}


def _notes(rows: list[str], by: int, turn: int) -> list[str]:
    regions = [_laboratory(row) for row in rows]
    found = []
    for place, (row, (start, end)) in enumerate(zip(rows, regions, strict=True)):
        other = (place + turn) % len(rows)
        first, last = regions[other]
        note_id, rest = row[:start].split(",", 1)
        values = rows[other][first:last]
        found.append(f"{_of_patient(note_id, by)},{_of_admission(rest, by)}{values}{row[end:]}")
    return found


def _laboratory(row: str) -> tuple[int, int]:
    """Return where the blocks of laboratory values begin and end; both are the same where there are none."""
    start = row.index(BEFORE) + len(BEFORE)
    end = row.rfind(LAST_VALUE, start, row.index(AFTER))
    return (start, row.index("\n", end)) if end > 0 else (start, start)
