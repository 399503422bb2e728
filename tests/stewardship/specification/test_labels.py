"""Section 2: label values."""

from __future__ import annotations

from datetime import date

import pytest

from ground.contracts.labels import parse_label
from tests.stewardship.specification.words import MISSING, NA, SPRING, UNPARSEABLE, value_or_kind


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # numbers: the first signed decimal, whatever stands around it
        ("25.238", 25.238),
        ("  38\t", 38),
        ("-0.0943", -0.0943),
        ("0", 0),
        ("-0", 0),
        ("+25", 25),  # this and the next five are numbers: only the authors' code rejects them
        (".5", 0.5),
        ("-.5", -0.5),
        ("5.", 5),
        ("2.5e1", 25),
        ("1E-3", 0.001),
        ("78.1 ml/hr", 78.1),
        ("The answer is 25", 25),
        ("The answer is 25.", 25),
        ("25%", 25),
        ("25 %", 25),
        ("<= 7", 7),
        ("about -3.5 mEq/L", -3.5),
        ("pH: 7.35", 7.35),
        ("1,434", 1434),
        ("1,234,567.5", 1234567.5),
        ("-1,434.5 mL", -1434.5),
        ("\u22125", -5),  # a word processor's minus: 5 would be wrong without a word
        # other commas: neither 4, nor 44, nor 4.4 (assumed)
        ("4,4", UNPARSEABLE),
        ("1,43", UNPARSEABLE),
        ("12,3456", UNPARSEABLE),
        # words that libraries take for numbers or blanks
        *[
            (text, UNPARSEABLE)
            for text in ("nan", "NaN", "inf", "-inf", "None", "none", "null", "NULL", "-", "?", "#N/A")
        ],
        ("1e400", UNPARSEABLE),  # no finite number
        # missing is empty, and nothing else
        *[(text, MISSING) for text in (None, "", "   ", "\n", "\u00a0")],
        # abstentions, in any case and with blanks around, as the whole cell
        *[(text, NA) for text in ("N/A", "n/a", "NA", "na", "Na", "unknown", "Unknown", "UNKNOWN", "  N/A ")],
        *[(text, NA) for text in ("not available", "Not Available", "not applicable", "NOT APPLICABLE")],
        # outside a physician's cell text without a digit is no abstention
        *[(text, UNPARSEABLE) for text in ("Multiple", "see note", "Nafcillin", "n", "I do not know")],
        # weeks and days: 7 w + d
        ("('14 weeks', '1 days')", 99),
        ('("14 weeks", "1 days")', 99),
        ("(14 weeks, 1 day)", 99),
        (" ( 14 weeks , 1 day ) ", 99),
        ("(14, 1)", 99),
        ("(14,1)", 99),
        ("14 weeks, 1 day", 99),
        ("14, 1", 99),  # the same form without brackets, with the blank that sets it apart from 14,1
        ("14,1", UNPARSEABLE),
        ("'14 weeks', '1 days'", 99),
        ("(1 week, 5 days)", 12),
        ("('0 weeks', '6 days')", 6),
        ("(0 weeks, 0 days)", 0),
        ("(8 weeks, 0 days)", 56),
        ("(40 WEEKS, 3 Days)", 283),
        ("(13, 8)", 99),
        ("99 days", 99),
        # dates come before numbers: none of these is 3, 2 or 2006
        ("03/21/2006", SPRING),
        ("3/21/2006", SPRING),
        ("2006/03/21", SPRING),
        ("2006-03-21", SPRING),
        ("2006-03-21 00:00:00", SPRING),
        ("2006-03-21T00:00:00", SPRING),
        ("02/29/2024", date(2024, 2, 29)),
        ("12/31/1999", date(1999, 12, 31)),
        # no such day, never the day first, no guessed century
        *[(text, UNPARSEABLE) for text in ("02/29/2023", "02/30/2006", "13/01/2006", "21/03/2006", "00/10/2006")],
        *[(text, UNPARSEABLE) for text in ("2006/13/01", "2006-02-30", "2006-00-10", "03/21/06", "03/21/0000")],
    ],
)
def test_labels_are_read_as_section_2_says(text: str | None, expected: object) -> None:
    assert value_or_kind(parse_label(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *[(text, NA) for text in ("Multiple", "multiple", "Not applicable", "n/a", "cannot be computed", "see note")],
        *[(text, NA) for text in ("?", "-", "nan", "None")],  # not empty, and without any digit
        *[(text, MISSING) for text in (None, "", "  ")],
        ("17", 17),
        ("8 points", 8),
        ("Multiple: 8", 8),  # has a digit
        ("(4, 4)", 32),
        ("4, 4", UNPARSEABLE),  # two answers, or 4 weeks 4 days
        ("03/21/2006", SPRING),
        ("02/30/2006", UNPARSEABLE),  # has digits: a slip of the pen, no abstention
    ],
)
def test_a_physicians_words_without_a_digit_are_an_abstention(text: str | None, expected: object) -> None:
    assert value_or_kind(parse_label(text, physician=True)) == expected


@pytest.mark.parametrize("text", ["25.24", "-0.09", "0", "99", "03/21/2006", "N/A", "", "1434", "0.00001", "123456789"])
def test_a_label_that_is_written_is_read_back(text: str) -> None:
    value = parse_label(text)
    assert parse_label(value.text()) == value
